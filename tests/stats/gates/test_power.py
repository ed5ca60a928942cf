"""The power that is announced: against all tables, against the rule on samples of its own, and at its limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special, stats

from nlgauge.stats.gates import power
from nlgauge.stats.gates.decision import bound_difference
from nlgauge.stats.gates.power import ENOUGH, FEW, Power
from nlgauge.stats.gates.studentized import studentized
from nlgauge.stats.gates.tango import tango_statistic
from nlgauge.stats.gates.worst import items_without_loss

Z = stats.norm.ppf(0.95)


def of(values, *, error=None, is_rate=False, is_clustered=False, largest=None, alpha=0.05):
    values = np.asarray(values, dtype=np.float64)
    error = values.std(ddof=1) / math.sqrt(len(values)) if error is None else error
    return Power(values, error, alpha, is_rate, is_clustered, largest)


def some_change(n, k, seed=0):
    values = np.zeros(n)
    values[:k] = np.random.default_rng(seed).normal(0, 1, k)
    return values


def test_a_rate_passes_as_often_as_announced_among_all_tables():
    # 10,000 items tell the share that changes, .2 or .5, so that only the 40 to come are left to chance
    for share in (0.2, 0.5):
        half = round(10_000 * share / 2)
        allow = of([1.0] * half + [-1.0] * half + [0.0] * (10_000 - 2 * half), is_rate=True, largest=1.0).smallest(40)
        gains, losses = (one.ravel() for one in np.indices((41, 41)))
        inside = gains + losses <= 40
        gains, losses = gains[inside], losses[inside]
        p = stats.multinomial.pmf(
            np.stack([gains, losses, 40 - gains - losses], 1), 40, [share / 2, share / 2, 1 - share]
        )

        def passing(allowed, gains=gains, losses=losses, p=p):
            at_worst = special.bdtr(losses.astype(float), 40, allowed) <= 0.05
            return p[np.where(gains + losses >= FEW, tango_statistic(gains, losses, 40, -allowed) >= Z, at_worst)].sum()

        # an edge of many tables: at it they pass, and below it less than .8 do; 2,000 draws have an error of .01
        assert passing(allow) >= 0.77
        assert passing(allow * (1 - 1e-5)) <= 0.83


@pytest.mark.parametrize(("n", "share"), [(60, 0.25), (30, 1.0)])
def test_a_mean_passes_as_often_as_announced(n, share):
    rng = np.random.default_rng(1)
    values = np.where(rng.random(4000) < share, rng.standard_t(6, 4000), 0.0)
    allow = of(values).smallest(n)
    samples = values[rng.integers(4000, size=(1000, n))] * rng.choice([-1.0, 1.0], size=(1000, n))
    found = studentized(samples, draws=1000, seed=2)
    student = found.mean + special.stdtrit(n - 1, 0.05) * found.error
    passing = (np.minimum(found.bounds(0.05)[0], student) > -allow) & ((samples != 0).sum(axis=1) >= FEW)
    # 400 of its samples and 1,000 of ours: errors of .02 and .013; the normal curve announces .8 for .70 and .77
    assert passing.mean() == pytest.approx(0.8, abs=0.06)


def test_many_changes_follow_the_normal_curve_and_few_ask_for_more():
    many = of(np.random.default_rng(0).normal(0, 1, ENOUGH))
    assert many.smallest() == pytest.approx((Z + stats.norm.ppf(0.8)) * many.error)
    few = of(some_change(200, 15))
    assert few.smallest() > 1.05 * (Z + stats.norm.ppf(0.8)) * few.error


def test_under_ten_changes_only_the_largest_loss_tells():
    values = some_change(30, 3)
    assert of(values).smallest() == math.inf
    # at most 8 of 30 items lose: the bound of the worst case
    assert of(values, largest=2.0).smallest() < 2 * special.betaincinv(9, 22, 0.95)


def test_under_ten_clusters_nothing_passes():
    nine = of(np.random.default_rng(0).normal(0, 1, 9), is_clustered=True, largest=10.0)
    assert nine.smallest() == math.inf
    assert nine.needed(5.0) == FEW


@pytest.mark.parametrize("values", [some_change(100, 20), some_change(40, 40), some_change(500, 200)])
def test_items_needed_are_those_at_which_the_allowance_is_the_smallest(values):
    found = of(values)
    for allow in (0.5 * found.smallest(), found.smallest(), 2 * found.smallest()):
        needed = found.needed(allow)
        assert found.smallest(needed) <= allow * (1 + 1e-5)
    assert found.needed(found.smallest() / 3) > found.needed(found.smallest() / 2) > len(values)


def test_where_nothing_changed_items_without_loss_are_needed():
    assert of(np.zeros(20), largest=1.0).needed(0.05) == items_without_loss(1.0, 0.05)
    assert of(np.zeros(20)).needed(0.05) is None
    assert of(np.zeros(20), largest=1.0).smallest() == pytest.approx(1 - 0.05 ** (1 / 20))


def test_what_cannot_be_known_is_not_announced():
    assert of(some_change(30, 2)).needed(1e-12) is None  # a thousand million items are not enough
    assert of([0.5], error=math.nan).needed(0.1) is None
    assert math.isnan(of([0.5], error=math.nan).smallest())
    assert of([-1.0] * 12, error=0.0).smallest() == 0  # all differ by the same
    found = bound_difference(np.random.default_rng(0).normal(0, 0.1, 50), allow=0.1, largest=1.0, is_sequential=True)
    assert (math.isnan(found.smallest_drop), found.items_needed) == (True, None)


def test_the_scale_is_that_of_the_scores():
    values = some_change(50, 30)
    assert of(100 * values).smallest() == pytest.approx(100 * of(values).smallest())


def test_items_that_did_not_change_are_not_drawn_one_by_one(monkeypatch):
    sizes = []

    def counting(values, **how):
        sizes.append(values.shape[1])
        return studentized(values, **how)

    monkeypatch.setattr(power, "studentized", counting)
    assert of(some_change(200_000, 50)).smallest() > 0
    assert max(sizes) < 1500
