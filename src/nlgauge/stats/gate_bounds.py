"""Where may a mean difference lie? Bounds from bets, from resamples, from what was not seen, and of pass rates."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, by_value
from nlgauge.core.errors import InputError
from nlgauge.stats.draws import (
    Seed,
    blocks,
    check_draws,
    clopper_pearson,
    generator,
    numbered,
    resample_counts,
)

# --- May one look after every item? Bounds of a mean that hold at any time, from bets against it

_HALVINGS = 40
_MOST = 0.75  # of what a bet may lose


@dataclass(frozen=True)
class Bets:
    """A sequence of differences, on which one may look at any time.

    Attributes:
        values: shape (n,), scaled to [0, 1].
        largest: a difference lies between -largest and largest.
        weights: of the values in the mean, shape (n,), 1 at most.
    """

    values: Array
    largest: float
    weights: Array

    @classmethod
    def on(cls, differences: Array, largest: float, sizes: Array | None = None) -> Bets:
        """Bets on differences in their order, shape (n,).

        Args:
            differences: of items, or the means of clusters of items, of which one bet is on a whole.
            largest: as above.
            sizes: of the clusters, shape (n,); they are taken as known before the first bet.

        Raises:
            InputError: a difference is larger than the largest possible one.
        """
        values = np.asarray(differences, dtype=np.float64)
        if not largest > 0 or not math.isfinite(largest) or (np.abs(values) > largest * (1 + 1e-9)).any():
            raise InputError(f"differences lie outside -{largest:g} to {largest:g}, which bets need as their limits")
        weights = np.ones(len(values)) if sizes is None else np.asarray(sizes, dtype=np.float64) / np.max(sizes)
        return cls(np.clip((values + largest) / (2 * largest), 0, 1), largest, weights)

    def p_above(self, value: float, alpha: float = 0.05) -> float:
        """A p-value, valid at any time, of the claim that the true mean is above a value."""
        return 1 / max(1.0, _wealth(self.values, self.weights, self._scaled(value), alpha))

    def p_below(self, value: float, alpha: float = 0.05) -> float:
        """The same of the claim that it is below."""
        return 1 / max(1.0, _wealth(1 - self.values, self.weights, 1 - self._scaled(value), alpha))

    def bounds(self, alpha: float = 0.05) -> tuple[float, float]:
        """One-sided bounds, each of level 1 - alpha at all times together."""
        ends = []
        for values in (self.values, 1 - self.values):
            refuted, open_ = 0.0, 1.0
            for _ in range(_HALVINGS):
                middle = (refuted + open_) / 2
                is_refuted = _wealth(values, self.weights, middle, alpha) >= 1 / alpha
                refuted, open_ = (middle, open_) if is_refuted else (refuted, middle)
            ends.append(refuted)
        return (2 * ends[0] - 1) * self.largest, (1 - 2 * ends[1]) * self.largest

    def _scaled(self, value: float) -> float:
        return min(1.0, max(0.0, (value + self.largest) / (2 * self.largest)))


def _wealth(values: Array, weights: Array, mean: float, alpha: float) -> float:
    """The most that bets on more than `mean` ever held, beginning with 1; they win no more than once in 1 / alpha.

    References:
        Waudby-Smith and Ramdas (2024), "Estimating Means of Bounded Random Variables by Betting", section 4: the
        predictable plug-in.
    """
    if mean <= 0:
        return 1.0 if (values == 0).all() else math.inf  # only 0s have a mean of 0
    t = np.arange(1, len(values) + 1)
    means = (0.5 + np.cumsum(values)) / (t + 1)
    spread = (0.25 + np.cumsum((values - means) ** 2)) / (t + 1)
    before = np.concatenate([[0.25], spread[:-1]])  # a bet knows what came before it, and no more
    bets = np.minimum(np.sqrt(2 * math.log(1 / alpha) / (before * t * np.log1p(t))), _MOST / mean)
    return float(np.exp(np.max(np.cumsum(np.log1p(bets * weights * (values - mean))), initial=0.0)))


# --- Where may a mean difference lie? The bootstrap of its t statistic, over items or over whole clusters

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
    places = numbered(clusters)
    member = np.zeros((len(places), int(places.max(initial=-1)) + 1))
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
        draws, seed: B resamples, the same for every metric.

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


# --- What may items do that were not seen? Bounds from the share that a sample can miss, and the most that each can
#     lose
# Items are drawn whole, or in clusters: of those a `weight` says how large a missed one may be, in mean sizes.

# Chances that a sample has none of those that lose all; the share of these follows.
_MISSED = np.geomspace(1, 1e-3, 200)
_TWICE = 2  # the largest loss that was seen, at most: docs/studies/gate.md


def worst_case_bound(
    losing: int, n: int, largest: float, alpha: float = 0.05, *, common: float = 0.0, weight: float = 1.0
) -> float:
    """A lower bound of the mean difference that holds whatever the losses are: each is taken as the largest possible.

    Args:
        losing: items, or clusters, whose difference is below the common one.
        n: all of them.
        largest: the largest loss that the scale of the scores allows, above 0.
        alpha: the chance that the bound is too high.
        common: the difference that the others have at least.
        weight: the size of the largest cluster, in mean sizes.

    Returns:
        With q, the upper Clopper-Pearson bound of the share of losing items: (1 - q) common - q largest.
    """
    share = _weighed(clopper_pearson(losing, n, 1 - 2 * alpha)[1], weight)
    return common - share * (largest + common)


def worst_case_p(
    losing: int, n: int, largest: float, value: float, *, common: float = 0.0, weight: float = 1.0
) -> float:
    """The p-value of the claim that the true mean is above a value, in accord with `worst_case_bound`.

    Args:
        losing, n, largest, common, weight: as there.
        value: the claimed bound; from `common` on nothing is shown.
    """
    from scipy import special

    share = _unweighed(value, largest, common, weight)
    if share <= 0:
        return 1.0
    return 0.0 if share >= 1 else float(special.bdtr(losing, n, share))


def items_without_loss(largest: float, allow: float, alpha: float = 0.05, weight: float = 1.0) -> int | None:
    """How many items without a loss show by the worst case that no more than `allow` is lost; None for no number."""
    share = _unweighed(-allow, largest, 0.0, weight)
    if share <= 0:
        return None
    return 1 if share >= 1 else math.ceil(math.log(alpha) / math.log1p(-share))


def believed_loss(values: Array) -> Array:
    """The loss that an item may have where no limit is known, from the tail of those that were seen.

    What noise does it does on both sides. Where losses reach farther than gains, they may reach farther still, and the
    largest loss is believed to be as many times as large, twice at most.

    Args:
        values: differences, shape (..., n).
    """
    loss, gain = np.maximum(-values.min(axis=-1), 0.0), np.maximum(values.max(axis=-1), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(loss * np.clip(np.nan_to_num(loss / gain, nan=1.0), 1, _TWICE))


def unseen_bound(mean: Array, error: Array, n: int, largest: Array, alpha: float = 0.05, weight: float = 1.0) -> Array:
    """A lower bound of a mean difference that reckons with losses too rare to be in the sample.

    Say a share p loses the most, and the others have a mean of m. That a sample has none of the former has the chance
    (1 - p)^n, and that its mean is then so far above m follows from Student's t. Of all p and m for which both together
    come out with `alpha` the worst is the bound. Without spread it is that of the worst case; where the spread is large
    beside largest / sqrt(n), it is Student's.

    Args:
        mean, error: means of samples and their standard errors, of any shape.
        n: items, or clusters, of each sample.
        largest: the loss of a missed item, of the same shape.
        alpha, weight: as in `worst_case_bound`.
    """
    from scipy import special

    missed = _MISSED[alpha < _MISSED]
    reach = -special.stdtrit(n - 1, alpha / missed) if n > 1 else np.zeros(len(missed))
    p = 1 - missed ** (1 / n)
    shape = (-1,) + (1,) * np.ndim(mean)
    p, reach = p.reshape(shape), reach.reshape(shape)
    rest = (1 - p) * (mean - error * reach)
    return np.asarray(((rest - p * weight * largest) / (1 - p + p * weight)).min(axis=0))


def unseen_p(mean: float, error: float, n: int, largest: float, value: float, weight: float = 1.0) -> float:
    """The p-value of the claim that the true mean is above a value, in accord with `unseen_bound`."""
    from scipy import special

    p = 1 - _MISSED ** (1 / n)
    rest = (value * (1 - p + p * weight) + p * weight * largest) / (1 - p)
    if not error > 0:
        return float((_MISSED * (rest >= mean)).max())
    return float((_MISSED * special.stdtr(n - 1, (rest - mean) / error)).max())


def _weighed(share: float, weight: float) -> float:
    """The share of items in a share of clusters."""
    return share * weight / (1 - share + share * weight)


def _unweighed(value: float, largest: float, common: float, weight: float) -> float:
    """The share of clusters that must lose all for the mean to be a value."""
    share = (common - value) / (largest + common) if largest + common > 0 else 0.0
    return share / (share + weight * (1 - share)) if 0 < share < 1 else share


# --- How far may a pass rate have moved? Tango's score interval for paired rates

_TANGO_HALVINGS = 60  # of the interval from -1 to 1: to the last digit


def tango_bounds(gains: npt.ArrayLike, losses: npt.ArrayLike, n: npt.ArrayLike, z: float) -> tuple[Array, Array]:
    """The differences at which the score statistic is z and -z; arrays of any shape that go together.

    Args:
        gains: items that only the new system passes; halves are allowed.
        losses: items that only the old system passes.
        n: all items.
        z: a normal quantile above 0; with that of .975 they are the ends of Tango's 95 % interval.

    References:
        Tango (1998), "Equivalence Test and Confidence Interval for the Difference in Proportions for the Paired-Sample
        Design", Statistics in Medicine 17.
    """
    b, c, items = np.broadcast_arrays(*(np.asarray(one, dtype=np.float64) for one in (gains, losses, n)))
    ends = []
    for aim in (z, -z):
        inside, outside = np.full(b.shape, -1.0), np.full(b.shape, 1.0)  # the statistic falls as the difference rises
        for _ in range(_TANGO_HALVINGS):
            middle = (inside + outside) / 2
            above = tango_statistic(b, c, items, middle) > aim
            inside, outside = np.where(above, middle, inside), np.where(above, outside, middle)
        ends.append((inside + outside) / 2)
    return ends[0], ends[1]


def tango_statistic(gains: npt.ArrayLike, losses: npt.ArrayLike, n: npt.ArrayLike, difference: npt.ArrayLike) -> Array:
    """The score statistic of a hypothetical difference; it is standard normal where this is the true one.

    It is above 0 if the difference that was seen is larger. At difference 0 it is the root of McNemar's statistic.

    Args:
        gains, losses, n: as in `tango_bounds`, of any shape.
        difference: the hypothetical difference of rates, in [-1, 1].
    """
    b, c, items, d = (np.asarray(one, dtype=np.float64) for one in (gains, losses, n, difference))
    linear = -b - c + (2 * items - b + c) * d
    root = np.sqrt(np.maximum(linear**2 + 8 * items * c * d * (1 - d), 0.0))
    only_old = (root - linear) / (4 * items)  # the likeliest share of losses if the difference were d
    spread = items * (2 * only_old + d * (1 - d))
    apart = b - c - items * d
    with np.errstate(divide="ignore", invalid="ignore"):
        z = apart / np.sqrt(np.maximum(spread, 0.0))
    return np.where(np.isnan(z), 0.0, z)  # nothing seen, and nothing expected
