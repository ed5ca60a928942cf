"""Resample the items at hand: one matrix product gives the corpus scores of all draws, and nothing is scored again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Floats, by_value
from nlgauge.core.errors import InputError

Finish = Callable[[Array], Array]
Seed = int | np.random.Generator

_CELLS = (
    1 << 20
)  # draws x items per block: 8 MB per matrix, most of which stays in the processor's cache; no draw depends on it
_EXACT = 1 << 24  # whole numbers below this are exact in float32


@by_value
@dataclass(frozen=True)
class Intervals:
    """Percentile bootstrap intervals of the corpus scores of S systems.

    Attributes:
        values: the observed corpus scores, shape (S,).
        low: lower ends, shape (S,); NaN where no draw is defined.
        high: upper ends, shape (S,).
        level: the share of draws between the ends: 0.95 leaves 2.5 % on either side.
        draws: the number of resamples, B.
        n_undefined: draws on which the score is undefined, shape (S,); they are left out of the percentiles.
    """

    values: Array
    low: Array
    high: Array
    level: float
    draws: int
    n_undefined: npt.NDArray[np.int64]


def bootstrap_interval(
    stats: Array, finish: Finish, *, draws: int = 1000, seed: Seed = 0, level: float = 0.95
) -> Intervals:
    """Intervals of corpus scores over items drawn with replacement.

    Args:
        stats: segment statistics, shape (S, n, k): S systems over the same n items; the rows of an undefined segment
            are zeros.
        finish: maps totals of shape (..., k) to corpus scores of shape (...); NaN where undefined.
        draws: the number of resamples, B.
        seed: a whole number (0 is a seed like any other) or a generator, which is advanced.
        level: the share of draws inside the interval, in (0, 1).

    Raises:
        InputError: there are fewer than 2 items, statistics are not finite, or a number is out of its range.

    References:
        Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13 (percentile interval).
    """
    stats = check_stats(stats, systems=1)
    check_level(level)
    check_draws(draws)
    drawn = bootstrap_draws(stats, finish, draws, generator(seed))
    low, high = percentiles(drawn, level)
    return Intervals(observed(stats, finish), low, high, level, draws, np.isnan(drawn).sum(axis=0))


def observed(stats: Array, finish: Finish) -> Array:
    """Corpus scores of the data as they are, shape (S,)."""
    return np.asarray(finish(stats.sum(axis=1)), dtype=np.float64)


def bootstrap_draws(stats: Array, finish: Finish, draws: int, rng: np.random.Generator) -> Array:
    """Corpus scores on B resamples of the items, shape (B, S); one resample serves every system."""
    n_systems, n, k = stats.shape
    table = _table(stats, largest=n * _largest(stats))  # (n, S * k)
    drawn = np.empty((draws, n_systems))
    for block in blocks(draws, n):
        counts = resample_counts(rng, block.stop - block.start, n, table.dtype.type)  # (b, n)
        drawn[block] = finish((counts @ table).astype(np.float64).reshape(-1, n_systems, k))
    return drawn


def swap_draws(stats: Array, finish: Finish, draws: int, rng: np.random.Generator) -> Array:
    """Differences to the first system after swaps, shape (B, S - 1); a fair coin per item decides whether rows swap.

    One coin serves every system. What moves between a pair is the sum of (system - baseline) over the swapped items,
    so the totals of both follow from one matrix product.
    """
    others, n, k = stats.shape[0] - 1, *stats.shape[1:]
    sums = stats.sum(axis=1)  # (S, k)
    gaps = stats[1:] - stats[0]
    table = _table(gaps, largest=n * _largest(gaps))  # (n, (S - 1) * k)
    drawn = np.empty((draws, others))
    for block in blocks(draws, n):
        coins = fair_coins(rng, block.stop - block.start, n, table.dtype.type)  # (b, n)
        moved = (coins @ table).astype(np.float64).reshape(-1, others, k)
        drawn[block] = finish(sums[1:] - moved) - finish(sums[0] + moved)
    return drawn


def resample_counts(rng: np.random.Generator, draws: int, n: int, dtype: type = np.float64) -> Floats:
    """How often each item is drawn when n are drawn with replacement, shape (draws, n)."""
    counts: Floats = np.empty((draws, n), dtype)
    for row, drawn in zip(counts, rng.integers(n, size=(draws, n)), strict=True):
        row[:] = np.bincount(drawn, minlength=n)
    return counts


def fair_coins(rng: np.random.Generator, draws: int, n: int, dtype: type = np.float64) -> Floats:
    """Zeros and ones with equal chances, shape (draws, n)."""
    words = rng.integers(
        1 << 64, size=(draws, -(-n // 64)), dtype=np.uint64
    )  # whole words per row: blocks do not change the stream
    return np.unpackbits(words.view(np.uint8), axis=1)[:, :n].astype(dtype)


def pairs_of(n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Left and right of all pairs of n things: (0, 1), (0, 2), ..., (1, 2), ...; shapes (n (n - 1) / 2,)."""
    left, right = np.triu_indices(n, 1)
    return left, right


def percentiles(drawn: Array, level: float) -> tuple[Array, Array]:
    """Lower and upper ends of the middle `level` of the defined draws, axis 0; NaN where none is defined."""
    tail = (1 - level) / 2
    ends = np.full((2, drawn.shape[1]), np.nan)
    for j, column in enumerate(drawn.T):
        defined = column[~np.isnan(column)]
        if len(defined):
            ends[:, j] = np.quantile(defined, (tail, 1 - tail))
    return ends[0], ends[1]


def blocks(draws: int, n: int, multiple: int = 1) -> Iterator[slice]:
    """Ranges of draws small enough to hold with n items each; all but the last hold a multiple of `multiple` draws."""
    size = max(1, _CELLS // (n * multiple)) * multiple
    for start in range(0, draws, size):
        yield slice(start, min(start + size, draws))


def generator(seed: Seed) -> np.random.Generator:
    """The generator of a seed; a generator is returned as it is.

    Raises:
        InputError: a negative seed.
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if seed < 0:
        raise InputError(f"seed is {seed}, expected 0 or more")
    return np.random.default_rng(seed)


def check_stats(stats: Array, systems: int) -> Array:
    """The statistics as float64, refused unless there are enough systems and items and every number is finite."""
    stats = np.asarray(stats, dtype=np.float64)
    if stats.ndim != 3 or stats.shape[2] == 0:
        raise InputError(f"statistics have shape {stats.shape}, expected (systems, items, statistics)")
    if stats.shape[0] < systems:
        raise InputError(f"statistics of {stats.shape[0]} systems, expected {systems} or more")
    if stats.shape[1] < 2:
        raise InputError(
            f"resampling needs 2 items or more, got {stats.shape[1]}; one item says nothing of how others would score"
        )
    if not np.isfinite(stats).all():
        system, item, _ = (int(i) for i in np.argwhere(~np.isfinite(stats))[0])
        raise InputError(
            f"statistics of system {system}, item {item} are not finite; an undefined segment is a row of zeros"
        )
    return stats


def check_draws(draws: int) -> None:
    """Refuse fewer than one draw."""
    if draws < 1:
        raise InputError(f"draws is {draws}, expected 1 or more")


def check_level(level: float) -> None:
    """Refuse a level outside (0, 1); the usual mistake is 95 for 0.95."""
    if not 0 < level < 1:
        raise InputError(f"level is {level}, expected a share between 0 and 1 such as 0.95")


def is_whole(stats: Array, largest: float) -> bool:
    """Whether sums are exact in float32: whole numbers, and no total beyond `largest`, which is below 2 ** 24."""
    return largest < _EXACT and bool((stats == np.rint(stats)).all())


def _largest(stats: Array) -> float:
    """The largest absolute value, without a copy."""
    return float(max(stats.max(), -stats.min()))


def _table(stats: Array, largest: float) -> Floats:
    """Items as rows, all statistics of all systems as columns.

    They are in float32 where that loses nothing, since this halves the work.
    """
    table = stats.transpose(1, 0, 2).reshape(stats.shape[1], -1)
    return np.ascontiguousarray(table, dtype=np.float32 if is_whole(stats, largest) else np.float64)
