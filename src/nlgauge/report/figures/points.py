"""Points of a plot: marks of different shapes with their legend, or counts in squares where there are many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from nlgauge.report.plots import Frame, colour_of, room_of, text

MOST_POINTS = 300  # that are drawn one by one
_CELLS = 30  # across and up, where there are more points


def density(
    frame: Frame, xs: Sequence[float], ys: Sequence[float], x_name: str, y_name: str
) -> tuple[list[dict[str, Any]], list[str]]:
    """Points counted in squares; the more, the stronger the colour."""
    across, up = frame.axes.across, frame.axes.up
    counts, x_ends, y_ends = np.histogram2d(xs, ys, bins=_CELLS, range=((across[0], across[-1]), (up[0], up[-1])))
    numbers, drawn = [], []
    for i, j in np.argwhere(counts):
        n = int(counts[i, j])
        left, right, top = frame.x(x_ends[i]), frame.x(x_ends[i + 1]), frame.y(y_ends[j + 1])
        opacity = 0.15 + 0.85 * math.log1p(n) / math.log1p(counts.max())
        drawn.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{frame.y(y_ends[j]) - top:.1f}"'
            f' fill="{colour_of(0)}" fill-opacity="{opacity:.2f}"/>'
        )
        numbers.append({x_name: (x_ends[i] + x_ends[i + 1]) / 2, y_name: (y_ends[j] + y_ends[j + 1]) / 2, "n": n})
    return [{key: float(v) if key != "n" else v for key, v in row.items()} for row in numbers], drawn


def marks(kind: int, places: Iterable[tuple[float, float]]) -> str:
    """Points of one kind; kinds differ in shape as well as in colour."""
    shapes = (
        "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0",
        "m-3 -3h6v6h-6z",
        "m0 -4l4 7h-8z",
        "m0 -4.5l4.5 4.5l-4.5 4.5l-4.5 -4.5z",
    )
    drawn = "".join(f"M{x:.1f} {y:.1f}{shapes[kind]}" for x, y in places)
    return drawn and f'<path d="{drawn}" fill="{colour_of(kind)}" fill-opacity="0.85"/>'


def legend(frame: Frame, kinds: Sequence[str | None]) -> list[str]:
    """The shape of each kind above the plot, in the room that its name needs."""
    parts, x = [], frame.left
    for kind, name in enumerate(kinds):
        shown = "-" if name is None else name
        parts += [marks(kind, [(x + 4, 12)]), text(x + 12, 16, shown, size=11)]
        x += 24 + room_of([shown], 11)
    return parts


def escaped(field: str) -> str:
    """The name of a field as Vega-Lite takes it: dots and brackets would be read as a path."""
    return "".join(f"\\{char}" if char in ".[]\\'\"" else char for char in field)
