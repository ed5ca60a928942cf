"""Tests for statistics that have one value per item: whole items are swapped. The default for accuracies with ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.correlation.coefficients import acc_eq
from nlgauge.stats.correlation.entries import Codes
from nlgauge.stats.correlation.rounding import settled
from nlgauge.stats.differences.result import Alternative, Compat, MetricComparison, from_draws
from nlgauge.stats.differences.swaps.coins import toss
from nlgauge.stats.differences.swaps.groups import Bucket, buckets, by_groups, means
from nlgauge.stats.differences.swaps.ranks import whole_groups
from nlgauge.stats.draws import Seed, check_draws, generator, pairs_of
from nlgauge.stats.grids import check_grid

TEST = "item_swap"


def item_swap_test(
    values: Array,
    *,
    weights: Array | None = None,
    groups: Codes | None = None,
    alternative: Alternative = "greater",
    draws: int = 1000,
    seed: Seed = 0,
) -> MetricComparison:
    """Test whether the means of two metrics over items are equal.

    For each item a fair coin decides whether the two metrics swap their values, and with them their weights.

    Args:
        values: the value of each metric on each item, shape (M, N), higher is better: an accuracy, a tau or a
            coefficient over systems; NaN where undefined. An item that is undefined for one of two metrics counts for
            the other alone, before and after a swap.
        weights: how much each value counts, shape (M, N): the pairs of each item, for a statistic that pools the pairs
            of all items. None gives the plain mean.
        groups: the group of each item, shape (N,), from 0: the test is then of the plain mean over groups.
        alternative: `greater` gives p of row better than column; or `two-sided`.
        draws: the number of draws, B.
        seed: a whole number or a generator, which is advanced. One set of coins serves all pairs.

    Raises:
        InputError: the values are not a matrix, a value is infinite, or there is no item.
    """
    check_option("alternative", alternative, Alternative, error=InputError)
    check_draws(draws)
    parts = split_items(values, weights, groups)
    rng = generator(seed)
    drawn = []
    for own, counted in parts:
        coins = toss(rng, draws, (1, own.shape[1]), "inputs")
        drawn.append(whole_groups(own, coins, counted))
    whole = item_means(parts)
    found = (whole[:, 0], *means(parts[0][0])[1:]) if groups is None else means(whole)
    return from_draws(TEST, "inputs", alternative, found, means(np.stack(drawn, axis=-1))[0])


def split_items(values: Array, weights: Array | None, groups: Codes | None) -> list[tuple[Array, Array | None]]:
    """Values and weights of the items of each group, shape (M, n) each; all items are one group if there are none.

    Raises:
        InputError: as in `item_swap_test`.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] == 0:
        raise InputError(f"values have shape {values.shape}, expected (metrics, items) with an item or more")
    if np.isinf(values).any():
        metric, item = (int(i) for i in np.argwhere(np.isinf(values))[0])
        raise InputError(f"the value of metric {metric} on item {item} is infinite; an undefined one is NaN")
    of = np.zeros(values.shape[1], dtype=np.int64) if groups is None else np.asarray(groups)
    for what, given, shape in (("weights", weights, values.shape), ("groups", groups, values.shape[1:])):
        if given is not None and np.shape(given) != shape:
            raise InputError(f"{what} have shape {np.shape(given)}, expected {shape} beside values of {values.shape}")
    return [(values[:, of == g], None if weights is None else weights[:, of == g]) for g in np.unique(of)]


def item_means(parts: Sequence[tuple[Array, Array | None]]) -> Array:
    """The (weighted) mean over the items of each group, shape (M, groups); NaN where no item is defined."""
    found = []
    for values, weights in parts:
        defined = ~np.isnan(values)
        counted = defined.astype(np.float64) if weights is None else np.where(defined, weights, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            found.append((np.where(defined, values, 0.0) * counted).sum(axis=1) / counted.sum(axis=1))
    return np.stack(found, axis=1)


def acc_eq_test(
    human: Array,
    metrics: Array,
    epsilons: float | Array = 0.0,
    *,
    alternative: Alternative = "greater",
    draws: int = 1000,
    seed: Seed = 0,
    compat: Compat | None = None,
) -> MetricComparison:
    """Compare every metric with every other by pairwise accuracy with ties, averaged over items.

    Args:
        human: judgements, shape (S, N), NaN where missing.
        metrics: scores, shape (M, S, N), higher is better.
        epsilons: scores of a metric that differ by at most this are tied: one number, or one per metric, calibrated
            beforehand. The test takes them as given. Thresholds calibrated on these very items flatter a continuous
            metric.
        alternative: as in `item_swap_test`.
        draws: the number of draws, B.
        seed: as in `item_swap_test`.
        compat: `mt-metrics-eval` swaps the outcome of every pair of systems on its own. Pairs that share a system are
            not independent, so this rejects a true null about four times too often.

    References:
        Deutsch, Foster and Freitag (2023), "Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy and Tie
        Calibration".
    """
    human, metrics = check_grid(human, metrics)
    near = np.broadcast_to(np.asarray(epsilons, dtype=np.float64), len(metrics))
    if compat is None:
        human, metrics = settled(human), np.stack([settled(scores) for scores in metrics])
    found = buckets(human, "item")
    flat = metrics.reshape(len(metrics), -1)
    values = np.stack(
        [
            by_groups(partial(acc_eq, epsilon=e, exact=compat is not None), found, row, human.shape[1])
            for row, e in zip(flat, near.tolist(), strict=True)
        ]
    )
    result = item_swap_test(values, alternative=alternative, draws=draws, seed=seed)
    if compat is None:
        return result
    check_option("compat", compat, Literal["mt-metrics-eval"], error=InputError)
    p = _pair_swaps(found, flat, near, alternative, draws, generator(seed))
    return replace(
        result, test="pair_swap", p=p, n_undefined_draws=np.zeros_like(result.n_undefined_draws), compat=compat
    )


def _pair_swaps(
    found: list[Bucket], flat: Array, near: Array, alternative: Alternative, draws: int, rng: np.random.Generator
) -> Array:
    """p-values of pair swaps.

    Of n outcomes that only one of the two metrics gets right, the first metric's number is Binomial(n, 1/2). Where
    every item has the same number of pairs nothing more is needed, and p is exact. Otherwise binomials are drawn for
    each size, and p = hits / B.
    """
    from scipy.stats import binom

    outcomes = [_right(bucket, flat, near) for bucket in found]  # (M, items, pairs) each
    weights = np.array([1 / outcome.shape[2] for outcome in outcomes])
    p = np.full((len(flat), len(flat)), np.nan)
    for i, j in zip(*pairs_of(len(flat)), strict=True):
        mine = np.array([int((outcome[i] & ~outcome[j]).sum()) for outcome in outcomes])
        n = mine + np.array([int((outcome[j] & ~outcome[i]).sum()) for outcome in outcomes])
        if len(outcomes) == 1:
            up, down = binom.sf(mine[0] - 1, n[0], 0.5), binom.cdf(mine[0], n[0], 0.5)
        else:
            drawn, seen = (
                (2 * rng.binomial(n, 0.5, size=(draws, len(n))) - n) @ weights,
                float((2 * mine - n) @ weights),
            )
            up, down = (drawn >= seen - 1e-9).mean(), (drawn <= seen + 1e-9).mean()
        p[i, j], p[j, i] = (up, down) if alternative == "greater" else (min(1.0, 2 * min(up, down)),) * 2
    return p


def _right(bucket: Bucket, flat: Array, near: Array) -> npt.NDArray[np.bool_]:
    """Whether each metric orders or ties each pair of systems as people do, shape (M, items, pairs)."""
    left, right = pairs_of(bucket.cells.shape[1])
    x = flat[:, bucket.cells]
    gaps = x[..., left] - x[..., right]
    order = np.where(np.abs(gaps) <= near[:, None, None], 0, np.sign(gaps))
    return np.asarray(order == np.sign(bucket.human[:, left] - bucket.human[:, right]))
