from __future__ import annotations

import math

import numpy as np
import pytest

from nlgauge.core.scores import Scores
from nlgauge.core.spec import Signature
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import SEGMENTS
from nlgauge.testing.subject import Subject


@pytest.fixture
def subject(overlap):
    return Subject(overlap(), list(SEGMENTS), Runtime(), tolerance=1e-3)


def scores(values, **options):
    return Scores(
        Signature("toy", ()), tuple(f"s{i}" for i in range(len(values))), np.array(values, dtype=float), **options
    )


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        (0.5, 0.5009, True),
        (0.5, 0.5011, False),
        (100.0, 100.09, True),  # relative above 1
        (100.0, 100.11, False),
        (0.0, 0.0009, True),  # absolute below 1
        (math.nan, math.nan, True),
        (math.nan, 0.0, False),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        (math.inf, 1.0, False),
    ],
)
def test_near(subject, one, other, near):
    assert bool(subject.near(one, other)) is near
    assert bool(subject.near(one, other, slack=1e-9)) is near  # a slack never narrows the tolerance


def test_a_slack_widens(subject):
    assert subject.near(0.5, 0.6, slack=0.2)


def test_what_is_the_same_passes(subject):
    subject.same(
        scores([1, math.nan], parts={"p": np.ones(2)}), scores([1.0005, math.nan], parts={"p": np.ones(2)}), "nothing"
    )


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            scores([1, 3]),
            r"^overlap: a change changes the value of segment 's1' from 2\.0 to 3\.0 \(tolerance 0\.001\)$",
        ),
        (scores([1, math.nan]), r"changes the value of segment 's1' from 2\.0 to nan"),
        (scores([1, 2], parts={"p": np.ones(2)}), r"changes which parts there are, from \[\] to \['p'\]"),
        (scores([1, 2], flags={"f": np.ones(2, dtype=bool)}), r"changes which flags there are, from \[\] to \['f'\]"),
        (scores([1, 2], stats=np.ones((2, 3))), r"changes the number of statistics"),
        (
            scores([1, 2], stats=np.array([[1.0, 1.0], [7.0, 1.0]])),
            r"changes the statistic 0 of segment 's1' from 2\.0 to 7\.0",
        ),
    ],
)
def test_what_is_not_the_same_is_told_with_its_segment(subject, found, sentence):
    with pytest.raises(AssertionError, match=sentence):
        subject.same(scores([1, 2]), found, "a change")


def test_parts_and_flags_are_compared_too(subject):
    for kind, column in (("parts", np.array([0.0, 1.0])), ("flags", np.array([False, True]))):
        one, other = scores([1, 2], **{kind: {"x": column}}), scores([1, 2], **{kind: {"x": column[::-1]}})
        with pytest.raises(AssertionError, match=rf"the change changes the {kind[:-1]} 'x' of segment 's0'"):
            subject.same(one, other, "the change")


def test_ends_of_the_range_are_inside_also_after_rounding(subject):
    subject.tolerance = 0.0
    subject.within_range(np.array([0.0, 1.0, 1 + 1e-12, math.nan]), list("abcd"))
    with pytest.raises(AssertionError, match=r"^overlap: b scores 1\.000001, outside info\.range \(0\.0, 1\.0\)$"):
        subject.within_range(np.array([0.0, 1 + 1e-6]), list("ab"))
