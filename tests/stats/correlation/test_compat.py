import math
import warnings
from itertools import combinations

import numpy as np
import pytest
import scipy.stats

from nlgauge.stats.correlation.correlate import correlation

NAN = math.nan


def coefficient(name, x, z):
    test = {"pearson": scipy.stats.pearsonr, "spearman": scipy.stats.spearmanr, "kendall_b": scipy.stats.kendalltau}[
        name
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return test(x, z)


def data(seed, systems=6, items=30, levels=4):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, levels, size=(systems, items)).astype(float)
    return z + rng.normal(size=z.shape).round(1), z


@pytest.mark.parametrize("averaging", ["none", "item", "sys"])
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall_b"])
def test_mt_metrics_eval_averages_what_is_defined(name, averaging):
    # its loop: drop entries without a judgement, skip groups of fewer than two, drop undefined coefficients, and with
    # them every group in which the metric misses a score
    x, z = data(0)
    z[2, :7], x[4, 11] = NAN, NAN
    groups = {"none": [(x.ravel(), z.ravel())], "item": zip(x.T, z.T, strict=True), "sys": zip(x, z, strict=True)}[
        averaging
    ]
    defined = []
    for mine, theirs in groups:
        rated = ~np.isnan(theirs)
        if rated.sum() > 1:
            value = coefficient(name, mine[rated], theirs[rated])[0]
            defined += [] if math.isnan(value) else [value]
    found = correlation(name, x, z, averaging=averaging, compat="mt-metrics-eval")
    assert found.value == pytest.approx(np.mean(defined) if defined else 0.0, abs=1e-12)
    assert found.n_used == (len(defined) if averaging != "none" or not defined else (~np.isnan(z)).sum())


@pytest.mark.parametrize("threshold", [0, 1, 2])
def test_mt_metrics_eval_pools_kendall_like_pairs_with_human_ties_at_zero(threshold):
    x, z = data(1)
    wins = pairs = 0
    for item in range(x.shape[1]):
        for i, j in combinations(range(x.shape[0]), 2):
            apart = z[i, item] - z[j, item]
            if abs(apart) >= threshold:
                pairs += 1
                wins += (apart > 0 and x[i, item] > x[j, item]) or (apart < 0 and x[i, item] < x[j, item])
    found = correlation("wmt_kendall_like", x, z, threshold=threshold, compat="mt-metrics-eval")
    assert found.value == pytest.approx((2 * wins - pairs) / pairs)
    assert found.n_pairs == pairs


def test_nlpstats_takes_system_means_over_what_each_side_has():
    x, z = data(2)
    x[0, :5], z[1, 10:] = NAN, NAN  # different segments: allowed at system level only
    found = correlation("pearson", x, z, level="system", compat="nlpstats")
    assert found.value == pytest.approx(coefficient("pearson", np.nanmean(x, axis=1), np.nanmean(z, axis=1))[0])
    assert "over all segments" in found.note


def test_nlpstats_drops_gaps_that_both_sides_share():
    x, z = data(3)
    x[0, :5] = z[0, :5] = NAN
    found = correlation("kendall_b", x, z, averaging="item", compat="nlpstats")
    values = [coefficient("kendall_b", a[~np.isnan(a)], b[~np.isnan(b)])[0] for a, b in zip(x.T, z.T, strict=True)]
    assert found.value == pytest.approx(np.nanmean(values))


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall_b"])
def test_realsumm_averages_significant_items_only(name):
    x, z = data(4, systems=10)
    tests = [coefficient(name, a, b) for a, b in zip(x.T, z.T, strict=True)]
    kept = [float(value) for value, p in tests if p <= 0.05]
    found = correlation(name, x, z, compat="realsumm")
    assert found.value == pytest.approx(np.mean(kept))
    assert (found.n_used, found.n_undefined) == (len(kept), 30 - len(kept))
    assert f"{30 - len(kept)} of 30 left out" in found.note


def test_averaging_significant_items_only_raises_the_mean():
    # 25 systems, true r about 0.2: averaging what is significant more than doubles it
    rng = np.random.default_rng(5)
    z = rng.normal(size=(25, 300))
    x = 0.2 * z + rng.normal(size=z.shape)
    plain, released = correlation("pearson", x, z), correlation("pearson", x, z, compat="realsumm")
    assert 0.15 < plain.value < 0.25
    assert released.value > 2 * plain.value


def test_realsumm_with_no_significant_item_is_undefined():
    x = np.array([[1.0, 2], [2, 1], [3, 4], [2, 2]])
    z = np.array([[1.0, 2], [1, 3], [2, 1], [3, 1]])
    assert math.isnan(correlation("pearson", x, z, compat="realsumm").value)
