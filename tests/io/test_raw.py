"""Raw texts come from lines as they stand, or once each from the references of a data set."""

import gzip
import io
import json
import sys
from types import SimpleNamespace

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.raw import read_paraphrases, read_raw, read_texts


def test_lines_are_texts_and_their_numbers_ids(tmp_path):
    path = tmp_path / "texts.en.txt"
    path.write_bytes("\ufeffFirst line.\r\n\n  Third\u2028line.".encode())
    found = read_raw(path)
    assert (found.ids, found.texts) == (("1", "2", "3"), ("First line.", "", "  Third\u2028line."))
    assert found.inputs[0]["path"] == str(path)
    assert found.notes == ()


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


def test_paraphrases_are_the_other_texts_of_an_item(tmp_path):
    path = tmp_path / "d.jsonl"
    rows = [
        {"id": "x", "seg": "1", "hyp": "h", "refs": ["a", "b", "a"]},
        {"id": "y", "seg": "1", "hyp": "g", "refs": ["c"]},
        {"id": "z", "seg": "2", "hyp": "k", "refs": ["d", "d"]},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = read_paraphrases(path)
    assert dict(zip(found.texts, found.others, strict=True)) == {"a": ("b", "c"), "b": ("a", "c"), "c": ("a", "b")}
    assert found.ids == ("x", "x.2", "y")
    assert found.notes[-1] == "1 of 2 items have no second text and are left out"
    pairs = read_paraphrases(path, hypotheses=True)
    assert dict(zip(pairs.texts, pairs.others, strict=True))["k"] == ("d",)
    assert set(pairs.texts) == set("habgckd")


def test_what_holds_no_paraphrases_is_refused(tmp_path):
    lines, alone = tmp_path / "t.txt", tmp_path / "d.tsv"
    lines.write_text("one\ntwo\n", encoding="utf-8")
    alone.write_text("hyp\tref\nh\tr\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"t\.txt has one text per line, and paraphrases are texts of one item"):
        read_paraphrases(lines)
    with pytest.raises(InputError, match="none of 1 items has two references that differ"):
        read_paraphrases(alone)
    assert read_paraphrases(alone, hypotheses=True).others == (("r",), ("h",))


def test_a_text_file_is_a_data_set_of_its_lines(tmp_path):
    path = tmp_path / "texts.en"
    path.write_text("It rains.\n\nIt snows.\n")
    assert [(s.id, s.hypothesis, s.references) for s in read_texts(path)] == [
        ("1", "It rains.", ()),
        ("2", "", ()),
        ("3", "It snows.", ()),
    ]
    (tmp_path / "d.jsonl").write_text('{"output": "a", "gold": "b"}\n')
    assert [(s.hypothesis, s.references) for s in read_texts(tmp_path / "d.jsonl")] == [("a", ("b",))]
    (tmp_path / "d").write_text('{"hyp": "a", "gold": "b"}\n')
    with pytest.raises(InputError, match="is JSON, expected one text per line; give it as DATA"):
        read_texts(tmp_path / "d")
