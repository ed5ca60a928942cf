"""Text that is not in a model's vocabulary: how much of it is flagged, and what becomes of the score."""

from __future__ import annotations

import numpy as np

from nlgauge.core.arrays import Array, Mask

# Of 39,645 English texts of evaluation sets 0.02 % are above it with the embedded encoder; Chinese ones have 0.65.
LIMIT = 0.1


def unknown(shares: Array) -> Mask:
    """The flag `unknown`: where the share of unknown pieces in a text of the segment is above the limit."""
    return np.asarray(shares > LIMIT, dtype=np.bool_)


def known(values: Array, shares: Array) -> Array:
    """The values, NaN where no piece of a text is known: any two such texts of equal length look the same."""
    return np.asarray(np.where(shares < 1, values, np.nan))
