"""A coefficient of grids in groups: per item, per system, or of all cells, and the mean over what is defined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Counts
from nlgauge.core.errors import InputError, nearest
from nlgauge.stats.correlation.coefficients import kendall_b, pearson, spearman
from nlgauge.stats.grids import Averaging, in_groups

Coefficient = Callable[[Array, Array], Array]  # scores (..., n) and judgements (..., n) to (...)
Statistic = Literal["pearson", "spearman", "kendall_b"]

NAMED: dict[str, Coefficient] = {"pearson": pearson, "spearman": spearman, "kendall_b": kendall_b}


@dataclass(frozen=True)
class Bucket:
    """Groups with the same number of judged cells.

    Attributes:
        groups: which groups, shape (g,).
        cells: their cells in the flattened grid, shape (g, n).
        human: their judgements, shape (g, n).
    """

    groups: npt.NDArray[np.intp]
    cells: npt.NDArray[np.intp]
    human: Array


def buckets(human: Array, averaging: Averaging) -> list[Bucket]:
    """The groups of a grid of judgements (S, N) that hold two or more, by their size."""
    judged = in_groups(~np.isnan(human), averaging)  # (groups, cells)
    cell = in_groups(np.arange(human.size).reshape(human.shape), averaging)
    sizes = judged.sum(axis=1)
    found = []
    for size in np.unique(sizes[sizes >= 2]):
        groups = np.flatnonzero(sizes == size)
        cells = cell[groups][judged[groups]].reshape(len(groups), size)
        found.append(Bucket(groups, cells, human.ravel()[cells]))
    return found


def some(found: list[Bucket], wanted: npt.NDArray[np.bool_]) -> list[Bucket]:
    """The same buckets with only the wanted groups; `wanted` has one entry per group of the grid."""
    kept = [(bucket, wanted[bucket.groups]) for bucket in found]
    return [Bucket(b.groups[k], b.cells[k], b.human[k]) for b, k in kept if k.any()]


def by_groups(coefficient: Coefficient, found: list[Bucket], flat: Array, n_groups: int) -> Array:
    """The coefficient of every group, shape (..., groups), for grids flattened to (..., S N); NaN where undefined."""
    values = np.full((*flat.shape[:-1], n_groups), np.nan)
    for bucket in found:
        values[..., bucket.groups] = coefficient(flat[..., bucket.cells], bucket.human)
    return values


def values_by_group(coefficient: Coefficient, human: Array, z: Array, averaging: Averaging) -> Array:
    """The coefficient of every group of grids of scores, shape (M, S, N) to (M, groups); NaN where undefined."""
    flat = z.reshape(len(z), -1)
    return by_groups(coefficient, buckets(human, averaging), flat, group_count(human, averaging))


def group_count(human: Array, averaging: Averaging) -> int:
    """How many groups a grid falls into."""
    return len(in_groups(human, averaging))


def means(values: Array) -> tuple[Array, Counts, Counts]:
    """Mean over the defined groups (last axis), how many there are, and how many are not; NaN where none is."""
    defined = ~np.isnan(values)
    used = defined.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(defined, values, 0.0).sum(axis=-1) / np.where(used > 0, used, np.nan)
    return np.asarray(mean), np.asarray(used), np.asarray((~defined).sum(axis=-1))


def coefficient_of(statistic: str | Coefficient) -> Coefficient:
    """The coefficient of a name; a callable is taken as it is."""
    if callable(statistic):
        return statistic
    if statistic not in NAMED:
        raise InputError(
            f"statistic is {statistic!r}, expected a callable or one of"
            f" {', '.join(NAMED)}{nearest(str(statistic), NAMED)}"
        )
    return NAMED[statistic]
