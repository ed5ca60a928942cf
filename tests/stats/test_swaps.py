"""Every pattern of swaps on small grids, worked by the definition over scipy: what the fast ways must equal."""

import itertools
import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given as over
from hypothesis import strategies as st
from scipy import stats

from nlgauge.stats import swaps
from nlgauge.stats.draws import in_groups, pairs_of, standardise
from nlgauge.stats.resampling import permutation_test
from nlgauge.stats.swaps import (
    NAMED,
    SortedGroup,
    Ties,
    buckets,
    collapse,
    counting_below,
    given_swaps,
    sorted_groups,
    toss,
)

PLAIN = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_b": stats.kendalltau}
POPULATIONS = {"both": (3, 3), "inputs": (1, 3), "systems": (3, 1)}


def plain(statistic, z, x):
    """One coefficient, NaN where a side is constant or alone."""
    if len(x) < 2 or np.ptp(x) < 1e-9 or np.ptp(z) < 1e-9:
        return np.nan
    return _coefficient(statistic, z.tobytes(), x.tobytes())


@cache
def _coefficient(statistic, z, x):
    """What scipy says of the same few numbers is asked once: most swaps leave most groups as they were."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.NearConstantInputWarning)
        return float(PLAIN[statistic](np.frombuffer(z), np.frombuffer(x))[0])


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
    averages = np.array([(h[j].mean(), m[j].mean()) for h, m, j in zip(human, metric, judged, strict=True)])
    return plain(statistic, *(averages if statistic == "pearson" else averages.round(10)).T)  # what ties on paper ties


def swapped_differences(value, metrics, patterns):
    """What it means that two metrics trade places: the plain loop over draws, which every faster way must equal.

    Args:
        value: the statistic of one grid of scores, shape (S, N).
        metrics: standardised scores, shape (M, S, N).
        patterns: B masks, True where the scores of the two metrics trade places, shapes (S or 1, N or 1).
    Returns:
        First minus second of every pair of metrics, shape (P, B).
    """
    return np.array(
        [
            [value(np.where(swap, b, a)) - value(np.where(swap, a, b)) for swap in patterns]
            for a, b in itertools.combinations(metrics, 2)
        ]
    )


def looped(value, statistic, human, z, patterns, averaging):
    """Differences of all pairs of metrics on all patterns, shape (P, B)."""
    return swapped_differences(lambda metric: value(statistic, human, metric, averaging), z, patterns)


def all_patterns(shape):
    return np.array(list(itertools.product([False, True], repeat=shape[0] * shape[1]))).reshape(-1, *shape)


@cache
def data(kind):
    """Judgements and three metrics of 3 systems on 3 items.

    `coarse` ties within and across metrics and leaves groups constant.
    """
    rng = np.random.default_rng({"smooth": 5, "missing": 6, "coarse": 7, "coarse people": 8}[kind])
    human = rng.integers(0, 3, size=(3, 3)).astype(float) if "people" in kind else rng.normal(size=(3, 3))
    metrics = rng.integers(0, 3, size=(3, 3, 3)).astype(float) if kind == "coarse" else rng.normal(size=(3, 3, 3))
    if kind == "missing":
        human[0, 1] = human[2, 2] = np.nan
    if kind == "coarse":
        metrics[1, :, 0] = 1.0  # one item that metric 1 does not tell apart
    z, _ = standardise(metrics, ~np.isnan(human))
    return human, z


def few(patterns):
    """All of up to 64, every 29th of more: 29 divides no power of 2, so that all coins fall both ways."""
    return patterns if len(patterns) <= 64 else patterns[::29]


KINDS = ("smooth", "missing", "coarse", "coarse people")
# By day every data set with swaps of every score, and swaps of items and of systems where something is missing or ties.
BY_DAY = {*((kind, "both") for kind in KINDS), ("missing", "inputs"), ("coarse", "systems")}
SETTINGS = [
    pytest.param((kind, population), marks=[] if (kind, population) in BY_DAY else pytest.mark.slow)
    for kind in KINDS
    for population in POPULATIONS
]


@pytest.fixture(params=SETTINGS, ids=": ".join)
def setting(request):
    """One of the data sets of `data`, and what is swapped."""
    return request.param


@pytest.fixture
def kind(setting):
    """The data set."""
    return setting[0]


@pytest.fixture
def patterns(setting):
    """Swaps of every score, of items or of systems on a grid of 3 by 3."""
    return few(all_patterns(POPULATIONS[setting[1]]))


GRID = (3, 70)


@pytest.mark.parametrize(("population", "shape"), [("both", (3, 70)), ("inputs", (1, 70)), ("systems", (3, 1))])
def test_one_coin_for_every_score_item_or_system(population, shape):
    coins = toss(np.random.default_rng(0), 4000, GRID, population)
    signs = coins.signs(slice(None)).astype(float)
    assert signs.shape == (4000, *shape)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    flat = signs.reshape(4000, -1)
    # a mean of 4000 signs has sd 0.0158, and so has a correlation; five of them allowed
    assert np.abs(flat.mean(axis=0)).max() < 0.08
    assert np.abs(np.corrcoef(flat.T) - np.eye(flat.shape[1])).max() < 0.08


def test_blocks_deal_out_every_draw_once_and_the_same_signs():
    coins = toss(np.random.default_rng(1), 1100, GRID, "both")
    blocks = list(coins.blocks())
    assert [draw for block in blocks for draw in range(1100)[block]] == list(range(1100))
    assert len(blocks) > 1
    np.testing.assert_array_equal(np.concatenate([coins.signs(block) for block in blocks]), coins.signs(slice(None)))


@over(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=9))
def test_given_patterns_come_back_as_signs(patterns):
    swapped = np.array(patterns).reshape(-1, 2, 3)
    np.testing.assert_array_equal(given_swaps(swapped).signs(slice(None)), np.where(swapped, -1, 1))


@pytest.mark.parametrize("averaging", ["none", "item", "sys"])
@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (3, 1)])
def test_a_sum_over_shared_coins_is_the_sum_over_cells(averaging, shape):
    rng = np.random.default_rng(2)
    table, signs = rng.normal(size=(2, 3, 4)), rng.choice([-1, 1], size=(1, *shape))
    collapsed = (collapse(table, shape, averaging) * in_groups(signs, averaging)).sum(axis=-1)
    axes = {"none": (1, 2), "item": 1, "sys": 2}[averaging]
    np.testing.assert_allclose(
        collapsed.reshape(2, -1), (table * signs).sum(axis=axes).reshape(2, -1), atol=1e-12
    )  # another order of sums


def test_three_metrics_on_one_item_by_hand():
    # two systems; the statistic is the score of the first less that of the second: 1, 4 and 0 as the data are.
    metrics = np.array([[[3.0], [2.0]], [[5.0], [1.0]], [[0.0], [0.0]]])
    nobody, first, both = np.array([[[False], [False]], [[True], [False]], [[True], [True]]])
    found = swapped_differences(lambda grid: float(grid[0, 0] - grid[1, 0]), metrics, [nobody, first, both])
    # metrics 0 and 1, the first system swapped: (5 - 2) - (3 - 1) = 1; all swapped: 4 - 1
    np.testing.assert_array_equal(found, [[-3, 1, 3], [1, -5, -1], [4, -6, -4]])


CLOSE = {
    "rtol": 0,
    "atol": 1e-9,
    "equal_nan": True,
}  # a variance that cancels to 1e-4 of its terms keeps 12 of 16 digits


@pytest.mark.parametrize("averaging", ["none", "item", "sys"])
def test_pearson_from_sums_is_pearson_of_the_mixtures(kind, patterns, averaging):
    human, z = data(kind)
    found = swaps.pearson_segment_draws(human, z, given_swaps(patterns), averaging)
    np.testing.assert_allclose(found, looped(averaged, "pearson", human, z, patterns, averaging), **CLOSE)


@pytest.mark.parametrize("averaging", ["none", "item", "sys"])
def test_blocks_and_threads_change_no_draw(monkeypatch, averaging):
    rng = np.random.default_rng(0)
    human = rng.normal(size=(4, 30))
    z, _ = standardise(rng.normal(size=(5, 4, 30)), np.ones((4, 30), dtype=bool))
    coins = toss(rng, 90, (4, 30), "both")
    whole = swaps.pearson_segment_draws(human, z, coins, averaging)
    monkeypatch.setattr(swaps, "_BLOCK_CELLS", 7)
    monkeypatch.setattr(swaps, "_ONE_THREAD", 1000)
    monkeypatch.setattr(swaps, "_THREADS", 1)
    monkeypatch.setattr("nlgauge.stats.swaps._DRAWS", 13)
    cut = swaps.pearson_segment_draws(human, z, coins, averaging)
    np.testing.assert_allclose(cut, whole, atol=1e-13)  # sums in another order


def test_single_precision_changes_no_p_value(monkeypatch):
    # 60 items, metrics in steps, which are constant within some items, a copy and a copy on another scale
    rng = np.random.default_rng(7)
    human = np.rint(rng.normal(size=(4, 60)))
    scores = np.rint(human + rng.normal(size=(5, 4, 60)))
    scores[3], scores[4] = scores[0], 3 * scores[0] + 1
    rough = permutation_test(human, scores, draws=200)
    z, _ = standardise(scores, np.ones(human.shape, dtype=np.bool_))
    coins, (left, right) = toss(np.random.default_rng(0), 200, human.shape, "both"), pairs_of(5)
    found = swaps.pearson_segment_draws(human, z, coins, "item", rough.values[left] - rough.values[right])
    monkeypatch.setattr(swaps, "_MANY", 1000)
    exact = permutation_test(human, scores, draws=200)
    assert np.array_equal(rough.p, exact.p, equal_nan=True)
    assert (rough.p[[0, 0, 3], [3, 4, 4]] == 1).all()
    # 1e-6: the mean over items of rounding errors of 1e-7 each
    assert found == pytest.approx(swaps.pearson_segment_draws(human, z, coins, "item"), abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("level", [0.0, 30.0])
def test_draws_that_are_the_data_on_paper_tie_with_them(level):
    # five items of two systems: each r is 1 or -1, so that most draws tie with the data, however high an item scores
    rng = np.random.default_rng(4)
    human, metrics = rng.normal(size=(2, 5)), rng.normal(size=(3, 2, 5)) + level * rng.normal(size=5)
    how = {"draws": 60, "seed": 1, "generalise_to": "inputs"}
    plain = permutation_test(human, metrics, statistic=lambda x, z: NAMED["pearson"](x, z), **how).p
    assert permutation_test(human, metrics, **how).p.tolist() == pytest.approx(plain, nan_ok=True)
    how["generalise_to"] = "both"
    plain = permutation_test(human, metrics, statistic=lambda x, z: NAMED["pearson"](x, z), **how).p
    assert permutation_test(human, metrics, **how).p == pytest.approx(plain, nan_ok=True)


ROUNDING = 1e-9


def test_prefixes_count_what_is_below():
    # 3 1 4 1 5: below 3 among the first four are the two ones; below 5 among all are 3, 1, 4, 1
    found = counting_below(np.array([3, 1, 4, 1, 5]), 6)(np.array([4, 5, 0, 1, 5]), np.array([3, 5, 5, 3, 0]))
    assert found.tolist() == [2, 4, 0, 0, 0]


def test_prefixes_of_any_length_equal_a_plain_count():
    rng = np.random.default_rng(0)
    for n in range(1, 20):
        held, first, value = rng.integers(0, 5, n), rng.integers(0, n + 1, n), rng.integers(0, 6, n)
        plain = [int((held[:p] < v).sum()) for p, v in zip(first, value, strict=True)]
        assert counting_below(held, 6)(first, value).tolist() == plain


def test_ties_of_two_mixtures():
    # a = 1 2 2, b = 2 3 3. Kept, a ties one pair and b one. Swapped in the last cell, the mixtures are 1 2 3 and 2 3 2:
    # no pair and one pair. For ranks a run of two takes (8 - 2) / 12 = 0.5.
    ties = Ties.between(np.array([1, 2, 2]), np.array([2, 3, 3]))
    e = np.array([[1, 1], [1, 1], [1, -1]], dtype=np.int8)
    assert [side.tolist() for side in ties.lost(e, "kendall_b")] == [[1, 0], [1, 1]]
    assert [side.tolist() for side in ties.lost(e, "spearman")] == [[0.5, 0], [0.5, 0.5]]


def test_two_metrics_by_hand():
    # People put three cells in the order 1 2 3. Metric a says 1 2 3 (all three pairs right), b says 6 5 4 (none). With
    # the last cell swapped the mixtures are 1 2 4 and 6 5 3: still all right and all wrong. With the first cell swapped
    # they are 6 2 3 and 1 5 4: net -1 and +1. So tau differs by 2, 2 and -2/3.
    group = SortedGroup(np.arange(3), np.arange(3.0), np.array([[0, 1, 2], [5, 4, 3]]), "kendall_b")
    terms = group.pair(0, 1)
    e = np.array([[1, 1, -1], [1, 1, 1], [1, -1, 1]], dtype=np.int8)
    found, off = group.differences(terms, terms.linear @ e, e)
    assert found == pytest.approx([2, 2, -2 / 3])
    assert off.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("statistic", "averaging"),
    [  # by day each averaging once or more, and each statistic twice
        *(("spearman", averaging) for averaging in ("none", "sys")),
        *(("kendall_b", averaging) for averaging in ("none", "item")),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in (("spearman", "item"), ("kendall_b", "sys"))),
    ],
)
def test_differences_lie_where_the_bound_says(kind, patterns, averaging, statistic):
    human, z = data(kind)
    z, coins = np.round(z, 12), given_swaps(patterns)
    pairs = list(zip(*pairs_of(len(z)), strict=True))
    groups = sorted_groups(buckets(human, averaging), z, statistic)
    found, off = swaps._from_sorted(groups, pairs, coins, human.shape)
    exact = looped(averaged, statistic, human, z, patterns, averaging)
    known = ~np.isnan(found)  # every other mixture is constant in some group
    assert known.any() or kind == "coarse"
    assert (np.abs(found - exact)[known] <= off[known] + ROUNDING).all()
    if kind != "coarse":  # nothing ties in the metrics
        assert off.max() == 0


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("averaging", ["none", "sys"])
@pytest.mark.parametrize("statistic", ["spearman", "kendall_b"])
def test_p_values_are_those_of_the_mixtures(statistic, averaging, alternative):
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(3, 150))  # rows longer than those whose pairs are all compared
    human = np.rint(truth + rng.normal(size=truth.shape))
    human[rng.random(human.shape) < 0.1] = np.nan
    metrics = np.stack([np.rint(2 * (truth + rng.normal(size=truth.shape))), truth.round(1), truth + 0.1])
    how = {"averaging": averaging, "alternative": alternative, "draws": 40}
    named = permutation_test(human, metrics, statistic=statistic, **how)
    made = permutation_test(human, metrics, statistic=lambda x, h: NAMED[statistic](np.round(x, 12), h), **how)
    np.testing.assert_array_equal(named.p, made.p)


def test_few_mixtures_are_made(monkeypatch):
    made, whole = [], swaps._made
    monkeypatch.setattr(swaps, "_made", lambda *args, **how: made.append(len(args[5].bits)) or whole(*args, **how))
    rng = np.random.default_rng(1)
    human, told = rng.normal(size=(4, 250)), []
    metrics = np.rint(2 * (human + rng.normal(size=(3, 4, 250))))
    z, _ = standardise(metrics, ~np.isnan(human))
    values = np.array([NAMED["kendall_b"](scores.ravel(), human.ravel()) for scores in z.round(12)])
    left, right = pairs_of(3)
    coins = toss(np.random.default_rng(0), 200, human.shape, "both")
    swaps.rank_segment_draws(human, z, coins, "none", "kendall_b", values[left] - values[right], told.append)
    assert sum(made) < 0.1 * 3 * 200
    assert told == [1, 1, 1]


def test_a_function_sees_the_means_of_the_mixtures():
    # a distance depends on the scale: without a swap it is that of the data
    human, z = np.array([1.0, 0, 2]), np.random.default_rng(0).normal(size=(2, 3, 4)).round(1)
    used, stays = np.ones((3, 4), dtype=np.bool_), given_swaps(np.zeros((1, 3, 4), dtype=np.bool_))

    def distance(x, z):
        return -((x - z) ** 2).mean(axis=-1)

    one, other = distance(z.mean(axis=2), human)
    assert swaps.system_draws(human, z, used, stays, distance)[0, 0] == pytest.approx(one - other)


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall_b"])
def test_system_scores_of_mixtures(kind, patterns, statistic):
    human, z = data(kind)
    used = ~np.isnan(human)
    people, _ = swaps.system_scores(human, z, used)
    found = swaps.system_draws(people, z, used, given_swaps(patterns), NAMED[statistic])
    np.testing.assert_allclose(found, looped(of_systems, statistic, human, z, patterns, None), **CLOSE)


@pytest.mark.parametrize(
    ("statistic", "averaging"),
    [  # by day each averaging once or more, and each statistic twice
        *(("spearman", averaging) for averaging in ("none", "item")),
        *(("kendall_b", averaging) for averaging in ("item", "sys")),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in (("spearman", "sys"), ("kendall_b", "none"))),
    ],
)
def test_ranks_from_terms_are_ranks_of_the_mixtures(kind, patterns, averaging, statistic):
    human, z = data(kind)
    found = swaps.rank_segment_draws(human, z, given_swaps(patterns), averaging, statistic)
    np.testing.assert_allclose(
        found,
        looped(averaged, statistic, human, np.round(z, 12), patterns, averaging),
        **CLOSE,
    )


def test_the_coarse_data_hold_what_they_are_there_for():
    human, z = data("coarse")
    smooth = data("smooth")
    terms = swaps._Linear(human, z, "item", "kendall_b")
    assert any(terms.pair(a, b)[1].any() for a, b in ((0, 1), (0, 2), (1, 2)))  # ties: the mixtures are made
    assert not any(swaps._Linear(*smooth, "item", "kendall_b").pair(a, b)[1].any() for a, b in ((0, 1), (0, 2), (1, 2)))
    assert np.isnan(plain("pearson", human[:, 0], z[1, :, 0]))  # and an item on which a metric has no value


def test_scores_of_two_metrics_that_tie_on_paper_tie():
    # the same three values in another order and on another scale: after standardising they are three numbers, up to
    # rounding
    human = np.arange(12.0).reshape(4, 3)
    scores = np.array([[0.0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1]])
    z, _ = standardise(np.stack([scores, 0.1 * scores[::-1] + 0.7]), np.ones((4, 3), dtype=bool))
    assert len(np.unique(z)) > 3
    patterns = all_patterns((4, 3))[::29]
    found = swaps.rank_segment_draws(human, z, given_swaps(patterns), "item", "kendall_b")
    exact = np.stack([scores, scores[::-1]])
    np.testing.assert_allclose(found, looped(averaged, "kendall_b", human, exact, patterns, "item"), **CLOSE)


def test_any_coefficient_goes_through_the_mixtures():
    human, z = data("smooth")
    patterns = all_patterns((3, 3))[::13]
    made = swaps.rank_segment_draws(human, z, given_swaps(patterns), "item", lambda x, h: NAMED["kendall_b"](x, h))
    short = swaps.rank_segment_draws(human, z, given_swaps(patterns), "item", "kendall_b")
    np.testing.assert_allclose(made, short, **CLOSE)


def test_whole_groups_with_gaps_are_counted_apart():
    # two items; metric a has 0.4 on the first only, metric b 0.1 and 0.3: kept, a is 0.4 and b 0.2; all swapped, the
    # other way round; the first swapped, a has 0.1 and b has (0.4 + 0.3) / 2; the second swapped, a has (0.4 + 0.3) / 2
    # and b has 0.1
    values = np.array([[0.4, np.nan], [0.1, 0.3]])
    found = swaps.whole_groups(values, given_swaps(np.array([[[0, 0]], [[1, 1]], [[1, 0]], [[0, 1]]], dtype=bool)))
    np.testing.assert_allclose(found, [[0.2, -0.2, -0.25, 0.25]], atol=1e-12)
