"""How do two scores order the pairs of entries? Concordant, discordant and tied pairs, for many vectors at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Counts
from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.entries import check_vectors
from nlgauge.stats.correlation.rounding import slack

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
