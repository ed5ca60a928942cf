"""What value would a metric reach that knows nothing? Below this level a number means nothing."""

from __future__ import annotations

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.stats.correlation.averaging import Ratio, by_group, mean_of_groups, pool
from nlgauge.stats.correlation.entries import Entries
from nlgauge.stats.correlation.pairs import pair_counts


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
