"""A meta-evaluation as a page: values with their intervals on one axis, groups and criteria as shades, a triangle of significance."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nlgauge.core.result import Result, replacing
from nlgauge.report.colours import ink, shade
from nlgauge.report.drawing import Cell, heat_map
from nlgauge.report.html import render
from nlgauge.report.signed import signed

_MEAN, _POOLED, _PEOPLE = "mean", "pooled", "human."
_ALPHA = 0.05
_WIDTH, _HEIGHT, _EDGE = 260, 16, 5
Row = Mapping[str, Any]


def write_html(result: Result, path: str | Path) -> None:
    """Write a result of kind `meta` as one self-contained page, whole or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    with replacing(path) as file:
        file.write(meta_html(result))


def meta_html(result: Result) -> str:
    """The page of a result of kind `meta`."""
    return render(
        "meta.html",
        inputs=result.inputs,
        sections=list(_sections([row for row in result.rows if not _is_criterion(row)])),
        matrices=list(_matrices(result.rows)),
        metrics=[{**metric, "signature": str(metric["signature"]).split("|")} for metric in result.metrics],
        notes=result.notes,
        alpha=_ALPHA,
    )


def _is_criterion(row: Row) -> bool:
    """Whether a row holds a criterion against another, as `--criteria` adds them."""
    return str(row["metric"]).startswith(_PEOPLE) and "chance" not in row


def _matrices(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Criteria with each other and metrics with criteria, one a level and statistic; nothing where criteria are not compared."""
    means = [row for row in rows if row["group"] == _MEAN and row.get("against") is None]
    for level, stat in dict.fromkeys((row["level"], row["stat"]) for row in means if _is_criterion(row)):
        own = [row for row in means if (row["level"], row["stat"]) == (level, stat)]
        people = [row for row in own if _is_criterion(row)]
        criteria = list(dict.fromkeys(row["criterion"] for row in own if not _is_criterion(row)))
        names = [name for name in criteria if name in {row["criterion"] for row in people}]
        known = {(row["metric"], row["criterion"]): row["value"] for row in own}
        itself = {(f"{_PEOPLE}{name}", name): 1.0 for name in names}
        metrics = list(dict.fromkeys(row["metric"] for row in own if not _is_criterion(row)))
        about = f"{stat}, level {level}"
        yield _matrix(
            "Criteria with each other",
            about,
            names,
            [(name, f"{_PEOPLE}{name}") for name in names],
            {**itself, **known},
        )
        yield _matrix("Metrics with criteria", about, criteria, [(name, name) for name in metrics], known)


def _matrix(
    title: str,
    about: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, str]],
    known: Mapping[tuple[str, str], float],
) -> dict[str, Any]:
    from markupsafe import Markup

    cells = [[_signed(known.get((key, column)), f"{shown}, {column}") for column in columns] for shown, key in rows]
    return {
        "title": title,
        "about": about,
        "picture": Markup(heat_map(title, columns, [("", shown) for shown, _ in rows], cells)),
    }


def _signed(value: float | None, title: str) -> Cell:
    if value is None or math.isnan(value):
        return Cell("undefined")
    return Cell(f"{value:.2f}", signed(value), title)


def _sections(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    values = [row for row in rows if row.get("against") is None]
    for criterion, level, stat in dict.fromkeys((row["criterion"], row["level"], row["stat"]) for row in values):
        own = [row for row in values if (row["criterion"], row["level"], row["stat"]) == (criterion, level, stat)]
        tested = [
            row
            for row in rows
            if row.get("against") is not None
            and (row["criterion"], row["level"], row["stat"]) == (criterion, level, stat)
        ]
        yield _section(own, tested)


def _section(rows: Sequence[Row], tested: Sequence[Row]) -> dict[str, Any]:
    first = rows[0]
    groups = [g for g in dict.fromkeys(row["group"] for row in rows) if g not in (_MEAN, _POOLED)]
    means = {row["metric"]: row for row in rows if row["group"] == _MEAN}
    counts = {row["metric"]: row for row in rows if row["group"] == groups[0]} if len(groups) == 1 else means
    order = sorted(means, key=lambda metric: -_sortable(means[metric]["value"])) if tested else list(means)
    ends = [x for row in means.values() for x in (row["value"], row["low"], row["high"]) if not _absent(x)]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    by_group = {(row["metric"], row["group"]): row["value"] for row in rows}
    known = [value for value in by_group.values() if not _absent(value)]
    return {
        "title": f"{first['stat']} with {first['criterion']}",
        "about": (
            f"level {first['level']}, averaging {first['averaging']}"
            + (f", ties {first['ties']}" if first["ties"] is not None else "")
        ),
        "axis": f"{low:.2f} to {high:.2f}",
        "ranked": any(row.get("rank") is not None for row in means.values()),
        "chance": next(
            (f"{row['chance']:.3f}" for row in means.values() if not _absent(row["chance"]) and row["chance"] > 0), ""
        ),
        "intervals": any(not _absent(row["low"]) for row in means.values()),
        "counted": "n" if len(groups) == 1 else "groups",
        "lines": [_line(means[metric], counts[metric], low, high) for metric in order],
        "groups": ["-" if g is None else g for g in groups] if len(groups) > 1 else [],
        "cells": [(metric, [_shaded(by_group.get((metric, g)), known) for g in groups]) for metric in order],
        "triangle": _triangle(tested, order),
    }


def _line(row: Row, counted: Row, low: float, high: float) -> dict[str, Any]:
    has_interval = not _absent(row["low"])
    return {
        "metric": row["metric"],
        "value": _number(row["value"]),
        "interval": f"{_number(row['low'])} to {_number(row['high'])}" if has_interval else "",
        "picture": _whisker(row, low, high) if has_interval and not _absent(row["value"]) else "",
        "rank": row.get("rank") or "",
        "best": bool(row.get("not_outperformed")),
        "n": counted["n_used"],
        "n_undefined": counted["n_undefined"],
    }


def _triangle(tested: Sequence[Row], order: Sequence[str]) -> dict[str, Any] | None:
    """p-values of the better metric against the others, on the mean or on the only group."""
    p = {
        (row["metric"], row["against"]): row["p"] if row.get("p_adjusted") is None else row["p_adjusted"]
        for row in tested
        if row["group"] == _MEAN
    }
    if not p:
        return None
    lines = []
    for i, metric in enumerate(order[:-1]):
        cells = [_p_cell(p.get((metric, other))) if j > i else ("", "") for j, other in enumerate(order[1:], start=1)]
        lines.append((metric, cells))
    first = tested[0]
    claim = "row better than column" if first["alternative"] == "greater" else "row and column differ"
    return {"claim": f"p of {claim} ({first['test']})", "columns": order[1:], "lines": lines}


def _p_cell(p: float | None) -> tuple[str, str]:
    if _absent(p):
        return "undefined", ""
    assert p is not None
    colour = shade(0.35 if p < _ALPHA else 0.0)
    return f"{p:.3f}" + (" *" if p < _ALPHA else ""), f"background: {colour}; color: {ink(colour)}"


def _shaded(value: float | None, known: Sequence[float]) -> tuple[str, str]:
    if _absent(value):
        return "undefined" if value is not None else "", ""
    assert value is not None
    low, high = min(known), max(known)
    colour = shade(0.7 * (value - low) / (high - low) if high > low else 0.0)
    return _number(value), f"background: {colour}; color: {ink(colour)}"


def _whisker(row: Row, low: float, high: float) -> Any:
    """The interval as a line with its value as a dot; numbers only, so nothing needs escaping."""
    from markupsafe import Markup

    def x(value: float) -> float:
        return _EDGE + (_WIDTH - 2 * _EDGE) * ((value - low) / (high - low) if high > low else 0.5)

    middle = _HEIGHT / 2
    zero = f'<line x1="{x(0):.1f}" x2="{x(0):.1f}" y1="0" y2="{_HEIGHT}" stroke="#d9dee3"/>' if low < 0 < high else ""
    line = (
        f'<line x1="{x(row["low"]):.1f}" x2="{x(row["high"]):.1f}" y1="{middle}" y2="{middle}" stroke="#5b6672"'
        ' stroke-width="2"/>'
    )
    dot = f'<circle cx="{x(row["value"]):.1f}" cy="{middle}" r="4" fill="#1d4ed8"/>'
    label = f"{row['value']:.3f}, {row['low']:.3f} to {row['high']:.3f}"
    return Markup(f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{label}">{zero}{line}{dot}</svg>')


def _number(value: float | None) -> str:
    return "undefined" if _absent(value) else f"{value:.3f}"


def _absent(value: float | None) -> bool:
    return value is None or math.isnan(value)


def _sortable(value: float | None) -> float:
    return -math.inf if value is None or math.isnan(value) else value
