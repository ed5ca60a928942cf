"""Runs of an item: flicker by hand, and demands of m of n runs that sound items rarely miss."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import InputError
from nlgauge.stats.gates.repeats import flicker, rarely_passing, within_variance


def test_the_variance_of_a_mean_of_runs():
    # variance of 0, 1: 1/2; of the mean of two runs: 1/4
    found = within_variance([np.array([0.0, 1.0]), np.array([3.0])])
    assert found[0] == pytest.approx(0.25)
    assert math.isnan(found[1])


def test_flicker_is_a_share_of_the_variance():
    # differences 0 and 1 have variance 1/2; runs 0, 1 of both items have 1/4 within
    runs = [np.array([0.0, 1.0]), np.array([0.0, 1.0])]
    assert flicker(np.array([0.0, 1.0]), runs) == pytest.approx(0.5)
    assert flicker(np.array([0.0, 1.0]), runs, runs) == 1
    assert math.isnan(flicker(np.array([0.0, 1.0]), [np.array([1.0]), np.array([0.0])]))
    assert math.isnan(flicker(np.array([1.0]), runs[:1]))


def test_an_item_below_the_demand_by_chance_is_sound():
    # 7 of 10 where .8 is demanded: P(X <= 7) = .32
    assert stats.binom.cdf(7, 10, 0.8) == pytest.approx(0.322, abs=1e-3)
    assert rarely_passing([7], [10], 0.8).tolist() == [False]
    assert rarely_passing([2], [10], 0.8).tolist() == [True]


def test_holm_pays_for_many_items():
    # P(X <= 4 of 10) = .0064 at .8: alone it is flagged, among fifty (.32) it is not
    assert rarely_passing([4], [10], 0.8).tolist() == [True]
    assert not rarely_passing([4] + [10] * 49, [10] * 50, 0.8).any()


def test_a_demand_of_all_runs_flags_any_failure():
    assert rarely_passing([3, 2], [3, 3], 1.0).tolist() == [False, True]


def test_impossible_demands_are_refused():
    with pytest.raises(InputError, match="demand is 0"):
        rarely_passing([1], [1], 0)
    with pytest.raises(InputError, match="do not go together"):
        rarely_passing([2], [1], 0.5)
