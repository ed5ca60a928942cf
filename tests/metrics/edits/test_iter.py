"""ITER: TER over stems, by hand."""

import math

import pytest

from nlgauge.core.segment import Segment
from nlgauge.metrics.edits.iter import Iter
from nlgauge.metrics.lexical import shifts
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options


@pytest.mark.parametrize(
    ("hypothesis", "reference", "value"),
    [
        ("the dogs walked", "the dog walks", 0),  # the stems are equal
        ("c d a b", "a b c d", 1 / 4),  # a block moved
        ("a b c d e", "a b", 3 / 5),  # by the longer text
        ("x y z", "a", 1),
        ("Üben", "üben", 0),
        ("two cafés", "two café", 1 / 2),  # letters beyond ASCII: not the stemmer's, compared as they are
        ("a", "a b c d", 3 / 4),
    ],
)
def test_by_hand(one, hypothesis, reference, value):
    assert one("iter", hypothesis, reference) == pytest.approx(value)


def test_capitals_hide_stems(one):
    assert one("iter:lowercase=false", "Dogs bark", "Dog bark") == 0.5


def test_a_pair_that_is_too_long_is_undefined_and_flagged(monkeypatch):
    monkeypatch.setattr(shifts, "ROWS", 50)
    text = " ".join(f"w{i % 7}" for i in range(40))
    scores = Iter().score(
        [Segment("a", text, (" ".join(sorted(text.split())),)), Segment("b", "a b", ("a",))], Runtime()
    )
    assert math.isnan(scores.values[0])
    assert scores.flags["too_long"].tolist() == [True, False]
    assert scores.system == 0.5


def test_the_contract_holds(short_segments):
    check_metric(Iter(), short_segments)
    assert check_options(Iter()) == []
