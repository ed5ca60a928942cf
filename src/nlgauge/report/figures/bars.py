"""Scores as bars with intervals: one figure per metric, one bar per system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.figure import Figure, with_intervals
from nlgauge.report.kinds.score import digits_of, system_name
from nlgauge.report.plots import EDGE, SIZE, colour_of, lines, picture, room_of, text, ticks
from nlgauge.report.rows import Row, absent, measured, number
from nlgauge.report.trust import doubts_of

_WIDTH, _BAR, _STEP = 220, 14, 24  # pixels: the plot, the height of a bar, and from one bar to the next


@dataclass(frozen=True)
class Bar:
    """A bar of a figure.

    Attributes:
        name: at its left.
        value, low, high: where it ends, and its interval if it has one.
        colour: which of the colours.
        heading: what stands in a line of its own above it.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    colour: int = 0
    heading: str = ""


def bar_figures(result: Result) -> list[Figure]:
    """One figure per metric of a result of kind `score`; none where there is only one text or system to show."""
    figures, doubts = [], doubts_of(result)
    for metric in result.metrics:
        rows = [row for row in measured(result.rows) if row["metric"] == metric["spec"] and not absent(row["value"])]
        if len(rows) > 1:
            figures.append(_figure(metric, rows, doubts.get(metric["spec"], "")))
    return figures


def _figure(metric: Mapping[str, Any], rows: Sequence[Row], doubt: str) -> Figure:
    numbers = [
        {"system": _name(row), "value": row["value"], "low": row["low"], "high": row["high"], "n": row["n"]}
        for row in rows
    ]
    found = [Bar(row["system"], row["value"], row["low"], row["high"]) for row in numbers]
    spec, digits = metric["spec"], digits_of(metric, rows)
    direction = "" if metric["higher_is_better"] else " (lower is better)"
    title, note = f"{spec}{' (?)' if doubt else ''}{direction}", f"(?) Says nothing here: {doubt}." if doubt else ""
    return Figure(title, numbers, with_intervals("system"), bars(spec, found, digits), note=note)


def _name(row: Row) -> str:
    name = system_name(row["system"])
    return f"{row['group']}: {name}" if row.get("group") is not None else name


def bars(title: str, found: Sequence[Bar], digits: int) -> Any:
    """Bars below each other from 0 on, each with its name, its interval and its number."""
    from markupsafe import Markup

    ends = (x for one in found for x in (one.value, one.low, one.high))
    axis = ticks([0.0, *(x for x in ends if x is not None and not absent(x))], 5)
    left = EDGE + room_of([one.name for one in found])

    def at(value: float) -> float:
        return left + 8 + _WIDTH * (value - axis[0]) / (axis[-1] - axis[0])

    drawn: list[str] = []
    spans: list[tuple[float, float]] = []  # of bars without a heading between them: the grid leaves headings free
    top = float(EDGE)
    for one in found:
        if one.heading:
            drawn.append(text(EDGE, top + 16, one.heading, quiet=True))
            top += _STEP
        start = top if one.heading or not spans else spans.pop()[0]
        drawn += _bar(one, at, (left, at(axis[-1]) + 8), top + _STEP / 2, digits)
        top += _STEP
        spans.append((start, top))
    grid = [
        lines(((at(x), start, at(x), end) for start, end in spans for x in axis if (x == 0) is base), strong=base)
        for base in (False, True)
    ]
    grid += [text(at(tick), top + SIZE + 3, f"{tick:g}", anchor="middle", quiet=True) for tick in axis]
    width = at(axis[-1]) + room_of([number(one.value, digits) for one in found]) + 2 * EDGE
    width = max(width, EDGE + room_of([one.heading for one in found]) + EDGE)
    said = "; ".join(f"{one.heading and one.heading + ', '}{one.name} {number(one.value, digits)}" for one in found)
    return Markup(picture(width, top + 2 * SIZE, f"{title}: {said}", [*grid, *drawn]))


def _bar(one: Bar, at: Callable[[float], float], edges: tuple[float, float], middle: float, digits: int) -> list[str]:
    start, end = sorted((at(0.0), at(one.value)))
    return [
        text(edges[0], middle + 4, one.name, anchor="end"),
        f'<rect x="{start:.1f}" y="{middle - _BAR / 2:.1f}" width="{end - start:.1f}" height="{_BAR}"'
        f' fill="{colour_of(one.colour)}" fill-opacity="0.45"/>',
        "" if absent(one.low) else _whiskers(at(float(one.low or 0)), at(float(one.high or 0)), middle),
        text(edges[1], middle + 4, number(one.value, digits)),
    ]


def _whiskers(low: float, high: float, y: float) -> str:
    ends = "".join(f"M{x:.1f} {y - 4:.1f}v8" for x in (low, high))
    return f'<path d="M{low:.1f} {y:.1f}H{high:.1f}{ends}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
