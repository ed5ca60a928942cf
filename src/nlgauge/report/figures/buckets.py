"""Scores of segments in buckets: means by length or group, and how many segments of a system are in each quarter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.report.buckets import Buckets
from nlgauge.report.colours import ink, shade
from nlgauge.report.figure import Figure, with_intervals
from nlgauge.report.figures.bars import Bar, bars
from nlgauge.report.kinds.score import digits_of, system_name
from nlgauge.report.labels import clean
from nlgauge.report.plots import EDGE, SIZE, picture, room_of, text
from nlgauge.report.rows import PEOPLE
from nlgauge.stats.draws import mean_interval

_MOST_SYSTEMS = 4  # with bars of their own in each bucket
_WIDTH, _BAR, _STEP = 260, 20, 26  # pixels: a whole bar of quarters, its height, and from one bar to the next
_QUARTERS = ("worst quarter", "second", "third", "best quarter")
_SHADES = tuple(map(shade, (0.95, 0.62, 0.32, 0.08)))  # light and dark are told apart in grey, too
_STACKED = {
    "mark": "bar",
    "encoding": {
        "y": {"field": "system", "type": "nominal", "sort": None},
        "x": {"field": "n", "type": "quantitative", "stack": "normalize"},
        "color": {"field": "quarter", "type": "ordinal", "sort": list(_QUARTERS)},
        "order": {"field": "place", "type": "ordinal"},
    },
}


def bucket_figures(columns: Mapping[str, Array], systems: Sequence[str | None], buckets: Buckets) -> list[Figure]:
    """Mean scores by bucket with their intervals: one figure per column, and in each bucket one bar per system.

    More than four systems are taken together.

    Args:
        columns: metric, or `human.` and a criterion -> its value for each of n segments.
        systems: the system of each segment.
        buckets: of the segments.
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
        found.append(Bar(row["system"], row["value"], row["low"], row["high"], names.index(row["system"]), heading))
    title = f"{column} by {about}"
    return Figure(title, numbers, with_intervals("bucket", by="system"), bars(title, found, digits_of({}, numbers)))


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
        x, top = left, EDGE + _STEP * i
        parts.append(text(left - 8, top + 15, name, anchor="end"))
        for quarter, colour, n in zip(_QUARTERS, _SHADES, own, strict=True):
            wide = _WIDTH * n / sum(own)
            said = escape(clean(f"{name}, {quarter}: {n} of {sum(own)}"))
            parts.append(
                f'<rect x="{x:.1f}" y="{top}" width="{wide:.1f}" height="{_BAR}" fill="{colour}" stroke="currentColor"'
                f' stroke-opacity="0.3"><title>{said}</title></rect>'
            )
            if wide > 10 * len(str(n)):
                parts.append(
                    f'<text x="{x + wide / 2:.1f}" y="{top + 15}" text-anchor="middle" fill="{ink(colour)}">{n}</text>'
                )
            x += wide
    bottom = EDGE + _STEP * len(counts) + SIZE
    parts.append(text(left, bottom, "← worst quarter", quiet=True))
    parts.append(text(left + _WIDTH, bottom, "best quarter →", anchor="end", quiet=True))
    numbers = [
        {"system": name, "quarter": quarter, "place": place, "n": n}
        for name, own in counts.items()
        for place, (quarter, n) in enumerate(zip(_QUARTERS, own, strict=True))
    ]
    listed = "; ".join(f"{name} {', '.join(map(str, own))}" for name, own in counts.items())
    title = f"{column} in quarters"
    label = f"{title}, from the worst to the best: {listed}"
    markup = Markup(picture(left + _WIDTH + EDGE, bottom + EDGE, label, parts))
    return Figure(title, numbers, _STACKED, markup)


def _shown(column: str) -> str:
    return f"{column.removeprefix(PEOPLE)} (people)" if column.startswith(PEOPLE) else column
