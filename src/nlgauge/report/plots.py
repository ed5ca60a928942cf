"""Curves as SVG: axes that end at round numbers, lines with marks, bands of intervals, a legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nlgauge.report.drawing import DARK, GRID, RULE, line, room, svg, text
from nlgauge.report.labels import clean

_WIDTH, _HEIGHT, _EDGE, _LEGEND = 460, 320, 10, 20  # pixels of the plot, the margin, a line of the legend
_COLOURS = ("#1d4ed8", "#b45309", "#047857", "#7c3aed", "#be123c", "#4b5563", "#0e7490", "#a16207")


@dataclass(frozen=True)
class Curve:
    """A line through points.

    Attributes:
        name: the name in the legend.
        points: (x, y) in order; a point that is NaN is left out.
        labels: the text beside each point; empty for none.
        titles: the text that the mouse shows at each point; empty for none.
        band: (low, high) of y at each point; empty for none.
        dotted: whether the line is dotted.
        ends: mark the first point with a star and the last with a cross.
        bold: the point to emphasise, or None.
    """

    name: str
    points: Sequence[tuple[float, float]]
    labels: Sequence[str] = ()
    titles: Sequence[str] = ()
    band: Sequence[tuple[float, float]] = ()
    dotted: bool = False
    ends: bool = False
    bold: int | None = None


def colour_of(k: int) -> str:
    """The colour of curve k; after the last colour they repeat."""
    return _COLOURS[k % len(_COLOURS)]


def curves_plot(label: str, curves: Sequence[Curve], x_name: str, y_name: str, *, percent: bool = False) -> str:
    """Curves over one pair of axes as SVG.

    Args:
        label: what the picture shows, for those who do not see it.
        curves: in the order of the legend.
        x_name, y_name: of the axes.
        percent: y is a share, shown in per cent, with a line at 0.
    """
    xs = [x for c in curves for x, y in c.points if _drawn(x, y)]
    ys = [y for c in curves for x, y in c.points if _drawn(x, y)]
    ys += [
        end
        for c in curves
        for (x, y), ends in zip(c.points, c.band, strict=False)
        if _drawn(x, y)
        for end in ends
        if end == end
    ]
    across, up = ticks(xs + ([0.0, 1.0] if percent else [])), ticks(ys + ([0.0] if percent else []))
    shown = [f"{100 * y:g} %" if percent else f"{y:g}" for y in up]
    left, top = _EDGE + 22 + room(shown), _LEGEND * len(curves) + 12
    frame = _Frame(left, top, (across[0], across[-1]), (up[0], up[-1]))
    parts = [p for k, c in enumerate(curves) for p in _legend(k, c, left)]
    for x in across:
        parts += [
            line(frame.x(x), top, frame.x(x), top + _HEIGHT, GRID),
            text(frame.x(x), top + _HEIGHT + 16, f"{x:g}", anchor="middle", quiet=True),
        ]
    for y, tick in zip(up, shown, strict=True):
        parts.append(line(left, frame.y(y), left + _WIDTH, frame.y(y), RULE if percent and y == 0 else GRID))
        parts.append(text(left - 6, frame.y(y) + 4, tick, anchor="end", quiet=True))
    parts.append(text(left + _WIDTH / 2, top + _HEIGHT + 36, x_name, anchor="middle"))
    parts.append(text(_EDGE + 6, top + _HEIGHT / 2, y_name, anchor="middle", turn=-90))
    parts += [_band(frame, k, c) for k, c in enumerate(curves) if c.band]
    parts += [p for k, c in enumerate(curves) for p in _curve(frame, k, c)]
    parts += _labels(frame, curves)
    width = left + max(_WIDTH, 40 + room([c.name for c in curves])) + _EDGE + 24
    return svg(width, top + _HEIGHT + 46, label, parts)


def ticks(values: Sequence[float], most: int = 7) -> list[float]:
    """Round numbers from below the smallest value to above the greatest, at most about `most` of them.

    They are 0 and 1 where there are no values.
    """
    if not values:
        return [0.0, 1.0]
    low, high = min(values), max(values)
    if not high > low:
        low, high = low - (abs(low) or 1.0) * 0.05, high + (abs(high) or 1.0) * 0.05
    rough = (high - low) / (most - 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(m * size for m in (1, 2, 2.5, 5, 10) if m * size >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{step * i:.12g}") for i in range(first, last + 1)]


@dataclass(frozen=True)
class _Frame:
    left: float
    top: float
    across: tuple[float, float]
    up: tuple[float, float]

    def x(self, value: float) -> float:
        return self.left + _WIDTH * (value - self.across[0]) / (self.across[1] - self.across[0])

    def y(self, value: float) -> float:
        return self.top + _HEIGHT * (self.up[1] - value) / (self.up[1] - self.up[0])


def _drawn(x: float, y: float) -> bool:
    return math.isfinite(x) and math.isfinite(y)


def _legend(k: int, curve: Curve, left: float) -> list[str]:
    y = _LEGEND * k + 12
    return [_path([(left, y), (left + 26, y)], k, curve.dotted), text(left + 34, y + 4, curve.name)]


def _path(points: Sequence[tuple[float, float]], k: int, dotted: bool) -> str:
    dash = ' stroke-dasharray="2 4" stroke-linecap="round"' if dotted else ""
    at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{at}" fill="none" stroke="{colour_of(k)}" stroke-width="2"{dash}/>'


def _band(frame: _Frame, k: int, curve: Curve) -> str:
    inside = [(x, low, high) for (x, _), (low, high) in zip(curve.points, curve.band, strict=True) if _drawn(low, high)]
    at = [(frame.x(x), frame.y(low)) for x, low, _ in inside] + [
        (frame.x(x), frame.y(high)) for x, _, high in reversed(inside)
    ]
    return (
        f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at)}" fill="{colour_of(k)}" fill-opacity="0.13"/>'
        if at
        else ""
    )


def _curve(frame: _Frame, k: int, curve: Curve) -> list[str]:
    from markupsafe import escape

    at = [(i, frame.x(x), frame.y(y)) for i, (x, y) in enumerate(curve.points) if _drawn(x, y)]
    parts = [_path([(x, y) for _, x, y in at], k, curve.dotted)]
    for i, x, y in at:
        title = f"<title>{escape(clean(curve.titles[i]))}</title>" if curve.titles else ""
        parts.append(f"<g>{title}{_mark(i, x, y, k, curve)}</g>")
    return parts


def _labels(frame: _Frame, curves: Sequence[Curve]) -> list[str]:
    """Labels that do not overlap: first those of emphasised points, then those of ends, then as many as fit."""
    wanted = []
    for curve in curves:
        for i, (label, (x, y)) in enumerate(zip(curve.labels, curve.points, strict=False)):
            if label and _drawn(x, y):
                importance = 0 if i == curve.bold else 1 if i in (0, len(curve.points) - 1) else 2
                wanted.append((importance, frame.x(x) + 8, frame.y(y) - 7, label, i == curve.bold))
    parts: list[str] = []
    taken: list[tuple[float, float, float]] = []
    for _, x, y, label, bold in sorted(wanted, key=lambda w: w[0]):
        wide = room([label], 10)
        if all(abs(y - ty) > 11 or x > tx + tw or tx > x + wide for tx, ty, tw in taken):
            taken.append((x, y, wide))
            parts.append(text(x, y, label, size=10, quiet=not bold, bold=bold))
    return parts


def _mark(i: int, x: float, y: float, k: int, curve: Curve) -> str:
    ring = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="none" stroke="{DARK}" stroke-width="1.5"/>'
        if i == curve.bold
        else ""
    )
    if curve.ends and i == len(curve.points) - 1:
        return (
            f'{ring}<path d="M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10" stroke="{colour_of(k)}" stroke-width="2.5"/>'
        )
    if curve.ends and i == 0:
        corners = (
            (x + r * math.sin(math.pi * j / 5), y - r * math.cos(math.pi * j / 5))
            for j in range(10)
            for r in [7 if j % 2 == 0 else 3]
        )
        return f'{ring}<polygon points="{" ".join(f"{cx:.1f},{cy:.1f}" for cx, cy in corners)}" fill="{colour_of(k)}"/>'
    return f'{ring}<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour_of(k)}"/>'
