"""Adjust p-values for the number of tests: among many tests, some p-values are small by chance."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option

Adjustment = Literal["none", "holm", "bh"]


def adjusted(p: Array, how: str) -> Array:
    """p-values of one family, adjusted for their number by `holm` or `bh` (Benjamini and Hochberg), or by `none`."""
    check_option("adjust", how, Adjustment, error=InputError)
    if how == "none":
        return p
    return holm(p) if how == "holm" else benjamini_hochberg(p)


def holm(p: Array) -> Array:
    """Holm's step-down adjustment. It keeps the probability of any false finding at alpha, however the tests depend.

    Args:
        p: p-values of one family, any shape; NaN (a test that was not made) stays NaN and does not count. One-sided
            tests in both directions of a pair are two tests: who takes the better direction has looked at both.

    Returns:
        Adjusted p-values in [0, 1], in the shape of p; each is at least as large as the original.

    References:
        Holm (1979), "A Simple Sequentially Rejective Multiple Test Procedure".
    """
    made, ordered, order = _sorted(p)
    n = len(ordered)
    return _restore(p, made, order, np.maximum.accumulate(ordered * (n - np.arange(n))))


def benjamini_hochberg(p: Array) -> Array:
    """Benjamini and Hochberg's adjustment.

    Of the tests with p <= alpha, on average at most a share alpha is false. This holds for independent tests and for
    positively dependent ones. Arguments and shape are as in `holm`.

    References:
        Benjamini and Hochberg (1995), "Controlling the False Discovery Rate".
    """
    made, ordered, order = _sorted(p)
    n = len(ordered)
    stepped = ordered * (n / np.arange(1, n + 1))
    return _restore(p, made, order, np.minimum.accumulate(stepped[::-1])[::-1])


def _sorted(p: Array) -> tuple[npt.NDArray[np.bool_], Array, npt.NDArray[np.intp]]:
    p = np.asarray(p, dtype=np.float64)
    made = ~np.isnan(p)
    values = p[made]
    if ((values < 0) | (values > 1)).any():
        raise InputError(f"a p-value is {values[(values < 0) | (values > 1)][0]}, expected 0 to 1")
    order = np.argsort(values, kind="stable")
    return made, values[order], order


def _restore(p: Array, made: npt.NDArray[np.bool_], order: npt.NDArray[np.intp], adjusted: Array) -> Array:
    back = np.empty(len(order))
    back[order] = np.minimum(adjusted, 1)
    out = np.full(np.shape(p), np.nan)
    out[made] = back
    return out
