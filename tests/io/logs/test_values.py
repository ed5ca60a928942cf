from __future__ import annotations

import math

import pytest

import nlgauge as ng
from nlgauge.io.files.files import InputFile
from nlgauge.io.logs.values import LogLines, asked, document, inner, item_of, message, name, parsed, score, text, texts


def test_nan_is_read_and_a_field_twice_is_refused(put):
    assert math.isnan(document(InputFile(put("a.json", '{"x": NaN}')))["x"])
    for content in ('{"x": 1, "x": 2}', '{"x": NaN, "x": 2}'):
        with pytest.raises(ng.InputError, match="stands twice"):
            document(InputFile(put("a.json", content)))
    with pytest.raises(ng.InputError, match=r"nested too deeply|levels deep"):
        document(InputFile(put("a.json", "[" * 5000 + "]" * 5000)))
    with pytest.raises(ng.InputError, match="not UTF-8"):
        document(InputFile(put("a.json", b'{"x": "\xff"}')))


def test_lines_are_objects(put):
    rows = LogLines(InputFile(put("a.jsonl", '{"x": 1}\n\n{"x": 2}\n')))
    assert [(where, row["x"]) for where, row in rows] == [("a.jsonl:1", 1), ("a.jsonl:3", 2)]
    assert rows.notes() == ["a.jsonl: 1 blank line skipped"]
    with pytest.raises(ng.InputError, match=r"a.jsonl:1: not an object"):
        list(LogLines(InputFile(put("a.jsonl", "3\n"))))


def test_values_of_another_kind_are_absent():
    assert inner({"a": {"b": 1}}, "a", "b") == 1
    assert inner({"a": 3}, "a", "b") is inner(None, "a") is None
    assert (text("x"), text(3), name(3), name(True), texts(["a", 1]), texts("b")) == (
        "x",
        None,
        "3",
        None,
        ("a",),
        ("b",),
    )
    assert (score(True), score(2)) == (1.0, 2.0)
    assert all(math.isnan(score(value)) for value in (None, "1", math.inf, 10**400))
    assert (message("a"), message([{"text": "a"}, {"text": "b"}, 3]), message([])) == ("a", "a\nb", None)


def test_items_are_named_by_their_texts():
    assert (item_of("short"), item_of(""), item_of("a", "b") == item_of("a", "c")) == ("short", "-", False)
    assert len(item_of("word " * 99)) < 60


def test_columns_may_be_in_either_direction():
    assert asked({"hyp": "x"}, ("hyp",), "f") == asked({"x": "hyp"}, ("hyp",), "f") == {"hyp": "x"}
    with pytest.raises(ng.InputError, match="f: columns name the field 'y', expected one of hyp"):
        asked({"x": "y"}, ("hyp",), "f")


@pytest.mark.parametrize("more", ["1", "NaN"])
def test_half_of_a_surrogate_pair_is_no_text(put, more):
    file = InputFile(put("a", "x"))
    with pytest.raises(ng.InputError, match="half of a surrogate pair"):
        parsed(f'{{"a": "\\ud800", "b": {more}}}', file, "a")
    assert parsed('{"a": "\\ud83d\\ude00"}', file, "a") == {"a": "\U0001f600"}
