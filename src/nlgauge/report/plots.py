"""Curves as SVG: axes that end at round numbers, lines with marks, bands of intervals, labels that stay apart.

What is written is drawn in the colour of the text around the picture, so that it can be read on light and on dark.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nlgauge.report.labels import clean, ems, shorten

WIDTH, HEIGHT, EDGE, TOP = 300, 210, 10, 24  # pixels of the plot, the margin, the room above
_COLOURS = ("#3b76e8", "#c2600c", "#0a8f62", "#8b5cf6")  # all stand out from white and from dark
_FAMILY = "Helvetica Neue, Arial, Liberation Sans, Noto Sans, DejaVu Sans, sans-serif"
SIZE, SMALL = 12, 10  # of letters, in pixels
_LONGEST = 26.0  # ems of a label; the whole text shows where the mouse rests
_PLACES = ((8, -8), (8, 14), (-8, -8), (-8, 14), (0, -13), (0, 21), (13, 4), (-13, 4))  # of a label beside its point
_LEAST = 1e-9  # of their size, by which numbers differ that are drawn apart; last bits of floats do not


@dataclass(frozen=True)
class Curve:
    """A line through points.

    Attributes:
        name: what it is called in a legend.
        points: (x, y) in order; a point that is NaN is left out.
        labels: the text beside each point; empty for none.
        titles: the text that the mouse shows at each point; empty for none.
        band: (low, high) of y at each point; empty for none.
        ends: mark the first point with a star and the last with a cross.
        bold: the point to emphasise, or None.
    """

    name: str
    points: Sequence[tuple[float, float]]
    labels: Sequence[str] = ()
    titles: Sequence[str] = ()
    band: Sequence[tuple[float, float]] = ()
    ends: bool = False
    bold: int | None = None


@dataclass(frozen=True)
class Axes:
    """A pair of axes.

    Attributes:
        x_name, y_name: what they measure.
        across, up: round numbers in order; the first and the last are the ends.
        percent: y is a share, shown in per cent, with a line at 0.
    """

    x_name: str
    y_name: str
    across: Sequence[float]
    up: Sequence[float]
    percent: bool = False


def axes_of(
    curves: Sequence[Curve],
    x_name: str,
    y_name: str,
    *,
    x_within: tuple[float, float] = (-math.inf, math.inf),
    y_within: tuple[float, float] = (-math.inf, math.inf),
    percent: bool = False,
) -> Axes:
    """Axes that hold some curves with their bands, and nothing beyond the ends of each measure."""
    drawn = [(x, y, k, c) for c in curves for k, (x, y) in enumerate(c.points) if _drawn(x, y)]
    xs = [x for x, *_ in drawn] + ([0.0, 1.0] if percent else [])
    ys = [y for _, y, *_ in drawn] + ([0.0] if percent else [])
    ys += [end for *_, k, c in drawn if c.band for end in c.band[k] if end == end]
    return Axes(x_name, y_name, ticks(xs, 6, x_within), ticks(ys, 6, y_within), percent)


def ticks(values: Sequence[float], most: int = 7, within: tuple[float, float] = (-math.inf, math.inf)) -> list[float]:
    """Round numbers from below the smallest value to above the greatest, at most about `most` of them.

    They are 0 and 1 where there are no values, and never outside `within`.
    """
    if not values:
        return [0.0, 1.0]
    low, high = min(values), max(values)
    if not high - low > _LEAST * max(abs(low), abs(high)):
        low, high = low - (abs(low) or 1.0) * 0.05, high + (abs(high) or 1.0) * 0.05
        low, high = max(low, within[0]), min(high, within[1])
    rough = (high - low) / (most - 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(m * size for m in (1, 2, 2.5, 5, 10) if m * size >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    found = [float(f"{step * i:.12g}") for i in range(first, last + 1)]
    return [tick for tick in found if within[0] <= tick <= within[1]]


def colour_of(k: int) -> str:
    """The colour of curve k; after the last colour they repeat."""
    return _COLOURS[k % len(_COLOURS)]


def curves_plot(label: str, curves: Sequence[Curve], axes: Axes, behind: Sequence[Curve] = ()) -> str:
    """Curves over a pair of axes as SVG.

    Args:
        label: what the picture shows, for those who do not see it.
        curves: in the order of their colours; where two are equal, the earlier shows as an edge around the later.
        axes: that the picture has; several pictures may share them.
        behind: curves of other pictures, drawn faintly for comparison.
    """
    frame = Frame.of(axes)
    parts = list(grid(frame))
    parts += [_path(_places(frame, c), "currentColor", 1.5, ' stroke-opacity="0.22"') for c in behind]
    parts += [_band(frame, k, c) for k, c in enumerate(curves) if c.band]
    parts += [p for k, c in enumerate(curves) for p in _curve(frame, k, c, 2 + 3 * (len(curves) - 1 - k))]
    parts += _labels(frame, curves)
    return picture(*frame.size, label, parts)


def swatch(k: int) -> str:
    """A piece of curve k, for a legend."""
    return (
        f'<svg width="22" height="10" aria-hidden="true"><line x1="1" x2="21" y1="5" y2="5" stroke="{colour_of(k)}"'
        ' stroke-width="3"/></svg>'
    )


@dataclass(frozen=True)
class Frame:
    """Where numbers stand in a picture: a pair of axes, and the left and upper edge of the plot in pixels."""

    axes: Axes
    left: float
    top: float

    @classmethod
    def of(cls, axes: Axes) -> Frame:
        """The frame with room for the numbers of an axis at its left."""
        return cls(axes, EDGE + 20 + room_of([_shown(axes, y) for y in axes.up]), TOP)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the picture."""
        return self.left + WIDTH + EDGE + 12, self.top + HEIGHT + 44

    def x(self, value: float) -> float:
        """Where a number of the lower axis stands."""
        low, high = self.axes.across[0], self.axes.across[-1]
        return self.left + WIDTH * (value - low) / (high - low)

    def y(self, value: float) -> float:
        """Where a number of the axis at the left stands."""
        low, high = self.axes.up[0], self.axes.up[-1]
        return self.top + HEIGHT * (high - value) / (high - low)

    def holds(self, box: tuple[float, float, float, float]) -> bool:
        """Whether a label lies in the picture, and on no number of an axis."""
        right, bottom = self.left + WIDTH + EDGE, self.top + HEIGHT
        return self.left <= box[0] and box[2] <= right and box[1] >= 1 and box[3] <= bottom


def _drawn(x: float, y: float) -> bool:
    return math.isfinite(x) and math.isfinite(y)


def _shown(axes: Axes, y: float) -> str:
    return f"{100 * y:g} %" if axes.percent else f"{y:g}"


def grid(frame: Frame) -> Iterator[str]:
    """Lines at the round numbers of both axes, the numbers, and what the axes measure."""
    axes, left, top = frame.axes, frame.left, frame.top
    across = [(frame.x(x), top, frame.x(x), top + HEIGHT) for x in axes.across]
    up = {y: (left, frame.y(y), left + WIDTH, frame.y(y)) for y in axes.up}
    strong = [up.pop(0.0)] if axes.percent and 0.0 in up else []
    yield lines([*across, *up.values()]) + lines(strong, strong=True)
    for x in axes.across:
        yield text(frame.x(x), top + HEIGHT + 16, f"{x:g}", anchor="middle", quiet=True)
    for y in axes.up:
        yield text(left - 6, frame.y(y) + 4, _shown(axes, y), anchor="end", quiet=True)
    yield text(left + WIDTH / 2, top + HEIGHT + 36, axes.x_name, anchor="middle")
    yield text(EDGE + 4, top + HEIGHT / 2, axes.y_name, anchor="middle", turn=-90)


def _places(frame: Frame, curve: Curve) -> list[tuple[float, float]]:
    return [(frame.x(x), frame.y(y)) for x, y in curve.points if _drawn(x, y)]


def _path(points: Sequence[tuple[float, float]], colour: str, width: float, more: str = "") -> str:
    at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="{width:g}"{more}/>'


def _band(frame: Frame, k: int, curve: Curve) -> str:
    inside = [(x, low, high) for (x, _), (low, high) in zip(curve.points, curve.band, strict=True) if _drawn(low, high)]
    at = [(frame.x(x), frame.y(low)) for x, low, _ in inside] + [
        (frame.x(x), frame.y(high)) for x, _, high in reversed(inside)
    ]
    return (
        f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at)}" fill="{colour_of(k)}" fill-opacity="0.15"/>'
        if at
        else ""
    )


def _curve(frame: Frame, k: int, curve: Curve, width: float) -> list[str]:
    from markupsafe import escape

    at = [(i, frame.x(x), frame.y(y)) for i, (x, y) in enumerate(curve.points) if _drawn(x, y)]
    parts = [_path([(x, y) for _, x, y in at], colour_of(k), width)]
    for i, x, y in at:
        title = f"<title>{escape(clean(curve.titles[i]))}</title>" if curve.titles else ""
        parts.append(f"<g>{title}{_mark(i, x, y, k, curve)}</g>")
    return parts


def _labels(frame: Frame, curves: Sequence[Curve]) -> list[str]:
    """Labels that cover neither each other nor a mark: those of emphasised points and ends first, then what fits."""
    wanted, taken = [], []
    for curve in curves:
        for i, (x, y) in enumerate(curve.points):
            if not _drawn(x, y):
                continue
            at, last = (frame.x(x), frame.y(y)), len(curve.points) - 1
            reach = 9.0 if i == curve.bold else 6.0 if curve.ends and i in (0, last) else 3.0
            taken.append((at[0] - reach, at[1] - reach, at[0] + reach, at[1] + reach))
            if curve.labels and curve.labels[i]:
                importance = 0 if i == curve.bold else 1 if i in (0, last) else 2
                wanted.append((importance, at, curve.labels[i], i == curve.bold))
    parts: list[str] = []
    for _, (x, y), label, bold in sorted(wanted, key=lambda w: w[0]):
        wide = room_of([label], SMALL)
        for right, down in _PLACES:
            start = x + right - (wide if right < 0 else 0 if right else wide / 2)
            box = (start, y + down - SMALL, start + wide, y + down)
            if frame.holds(box) and not _covers(box, taken):
                taken.append(box)
                parts.append(text(start, y + down, label, size=SMALL, quiet=not bold, bold=bold))
                break
    return parts


def _covers(box: tuple[float, ...], others: Iterable[tuple[float, ...]]) -> bool:
    return any(
        box[0] < right and left < box[2] and box[1] < bottom and top < box[3] for left, top, right, bottom in others
    )


def _mark(i: int, x: float, y: float, k: int, curve: Curve) -> str:
    ring = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="none" stroke="currentColor" stroke-width="1.5"/>'
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


def text(
    x: float,
    y: float,
    label: str,
    *,
    anchor: str = "start",
    turn: int = 0,
    quiet: bool = False,
    bold: bool = False,
    size: int = SIZE,
) -> str:
    """A text at a position: made safe for XML, escaped, and cut where it is too long; its title then holds it all."""
    from markupsafe import escape

    whole = clean(label)
    shown = shorten(whole, _LONGEST, ems)
    turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
    look = (' font-weight="600"' if bold else "") + (' fill-opacity="0.75"' if quiet else "")
    title = f"<title>{escape(whole)}</title>" if shown != whole else ""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    scale = "" if size == SIZE else f' font-size="{size}"'
    return f'<text x="{x:.1f}" y="{y:.1f}"{place}{scale}{look}{turned}>{title}{escape(shown)}</text>'


def room_of(labels: Sequence[str], size: int = SIZE) -> float:
    """The width in pixels of the widest of some labels; 0 for none."""
    return max((size * ems(shorten(clean(label), _LONGEST, ems)) for label in labels), default=0.0)


def lines(ends: Iterable[tuple[float, float, float, float]], *, strong: bool = False) -> str:
    """Lines of a grid, each as x and y of one end and of the other."""
    drawn = "".join(f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}"/>' for a, b, c, d in ends)
    return drawn and f'<g stroke="currentColor" stroke-opacity="{0.5 if strong else 0.16}">{drawn}</g>'


def picture(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    """A picture as SVG: its size in pixels, what it shows for those who do not see it, and its parts."""
    from markupsafe import escape

    w, h = math.ceil(width), math.ceil(height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
        f'aria-label="{escape(clean(label))}" font-family="{_FAMILY}" font-size="{SIZE}" fill="currentColor">'
        f"{''.join(parts)}</svg>"
    )
