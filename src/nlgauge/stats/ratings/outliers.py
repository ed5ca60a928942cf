"""Which systems are so far from the rest that they alone cause a correlation? Outliers by median absolute deviation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, by_value
from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.entries import numbers

_NORMAL = 1.4826  # the standard deviation of a normal distribution over its median absolute deviation


@by_value
@dataclass(frozen=True, kw_only=True)
class Outliers:
    """The values that lie far from the median.

    Attributes:
        far: which values are outliers, shape (S,).
        distances: distance from the median in robust standard deviations, shape (S,); NaN where there is no value, or
            no deviation.
        median: the median; NaN without a value.
        deviation: the robust standard deviation: 1.4826 times the median absolute deviation. It is 0 where half of the
            values are equal; then distances cannot be measured, and nothing is an outlier.
        threshold: distances above it are outliers.
        n_used: the number of values looked at.
        n_undefined: the number of missing values.
        n_kept: the number of values that are not outliers.
    """

    far: npt.NDArray[np.bool_]
    distances: Array
    median: float
    deviation: float
    threshold: float
    n_used: int
    n_undefined: int
    n_kept: int


def mad_outliers(z: Sequence[float | None] | Array, threshold: float = 2.5) -> Outliers:
    """Human system scores that lie more than `threshold` robust standard deviations from their median.

    Args:
        z: human scores of systems, shape (S,); None or NaN where a system has none.
        threshold: in robust standard deviations, above 0.

    Raises:
        InputError: not a vector, or a threshold that is not above 0.

    References:
        Mathur, Baldwin and Cohn (2020), "Tangled up in BLEU", section 4.1. Where half of the scores are equal the rule
        divides by 0, and code that follows it calls every other score an outlier; here none is.
    """
    values = numbers(z, "human scores")
    if values.ndim != 1:
        raise InputError(f"human scores have shape {values.shape}, expected one score per system")
    if not threshold > 0:
        raise InputError(f"threshold is {threshold}, expected robust standard deviations, above 0")
    known = ~np.isnan(values)
    if not known.any():
        nothing = np.full(len(values), np.nan)
        return Outliers(
            far=np.zeros(len(values), dtype=np.bool_),
            distances=nothing,
            median=np.nan,
            deviation=np.nan,
            threshold=threshold,
            n_used=0,
            n_undefined=len(values),
            n_kept=0,
        )
    median = float(np.median(values[known]))
    deviation = _NORMAL * float(np.median(np.abs(values[known] - median)))
    distances = np.abs(values - median) / deviation if deviation > 0 else np.full(len(values), np.nan)
    far = np.asarray(distances > threshold)
    return Outliers(
        far=far,
        distances=distances,
        median=median,
        deviation=deviation,
        threshold=threshold,
        n_used=int(known.sum()),
        n_undefined=int((~known).sum()),
        n_kept=int((known & ~far).sum()),
    )
