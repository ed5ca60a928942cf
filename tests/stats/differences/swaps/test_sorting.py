import numpy as np
import pytest

from nlgauge.stats import permutation_test
from nlgauge.stats.differences.swaps import ranks
from nlgauge.stats.differences.swaps.coins import given, toss
from nlgauge.stats.differences.swaps.groups import NAMED, buckets
from nlgauge.stats.differences.swaps.sorting import Prefixes, SortedGroup, Ties, sorted_groups
from nlgauge.stats.draws import pairs_of
from nlgauge.stats.grids import standardise

ROUNDING = 1e-9


def test_prefixes_count_what_is_below():
    # 3 1 4 1 5: below 3 among the first four are the two ones; below 5 among all are 3, 1, 4, 1
    found = Prefixes(np.array([3, 1, 4, 1, 5]), 6).below(np.array([4, 5, 0, 1, 5]), np.array([3, 5, 5, 3, 0]))
    assert found.tolist() == [2, 4, 0, 0, 0]


def test_prefixes_of_any_length_equal_a_plain_count():
    rng = np.random.default_rng(0)
    for n in range(1, 20):
        held, first, value = rng.integers(0, 5, n), rng.integers(0, n + 1, n), rng.integers(0, 6, n)
        plain = [int((held[:p] < v).sum()) for p, v in zip(first, value, strict=True)]
        assert Prefixes(held, 6).below(first, value).tolist() == plain


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
def test_differences_lie_where_the_bound_says(by_definition, kind, patterns, averaging, statistic):
    human, z = by_definition.data(kind)
    z, coins = np.round(z, 12), given(patterns)
    pairs = list(zip(*pairs_of(len(z)), strict=True))
    groups = sorted_groups(buckets(human, averaging), z, statistic)
    found, off = ranks._from_sorted(groups, pairs, coins, human.shape)
    exact = by_definition.looped(by_definition.averaged, statistic, human, z, patterns, averaging)
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
    made, whole = [], ranks._made
    monkeypatch.setattr(ranks, "_made", lambda *args, **how: made.append(len(args[5].bits)) or whole(*args, **how))
    rng = np.random.default_rng(1)
    human, told = rng.normal(size=(4, 250)), []
    metrics = np.rint(2 * (human + rng.normal(size=(3, 4, 250))))
    z, _ = standardise(metrics, ~np.isnan(human))
    values = np.array([NAMED["kendall_b"](scores.ravel(), human.ravel()) for scores in z.round(12)])
    left, right = pairs_of(3)
    coins = toss(np.random.default_rng(0), 200, human.shape, "both")
    ranks.segment_draws(human, z, coins, "none", "kendall_b", values[left] - values[right], told.append)
    assert sum(made) < 0.1 * 3 * 200
    assert told == [1, 1, 1]
