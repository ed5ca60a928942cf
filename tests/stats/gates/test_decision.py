"""Verdicts: the method that suits the scores, its level at a drop equal to the allowance, and items needed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import InputError
from nlgauge.stats.gates.decision import bound_difference, verdict, with_holm
from nlgauge.stats.gates.tango import tango_interval


def normal(n, mean=0.0, seed=0):
    return np.random.default_rng(seed).normal(mean, 0.1, n)


def test_pass_rates_get_tangos_interval():
    values = np.array([1.0] * 6 + [-1.0] * 9 + [0.0] * 35)
    found = bound_difference(values, allow=0.05, is_rate=True)
    exact = tango_interval(6, 9, 50, level=0.9)
    assert (found.method, found.low, found.high) == ("tango", pytest.approx(exact.low), pytest.approx(exact.high))
    assert (found.verdict, found.n_changed) == ("INCONCLUSIVE", 15)


def test_other_scores_are_resampled():
    found = bound_difference(normal(100), allow=0.05)
    assert (found.method, found.verdict) == ("bootstrap-t", "PASS")
    assert bound_difference(normal(100, -0.2), allow=0.05).verdict == "FAIL"
    assert bound_difference(normal(8, -0.02), allow=0.05, largest=1.0).verdict == "INCONCLUSIVE"


def test_with_few_changed_items_only_the_worst_case_passes():
    nine = np.array([0.001] * 9 + [0.0] * 31)
    found = bound_difference(nine, allow=0.05, largest=1.0)
    assert (found.method, found.low) == ("worst-case", pytest.approx(-(1 - 0.05 ** (1 / 40))))
    assert found.verdict == "INCONCLUSIVE"
    assert bound_difference(nine, allow=0.1, largest=1.0).verdict == "PASS"
    unlimited = bound_difference(nine, allow=100.0)
    assert (unlimited.verdict, math.isnan(unlimited.low)) == ("INCONCLUSIVE", True)


def test_few_changed_items_can_fail():
    found = bound_difference(np.array([-0.9, -0.8, -1.0, -0.7, -0.9, -0.8]), allow=0.05, largest=1.0)
    assert (found.method, found.verdict) == ("worst-case", "FAIL")


def test_few_clusters_never_pass_and_may_fail():
    clusters = [str(i // 10) for i in range(80)]
    good, bad = (bound_difference(normal(80, mean), clusters, allow=0.05) for mean in (0.2, -0.3))
    assert (good.method, good.verdict, good.n_clusters) == ("t", "INCONCLUSIVE", 8)
    assert bad.verdict == "FAIL"


def test_clusters_widen_the_bounds():
    shared = np.repeat(normal(20, seed=2), 10)
    clusters = [str(i // 10) for i in range(200)]
    together, alone = bound_difference(shared, clusters, allow=0.05), bound_difference(shared, allow=0.05)
    # ten equal items per cluster: the error is sqrt(10) times as large, but for G - 1 in place of n - 1
    assert together.error / alone.error == pytest.approx(math.sqrt(10 * 199 / 200 * 20 / 19 / 1), rel=0.01)


def test_a_loss_that_thirty_items_may_miss_is_reckoned_with():
    # .05 of the items lose 1, and thirty have none of them with .95^30 = .21; noise of .1 does not tell
    found = bound_difference(normal(30), allow=0.05, largest=1.0)
    assert (found.method, found.verdict) == ("unseen", "INCONCLUSIVE")
    assert 50 < found.items_needed < 100  # ln(.05) / ln(.95) = 58 without noise
    assert bound_difference(normal(30), allow=0.05, largest=0.2).verdict == "PASS"
    # with a hundred items noise of .3 of the largest loss is what decides
    assert bound_difference(3 * normal(100), allow=0.1, largest=1.0).method == "bootstrap-t"


def test_a_loss_that_all_share_is_no_certainty():
    found = bound_difference(np.full(30, -0.01), allow=0.05, largest=1.0)
    assert (found.method, found.verdict, found.items_needed) == ("worst-case", "INCONCLUSIVE", 73)  # .95918^72 > .05
    assert bound_difference(np.full(80, -0.01), allow=0.05, largest=1.0).verdict == "PASS"


def test_documents_count_by_their_items():
    # two long documents broke and eighteen short ones did not: the mean lost .8 * 40 / 76, and more than .43 is likely
    values, clusters = (
        np.r_[np.full(40, -0.8), np.zeros(36)],
        [0] * 20 + [1] * 20 + [i for i in range(2, 20) for _ in "ab"],
    )
    found = bound_difference(values, clusters, allow=0.43, largest=1.0)
    assert (found.method, found.verdict) == ("worst-case", "INCONCLUSIVE")
    assert found.low < found.delta


def test_bets_are_on_whole_groups():
    alone = np.random.default_rng(5).choice([-1.0, 0.0, 1.0], 40)
    one = bound_difference(alone, allow=0.1, largest=1.0, is_sequential=True)
    ten = bound_difference(np.repeat(alone, 10), np.repeat(np.arange(40), 10).tolist(), allow=0.1, largest=1.0,
                           is_sequential=True)  # fmt: skip
    assert (ten.low, ten.high, ten.p_pass, ten.p_fail) == pytest.approx((one.low, one.high, one.p_pass, one.p_fail))


def test_students_bound_is_wider_where_it_is():
    values, clusters = normal(80, -0.3), [i // 10 for i in range(80)]
    found = bound_difference(values, clusters, allow=0.05)
    means = values.reshape(8, 10).mean(axis=1)  # equal clusters: Student's bound of their means
    assert found.high == pytest.approx(means.mean() + stats.t.ppf(0.95, 7) * means.std(ddof=1) / math.sqrt(8))
    for row in np.random.default_rng(3).normal(0, 0.1, (8, 40)):
        found, reach = (
            bound_difference(row, allow=0.05, draws=500, has_power=False),
            stats.t.ppf(0.95, 39) * row.std(ddof=1) / 40**0.5,
        )
        assert found.low <= row.mean() - reach + 1e-12
        assert found.high >= row.mean() + reach - 1e-12


def test_a_net_loss_of_rates_is_clear_by_the_binomial_too():
    # three losses of a hundred: Tango is sure of more than the exact bound of 3 in 100
    found = bound_difference(np.r_[np.full(12, -1.0), np.zeros(288)], allow=0.01, is_rate=True)
    exact = stats.binomtest(12, 300).proportion_ci(0.9, "exact").low
    assert tango_interval(0, 12, 300, level=0.9).high < -exact
    assert found.high == pytest.approx(-exact)


def test_power_and_items_needed_are_those_of_the_normal_curve():
    found = bound_difference(normal(400), allow=0.02)
    reach = stats.norm.ppf(0.95) + stats.norm.ppf(0.8)
    assert reach == pytest.approx(2.49, abs=0.005)
    assert found.smallest_drop == pytest.approx(reach * found.error)
    assert found.items_needed == math.ceil(400 * (reach * found.error / 0.02) ** 2)
    assert bound_difference(normal(400), allow=0).items_needed is None


def test_holm_is_for_failing_alone():
    bounds = [bound_difference(normal(60, mean, seed=i), allow=0.0) for i, mean in enumerate((-0.028, 0.1, 0.1))]
    (fair, *_), plain = with_holm(bounds), bounds[0]
    assert fair.p_fail == pytest.approx(3 * plain.p_fail)
    assert fair.p_pass == plain.p_pass


def test_rounding_is_no_change():
    assert bound_difference(np.array([0.5, 1e-17, -0.5]), allow=0.1, largest=1.0).n_changed == 2


def test_bets_are_wider():
    values = normal(300)
    plain, betting = (bound_difference(values, allow=0.05, largest=1.0, is_sequential=s) for s in (False, True))
    assert betting.method == "betting"
    assert betting.low < plain.low < plain.high < betting.high
    with pytest.raises(InputError, match="no limits"):
        bound_difference(values, allow=0.05, is_sequential=True)


def changed(rng, runs, n):
    """Scores of which 80 % stay the same, with a long tail of losses and a mean of -.03."""
    return np.where(rng.random((runs, n)) < 0.2, 0.05 - rng.exponential(0.2, (runs, n)), 0.0)


def test_a_drop_equal_to_the_allowance_passes_and_fails_rarely():
    # 300 runs: a share of .05 has an error of .013, so .09 is three errors above it
    rng = np.random.default_rng(8)
    verdicts = [
        bound_difference(row, allow=0.03, largest=1.0, draws=500, has_power=False).verdict
        for row in changed(rng, 300, 50)
    ]
    assert verdicts.count("PASS") / 300 < 0.09
    assert verdicts.count("FAIL") / 300 < 0.09


def test_both_claims_cannot_hold():
    assert [verdict(*p, 0.05) for p in ((0.01, 0.9), (0.9, 0.01), (0.5, 0.5))] == ["PASS", "FAIL", "INCONCLUSIVE"]


@pytest.mark.parametrize(
    ("values", "how", "message"),
    [
        ([], {"allow": 0.1}, "no item with scores on both sides"),
        ([math.nan], {"allow": 0.1}, "not finite"),
        ([0.0], {"allow": -1}, "allow is -1"),
        ([0.0], {"allow": 0.1, "alpha": 0.5}, "alpha is 0.5"),
    ],
)
def test_bad_input_is_refused(values, how, message):
    with pytest.raises(InputError, match=message):
        bound_difference(np.array(values), **how)


def test_one_item_decides_nothing():
    found = bound_difference(np.array([-1.0]), allow=0.1, largest=1.0)
    assert (found.verdict, found.low) == ("INCONCLUSIVE", -1.0)
