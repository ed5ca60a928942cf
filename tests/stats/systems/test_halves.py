"""Differences on two halves of the items."""

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.stats.systems.halves import corpus_scores, stable_on_halves


def mean(totals):
    return totals[..., 0] / totals[..., 1]


def stats(*rows):
    """Values of each system as sums and counts."""
    return np.stack([np.stack([np.asarray(row, dtype=float), np.ones(len(row))], axis=1) for row in rows])


def test_a_difference_on_every_item_stays():
    found = stable_on_halves(stats(range(1, 21), range(20)), mean)
    assert (found.value, found.n) == (1, 1)


def test_no_difference_is_at_chance():
    found = stable_on_halves(stats(range(20), range(20)), mean)
    assert found.value == 0.5


def test_noise_is_no_better_than_chance_and_its_interval_says_so():
    rng = np.random.default_rng(0)
    found = stable_on_halves(stats(*rng.normal(size=(2, 200))), mean)
    assert found.low < 0.75
    assert found.low <= found.value <= found.high
    assert found.draws.shape == (1000,)


def test_three_systems_are_three_pairs():
    found = stable_on_halves(stats(range(20), range(1, 21), range(5, 25)), mean, draws=50)
    assert (found.value, found.n, len(found.draws)) == (1, 3, 50)


def test_items_count_as_often_as_they_were_drawn():
    assert corpus_scores(stats([1, 5]), mean, np.array([[1, 1], [3, 1]])).tolist() == [[3.0], [2.0]]


def test_one_system_is_refused():
    with pytest.raises(InputError, match="statistics of 1 systems"):
        stable_on_halves(stats(range(5)), mean)
