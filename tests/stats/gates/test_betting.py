"""Bets: wealth by hand, the level at any time, and bounds in accord with p-values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.stats.gates.betting import Bets


def test_the_first_bet_by_hand():
    # one difference of 1 in [-1, 1] is 1 in [0, 1]; against a mean of 1/2 the bet is
    # min(sqrt(2 ln 20 / (1/4 * 1 * ln 2)), .75 / .5) = 1.5, so that 1 becomes 1 + 1.5 / 2
    assert Bets.on(np.array([1.0]), 1.0).p_above(0.0) == pytest.approx(1 / 1.75)


def test_looking_after_every_item_is_paid_for():
    # 400 runs of 200 items without a difference: the share in which any look rejects is at most .05 (+ 3 errors, .033)
    rng = np.random.default_rng(4)
    hits = [Bets.on(rng.choice([-1.0, 0.0, 1.0], 200), 1.0).p_above(0.0) <= 0.05 for _ in range(400)]
    assert np.mean(hits) < 0.083


def test_bounds_and_p_values_agree():
    values = np.random.default_rng(0).normal(0.02, 0.1, 300).clip(-1, 1)
    bets = Bets.on(values, 1.0)
    low, high = bets.bounds()
    assert low < values.mean() < high
    for value in (low - 0.01, low + 0.01):
        assert (bets.p_above(value) <= 0.05) == (value < low)
    for value in (high - 0.01, high + 0.01):
        assert (bets.p_below(value) <= 0.05) == (value > high)


def test_the_sides_are_alike():
    values = np.random.default_rng(1).uniform(-1, 1, 50)
    one, other = Bets.on(values, 1.0).bounds(), Bets.on(-values, 1.0).bounds()
    assert one == pytest.approx((-other[1], -other[0]))


@pytest.mark.parametrize("largest", [0.5, math.inf, 0.0])
def test_without_limits_there_are_no_bets(largest):
    with pytest.raises(InputError, match="lie outside"):
        Bets.on(np.array([1.0]), largest)
