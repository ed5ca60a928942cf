import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats import draws as resample
from nlgauge.stats.draws import (
    bootstrap_draws,
    bootstrap_interval,
    fair_coins,
    percentiles,
    resample_counts,
    swap_draws,
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
