"""Intervals of shares and means: Wilson's by hand, Student's by scipy, and what holds for any counts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binom
from scipy.stats import t as student

from nlgauge.core.errors import InputError
from nlgauge.stats.shares import clopper_pearson, dependent_trials, mean_interval, mean_of_shares, wilson


def test_wilson_by_hand():
    # p = 1/2, n = 4, z = 1.959964: middle 1/2 by symmetry; half = z / (1 + z^2/4) * sqrt(1/16 + z^2/64) = 0.999796 *
    # 0.350033 = 0.349961
    low, high = wilson(2, 4)
    assert (low, high) == pytest.approx((0.150039, 0.849961), abs=1e-6)


@pytest.mark.parametrize(("wins", "n"), [(0, 10), (10, 10), (3, 7), (131, 132)])
def test_wilson_is_that_of_scipy(wins, n):
    theirs = stats.binomtest(wins, n).proportion_ci(method="wilson")
    assert wilson(wins, n) == pytest.approx((theirs.low, theirs.high), abs=1e-12)  # one formula, float64


def test_no_trial_has_no_interval():
    assert all(math.isnan(end) for end in wilson(0, 0))
    assert all(math.isnan(x) for x in mean_of_shares([], []))
    assert all(math.isnan(x) for x in mean_interval(np.array([np.nan])))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 50)), min_size=1, max_size=8))
def test_a_mean_of_shares_lies_in_its_interval_and_in_the_unit(pairs):
    wins, n = [min(w, m) for w, m in pairs], [m for _, m in pairs]
    value, low, high = mean_of_shares(wins, n)
    assert value == pytest.approx(sum(w / m for w, m in zip(wins, n, strict=True)) / len(n))
    assert 0 <= low <= value <= high <= 1


def test_a_share_without_trials_is_left_out_of_the_mean():
    assert mean_of_shares([1, 0], [2, 0])[0] == 0.5


def test_more_phenomena_narrow_the_mean():
    narrow, wide = mean_of_shares([50] * 9, [100] * 9), mean_of_shares([50], [100])
    # nine independent shares: a third of the width, up to Wilson's z^2 / n = 0.038
    assert (wide[2] - wide[1]) / (narrow[2] - narrow[1]) == pytest.approx(3, rel=0.038)


def test_equal_shares_have_wilsons_interval_of_all_trials():
    # 12 shares of 48 of 50 are 576 of 600; an interval that ends at the mean itself, as of averaged ends, is none
    value, low, high = mean_of_shares([48] * 12, [50] * 12)
    assert value == pytest.approx(0.96)
    assert (low, high) == pytest.approx(wilson(576, 600), abs=1e-12)  # one formula, float64
    assert mean_of_shares([7], [9])[1:] == pytest.approx(wilson(7, 9), abs=1e-12)
    assert mean_of_shares([50] * 12, [50] * 12)[1:] == pytest.approx(wilson(600, 600), abs=1e-12)


def test_the_interval_of_a_mean_of_shares_covers():
    # 2,000 samples of 12 shares of 50 pairs: the count of misses has a standard deviation of 0.5 %; four are allowed
    p = np.linspace(0.8, 0.99, 12)
    wins = np.random.default_rng(0).binomial(50, p, size=(2000, 12))
    ends = [mean_of_shares(row, [50] * 12)[1:] for row in wins.tolist()]
    assert np.mean([low <= p.mean() <= high for low, high in ends]) == pytest.approx(0.95, abs=0.02)


def test_mean_interval_is_students():
    values = np.array([0.1, 0.4, np.nan, 0.2, 0.7])
    known = values[~np.isnan(values)]
    expected = stats.t.interval(0.9, len(known) - 1, known.mean(), stats.sem(known))
    assert mean_interval(values, 0.9)[1:] == pytest.approx(expected, abs=1e-12)  # one formula, float64


def test_one_value_has_a_mean_and_no_interval():
    mean, low, high = mean_interval(np.array([0.3]))
    assert mean == 0.3
    assert math.isnan(low)
    assert math.isnan(high)


def test_a_confidence_of_one_is_refused():
    with pytest.raises(InputError):
        wilson(1, 2, 1.0)


def test_a_share_of_none_or_all_closes_exactly():
    # z^2 = 3.8415: z^2 / (n + z^2) with n = 20
    assert wilson(0, 20) == (0.0, pytest.approx(3.841459 / 23.841459))
    assert wilson(20, 20) == (pytest.approx(20 / 23.841459), 1.0)


@given(st.integers(0, 30), st.integers(1, 30), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_at_any_confidence(wins, more, confidence):
    theirs = stats.binomtest(wins, wins + more).proportion_ci(confidence, method="wilson")
    assert wilson(wins, wins + more, confidence) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_wilson_covers_where_the_usual_interval_does_not():
    # exact coverage over all outcomes of n = 30 at a share of 0.9: p +- 1.96 sqrt(p q / n) holds it 81 % of the time
    k = np.arange(31)
    chance = stats.binom.pmf(k, 30, 0.9)
    low, high = np.array([wilson(wins, 30) for wins in range(31)]).T
    assert chance[(low <= 0.9) & (high >= 0.9)].sum() > 0.93
    half = 1.96 * np.sqrt(k / 30 * (1 - k / 30) / 30)
    assert chance[np.abs(k / 30 - 0.9) <= half].sum() < 0.82


def test_the_exact_interval_by_its_definition():
    # 2 of 10: at the lower end 2 wins or more have a probability of 2.5 %, at the upper end 2 or fewer
    low, high = clopper_pearson(2, 10)
    assert binom.sf(1, 10, low) == pytest.approx(0.025)
    assert binom.cdf(2, 10, high) == pytest.approx(0.025)
    assert low < wilson(2, 10)[0]
    assert clopper_pearson(0, 4) == (0.0, pytest.approx(1 - 0.025**0.25))
    assert clopper_pearson(4, 4) == (pytest.approx(0.025**0.25), 1.0)
    assert np.isnan(clopper_pearson(0, 0)).all()


def test_trials_that_stand_alone_are_as_many_as_they_are():
    assert dependent_trials(4.0, np.array([1, -1, 1, -1]) / 8, "abcd") == 4


def few(n, origins):
    """The squared ratio of Student's quantiles, for what few origins say of how much they differ."""
    return (student.ppf(0.975, n - 1) / student.ppf(0.975, origins - 1)) ** 2


def test_trials_of_one_origin_that_agree_count_once():
    # twenty origins of two that agree, half won: together 20 * (1/40)^2, apart 40 * (1/80)^2, which is twice as much;
    # times 20/19 * 39/40 for the two samples, so the effect is 2 * 20/19 * 39/40
    parts = np.repeat([1, -1] * 10, 2) / 80
    origins = np.repeat(np.arange(20), 2).tolist()
    assert dependent_trials(40.0, parts, origins) == pytest.approx(40 / (2 * 20 / 19 * 39 / 40) * few(40, 20))
    # all won: nothing is seen of how they depend; n / mean size weighted by size = 4 * 4 / 8
    assert dependent_trials(4.0, np.zeros(4), "aabb") == 2


def test_the_number_for_a_mean_keeps_what_it_adds_for_certainty():
    # a phenomenon without an error varies by nothing in the sample, and by half a count in `mean_trials`: the effect
    # of origins divides that number, it does not replace it
    parts = np.array([0, 0, 1, -1, 1, -1]) / 8
    assert dependent_trials(3.0, parts, "abcdef") == 3
    assert dependent_trials(3.0, parts, "aabbcc") <= 3


def test_trials_of_one_origin_that_disagree_are_no_more_than_all():
    assert dependent_trials(4.0, np.array([1, -1, 1, -1]) / 8, "aabb") == pytest.approx(4 * few(4, 2))
    assert dependent_trials(6.0, np.array([1, -1, 1, 1, -1, -1]) / 12, "aabcde") <= 6


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=2, max_size=20))
def test_dependent_trials_lie_between_one_origin_and_all(rows):
    won = np.array([float(w) for w, _ in rows])
    trials = dependent_trials(float(len(won)), (won - won.mean()) / len(won), [c for _, c in rows])
    assert 0 < trials <= len(won)


def test_a_mean_of_one_share_has_the_interval_of_the_share():
    assert mean_of_shares([3], [4], interval="clopper-pearson")[1:] == pytest.approx(clopper_pearson(3, 4))
    # equal shares of as many trials: that of all trials
    assert mean_of_shares([3, 3], [4, 4], interval="clopper-pearson")[1:] == pytest.approx(clopper_pearson(6, 8))
