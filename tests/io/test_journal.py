"""Portions survive a kill whole, are taken up by a run like the first, and leave nothing behind when done."""

import gzip
import json
import os

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.journal import Journal

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


def test_packed_rows_are_the_same_bytes_each_time(tmp_path):
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
