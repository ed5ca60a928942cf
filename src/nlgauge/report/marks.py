"""How one number is shown: its digits, its interval, and a word where it is absent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

UNDEFINED = "undefined"


def absent(value: float | None) -> bool:
    """Whether there is no number: None, or NaN."""
    return value is None or math.isnan(value)


def number(value: float | None, digits: int = 3, *, sign: str = "", missing: str = UNDEFINED) -> str:
    """A number with a given number of decimals; `missing` where there is none.

    Args:
        value: the number.
        digits: the number of decimals; a number that rounds to 0 is never negative.
        sign: "+" shows the sign of every number.
        missing: the text for None and NaN.
    """
    if value is None or math.isnan(value):
        return missing
    text = f"{value:{sign}.{digits}f}"
    return text.replace("-", sign) if float(text) == 0 else text


def percent(share: float | None) -> str:
    """A change as people read it: +3.1 %."""
    return UNDEFINED if share is None or math.isnan(share) else f"{number(100 * share, 1, sign='+')} %"


def between(low: float | None, high: float | None, digits: int = 3, *, sign: str = "") -> str:
    """An interval on a page, "0.12 to 0.34"; empty where there is none."""
    return "" if absent(low) else f"{number(low, digits, sign=sign)} to {number(high, digits, sign=sign)}"


def with_interval(row: Mapping[str, Any], text: str, digits: int, *, sign: str = "") -> str:
    """A cell of a table, "0.23 [0.12, 0.34]"; the text alone where the row has no interval."""
    if absent(row.get("low")):
        return text
    return f"{text} [{number(row['low'], digits, sign=sign)}, {number(row['high'], digits, sign=sign)}]"


def descending(value: float | None) -> float:
    """A key to sort by: the greatest number first, what is absent last."""
    return math.inf if value is None or math.isnan(value) else -value
