"""What pictures are drawn of: colours in equal steps, curves over axes, shaded cells, strips, and a figure of them."""

from __future__ import annotations

import base64
import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from nlgauge.core.result import harmless
from nlgauge.report.labels import clean, ems, shorten
from nlgauge.report.tables import UNDEFINED, absent, between, full, number

_LIGHTNESS = (0.985, 0.28)  # OKLCH, least to most; from 0.6 of the way on white can be read
_CHROMA = (0.004, 0.06)
_HUE = math.radians(255)
_MIDDLE, _END, _VIVID = 0.985, 0.27, 0.09  # lightness at 0 and at either end, chroma at the ends
_BELOW, _ABOVE = math.radians(255), math.radians(60)


@lru_cache(1024)
def shade(share: float) -> str:
    """The colour of a share in [0, 1] as "#rrggbb": 0 is almost white, 1 is dark.

    Equal differences look equal, in grey too.

    References:
        Ottosson (2020), "A perceptual color space for image processing", for OKLab.
    """
    share = min(1.0, max(0.0, share))
    lightness, chroma = (low + (high - low) * share for low, high in (_LIGHTNESS, _CHROMA))
    return from_oklch(lightness, chroma, _HUE)


@lru_cache(2048)
def signed(value: float) -> str:
    """The colour of a number in [-1, 1] as "#rrggbb": white at 0, blue below, brown above.

    What lies beyond has the colour of the end.
    """
    share = min(1.0, abs(value))
    return from_oklch(_MIDDLE + (_END - _MIDDLE) * share, _VIVID * share, _BELOW if value < 0 else _ABOVE)


def from_oklch(lightness: float, chroma: float, hue: float) -> str:
    """A colour of OKLCH as "#rrggbb", clipped to what screens show.

    Lightness is in [0, 1], chroma from 0 on, hue in radians.
    """
    return "#" + "".join(
        f"{_encode(channel):02x}" for channel in _linear_rgb(lightness, chroma * math.cos(hue), chroma * math.sin(hue))
    )


@lru_cache(1024)
def ink(background: str) -> str:
    """Black or white, whichever stands out more from the background.

    The contrast is then at least 4.5, as WCAG 2 asks of text.
    """
    return max(("#000000", "#ffffff"), key=lambda colour: contrast(colour, background))


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two "#rrggbb" colours as WCAG 2 defines it, in [1, 21]."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """Relative luminance of "#rrggbb", in [0, 1]."""
    red, green, blue = (_decode(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear_rgb(lightness: float, a: float, b: float) -> tuple[float, float, float]:
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def _encode(linear: float) -> int:
    linear = min(1.0, max(0.0, linear))
    return round(255 * (12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055))


def _decode(channel: int) -> float:
    share = channel / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


# --- Curves as SVG: axes that end at round numbers, lines with marks, bands of intervals, labels that stay apart
# What is written is drawn in the colour of the text around the picture, so that it can be read on light and on dark.

WIDTH, HEIGHT, EDGE, TOP = 300, 210, 10, 24  # pixels of the plot, the margin, the room above
_COLOURS = ("#3b76e8", "#c2600c", "#0a8f62", "#8b5cf6")  # all stand out from white and from dark
_FAMILY = "Helvetica Neue, Arial, Liberation Sans, Noto Sans, DejaVu Sans, sans-serif"
SIZE, SMALL = 12, 10  # of letters, in pixels
_LONGEST = 26.0  # ems of a label; the whole text shows where the mouse rests
_PLACES = ((8, -8), (8, 14), (-8, -8), (-8, 14), (0, -13), (0, 21), (13, 4), (-13, 4))  # of a label beside its point
_LEAST = 1e-9  # of their size, by which numbers differ that are drawn apart; last bits of floats do not
_TINY = 1e-300  # below it numbers have no digits left to divide


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
    """A pair of axes, and where numbers stand in a picture of them, in pixels.

    Attributes:
        across, up: round numbers in order; the first and the last are the ends.
        percent: y is a share, shown in per cent, with a line at 0.
    """

    x_name: str
    y_name: str
    across: Sequence[float]
    up: Sequence[float]
    percent: bool = False

    @cached_property
    def left(self) -> float:
        """The left edge of the plot, with room for the numbers of the axis there."""
        return EDGE + 20 + room_of([_shown(self, y) for y in self.up])

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the picture."""
        return self.left + WIDTH + EDGE + 12, TOP + HEIGHT + 44

    def x(self, value: float) -> float:
        """Where a number of the lower axis stands."""
        low, high = self.across[0], self.across[-1]
        return self.left + WIDTH * (value - low) / (high - low)

    def y(self, value: float) -> float:
        """Where a number of the axis at the left stands."""
        low, high = self.up[0], self.up[-1]
        return TOP + HEIGHT * (high - value) / (high - low)

    def holds(self, box: tuple[float, float, float, float]) -> bool:
        """Whether a label lies in the picture, and on no number of an axis."""
        right, bottom = self.left + WIDTH + EDGE, TOP + HEIGHT
        return self.left <= box[0] and box[2] <= right and box[1] >= 1 and box[3] <= bottom


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
    largest = max(abs(low), abs(high))
    if not high - low > max(_LEAST * largest, _TINY):
        margin = 0.05 * (largest if largest > _TINY else 1.0)
        low, high = low - margin, high + margin
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
    parts = list(grid(axes))
    for curve in behind:
        places = [(axes.x(x), axes.y(y)) for x, y in curve.points if _drawn(x, y)]
        parts.append(_path(places, "currentColor", 1.5, ' stroke-opacity="0.22"'))
    parts += [_band(axes, k, c) for k, c in enumerate(curves) if c.band]
    parts += [p for k, c in enumerate(curves) for p in _curve(axes, k, c, 2 + 3 * (len(curves) - 1 - k))]
    parts += _labels(axes, curves)
    return picture(*axes.size, label, parts)


def plot_of(label: str, curves: Sequence[Curve], axes: Axes, behind: Sequence[Curve] = ()) -> dict[str, Any]:
    """The picture of some curves, as `curves_plot` draws it, and its legend: a sample and the name of each curve."""
    from markupsafe import Markup

    sample = (
        '<svg width="22" height="10" aria-hidden="true"><line x1="1" x2="21" y1="5" y2="5" stroke="{}"'
        ' stroke-width="3"/></svg>'
    )
    legend = [(Markup(sample.format(colour_of(k))), curve.name) for k, curve in enumerate(curves)]
    return {"picture": Markup(curves_plot(label, curves, axes, behind)), "legend": legend}


def _drawn(x: float, y: float) -> bool:
    return math.isfinite(x) and math.isfinite(y)


def _shown(axes: Axes, y: float) -> str:
    return f"{100 * y:g} %" if axes.percent else f"{y:g}"


def grid(axes: Axes) -> Iterator[str]:
    """Lines at the round numbers of both axes, the numbers, and what the axes measure."""
    left, top = axes.left, TOP
    across = [(axes.x(x), top, axes.x(x), top + HEIGHT) for x in axes.across]
    up = {y: (left, axes.y(y), left + WIDTH, axes.y(y)) for y in axes.up}
    strong = [up.pop(0.0)] if axes.percent and 0.0 in up else []
    yield lines([*across, *up.values()]) + lines(strong, strong=True)
    for x in axes.across:
        yield text(axes.x(x), top + HEIGHT + 16, f"{x:g}", anchor="middle", quiet=True)
    for y in axes.up:
        yield text(left - 6, axes.y(y) + 4, _shown(axes, y), anchor="end", quiet=True)
    yield text(left + WIDTH / 2, top + HEIGHT + 36, axes.x_name, anchor="middle")
    yield text(EDGE + 4, top + HEIGHT / 2, axes.y_name, anchor="middle", turn=-90)


def _path(points: Sequence[tuple[float, float]], colour: str, width: float, more: str = "") -> str:
    at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{at}" fill="none" stroke="{colour}" stroke-width="{width:g}"{more}/>'


def _band(axes: Axes, k: int, curve: Curve) -> str:
    inside = [(x, low, high) for (x, _), (low, high) in zip(curve.points, curve.band, strict=True) if _drawn(low, high)]
    at = [(axes.x(x), axes.y(low)) for x, low, _ in inside] + [
        (axes.x(x), axes.y(high)) for x, _, high in reversed(inside)
    ]
    return (
        f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in at)}" fill="{colour_of(k)}" fill-opacity="0.15"/>'
        if at
        else ""
    )


def _curve(axes: Axes, k: int, curve: Curve, width: float) -> list[str]:
    from markupsafe import escape

    at = [(i, axes.x(x), axes.y(y)) for i, (x, y) in enumerate(curve.points) if _drawn(x, y)]
    parts = [_path([(x, y) for _, x, y in at], colour_of(k), width)]
    for i, x, y in at:
        title = f"<title>{escape(clean(curve.titles[i]))}</title>" if curve.titles else ""
        parts.append(f"<g>{title}{_mark(i, x, y, k, curve)}</g>")
    return parts


def _labels(axes: Axes, curves: Sequence[Curve]) -> list[str]:
    """Labels that cover neither each other nor a mark: those of emphasised points and ends first, then what fits."""
    wanted, taken = [], []
    for curve in curves:
        for i, (x, y) in enumerate(curve.points):
            if not _drawn(x, y):
                continue
            at, last = (axes.x(x), axes.y(y)), len(curve.points) - 1
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
            if axes.holds(box) and not _covers(box, taken):
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


# --- A figure: its picture or shaded table, and the numbers in it, to be taken away as CSV


@dataclass(frozen=True)
class Figure:
    """A figure of a page.

    Attributes:
        numbers: what is drawn, as rows with the same fields.
        picture: markup of our own making; empty for a shaded table.
        map: `columns` and `blocks` of a shaded table; empty for a picture.
        note: how it is to be read.
    """

    title: str
    numbers: Sequence[Mapping[str, Any]]
    picture: Any = ""
    map: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def csv(self) -> tuple[str, str]:
        """The name and the URL of a file with the numbers."""
        return csv_file(self.title, self.numbers)


def csv_file(title: str, numbers: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The name of a file with the numbers of a figure, and the URL that holds it.

    Args:
        numbers: what is drawn, as rows with the same fields. NaN is an empty cell, and `'` stands before cells that a
            spreadsheet would take for formulas.
    """
    file = io.StringIO()
    rows = [list(numbers[0]) if numbers else [], *(list(row.values()) for row in numbers)]
    csv.writer(file, lineterminator="\n").writerows([harmless(full(value)) for value in row] for row in rows)
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "figure"
    return f"{name}.csv", data_url("text/csv", file.getvalue())


def data_url(kind: str, text: str) -> str:
    """A text as a URL that holds it."""
    return f"data:{kind};base64,{base64.b64encode(text.encode('utf-8', 'backslashreplace')).decode('ascii')}"


# --- Numbers in shaded cells: what stands in each, its colour, and the ramp that explains the colours

_STEPS = 11


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        colour: behind it; none where there is no number.
        title: what the mouse shows.
        note: what stands below in small letters.
    """

    text: str
    colour: str = ""
    title: str = ""
    note: str = ""
    strong: bool = False

    @property
    def ink(self) -> str:
        """The colour of the text."""
        return ink(self.colour)


def amount(value: float | None, low: float = 0.0, high: float = 1.0, *, digits: int = 2, text: str = "") -> Cell:
    """A number as a shade from light (`low` and less) to dark (`high` and more); more is darker on every page."""
    if value is None or absent(value):
        return Cell(UNDEFINED)
    share = (value - low) / (high - low) if high > low else 0.0
    return Cell(text or number(value, digits), shade(share))


def ramp(colour: Callable[[float], str], low: float, high: float) -> list[str]:
    """Colours from one end of a scale to the other, for a legend."""
    return [colour(low + (high - low) * k / (_STEPS - 1)) for k in range(_STEPS)]


# --- Values on a common axis: one strip per row of a table, as wide as its column on any screen


@dataclass(frozen=True)
class Axis:
    """The axis that all strips of a column share.

    Attributes:
        ticks: round numbers in order, at least two; the first and the last are the ends.
        base: where a dashed line stands, such as the value of the baseline or of chance; None for no line.
    """

    ticks: Sequence[float]
    base: float | None = None

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
