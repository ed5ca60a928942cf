"""Which values are equal but for rounding? Scores and judgements, brought to one grid before they are ordered."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Counts
from nlgauge.core.errors import InputError
from nlgauge.stats.entries import Entries, Ratio, by_group, check_vectors, mean_of_groups, pool

_DIGITS = 12  # of the largest value; sums and differences of float64 differ from the 15th on
FARTHEST = 300  # decimals: beyond them float64 holds no power of ten
_SLACK = 1e-13  # of the largest value: less than a tenth of a step, and more than a difference of two values is off


def decimals(values: Array) -> int:
    """How many decimals leave the largest of the values with 12 digits; negative for numbers above 10 ** 12."""
    known = np.abs(values[~np.isnan(values)])
    largest = float(known.max(initial=0.0))
    return 0 if largest == 0 else _DIGITS - 1 - int(np.floor(np.log10(largest)))


def settled(values: Array, places: int | None = None) -> Array:
    """The values with 12 digits of the largest, so that those which are equal on paper are equal in float64.

    0.1 + 0.2 and 0.3 differ in their last bit, and so do means that were added up in another order. Comparing with a
    tolerance would not do: a may then tie with b, and b with c, but a not with c. A decimal grid keeps ties whole, and
    values that were written with few digits stay what they are, at any scale by ten.

    Args:
        values: any shape; NaN stays NaN.
        places: the decimals to keep; None takes those of the values.
    """
    places = decimals(values) if places is None else places
    if abs(places) > FARTHEST:
        return values
    return np.asarray(np.round(values, places) + 0.0)  # + 0.0: no minus zero


def slack(values: Array) -> npt.NDArray[np.float64]:
    """How far a difference of two values may be from what it is on paper, along the last axis; shape (...).

    NaN, a value that is missing, is passed over.
    """
    return np.asarray(_SLACK * np.abs(values).max(axis=-1, initial=0.0, where=~np.isnan(values)))


# --- How do two scores order the pairs of entries? Concordant, discordant and tied pairs, for many vectors at once

Signs = npt.NDArray[np.int8]

_CELLS = 1 << 22  # entries held at once, with all their comparisons at one distance: some tens of megabytes
_SMALL = 200  # up to this many entries it is quicker to compare all pairs than to sort


@dataclass(frozen=True)
class PairCounts:
    """Pairs of entries by how two scores x and z order them; every field has the leading shape of the vectors.

    Attributes:
        concordant: pairs that both order the same way.
        discordant: pairs that they order in opposite ways.
        tied_x: pairs tied in x only.
        tied_z: pairs tied in z only.
        tied_both: pairs tied in both.
    """

    concordant: Counts
    discordant: Counts
    tied_x: Counts
    tied_z: Counts
    tied_both: Counts

    @property
    def net(self) -> Counts:
        """Concordant minus discordant pairs."""
        return self.concordant - self.discordant

    @property
    def total(self) -> Counts:
        """All pairs, n (n - 1) / 2."""
        return self.concordant + self.discordant + self.tied_x + self.tied_z + self.tied_both

    @property
    def untied_x(self) -> Counts:
        """Pairs that x orders."""
        return self.concordant + self.discordant + self.tied_z

    @property
    def untied_z(self) -> Counts:
        """Pairs that z orders."""
        return self.concordant + self.discordant + self.tied_x


def pair_counts(
    x: Array, z: Array, *, epsilon: float | Array = 0.0, human_epsilon: float = 0.0, exact: bool = False
) -> PairCounts:
    """Count the pairs within each vector along the last axis; -0.0 ties with 0.0.

    Args:
        x: scores, shape (..., n), without NaN.
        z: judgements, shape (..., n), without NaN; leading axes broadcast against those of x.
        epsilon: entries of x that differ by at most this are tied; a number, or an array for the leading axes.
        human_epsilon: the same for z, a number.
        exact: compare differences with an epsilon as float64 holds them, where 0.4 - 0.3 is a little more than 0.1.

    Raises:
        InputError: lengths are unequal, or an epsilon is negative.
    """
    x, z, near = check_vectors(x, z), check_vectors(z, x), np.asarray(epsilon, dtype=np.float64)
    if not (np.min(near, initial=0.0) >= 0 and human_epsilon >= 0):
        raise InputError(
            "epsilon is negative or NaN, expected the difference up to which two scores are tied, 0 or more"
        )
    lead = np.broadcast_shapes(x.shape[:-1], z.shape[:-1], near.shape)
    rank, n = len(lead), x.shape[-1]
    x, z = (v.reshape((1,) * (rank + 1 - v.ndim) + v.shape) for v in (x, z))
    near = near.reshape((1,) * (rank - near.ndim) + near.shape)
    if rank and lead[0] > 1 and int(np.prod(lead)) * n > _CELLS:
        half = lead[0] // 2
        sides = ([v[part] if len(v) > 1 else v for v in (x, z, near)] for part in (slice(half), slice(half, None)))
        found = [pair_counts(a, b, epsilon=e, human_epsilon=human_epsilon, exact=exact) for a, b, e in sides]
        return PairCounts(
            *(np.concatenate([getattr(f, field) for f in found]) for field in PairCounts.__dataclass_fields__)
        )
    if n > _SMALL and not near.any() and human_epsilon == 0:
        return _by_sorting(np.broadcast_to(x, (*lead, n)), np.broadcast_to(z, (*lead, n)))
    human_near: float | Array = human_epsilon
    if not exact:
        near = near + slack(x) * (near > 0)
        human_near = human_epsilon + slack(z) if human_epsilon > 0 else 0.0
    return _by_comparing(x, z, near, human_near, lead)


def inversions(v: npt.NDArray[Any]) -> Counts:
    """How many pairs along the last axis are in falling order, shape (...), by a merge sort of all vectors at once."""
    lead, n = v.shape[:-1], v.shape[-1]
    width = 1
    runs = np.full((*lead, 1 << max(n - 1, 0).bit_length()), v.max(initial=0), dtype=v.dtype)
    runs[..., :n] = v  # padded at the end by a largest value: no new pair falls
    found = np.zeros(lead, dtype=np.int64)
    while width < runs.shape[-1]:
        halves = runs.reshape(*lead, -1, 2 * width)
        order = np.argsort(halves, axis=-1, kind="stable")  # equal values keep the left one first
        # An entry of the left half moves back by one place for every entry of the right half below it.
        places = np.where(order < width, np.arange(2 * width), 0).sum(axis=(-1, -2))
        found += places - halves.shape[-2] * (width * (width - 1) // 2)
        runs = np.take_along_axis(halves, order, axis=-1).reshape(runs.shape)
        width *= 2
    return found


def tied_pairs(ordered: npt.NDArray[Any]) -> Counts:
    """Pairs of equal neighbours in runs of True, shape (...,).

    `ordered` says of each entry but the first whether it equals the one before.
    """
    n = ordered.shape[-1] + 1
    position = np.arange(1, n)
    start = np.maximum.accumulate(np.where(ordered, 0, position), axis=-1)  # where the run of each entry began
    return np.asarray((position - start).sum(axis=-1), dtype=np.int64)


def _by_comparing(x: Array, z: Array, near: Array, human_near: float | Array, lead: tuple[int, ...]) -> PairCounts:
    """All pairs at distance 1, then 2, ...: the axis of entries comes first, so one comparison serves many vectors."""
    n = x.shape[-1]
    x, z = (np.ascontiguousarray(np.moveaxis(v, -1, 0)) for v in (x, z))
    net, both, untied_x, untied_z = (np.zeros(lead, np.int64) for _ in range(4))
    for step in range(1, n):
        sx, sz = _signs(x[step:], x[:-step], near), _signs(z[step:], z[:-step], human_near)
        product = sx * sz
        net += _sum(product)
        both += _sum(product & 1)  # -1 & 1 is 1
        untied_x += _sum(sx & 1)
        untied_z += _sum(sz & 1)
    concordant = (both + net) // 2
    tied_both = n * (n - 1) // 2 - untied_x - untied_z + both
    return PairCounts(concordant, both - concordant, untied_z - both, untied_x - both, tied_both)


def _signs(a: Array, b: Array, near: Any) -> Signs:
    if not np.any(near):
        above, below = a > b, a < b
    else:
        gap = a - b
        above, below = gap > near, gap < -near
    return above.view(np.int8) - below.view(np.int8)


def _sum(signs: Signs) -> npt.NDArray[Any]:
    # up to 127 ones fit into a byte, and bytes are added fastest
    return np.asarray(np.add.reduce(signs, axis=0, dtype=np.int8 if len(signs) <= 127 else np.int64))


def _by_sorting(x: Array, z: Array) -> PairCounts:
    """Knight's method: sort by x, then by z; a pair that is then out of order in z is discordant.

    Ties in x are in order, so they are not counted.
    """
    n = x.shape[-1]
    order = np.lexsort((z, x), axis=-1)
    x, z = np.take_along_axis(x, order, axis=-1), np.take_along_axis(z, order, axis=-1)
    same_x, z_sorted = x[..., 1:] == x[..., :-1], np.sort(z, axis=-1)
    in_x = tied_pairs(same_x)
    in_z = tied_pairs(z_sorted[..., 1:] == z_sorted[..., :-1])
    in_both = tied_pairs(same_x & (z[..., 1:] == z[..., :-1]))
    discordant = inversions(z)
    concordant = n * (n - 1) // 2 - in_x - in_z + in_both - discordant
    return PairCounts(concordant, discordant, in_x - in_both, in_z - in_both, in_both)


# --- How closely do two scores agree? Coefficients along the last axis, for any number of pairs of vectors at once

_ROUNDING = 8 * float(
    np.finfo(np.float64).eps
)  # a vector that spreads less, relative to its size, is a constant that was computed


def pearson(x: Array, z: Array) -> Array:
    """Pearson's r.

    Args:
        x: shape (..., n).
        z: shape (..., n); leading axes broadcast.

    Returns:
        Shape (...), in [-1, 1]; NaN where a side is constant (up to rounding), n < 2, or a NaN is among the entries.
    """
    x, z = check_vectors(x, z), check_vectors(z, x)
    n = x.shape[-1]
    if n < 2:
        return _nothing(x, z)
    dx, dz = _centred(x), _centred(z)
    cross = np.einsum("...i,...i->...", dx, dz)
    if n == 2:
        r = np.sign(cross)  # two points lie on a line; rounding must not take that away
    else:
        spread = np.sqrt(np.einsum("...i,...i->...", dx, dx) * np.einsum("...i,...i->...", dz, dz))
        with np.errstate(invalid="ignore", divide="ignore"):
            r = np.clip(cross / spread, -1, 1)
    return _where_defined(r, x, z)


def spearman(x: Array, z: Array) -> Array:
    """Spearman's rho: Pearson's r of ranks; equal values share their mean rank. Shapes and NaN are as in `pearson`."""
    x, z = check_vectors(x, z), check_vectors(z, x)
    if x.shape[-1] < 2:
        return _nothing(x, z)
    return _where_defined(pearson(average_ranks(x), average_ranks(z)), x, z)


def kendall_b(x: Array, z: Array) -> Array:
    """Kendall's tau-b, (C - D) / sqrt((pairs not tied in x)(pairs not tied in z)); shapes and NaN as in `pearson`."""
    counts = pair_counts(x, z)
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = counts.net / np.sqrt(counts.untied_x.astype(np.float64) * counts.untied_z)
    return _where_defined(np.clip(tau, -1, 1), x, z)


def kendall_c(x: Array, z: Array) -> Array:
    """Kendall's (Stuart's) tau-c: 2 (C - D) / (n^2 (k - 1) / k), where k is the smaller number of distinct values.

    Shapes and NaN are as in `pearson`. It reaches 1 only where both sides have k values, each equally often.
    """
    counts = pair_counts(x, z)
    n = np.shape(x)[-1]
    k = np.minimum(_distinct(x), _distinct(z))
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = 2 * counts.net / (n * n * (k - 1) / k)
    return _where_defined(np.asarray(tau), x, z)


def acc_eq(
    x: Array, z: Array, *, epsilon: float | Array = 0.0, human_epsilon: float = 0.0, exact: bool = False
) -> Array:
    """Pairwise accuracy with ties: the share of pairs that both sides order the same way or both tie.

    Args:
        x: scores, shape (..., n).
        z: judgements, shape (..., n).
        epsilon: scores that differ by at most this are tied; a number, or an array for the leading axes.
        human_epsilon: the same for judgements.
        exact: see `pair_counts`.

    Returns:
        Shape (...), in [0, 1]; NaN where n < 2 or a NaN is among the entries.

    References:
        Deutsch, Foster and Freitag (2023), "Ties Matter", section 4 (acc_eq).
    """
    counts = pair_counts(x, z, epsilon=epsilon, human_epsilon=human_epsilon, exact=exact)
    return _blank(agreeing_share(counts), x, z)


def tau_eq(x: Array, z: Array, *, epsilon: float | Array = 0.0, human_epsilon: float = 0.0) -> Array:
    """Kendall's tau in which ties count as an order of their own: 2 acc_eq - 1, in [-1, 1].

    Arguments and NaN are as in `acc_eq`.
    """
    return 2 * acc_eq(x, z, epsilon=epsilon, human_epsilon=human_epsilon) - 1


def auc(x: Array, z: Array) -> Array:
    """Area under the ROC curve: the probability that a positive scores higher than a negative; a tie counts half.

    Args:
        x: scores, shape (..., n).
        z: 1 for a positive, 0 for a negative, shape (..., n); leading axes broadcast.

    Returns:
        Shape (...), in [0, 1]; NaN where only one class is present.

    Raises:
        InputError: a class is neither 0 nor 1.
    """
    x, z = check_vectors(x, z), check_vectors(z, x)
    _check_classes(z, "auc")
    positives = z.sum(axis=-1)
    wins = (average_ranks(x) * z).sum(axis=-1) - positives * (positives + 1) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        area = wins / (positives * (z.shape[-1] - positives))
    return np.where(np.isnan(x).any(axis=-1), np.nan, area)


# --- Binary labels: does a score tell 1 from 0 at a threshold? Balanced accuracy, F1 and Matthews' coefficient

Confusion = tuple[Array, Array, Array, Array]  # true and false positives, false and true negatives
_SAME_VALUE = 1e-12  # values that are equal on paper differ by less


def balanced_accuracy(x: Array, z: Array, *, threshold: float | Array = 0.0) -> Array:
    """The mean of the shares of positives and of negatives that are told right.

    Args:
        x: scores, shape (..., n); a positive is told where the score is at the threshold or above.
        z: 1 for a positive, 0 for a negative, shape (..., n); leading axes broadcast.
        threshold: one number, or one per metric, shape (M, 1) for x of shape (M, g, n).

    Returns:
        Shape (...), in [0, 1]; NaN where only one class is present, or a score is NaN.

    Raises:
        InputError: a class is neither 0 nor 1.
    """
    return _of_classes(x, z, threshold, balanced_accuracy)


def f1(x: Array, z: Array, *, threshold: float | Array = 0.0) -> Array:
    """Precision and recall of positives, as their harmonic mean; arguments and NaN as in `balanced_accuracy`."""
    return _of_classes(x, z, threshold, f1)


def mcc(x: Array, z: Array, *, threshold: float | Array = 0.0) -> Array:
    """Matthews' correlation: Pearson's r of both classes, in [-1, 1]; 0 where all are told to be of one class.

    Arguments and NaN are as in `balanced_accuracy`.

    References:
        Matthews (1975), "Comparison of the predicted and observed secondary structure of T4 phage lysozyme".
    """
    return _of_classes(x, z, threshold, mcc)


def best_threshold(x: Array, z: Array, statistic: Callable[..., Array]) -> float:
    """The threshold at which a statistic of binary labels is highest, the lowest of several as good.

    Thresholds lie halfway between two neighbouring scores, and below the lowest, where all are positives.

    Args:
        x: scores, shape (n,), without NaN; those that are equal on paper must be equal.
        z: 1 or 0, shape (n,).
        statistic: `balanced_accuracy`, `f1` or `mcc`.

    Returns:
        The threshold; -inf below the lowest score, NaN where only one class is present.
    """
    if not 0 < z.sum() < len(z):
        return math.nan
    scores, place = np.unique(x, return_inverse=True)
    positives = np.bincount(place, weights=z)  # at each score
    below = np.concatenate([np.zeros((2, 1)), np.cumsum([positives, np.bincount(place) - positives], axis=1)], axis=1)
    missed, rejected = below[:, :-1]
    values = _FORMULAS[statistic](z.sum() - missed, len(z) - z.sum() - rejected, missed, rejected)
    at = int(np.flatnonzero(values >= values.max() - _SAME_VALUE)[0])
    if at == 0:
        return -math.inf
    middle = float(scores[at - 1] / 2 + scores[at] / 2)
    return middle if middle > scores[at - 1] else float(scores[at])


def _of_classes(x: Array, z: Array, threshold: float | Array, statistic: Callable[..., Array]) -> Array:
    x, z = check_vectors(x, z), check_vectors(z, x)
    _check_classes(z, statistic.__name__)
    cut = np.asarray(threshold, dtype=np.float64)
    told = x >= (cut[..., None] if cut.ndim else cut)
    found = ((told & (z == 1)), told & (z == 0), ~told & (z == 1), ~told & (z == 0))
    values = _FORMULAS[statistic](*(np.asarray(one.sum(axis=-1), dtype=np.float64) for one in found))
    one_class = (z.min(axis=-1, initial=1) == z.max(axis=-1, initial=0)) | (z.shape[-1] == 0)
    return np.asarray(np.where(np.isnan(x).any(axis=-1) | one_class, np.nan, values))


def _balanced(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
    return (tp / np.maximum(tp + fn, 1) + tn / np.maximum(tn + fp, 1)) / 2


def _f1(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
    return 2 * tp / np.maximum(2 * tp + fp + fn, 1)


def _mcc(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
    # two roots, and no product of four counts, which would lose digits
    size = np.sqrt((tp + fp) * (tp + fn)) * np.sqrt((tn + fp) * (tn + fn))
    return np.where(size > 0, (tp * tn - fp * fn) / np.where(size > 0, size, 1.0), 0.0)


_FORMULAS: dict[Callable[..., Array], Callable[..., Array]] = {
    balanced_accuracy: _balanced, f1: _f1, mcc: _mcc
}  # fmt: skip


def _check_classes(z: Array, name: str) -> None:
    strange = z[~np.isin(z, (0, 1))]
    if strange.size:
        raise InputError(
            f"{name} takes classes 0 and 1, got {strange.flat[0]:g}; make two classes of the ratings in the data"
        )


def agreeing_share(counts: PairCounts) -> Array:
    """(C + tied in both) / all pairs; NaN where there is no pair."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((counts.concordant + counts.tied_both) / counts.total)


def is_constant(v: Array) -> npt.NDArray[np.bool_]:
    """Which vectors along the last axis hold only one value, up to rounding errors of its computation; shape (...)."""
    v = np.asarray(v, dtype=np.float64)
    if v.shape[-1] == 0:
        return np.ones(v.shape[:-1], dtype=np.bool_)
    high, low = v.max(axis=-1), v.min(axis=-1)
    # halves: the distance of two large numbers may overflow
    return np.asarray(high / 2 - low / 2 <= _ROUNDING / 2 * np.maximum(np.abs(high), np.abs(low)))


def average_ranks(v: Array) -> Array:
    """Ranks from 1 along the last axis, shape (..., n). Equal values share their mean rank; NaN is not allowed."""
    v = np.asarray(v, dtype=np.float64)
    n = v.shape[-1]
    order = np.argsort(v, axis=-1)
    ordered = np.take_along_axis(v, order, axis=-1)
    position = np.arange(n)
    new = np.ones(v.shape, dtype=np.bool_)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    last = np.ones(v.shape, dtype=np.bool_)
    last[..., :-1] = new[..., 1:]
    first_place = np.maximum.accumulate(np.where(new, position, 0), axis=-1)
    last_place = np.flip(np.minimum.accumulate(np.flip(np.where(last, position, n), axis=-1), axis=-1), axis=-1)
    ranks = np.empty(v.shape)
    np.put_along_axis(ranks, order, (first_place + last_place) / 2 + 1, axis=-1)
    return ranks


def _centred(v: Array) -> Array:
    """Deviations from the mean, scaled to at most 1; thus neither an offset of 1e9 nor values of 1e200 cost digits."""
    d = v - v[..., :1]  # exact where the spread is small beside the offset
    d -= d.mean(axis=-1, keepdims=True)
    size = np.abs(d).max(axis=-1, keepdims=True)
    d /= np.where(size > 0, size, 1)
    d -= d.mean(axis=-1, keepdims=True)
    return d


def _distinct(v: Array) -> npt.NDArray[np.int64]:
    ordered = np.sort(np.asarray(v, dtype=np.float64), axis=-1)
    return np.asarray((ordered[..., 1:] != ordered[..., :-1]).sum(axis=-1) + 1)


def _where_defined(value: Array, x: Array, z: Array) -> Array:
    """The value, or NaN where a side is constant or holds a NaN."""
    constant = is_constant(x) | is_constant(z)
    return _blank(np.where(constant, np.nan, value), x, z)


def _blank(value: Array, x: Array, z: Array) -> Array:
    return np.where(np.isnan(x).any(axis=-1) | np.isnan(z).any(axis=-1), np.nan, value)


def _nothing(x: Array, z: Array) -> Array:
    return np.full(np.broadcast_shapes(x.shape[:-1], z.shape[:-1]), np.nan)


# --- What value would a metric reach that knows nothing? Below this level a number means nothing


def human_ties(x: Array, z: Array, *, human_epsilon: float = 0.0) -> Ratio:
    """The share of pairs that people tie, as a ratio of the shape that x and z broadcast to; x itself is not used."""
    counts = pair_counts(z, z, epsilon=human_epsilon, human_epsilon=human_epsilon)
    lead = np.broadcast_shapes(x.shape[:-1], z.shape[:-1])
    tied, total = (np.broadcast_to(np.asarray(c, dtype=np.float64), lead) for c in (counts.tied_both, counts.total))
    return Ratio(tied, total, tied)


def chance_acc_eq(tied: Array) -> Array:
    """acc_eq of random scores without ties: (1 - t) / 2 if people tie a share t of the pairs.

    Such scores are right on half of the pairs that people order.
    """
    return (1 - np.asarray(tied)) / 2


def chance_acc_eq_calibrated(tied: Array) -> Array:
    """A lower bound on what calibration gives random scores.

    It is the better of two extremes: no ties, (1 - t) / 2, and nothing but ties, t.
    """
    return np.maximum(chance_acc_eq(tied), tied)


def chance_soft_pairwise(human_p: Array) -> Array:
    """Soft pairwise accuracy of p-values drawn uniformly from [0, 1]: the mean of 1 - (p^2 + (1 - p)^2) / 2.

    It lies between 1/2 and 3/4; NaN without a pair.
    """
    p = np.asarray(human_p)[..., *np.triu_indices(np.shape(human_p)[-1], 1)]
    defined = ~np.isnan(p)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(defined, 1 - (p**2 + (1 - p) ** 2) / 2, 0.0).sum(axis=-1) / np.sum(defined, axis=-1))


def chance_preference(tied: Array, ties: str = "loss") -> Array:
    """Preference accuracy of guesses where a share of pairs is tied; less than one half if a tie is a loss."""
    tied = np.asarray(tied)
    return (1 - tied) / 2 if ties in ("loss", "zero") else np.full(tied.shape, 0.5)


def tied_by_people(entries: Entries, averaging: str, human_epsilon: float = 0.0) -> Array:
    """The share of pairs that people tie, for each metric, averaged as the statistic is; shape (M,).

    Metrics may differ in the entries that count for them, and so in this share.
    """
    grouped = by_group(human_ties, entries, options={"human_epsilon": human_epsilon})
    if averaging == "micro" and grouped.counts is not None:
        return pool(grouped.counts).values
    return mean_of_groups(grouped).values
