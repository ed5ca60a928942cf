"""Pearson's r after swaps, for all pairs of metrics at once, from sums that are linear in columns of either metric.

Write e for the signs (1 stays, -1 swapped) and a, b for two metrics. The mixture that keeps a has the sums
sum m = (sum a + sum b + e.(a - b)) / 2, and so have its squares and its products with the judgements, in a^2 - b^2 and
(a - b) g. So one product of the signs with the columns [z, z^2, z g] of every metric serves all pairs; the other
mixture is that of -e.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.stats.differences.swaps.coins import Coins, collapse
from nlgauge.stats.draws import pairs_of
from nlgauge.stats.grids import AXES, Averaging, in_groups

_CELLS = (
    1 << 15
)  # groups x pairs x draws worked on at once: half a megabyte for both mixtures, which stays in the cache
# Taken off the squares: a mixture without spread then has a variance below 0 and no root; rounding leaves 1e-15.
_CONSTANT = 1e-13
_ONE_THREAD = 1 << 18  # multiplications up to which OpenBLAS does not start threads
_SIDE = 128  # columns and draws of one such product
_THREADS = 2  # numpy lets go of the lock; more threads compete for the memory


def segment_draws(human: Array, z: Array, coins: Coins, averaging: Averaging) -> Array:
    """Differences of (averaged) Pearson correlations after swaps.

    Args:
        human: shape (S, N), NaN where missing.
        z: standardised scores, shape (M, S, N), 0 where the judgement is missing.
        coins: B patterns.
        averaging: what a correlation spans.

    Returns:
        Left minus right of every pair of metrics, shape (P, B); NaN where no group is defined for one of the two.
    """
    table, defined = _table(human, z, coins.shape, averaging)
    width = len(z)
    base = table.sum(axis=-1)  # (groups, 3 M)
    drawn = np.full((len(pairs_of(width)[0]), len(coins.bits)), np.nan)
    if not len(table):
        return drawn

    def fill(draws: slice) -> None:
        signs = in_groups(coins.signs(draws), averaging)
        drawn[:, draws] = _differences(table, base, width, signs if signs.shape[1] == 1 else signs[:, defined])

    with ThreadPoolExecutor(
        _THREADS
    ) as pool:  # blocks do not depend on each other: the numbers are the same for any count of threads
        list(pool.map(fill, coins.blocks()))
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


def _differences(table: Array, base: Array, width: int, signs: npt.NDArray[np.int8]) -> Array:
    """One block of draws; signs have shape (b, groups or 1, coins)."""
    e = np.ascontiguousarray(signs.transpose(1, 2, 0))  # (groups or 1, coins, b)
    b, n_groups = e.shape[2], len(table)
    totals = np.zeros((2, width * (width - 1) // 2, b))
    counts = np.full(totals.shape, n_groups)
    step = max(1, _CELLS // (max(1, width // 2) * b))
    room = np.empty((2, 2, step, max(1, width - 1), b))  # for the results and for work
    for start in range(0, n_groups, step):
        part = slice(start, min(start + step, n_groups))
        sums = signed_sums(table[part], e if len(e) == 1 else e[part])  # (step, 3 M, b)
        halves = (
            np.stack([base[part, :, None] + sums, base[part, :, None] - sums]) / 2
        )  # over the cells that stay; that are swapped
        low = 0
        for left in range(width - 1):
            rows = slice(low, low + width - 1 - left)
            low = rows.stop
            r = _correlations(halves, width, left, room)
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


def _correlations(halves: Array, width: int, left: int, room: Array) -> Array:
    """r of both mixtures of metric `left` with every later one, shape (2, groups, pairs, draws), written into `room`.

    Not finite where a mixture is constant.
    """
    r, work = (part[:, : halves.shape[1], : width - 1 - left] for part in room)
    other = halves[::-1]  # what one metric gives away comes from the other

    def mixture(column: int, out: Array) -> None:
        first = column * width
        np.add(halves[:, :, first + left, None], other[:, :, first + left + 1 : first + width], out=out)

    mixture(0, work)
    np.multiply(work, work, out=work)
    mixture(1, r)
    np.subtract(r, work, out=work)
    mixture(2, r)
    with np.errstate(invalid="ignore", divide="ignore"):
        np.sqrt(work, out=work)
        np.divide(r, work, out=r)
    return np.asarray(r)


def signed_sums(table: Array, e: npt.NDArray[np.int8]) -> Array:
    """Products of columns (groups, columns, coins) and signs (groups or 1, coins, b), shape (groups, columns, b).

    Cut so small that BLAS stays in the calling thread: its own threads, started from ours, would wait for one another.
    """
    n_groups, n_columns, n_coins = table.shape
    out = np.zeros((n_groups, n_columns, e.shape[2]))
    tall, wide = min(n_columns, _SIDE), _SIDE
    deep = max(1, _ONE_THREAD // max(1, tall * wide))
    for start, first, low in product(range(0, n_coins, deep), range(0, n_columns, _SIDE), range(0, e.shape[2], wide)):
        coins, columns, draws = slice(start, start + deep), slice(first, first + tall), slice(low, low + wide)
        out[:, columns, draws] += table[:, columns, coins] @ e[:, coins, draws].astype(np.float64)
    return out
