"""How closely do two scores agree? Coefficients along the last axis, for any number of pairs of vectors at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.entries import check_vectors
from nlgauge.stats.correlation.pairs import PairCounts, pair_counts

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
    if not np.isin(z, (0, 1)).all():
        raise InputError(
            f"auc takes classes 0 and 1, got {z[~np.isin(z, (0, 1))].flat[0]:g}; give a threshold of your own to make"
            " two classes"
        )
    positives = z.sum(axis=-1)
    wins = (average_ranks(x) * z).sum(axis=-1) - positives * (positives + 1) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        area = wins / (positives * (z.shape[-1] - positives))
    return np.where(np.isnan(x).any(axis=-1), np.nan, area)


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
