"""Scores of segments as figures: each metric over the ratings of people, and how metrics correlate with each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.report.colours import signed
from nlgauge.report.figure import DIVERGING, Figure, shaded
from nlgauge.report.figures.points import MOST_POINTS, density, escaped, legend, marks
from nlgauge.report.maps import Cell
from nlgauge.report.plots import Axes, Frame, grid, picture, ticks
from nlgauge.report.rows import PEOPLE, UNDEFINED, number

_MOST_KINDS = 4  # systems that can be told apart


def scatter_figures(columns: Mapping[str, Array], systems: Sequence[str | None]) -> list[Figure]:
    """Every metric over every criterion that people rated; none without ratings.

    Args:
        columns: metric, or `human.` and a criterion -> its value for each of n segments.
        systems: the system of each segment.
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
    from markupsafe import Markup

    people = criterion.removeprefix(PEOPLE)
    field = f"{people} (people)" if people in (metric, "system", "n") else people  # fields of one row differ
    xs, ys = [x for x, _, _ in points], [y for _, y, _ in points]
    frame = Frame.of(Axes(f"{people}, as people rate it", metric, ticks(xs, 6), ticks(ys, 6)))
    r = number(_pearson(np.array(xs), np.array(ys)), 2)
    numbers: list[dict[str, Any]]
    if len(points) <= MOST_POINTS:
        numbers = [{"system": system, field: x, metric: y} for x, y, system in points]
        kind = [kinds.index(s) if s in kinds else 0 for _, _, s in points]
        places = [(frame.x(x), frame.y(y)) for x, y, _ in points]
        drawn = [marks(k, (at for at, own in zip(places, kind, strict=True) if own == k)) for k in sorted({*kind})]
        drawn += legend(frame, kinds)
    else:
        numbers, drawn = density(frame, xs, ys, field, metric)
    encoding: dict[str, Any] = {
        axis: {"field": escaped(name), "type": "quantitative", "scale": {"zero": False}}
        for axis, name in (("x", field), ("y", metric))
    }
    if len(points) <= MOST_POINTS:
        encoding["color"] = {"field": "system", "type": "nominal"}
    else:
        encoding["size"] = {"field": "n", "type": "quantitative"}
    label = f"{metric} over {people} of {len(points)} segments, Pearson {r}"
    markup = Markup(picture(*frame.size, label, [*grid(frame), *drawn]))
    chart = {"mark": "point", "encoding": encoding}
    return Figure(f"{metric} and {people}", numbers, chart, markup, note=f"Pearson {r}, n {len(points)}")


def correlation_figure(columns: Mapping[str, Array]) -> Figure | None:
    """Pearson correlations of all columns with each other, over the segments that both have; None of less than two."""
    names = [name for name, values in columns.items() if np.isfinite(values).sum() > 1]
    if len(names) < 2:
        return None
    values = {(one, other): _pearson(columns[one], columns[other]) for one in names for other in names}
    shown = [f"{name.removeprefix(PEOPLE)} (people)" if name.startswith(PEOPLE) else name for name in names]
    lines = [
        (label, "", [_cell(values[one, other]) for other in names]) for label, one in zip(shown, names, strict=True)
    ]
    numbers = [{"score": one, "with": other, "pearson": value} for (one, other), value in values.items()]
    note = "Pearson over segments: brown where two rise together, blue where one falls as the other rises, white at 0."
    table = {"columns": shown, "blocks": [("", lines)]}
    return Figure(
        "How scores correlate", numbers, shaded("with", "score", "pearson", scale=DIVERGING), map=table, note=note
    )


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
