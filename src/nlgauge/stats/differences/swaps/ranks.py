"""Rank correlations, and any other coefficient, after swaps.

A rank correlation is a sum over pairs of cells of a weight w times the sign of m_s - m_t, divided by what ties leave.
In a mixture of metrics a and b that sign depends on two coins. Over the four cases it is c + x e_s + y e_t + z e_s
e_t. The other mixture is that of -e: c and z are the same, x and y change sign. So where nothing ties, the difference
of the two is linear in e, with one coefficient per cell, and one matrix product serves all draws. Where something ties
in a small group, or where a coefficient is not of this kind, the mixtures are made and evaluated. Large groups are
sorted, ties or not, and mixtures are made for the few draws that decide (see `sorting`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.stats.differences.swaps.coins import Coins
from nlgauge.stats.differences.swaps.groups import (
    NAMED,
    Bucket,
    Coefficient,
    buckets,
    by_groups,
    coefficient_of,
    group_count,
    means,
    some,
)
from nlgauge.stats.differences.swaps.pearson import signed_sums
from nlgauge.stats.differences.swaps.sorting import RankStatistic, SortedGroup, sorted_groups
from nlgauge.stats.draws import pairs_of
from nlgauge.stats.grids import Averaging, in_groups

_TERMS = 1 << 24  # terms of pairs of metrics held at once: 128 MB
_MADE = 1 << 20  # cells of mixtures made at once
_SMALL = 128  # cells of a group up to which all their pairs are compared
_NEAR = 1e-8  # rounding stays far below this
RANKED: tuple[RankStatistic, ...] = ("spearman", "kendall_b")


def segment_draws(
    human: Array,
    z: Array,
    coins: Coins,
    averaging: Averaging,
    statistic: str | Coefficient,
    observed: Array | None = None,
    advance: Callable[[int], None] = lambda pairs: None,
) -> Array:
    """Differences of (averaged) coefficients after swaps; arguments and shape as in `pearson.segment_draws`.

    If `observed` is given, draws of large groups may be off, but never so far that they change sides of the difference
    in the data or of its opposite. `advance` is told how many pairs of metrics are done.
    """
    coefficient, z = coefficient_of(statistic), np.round(z, 12)  # scores of two metrics that tie on paper tie here
    found, n_groups = buckets(human, averaging), group_count(human, averaging)
    if (averaging == "item" and coins.shape[0] == 1) or (averaging == "sys" and coins.shape[1] == 1):
        advance(len(pairs_of(len(z))[0]))
        return whole_groups(by_groups(coefficient, found, z.reshape(len(z), -1), n_groups), coins)
    small = averaging != "none" and max((bucket.cells.shape[1] for bucket in found), default=0) <= _SMALL
    named = next((name for name in RANKED if coefficient is NAMED[name]), None)
    if named is not None and small:
        return _compared(human, z, coins, averaging, named, advance)
    if named is not None and observed is not None:
        return _sorted(human, z, coins, averaging, named, observed, advance)
    left, right = pairs_of(len(z))
    drawn = np.empty((len(left), len(coins.bits)))
    for row, (a, b) in enumerate(zip(left, right, strict=True)):
        drawn[row] = _made(coefficient, found, n_groups, z[a], z[b], coins)
        advance(1)
    return drawn


def _compared(
    human: Array,
    z: Array,
    coins: Coins,
    averaging: Averaging,
    statistic: RankStatistic,
    advance: Callable[[int], None],
) -> Array:
    """Differences from the comparisons of all pairs of cells in small groups."""
    coefficient, found, n_groups = NAMED[statistic], buckets(human, averaging), group_count(human, averaging)
    left, right = pairs_of(len(z))
    drawn = np.empty((len(left), len(coins.bits)))
    linear = _Linear(human, z, averaging, statistic)
    n_defined = int(linear.defined.sum())
    step = max(1, _TERMS // human.size)
    for start in range(0, len(left), step):
        rows = slice(start, min(start + step, len(left)))
        terms, tied = zip(*(linear.pair(a, b) for a, b in zip(left[rows], right[rows], strict=True)), strict=True)
        drawn[rows] = _totals(np.stack(terms), coins, averaging)
        for row, groups in zip(range(rows.start, rows.stop), tied, strict=True):
            a, b = z[left[row]], z[right[row]]
            if groups.any():
                drawn[row] += _made(coefficient, some(found, groups), n_groups, a, b, coins, total=True)
            drawn[row] /= n_defined or np.nan
            if np.isnan(drawn[row]).any():  # some mixture is constant in some group: the mean is over fewer
                drawn[row] = _made(coefficient, found, n_groups, a, b, coins)
            advance(1)
    return drawn


def _sorted(
    human: Array,
    z: Array,
    coins: Coins,
    averaging: Averaging,
    statistic: RankStatistic,
    observed: Array,
    advance: Callable[[int], None],
) -> Array:
    """Differences from sorted cells; draws that are not told from the data in that way are made."""
    found, n_groups = buckets(human, averaging), group_count(human, averaging)
    groups = sorted_groups(found, z, statistic)
    left, right = pairs_of(len(z))
    drawn = np.full((len(left), len(coins.bits)), np.nan)
    step = max(1, _TERMS // (4 * human.size)) if groups else len(left)
    for start in range(0, len(left), step):
        rows = slice(start, min(start + step, len(left)))
        drawn[rows], off = _from_sorted(groups, list(zip(left[rows], right[rows], strict=True)), coins, human.shape)
        for row, reach in zip(range(rows.start, rows.stop), off, strict=True):
            sure = np.abs(np.abs(drawn[row]) - abs(observed[row])) > reach + _NEAR
            unsure = np.isnan(drawn[row]) | ~(sure | np.isnan(observed[row]))
            if groups and unsure.any():
                some_coins = Coins(coins.bits[unsure], coins.shape)
                drawn[row, unsure] = _made(NAMED[statistic], found, n_groups, z[left[row]], z[right[row]], some_coins)
            advance(1)
    return drawn


def _from_sorted(
    groups: list[SortedGroup], pairs: list[tuple[int, int]], coins: Coins, grid: tuple[int, ...]
) -> tuple[Array, Array]:
    """The mean difference over groups of each pair of metrics, and how far it is off at most, shapes (P, B)."""
    found, off = np.zeros((2, len(pairs), len(coins.bits)))
    for group in groups:
        terms = [group.pair(a, b) for a, b in pairs]
        table = np.stack([one.linear for one in terms])[None]  # (1, P, n)
        for draws in coins.blocks():
            signs = coins.signs(draws)
            whole = np.broadcast_to(signs, (len(signs), *grid)).reshape(len(signs), -1)
            e = np.ascontiguousarray(whole[:, group.cells].T)  # (n, b)
            halves = signed_sums(table, e[None])[0]
            for row, one in enumerate(terms):
                values, reach = group.differences(one, halves[row], e)
                found[row, draws] += values
                off[row, draws] += reach
    return found / (len(groups) or np.nan), off / max(1, len(groups))


def whole_groups(values: Array, coins: Coins, weights: Array | None = None) -> Array:
    """Differences of means over groups when whole groups are swapped: for any statistic with one value per group.

    Args:
        values: shape (M, G); NaN where undefined.
        coins: one coin per group, shape (1, G) or (G, 1).
        weights: what each value counts, shape (M, G), and swaps with it; None counts every defined value once.

    Returns:
        Shape (P, B); NaN where a side has no defined group.
    """
    left, right = pairs_of(len(values))
    defined = ~np.isnan(values)
    counted = defined.astype(np.float64) if weights is None else np.where(defined, weights, 0.0)
    held = np.where(defined, values, 0.0) * counted
    gaps, missing = held[left] - held[right], counted[left] - counted[right]
    both, counts = (held[left] + held[right]).sum(axis=1), (counted[left] + counted[right]).sum(axis=1)
    drawn = np.empty((len(left), len(coins.bits)))
    for draws in coins.blocks():
        e = np.ascontiguousarray(coins.signs(draws).reshape(-1, values.shape[1]).T)[None]  # (1, G, b)
        moved, lacking = signed_sums(gaps[None], e)[0], signed_sums(missing[None], e)[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            first, second = (
                (both[:, None] + moved) / (counts[:, None] + lacking),
                (both[:, None] - moved) / (counts[:, None] - lacking),
            )
        drawn[:, draws] = first - second
    return np.where(np.isfinite(drawn), drawn, np.nan)


class _Linear:
    """The change of the difference by a coin, per cell, where nothing ties."""

    def __init__(self, human: Array, z: Array, averaging: Averaging, statistic: str) -> None:
        h = in_groups(human, averaging)  # (G, C)
        self.z = np.ascontiguousarray(in_groups(z, averaging))  # (M, G, C)
        judged = ~np.isnan(h)
        self.both = judged[:, :, None] & judged[:, None, :] & ~np.eye(h.shape[1], dtype=np.bool_)
        order = np.where(self.both, np.sign(h[:, :, None] - h[:, None, :]), 0.0)  # (G, C, C)
        n = judged.sum(axis=1)
        if statistic == "kendall_b":
            weights, spread = order, np.sqrt(np.abs(order).sum(axis=(1, 2)) / 2) * np.sqrt(n * (n - 1) / 2)
        else:
            ranks = order.sum(axis=2) / 2  # centred
            weights = np.where(self.both, (ranks[:, :, None] - ranks[:, None, :]) / 2, 0.0)
            spread = np.sqrt((ranks**2).sum(axis=1)) * np.sqrt((n**3 - n) / 12)
        self.defined = spread > 0
        self.weights = weights / np.where(self.defined, spread, 1.0)[:, None, None]
        self.own, self.tied = [], []
        for scores in self.z:
            signs = np.sign(scores[:, :, None] - scores[:, None, :])
            self.own.append((self.weights * signs).sum(axis=2))
            self.tied.append(((signs == 0) & self.both).any(axis=(1, 2)))

    def pair(self, a: int, b: int) -> tuple[Array, npt.NDArray[np.bool_]]:
        """Terms of the untied groups, 0 elsewhere, shape (G, C); and which defined groups tie in some mixture, (G,)."""
        signs = np.sign(self.z[a][:, :, None] - self.z[b][:, None, :])
        tied = self.defined & (self.tied[a] | self.tied[b] | ((signs == 0) & self.both).any(axis=(1, 2)))
        signs *= self.weights
        terms = (self.own[a] - self.own[b] + signs.sum(axis=2) - signs.sum(axis=1)) / 2
        return np.where((self.defined & ~tied)[:, None], terms, 0.0), tied


def _totals(terms: Array, coins: Coins, averaging: Averaging) -> Array:
    """Sums over all groups of the signed terms, shape (P, B)."""
    shared = (coins.shape[1] == 1 and averaging == "item") or (coins.shape[0] == 1 and averaging == "sys")
    table = (terms.sum(axis=1) if shared else terms.reshape(len(terms), -1))[None]  # (1, P, coins)
    drawn = np.empty((len(terms), len(coins.bits)))
    for draws in coins.blocks():
        signs = in_groups(coins.signs(draws), averaging)
        drawn[:, draws] = signed_sums(table, np.ascontiguousarray(signs.reshape(len(signs), -1).T)[None])[0]
    return drawn


def _made(
    coefficient: Coefficient,
    found: list[Bucket],
    n_groups: int,
    a: Array,
    b: Array,
    coins: Coins,
    *,
    total: bool = False,
) -> Array:
    """Differences of the means over groups (or of their sums) from the mixtures themselves, shape (B,)."""
    drawn = np.empty(len(coins.bits))
    cells = sum(bucket.cells.size for bucket in found)
    for draws in _small_blocks(coins, cells):
        stays = np.broadcast_to(coins.signs(draws) > 0, (draws.stop - draws.start, *a.shape)).reshape(-1, a.size)
        kept = [
            by_groups(coefficient, found, np.where(stays, one.ravel(), other.ravel()), n_groups)
            for one, other in ((a, b), (b, a))
        ]
        if total:
            wanted = np.concatenate([bucket.groups for bucket in found])
            drawn[draws] = (kept[0][:, wanted] - kept[1][:, wanted]).sum(axis=1)  # NaN where a group is
        else:
            drawn[draws] = means(kept[0])[0] - means(kept[1])[0]
    return drawn


def _small_blocks(coins: Coins, cells: int) -> Iterator[slice]:
    size = max(1, _MADE // max(1, max(cells, coins.shape[0] * coins.shape[1])))
    for start in range(0, len(coins.bits), size):
        yield slice(start, min(start + size, len(coins.bits)))
