"""How one number is shown: its digits, its interval, its position on an axis, and a word where it is absent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

UNDEFINED = "undefined"
_HEIGHT, _EDGE = 16, 5  # pixels of a whisker


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


def whisker(row: Mapping[str, Any], low: float, high: float, *, width: int, digits: int = 3, zero: bool = False) -> Any:
    """The interval of a row as a line with its value as a dot.

    Args:
        row: with `value`, `low` and `high`.
        low, high: the ends of the axis.
        width: in pixels.
        digits: of the numbers for those who do not see the picture.
        zero: mark 0 on the axis.

    Returns:
        Markup; it holds numbers alone, so that nothing needs escaping.
    """
    from markupsafe import Markup

    def x(value: float) -> float:
        return _EDGE + (width - 2 * _EDGE) * ((value - low) / (high - low) if high > low else 0.5)

    middle = _HEIGHT / 2
    origin = f'<line x1="{x(0):.1f}" x2="{x(0):.1f}" y1="0" y2="{_HEIGHT}" stroke="#d9dee3"/>'
    line = (
        f'<line x1="{x(row["low"]):.1f}" x2="{x(row["high"]):.1f}" y1="{middle}" y2="{middle}" stroke="#5b6672"'
        ' stroke-width="2"/>'
    )
    dot = f'<circle cx="{x(row["value"]):.1f}" cy="{middle}" r="4" fill="#1d4ed8"/>'
    label = f"{number(row['value'], digits)}, {between(row['low'], row['high'], digits)}"
    inside = f"{origin if zero and low < 0 < high else ''}{line}{dot}"
    return Markup(f'<svg width="{width}" height="{_HEIGHT}" role="img" aria-label="{label}">{inside}</svg>')
