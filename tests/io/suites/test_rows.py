"""Rows of a suite: one shape whatever the file; where a row stands is told with what is wrong in it."""

from __future__ import annotations

import gzip

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.suites.rows import Cells, SuiteRows

ROWS = [{"better": "a b", "worse": "b a"}, {"better": "c", "worse": ""}]


def rows(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return SuiteRows(InputFile(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.jsonl", '{"better": "a b", "worse": "b a"}\n{"better": "c", "worse": ""}\n'),
        ("s.json", '[{"better": "a b", "worse": "b a"}, {"better": "c", "worse": ""}]'),
        ("s.json", '\ufeff [{"better": "a b", "worse": "b a"}, {"better": "c", "worse": ""}]'),
        ("s.tsv", "better\tworse\na b\tb a\nc\t\n"),
        ("s.csv", '"better","worse"\n"a b","b a"\nc,\n'),
        ("s.csv.gz", gzip.compress(b"better,worse\na b,b a\nc,\n")),
        ("s.jsonl.gz", gzip.compress(b'{"better": "a b", "worse": "b a"}\n{"better": "c", "worse": ""}\n')),
        ("s", '{"better": "a b", "worse": "b a"}\n{"better": "c", "worse": ""}\n'),
    ],
)
def test_the_same_rows_from_every_kind_of_file(tmp_path, name, content):
    found = rows(tmp_path / name, content)
    assert [dict(row) for _, row in found] == ROWS
    assert found.columns == ["better", "worse"]
    assert [dict(row) for _, row in found] == ROWS  # read again


def test_a_row_knows_its_place(tmp_path):
    assert [place for place, _ in rows(tmp_path / "s.jsonl", '{"a": 1}\n\n{"a": 2}\n')] == [
        f"{tmp_path / 's.jsonl'}:1",
        f"{tmp_path / 's.jsonl'}:3",
    ]
    assert [place for place, _ in rows(tmp_path / "s.tsv", "a\n1\n")] == [f"{tmp_path / 's.tsv'}:2"]
    assert [place for place, _ in rows(tmp_path / "s.json", '[{"a": 1}]')] == [f"{tmp_path / 's.json'}, entry 1"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.json", "[1]", r"entry 1: not an object"),
        ("s.json", "[{]", r"not valid JSON"),
        ("s.jsonl", "1\n", r":1: not an object"),
        ("s.tsv", "a\tb\n1\n", r":2: 1 cells, expected 2"),
        ("s.tsv", b"a\tb\n\xff\tx\n", r":2: not UTF-8"),
    ],
)
def test_what_is_no_row_is_refused_with_its_place(tmp_path, name, content, message):
    with pytest.raises(InputError, match=message):
        list(rows(tmp_path / name, content))


def test_a_list_nested_without_end_is_refused(tmp_path):
    with pytest.raises(InputError, match="nested too deeply, expected an array of objects"):
        list(rows(tmp_path / "s.json", "[" * 100_000))


def cells(**fields):
    return Cells(fields, "p.jsonl:3")


def test_text_is_none_where_it_is_absent_or_empty():
    row = cells(a="x", b="", c=None, d=7)
    assert [row.text(name) for name in ("a", "b", "c", "d", "e")] == ["x", None, None, "7", None]


def test_a_needed_text_may_be_empty_but_not_absent():
    assert cells(a="").needed("a") == ""
    for row in (cells(), cells(a=None)):
        with pytest.raises(InputError, match=r"^p\.jsonl:3: no field 'a'"):
            row.needed("a")


@pytest.mark.parametrize("value", [["x"], {"x": 1}])
def test_a_list_is_no_text(value):
    with pytest.raises(InputError, match=r"^p\.jsonl:3: field 'a' is .*, expected a text$"):
        cells(a=value).text("a")


def test_references_are_a_list_or_one():
    assert cells(refs=["a", "b"]).references() == ("a", "b")
    assert cells(ref="a").references() == cells(reference="a").references() == ("a",)
    assert cells().references() == cells(ref="").references() == ()
    for wrong in ("a", [1]):
        with pytest.raises(InputError, match=r"field 'refs' is .*, expected a list of strings"):
            cells(refs=wrong).references()


def test_turns_have_a_speaker_and_a_text():
    turn = {"speaker": "a", "text": "Hello."}
    assert cells(context=[{**turn, "time": 3}]).turns() == (turn,)
    assert cells().turns() == ()
    for wrong in ("Hello.", [{"text": "Hello."}], ["Hello."]):
        with pytest.raises(InputError, match="expected a list of turns with speaker and text"):
            cells(context=wrong).turns()
