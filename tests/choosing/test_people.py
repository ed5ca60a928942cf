"""Pairs of rated outputs, worked by hand."""

import numpy as np
import pytest

from nlgauge.choosing.people import MEAN, agreement, rated_pairs, rating_of
from nlgauge.core.segment import Dataset, Segment


def outputs(n_items, systems=("a", "b")):
    return [Segment(f"{s}{i}", "text", ("ref",), None, s, str(i)) for i in range(n_items) for s in systems]


def test_outputs_for_one_input_are_compared_where_there_are_enough():
    human = np.array([1.0, 2.0] * 19 + [5.0, 3.0])
    pairs = rated_pairs(outputs(20), human)
    assert pairs.within
    assert len(pairs) == 20
    assert pairs.first.tolist() == [*range(1, 39, 2), 38]  # b, but for the last item


def test_otherwise_all_outputs_of_a_group_are():
    human = np.array([1.0, 2.0, 2.0, np.nan])
    segments = [*outputs(3, ("a",)), Segment("d", "text", ("ref",), None, "a", "d")]
    pairs = rated_pairs(segments, human)
    assert not pairs.within
    assert [*zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)] == [(1, 0), (2, 0)]  # the tie is left out
    elsewhere = [*segments[:1], Segment("x", "text", ("ref",), None, "a", "x", "another group")]
    assert len(rated_pairs(elsewhere, np.array([1.0, 2.0]))) == 0


def test_a_share_counts_ties_of_scores_as_half():
    pairs = rated_pairs(outputs(4, ("a",)), np.array([1.0, 2.0, 3.0, 4.0]))
    # of 6 pairs: (3,2) wrong, (1,0) tied, 4 right
    found = agreement(np.array([0.0, 0.0, 9.0, 8.0]), pairs)
    assert (found.value, found.n) == (pytest.approx(4.5 / 6), 4)


def test_an_undefined_score_does_not_count():
    pairs = rated_pairs(outputs(3, ("a",)), np.array([1.0, 2.0, 3.0]))
    assert agreement(np.array([1.0, np.nan, 2.0]), pairs).n == 2
    assert agreement(np.full(3, np.nan), pairs) is None


@pytest.mark.parametrize("systems", [("a",), ("a", "b", "c")])
def test_a_perfect_metric_is_always_right_and_its_opposite_never(systems):
    segments = outputs(12, systems)
    human = np.random.default_rng(0).normal(size=len(segments))
    pairs = rated_pairs(segments, human)
    assert agreement(human, pairs).value == 1
    assert agreement(-human, pairs).value == 0
    blind = agreement(np.random.default_rng(1).normal(size=len(segments)), pairs)
    assert blind.low < 0.5 < blind.high


def test_the_mean_of_criteria_is_in_deviations():
    rated = [{"a": 1, "b": 10}, {"a": 3, "b": 30}, {"a": 2}]
    dataset = Dataset(tuple(Segment(str(i), "x", human=human) for i, human in enumerate(rated)))
    low, high, middle = rating_of(dataset, MEAN)
    assert (low, middle) == (pytest.approx(-high, rel=0.2), pytest.approx(0.0))
    assert rating_of(dataset, "a").tolist() == [1, 3, 2]
