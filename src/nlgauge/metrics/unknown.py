"""Flags of text beyond a model's vocabulary, and of numbers beyond the range of its precision."""

from __future__ import annotations

import numpy as np

from nlgauge.core.arrays import Array, Mask

# Of 39,645 English texts of evaluation sets 0.02 % are above it with the embedded encoder; Chinese ones have 0.65.
LIMIT = 0.1


def unknown(shares: Array) -> Mask:
    """The flag `unknown`: where the share of unknown pieces in a text of the segment is above the limit."""
    return np.asarray(shares > LIMIT, dtype=np.bool_)


def nonfinite(values: Array) -> Mask:
    """The flag `nonfinite`: where a model computed NaN or infinity, as float16 does beyond 65,504.

    Args:
        values: what comes out of the model, shape (n,), or (n, k) with several numbers per segment.
    """
    broken = ~np.isfinite(values)
    return np.asarray(broken.any(axis=1) if broken.ndim == 2 else broken, dtype=np.bool_)


def known(values: Array, shares: Array) -> Array:
    """The values, NaN where no piece of a text is known: any two such texts of equal length look the same.

    Infinity becomes NaN, too: a score is a number or undefined.
    """
    return np.asarray(np.where((shares < 1) & np.isfinite(values), values, np.nan))
