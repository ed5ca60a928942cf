"""System against system: the scores that two of them got for the same items, and which of the two is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.report.figure import Figure
from nlgauge.report.figures.points import MOST_POINTS, density, escaped, legend, marks
from nlgauge.report.plots import Axes, Frame, grid, picture, ticks
from nlgauge.report.rows import PEOPLE

_LEAST = 2  # items that two systems have in common


def system_figures(
    columns: Mapping[str, Array], systems: Sequence[str | None], items: Sequence[str], falling: frozenset[str]
) -> list[Figure]:
    """Every two systems by every metric: first the best two by each metric, then the others.

    Args:
        columns: metric, or `human.` and a criterion, which is left out -> its value for each of n segments.
        systems: the system of each segment.
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
                found.append((place, _figure(metric, ("-" if a is None else a, "-" if b is None else b), both, sign)))
    return [figure for _, figure in sorted(found, key=lambda one: one[0])]


def _figure(metric: str, names: tuple[str, str], both: Sequence[tuple[str, float, float]], sign: int) -> Figure:
    from markupsafe import Markup

    xs, ys = [x for _, x, _ in both], [y for _, _, y in both]
    ends = ticks([*xs, *ys], 6)
    frame = Frame.of(Axes(f"{metric}, {names[0]}", f"{metric}, {names[1]}", ends, ends))
    kinds = [0 if sign * x > sign * y else 1 if x != y else 2 for x, y in zip(xs, ys, strict=True)]
    counts = [kinds.count(kind) for kind in range(3)]
    fields = [f"{metric} of {name}" for name in names]
    numbers: list[dict[str, Any]]
    encoding: dict[str, Any] = {
        axis: {"field": escaped(name), "type": "quantitative", "scale": {"zero": False}}
        for axis, name in zip("xy", fields, strict=True)
    }
    better = (f"{names[0]} better", f"{names[1]} better", "equal")
    if len(both) <= MOST_POINTS:
        numbers = [
            {"item": item.strip(), fields[0]: x, fields[1]: y, "better": (*names, "equal")[kind]}
            for (item, x, y), kind in zip(both, kinds, strict=True)
        ]
        places = [(frame.x(x), frame.y(y)) for x, y in zip(xs, ys, strict=True)]
        drawn = [marks(k, (at for at, own in zip(places, kinds, strict=True) if own == k)) for k in range(3)]
        drawn += legend(frame, better[: 3 if counts[2] else 2])
        encoding |= {name: {"field": "better", "type": "nominal"} for name in ("color", "shape")}
    else:
        numbers, drawn = density(frame, xs, ys, *fields)
        encoding["size"] = {"field": "n", "type": "quantitative"}
    equal = (
        f'<path d="M{frame.x(ends[0]):.1f} {frame.y(ends[0]):.1f}L{frame.x(ends[-1]):.1f} {frame.y(ends[-1]):.1f}"'
        ' stroke="currentColor" stroke-opacity="0.5" stroke-dasharray="4 3"/>'
    )
    title = f"{metric}: {names[0]} and {names[1]}"
    note = "; ".join(f"{name} on {count}" for name, count in zip(better, counts, strict=True))
    markup = Markup(picture(*frame.size, f"{title}. {note}", [*grid(frame), equal, *drawn]))
    return Figure(title, numbers, {"mark": "point", "encoding": encoding}, markup, note=f"{note} of {len(both)} items")
