"""How far may a pass rate have moved? Tango's score interval for paired rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.draws import check_level

_HALVINGS = 60  # of the interval from -1 to 1: to the last digit


@dataclass(frozen=True)
class RateInterval:
    """The difference of two rates on the same items.

    Attributes:
        delta: the new rate minus the old one, in [-1, 1].
        low, high: ends of the interval.
        level: the share of intervals that cover the true difference.
    """

    delta: float
    low: float
    high: float
    level: float


def tango_interval(gains: int, losses: int, n: int, *, level: float = 0.95) -> RateInterval:
    """Tango's two-sided interval for the difference of two pass rates on the same items.

    Args:
        gains: items that only the new system passes.
        losses: items that only the old system passes.
        n: all items.
        level: of the interval. Its ends are one-sided bounds of level (1 + level) / 2.

    Raises:
        InputError: there are more gains and losses than items, or none at all.

    References:
        Tango (1998), "Equivalence Test and Confidence Interval for the Difference in Proportions for the Paired-Sample
        Design", Statistics in Medicine 17.
    """
    from scipy import special

    check_level(level)
    if n < 1 or min(gains, losses) < 0 or gains + losses > n:
        raise InputError(f"{gains} gains and {losses} losses among {n} items, expected at most as many as items")
    z = float(special.ndtri((1 + level) / 2))
    low, high = tango_bounds(gains, losses, n, z)
    return RateInterval((gains - losses) / n, float(low), float(high), level)


def tango_bounds(gains: npt.ArrayLike, losses: npt.ArrayLike, n: npt.ArrayLike, z: float) -> tuple[Array, Array]:
    """The differences at which the score statistic is z and -z; arrays of any shape that go together.

    Args:
        gains, losses, n: as in `tango_interval`; halves are allowed.
        z: a normal quantile above 0.
    """
    b, c, items = np.broadcast_arrays(*(np.asarray(one, dtype=np.float64) for one in (gains, losses, n)))
    ends = []
    for aim in (z, -z):
        inside, outside = np.full(b.shape, -1.0), np.full(b.shape, 1.0)  # the statistic falls as the difference rises
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            above = tango_statistic(b, c, items, middle) > aim
            inside, outside = np.where(above, middle, inside), np.where(above, outside, middle)
        ends.append((inside + outside) / 2)
    return ends[0], ends[1]


def tango_statistic(gains: npt.ArrayLike, losses: npt.ArrayLike, n: npt.ArrayLike, difference: npt.ArrayLike) -> Array:
    """The score statistic of a hypothetical difference; it is standard normal where this is the true one.

    It is above 0 if the difference that was seen is larger. At difference 0 it is the root of McNemar's statistic.

    Args:
        gains, losses, n: as in `tango_interval`, of any shape.
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
