"""Values on a common axis: one strip per row of a table, as wide as its column on any screen."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nlgauge.report.plots import ticks
from nlgauge.report.rows import absent, between, number


@dataclass(frozen=True)
class Axis:
    """The axis that all strips of a column share.

    Attributes:
        ticks: round numbers in order, at least two; the first and the last are the ends.
        base: where a dashed line stands, such as the value of the baseline or of chance; None for no line.
    """

    ticks: Sequence[float]
    base: float | None = None

    @property
    def first(self) -> str:
        """The number at the left end."""
        return f"{self.ticks[0]:g}"

    @property
    def last(self) -> str:
        """The number at the right end."""
        return f"{self.ticks[-1]:g}"

    def at(self, value: float) -> str:
        """Where a value stands, in per cent of the width."""
        low, high = self.ticks[0], self.ticks[-1]
        return f"{100 * (value - low) / (high - low):.1f}%"


def axis_of(values: Iterable[float | None], base: float | None = None) -> Axis:
    """The axis that holds all numbers among some values, and the base; from 0 to 1 where there are none."""
    known = [value for value in (*values, base) if value is not None and math.isfinite(value)]
    return Axis(ticks(known, most=5), None if absent(base) else base)


def strip(row: Mapping[str, Any], axis: Axis, digits: int = 3) -> Any:
    """The value of a row as a dot, over its interval as a line where it has one.

    Args:
        row: with `value`, `low` and `high`.
        axis: that of the column.
        digits: of the numbers for those who do not see the picture.

    Returns:
        Markup; it holds numbers alone, so that nothing needs escaping. Empty where there is no value.
    """
    from markupsafe import Markup

    if absent(row["value"]):
        return ""
    shown, between_ends = "", ""
    if not absent(row.get("low")):
        shown = f'<line x1="{axis.at(row["low"])}" x2="{axis.at(row["high"])}" y1="50%" y2="50%"/>'
        between_ends = f", {between(row['low'], row['high'], digits)}"
    dot = f'<circle cx="{axis.at(row["value"])}" cy="50%" r="4"/>'
    return Markup(_svg(f"{number(row['value'], digits)}{between_ends}", [*_upright(axis), shown, dot]))


def bar(value: float, low: float | None, high: float | None, axis: Axis, *, seen: bool = False) -> Any:
    """A value as a bar from the left end, with its interval as a line.

    Args:
        value: the length of the bar.
        low, high: the ends of the interval, or None.
        axis: that of the column.
        seen: draw the outline alone, for a value that is no blind test.

    Returns:
        Markup; it holds numbers alone, so that nothing needs escaping.
    """
    from markupsafe import Markup

    kind = ' class="seen"' if seen else ""
    parts = [f'<rect{kind} x="0" y="20%" width="{axis.at(value)}" height="60%"/>', *_upright(axis)]
    if not absent(low) and low is not None and high is not None:
        parts.append(f'<line x1="{axis.at(low)}" x2="{axis.at(high)}" y1="50%" y2="50%"/>')
    return Markup(_svg(number(value), parts))


def _upright(axis: Axis) -> list[str]:
    lines = [("tick", value) for value in axis.ticks] + ([("base", axis.base)] if axis.base is not None else [])
    return [
        f'<line class="{kind}" x1="{axis.at(value)}" x2="{axis.at(value)}" y1="0" y2="100%"/>' for kind, value in lines
    ]


def _svg(label: str, parts: Sequence[str]) -> str:
    return f'<svg role="img" aria-label="{label}">{"".join(parts)}</svg>'
