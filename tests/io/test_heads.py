from __future__ import annotations

import json

import pytest

from nlgauge.io.heads import first_fields

ROW = {"a": [{"x": 1}], "b:": 'c": {', "d": {"e": 1}, "f": None}


@pytest.mark.parametrize("indent", [None, 2])
def test_fields_of_the_first_object_are_found(indent):
    names = ["a", "b:", "d", "f"]
    assert first_fields(json.dumps(ROW, indent=indent)) == names
    assert first_fields(json.dumps([ROW, {"g": 1}], indent=indent)) == names


def test_a_text_may_end_anywhere():
    assert first_fields('{"a": 1, "b": "no end') == ["a", "b"]
    assert first_fields('{"a": {"c": 1') == ["a"]
    assert first_fields("text") == first_fields("") == []
