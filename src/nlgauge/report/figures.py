"""Figures of scores: bars and ranks of systems, and the scores of segments by bucket, against people and each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array, Counts
from nlgauge.core.result import Result
from nlgauge.core.segment import Segment
from nlgauge.report.drawing import (
    EDGE,
    SIZE,
    Axes,
    Cell,
    Figure,
    amount,
    colour_of,
    grid,
    ink,
    lines,
    picture,
    room_of,
    shade,
    signed,
    text,
    ticks,
)
from nlgauge.report.kinds.score import line_name, system_name
from nlgauge.report.labels import clean
from nlgauge.report.tables import PEOPLE, UNDEFINED, Row, absent, digits_of, measured, number
from nlgauge.report.text import directed, doubts_of
from nlgauge.stats.draws import mean_interval

_WIDTH, _BAR, _STEP = 220, 14, 24  # pixels: the plot, the height of a bar, and from one bar to the next


@dataclass(frozen=True)
class FigureBar:
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
        {"system": line_name(row), "value": row["value"], "low": row["low"], "high": row["high"], "n": row["n"]}
        for row in rows
    ]
    found = [FigureBar(row["system"], row["value"], row["low"], row["high"]) for row in numbers]
    spec, digits = metric["spec"], digits_of(metric, rows)
    direction = directed(metric).removeprefix(spec)
    title, note = f"{spec}{' (?)' if doubt else ''}{direction}", f"(?) Says nothing here: {doubt}." if doubt else ""
    return Figure(title, numbers, bars(spec, found, digits), note=note)


def bars(title: str, found: Sequence[FigureBar], digits: int) -> Any:
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


def _bar(
    one: FigureBar, at: Callable[[float], float], edges: tuple[float, float], middle: float, digits: int
) -> list[str]:
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


# --- Points of a plot: marks of different shapes with their legend, or counts in squares where there are many

MOST_POINTS = 300  # that are drawn one by one
_CELLS = 30  # across and up, where there are more points


def points_plot(
    label: str,
    axes: Axes,
    xs: Sequence[float],
    ys: Sequence[float],
    fields: tuple[str, str],
    rows: Sequence[Row],
    shapes: Sequence[int],
    names: Sequence[str | None],
    *,
    diagonal: bool = False,
) -> tuple[Sequence[Row], Any]:
    """Points in a plot; where there are many, how many are in each square.

    Args:
        label: what the picture shows, for those who do not see it.
        fields: what the two are called in the numbers.
        names: of the shapes, for the legend.
        diagonal: draw the line on which both are equal.

    Returns:
        The numbers that are drawn, and the picture.
    """
    from markupsafe import Markup

    numbers = rows
    if len(rows) <= MOST_POINTS:
        places = [(axes.x(x), axes.y(y)) for x, y in zip(xs, ys, strict=True)]
        drawn = [marks(k, (at for at, own in zip(places, shapes, strict=True) if own == k)) for k in sorted({*shapes})]
        drawn += legend(axes, names)
    else:
        numbers, drawn = density(axes, xs, ys, *fields)
    first, last = axes.across[0], axes.across[-1]
    equal = (
        f'<path d="M{axes.x(first):.1f} {axes.y(first):.1f}L{axes.x(last):.1f} {axes.y(last):.1f}"'
        ' stroke="currentColor" stroke-opacity="0.5" stroke-dasharray="4 3"/>'
    )
    parts = [*grid(axes), *([equal] if diagonal else []), *drawn]
    return numbers, Markup(picture(*axes.size, label, parts))


def density(
    axes: Axes, xs: Sequence[float], ys: Sequence[float], x_name: str, y_name: str
) -> tuple[list[dict[str, Any]], list[str]]:
    """Points counted in squares; the more, the stronger the colour."""
    across, up = axes.across, axes.up
    counts, x_ends, y_ends = np.histogram2d(xs, ys, bins=_CELLS, range=((across[0], across[-1]), (up[0], up[-1])))
    numbers, drawn = [], []
    for i, j in np.argwhere(counts):
        n = int(counts[i, j])
        left, right, top = axes.x(x_ends[i]), axes.x(x_ends[i + 1]), axes.y(y_ends[j + 1])
        opacity = 0.15 + 0.85 * math.log1p(n) / math.log1p(counts.max())
        drawn.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{axes.y(y_ends[j]) - top:.1f}"'
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


def legend(axes: Axes, kinds: Sequence[str | None]) -> list[str]:
    """The shape of each kind above the plot, in the room that its name needs."""
    parts, x = [], axes.left
    for kind, name in enumerate(kinds):
        shown = "-" if name is None else name
        parts += [marks(kind, [(x + 4, 12)]), text(x + 12, 16, shown, size=11)]
        x += 24 + room_of([shown], 11)
    return parts


# --- Ranks of systems by every metric: one shade per cluster of systems that the tests do not tell apart


def rank_figure(result: Result) -> Figure | None:
    """The ranks of a result of kind `score` whose systems were compared in pairs; None of another, or of one system."""
    rows = [row for row in measured(result.rows) if row.get("rank") is not None and row.get("group") is None]
    if not rows:
        return None
    ranks: dict[str, dict[str, int]] = {}
    for row in rows:
        ranks.setdefault(system_name(row["system"]), {})[row["metric"]] = row["rank"]
    if len(ranks) < 2:
        return None
    specs = [metric["spec"] for metric in result.metrics]
    most = max(row["rank"] for row in rows)
    digits = {m["spec"]: digits_of(m, [row for row in rows if row["metric"] == m["spec"]]) for m in result.metrics}
    cells: dict[tuple[str, str], Cell] = {}
    for row in rows:
        shown = f"{row['rank']}  ({number(row['value'], digits[row['metric']])})"
        cells[system_name(row["system"]), row["metric"]] = amount(most - row["rank"], 0, most, text=shown)
    order = sorted(ranks, key=lambda name: sum(ranks[name].values()) / len(ranks[name]))
    lines = [(name, "", [cells.get((name, spec), Cell("")) for spec in specs]) for name in order]
    numbers = [
        {"system": system_name(row["system"]), "metric": row["metric"], "rank": row["rank"], "value": row["value"]}
        for row in rows
    ]
    note = (
        "The darker the better; beside the rank stands the score. A new rank begins where every system above is"
        " significantly better than every system below; systems of one shade are not told apart."
    )
    doubts = doubts_of(result)
    columns = [f"{spec} (?)" if spec in doubts else spec for spec in specs]
    note += "".join(f" (?) {spec} says nothing here: {doubt}." for spec, doubt in doubts.items())
    return Figure("Ranks", numbers, map={"columns": columns, "blocks": [("", lines)]}, note=note)


# --- Buckets of segments: by the length of the reference or the source, and by group

_MOST_BUCKETS, _FEWEST_TEXTS = 5, 6  # buckets of a length, and different texts in each
_MOST_GROUPS = 12
_LONG_WORD = 15  # characters per word from which a text is counted in characters: it has no blanks between words


@dataclass(frozen=True)
class Buckets:
    """Segments in buckets.

    Attributes:
        name: what tells the buckets apart.
        labels: what each of them is called, in order.
        places: the bucket of each segment, shape (n,); -1 for none.
    """

    name: str
    labels: Sequence[str]
    places: Counts


def buckets_of(texts: Sequence[Segment | None], groups: Sequence[str | None]) -> list[Buckets]:
    """The ways to put segments into at least two buckets.

    Args:
        texts: each segment, as far as its texts are known.
    """
    references = [s.references[0] if s is not None and s.references else None for s in texts]
    sources = [None if s is None else s.source for s in texts]
    side, chosen = ("reference", references) if any(map(bool, references)) else ("source", sources)
    names = sorted({group for group in groups if group is not None})
    place_of = {name: place for place, name in enumerate(names)}  # there may be as many groups as segments
    places = np.array([-1 if group is None else place_of[group] for group in groups], dtype=np.int64)
    found = [_lengths(side, chosen), Buckets("group", names if len(names) <= _MOST_GROUPS else [], places)]
    return [one for one in found if len(one.labels) > 1]


def _lengths(side: str, texts: Sequence[str | None]) -> Buckets:
    """Buckets of about as many texts each, or fewer where a bucket would hold few."""
    known = {text for text in texts if text}
    characters = sum(map(len, known)) > _LONG_WORD * sum(map(_words, known))
    measure = len if characters else _words
    n = min(_MOST_BUCKETS, len(known) // _FEWEST_TEXTS)
    ends = np.quantile([measure(text) for text in known], np.arange(1, n) / n) if n > 1 else np.zeros(0)
    cuts = np.unique(np.floor(ends)).astype(np.int64)  # the longest text of each bucket but the last
    lengths = np.array([-1 if not text else measure(text) for text in texts])
    places = np.where(lengths < 0, -1, np.searchsorted(cuts, lengths))
    used = np.unique(places[places >= 0])
    unit = "characters" if characters else "words"
    labels = [
        _label(0 if k == 0 else int(cuts[k - 1]) + 1, int(cuts[k]) if k < len(cuts) else None, unit) for k in used
    ]
    return Buckets(f"length of the {side}", labels, np.where(places < 0, -1, np.searchsorted(used, places)))


def _words(text: str) -> int:
    return len(text.split())


def _label(start: int, end: int | None, unit: str) -> str:
    if end is None:
        return f"{start} {unit} or more"
    return f"up to {end} {unit}" if not start else f"{start} to {end} {unit}" if end > start else f"{start} {unit}"


# --- Scores of segments in buckets: means by length or group, and how many segments of a system are in each quarter

_MOST_SYSTEMS = 4  # with bars of their own in each bucket
_WHOLE, _HIGH, _APART = 260, 20, 26  # pixels: a whole bar of quarters, its height, and from one bar to the next
_QUARTERS = ("worst quarter", "second", "third", "best quarter")
_SHADES = tuple(map(shade, (0.95, 0.62, 0.32, 0.08)))  # light and dark are told apart in grey, too


def bucket_figures(columns: Mapping[str, Array], systems: Sequence[str | None], buckets: Buckets) -> list[Figure]:
    """Mean scores by bucket with their intervals: one figure per column, and in each bucket one bar per system.

    More than four systems are taken together.

    Args:
        columns: metric, or `human.` and a criterion -> its value for each of n segments.
    """
    names = list(dict.fromkeys(systems))
    if len(names) > _MOST_SYSTEMS:
        names, systems = ["all systems"], ["all systems"] * len(systems)
    own = {name: np.array([system == name for system in systems]) for name in names}
    figures = []
    for column, values in columns.items():
        numbers = []
        for place, label in enumerate(buckets.labels):
            for name in names:
                inside = values[(buckets.places == place) & own[name] & np.isfinite(values)]
                mean, low, high = mean_interval(inside)
                if inside.size:
                    numbers.append(
                        {"bucket": label, "system": system_name(name), "value": mean, "low": low, "high": high}
                        | {"n": int(inside.size)}
                    )
        if len({row["bucket"] for row in numbers}) > 1:
            figures.append(_bucketed(_shown(column), buckets.name, [system_name(name) for name in names], numbers))
    return figures


def _bucketed(column: str, about: str, names: Sequence[str], numbers: Sequence[Mapping[str, Any]]) -> Figure:
    found, bucket = [], None
    for row in numbers:
        total = sum(other["n"] for other in numbers if other["bucket"] == row["bucket"])
        heading = "" if row["bucket"] == bucket else f"{row['bucket']} (n {total})"
        bucket = row["bucket"]
        found.append(
            FigureBar(row["system"], row["value"], row["low"], row["high"], names.index(row["system"]), heading)
        )
    title = f"{column} by {about}"
    return Figure(title, numbers, bars(title, found, digits_of({}, numbers)))


def quarter_figures(
    columns: Mapping[str, Array], systems: Sequence[str | None], falling: frozenset[str]
) -> list[Figure]:
    """How many segments of each system are in the worst and the best quarter of all; none of one system."""
    names = list(dict.fromkeys(systems))
    figures = []
    for column, values in columns.items():
        known = np.isfinite(values)
        if len(names) < 2 or len(np.unique(values[known])) < len(_QUARTERS):
            continue
        signed = np.where(known, -values if column in falling else values, np.nan)
        places = np.searchsorted(np.quantile(signed[known], (0.25, 0.5, 0.75)), signed)
        counts = {}
        for name in names:
            own = np.array([system == name for system in systems]) & known
            if own.any():
                counts[system_name(name)] = np.bincount(places[own], minlength=len(_QUARTERS)).tolist()
        if len(counts) > 1:
            figures.append(_quartered(_shown(column), counts))
    return figures


def _quartered(column: str, counts: Mapping[str, Sequence[int]]) -> Figure:
    from markupsafe import Markup, escape

    left = EDGE + room_of(list(counts)) + 8
    parts: list[str] = []
    for i, (name, own) in enumerate(counts.items()):
        x, top = left, EDGE + _APART * i
        parts.append(text(left - 8, top + 15, name, anchor="end"))
        for quarter, colour, n in zip(_QUARTERS, _SHADES, own, strict=True):
            wide = _WHOLE * n / sum(own)
            said = escape(clean(f"{name}, {quarter}: {n} of {sum(own)}"))
            parts.append(
                f'<rect x="{x:.1f}" y="{top}" width="{wide:.1f}" height="{_HIGH}" fill="{colour}"'
                f' stroke="currentColor" stroke-opacity="0.3"><title>{said}</title></rect>'
            )
            if wide > 10 * len(str(n)):
                parts.append(
                    f'<text x="{x + wide / 2:.1f}" y="{top + 15}" text-anchor="middle" fill="{ink(colour)}">{n}</text>'
                )
            x += wide
    bottom = EDGE + _APART * len(counts) + SIZE
    parts.append(text(left, bottom, "← worst quarter", quiet=True))
    parts.append(text(left + _WHOLE, bottom, "best quarter →", anchor="end", quiet=True))
    numbers = [
        {"system": name, "quarter": quarter, "place": place, "n": n}
        for name, own in counts.items()
        for place, (quarter, n) in enumerate(zip(_QUARTERS, own, strict=True))
    ]
    listed = "; ".join(f"{name} {', '.join(map(str, own))}" for name, own in counts.items())
    title = f"{column} in quarters"
    label = f"{title}, from the worst to the best: {listed}"
    markup = Markup(picture(left + _WHOLE + EDGE, bottom + EDGE, label, parts))
    return Figure(title, numbers, markup)


def _shown(column: str) -> str:
    return f"{column.removeprefix(PEOPLE)} (people)" if column.startswith(PEOPLE) else column


# --- Scores of segments as figures: each metric over the ratings of people, and how metrics correlate with each other

_MOST_KINDS = 4  # systems that can be told apart


def scatter_figures(columns: Mapping[str, Array], systems: Sequence[str | None]) -> list[Figure]:
    """Every metric over every criterion that people rated; none without ratings.

    Args:
        columns: metric, or `human.` and a criterion -> its value for each of n segments.
    """
    rated = [name for name in columns if name.startswith(PEOPLE)]
    scored = [name for name in columns if not name.startswith(PEOPLE)]
    names = list(dict.fromkeys(systems))
    kinds = names if 1 < len(names) <= _MOST_KINDS else []
    figures = []
    for criterion in rated:
        for metric in scored:
            known = np.isfinite(columns[criterion]) & np.isfinite(columns[metric])
            if known.sum() > 1:
                own = [systems[i] for i in np.flatnonzero(known).tolist()]
                points = zip(columns[criterion][known].tolist(), columns[metric][known].tolist(), own, strict=True)
                figures.append(_scatter(metric, criterion, list(points), kinds))
    return figures


def _scatter(
    metric: str, criterion: str, points: Sequence[tuple[float, float, str | None]], kinds: Sequence[str | None]
) -> Figure:
    people = criterion.removeprefix(PEOPLE)
    field = f"{people} (people)" if people in (metric, "system", "n") else people  # fields of one row differ
    xs, ys = [x for x, _, _ in points], [y for _, y, _ in points]
    r = number(_pearson(np.array(xs), np.array(ys)), 2)
    rows = [{"system": system, field: x, metric: y} for x, y, system in points]
    shapes = [kinds.index(system) if system in kinds else 0 for _, _, system in points]
    axes = Axes(f"{people}, as people rate it", metric, ticks(xs, 6), ticks(ys, 6))
    label = f"{metric} over {people} of {len(points)} segments, Pearson {r}"
    numbers, markup = points_plot(label, axes, xs, ys, (field, metric), rows, shapes, kinds)
    return Figure(f"{metric} and {people}", numbers, markup, note=f"Pearson {r}, n {len(points)}")


def correlation_figure(columns: Mapping[str, Array]) -> Figure | None:
    """Pearson correlations of all columns with each other, over the segments that both have; None of less than two."""
    names = [name for name, values in columns.items() if np.isfinite(values).sum() > 1]
    if len(names) < 2:
        return None
    values = {(one, other): _pearson(columns[one], columns[other]) for one in names for other in names}
    shown = list(map(_shown, names))
    lines = [
        (label, "", [_cell(values[one, other]) for other in names]) for label, one in zip(shown, names, strict=True)
    ]
    numbers = [{"score": one, "with": other, "pearson": value} for (one, other), value in values.items()]
    note = "Pearson over segments: brown where two rise together, blue where one falls as the other rises, white at 0."
    table = {"columns": shown, "blocks": [("", lines)]}
    return Figure("How scores correlate", numbers, map=table, note=note)


def _cell(value: float) -> Cell:
    return Cell(UNDEFINED) if math.isnan(value) else Cell(number(value, 2), signed(0.55 * value))


def _pearson(xs: Array, ys: Array) -> float:
    known = np.isfinite(xs) & np.isfinite(ys)
    both = xs[known], ys[known]
    if not known.any() or any(values.min() == values.max() for values in both):  # a mean of equal numbers may be off
        return math.nan
    x, y = (values - values.mean() for values in both)
    scale = math.sqrt(float(x @ x) * float(y @ y))
    return float(x @ y) / scale if scale > 0 else math.nan


# --- System against system: the scores that two of them got for the same items, and which of the two is better

_LEAST = 2  # items that two systems have in common


def system_figures(
    columns: Mapping[str, Array], systems: Sequence[str | None], items: Sequence[str], falling: frozenset[str]
) -> list[Figure]:
    """Every two systems by every metric: first the best two by each metric, then the others.

    Args:
        columns: metric, or `human.` and a criterion, which is left out -> its value for each of n segments.
        items: what each segment is about; two systems are compared on the items that both have.
        falling: the metrics that are better where they are lower.
    """
    found = []
    for metric, values in columns.items():
        if metric.startswith(PEOPLE):
            continue
        scores: dict[str | None, dict[str, float]] = {}
        for system, item, value in zip(systems, items, values.tolist(), strict=True):
            if np.isfinite(value):
                scores.setdefault(system, {}).setdefault(item, value)
        sign = -1 if metric in falling else 1
        order = sorted(scores, key=lambda name: -sign * float(np.mean([*scores[name].values()])))
        for place, (a, b) in enumerate(combinations(order, 2)):
            both = [(item, x, scores[b][item]) for item, x in scores[a].items() if item in scores[b]]
            if len(both) >= _LEAST:
                names = system_name(a), system_name(b)
                found.append((place, _systems_figure(metric, names, both, sign)))
    return [figure for _, figure in sorted(found, key=lambda one: one[0])]


def _systems_figure(metric: str, names: tuple[str, str], both: Sequence[tuple[str, float, float]], sign: int) -> Figure:
    xs, ys = [x for _, x, _ in both], [y for _, _, y in both]
    shapes = [0 if sign * x > sign * y else 1 if x != y else 2 for x, y in zip(xs, ys, strict=True)]
    counts = [shapes.count(shape) for shape in range(3)]
    fields = f"{metric} of {names[0]}", f"{metric} of {names[1]}"
    rows = [
        {"item": item.strip(), fields[0]: x, fields[1]: y, "better": (*names, "equal")[shape]}
        for (item, x, y), shape in zip(both, shapes, strict=True)
    ]
    better = (f"{names[0]} better", f"{names[1]} better", "equal")
    note = "; ".join(f"{name} on {count}" for name, count in zip(better, counts, strict=True))
    title, ends = f"{metric}: {names[0]} and {names[1]}", ticks([*xs, *ys], 6)
    axes = Axes(f"{metric}, {names[0]}", f"{metric}, {names[1]}", ends, ends)
    shown = better[: 3 if counts[2] else 2]
    numbers, markup = points_plot(f"{title}. {note}", axes, xs, ys, fields, rows, shapes, shown, diagonal=True)
    return Figure(title, numbers, markup, note=f"{note} of {len(both)} items")
