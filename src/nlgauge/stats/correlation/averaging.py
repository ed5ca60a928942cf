"""One coefficient from many groups: the mean of a coefficient per item or system, or one ratio of pooled counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.stats.correlation.entries import Codes, Entries


@dataclass(frozen=True)
class Ratio:
    """A statistic that is a ratio of counts, so that groups can be pooled; all fields have the same shape.

    Attributes:
        numerator: the pairs won, for an accuracy; the pairs won minus the pairs lost, for a Kendall-like statistic.
        denominator: the pairs counted.
        ties: the pairs that only one side ties, however they count.
    """

    numerator: Array
    denominator: Array
    ties: Array

    @property
    def value(self) -> Array:
        """The ratio; NaN where nothing is counted."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.numerator / self.denominator)


Kernel = Callable[..., Array | Ratio]


@dataclass(frozen=True)
class Grouped:
    """A statistic of M metrics in each of G groups.

    Attributes:
        values: the statistic, shape (M, G); NaN where undefined.
        sizes: how many entries count, shape (M, G).
        counts: the counts behind the values, where they are ratios; each field has shape (M, G).
    """

    values: Array
    sizes: npt.NDArray[np.int64]
    counts: Ratio | None


def by_group(kernel: Kernel, entries: Entries, *, smallest: int = 2, options: dict[str, Any] | None = None) -> Grouped:
    """Evaluate a kernel inside each group; groups of the same size are evaluated together.

    Args:
        kernel: maps x of shape (M, g, s) and z of shape (g, s) to values, or a `Ratio`, of shape (M, g).
        entries: scores, judgements and groups.
        smallest: groups with fewer entries are undefined.
        options: keyword arguments of the kernel; an array of shape (M, 1) holds one value per metric.
    """
    n_metrics, n_groups = len(entries.x), len(entries.labels)
    values, sizes = np.full((n_metrics, n_groups), np.nan), np.zeros((n_metrics, n_groups), dtype=np.int64)
    counts = np.zeros((3, n_metrics, n_groups))
    is_ratio = False
    for metrics, keep in same_entries(entries.keep):
        chosen = {k: v[metrics] if isinstance(v, np.ndarray) else v for k, v in (options or {}).items()}
        sizes[metrics] = np.bincount(entries.groups[keep], minlength=n_groups)
        x = entries.x if len(metrics) == n_metrics else entries.x[metrics]
        for groups, index in blocks_of_groups(entries.groups, keep, n_groups):
            if index.shape[1] < smallest:
                continue
            found = kernel(x[:, index], entries.z[index], **chosen)
            where = np.ix_(metrics, groups)
            if isinstance(found, Ratio):
                is_ratio = True
                values[where] = found.value
                counts[:, where[0], where[1]] = found.numerator, found.denominator, found.ties
            else:
                values[where] = found
    return Grouped(values, sizes, Ratio(*counts) if is_ratio else None)


@dataclass(frozen=True)
class Means:
    """The mean over groups of each of M metrics; every field has shape (M,).

    Attributes:
        values: the means; NaN where no group is defined.
        n_used: the number of groups in the mean.
        n_undefined: the number of groups left out: too small, constant on a side, or without a pair.
        n_zeroed: the number of groups in the mean that are undefined and count as 0.
    """

    values: Array
    n_used: npt.NDArray[np.int64]
    n_undefined: npt.NDArray[np.int64]
    n_zeroed: npt.NDArray[np.int64]


def mean_of_groups(grouped: Grouped, *, undefined: str = "skip", common: bool = False) -> Means:
    """The plain mean over the groups with a defined value.

    Args:
        grouped: values by group.
        undefined: `skip` leaves undefined groups out; `zero` counts those with two entries or more as 0.
        common: use only the groups in which every metric is defined, so that all means are over the same groups.
    """
    values = grouped.values
    zeroed = np.isnan(values) & (grouped.sizes >= 2) if undefined == "zero" else np.zeros(values.shape, dtype=np.bool_)
    used = ~np.isnan(values) | zeroed
    if common:
        used = np.broadcast_to(used.all(axis=0), used.shape)
    n_used = used.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(used & ~zeroed, values, 0.0).sum(axis=1) / n_used
    return Means(means, n_used, values.shape[1] - n_used, (used & zeroed).sum(axis=1))


def pool(counts: Ratio) -> Means:
    """One ratio over all groups: the sum of numerators divided by the sum of denominators.

    A group without a pair is undefined.
    """
    total = Ratio(counts.numerator.sum(axis=1), counts.denominator.sum(axis=1), counts.ties.sum(axis=1))
    n_used = (counts.denominator > 0).sum(axis=1)
    return Means(total.value, n_used, counts.denominator.shape[1] - n_used, np.zeros_like(n_used))


def blocks_of_groups(groups: Codes, keep: Mask, n_groups: int) -> Iterator[tuple[Codes, Codes]]:
    """Groups of the same size together: their codes, shape (g,), and the positions of their entries, shape (g, s).

    Groups without entries are left out.
    """
    kept = np.flatnonzero(keep)
    kept = kept[np.argsort(groups[kept], kind="stable")]
    sizes = np.bincount(groups[kept], minlength=n_groups)
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):
        chosen = np.flatnonzero(sizes == size)
        yield chosen, kept[starts[chosen][:, None] + np.arange(size)]


def same_entries(keep: Mask) -> Iterator[tuple[npt.NDArray[np.int64], Mask]]:
    """Metrics that keep the same entries, together: the numbers of the metrics and the mask that they share."""
    seen: dict[bytes, list[int]] = {}
    for m, row in enumerate(keep):
        seen.setdefault(row.tobytes(), []).append(m)
    for metrics in seen.values():
        yield np.array(metrics), keep[metrics[0]]
