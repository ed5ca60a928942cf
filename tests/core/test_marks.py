from __future__ import annotations

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.marks import Alignment, ErrorSpan, Explanation, Explanations
from nlgauge.core.spec import Signature


def alignment(similarities, n, m):
    words = "abcdef"
    return Alignment(
        tuple(words[:n]),
        tuple(words[:m]),
        np.array(similarities, dtype=float).reshape(n, m),
        np.full(n, 1 / n if n else 0.0),
        np.full(m, 1 / m if m else 0.0),
        0.0,
        0.0,
        0.0,
        Signature("toy", (("metric", "toy"),)),
    )


def test_each_word_is_matched_to_its_best_on_the_other_side():
    found = alignment([[0.9, 0.1, 0.3], [0.8, 0.2, 0.1]], 2, 3)
    assert found.hypothesis_matches == [0, 0]  # two words may share a match
    assert found.reference_matches == [0, 1, 0]
    found = alignment([[0.5, 0.5], [0.5, 0.5]], 2, 2)
    assert found.hypothesis_matches == [0, 0]
    assert found.reference_matches == [0, 0]
    assert alignment([[-0.9, -0.1]], 1, 2).hypothesis_matches == [1]
    assert {type(i) for i in alignment([[0.1, 0.2]], 1, 2).hypothesis_matches} == {int}


def test_an_alignment_is_shown_in_one_line_and_drawn_in_a_notebook():
    found = alignment([[0.9, 0.1, 0.3], [0.8, 0.2, 0.1]], 2, 3)
    assert repr(found) == "Alignment(2 words with 3: precision 0.0000, recall 0.0000, f1 0.0000)"
    assert found.svg().startswith("<svg")
    assert found._repr_html_() == found.svg()
    assert found.svg() in found.html()


def test_an_alignment_has_a_result_file():
    rows = alignment([[0.9, 0.1, 0.3], [0.8, 0.2, 0.1]], 2, 3).result("mine").as_json()["rows"]
    assert [row.get("part", row.get("word")) for row in rows] == ["precision", "recall", "f1", *"ab", *"abc"]
    assert (rows[3]["matched"], rows[3]["similarity"], rows[3]["weight"]) == ("a", 0.9, 0.5)


@pytest.mark.parametrize(("n", "m"), [(0, 2), (2, 0), (0, 0)])
def test_a_word_beside_an_empty_text_is_matched_to_none(n, m):
    found = alignment([], n, m)
    assert found.hypothesis_matches == [None] * n
    assert found.reference_matches == [None] * m


@pytest.mark.parametrize(("n", "m"), [(2, 3), (0, 3), (2, 0), (0, 0)])
def test_an_alignment_comes_back_from_its_result(n, m):
    whole = alignment([[0.9, 0.1, 0.3], [0.8, 0.2, 0.1]] if n and m else [], n, m)
    again = Alignment.of(whole.result())
    assert np.array_equal(again.similarities, whole.similarities)
    assert again.result().as_json() == whole.result().as_json()
    assert again.svg() == whole.svg()


HAT = ErrorSpan(19, 22, "major")
GAP = ErrorSpan(4, 4, "minor", category="omission", missing=True)
ONE = Explanation("1", "The cat sat on the hat.", ("The cat sat on the mat.",), (GAP, HAT))


def test_a_score_is_the_sum_of_penalties():
    assert ONE.score == -6
    assert Explanation("2", "", (), ()).score == 0
    assert str(Explanation("2", "", (), ()).score) == "0.0"  # and not -0.0


def test_a_span_goes_into_json():
    row = HAT.as_row()
    about = {"category": None, "missing": False, "confidence": None}
    assert row == {"side": "hyp", "start": 19, "end": 22, "severity": "major", **about}
    assert ErrorSpan(**row) == HAT
    assert ErrorSpan(**GAP.as_row()) == GAP
    sure = ErrorSpan(19, 22, "major", confidence=0.5)
    assert sure.as_row()["confidence"] == 0.5
    assert sure == HAT  # the same error, however sure its finder is


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"start": 2, "end": 1, "severity": "major"}, "goes from 2 to 1, expected whole numbers from 0 on"),
        ({"start": -1, "end": 1, "severity": "major"}, "expected whole numbers"),
        ({"start": 0.0, "end": 1, "severity": "major"}, "expected whole numbers"),
        ({"start": True, "end": 1, "severity": "major"}, "expected whole numbers"),
        ({"start": 0, "end": 1, "severity": "bad"}, "severity of a span is 'bad', expected minor or major"),
        ({"start": 0, "end": 1, "severity": "major", "side": "x"}, "side of a span is 'x', expected hyp or ref or src"),
        ({"start": 0, "end": 1, "severity": "major", "confidence": "1"}, "confidence of a span is '1', expected a num"),
        ({"start": 0, "end": 1, "severity": "major", "confidence": float("nan")}, "confidence of a span is nan"),
        ({"start": 0, "end": 1, "severity": "major", "confidence": 10**400}, "expected a number"),
        ({"start": 0, "end": 1, "severity": "major", "confidence": True}, "confidence of a span is True"),
    ],
)
def test_a_span_that_is_none_is_refused(row, message):
    with pytest.raises(InputError, match=message):
        ErrorSpan(**row)


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
