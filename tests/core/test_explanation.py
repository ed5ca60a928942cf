from __future__ import annotations

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.explanation import ErrorSpan, Explanation, Explanations, merged

HAT = ErrorSpan(19, 22, "major")
GAP = ErrorSpan(4, 4, "minor", category="omission", missing=True)
ONE = Explanation("1", "The cat sat on the hat.", ("The cat sat on the mat.",), (GAP, HAT))


def test_a_score_is_the_sum_of_penalties():
    assert ONE.score == -6
    assert Explanation("2", "", (), ()).score == 0
    assert str(Explanation("2", "", (), ()).score) == "0.0"  # and not -0.0


def test_a_span_goes_into_json_and_comes_back():
    row = HAT.as_row()
    about = {"category": None, "missing": False, "confidence": None}
    assert row == {"side": "hyp", "start": 19, "end": 22, "severity": "major", **about}
    assert ErrorSpan.from_row(row) == HAT
    assert ErrorSpan.from_row(GAP.as_row()) == GAP
    sure = ErrorSpan(19, 22, "major", confidence=0.5)
    assert ErrorSpan.from_row(sure.as_row()).confidence == 0.5
    assert sure == HAT  # the same error, however sure its finder is
    assert ErrorSpan.from_row({"start": 0, "end": 1, "severity": "minor"}) == ErrorSpan(0, 1, "minor")
    assert (ONE.text_of(HAT), ONE.text_of(GAP)) == ("hat", "")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([], "expected an object with start, end and severity"),
        ({"start": 0, "end": 1}, "expected an object with start, end and severity"),
        ({"start": 2, "end": 1, "severity": "major"}, "goes from 2 to 1, expected whole numbers from 0 on"),
        ({"start": -1, "end": 1, "severity": "major"}, "expected whole numbers"),
        ({"start": 0.0, "end": 1, "severity": "major"}, "expected whole numbers"),
        ({"start": True, "end": 1, "severity": "major"}, "expected whole numbers"),
        ({"start": 0, "end": 1, "severity": "bad"}, "severity of a span is 'bad', expected minor or major"),
        ({"start": 0, "end": 1, "severity": "major", "side": "x"}, "side of a span is 'x', expected hyp or ref or src"),
        ({"start": 0, "end": 1, "severity": "major", "category": 3}, "category of a span is 3"),
        ({"start": 0, "end": 1, "severity": "major", "missing": "no"}, "missing of a span is 'no'"),
        ({"start": 0, "end": 1, "severity": "major", "confidence": "1"}, "confidence of a span is '1', expected a num"),
        ({"start": 0, "end": 1, "severity": "major", "confidence": float("nan")}, "confidence of a span is nan"),
        ({"start": 0, "end": 1, "severity": "major", "confidence": 10**400}, "expected a number"),
        ({"start": 0, "end": 1, "severity": "major", "confidence": True}, "confidence of a span is True"),
    ],
)
def test_a_span_that_is_none_is_refused(row, message):
    with pytest.raises(InputError, match=message):
        ErrorSpan.from_row(row)


def test_spans_stand_in_the_order_of_their_places_once():
    assert merged([HAT, GAP, HAT]) == (GAP, HAT)
    assert merged([ErrorSpan(0, 1, "major", category="name"), ErrorSpan(0, 1, "major")])  # None and a text are no order


def test_explanations_are_a_sequence_and_a_result():
    found = Explanations((ONE,), {"spec": "explain", "signature": "toy", "higher_is_better": True}, ("a note",))
    assert (len(found), found[0], list(found)) == (1, ONE, [ONE])
    result = found.result([{"path": "a", "sha256": "b"}]).as_json()
    assert result["kind"] == "explain"
    assert result["notes"] == ["a note"]
    (row,) = result["rows"]
    assert row["score"] == -6
    assert row["spans"] == [GAP.as_row(), HAT.as_row()]
    assert "[hat]" in str(found)
    assert "hat" in found._repr_html_()
