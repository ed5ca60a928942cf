"""Draws of items, and intervals: one matrix product gives the scores of all draws, and nothing is scored again."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Counts, Floats, Mask, by_value
from nlgauge.core.errors import InputError

Finish = Callable[[Array], Array]
Seed = int | np.random.Generator

# Draws x items per block: 8 MB per matrix, most of which stays in the processor's cache. No draw depends on it.
_CELLS = 1 << 20
_EXACT = 1 << 24  # whole numbers below this are exact in float32


@by_value
@dataclass(frozen=True)
class Intervals:
    """Percentile bootstrap intervals of the corpus numbers of S systems.

    Attributes:
        values: the observed corpus numbers, shape (S,).
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
    """Intervals of corpus numbers over items drawn with replacement.

    Below 100 items they are too narrow, below 200 where scores are skewed.

    Args:
        stats: segment statistics, shape (S, n, k): S systems over the same n items; the rows of an undefined segment
            are zeros.
        finish: maps totals of shape (..., k) to corpus numbers of shape (...); NaN where undefined.
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
    # whole words per row: blocks do not change the stream
    words = rng.integers(1 << 64, size=(draws, -(-n // 64)), dtype=np.uint64)
    return np.unpackbits(words.view(np.uint8), axis=1)[:, :n].astype(dtype)


def numbered(labels: Iterable[Hashable]) -> Counts:
    """Whole numbers for labels, in the order of their first appearance, shape (n,)."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)


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


# --- A grid of systems by items: judgements and scores that fit each other, cut into groups, brought to one scale

Averaging = Literal["none", "item", "sys"]

# what a group spans, of (systems, items)
AXES: dict[str, tuple[int, ...]] = {"none": (0, 1), "item": (0,), "sys": (1,)}


def check_grid(human: Array, metrics: Array) -> tuple[Array, Array]:
    """Judgements (S, N) and scores (M, S, N) as float64; a single row of S system scores counts as one item.

    Judgements may be missing (NaN). Scores are needed where there is a judgement; others that are missing become
    0.

    Raises:
        InputError: shapes that do not fit, a needed score that is missing or infinite, an infinite judgement.
    """
    human, metrics = np.asarray(human, dtype=np.float64), np.asarray(metrics, dtype=np.float64)
    if human.ndim == 1 and metrics.ndim == 2:
        human, metrics = human[:, None], metrics[:, :, None]
    if human.ndim != 2 or metrics.ndim != 3 or metrics.shape[1:] != human.shape:
        raise InputError(
            f"judgements have shape {human.shape} and scores {metrics.shape}, expected (systems, items) and (metrics,"
            " systems, items)"
        )
    finite = np.isfinite(metrics)
    bad = np.argwhere(~finite & ~np.isnan(human))
    if len(bad):
        metric, system, item = (int(i) for i in bad[0])
        raise InputError(
            f"metric {metric} has no finite score for system {system}, item {item} ({len(bad)} such entries); "
            "drop these entries or fill in a worst score, for all metrics alike"
        )
    if np.isinf(human).any():
        system, item = (int(i) for i in np.argwhere(np.isinf(human))[0])
        raise InputError(f"the judgement of system {system}, item {item} is infinite; a missing judgement is NaN")
    return human, np.where(finite, metrics, 0.0)


def in_groups(grid: npt.NDArray[Any], averaging: Averaging) -> npt.NDArray[Any]:
    """(..., S, N) to (..., groups, cells of a group)."""
    if averaging == "none":
        return grid.reshape(*grid.shape[:-2], 1, -1)
    return grid.swapaxes(-1, -2) if averaging == "item" else grid


def standardise(metrics: Array, used: Mask) -> tuple[Array, Mask]:
    """Mean 0 and standard deviation 1 (ddof 0) over the cells in use, 0 elsewhere; and which metrics are constant.

    Args:
        metrics: shape (M, S, N).
        used: shape (S, N).
    """
    if not used.any():
        raise InputError("no judgement at all: every entry is missing")
    cells = metrics[:, used]
    mean = cells.mean(axis=1)
    centred = cells - mean[:, None]
    spread = np.sqrt((centred**2).mean(axis=1))
    constant = spread <= 1e-14 * np.abs(cells).max(axis=1)  # rounding is no spread
    z = np.zeros(metrics.shape)
    z[:, used] = np.where(constant[:, None], 0.0, centred) / np.where(constant, 1.0, spread)[:, None]
    return z, constant


# --- How far may a share or a mean be from its true value? Wilson's interval, Student's, and one for a mean of shares


def wilson(wins: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a share of n independent trials, in [0, 1]; halves may be won; NaN where there is no trial.

    References:
        Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference".
    """
    from scipy import special

    check_level(confidence)
    if n <= 0:
        return math.nan, math.nan
    z = float(special.ndtri((1 + confidence) / 2))
    p, room = wins / n, 1 + z * z / n
    middle = (p + z * z / (2 * n)) / room
    half = z / room * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # rounding may leave the end of a share of 0 or 1 a hair inside
    return (0.0 if wins <= 0 else max(0.0, middle - half)), (1.0 if wins >= n else min(1.0, middle + half))


def clopper_pearson(wins: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Exact interval of a share of n independent trials, in [0, 1]: it covers at least as often as it says.

    Arguments and absence are those of `wilson`. It is wider than Wilson's interval, which covers as often as it says on
    average; half a win counts as half.

    References:
        Clopper and Pearson (1934), "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial".
    """
    from scipy import special

    check_level(confidence)
    if n <= 0:
        return math.nan, math.nan
    tail = (1 - confidence) / 2
    low = 0.0 if wins <= 0 else float(special.betaincinv(wins, n - wins + 1, tail))
    high = 1.0 if wins >= n else float(special.betaincinv(wins + 1, n - wins, 1 - tail))
    return low, high


Interval = Literal["wilson", "clopper-pearson"]
SHARES: dict[str, Callable[[float, float, float], tuple[float, float]]] = {
    "wilson": wilson,
    "clopper-pearson": clopper_pearson,
}
SHARE_NAMES = {"wilson": "Wilson's", "clopper-pearson": "Clopper and Pearson's"}


def mean_of_shares(
    wins: Sequence[float], n: Sequence[float], *, interval: str = "wilson"
) -> tuple[float, float, float]:
    """The plain mean of several shares and its 95 % interval; shares of no trial are left out, NaN where none is left.

    The shares are taken as independent. The interval is Wilson's (or Clopper and Pearson's) for the effective number of
    trials: that of one share which is equal to the mean and varies as much as the mean does. One share, or equal shares
    of equally many trials, thus get the interval of all trials together.

    Returns:
        Mean, lower and upper end, in [0, 1].

    References:
        Korn and Graubard (1998), "Confidence Intervals for Proportions with Small Expected Number of Positive Counts
        Estimated from Survey Data", for the effective number of trials. Simulated:
        `recipes/studies/coverage/simulate.py`.
    """
    kept = [(w, m) for w, m in zip(wins, n, strict=True) if m > 0]
    if not kept:
        return math.nan, math.nan, math.nan
    trials = mean_trials(wins, n)
    value = sum(w / m for w, m in kept) / len(kept)
    low, high = SHARES[interval](value * trials, trials, 0.95)
    return value, low, high


def mean_trials(wins: Sequence[float], n: Sequence[float]) -> float:
    """The effective number of trials of a mean of shares, at least one of which has a trial; see `mean_of_shares`."""
    kept = [(w, m) for w, m in zip(wins, n, strict=True) if m > 0]
    # A half more on either side, so that shares of 0 and 1 are not certain.
    chances = [(w + 0.5) / (m + 1) for w, m in kept]
    variance = sum(p * (1 - p) / m for p, (_, m) in zip(chances, kept, strict=True)) / len(kept) ** 2
    chance = sum(chances) / len(kept)
    return chance * (1 - chance) / variance


def dependent_trials(trials: float, parts: Array, clusters: Sequence[Hashable]) -> float:
    """How many independent trials tell as much as n trials do of which some have one origin.

    Their number is divided by the design effect: how much more the sum of parts varies when whole origins are drawn
    than when trials are. It is divided once more for what few origins say of that, by the squared ratio of Student's
    quantiles for the numbers of origins and of trials.

    Args:
        trials: their number if they were independent: n for a plain share, `mean_trials` for a mean of shares.
        parts: by how much each trial moves the share from its value, shape (n,); they add up to 0. For a plain share,
            (outcome - share) / n.
        clusters: the origin of each trial, length n.

    Returns:
        At most `trials`. If no outcome differs from the others, the number for trials that always agree within an
        origin.

    References:
        Korn and Graubard (1998), as in `mean_of_shares`; Kish (1965), "Survey Sampling", for trials that all agree.
    """
    from scipy import special

    places = numbered(clusters)
    sizes = np.bincount(places)
    n, n_clusters = len(parts), len(sizes)
    if n_clusters == n:
        return trials
    alone, together = float((parts**2).sum()), float((np.bincount(places, weights=parts) ** 2).sum())
    if n_clusters < 2 or alone <= 0:
        return trials * n / float((sizes**2).sum())
    effect = max(1.0, together / alone * n_clusters / (n_clusters - 1) * (n - 1) / n)
    few = float(special.stdtrit(n - 1, 0.975) / special.stdtrit(n_clusters - 1, 0.975)) ** 2  # of 95 % intervals
    return trials / effect * few


def mean_interval(values: Array, confidence: float = 0.95) -> tuple[float, float, float]:
    """Mean of the defined values, shape (n,), with Student's interval; NaN ends where fewer than two are defined."""
    from scipy import special

    check_level(confidence)
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if not len(known):
        return math.nan, math.nan, math.nan
    mean = float(known.mean())
    if len(known) < 2:
        return mean, math.nan, math.nan
    quantile = float(special.stdtrit(len(known) - 1, (1 + confidence) / 2))
    half = quantile * float(known.std(ddof=1)) / math.sqrt(len(known))
    return mean, mean - half, mean + half
