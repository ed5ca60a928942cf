import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binom
from scipy.stats import t as student

from nlgauge.core.errors import InputError
from nlgauge.stats import draws as resample
from nlgauge.stats.draws import (
    bootstrap_draws,
    bootstrap_interval,
    check_grid,
    clopper_pearson,
    dependent_trials,
    fair_coins,
    in_groups,
    mean_interval,
    mean_of_shares,
    percentiles,
    resample_counts,
    standardise,
    swap_draws,
    wilson,
)


def mean(totals):
    with np.errstate(invalid="ignore", divide="ignore"):
        return totals[..., 0] / totals[..., 1]


def ratio(totals):
    """A number that is no mean of segment numbers, like BLEU: a geometric mean of two ratios of sums."""
    return np.sqrt(totals[..., 0] * totals[..., 1]) / totals[..., 2]


def mean_stats(values):
    """(S, n) segment values, NaN where undefined, as (value, defined) rows."""
    values = np.asarray(values, dtype=float)
    defined = ~np.isnan(values)
    return np.stack([np.where(defined, values, 0.0), defined], axis=-1)


def loop_bootstrap(stats, finish, draws, rng):
    drawn = np.empty((draws, len(stats)))
    for b in range(draws):
        index = rng.integers(stats.shape[1], size=stats.shape[1])
        for s, rows in enumerate(stats):
            totals = np.zeros(stats.shape[2])
            for i in index:
                totals = totals + rows[i]
            drawn[b, s] = finish(totals)
    return drawn


def loop_swaps(stats, finish, coins):
    drawn = np.empty((len(coins), len(stats) - 1))
    for b, row in enumerate(coins):
        for s, rows in enumerate(stats[1:]):
            ours = sum(rows[i] if not coin else stats[0][i] for i, coin in enumerate(row))
            theirs = sum(stats[0][i] if not coin else rows[i] for i, coin in enumerate(row))
            drawn[b, s] = finish(ours) - finish(theirs)
    return drawn


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("finish", [mean, ratio])
def test_a_loop_over_the_same_draws_agrees(finish, whole):
    rng = np.random.default_rng(3)
    stats = rng.integers(1, 9, size=(3, 7, 3)).astype(float) if whole else rng.random((3, 7, 3))
    # 1e-12: a product adds the same numbers in another order
    np.testing.assert_allclose(
        bootstrap_draws(stats, finish, 20, np.random.default_rng(1)),
        loop_bootstrap(stats, finish, 20, np.random.default_rng(1)),
        rtol=1e-12,
    )
    coins = fair_coins(np.random.default_rng(2), 20, 7)
    np.testing.assert_allclose(
        swap_draws(stats, finish, 20, np.random.default_rng(2)), loop_swaps(stats, finish, coins), atol=1e-12
    )


@pytest.mark.parametrize("cells", [1, 50, 64 * 33])
def test_blocks_do_not_change_a_draw(monkeypatch, cells):
    stats = np.random.default_rng(0).random((2, 33, 2))
    whole = (
        bootstrap_draws(stats, ratio_of_two, 70, np.random.default_rng(5)),
        swap_draws(stats, ratio_of_two, 70, np.random.default_rng(5)),
    )
    monkeypatch.setattr(resample, "_CELLS", cells)
    cut = (
        bootstrap_draws(stats, ratio_of_two, 70, np.random.default_rng(5)),
        swap_draws(stats, ratio_of_two, 70, np.random.default_rng(5)),
    )
    for one, other in zip(whole, cut, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)  # a narrower product may round the last digit otherwise


def ratio_of_two(totals):
    return totals[..., 0] / totals[..., 1]


def test_every_resample_draws_n_items_and_each_about_once():
    counts = resample_counts(np.random.default_rng(0), 4000, 25)
    assert (counts.sum(axis=1) == 25).all()
    # a count is binomial(25, 1/25): mean 1, variance 0.96; over 4000 draws the mean has sd 0.0155, five of them allowed
    assert np.abs(counts.mean(axis=0) - 1).max() < 0.08
    assert counts.var() == pytest.approx(0.96, abs=0.03)


def test_coins_are_fair_and_independent():
    coins = fair_coins(np.random.default_rng(0), 4000, 70).astype(float)
    assert set(np.unique(coins)) == {0.0, 1.0}
    # a mean of 4000 coins has sd 0.0079, and so has half a correlation; five of them allowed
    assert np.abs(coins.mean(axis=0) - 0.5).max() < 0.04
    assert np.abs(np.corrcoef(coins.T) - np.eye(70)).max() < 0.08


def test_float32_is_used_only_where_it_is_exact():
    # a total of 5 x 4,000,001 is beyond 2 ** 24 and odd, which float32 cannot hold
    big = np.full((1, 5, 1), 4_000_001.0)
    assert bootstrap_draws(big, lambda t: t[..., 0], 3, np.random.default_rng(0)).tolist() == [[20_000_005.0]] * 3


def test_interval_of_a_mean_is_the_normal_one():
    # 400 values of variance 1: the mean has sd 1/20, so 95 % lies within 1.96/20 = 0.098 of it.
    # An end of 4000 draws has a standard error of about 0.002; the sample's own sd is off by 1/sqrt(800) = 3.5 %.
    values = np.random.default_rng(0).normal(size=400)
    found = bootstrap_interval(mean_stats([values]), mean, draws=4000)
    assert found.values[0] == pytest.approx(values.mean())
    assert found.high[0] - found.values[0] == pytest.approx(0.098, abs=0.015)
    assert found.values[0] - found.low[0] == pytest.approx(0.098, abs=0.015)
    narrower = bootstrap_interval(mean_stats([values]), mean, draws=4000, level=0.5)
    assert narrower.high[0] - narrower.values[0] == pytest.approx(
        0.6745 / 20, abs=0.008
    )  # the quartile of a normal is 0.6745


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(7)
    values = rng.exponential(size=(300, 80))  # 300 worlds, skewed, true mean 1
    found = [bootstrap_interval(mean_stats([v]), mean, draws=400, seed=rng) for v in values]
    covered = np.mean([f.low[0] <= 1 <= f.high[0] for f in found])
    # nominal 0.95; a skewed mean of 80 loses one or two points (Efron and Tibshirani 13.4); 300 worlds: sd 0.013
    assert 0.89 <= covered <= 0.98


def test_percentiles_by_hand():
    drawn = np.arange(101.0)[:, None]  # 0 to 100: the q-quantile is 100 q
    low, high = percentiles(drawn, 0.9)
    assert (low[0], high[0]) == (pytest.approx(5), pytest.approx(95))


def test_undefined_draws_are_counted_and_left_out():
    # one defined value among two: a resample misses it with chance (1/2)^2 = 1/4, and is otherwise exactly 5
    found = bootstrap_interval(mean_stats([[5.0, np.nan]]), mean, draws=2000, seed=1)
    assert found.n_undefined[0] / 2000 == pytest.approx(0.25, abs=0.05)  # sd 0.0097
    assert (found.values[0], found.low[0], found.high[0]) == (5.0, 5.0, 5.0)


def test_nothing_defined_is_nan_throughout():
    found = bootstrap_interval(mean_stats([[np.nan, np.nan, np.nan], [1.0, 2.0, 3.0]]), mean, draws=50)
    assert np.isnan([found.values[0], found.low[0], found.high[0]]).all()
    assert found.n_undefined.tolist() == [50, 0]
    assert found.low[1] >= 1


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), shift=st.floats(-100, 100), scale=st.floats(0.1, 10))
def test_intervals_move_and_stretch_with_the_values(seed, shift, scale):
    values = np.random.default_rng(0).normal(size=30)
    plain = bootstrap_interval(mean_stats([values]), mean, draws=60, seed=seed)
    moved = bootstrap_interval(mean_stats([values * scale + shift]), mean, draws=60, seed=seed)
    np.testing.assert_allclose([moved.low, moved.high], np.array([plain.low, plain.high]) * scale + shift, atol=1e-9)


def test_zero_is_a_seed_and_a_generator_goes_on():
    stats = mean_stats([np.arange(20.0)])
    one, two = (bootstrap_interval(stats, mean, draws=50, seed=0) for _ in range(2))
    assert one.low == two.low
    assert one.high == two.high
    rng = np.random.default_rng(0)
    first, second = (bootstrap_draws(stats, mean, 50, rng) for _ in range(2))
    assert not np.array_equal(first, second)


def test_inputs_are_left_alone():
    stats = np.random.default_rng(0).random((2, 9, 2))
    kept = stats.copy()
    bootstrap_draws(stats, mean, 5, np.random.default_rng(0))
    swap_draws(stats, mean, 5, np.random.default_rng(0))
    assert np.array_equal(stats, kept)


@pytest.mark.parametrize(
    ("stats", "options", "says"),
    [
        (np.zeros((1, 1, 2)), {}, "2 items or more, got 1"),
        (np.zeros((1, 0, 2)), {}, "2 items or more, got 0"),
        (np.zeros((0, 5, 2)), {}, "statistics of 0 systems"),
        (np.zeros((5, 2)), {}, r"shape \(5, 2\)"),
        (np.full((1, 3, 2), np.nan), {}, "system 0, item 0"),
        (np.zeros((1, 3, 2)), {"draws": 0}, "draws is 0"),
        (np.zeros((1, 3, 2)), {"level": 95}, "level is 95"),
        (np.zeros((1, 3, 2)), {"seed": -1}, "seed is -1"),
    ],
)
def test_what_cannot_be_resampled_is_refused(stats, options, says):
    with pytest.raises(InputError, match=says):
        bootstrap_interval(stats, mean, **options)


@pytest.mark.parametrize(
    ("averaging", "groups"),
    [("none", [[0, 1, 2, 3, 4, 5]]), ("item", [[0, 3], [1, 4], [2, 5]]), ("sys", [[0, 1, 2], [3, 4, 5]])],
)
def test_groups_hold_the_cells_of_an_item_of_a_system_or_all(averaging, groups):
    assert in_groups(np.arange(6).reshape(2, 3), averaging).tolist() == groups


def test_system_scores_are_a_grid_of_one_item():
    human, scores = check_grid(np.array([1.0, 2.0]), np.array([[3.0, 4.0]]))
    assert (human.shape, scores.shape) == ((2, 1), (1, 2, 1))


def test_scores_are_needed_where_there_is_a_judgement():
    human, scores = np.array([[1.0, np.nan]]), np.array([[[2.0, np.nan]]])
    assert check_grid(human, scores)[1].tolist() == [[[2.0, 0.0]]]
    with pytest.raises(InputError, match="the judgement of system 0, item 1 is infinite"):
        check_grid(np.array([[1.0, np.inf]]), np.array([[[2.0, 1.0]]]))


def test_standardised_over_the_cells_in_use():
    metrics = np.array([[[1.0, 2.0, 3.0], [4.0, 5.0, 1e6]], [[7.0, 7.0, 7.0], [7.0, 7.0, 8.0]]])
    used = np.array([[True, True, True], [True, True, False]])
    z, constant = standardise(metrics, used)
    # 1 to 5 have mean 3 and variance 2; what is not in use is 0 and does not count
    np.testing.assert_allclose(z[0], np.array([[-2.0, -1.0, 0.0], [1.0, 2.0, 0.0]]) / np.sqrt(2), atol=1e-15)
    assert constant.tolist() == [False, True]
    assert not z[1].any()


def test_a_constant_that_was_computed_is_a_constant():
    z, constant = standardise(np.array([[[0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2]]]), np.ones((1, 4), dtype=bool))
    assert constant[0]
    assert not z.any()


def test_no_judgement_at_all_is_refused():
    with pytest.raises(InputError, match="every entry is missing"):
        standardise(np.zeros((1, 2, 2)), np.zeros((2, 2), dtype=bool))


# --- Intervals of shares and means: Wilson's by hand, Student's by scipy, and what holds for any counts


def test_wilson_by_hand():
    # p = 1/2, n = 4, z = 1.959964: middle 1/2 by symmetry; half = z / (1 + z^2/4) * sqrt(1/16 + z^2/64) = 0.999796 *
    # 0.350033 = 0.349961
    low, high = wilson(2, 4)
    assert (low, high) == pytest.approx((0.150039, 0.849961), abs=1e-6)


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
