"""Colours that say which way and how far: white in the middle, blue below, brown above, equal steps looking equal."""

from __future__ import annotations

import math
from functools import lru_cache

from nlgauge.report.colours import from_oklch

_MIDDLE, _END = 0.985, 0.45  # lightness at 0 and at either end
_CHROMA = 0.12
_BELOW, _ABOVE = math.radians(255), math.radians(60)


@lru_cache(2048)
def signed(value: float) -> str:
    """The colour of a number in [-1, 1] as "#rrggbb"; what lies beyond has the colour of the end."""
    share = min(1.0, abs(value))
    return from_oklch(_MIDDLE + (_END - _MIDDLE) * share, _CHROMA * share, _BELOW if value < 0 else _ABOVE)
