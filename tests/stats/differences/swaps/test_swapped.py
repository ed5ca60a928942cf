"""What comes out of the algebra of swaps is what comes out of swapping: every pattern of small grids, by plain loops over scipy."""

import itertools
import warnings
from functools import cache

import numpy as np
import pytest
from scipy import stats

from nlgauge.stats.differences.swaps import means as swapped_means
from nlgauge.stats.differences.swaps import pearson as swapped_pearson
from nlgauge.stats.differences.swaps import ranks as swapped_ranks
from nlgauge.stats.differences.swaps.coins import given, standardise, toss
from nlgauge.stats.differences.swaps.groups import NAMED

PLAIN = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_b": stats.kendalltau}
POPULATIONS = {"both": (3, 3), "inputs": (1, 3), "systems": (3, 1)}


def plain(statistic, z, x):
    """One coefficient, NaN where a side is constant or alone."""
    if len(x) < 2 or np.ptp(x) < 1e-9 or np.ptp(z) < 1e-9:
        return np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.NearConstantInputWarning)
        return float(PLAIN[statistic](z, x)[0])


def averaged(statistic, human, metric, averaging):
    judged = ~np.isnan(human)
    if averaging == "none":
        return plain(statistic, human[judged], metric[judged])
    if averaging == "item":
        human, metric, judged = human.T, metric.T, judged.T
    found = [plain(statistic, h[j], m[j]) for h, m, j in zip(human, metric, judged, strict=True)]
    defined = [value for value in found if not np.isnan(value)]
    return np.mean(defined) if defined else np.nan


def of_systems(statistic, human, metric, _):
    judged = ~np.isnan(human)
    means = np.array([(h[j].mean(), m[j].mean()) for h, m, j in zip(human, metric, judged, strict=True)])
    return plain(statistic, *(means if statistic == "pearson" else means.round(10)).T)  # what ties on paper ties


def looped(value, statistic, human, z, patterns, averaging):
    """Differences of all pairs of metrics on all patterns, shape (P, B)."""
    rows = []
    for a, b in itertools.combinations(z, 2):
        mixtures = [(np.where(swapped, b, a), np.where(swapped, a, b)) for swapped in patterns]
        rows.append(
            [value(statistic, human, one, averaging) - value(statistic, human, two, averaging) for one, two in mixtures]
        )
    return np.array(rows)


def all_patterns(shape):
    return np.array(list(itertools.product([False, True], repeat=shape[0] * shape[1]))).reshape(-1, *shape)


@cache
def data(kind):
    """Judgements and three metrics of 3 systems on 3 items; `coarse` ties within and across metrics and leaves groups constant."""
    rng = np.random.default_rng({"smooth": 5, "missing": 6, "coarse": 7, "coarse people": 8}[kind])
    human = rng.integers(0, 3, size=(3, 3)).astype(float) if "people" in kind else rng.normal(size=(3, 3))
    metrics = rng.integers(0, 3, size=(3, 3, 3)).astype(float) if kind == "coarse" else rng.normal(size=(3, 3, 3))
    if kind == "missing":
        human[0, 1] = human[2, 2] = np.nan
    if kind == "coarse":
        metrics[1, :, 0] = 1.0  # one item that metric 1 does not tell apart
    z, _ = standardise(metrics, ~np.isnan(human))
    return human, z


KINDS = pytest.mark.parametrize("kind", ["smooth", "missing", "coarse", "coarse people"])
CLOSE = {
    "rtol": 0,
    "atol": 1e-9,
    "equal_nan": True,
}  # a variance that cancels to 1e-4 of its terms keeps 12 of 16 digits


def few(patterns):
    """All of up to 64, every 13th of more: 13 divides no power of 2, so that all coins fall both ways."""
    return patterns if len(patterns) <= 64 else patterns[::13]


@KINDS
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("averaging", ["none", "item", "sys"])
def test_pearson_from_sums_is_pearson_of_the_mixtures(kind, population, averaging):
    human, z = data(kind)
    patterns = few(all_patterns(POPULATIONS[population]))
    found = swapped_pearson.segment_draws(human, z, given(patterns), averaging)
    np.testing.assert_allclose(found, looped(averaged, "pearson", human, z, patterns, averaging), **CLOSE)


@KINDS
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("averaging", ["none", "item", "sys"])
@pytest.mark.parametrize("statistic", ["spearman", "kendall_b"])
def test_ranks_from_terms_are_ranks_of_the_mixtures(kind, population, averaging, statistic):
    human, z = data(kind)
    patterns = few(all_patterns(POPULATIONS[population]))
    found = swapped_ranks.segment_draws(human, z, given(patterns), averaging, statistic)
    np.testing.assert_allclose(found, looped(averaged, statistic, human, np.round(z, 12), patterns, averaging), **CLOSE)


@KINDS
@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("statistic", list(PLAIN))
def test_system_scores_of_mixtures(kind, population, statistic):
    human, z = data(kind)
    patterns = few(all_patterns(POPULATIONS[population]))
    used = ~np.isnan(human)
    people, _ = swapped_means.system_scores(human, z, used)
    found = swapped_means.system_draws(people, z, used, given(patterns), NAMED[statistic])
    np.testing.assert_allclose(found, looped(of_systems, statistic, human, z, patterns, None), **CLOSE)


def test_the_coarse_data_hold_what_they_are_there_for():
    human, z = data("coarse")
    smooth = data("smooth")
    terms = swapped_ranks._Linear(human, z, "item", "kendall_b")
    assert any(terms.pair(a, b)[1].any() for a, b in ((0, 1), (0, 2), (1, 2)))  # ties: the mixtures are made
    assert not any(
        swapped_ranks._Linear(*smooth, "item", "kendall_b").pair(a, b)[1].any() for a, b in ((0, 1), (0, 2), (1, 2))
    )
    assert np.isnan(plain("pearson", human[:, 0], z[1, :, 0]))  # and an item on which a metric has no value


def test_scores_of_two_metrics_that_tie_on_paper_tie():
    # the same three values in another order and on another scale: after standardising they are three numbers, up to
    # rounding
    human = np.arange(12.0).reshape(4, 3)
    scores = np.array([[0.0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1]])
    z, _ = standardise(np.stack([scores, 0.1 * scores[::-1] + 0.7]), np.ones((4, 3), dtype=bool))
    assert len(np.unique(z)) > 3
    patterns = all_patterns((4, 3))[::29]
    found = swapped_ranks.segment_draws(human, z, given(patterns), "item", "kendall_b")
    exact = np.stack([scores, scores[::-1]])
    np.testing.assert_allclose(found, looped(averaged, "kendall_b", human, exact, patterns, "item"), **CLOSE)


def test_any_coefficient_goes_through_the_mixtures():
    human, z = data("smooth")
    patterns = few(all_patterns((3, 3)))
    made = swapped_ranks.segment_draws(human, z, given(patterns), "item", lambda x, h: NAMED["kendall_b"](x, h))
    short = swapped_ranks.segment_draws(human, z, given(patterns), "item", "kendall_b")
    np.testing.assert_allclose(made, short, **CLOSE)


@pytest.mark.parametrize("averaging", ["none", "item", "sys"])
def test_blocks_and_threads_change_no_draw(monkeypatch, averaging):
    rng = np.random.default_rng(0)
    human = rng.normal(size=(4, 30))
    z, _ = standardise(rng.normal(size=(5, 4, 30)), np.ones((4, 30), dtype=bool))
    coins = toss(rng, 90, (4, 30), "both")
    whole = swapped_pearson.segment_draws(human, z, coins, averaging)
    monkeypatch.setattr(swapped_pearson, "_CELLS", 7)
    monkeypatch.setattr(swapped_pearson, "_ONE_THREAD", 1000)
    monkeypatch.setattr(swapped_pearson, "_THREADS", 1)
    monkeypatch.setattr("nlgauge.stats.differences.swaps.coins._DRAWS", 13)
    cut = swapped_pearson.segment_draws(human, z, coins, averaging)
    np.testing.assert_allclose(cut, whole, atol=1e-13)  # sums in another order


def test_whole_groups_with_gaps_are_counted_apart():
    # two items; metric a has 0.4 on the first only, metric b 0.1 and 0.3: kept, a is 0.4 and b 0.2; all swapped, the
    # other way round; the first swapped, a has 0.1 and b has (0.4 + 0.3) / 2; the second swapped, a has (0.4 + 0.3) / 2
    # and b has 0.1
    values = np.array([[0.4, np.nan], [0.1, 0.3]])
    found = swapped_ranks.whole_groups(values, given(np.array([[[0, 0]], [[1, 1]], [[1, 0]], [[0, 1]]], dtype=bool)))
    np.testing.assert_allclose(found, [[0.2, -0.2, -0.25, 0.25]], atol=1e-12)
