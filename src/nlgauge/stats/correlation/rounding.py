"""Which values are equal but for rounding? Scores and judgements, brought to one grid before they are ordered."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array

_DIGITS = 12  # of the largest value; sums and differences of float64 differ from the 15th on
FARTHEST = 300  # decimals: beyond them float64 holds no power of ten
_SLACK = 1e-13  # of the largest value: less than a tenth of a step, and more than a difference of two values is off


def decimals(values: Array) -> int:
    """How many decimals leave the largest of the values with 12 digits; negative for numbers above 10 ** 12."""
    known = np.abs(values[~np.isnan(values)])
    largest = float(known.max(initial=0.0))
    return 0 if largest == 0 else _DIGITS - 1 - int(np.floor(np.log10(largest)))


def settled(values: Array, places: int | None = None) -> Array:
    """The values with 12 digits of the largest, so that those which are equal on paper are equal in float64.

    0.1 + 0.2 and 0.3 differ in their last bit, and so do means that were added up in another order. Comparing with a
    tolerance would not do: a may then tie with b, and b with c, but a not with c. A decimal grid keeps ties whole, and
    values that were written with few digits stay what they are, at any scale by ten.

    Args:
        values: any shape; NaN stays NaN.
        places: the decimals to keep; None takes those of the values.
    """
    places = decimals(values) if places is None else places
    if abs(places) > FARTHEST:
        return values
    return np.asarray(np.round(values, places) + 0.0)  # + 0.0: no minus zero


def slack(values: Array) -> npt.NDArray[np.float64]:
    """How far a difference of two values may be from what it is on paper, along the last axis; shape (...).

    NaN, a value that is missing, is passed over.
    """
    return np.asarray(_SLACK * np.abs(values).max(axis=-1, initial=0.0, where=~np.isnan(values)))
