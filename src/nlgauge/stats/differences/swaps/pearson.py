"""Pearson's r after swaps, for all pairs of metrics at once, from sums that are linear in columns of either metric.

Write e for the signs (1 stays, -1 swapped) and a, b for two metrics. The mixture that keeps a has the sums
sum m = (sum a + sum b + e.(a - b)) / 2, and so have its squares and its products with the judgements, in a^2 - b^2 and
(a - b) g. So one product of the signs with the columns [z, z^2, z g] of every metric serves all pairs; the other
mixture is that of -e.

Where an average takes in many groups, draws are made in single precision first. What single precision cannot settle
is made again in double: a correlation of a mixture with little spread. A draw close to the difference in the data is
made from the mixtures themselves, whatever the precision. So p-values are those of the definition.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.stats.correlation.coefficients import pearson
from nlgauge.stats.differences.swaps.coins import Coins, collapse
from nlgauge.stats.differences.swaps.groups import buckets, by_groups, group_count, means
from nlgauge.stats.draws import pairs_of
from nlgauge.stats.grids import AXES, Averaging, in_groups

Numbers = npt.NDArray[np.floating[Any]]  # in single or double precision

_CELLS = (
    1 << 15
)  # groups x pairs x draws worked on at once: half a megabyte for both mixtures, which stays in the cache
# Taken off the squares: a mixture without spread then has a variance below 0 and no root; rounding leaves 1e-15.
_CONSTANT = 1e-13
_ONE_THREAD = 1 << 18  # multiplications up to which OpenBLAS does not start threads
_SIDE = 128  # columns and draws of one such product
_THREADS = 2  # numpy lets go of the lock; more threads compete for the memory
_MANY = 50  # groups from which on draws are made in single precision: rounding averages out to below 1e-7
_NEAR = 2e-6  # draws this close to the data are made from the mixtures
_TIED = 1e-12  # draws this close tie with the data as they are
_FLAT = 1e-3  # variances below this share of the squares have lost digits in single precision


def segment_draws(human: Array, z: Array, coins: Coins, averaging: Averaging, observed: Array | None = None) -> Array:
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

    with ThreadPoolExecutor(
        _THREADS
    ) as pool:  # blocks do not depend on each other: the numbers are the same for any count of threads
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
    step = max(1, _CELLS // (max(1, width // 2) * b))
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
