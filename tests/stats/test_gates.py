"""Runs of an item: flicker by hand, and demands of m of n runs that sound items rarely miss."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

from nlgauge.core.errors import InputError
from nlgauge.stats import gates
from nlgauge.stats.gate_bounds import items_without_loss, studentized, tango_bounds, tango_statistic
from nlgauge.stats.gates import (
    ENOUGH,
    FEW,
    FEW_GROUPS,
    GatePower,
    bound_difference,
    bound_level,
    flicker,
    rarely_passing,
    verdict,
    with_holm,
    within_variance,
)


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


# --- The power that is announced: against all tables, against the rule on samples of its own, and at its limits

Z = stats.norm.ppf(0.95)


def of(values, *, error=None, is_rate=False, is_clustered=False, largest=None, alpha=0.05):
    values = np.asarray(values, dtype=np.float64)
    error = values.std(ddof=1) / math.sqrt(len(values)) if error is None else error
    return GatePower(values, error, alpha, is_rate, is_clustered, largest)


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


def test_under_thirty_clusters_nothing_passes():
    few = of(np.random.default_rng(0).normal(0, 1, FEW_GROUPS - 1), is_clustered=True, largest=10.0)
    assert few.smallest() == math.inf
    assert few.needed(5.0) == FEW_GROUPS


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
    assert bound_difference(np.random.default_rng(0).normal(0, 0.1, 400), allow=0).items_needed is None
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

    monkeypatch.setattr(gates, "studentized", counting)
    assert of(some_change(200_000, 50)).smallest() > 0
    assert max(sizes) < 1500


# --- Verdicts: the method that suits the scores, its level at a drop equal to the allowance, and items needed


def normal(n, mean=0.0, seed=0):
    return np.random.default_rng(seed).normal(mean, 0.1, n)


def test_pass_rates_get_tangos_interval():
    values = np.array([1.0] * 6 + [-1.0] * 9 + [0.0] * 35)
    found = bound_difference(values, allow=0.05, is_rate=True)
    low, high = map(float, tango_bounds(6, 9, 50, stats.norm.ppf(0.95)))
    assert (found.method, found.low, found.high) == ("tango", pytest.approx(low), pytest.approx(high))
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
    # three long documents broke and 27 short ones did not: the mean lost .8 * 60 / 114, and more than .43 is likely
    values = np.r_[np.full(60, -0.8), np.zeros(54)]
    clusters = [i for i in range(3) for _ in range(20)] + [i for i in range(3, 30) for _ in "ab"]
    found = bound_difference(values, clusters, allow=0.43, largest=1.0)
    assert (found.method, found.verdict) == ("worst-case", "INCONCLUSIVE")
    assert found.low < found.delta


def test_long_documents_that_broke_are_no_smaller_than_they_are():
    # two documents of 50 broke beside 28 of one: the mean lost 100 * 100 / 128 = 78.1, so no bound may say 74
    clusters = [0] * 50 + [1] * 50 + list(range(2, 30))
    values = np.r_[np.full(100, -100.0), np.zeros(28)]
    found = bound_difference(values, clusters, allow=74.0, largest=100.0)
    assert (found.method, found.verdict) == ("worst-case", "INCONCLUSIVE")
    # of q, the most that 2 of 30 documents can be, each counts 50 times one of the others
    q = stats.beta.ppf(0.95, 3, 28)
    assert found.low == pytest.approx(-100 * 50 * q / (1 - q + 50 * q))
    assert found.low < found.delta


@settings(deadline=None, max_examples=60)
@given(
    groups=st.lists(
        st.tuples(st.integers(1, 30), st.sampled_from([-1.0, -0.2, 0.0, 0.0, 0.0, 0.1, 1.0])), min_size=1, max_size=45
    ),
    allow=st.sampled_from([0.0, 0.05, 0.4]),
    is_grouped=st.booleans(),
    is_sequential=st.booleans(),
)
def test_no_claim_goes_beyond_the_mean_itself(groups, allow, is_grouped, is_sequential):
    values = np.array([value for size, value in groups for _ in range(size)])
    clusters = [i for i, (size, _) in enumerate(groups) for _ in range(size)] if is_grouped else None
    how = {"largest": 1.0, "most": 1.0, "is_sequential": is_sequential, "draws": 100, "has_power": False}
    found = bound_difference(values, clusters, allow=allow, **how)
    assert not found.low > found.delta
    assert not found.high < found.delta
    assert found.verdict != "PASS" or found.delta > -allow
    assert found.verdict != "FAIL" or found.delta < -allow


def test_gains_too_rare_to_be_seen_undo_a_fail():
    # .02 of the items gain .5 and all others lose .06: thirty have no gain with .98^30 = .55, and seem sure of a loss
    alike = np.full(30, -0.06)
    assert bound_difference(alike, allow=0.0488, largest=1.0, most=0.5).verdict == "INCONCLUSIVE"
    # without spread a share p with (1 - p)^30 = .05 gains .5; the grid of chances goes in steps of .035
    p = 1 - 0.05 ** (1 / 30)
    assert bound_difference(alike, allow=0.0, most=0.5).high == pytest.approx(-0.06 * (1 - p) + 0.5 * p, rel=0.05)
    assert bound_difference(10 * alike, allow=0.0488, largest=1.0, most=0.5).verdict == "FAIL"
    few = bound_difference(np.repeat(alike[:8], 5), np.repeat(np.arange(8), 5).tolist(), allow=0.0488, most=0.5)
    assert (few.method, few.verdict) == ("t", "INCONCLUSIVE")


def test_losses_and_gains_are_bounded_alike():
    values = np.random.default_rng(4).normal(0.01, 0.05, 40)
    one, other = (bound_difference(sign * values, allow=0.0, largest=0.7, most=0.7) for sign in (1, -1))
    assert one.method == "unseen"
    # the bootstrap draws the same items, so that its t statistics turn round; counts of draws differ by one
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), rel=1e-6)


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


def test_a_loss_of_rates_is_clear_by_students_bound_too():
    # twelve losses of three hundred: Tango is sure of more than Student
    found = bound_difference(np.r_[np.full(12, -1.0), np.zeros(288)], allow=0.01, is_rate=True)
    student = -0.04 + stats.t.ppf(0.95, 299) * math.sqrt(0.04 * 0.96 / 299)
    assert tango_bounds(0, 12, 300, stats.norm.ppf(0.95))[1] < student
    assert found.high == pytest.approx(student)


def test_wrong_fails_of_rates_among_all_tables():
    # .05 is promised where as much is lost as is allowed; tables that are rarer than 1 in 10,000 are left out
    n, share, allow = 20, 0.05, 0.1
    tables = [(gains, losses) for gains in range(n + 1) for losses in range(n + 1 - gains)]
    p = [stats.multinomial.pmf([g, k, n - g - k], n, [share, share + allow, 1 - 2 * share - allow]) for g, k in tables]
    wrong = 0.0
    for (g, k), chance in zip(tables, p, strict=True):
        if chance > 1e-4:
            values = np.r_[np.ones(g), -np.ones(k), np.zeros(n - g - k)]
            found = bound_difference(values, allow=allow, is_rate=True, has_power=False)
            wrong += chance * (found.verdict == "FAIL")
    assert wrong < 0.06


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
    with pytest.raises(InputError, match="bets need limits"):
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


def test_what_twenty_documents_may_miss_keeps_them_from_passing():
    # one document of ten is long and breaks: twenty have none of them with .9^20 = .12, thirty with .9^30 = .04
    assert 0.9**FEW_GROUPS < 0.05 < 0.9 ** (FEW_GROUPS - 2)
    for n, expected in ((FEW_GROUPS - 1, "INCONCLUSIVE"), (FEW_GROUPS, "PASS")):
        clusters = np.repeat(np.arange(n), 4).tolist()
        found = bound_difference(normal(4 * n, 0.3), clusters, allow=0.05, largest=0.2)
        assert (found.verdict, found.n_clusters) == (expected, n)


# --- Bounds of a level: rates by hand, shifts, and scores that are nearly all alike


def test_a_level_moves_with_its_scores():
    scores = np.random.default_rng(1).normal(0.8, 0.1, 50)
    one, other = bound_level(scores, 0.75), bound_level(scores + 3, 3.75)
    assert one.low < one.delta < one.high
    assert (one.low + 3, one.high + 3, one.p_pass) == pytest.approx((other.low, other.high, other.p_pass))
    assert one.delta == pytest.approx(scores.mean())


def test_scores_that_are_alike_are_not_certain():
    found = bound_level(np.full(12, 0.9), 0.85, least=0.0)
    # at worst the share p with (1 - p)^12 = .05 has 0
    assert found.low == pytest.approx(0.9 * 0.05 ** (1 / 12))
    assert found.verdict == "INCONCLUSIVE"


@pytest.mark.parametrize(("value", "verdict"), [(0.7, "PASS"), (0.9, "FAIL")])
def test_clear_levels(value, verdict):
    assert bound_level(np.random.default_rng(2).normal(0.8, 0.1, 60), value, least=0.0).verdict == verdict


def test_a_loss_that_a_sample_may_miss_is_reckoned_with():
    # .05 of the scores are 0, and thirty have none of them with .95^30 = .21
    scores = np.random.default_rng(3).normal(0.8, 0.02, 30)
    found = bound_level(scores, 0.8 * 0.95, least=0.0)
    assert (found.method, found.verdict) == ("unseen", "INCONCLUSIVE")
    assert bound_level(scores, 0.7, least=0.0).verdict == "PASS"
    assert bound_level(scores, 0.81, least=0.0).verdict == "FAIL"
    assert bound_level(scores, 0.81, least=0.0, best=1.0).verdict == "INCONCLUSIVE"  # .05 of others may have 1
