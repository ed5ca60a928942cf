import math

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.stats.coefficients import kendall_b, pearson
from nlgauge.stats.correlate import correlation
from nlgauge.stats.draws import standardise
from nlgauge.stats.intervals import (
    bootstrap_correlation,
    bootstrap_correlations,
    fisher_ends,
    pearson_ends,
    segment_weights,
    widened_ends,
)
from nlgauge.stats.resampling import compare_resampled, resample_grid


def test_fisher_by_hand():
    # atanh 0.5 = 0.549306; 1.959964 / sqrt(28 - 3) = 0.391993: tanh of 0.157313 and 0.941299
    low, high = fisher_ends("pearson", 0.5, 28)
    assert (float(low), float(high)) == (pytest.approx(0.156028, abs=1e-6), pytest.approx(0.735818, abs=1e-6))
    # Spearman is wider by sqrt(1 + 0.125), Kendall has n - 4 and narrows by sqrt(0.437)
    half = {
        stat: np.arctanh(0.5) - np.arctanh(fisher_ends(stat, 0.5, 29)[0])
        for stat in ("pearson", "spearman", "kendall_b")
    }
    assert half["spearman"] / half["pearson"] == pytest.approx(math.sqrt(1.125))
    assert half["kendall_b"] / half["pearson"] == pytest.approx(math.sqrt(0.437 * 26 / 25))


def test_fisher_with_too_few_pairs_is_undefined():
    assert np.isnan(fisher_ends("pearson", 0.5, [2, 3, 4])[0]).tolist() == [True, True, False]
    assert np.isnan(fisher_ends("kendall_b", 0.5, 4)[1])
    assert fisher_ends("pearson", 1.0, 10) == (1.0, 1.0)


def test_fisher_holds_the_truth_nineteen_times_of_twenty():
    # 2000 samples of 30 with a true correlation of 0.6: sd of the count 0.005, four of them allowed
    rng = np.random.default_rng(0)
    z = rng.normal(size=(2000, 30))
    x = 0.6 * z + 0.8 * rng.normal(size=z.shape)
    low, high = fisher_ends("pearson", pearson(x, z), 30)
    assert np.mean((low <= 0.6) & (high >= 0.6)) == pytest.approx(0.95, abs=0.02)


def test_the_jackknife_widens_where_pairs_are_skewed():
    # the jackknife by its definition: atanh r without each pair in turn
    rng = np.random.default_rng(0)
    x, z = np.exp(rng.normal(size=(2, 40)) + rng.normal(size=40))
    r = np.corrcoef(x, z)[0, 1]
    without = [np.arctanh(np.corrcoef(np.delete(x, i), np.delete(z, i))[0, 1]) for i in range(40)]
    half = 1.959964 * math.sqrt(39 / 40 * np.sum((without - np.mean(without)) ** 2))
    low, high = widened_ends(x[None], z)
    assert half > 1.959964 / math.sqrt(37)
    assert (low[0], high[0]) == pytest.approx((np.tanh(np.arctanh(r) - half), np.tanh(np.arctanh(r) + half)), abs=1e-6)


def test_where_fishers_formula_is_wider_it_stays():
    z = np.linspace(-1, 1, 30)
    x = z + 0.5 * np.sign(np.arange(30) % 3 - 1)  # few large deviations: the jackknife is narrow
    ends = fisher_ends("pearson", np.corrcoef(x, z)[0, 1], 30)
    assert np.squeeze(widened_ends(x[None], z)) == pytest.approx(np.array(ends), abs=1e-12)  # one formula, float64


def test_the_widened_interval_covers_where_both_sides_are_lognormal():
    # true r of exp(a), exp(b) with correlation 0.6: (e^0.6 - 1) / (e - 1); 1000 samples: sd of the share 0.8 %
    rng, truth, held = np.random.default_rng(0), (math.exp(0.6) - 1) / (math.e - 1), np.zeros(2)
    for _ in range(1000):
        a = rng.normal(size=200)
        x, z = np.exp(0.6 * a + 0.8 * rng.normal(size=200)), np.exp(a)
        ends = widened_ends(x[None], z), fisher_ends("pearson", np.corrcoef(x, z)[0, 1], 200)
        held += [np.squeeze(low) <= truth <= np.squeeze(high) for low, high in ends]
    assert held[0] / 1000 > 0.9
    assert held[1] / 1000 < 0.8


def test_a_widened_interval_of_few_or_constant_values_is_undefined_and_missing_scores_are_left_out():
    z = np.arange(6.0)
    x = np.array([[1.0, 1, 1, 1, 1, 1], [3, 1, 2, np.nan, np.nan, np.nan], [1, 3, 2, 5, np.nan, 4], z])
    low, high = widened_ends(x, z)
    assert np.isnan(low).tolist() == [True, True, False, False]
    kept = [0, 1, 2, 3, 5]
    assert (low[2], high[2]) == tuple(np.squeeze(widened_ends(x[2:3, kept], z[kept])))
    assert low[3] == pytest.approx(1)


NAN = math.nan


def by_loop(evaluate, x, z, draws, rng, resample):
    """The definition: draw rows, columns or both of two grids, evaluate, take percentiles."""
    drawn = []  # all are evaluated in one call, which takes a tenth of the time
    for _ in range(draws):
        rows = rng.integers(len(x), size=len(x)) if resample != "items" else np.arange(len(x))
        columns = rng.integers(x.shape[1], size=x.shape[1]) if resample != "systems" else np.arange(x.shape[1])
        drawn.append((x[rows][:, columns], z[rows][:, columns]))
    return np.nanquantile(evaluate(*map(np.stack, zip(*drawn, strict=True))), (0.025, 0.975))


EVALUATE = {  # of grids, shape (draws, systems, items)
    ("pearson", "system"): lambda x, z: pearson(x.mean(axis=2), z.mean(axis=2)),
    ("kendall_b", "system"): lambda x, z: kendall_b(x.mean(axis=2), z.mean(axis=2)),
    ("pearson", "item"): lambda x, z: np.nanmean(pearson(x.swapaxes(1, 2), z.swapaxes(1, 2)), axis=1),
    ("kendall_b", "sys"): lambda x, z: np.nanmean(kendall_b(x, z), axis=1),
    ("pearson", "none"): lambda x, z: pearson(x.reshape(len(x), -1), z.reshape(len(z), -1)),
}


@pytest.mark.parametrize("resample", ["items", "systems", "both"])
@pytest.mark.parametrize(("name", "how"), list(EVALUATE))
def test_the_bootstrap_follows_its_definition(name, how, resample):
    # Own draws on either side: over repeated runs an end has an sd of 0.012 at most, 0.028 where tau of eight systems
    # moves in steps.
    tolerance = 0.12 if (name, how) == ("kendall_b", "system") else 0.05
    rng = np.random.default_rng(1)
    z = rng.normal(size=(8, 25)) + np.arange(8)[:, None] / 3
    x = z + rng.normal(size=z.shape)
    options = {"level": "system"} if how == "system" else {"averaging": how}
    found = bootstrap_correlation(name, x, z, resample=resample, draws=500, **options)
    expected = by_loop(EVALUATE[name, how], x, z, 500, rng, resample)
    assert [found.low, found.high] == pytest.approx(list(expected), abs=tolerance)
    assert (found.generalise_to, found.draws, found.value) == (resample, 500, correlation(name, x, z, **options).value)


def test_two_items_by_full_enumeration():
    # tau of item a is 1, of item b -1: draws aa, ab, ba, bb give 1, 0, 0, -1; the 2.5 % and 97.5 % ends are -1 and 1
    x, z = [[1, 2], [2, 1]], [[1, 1], [2, 2]]
    found = bootstrap_correlation("kendall_b", x, z, draws=2000)
    assert (found.value, found.low, found.high) == (0.0, -1.0, 1.0)
    # one of four draws is aa: at a confidence of 0.4 both ends lie at 0
    found = bootstrap_correlation("kendall_b", x, z, draws=2000, confidence=0.4)
    assert (found.low, found.high) == (0.0, 0.0)


def test_vectors_with_labels_are_the_grid_they_come_from():
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 5, 9))
    item, system = np.tile(np.arange(9), 5), np.repeat(np.arange(5), 9)
    for resample in ("items", "systems", "both"):
        grid = bootstrap_correlation("pearson", x, z, resample=resample, draws=50)
        labelled = bootstrap_correlation(
            "pearson", x.ravel(), z.ravel(), item.tolist(), systems=system.tolist(), resample=resample, draws=50
        )
        assert (labelled.low, labelled.high) == (pytest.approx(grid.low), pytest.approx(grid.high))


def test_many_metrics_meet_the_same_draws_whatever_the_size_of_a_block(monkeypatch):
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(3, 5, 8)), rng.normal(size=(5, 8))
    z[1, 2], x[0, 3, 3] = NAN, NAN
    for name, options in (
        ("pearson", {}),
        ("kendall_b", {"averaging": "none"}),
        ("pearson", {"level": "system"}),
        ("wmt_kendall_like", {"threshold": 1}),
        ("spearman", {"averaging": "sys", "undefined": "zero"}),
        ("acc_eq_calibrated", {}),
    ):
        for resample in ("items", "both"):
            plain = bootstrap_correlations(name, x, z, resample=resample, draws=12, missing="drop", **options)
            with monkeypatch.context() as patch:
                patch.setattr("nlgauge.stats.intervals._CELLS", 1)
                alone = [
                    bootstrap_correlation(name, m, z, resample=resample, draws=12, missing="drop", **options) for m in x
                ]
            for one, other in zip(plain, alone, strict=True):
                assert (one.low, one.high, one.n_undefined_draws) == (
                    pytest.approx(other.low),
                    pytest.approx(other.high),
                    other.n_undefined_draws,
                )


def test_draws_without_a_value_are_counted():
    # three systems: a draw of one system three times over is constant, chance 3 / 27
    found = bootstrap_correlation(
        "pearson", [[1.0], [2], [4]], [[1.0], [3], [2]], level="system", resample="systems", draws=3000
    )
    assert found.n_undefined_draws / 3000 == pytest.approx(1 / 9, abs=0.025)  # sd 0.006, four of them


def test_a_system_that_loses_its_judgements_in_a_draw_drops_out_of_that_draw():
    # item 0 alone is judged for the third system: without it two systems are left, which correlate exactly
    z = np.array([[1.0, 2, 3], [2, 3, 5], [9, NAN, NAN]])
    x = np.array([[1.0, 2, 3], [3, 3, 7], [0, 0, 0]])
    found = bootstrap_correlation("pearson", x, z, level="system", draws=500)
    assert found.high == 1.0
    assert found.n_undefined_draws == 0
    assert found.low < 0.5


def test_pairs_of_texts_are_drawn_too():
    # 20 of 25 won: sd of the share 0.08
    found = bootstrap_correlation("preference_accuracy", [1] * 20 + [0] * 5, [0] * 20 + [1] * 5)
    assert found.value == 0.8
    assert (found.low, found.high) == (
        pytest.approx(0.64, abs=0.041),
        pytest.approx(0.96, abs=0.041),
    )  # one of 25 either way
    by_group = bootstrap_correlation("rr_kendall", [1, 1, 0, 1], [0, 0, 1, 0], list("aabb"), draws=200)
    assert (by_group.low, by_group.value, by_group.high) == (0.0, 0.5, 1.0)


def test_system_scores_are_drawn_as_systems():
    found = bootstrap_correlation(
        "pairwise_accuracy", [1, 2, 3, 4, 6, 5], [1, 2, 4, 3, 5, 6], resample="systems", draws=200
    )
    assert found.low < found.value <= found.high


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("pearson", {"resample": "rows"}, "resample is 'rows'"),
        ("pearson", {"draws": 0}, "draws is 0"),
        ("pearson", {"confidence": 95}, "level is 95"),
        ("pearson", {"compat": "nlpstats"}, "the procedure of another package has no bootstrap"),
        ("soft_pairwise_accuracy", {}, "soft_pairwise_accuracy has no bootstrap"),
        ("pearson", {"common": True}, "one metric and one set of systems at a time"),
    ],
)
def test_refusals(name, options, message):
    grid = np.random.default_rng(0).normal(size=(3, 4))
    with pytest.raises(InputError, match=message):
        bootstrap_correlation(name, grid, grid, **options)


def test_what_nobody_named_cannot_be_drawn():
    x = [1.0, 2, 3, 5]
    with pytest.raises(InputError, match="draws systems, and nobody said which there are"):
        bootstrap_correlation("pearson", x, x, resample="systems")
    with pytest.raises(InputError, match="needs 2 items or more, got 1"):
        bootstrap_correlation("pearson", x, x, list("aaaa"))
    with pytest.raises(InputError, match="needs 2 items or more, got 1"):
        bootstrap_correlation("pairwise_accuracy", x, x)


@pytest.mark.parametrize(("name", "more"), [("acc_eq_held_out", {}), ("tau_eq_calibrated", {"folds": 3})])
def test_held_out_thresholds_have_no_bootstrap(name, more):
    # copies of an item would stand in the fold that is held out and in those that are calibrated on
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match=f"{name} has no bootstrap here"):
        bootstrap_correlations(name, rng.normal(size=(1, 4, 9)), rng.normal(size=(4, 9)), draws=9, **more)


def test_a_draw_without_groups_is_undefined_even_if_groups_would_count_as_0():
    # two entries: half of the draws hold one of them twice, which is no correlation
    plain = bootstrap_correlation("pearson", [1.0, 2], [3.0, 5], draws=40)
    zero = bootstrap_correlation("pearson", [1.0, 2], [3.0, 5], draws=40, undefined="zero")
    assert zero == plain
    assert (zero.low, zero.high) == (1, 1)
    assert 5 < zero.n_undefined_draws < 35


@pytest.fixture(scope="module")
def grid():
    rng = np.random.default_rng(4)
    human = rng.normal(size=(3, 8))
    return human, human + rng.normal(size=(2, 3, 8))


def test_an_item_that_counts_twice_is_an_item_that_stands_there_twice(grid):
    human, metrics = grid
    z, _ = standardise(metrics, np.ones(human.shape, dtype=bool))
    columns = np.array([[2, 1, 1, 0, 1, 1, 1, 1]], dtype=float)
    places = [0, 0, 1, 2, 4, 5, 6, 7]
    copied = pearson(metrics[:, :, places].reshape(2, -1), human[:, places].ravel())
    np.testing.assert_allclose(segment_weights(human, z, columns, "none")[0], copied, atol=1e-12)
    alone = pearson(metrics[:, :, places], human[:, places]).mean(axis=1)
    np.testing.assert_allclose(segment_weights(human, z, columns, "sys")[0], alone, atol=1e-12)


def test_the_interval_is_that_of_the_test_between_metrics(grid):
    low, high = pearson_ends(*grid, draws=50, seed=3)
    test = compare_resampled(resample_grid(*grid, averaging="none", draws=50, seed=3))
    np.testing.assert_array_equal(low, test.low)
    np.testing.assert_array_equal(high, test.high)
    assert (low < test.values).all()
    assert (test.values < high).all()


def test_one_item_has_no_interval():
    with pytest.raises(InputError, match="a bootstrap over items needs 2 or more, got 1"):
        pearson_ends(np.zeros((3, 1)), np.ones((1, 3, 1)))
