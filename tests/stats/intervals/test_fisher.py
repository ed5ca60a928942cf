import math

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.coefficients import pearson
from nlgauge.stats.correlation.correlate import correlation
from nlgauge.stats.intervals.fisher import fisher_ends, fisher_interval, widened_ends


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


def test_fisher_of_a_result():
    x, z = np.arange(20.0), np.arange(20.0) % 7
    found = fisher_interval(correlation("spearman", x, z))
    assert (found.low, found.high) == tuple(float(end) for end in fisher_ends("spearman", found.value, 20))
    assert (found.method, found.n_used, found.generalise_to) == ("fisher", 20, None)
    with pytest.raises(InputError, match=r"an average over groups \(item\) has no number of pairs"):
        fisher_interval(correlation("pearson", x.reshape(4, 5), z.reshape(4, 5)))
    assert fisher_interval(correlation("pearson", x.reshape(4, 5), z.reshape(4, 5)), n=4).high < 1.0
    with pytest.raises(InputError, match="statistic of a Fisher interval is 'acc_eq'"):
        fisher_interval(correlation("acc_eq", x, z))


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
