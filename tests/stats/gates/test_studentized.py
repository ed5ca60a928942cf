"""The bootstrap-t: its standard errors by hand, its draws by enumeration, and its rule for resamples without spread."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import InputError
from nlgauge.stats.gates.studentized import Studentized, cluster_error, clustered, studentized


def test_single_items_have_the_usual_error():
    values = np.array([1.0, 2.0, 4.0, 7.0])
    sums, sizes = clustered(values, None)
    assert cluster_error(sums, sizes)[0] == pytest.approx(values.std(ddof=1) / 2)


def test_clusters_count_as_one():
    # mean 3; cluster sums of residuals: a (1 - 3) + (3 - 3) = -2, b 5 - 3 = 2; sqrt(2 (4 + 4)) / 3
    sums, sizes = clustered(np.array([1.0, 3.0, 5.0]), ["a", "a", "b"])
    assert sizes.tolist() == [2, 1]
    assert cluster_error(sums, sizes)[0] == pytest.approx(math.sqrt(2 * 8) / 3)
    assert math.isnan(cluster_error(*clustered(np.array([1.0, 3.0]), ["a", "a"]))[0])


def t_of(values):
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / math.sqrt(len(values))
    moved = values.mean() - 7 / 3
    if error == 0:
        return math.copysign(math.inf, moved) if abs(moved) > 1e-12 else 0.0
    return moved / error


def test_draws_are_those_of_all_resamples():
    # three items have 27 resamples; with many draws each share is near its own
    values = [0.0, 2.0, 5.0]
    whole = np.sort([t_of([values[i] for i in drawn]) for drawn in itertools.product(range(3), repeat=3)])
    found = studentized(np.array(values), draws=20_000).t[:, 0]
    for q in (0.3, 0.5, 0.7):  # five standard errors of a share of 20,000 draws are .016
        at = whole[int(q * 27)]
        share, drawn = (whole <= at + 1e-9).mean(), (found <= at + 1e-9).mean()
        assert drawn == pytest.approx(share, abs=0.018)
    assert np.isinf(found).mean() == pytest.approx(3 / 27, abs=0.012)


def test_bounds_and_p_values_agree():
    rng = np.random.default_rng(3)
    found = studentized(rng.normal(0.1, 1, (5, 40)), draws=999)
    low, high = found.bounds(0.05)
    for value in (-0.3, 0.0, 0.2):
        assert ((found.p_above(value) <= 0.05) == (low > value)).all()
        assert ((found.p_below(value) <= 0.05) == (high < value)).all()


def test_normal_differences_get_students_bounds():
    # of 400 normal differences; the quantile of 20,000 draws has an error of some .02 standard errors
    values = np.random.default_rng(5).normal(0, 1, 400)
    low, high = studentized(values, draws=20_000).bounds(0.05)
    half = stats.t.ppf(0.95, 399) * values.std(ddof=1) / 20
    assert (low[0], high[0]) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.08 * half)


def test_items_that_are_their_own_clusters_change_nothing():
    values = np.random.default_rng(1).normal(size=30)
    alone, own = studentized(values, draws=500), studentized(values, list(range(30)), draws=500)
    assert alone.t == pytest.approx(own.t, rel=1e-9)


def test_differences_that_are_all_alike_are_a_point():
    found = studentized(np.full(20, -0.5), draws=100)
    assert [end[0] for end in found.bounds(0.05)] == [-0.5, -0.5]
    assert found.p_below(-0.4)[0] == pytest.approx(1 / 101)
    assert found.p_above(-0.5)[0] == 1


def test_many_metrics_share_their_draws():
    values = np.random.default_rng(2).normal(size=(3, 25))
    together = studentized(values, draws=300)
    for i, one in enumerate(values):
        assert together.t[:, i] == pytest.approx(studentized(one, draws=300).t[:, 0], rel=1e-9)


def test_what_cannot_be_resampled_is_refused():
    with pytest.raises(InputError, match="2 items or clusters or more, got 1"):
        studentized(np.array([1.0]))
    with pytest.raises(InputError, match="not finite"):
        studentized(np.array([1.0, math.nan]))
    with pytest.raises(InputError, match="3 items but 2 clusters"):
        studentized(np.zeros(3), ["a", "b"])
    with pytest.raises(InputError, match="too few for a level"):
        Studentized(np.zeros(1), np.ones(1), np.zeros((10, 1))).bounds(0.05)
