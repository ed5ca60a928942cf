"""Raw texts come from lines as they stand, or once each from the references of a data set."""

import gzip
import io
import json
import sys
from types import SimpleNamespace

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.raw import read_raw


def test_lines_are_texts_and_their_numbers_ids(tmp_path):
    path = tmp_path / "texts.en.txt"
    path.write_bytes("\ufeffFirst line.\r\n\n  Third\u2028line.".encode())
    found = read_raw(path)
    assert (found.ids, found.texts) == (("1", "2", "3"), ("First line.", "", "  Third\u2028line."))
    assert found.inputs[0]["path"] == str(path)
    assert len(found.notes) == 2  # the mark at the beginning, the CR


def test_packed_lines_are_lines(tmp_path):
    (tmp_path / "texts.gz").write_bytes(gzip.compress(b"one\ntwo\n"))
    assert read_raw(tmp_path / "texts.gz").texts == ("one", "two")


def test_standard_input_is_lines(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"one\ntwo\n")))
    assert read_raw("-").texts == ("one", "two")


def test_of_a_data_set_each_reference_is_taken_once(tmp_path):
    rows = [
        {"id": "a/1", "hyp": "h", "refs": ["one", "two"]},
        {"id": "b/1", "hyp": "i", "refs": ["one", "two"]},
        {"id": "a/2", "hyp": "alone", "refs": []},
    ]
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_raw(path)
    assert dict(zip(found.ids, found.texts, strict=True)) == {"a/1": "one", "a/1.2": "two", "a/2": "alone"}


def test_a_file_without_lines_is_refused(tmp_path):
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(InputError, match="is empty, expected one text per line"):
        read_raw(tmp_path / "empty.txt")
