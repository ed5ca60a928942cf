"""Labelled pairs in three forms; a row of none of them is named with its line."""

import json

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.suites.minor import read_minor


def written(tmp_path, *rows):
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_three_kinds_of_rows_say_what_is_minor(tmp_path):
    path = written(
        tmp_path,
        {"text": "a", "changed": "b", "minor": True, "kind": "typo"},
        {"text": "c", "changed": "d", "minor": False},
        "",
        {"id": "1", "better": "e", "worse": "f", "expect": "same", "phenomenon": "contractions"},
        {"id": "2", "better": "g", "worse": "h", "expect": "lower"},
        {"premise": "i", "hypothesis": "j", "label": "entailment"},  # the other direction is not known
        {"premise": "k", "hypothesis": "l", "label": "neutral"},
        {"premise": "m", "hypothesis": "n", "label": "contradiction"},
    )
    found, entries = read_minor(path)
    assert found == [
        ("a", "b", True),
        ("c", "d", False),
        ("e", "f", True),
        ("g", "h", False),
        ("k", "l", False),
        ("m", "n", False),
    ]
    assert entries[0]["path"] == str(path)
    assert len(entries[0]["sha256"]) == 64


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("{", "pairs.jsonl:2: no JSON"),
        ([1], "pairs.jsonl:2: list, expected an object"),
        ({"text": "a", "minor": True}, "pairs.jsonl:2: 'text', 'minor', expected"),
        ({}, "pairs.jsonl:2: nothing, expected"),
        ({"text": "a", "changed": None, "minor": True}, "'changed' is NoneType, expected a text"),
        ({"text": "a", "changed": "b", "minor": 1}, "'minor' is 1, expected one of true, false"),
        (
            {"better": "a", "worse": "b", "expect": "higher"},
            "'expect' is 'higher', expected one of \"same\", \"lower\"",
        ),
        ({"premise": "a", "hypothesis": "b", "label": "-"}, "'label' is '-'"),
    ],
)
def test_a_row_of_no_kind_is_named(tmp_path, row, told):
    path = written(tmp_path, {"text": "a", "changed": "b", "minor": True}, row)
    with pytest.raises(InputError) as refused:
        read_minor(path)
    assert told in str(refused.value)
