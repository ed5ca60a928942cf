"""Segments or systems? Means by system, and the entries that a statistic is computed from at either level."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.correlation.entries import Codes, Entries, FlatScores, NameOf, segment_entries, settle_missing

SystemScores = Literal["rated", "all"]

Missing = npt.NDArray[np.int64]


def settle_scores(
    laid: FlatScores, level: str, missing: str, over: str = "rated", name_of: NameOf = str
) -> tuple[Array, Mask]:
    """Scores after the policy for missing ones, and the segments that count for each metric, shape (M, n).

    Args:
        laid: scores and judgements as given.
        level: `segment`, or `system`, where `over` says which segments are needed.
        missing: see `settle_missing`.
        over: see `system_means`.
        name_of: the name of an entry by its position, for errors.
    """
    check_option("system_scores", over, SystemScores, error=InputError)
    everywhere = level == "system" and laid.systems is not None and over == "all"
    return settle_missing(
        laid.x, np.ones(len(laid.z), dtype=np.bool_) if everywhere else ~np.isnan(laid.z), missing, name_of
    )


def system_entries(laid: FlatScores, missing: str, over: str, name_of: NameOf = str) -> tuple[Entries, Missing]:
    """One entry per system and group: the mean over the segments of the system.

    Systems without a judgement or a score do not count.
    """
    if laid.systems is None:
        return segment_entries(laid, missing, name_of)
    x, keep = settle_scores(laid, "system", missing, over, name_of)
    places, of = np.unique(np.stack([laid.groups, laid.systems]), axis=1, return_inverse=True)
    of, n_systems = of.reshape(-1), places.shape[1]
    means, judged = system_means(
        np.stack([without_offset(row) for row in x]), without_offset(laid.z), keep, of, n_systems, over
    )
    kept = ~np.isnan(means) & ~np.isnan(judged)
    entries = Entries(means, judged, kept, places[0].astype(np.int64), laid.labels, np.arange(n_systems))
    return entries, keep.shape[1] - keep.sum(axis=1)


def system_means(
    x: Array, z: Array, keep: Mask, systems: Codes, n_systems: int, over: str = "rated"
) -> tuple[Array, Array]:
    """The mean score and the mean judgement of each system.

    Args:
        x: scores, shape (M, n).
        z: judgements, shape (n,), NaN where there is none.
        keep: entries whose score counts, shape (M, n).
        systems: system of each entry, shape (n,).
        n_systems: the number of systems, S.
        over: `rated` averages scores over the segments that have a judgement, `all` over all segments.

    Returns:
        Shapes (M, S) and (S,); NaN for a system with nothing to average.

    References:
        Deutsch, Dror and Roth (2022), "Re-Examining System-Level Correlations of Automatic Summarization Evaluation
        Metrics", for `all`.
    """
    check_option("system_scores", over, SystemScores, error=InputError)
    rated = ~np.isnan(z)
    counted = keep & rated if over == "rated" else keep
    return np.stack([_means(row, used, systems, n_systems) for row, used in zip(x, counted, strict=True)]), _means(
        z, rated, systems, n_systems
    )


def _means(values: Array, used: Mask, systems: Codes, n_systems: int) -> Array:
    counts = np.bincount(systems[used], minlength=n_systems)
    sums = np.bincount(systems[used], weights=values[used], minlength=n_systems)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums / counts)


def without_offset(v: Array) -> Array:
    """Values minus the lowest of them, where that is exact; NaN stays NaN.

    For example, means of 1e9 + 0.1 then lose no digits. The difference is exact for two numbers of one sign that lie
    within a factor of two. Other values keep their offset, which is not large.
    """
    if np.isnan(v).all():
        return v
    low, high = np.nanmin(v), np.nanmax(v)
    sizes = np.abs(low), np.abs(high)
    return v - low if np.sign(low) == np.sign(high) and max(sizes) <= 2 * min(sizes) else v
