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
from nlgauge.io.write import Journal, segment_columns, writing

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


# --- The journal of a long run

SETTINGS = {"seed": 1, "input": "ab12"}
ROWS = [{"id": str(i), "hyp": "Wort — 今"} for i in range(5)]


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_rows_come_to_their_place_when_all_are_there(tmp_path):
    path = tmp_path / "rows.jsonl"
    journal = Journal(path, SETTINGS)
    journal.add(2, ROWS[:2], {"skipped": {"empty": 1}})
    journal.add(5, ROWS[2:], {})
    assert list(journal.rows()) == ROWS
    assert not path.exists()
    journal.finish()
    assert lines(path) == ROWS
    assert os.listdir(tmp_path) == ["rows.jsonl"]


@pytest.mark.parametrize("torn", [b"", b'{"taken": 9, "state"', b'{"taken": 9, "state": {}, "rows": []}', b"\n"])
def test_a_run_like_the_first_goes_on_behind_the_last_whole_portion(tmp_path, torn):
    path = tmp_path / "rows.jsonl"
    Journal(path, SETTINGS).add(3, ROWS[:2], {"skipped": {"empty": 1}})
    with open(f"{path}.part", "ab") as part:
        part.write(torn)
    journal = Journal(path, SETTINGS)
    assert (journal.taken, journal.state, journal.put_aside) == (3, {"skipped": {"empty": 1}}, False)
    journal.add(6, ROWS[2:], {})
    journal.finish()
    assert lines(path) == ROWS


def test_a_run_with_other_settings_begins_anew(tmp_path):
    path = tmp_path / "rows.jsonl"
    Journal(path, SETTINGS).add(3, ROWS[:2], {})
    journal = Journal(path, {**SETTINGS, "seed": 2})
    assert (journal.taken, journal.put_aside) == (0, True)
    journal.finish()
    assert path.read_bytes() == b""


def test_two_runs_do_not_write_one_file(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "rows.jsonl"
    first = Journal(path, SETTINGS)
    first.add(2, ROWS[:2], {})
    with pytest.raises(InputError, match="another run is writing"):
        Journal(path, SETTINGS)
    first.add(5, ROWS[2:], {})
    first.finish()
    assert lines(path) == ROWS


@pytest.mark.parametrize("content", [b"A line of the user's own.\n", b'{"hyp": "a", "refs": ["b"]}\n', b"\n"])
def test_what_is_no_part_of_a_run_is_left_alone(tmp_path, content):
    path, part = tmp_path / "rows.jsonl", tmp_path / "rows.jsonl.part"
    part.write_bytes(content)
    with pytest.raises(InputError, match="no part of a run"):
        Journal(path, SETTINGS)
    assert part.read_bytes() == content


@pytest.mark.parametrize("torn", [b"", b'{"se', b'{"seed":1,"inp'])
def test_a_run_killed_at_once_is_begun_anew(tmp_path, torn):
    path = tmp_path / "rows.jsonl"
    (tmp_path / "rows.jsonl.part").write_bytes(torn)
    journal = Journal(path, SETTINGS)
    journal.add(5, ROWS, {})
    journal.finish()
    assert lines(path) == ROWS


def test_an_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("old\n")
    Journal(path, SETTINGS).add(1, ROWS[:1], {})
    assert path.read_text() == "old\n"


def test_packed_rows_of_a_journal_are_the_same_bytes_each_time(tmp_path):
    contents = []
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        journal = Journal(tmp_path / name, SETTINGS)
        journal.add(5, ROWS, {})
        journal.finish()
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
    assert [json.loads(line) for line in gzip.decompress(contents[0]).splitlines()] == ROWS


def test_without_a_file_rows_can_be_read_and_nothing_is_left(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    journal = Journal(None, SETTINGS)
    journal.add(1, ROWS[:1], {})
    assert list(journal.rows()) == ROWS[:1]
    journal.finish()
    assert os.listdir(tmp_path) == []


def test_a_pipe_gets_rows_and_no_part_beside_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    journal = Journal(tmp_path / "pipe", SETTINGS)
    journal.add(1, [{"id": "\ud800"}], {})  # half a pair of surrogates, which UTF-8 cannot hold
    journal.finish()
    assert json.loads(os.read(reader, 1000)) == {"id": "\\ud800"}
    os.close(reader)
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_folder_that_is_missing_is_told_at_once(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        Journal(tmp_path / "no" / "rows.jsonl", SETTINGS)


def test_a_dash_is_standard_output_and_leaves_no_part(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    journal = Journal("-", {"seed": 0})
    journal.add(1, [{"text": "é"}], {})
    journal.finish()
    assert capsys.readouterr().out == '{"text":"é"}\n'
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "damaged",
    [
        b'{"token": 5, "state": {}, "rows": []}',
        b'{"taken": "5", "state": {}, "rows": []}',
        b'{"taken": 5, "state": {}, "rows": [7]}',
        b'{"taken": 5, "state": 3, "rows": []}',
        b'{"taken": 5, "state": {}, "rows": [{"id": "\xff"}]}',
        b"7",
        b"[" * 10**5,
    ],
)
def test_what_follows_a_damaged_portion_is_done_anew(tmp_path, damaged):
    path = tmp_path / "rows.jsonl"
    Journal(path, SETTINGS).add(3, ROWS[:2], {"skipped": {}})
    with open(f"{path}.part", "ab") as part:
        part.write(damaged + b"\n" + b'{"taken": 9, "state": {}, "rows": []}\n')
    journal = Journal(path, SETTINGS)
    assert journal.taken == 3
    assert list(journal.rows()) == ROWS[:2]
