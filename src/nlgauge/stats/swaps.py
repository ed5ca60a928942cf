"""What becomes of the difference of two metrics when their scores trade places? Coins, and coefficients after swaps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Counts, Mask
from nlgauge.core.errors import InputError, nearest
from nlgauge.stats.coefficients import average_ranks, kendall_b, pearson, spearman
from nlgauge.stats.draws import AXES, Averaging, in_groups, pairs_of

Signs = npt.NDArray[np.int8]
GeneraliseTo = Literal["both", "inputs", "systems"]

_CELLS = 1 << 24  # draws x cells dealt out at once: 16 MB of signs
_DRAWS = 512  # long rows of draws keep numpy's inner loops long


@dataclass(frozen=True)
class Coins:
    """B patterns of swaps for a grid; an axis of length 1 means that one coin serves the whole of it.

    Attributes:
        bits: a set bit swaps, packed by rows, shape (B, bytes).
        shape: (S or 1, N or 1).
    """

    bits: npt.NDArray[np.uint8]
    shape: tuple[int, int]

    def signs(self, draws: slice) -> Signs:
        """1 where a score stays, -1 where it is swapped, shape (draws, S or 1, N or 1)."""
        n = self.shape[0] * self.shape[1]
        signs = np.unpackbits(self.bits[draws], axis=1, count=n).view(np.int8)
        signs *= -2
        signs += 1
        return signs.reshape(-1, *self.shape)

    def blocks(self) -> Iterator[slice]:
        """Ranges of draws of about the same length, short enough that their signs fit into memory."""
        n = len(self.bits)
        most = max(1, min(_DRAWS, _CELLS // (self.shape[0] * self.shape[1])))
        size = -(-n // -(-n // most))
        for start in range(0, n, size):
            yield slice(start, min(start + size, n))


def toss(rng: np.random.Generator, draws: int, grid: tuple[int, int], generalise_to: GeneraliseTo) -> Coins:
    """Fair coins: for every cell (`both`), every item (`inputs`) or every system (`systems`) of a grid (S, N)."""
    shape = {"both": grid, "inputs": (1, grid[1]), "systems": (grid[0], 1)}[generalise_to]
    n = shape[0] * shape[1]
    words = rng.integers(1 << 64, size=(draws, -(-n // 64)), dtype=np.uint64)
    return Coins(words.view(np.uint8)[:, : -(-n // 8)], shape)


def given_swaps(swapped: npt.NDArray[np.bool_]) -> Coins:
    """Patterns that were made elsewhere, shape (B, S or 1, N or 1), True where a score is swapped."""
    return Coins(np.packbits(swapped.reshape(len(swapped), -1), axis=1), (swapped.shape[1], swapped.shape[2]))


def collapse(table: Array, coins: tuple[int, int], averaging: Averaging) -> Array:
    """Sums over the cells of a group that share a coin: (..., S, N) to (..., groups, coins of a group)."""
    if coins[0] == 1 and averaging != "sys":
        table = table.sum(axis=-2, keepdims=True)
    if coins[1] == 1 and averaging != "item":
        table = table.sum(axis=-1, keepdims=True)
    return in_groups(table, averaging)


# --- A coefficient of grids in groups: per item, per system, or of all cells, and the mean over what is defined

Coefficient = Callable[[Array, Array], Array]  # scores (..., n) and judgements (..., n) to (...)
Statistic = Literal["pearson", "spearman", "kendall_b"]

NAMED: dict[str, Coefficient] = {"pearson": pearson, "spearman": spearman, "kendall_b": kendall_b}


@dataclass(frozen=True)
class Bucket:
    """Groups with the same number of judged cells.

    Attributes:
        groups: which groups, shape (g,).
        cells: their cells in the flattened grid, shape (g, n).
        human: their judgements, shape (g, n).
    """

    groups: npt.NDArray[np.intp]
    cells: npt.NDArray[np.intp]
    human: Array


def buckets(human: Array, averaging: Averaging) -> list[Bucket]:
    """The groups of a grid of judgements (S, N) that hold two or more, by their size."""
    judged = in_groups(~np.isnan(human), averaging)  # (groups, cells)
    cell = in_groups(np.arange(human.size).reshape(human.shape), averaging)
    sizes = judged.sum(axis=1)
    found = []
    for size in np.unique(sizes[sizes >= 2]):
        groups = np.flatnonzero(sizes == size)
        cells = cell[groups][judged[groups]].reshape(len(groups), size)
        found.append(Bucket(groups, cells, human.ravel()[cells]))
    return found


def some(found: list[Bucket], wanted: npt.NDArray[np.bool_]) -> list[Bucket]:
    """The same buckets with only the wanted groups; `wanted` has one entry per group of the grid."""
    kept = [(bucket, wanted[bucket.groups]) for bucket in found]
    return [Bucket(b.groups[k], b.cells[k], b.human[k]) for b, k in kept if k.any()]


def by_groups(coefficient: Coefficient, found: list[Bucket], flat: Array, n_groups: int) -> Array:
    """The coefficient of every group, shape (..., groups), for grids flattened to (..., S N); NaN where undefined."""
    values = np.full((*flat.shape[:-1], n_groups), np.nan)
    for bucket in found:
        values[..., bucket.groups] = coefficient(flat[..., bucket.cells], bucket.human)
    return values


def values_by_group(coefficient: Coefficient, human: Array, z: Array, averaging: Averaging) -> Array:
    """The coefficient of every group of grids of scores, shape (M, S, N) to (M, groups); NaN where undefined."""
    flat = z.reshape(len(z), -1)
    return by_groups(coefficient, buckets(human, averaging), flat, group_count(human, averaging))


def group_count(human: Array, averaging: Averaging) -> int:
    """How many groups a grid falls into."""
    return len(in_groups(human, averaging))


def means(values: Array) -> tuple[Array, Counts, Counts]:
    """Mean over the defined groups (last axis), how many there are, and how many are not; NaN where none is."""
    defined = ~np.isnan(values)
    used = defined.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(defined, values, 0.0).sum(axis=-1) / np.where(used > 0, used, np.nan)
    return np.asarray(mean), np.asarray(used), np.asarray((~defined).sum(axis=-1))


def coefficient_of(statistic: str | Coefficient) -> Coefficient:
    """The coefficient of a name; a callable is taken as it is."""
    if callable(statistic):
        return statistic
    if statistic not in NAMED:
        raise InputError(
            f"statistic is {statistic!r}, expected a callable or one of"
            f" {', '.join(NAMED)}{nearest(str(statistic), NAMED)}"
        )
    return NAMED[statistic]


# --- Pearson's r after swaps, for all pairs of metrics at once, from sums that are linear in columns of either metric
# Write e for the signs (1 stays, -1 swapped) and a, b for two metrics. The mixture that keeps a has the sums sum m =
# (sum a + sum b + e.(a - b)) / 2, and so have its squares and its products with the judgements, in a^2 - b^2 and (a -
# b) g. So one product of the signs with the columns [z, z^2, z g] of every metric serves all pairs; the other mixture
# is that of -e.
#
# Where an average takes in many groups, draws are made in single precision first. What single precision cannot settle
# is made again in double: a correlation of a mixture with little spread. A draw close to the difference in the data is
# made from the mixtures themselves, whatever the precision. So p-values are those of the definition.

Numbers = npt.NDArray[np.floating[Any]]  # in single or double precision

# Groups x pairs x draws worked on at once: half a megabyte for both mixtures, which stays in the cache.
_BLOCK_CELLS = 1 << 15
# Taken off the squares: a mixture without spread then has a variance below 0 and no root; rounding leaves 1e-15.
_CONSTANT = 1e-13
_ONE_THREAD = 1 << 18  # multiplications up to which OpenBLAS does not start threads
_SIDE = 128  # columns and draws of one such product
_THREADS = 2  # numpy lets go of the lock; more threads compete for the memory
_MANY = 50  # groups from which on draws are made in single precision: rounding averages out to below 1e-7
_NEAR = 2e-6  # draws this close to the data are made from the mixtures
_TIED = 1e-12  # draws this close tie with the data as they are
_FLAT = 1e-3  # variances below this share of the squares have lost digits in single precision


def pearson_segment_draws(
    human: Array, z: Array, coins: Coins, averaging: Averaging, observed: Array | None = None
) -> Array:
    """Differences of (averaged) Pearson correlations after swaps.

    Args:
        human: shape (S, N), NaN where missing.
        z: standardised scores, shape (M, S, N), 0 where the judgement is missing.
        coins: B patterns.
        averaging: what a correlation spans.
        observed: the differences in the data, shape (P,). If given, draws may be off by up to 1e-6, and those that are
            that close to the difference in the data, or to its opposite, are made from the mixtures themselves.

    Returns:
        Left minus right of every pair of metrics, shape (P, B); NaN where no group is defined for one of the two.
    """
    table, defined = _table(human, z, coins.shape, averaging)
    width = len(z)
    drawn = np.full((len(pairs_of(width)[0]), len(coins.bits)), np.nan)
    if not len(table):
        return drawn
    rough = None if observed is None or len(table) < _MANY else table.astype(np.float32)

    def fill(draws: slice) -> None:
        signs = in_groups(coins.signs(draws), averaging)
        signs = signs if signs.shape[1] == 1 else signs[:, defined]
        drawn[:, draws] = _differences(table if rough is None else rough, table, width, signs)

    # Blocks do not depend on each other: the numbers are the same for any count of threads.
    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(fill, coins.blocks()))
    if observed is not None:
        _settle(drawn, observed, human, z, coins, averaging)
    return drawn


def _table(human: Array, z: Array, coins: tuple[int, int], averaging: Averaging) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Columns [z / sqrt n, z^2, z g] of all metrics, shape (defined groups, 3 M, coins); and which groups are defined.

    Judgements g are centred and have norm 1.
    """
    rated = ~np.isnan(human)
    g, defined = unit_judgements(human, averaging)
    n = rated.sum(axis=AXES[averaging], keepdims=True)
    columns = np.concatenate([z / np.sqrt(np.maximum(n, 1)), (1 - _CONSTANT) * z * z, z * g])  # (3 M, S, N)
    table = collapse(columns, coins, averaging)[:, defined]
    return np.ascontiguousarray(table.transpose(1, 0, 2)), defined


def unit_judgements(human: Array, averaging: Averaging) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Judgements centred in their group and scaled to norm 1, shape (S, N); and which groups have spread.

    0 stands where a judgement is missing or its group is constant.
    """
    axes, rated = AXES[averaging], ~np.isnan(human)
    held = np.where(rated, human, 0.0)
    mean = held.sum(axis=axes, keepdims=True) / np.maximum(rated.sum(axis=axes, keepdims=True), 1)
    centred = np.where(rated, held - mean, 0.0)
    norm = np.sqrt((centred**2).sum(axis=axes, keepdims=True))
    defined = norm > 1e-14 * np.sqrt((held**2).sum(axis=axes, keepdims=True))
    g = np.where(defined, centred, 0.0) / np.where(defined, norm, 1.0)
    return g, in_groups(np.broadcast_to(defined, human.shape), averaging)[:, 0]


def _settle(drawn: Array, observed: Array, human: Array, z: Array, coins: Coins, averaging: Averaging) -> None:
    """Make the mixtures of draws that are close to the difference in the data or to its opposite.

    Sums are off where a group has little spread beside its level; a mixture that is on paper what the data are then
    ties with them, as it must. Equal patterns of coins are made once.
    """
    apart = np.abs(np.abs(drawn) - np.abs(observed)[:, None])
    near = (apart < _NEAR) & (apart > _TIED)
    found, n_groups = buckets(human, averaging), group_count(human, averaging)
    first, second = pairs_of(len(z))
    for row in np.flatnonzero(near.any(axis=1)):
        left, right = first[row], second[row]
        patterns, which = np.unique(coins.bits[near[row]], axis=0, return_inverse=True)
        made = np.empty(len(patterns))
        for place in range(len(patterns)):
            stays = Coins(patterns[place : place + 1], coins.shape).signs(slice(None))[0] > 0
            sides = np.stack([np.where(stays, *two) for two in ((z[left], z[right]), (z[right], z[left]))])
            one, other = means(by_groups(pearson, found, sides.reshape(2, -1), n_groups))[0]
            made[place] = one - other
        drawn[row, near[row]] = made[which.reshape(-1)]


def _differences(table: Numbers, exact: Array, width: int, signs: npt.NDArray[np.int8]) -> Array:
    """One block of draws; signs have shape (b, groups or 1, coins).

    `exact` is the table in double precision, from which flat mixtures are computed.
    """
    e = np.ascontiguousarray(signs.transpose(1, 2, 0))  # (groups or 1, coins, b)
    b, n_groups = e.shape[2], len(table)
    totals = np.zeros((2, width * (width - 1) // 2, b))
    counts = np.full(totals.shape, n_groups)
    step = max(1, _BLOCK_CELLS // (max(1, width // 2) * b))
    room = np.empty((2, 2 * step * max(1, width - 1) * b), table.dtype)  # for the results and for work
    for start in range(0, n_groups, step):
        part = slice(start, min(start + step, n_groups))
        coins = e if len(e) == 1 else e[part]
        base, sums = table[part].sum(axis=-1)[:, :, None], signed_sums(table[part], coins)  # (step, 3 M, b)
        halves = np.stack([base + sums, base - sums]) / 2  # over the cells that stay; that are swapped
        halves[:, :, width : 2 * width] -= halves[:, :, :width] ** 2
        squares = _FLAT * base[:, width : 2 * width].max(axis=1)[:, :, None] if table.dtype == np.float32 else None
        low = 0
        for left in range(width - 1):
            rows = slice(low, low + width - 1 - left)
            low = rows.stop
            r, flat = _correlations(halves, width, left, room, squares)
            if flat is not None and flat.any():
                r[flat] = _one_by_one(exact[part], coins, width, left, np.nonzero(flat))
            added = r.sum(axis=1)
            if not np.isfinite(added).all():  # a mixture is constant somewhere: leave it out and count
                undefined = ~np.isfinite(r)
                r[undefined] = 0
                counts[:, rows] -= undefined.sum(axis=1)
                added = r.sum(axis=1)
            totals[:, rows] += added
    with np.errstate(invalid="ignore", divide="ignore"):
        averages = totals / counts
    return np.asarray(averages[0] - averages[1])


def _correlations(
    halves: Numbers, width: int, left: int, room: Numbers, least: Numbers | None
) -> tuple[Numbers, Mask | None]:
    """r of both mixtures of metric `left` with every later one, shape (2, groups, pairs, draws), written into `room`.

    Not finite where a mixture is constant. The variance of a mixture of a and b is what either has of its own, less
    twice the product of their sums. Where it is not above `least`, which single precision needs, is the second result.
    """
    shape = (2, halves.shape[1], width - 1 - left, halves.shape[3])
    r, work = (part[: math.prod(shape)].reshape(shape) for part in room)
    other = halves[::-1]  # what one metric gives away comes from the other

    def columns(column: int) -> tuple[Numbers, Numbers]:
        first = column * width + left
        return halves[:, :, first, None], other[:, :, first + 1 : (column + 1) * width]

    mine, theirs = columns(0)
    np.multiply(-2 * mine, theirs, out=work)
    for part in columns(1):
        np.add(work, part, out=work)
    flat = None if least is None else work <= least
    np.add(*columns(2), out=r)
    with np.errstate(invalid="ignore", divide="ignore"):
        np.sqrt(work, out=work)
        np.divide(r, work, out=r)
    return r, flat


def _one_by_one(
    table: Array, e: npt.NDArray[np.int8], width: int, left: int, at: tuple[npt.NDArray[np.intp], ...]
) -> Array:
    """r of single mixtures of metric `left`, in double precision: `at` are mixtures, groups, pairs and draws."""
    which, groups, later, draws = at
    stays = e[groups if len(e) > 1 else 0, :, draws] == np.where(which == 0, 1, -1)[:, None]
    m, squares, cross = (
        np.where(stays, table[groups, first + left], table[groups, first + left + 1 + later]).sum(axis=1)
        for first in (0, width, 2 * width)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(cross / np.sqrt(squares - m * m))


def signed_sums(table: Numbers, e: npt.NDArray[np.int8]) -> Numbers:
    """Products of columns (groups, columns, coins) and signs (groups or 1, coins, b), shape (groups, columns, b).

    Cut so small that BLAS stays in the calling thread: its own threads, started from ours, would wait for one another.
    """
    n_groups, n_columns, n_coins = table.shape
    out = np.zeros((n_groups, n_columns, e.shape[2]), table.dtype)
    tall, wide = min(n_columns, _SIDE), _SIDE
    deep = max(1, _ONE_THREAD // max(1, tall * wide))
    for start, first, low in product(range(0, n_coins, deep), range(0, n_columns, _SIDE), range(0, e.shape[2], wide)):
        coins, columns, draws = slice(start, start + deep), slice(first, first + tall), slice(low, low + wide)
        out[:, columns, draws] += table[:, columns, coins] @ e[:, coins, draws].astype(table.dtype)
    return out


# --- Rank correlations of long vectors after swaps: sums over all pairs of cells come from sorting, not from comparing
# Write h for the judgements, a and b for two metrics, e for the signs (1 stays, -1 swapped). The numerator of a rank
# correlation is the sum over pairs of cells of w_st sgn(m_s - m_t). The numerators of the two mixtures differ by a sum
# that is linear in e. Its coefficients need, for each cell, the sum over t of w_st sgn(a_s - b_t). That is a number of
# cells below a value among those that people put lower, which blocks in sorted order give in n log^2 n steps.
#
# Ties give the two mixtures denominators that differ a little. Then the difference also depends on the mean of the two
# numerators. It lies within a bound of a constant, so each draw comes with the most it can be off by. Few draws are so
# close to the difference in the data that this matters. These are made from the mixtures themselves.

Ints = npt.NDArray[np.int64]
RankStatistic = Literal["spearman", "kendall_b"]


def counting_below(ranks: Ints, span: int) -> Callable[[Ints, Ints], Ints]:
    """A function that counts how many of the first p entries of a vector are below a value, for many p and values.

    Args:
        ranks: the vector, whole numbers from 0 to span - 1.
        span: see there.

    Returns:
        Of two arrays of one shape (n,), how many entries are the first and the value, to the counts, shape (n,).
    """
    levels = []  # blocks of 1, 2, 4, ... entries, each sorted
    blocks = ranks[:, None]
    while True:
        levels.append((np.arange(len(blocks))[:, None] * (span + 1) + blocks).ravel())
        if len(blocks) == 1:
            break
        if len(blocks) % 2:  # the odd block at the end is filled up by entries that are below nothing
            blocks = np.vstack([blocks, np.full_like(blocks[:1], span)])
        blocks = np.sort(blocks.reshape(len(blocks) // 2, -1), axis=1)

    def below(first: Ints, value: Ints) -> Ints:
        counts = np.zeros(first.shape, dtype=np.int64)
        for level, keys in enumerate(levels):
            used = np.flatnonzero(first >> level & 1)  # a prefix is one block for each bit of its length
            block = first[used] >> level + 1 << 1
            counts[used] += np.searchsorted(keys, block * (span + 1) + value[used]) - (block << level)
        return counts

    return below


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
        self._below: dict[int, Callable[[Ints, Ints], Ints]] = {}
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
        if b not in self._below:
            self._below[b] = counting_below(self.ranks[b], self.span)
        below = self._below[b]
        return (below(first, value) + below(first, value + 1) - first).astype(np.float64)

    def _crossings(self, a: int, b: int) -> float:
        """Pairs of cells whose spans, from one metric's score to the other's, overlap in part or touch.

        All other pairs of cells have the same mean over the two mixtures, whatever is swapped.
        """
        ends = np.sort(self.ranks[[a, b]], axis=0)
        low, high = ends[:, np.argsort(ends[0], kind="stable")]
        start, end = np.searchsorted(low, low, "left"), np.searchsorted(low, high, "right")
        ended = np.searchsorted(np.sort(high), high, "left")
        before = start - counting_below(high, self.span)(start, high)  # begin before this one and end in or after it
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


# --- Correlations of system scores after swaps: the mean of a mixture is linear in the means of either metric alone


def system_scores(human: Array, metrics: Array, used: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """Mean judgement of each system, shape (S,), NaN without any; mean scores over the cells in use, shape (M, S)."""
    judged = ~np.isnan(human)
    with np.errstate(invalid="ignore", divide="ignore"):
        people = np.where(judged, human, 0.0).sum(axis=1) / judged.sum(axis=1)
        scores = np.where(used, metrics, 0.0).sum(axis=2) / used.sum(axis=1)
    return people, scores


def correlate(coefficient: Coefficient, scores: Array, human: Array) -> Array:
    """The coefficient of means of standardised scores, shape (...,). Ranks see 10 decimals: ties on paper tie."""
    scores = np.ascontiguousarray(scores)
    return np.asarray(coefficient(scores if coefficient is pearson else np.round(scores, 10), human))


def system_draws(human: Array, z: Array, used: npt.NDArray[np.bool_], coins: Coins, coefficient: Coefficient) -> Array:
    """Differences of system-level coefficients after swaps of segment scores, shape (P, B).

    Args:
        human: system scores, shape (S,).
        z: standardised scores, shape (M, S, N), 0 outside `used`.
        used: cells that count into a metric's system score, shape (S, N).
    """
    n = used.sum(axis=1)[:, None, None]
    table = np.ascontiguousarray(collapse(z, coins.shape, "sys").transpose(1, 0, 2))  # (S, M, coins)
    base = table.sum(axis=2, keepdims=True) / n
    left, _ = pairs_of(len(z))
    drawn = np.empty((len(left), len(coins.bits)))
    for draws in coins.blocks():
        e = np.ascontiguousarray(coins.signs(draws).transpose(1, 2, 0))  # (S or 1, coins, b)
        moved = signed_sums(table, e) / n  # (S, M, b)
        for a in range(len(z) - 1):
            rows, later = left == a, slice(a + 1, None)
            middle, shift = base[:, a, None] + base[:, later], moved[:, a, None] - moved[:, later]  # (S, pairs, b)
            both = np.stack([middle + shift, middle - shift]) / 2
            first, second = correlate(coefficient, np.moveaxis(both, 1, -1), human)
            drawn[rows, draws] = first - second
    return drawn


# --- Rank correlations, and any other coefficient, after swaps
# A rank correlation is a sum over pairs of cells of a weight w times the sign of m_s - m_t, divided by what ties leave.
# In a mixture of metrics a and b that sign depends on two coins. Over the four cases it is c + x e_s + y e_t + z e_s
# e_t. The other mixture is that of -e: c and z are the same, x and y change sign. So where nothing ties, the difference
# of the two is linear in e, with one coefficient per cell, and one matrix product serves all draws. Where something
# ties in a small group, or where a coefficient is not of this kind, the mixtures are made and evaluated. Large groups
# are sorted, ties or not, and mixtures are made for the few draws that decide (see `SortedGroup`).

_TERMS = 1 << 24  # terms of pairs of metrics held at once: 128 MB
_MADE = 1 << 20  # cells of mixtures made at once
_SMALL = 128  # cells of a group up to which all their pairs are compared
_ROUNDING = 1e-8  # rounding stays far below this
RANKED: tuple[RankStatistic, ...] = ("spearman", "kendall_b")


def rank_segment_draws(
    human: Array,
    z: Array,
    coins: Coins,
    averaging: Averaging,
    statistic: str | Coefficient,
    observed: Array | None = None,
    advance: Callable[[int], None] = lambda pairs: None,
) -> Array:
    """Differences of (averaged) coefficients after swaps; arguments and shape as in `pearson_segment_draws`.

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
            sure = np.abs(np.abs(drawn[row]) - abs(observed[row])) > reach + _ROUNDING
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
