from __future__ import annotations

import gzip
import json
import math
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.io.scores import read_scores
from nlgauge.io.write import segment_columns, writing

SEGMENTS = [Segment("s:1", "x", system="s", item="1"), Segment("id2", "y")]


def scores(values, segments=SEGMENTS, **parts):
    return Scores(
        Signature("m", ()),
        tuple(s.id for s in segments),
        np.array(values),
        {name: np.array(part) for name, part in parts.items()},
    )


def columns():
    return segment_columns(SEGMENTS, {"m:x=1": scores([0.1, math.nan], precision=[1.0, 2.0]), "n": scores([3.0, 4.0])})


def written(name, *blocks):
    with writing(name) as write:
        for block in blocks:
            write(block)
    return Path(name).read_bytes()


def read_back(path):
    """Rows as written: name -> text or number, None where absent."""
    path = Path(path)
    if path.suffix == ".parquet":
        return pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    lines = text.removesuffix("\n").split("\n")
    if ".jsonl" in path.name:
        return [json.loads(line) for line in lines]
    names, *rows = [line.split("\t") for line in lines]
    return [
        {
            name: cell or None if name in ("id", "seg", "system") else float(cell) if cell else None
            for name, cell in zip(names, row, strict=True)
        }
        for row in rows
    ]


def test_columns_in_order_with_parts_behind_their_metric():
    made = columns()
    assert list(made) == ["id", "seg", "system", "m:x=1", "m:x=1.precision", "n"]
    assert made["seg"] == ["1", None]


def test_tsv_is_a_header_and_a_line_a_segment(put):
    put("other", "")
    assert (
        written("a.tsv", columns()).decode()
        == "id\tseg\tsystem\tm:x=1\tm:x=1.precision\tn\ns:1\t1\ts\t0.1\t1.0\t3.0\nid2\t\t\t\t2.0\t4.0\n"
    )


def test_json_lines_have_null_for_what_is_not_there(put):
    put("other", "")
    first, second = written("a.jsonl", columns()).decode().splitlines()
    assert first == '{"id":"s:1","seg":"1","system":"s","m:x=1":0.1,"m:x=1.precision":1.0,"n":3.0}'
    assert second == '{"id":"id2","seg":null,"system":null,"m:x=1":null,"m:x=1.precision":2.0,"n":4.0}'


def test_packed_rows_are_the_same_bytes_each_time(put):
    put("other", "")
    assert gzip.decompress(written("a.tsv.gz", columns())) == written("a.tsv", columns())
    assert written("b.jsonl.gz", columns()) == written("c.jsonl.gz", columns())  # no time and no name inside


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
in_tsv = texts.filter(lambda t: not set(t) & set("\t\n\r"))
numbers = st.floats(allow_infinity=False)


@pytest.mark.parametrize("extension", [".tsv", ".jsonl", ".parquet"])
def test_what_is_written_is_read_back(extension):
    if extension == ".parquet":
        pytest.importorskip("pyarrow")

    @given(
        rows=st.lists(
            st.tuples(in_tsv if "tsv" in extension else texts, st.none() | in_tsv, numbers, numbers),
            min_size=1,
            max_size=5,
        )
    )
    def holds(rows):
        ids, systems, values, parts = zip(*rows, strict=True)
        segments = [Segment(i, "", system=s) for i, s in zip(ids, systems, strict=True)]
        block = segment_columns(segments, {"m": scores(values, segments, p=parts)})
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a" + extension)
            written(path, block, block)
            found = read_back(path)
        none = [{"id": i, "seg": None, "system": s, "m": _none(v), "m.p": _none(p)} for i, s, v, p in rows]
        assert [list(map(repr, row.values())) for row in found] == [
            list(map(repr, row.values())) for row in none * 2
        ]  # repr tells -0.0 from 0.0

    holds()


def _none(value):
    return None if math.isnan(value) else value


def test_infinity_which_json_cannot_hold_is_null(put):
    put("other", "")
    block = segment_columns(SEGMENTS, {"m": scores([math.inf, -math.inf])})
    assert [row["m"] for row in map(json.loads, written("a.jsonl", block).splitlines())] == [None, None]
    assert b"\tinf\n" in written("a.tsv", block)


@pytest.mark.parametrize("text", ["a\tb", "a\nb", "a\rb"])
def test_a_tab_or_line_break_is_refused_in_tsv_only(put, text):
    put("other", "")
    segments = [Segment(text, "x")]
    block = segment_columns(segments, {"m": scores([1.0], segments)})
    with pytest.raises(InputError) as error:
        written("a.tsv", block)
    assert (
        str(error.value)
        == f"a.tsv: id {text!r} holds a tab or a line break, which TSV cannot hold; write .jsonl or .parquet"
    )
    assert not os.path.exists("a.tsv")
    assert json.loads(written("a.jsonl", block))["id"] == text


def test_csv_quotes_what_it_must_and_is_read_back(put):
    put("other", "")
    segments = [Segment('a, "b"\nc', "x", system="s")]
    text = written("a.csv", segment_columns(segments, {"m": scores([1 / 3], segments)}))
    assert text.decode() == f'id,seg,system,m\n"a, ""b""\nc",,s,{1 / 3!r}\n'
    assert read_scores("a.csv").columns["m"].tolist() == [1 / 3]


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl.gz", "a.parquet"])
def test_an_error_leaves_what_was_there(put, tmp_path, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    put(name, "before")

    def fail():
        with writing(name) as write:
            write(columns())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert Path(name).read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a.txt", "a", "a.xlsx", "a.parquet.gz"])
def test_an_unknown_extension_is_refused_before_anything_is_made(put, tmp_path, name):
    put("other", "")
    with pytest.raises(InputError, match=r"expected \.tsv, \.csv, \.jsonl \(or with \.gz\) or \.parquet$"):
        writing(name).__enter__()
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_a_missing_folder_is_refused_at_once(put):
    put("other", "")
    with pytest.raises(InputError, match=r"^cannot write absent/a.tsv: there is no folder .*absent; make it first$"):
        writing("absent/a.tsv").__enter__()


def test_parquet_without_pyarrow_names_the_extra(put, monkeypatch):
    put("other", "")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"nlgauge\[parquet\]"):
        writing("a.parquet").__enter__()


def test_blocks_must_agree(put):
    put("other", "")
    other = segment_columns(SEGMENTS, {"n": scores([3.0, 4.0])})
    with pytest.raises(InputError, match=r"^a\.tsv: columns are \['id', 'seg', 'system', 'n'\], expected"):
        written("a.tsv", columns(), other)


def test_scores_of_other_segments_are_refused():
    with pytest.raises(InputError, match="scores of m are not those of the segments"):
        segment_columns(SEGMENTS, {"m": scores([1.0], SEGMENTS[:1])})
    with pytest.raises(InputError, match="scores of m are not those of the segments"):
        segment_columns(SEGMENTS, {"m": scores([1.0, 2.0], SEGMENTS[::-1])})


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(InputError, match=r"two columns would be named 'm\.p'"):
        segment_columns(SEGMENTS, {"m": scores([1.0, 2.0], p=[1.0, 2.0]), "m.p": scores([1.0, 2.0])})


@pytest.mark.parametrize("name", ["s.csv", "s.tsv.gz"])
def test_no_cell_is_a_formula_in_a_spreadsheet(tmp_path, name):
    columns = {"=id": ["=cmd()", "-1", None, "@a"], "m": np.array([-1.5, np.nan, 2.0, -1e-9])}
    with writing(tmp_path / name, spreadsheet=True) as write:
        write(columns)
        write(columns)
    opened = gzip.open if name.endswith(".gz") else open
    with opened(tmp_path / name, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").replace(",", "\t").split("\t") for line in file]
    rows = [["'=cmd()", "-1.5"], ["-1", ""], ["", "2.0"], ["'@a", "-1e-09"]]
    assert lines == [["'=id", "m"], *rows, *rows]


def test_other_forms_hold_texts_as_they_are_for_programs(tmp_path):
    with writing(tmp_path / "s.jsonl", spreadsheet=True) as write:
        write({"id": ["=a"]})
    assert json.loads((tmp_path / "s.jsonl").read_text()) == {"id": "=a"}
