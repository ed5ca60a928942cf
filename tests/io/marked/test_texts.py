from __future__ import annotations

import json

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.io.marked.texts import MarkedText, as_rating, error, errors_of


def test_spans_of_mt_metrics_eval():
    cells = [
        {"start": 4, "end": 7, "severity": "Major", "category": "Accuracy", "score": -5, "is_source_error": False},
        {"start": 0, "end": 2, "severity": "minor", "category": None, "is_source_error": True},
        {"start": 1, "end": 2, "severity": "Neutral", "category": "Style"},
        {"start": None, "end": None, "severity": "major", "category": "Omission"},
    ]
    assert errors_of(cells, "f:1", 10) == (
        ErrorSpan(4, 7, "major", category="Accuracy"),
        ErrorSpan(0, 2, "minor", "src"),
    )


def test_spans_of_esa_with_either_end():
    cells = [{"start_i": 4, "end_i": 6, "severity": "major", "error_type": None}]
    assert errors_of(cells, "f:1", 10) == (ErrorSpan(4, 6, "major"),)
    assert errors_of(cells, "f:1", 10, inclusive=True) == (ErrorSpan(4, 7, "major"),)
    gone = [{"start_i": "missing", "end_i": "missing", "severity": "minor"}]
    assert errors_of(gone, "f:1", 10) == (ErrorSpan(10, 10, "minor", missing=True),)
    assert errors_of([{"start_i": 0, "end_i": 1, "severity": "undecided"}], "f:1") == ()


def test_our_own_spans_come_back():
    spans = (ErrorSpan(1, 3, "major", category="name"), ErrorSpan(5, 5, "minor", category="omission", missing=True))
    assert errors_of([span.as_row() for span in spans], "f:1", 9) == spans


def test_critical_is_major_and_no_error_is_none():
    assert error(0, 1, "Critical", "", "hyp", "f:1", 3) == ErrorSpan(0, 1, "major")
    assert error(0, 1, "no-error", "", "hyp", "f:1", 3) is None


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({}, "f:3: errors are {}, expected a list"),
        ([3], "f:3: an error is 3, expected an object"),
        ([{"start": 0, "end": 1}], "expected an object with start, end and severity"),
        ([{"start": 0, "end": 1, "severity": "bad"}], "f:3: severity 'bad', expected minor, major or critical"),
        ([{"start": 0, "end": 9, "severity": "major"}], "ends at character 9 of a text of 5"),
        ([{"start": 3, "end": 2, "severity": "major"}], "f:3: a span goes from 3 to 2"),
        ([{"start": "0", "end": 2, "severity": "major"}], "expected whole numbers"),
        ([{"start": 0, "end": 2, "severity": "major", "side": "both"}], "expected hyp, ref or src"),
    ],
)
def test_damaged_errors_are_refused_with_their_place(cells, message):
    with pytest.raises(InputError, match=message):
        errors_of(cells, "f:3", 5)


def test_a_rating_is_read_again():
    spans = (ErrorSpan(1, 3, "major", category="name"), ErrorSpan(0, 2, "minor", "src"))
    assert errors_of(json.loads(as_rating(spans))["errors"], "f:1", 9) == spans


def test_the_key_is_the_id_or_system_and_item():
    assert MarkedText("3", "A", ()).key == ("A", "3")
    assert MarkedText("3", "A", (), id="x").key == ("x",)
    assert MarkedText("3", None, ()).key == ("", "3")
