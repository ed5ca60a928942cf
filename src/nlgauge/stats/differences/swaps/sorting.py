"""Rank correlations of long vectors after swaps: sums over all pairs of cells come from sorting, not from comparing.

Write h for the judgements, a and b for two metrics, e for the signs (1 stays, -1 swapped). The numerator of a rank
correlation is the sum over pairs of cells of w_st sgn(m_s - m_t). The numerators of the two mixtures differ by a sum
that is linear in e. Its coefficients need, for each cell, the sum over t of w_st sgn(a_s - b_t). That is a number of
cells below a value among those that people put lower, which blocks in sorted order give in n log^2 n steps.

Ties give the two mixtures denominators that differ a little. Then the difference also depends on the mean of the two
numerators. It lies within a bound of a constant, so each draw comes with the most it can be off by. Few draws are so
close to the difference in the data that this matters. These are made from the mixtures themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.stats.correlation.coefficients import average_ranks
from nlgauge.stats.differences.swaps.groups import Bucket

Ints = npt.NDArray[np.int64]
RankStatistic = Literal["spearman", "kendall_b"]


class Prefixes:
    """How many of the first p entries of a vector are below a value, for many p and values at once."""

    def __init__(self, ranks: Ints, span: int) -> None:
        """Sort blocks of 1, 2, 4, ... entries; ranks are whole numbers from 0 to span - 1."""
        self.span, self.levels = span, []
        blocks = ranks[:, None]
        while True:
            keys = np.arange(len(blocks))[:, None] * (span + 1) + blocks
            self.levels.append(keys.ravel())
            if len(blocks) == 1:
                return
            if len(blocks) % 2:  # the odd block at the end is filled up by entries that are below nothing
                blocks = np.vstack([blocks, np.full_like(blocks[:1], span)])
            blocks = np.sort(blocks.reshape(len(blocks) // 2, -1), axis=1)

    def below(self, first: Ints, value: Ints) -> Ints:
        """Among the first `first` entries, how many are below `value`; arrays of one shape (n,)."""
        counts = np.zeros(first.shape, dtype=np.int64)
        for level, keys in enumerate(self.levels):
            used = np.flatnonzero(first >> level & 1)  # a prefix is one block for each bit of its length
            block = first[used] >> level + 1 << 1
            counts[used] += np.searchsorted(keys, block * (self.span + 1) + value[used]) - (block << level)
        return counts


@dataclass(frozen=True)
class Ties:
    """Scores of two metrics that are equal: each value that several entries share, with the entries that hold it.

    Attributes:
        cells: the cell of each entry, entries of one value beside each other, shape (t,).
        of_first: whether an entry is a score of the first metric, shape (t,).
        starts: where each value begins, shape (v,).
        sizes: how many entries hold it, shape (v,).
    """

    cells: npt.NDArray[np.intp]
    of_first: npt.NDArray[np.bool_]
    starts: npt.NDArray[np.intp]
    sizes: Ints

    @classmethod
    def between(cls, a: Ints, b: Ints) -> Ties:
        """The values that at least two entries of the ranks of two metrics hold, shapes (n,)."""
        both, n = np.concatenate([a, b]), len(a)
        order = np.argsort(both, kind="stable")
        starts = np.flatnonzero(np.diff(both[order], prepend=-1))
        sizes = np.diff(starts, append=len(both))
        entries = order[np.repeat(sizes > 1, sizes)]
        sizes = sizes[sizes > 1]
        return cls(entries % n, entries < n, np.cumsum(sizes) - sizes, sizes)

    def lost(self, e: npt.NDArray[np.int8], statistic: RankStatistic) -> tuple[Array, Array]:
        """The part of the spread of each mixture that ties take away, for signs (n, b), shapes (b,).

        It is the sum over values, with k entries each, of k (k - 1) / 2 pairs, or of (k^3 - k) / 12 for ranks.
        """
        if not len(self.cells):
            return np.zeros(e.shape[1]), np.zeros(e.shape[1])
        held = e[self.cells]
        np.negative(held, out=held, where=~self.of_first[:, None])
        parts = np.split(held, self.starts[1:])
        # one by one: numpy's reduceat takes ten times as long over bytes
        balance = np.array([np.add.reduce(part, axis=0, dtype=np.int32) for part in parts])  # (v, b)
        sides = []
        for k in ((self.sizes[:, None] + balance) / 2, (self.sizes[:, None] - balance) / 2):
            gone = np.einsum("vb,vb->b", k, k - 1) / 2
            sides.append(gone if statistic == "kendall_b" else np.einsum("vb,vb,vb->b", k, k - 1, k + 1) / 12)
        return sides[0], sides[1]


@dataclass(frozen=True)
class PairTerms:
    """Two metrics in one group.

    Attributes:
        linear: what the sign of each cell adds to half the difference of the two numerators, shape (n,).
        middle: about which number the mean of the two numerators lies.
        reach: how far it lies from that at most.
        ties: the scores that are equal.
    """

    linear: Array
    middle: float
    reach: float
    ties: Ties


class SortedGroup:
    """The judged cells of one group in the order of people, for the rank correlations of all mixtures."""

    def __init__(self, cells: npt.NDArray[np.intp], human: Array, ranks: Ints, statistic: RankStatistic) -> None:
        """Sort a group.

        Args:
            cells: places in the flattened grid, shape (n,).
            human: their judgements, shape (n,).
            ranks: the place of each score among all scores of all metrics, shape (M, S N).
            statistic: `kendall_b` or `spearman`.
        """
        order = np.argsort(human, kind="stable")
        h, self.cells, self.statistic, self.n = human[order], cells[order], statistic, len(human)
        self.ranks = ranks[:, self.cells]
        self.low, self.high = np.searchsorted(h, h, "left"), np.searchsorted(h, h, "right")
        _, counts = np.unique(h, return_counts=True)
        n = float(self.n)
        self.weight = average_ranks(h) - (n + 1) / 2  # of each cell, for ranks
        if statistic == "kendall_b":
            self.spread, self.most, self.largest = (n * n - float(counts @ counts)) / 2, n * (n - 1) / 2, 1.0
        else:
            self.spread, self.most = float(self.weight @ self.weight), (n**3 - n) / 12
            self.largest = float(np.ptp(self.weight)) / 2
        self.span = int(ranks.max(initial=0)) + 2
        self._prefixes: dict[int, Prefixes] = {}
        self._own: dict[int, Array] = {}

    def pair(self, a: int, b: int) -> PairTerms:
        """The tables that all draws of metrics a and b need."""
        own, across = (self._of_one(a), self._of_one(b)), (self._sums(a, b), self._sums(b, a))
        ties = Ties.between(self.ranks[a], self.ranks[b])
        middle = float(sum(part.sum() for part in (*own, *across))) / 8
        reach = self.largest * self._crossings(a, b) / 2 if len(ties.cells) else 0.0
        return PairTerms((own[0] - own[1] + across[0] - across[1]) / 4, middle, reach, ties)

    def differences(self, terms: PairTerms, halves: Array, e: npt.NDArray[np.int8]) -> tuple[Array, Array]:
        """The differences of the two coefficients, and how far they are off at most; NaN where a mixture is constant.

        Args:
            halves: the signed sums of `terms.linear`, shape (b,).
            e: signs of the cells of this group, shape (n, b).
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            first, second = (
                np.where(lost < self.most, 1 / np.sqrt(self.spread * (self.most - lost)), np.nan)
                for lost in terms.ties.lost(e, self.statistic)
            )
        gap = first - second
        return halves * (first + second) + terms.middle * gap, terms.reach * np.abs(gap)

    def _of_one(self, a: int) -> Array:
        if a not in self._own:
            self._own[a] = self._sums(a, a)
        return self._own[a]

    def _sums(self, a: int, b: int) -> Array:
        """The sum over t of w_st sgn(a_s - b_t) for each cell s, shape (n,)."""
        x, y = self.ranks[a], self.ranks[b]
        if self.statistic == "kendall_b":
            places = (self.low, self.high, np.full_like(x, self.n))
            lower, upto, every = (self._ahead(b, first, x) for first in places)
            return lower + upto - every
        order = np.argsort(y, kind="stable")
        held = np.concatenate([[0.0], np.cumsum(self.weight[order])])
        below, upto = (np.searchsorted(y[order], x, side) for side in ("left", "right"))
        return np.asarray((self.weight * (below + upto - self.n) - (held[below] + held[upto] - held[-1])) / 2)

    def _ahead(self, b: int, first: Ints, value: Ints) -> Array:
        """Among the first entries of b, how many more are below the value than above it."""
        if b not in self._prefixes:
            self._prefixes[b] = Prefixes(self.ranks[b], self.span)
        below = self._prefixes[b].below
        return (below(first, value) + below(first, value + 1) - first).astype(np.float64)

    def _crossings(self, a: int, b: int) -> float:
        """Pairs of cells whose spans, from one metric's score to the other's, overlap in part or touch.

        All other pairs of cells have the same mean over the two mixtures, whatever is swapped.
        """
        ends = np.sort(self.ranks[[a, b]], axis=0)
        low, high = ends[:, np.argsort(ends[0], kind="stable")]
        start, end = np.searchsorted(low, low, "left"), np.searchsorted(low, high, "right")
        ended = np.searchsorted(np.sort(high), high, "left")
        before = start - Prefixes(high, self.span).below(start, high)  # begin before this one and end in or after it
        return float((end - ended - before - 1).sum())


def sorted_groups(found: list[Bucket], z: Array, statistic: RankStatistic) -> list[SortedGroup]:
    """The groups in which people see a difference; z are scores of all metrics, shape (M, S, N)."""
    ranks = np.unique(z, return_inverse=True)[1].reshape(len(z), -1).astype(np.int64)
    groups = [
        SortedGroup(cells, human, ranks, statistic)
        for bucket in found
        for cells, human in zip(bucket.cells, bucket.human, strict=True)
    ]
    return [group for group in groups if group.spread > 0]
