import math

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.coefficients import pearson
from nlgauge.stats.correlation.correlate import correlation
from nlgauge.stats.intervals.fisher import fisher_ends, fisher_interval


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
