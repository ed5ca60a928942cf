"""Where may a mean difference lie? The bootstrap of its t statistic, over items or over whole clusters."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, by_value
from nlgauge.core.errors import InputError
from nlgauge.stats.draws import Seed, blocks, check_draws, generator, resample_counts

DRAWS = 4000
_NOTHING = 1e-12  # of the sum of squares: below this share a variance is rounding


@by_value
@dataclass(frozen=True)
class Studentized:
    """Means of R sets of differences, with what resampling says of their t statistics.

    Attributes:
        mean: shape (R,).
        error: the standard error of each mean, shape (R,); 0 where all clusters agree.
        t: the t statistic of each resample around the mean, ascending, shape (B, R); infinite where a resample without
            spread lies beside the mean.
    """

    mean: Array
    error: Array
    t: Array

    def of(self, place: int) -> Studentized:
        """One of the R sets."""
        return Studentized(*(one[..., place : place + 1] for one in (self.mean, self.error, self.t)))

    def bounds(self, alpha: float) -> tuple[Array, Array]:
        """One-sided bounds, each of level 1 - alpha, shapes (R,); infinite where resamples are too much alike."""
        draws = len(self.t)
        k = math.floor(alpha * (draws + 1))
        if k < 1:
            raise InputError(f"{draws} draws are too few for a level of {alpha:g}; take {math.ceil(1 / alpha)} or more")
        with np.errstate(invalid="ignore"):
            low, high = self.mean - self.t[-k] * self.error, self.mean - self.t[k - 1] * self.error
        still = self.error == 0
        return np.where(still, self.mean, low), np.where(still, self.mean, high)

    def p_above(self, value: float | Array) -> Array:
        """p-values of the claim that the true mean is above a value, or one for each set, (R,); as `bounds` has it."""
        return self._p((self.t >= self._at(value)).sum(axis=0), self.mean > value)

    def p_below(self, value: float | Array) -> Array:
        """p-values of the claim that it is below the value."""
        return self._p((self.t <= self._at(value)).sum(axis=0), self.mean < value)

    def _at(self, value: float | Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((self.mean - value) / self.error)

    def _p(self, hits: npt.NDArray[np.int64], is_beyond: npt.NDArray[np.bool_]) -> Array:
        least = 1 / (len(self.t) + 1)
        return np.where(self.error == 0, np.where(is_beyond, least, 1.0), (hits + 1) * least)


def clustered(values: Array, clusters: Sequence[Hashable] | None) -> tuple[Array, Array]:
    """Sums of each cluster, shape (R, G), and its number of items, shape (G,); items are their own clusters without.

    Args:
        values: shape (R, n), all defined.
        clusters: the cluster of each item, length n; None for items.
    """
    values = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if not np.isfinite(values).all():
        raise InputError("a difference is not finite; leave undefined items out first")
    if clusters is None:
        return values, np.ones(values.shape[1])
    if len(clusters) != values.shape[1]:
        raise InputError(f"{values.shape[1]} items but {len(clusters)} clusters; give one cluster per item")
    numbers: dict[Hashable, int] = {}
    places = np.array([numbers.setdefault(one, len(numbers)) for one in clusters], dtype=np.int64)
    member = np.zeros((len(places), len(numbers)))
    member[np.arange(len(places)), places] = 1
    return values @ member, member.sum(axis=0)


def cluster_error(sums: Array, sizes: Array) -> Array:
    """The standard error of the mean of all items when whole clusters are drawn, shape (R,).

    With one item in each cluster it is s / sqrt(n); NaN for one cluster.

    Args:
        sums: shape (R, G).
        sizes: shape (G,).

    References:
        Miller (2024), "Adding Error Bars to Evals", section 2.2, with the factor G / (G - 1) for few clusters.
    """
    n_clusters, n = len(sizes), sizes.sum()
    if n_clusters < 2:
        return np.full(len(sums), np.nan)
    apart = sums - (sums.sum(axis=1) / n)[:, None] * sizes
    squares = (apart**2).sum(axis=1)
    squares = np.where(squares <= _NOTHING * (sums**2).sum(axis=1), 0.0, squares)
    return np.asarray(np.sqrt(n_clusters / (n_clusters - 1) * squares) / n)


def studentized(
    values: Array, clusters: Sequence[Hashable] | None = None, *, draws: int = DRAWS, seed: Seed = 0
) -> Studentized:
    """Resample items, or whole clusters, and take the t statistic of each resample.

    A percentile bootstrap is too narrow where few items differ: a resample that misses the only large loss is centred
    wrongly and has little spread. Its t statistic is large then, and widens the interval on that side.

    Args:
        values: differences of R metrics on the same items, shape (R, n) or (n,); no NaN.
        clusters: the cluster of each item, length n; None where items are independent.
        draws: B, the number of resamples, the same for every metric.
        seed: a whole number or a generator, which is advanced.

    Raises:
        InputError: fewer than two clusters, or a difference is not finite.

    References:
        Efron and Tibshirani (1993), "An Introduction to the Bootstrap", section 12.5.
    """
    check_draws(draws)
    sums, sizes = clustered(values, clusters)
    n_clusters, n = sums.shape[1], float(sizes.sum())
    if n_clusters < 2:
        raise InputError(f"resampling needs 2 items or clusters or more, got {n_clusters}")
    mean, error = sums.sum(axis=1) / n, cluster_error(sums, sizes)
    rest = sums - mean[:, None] * sizes  # (R, G), which adds up to 0
    table = np.concatenate([rest, rest**2, rest * sizes, [sizes, sizes**2]]).T  # (G, 3 R + 2)
    rng, r = generator(seed), len(sums)
    t = np.empty((draws, r))
    for block in blocks(draws, n_clusters):
        drawn = resample_counts(rng, block.stop - block.start, n_clusters) @ table
        total, squares, crossed = drawn[:, :r], drawn[:, r : 2 * r], drawn[:, 2 * r : 3 * r]
        size, size_squares = drawn[:, -2:-1], drawn[:, -1:]
        moved = total / size
        spread = squares - 2 * moved * crossed + moved**2 * size_squares
        spread = np.where(spread <= _NOTHING * squares, 0.0, spread)
        moved = np.where(np.abs(total) <= _NOTHING * np.abs(rest).sum(axis=1), 0.0, moved)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = moved * size / np.sqrt(n_clusters / (n_clusters - 1) * spread)
        t[block] = np.where(np.isnan(found), 0.0, found)  # no spread, and not beside the mean
    t.sort(axis=0)
    return Studentized(mean, error, t)
