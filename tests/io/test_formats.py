"""Formats by name: each of ours has a reader, and installed packages add theirs."""

from __future__ import annotations

import gzip
import sys
from importlib import metadata
from types import ModuleType

import pytest

import nlgauge as ng
from nlgauge import io
from nlgauge.cli.main import main
from nlgauge.core import options
from nlgauge.io.formats import OURS, TABLES, by_fields, by_name, named
from nlgauge.io.wmt.mqm import NEEDS


def blocks(file):
    """Texts with a line of equal signs above each."""
    for number, line in io.Lines(file):
        if not line.startswith("="):
            yield number, {"hyp": line, "ref": "the cat sat"}


def fails(file):
    yield 1, {"hyp": "x"}
    raise KeyError("no such key")


def refuses(file):
    raise ng.InputError(f"{file.name}:1: not of this kind")
    yield


def bare(file):
    yield {"hyp": "x"}


def faulty(file):
    yield 4, {"hyp": 1}
    yield 9, ["x"]


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Entry points of a package that is not there, and a folder to write in."""
    theirs = ModuleType("theirs")
    readers = {one.__name__: one for one in (blocks, fails, refuses, bare, faulty)}
    vars(theirs).update(readers, number=3, jsonl=fails)
    monkeypatch.setitem(sys.modules, "theirs", theirs)
    points = [
        metadata.EntryPoint(name=name, value=f"theirs:{name}", group="nlgauge.formats")
        for name in (*readers, "number", "gone", "jsonl")
    ]
    monkeypatch.setattr(options.metadata, "entry_points", lambda group: points if group == "nlgauge.formats" else [])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_format_has_one_reader():
    for name, one in OURS.items():
        assert bool(one.rows) != bool(one.held), name
        assert callable(named(one.rows or one.held)), name
        assert not one.folder or callable(named(one.folder)), name
        assert not one.of or (one.marks and OURS[one.of].extensions), name
    for name, about in TABLES.items():
        assert all(hasattr(io, reader) for reader in about.partition(":")[0].split(", ")), name


def test_the_marks_of_mqm_are_what_its_reader_needs():
    old, new = OURS["mqm"].marks
    assert old == set(NEEDS)
    assert new == set(NEEDS) - {"doc_id"} | {"docSegId"}


def test_formats_of_one_extension_are_told_apart_by_fields():
    assert by_fields("tsv", ["sentence1", "sentence2", "label"]) == "paws"
    assert by_fields("tsv", ["sentence1", "sentence2", "label", "hyp"]) == "tsv"
    assert by_fields("csv", ["sentence1", "sentence2", "label"]) == "csv"
    assert by_fields("tsv", [*NEEDS, "seg_id"]) == "mqm"
    assert by_fields("jsonl", ["decoded", "model_id", "id"]) == "summeval"


def test_an_extension_of_a_package_is_read(installed):
    for name, pack in (("a.blocks", bytes), ("a.BLOCKS.gz", gzip.compress)):
        (installed / name).write_bytes(pack(b"==\nthe cat\n==\na dog\n"))
        data = ng.read(name)
        assert [(s.id, s.hypothesis, s.references) for s in data] == [
            ("1", "the cat", ("the cat sat",)),
            ("2", "a dog", ("the cat sat",)),
        ]
    (installed / "texts").write_text("==\nthe cat\n")
    assert ng.read("texts", format="blocks").segments[0].hypothesis == "the cat"
    assert ng.read("texts", format="blocks", columns={"hyp": "ref", "src": "hyp"}).segments[0].source == "the cat"
    assert by_name("a.blocks") == "blocks"
    assert by_name("a.other") is None
    assert io.read_raw("a.blocks").texts == ("the cat sat",)


def test_the_command_line_reads_and_lists_it(installed, capsys):
    (installed / "a.blocks").write_text("the cat\n")
    assert main(["score", "a.blocks", "-m", "chrf", "-f", "json"]) == 0
    capsys.readouterr()
    assert main(["list", "formats"]) == 0
    out, err = capsys.readouterr()
    assert "blocks           Texts with a line of equal signs above each.\n" in out
    assert "nlgauge: format 'gone' of an installed package cannot be loaded (AttributeError:" in err
    assert out.count("\njsonl ") == 1
    assert main(["score", "a.gone", "-m", "chrf"]) == 2
    assert "no such file" in capsys.readouterr().err
    (installed / "a.gone").write_text("x\n")
    assert main(["score", "a.gone", "-m", "chrf"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.startswith("nlgauge: format 'gone' of an installed package cannot be loaded (AttributeError:")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("number", "format 'number' of an installed package is int 3, expected a function of a file; repair or"),
        ("fails", "format 'fails' of an installed package cannot read a.fails (KeyError: 'no such key'); repair or"),
        ("bare", "format 'bare' of an installed package gives {'hyp': 'x'} for a row, expected (line number, fields)"),
        ("refuses", "a.refuses:1: not of this kind"),
        ("faulty", "a.faulty:4: field 'hyp' is a number (1), expected a string; 2 rows are bad: 4, 9"),
        ("other", "a.other: the format cannot be told from the name, expected .jsonl, .tsv, .csv, .parquet, .eval,"),
    ],
)
def test_what_is_broken_is_refused_in_one_line(installed, name, says):
    (installed / f"a.{name}").write_text("x\n")
    with pytest.raises((ng.InputError, ng.SpecError)) as caught:
        ng.read(f"a.{name}")
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)


def test_our_names_come_first(installed):
    (installed / "a.jsonl").write_text('{"hyp": "x"}\n')
    assert ng.read("a.jsonl").segments[0].hypothesis == "x"


def test_an_unknown_name_suggests_theirs(installed):
    (installed / "a").write_text("x\n")
    with pytest.raises(ng.InputError, match=r"^unknown format 'bloks'; did you mean 'blocks'"):
        ng.read("a", format="bloks")
