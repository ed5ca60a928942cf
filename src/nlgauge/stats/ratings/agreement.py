"""Do people agree with each other? Krippendorff's alpha, and the agreement of two halves of the annotators."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.correlation.coefficients import average_ranks
from nlgauge.stats.correlation.entries import numbers
from nlgauge.stats.correlation.registry import statistic
from nlgauge.stats.draws import Seed, check_draws, check_level, generator, percentiles

Scale = Literal["nominal", "ordinal", "interval", "ratio"]


@dataclass(frozen=True, kw_only=True)
class Alpha:
    """Krippendorff's alpha.

    Attributes:
        value: 1 for perfect agreement, 0 for what chance would give, below 0 for systematic disagreement; NaN where
            all ratings are equal.
        scale: `nominal`, `ordinal`, `interval` or `ratio`.
        n_used: units with two ratings or more.
        n_undefined: units with fewer ratings, which cannot show agreement.
        n_ratings: the ratings of the units used.
    """

    value: float
    scale: str
    n_used: int
    n_undefined: int
    n_ratings: int


@dataclass(frozen=True, kw_only=True)
class SplitHalf:
    """Agreement of the means of two halves of the annotators.

    Attributes:
        value: the mean over splits.
        low: lower end of the middle share (`confidence`) of the splits.
        high: upper end.
        full: the predicted agreement of the mean of all annotators with another such mean: Spearman and Brown's 2 r /
            (1 + r).
        stat: the coefficient.
        confidence: the share of splits between the ends.
        n_used: units rated in both halves of every split.
        n_undefined: other units; they are left out of the splits in which a half lacks them.
        draws: the number of splits.
        n_undefined_draws: splits without a defined coefficient.
        exhaustive: whether these are all possible splits.
    """

    value: float
    low: float
    high: float
    full: float
    stat: str
    confidence: float
    n_used: int
    n_undefined: int
    draws: int
    n_undefined_draws: int
    exhaustive: bool


def krippendorff(ratings: Any, scale: str = "interval") -> Alpha:
    """Agreement of any number of annotators; each of them may have rated only some of the units.

    Args:
        ratings: shape (annotators, units), None or NaN where there is no rating; categories of a nominal scale as
            numbers.
        scale: how far apart two ratings are: different or not (`nominal`), by the ranks between them (`ordinal`), by
            their difference (`interval`), or by their difference divided by their sum (`ratio`).

    Raises:
        InputError: the ratings are not a table, the scale is unknown, or ratings on a ratio scale are negative.

    References:
        Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability".
    """
    check_option("scale", scale, Scale, error=InputError)
    table = _table(ratings)
    rated = ~np.isnan(table)
    paired = rated.sum(axis=0) >= 2
    table, rated = table[:, paired], rated[:, paired]
    n_units, n = int(paired.sum()), int(rated.sum())
    if scale == "ratio" and (table[rated] < 0).any():
        raise InputError("a ratio scale has no negative ratings; use scale='interval'")
    value = math.nan
    if n:
        disagreement = {"nominal": _nominal, "ratio": _ratio}.get(scale, _interval)
        observed, expected = disagreement(_ranked(table, rated) if scale == "ordinal" else table, rated)
        value = 1 - observed / expected if expected > 0 else math.nan
    return Alpha(value=value, scale=scale, n_used=n_units, n_undefined=len(paired) - n_units, n_ratings=n)


def split_half(
    ratings: Any, *, stat: str = "kendall_b", draws: int = 1000, seed: Seed = 0, confidence: float = 0.95
) -> SplitHalf:
    """How well two random halves of the annotators agree: a coefficient of the means of their ratings.

    Args:
        ratings: shape (annotators, units), None or NaN where there is no rating.
        stat: a coefficient of two vectors.
        draws: the number of splits to draw; if there are no more than that, all are taken. With an odd number of
            annotators, one half has one more.
        seed: a whole number or a generator, which is advanced.
        confidence: the share of the splits between the ends reported.

    Raises:
        InputError: there are fewer than two annotators, or the statistic is not a coefficient.

    Splits differ in how they group the annotators, not in their units. So the ends are not an interval for other
    units.
    """
    check_draws(draws)
    check_level(confidence)
    chosen = statistic(stat)
    if chosen.kind != "correlation":
        raise InputError(f"{stat} is no coefficient of two vectors; choose pearson, spearman, kendall_b or kendall_c")
    table = _table(ratings)
    halves, exhaustive = _halves(len(table), draws, generator(seed))
    rated = ~np.isnan(table)
    filled = np.where(rated, table, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = [
            (half @ filled) / (half @ rated.astype(np.float64)) for half in (halves, 1 - halves)
        ]  # (splits, units) twice
    both = ~np.isnan(means[0]) & ~np.isnan(means[1])
    if both.all():
        values = np.asarray(chosen.kernel(means[0], means[1]))
    else:
        values = np.array(
            [float(np.asarray(chosen.kernel(a[kept], b[kept]))) for a, b, kept in zip(*means, both, strict=True)]
        )
    defined = values[~np.isnan(values)]
    mean = float(defined.mean()) if len(defined) else math.nan
    low, high = percentiles(values[:, None], confidence)
    everywhere = int(both.all(axis=0).sum())
    return SplitHalf(
        value=mean,
        low=float(low[0]),
        high=float(high[0]),
        full=2 * mean / (1 + mean) if mean > -1 else math.nan,
        stat=stat,
        confidence=confidence,
        n_used=everywhere,
        n_undefined=table.shape[1] - everywhere,
        draws=len(halves),
        n_undefined_draws=len(values) - len(defined),
        exhaustive=exhaustive,
    )


def _table(ratings: Any) -> Array:
    table = numbers(ratings, "ratings")
    if table.ndim != 2 or len(table) < 2:
        raise InputError(f"ratings have shape {table.shape}, expected (annotators, units) with 2 annotators or more")
    return table


def _halves(n: int, draws: int, rng: np.random.Generator) -> tuple[Array, bool]:
    """Ones for the annotators of the first half, shape (splits, annotators), and whether these are all splits."""
    size = n // 2
    distinct = math.comb(n, size) // (2 if n % 2 == 0 else 1)
    if distinct <= draws:
        # of an even number, a half and its complement are one split: take the half with the first annotator
        chosen = [c for c in combinations(range(n), size) if n % 2 or 0 in c]
        halves = np.zeros((len(chosen), n))
        halves[np.arange(len(chosen))[:, None], chosen] = 1
        return halves, True
    order = rng.random((draws, n)).argsort(axis=1)
    return (order < size).astype(np.float64), False


def _ranked(table: Array, rated: Mask) -> Array:
    """On an ordinal scale two ratings are as far apart as their mean ranks among all ratings."""
    ranks = np.full(table.shape, np.nan)
    ranks[rated] = average_ranks(table[rated])
    return ranks


def _interval(table: Array, rated: Mask) -> tuple[float, float]:
    """Observed and expected disagreement: squared differences of all pairs are 2 m times the squares about the mean."""
    values = np.where(rated, table - table[rated].mean(), 0.0)
    m, n = rated.sum(axis=0), int(rated.sum())
    about = (np.where(rated, values - values.sum(axis=0) / m, 0.0) ** 2).sum(axis=0)
    return float((2 * m * about / (m - 1)).sum()) / n, 2 * float((values**2).sum()) / (n - 1)


def _nominal(table: Array, rated: Mask) -> tuple[float, float]:
    m, n = rated.sum(axis=0), int(rated.sum())
    categories = np.unique(table[rated])
    counts = np.stack([(table == category).sum(axis=0) for category in categories])  # (categories, units)
    observed = float(((m * m - (counts**2).sum(axis=0)) / (m - 1)).sum()) / n
    return observed, (n * n - float((counts.sum(axis=1) ** 2).sum())) / (n * (n - 1))


def _ratio(table: Array, rated: Mask) -> tuple[float, float]:
    m, n = rated.sum(axis=0), int(rated.sum())
    observed = 0.0
    for i, j in combinations(range(len(table)), 2):
        both = rated[i] & rated[j]
        observed += float((2 * _apart(table[i, both], table[j, both]) / (m[both] - 1)).sum())
    values, counts = np.unique(table[rated], return_counts=True)
    expected = sum(count * float(counts @ _apart(values, value)) for value, count in zip(values, counts, strict=True))
    return observed / n, expected / (n * (n - 1))


def _apart(a: Array, b: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(a + b > 0, ((a - b) / np.where(a + b > 0, a + b, 1)) ** 2, 0.0))
