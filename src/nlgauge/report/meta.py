"""A meta-evaluation as a page: values with their intervals, groups and criteria as shades, tests as a triangle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.colours import ink, shade
from nlgauge.report.html import render
from nlgauge.report.maps import amount
from nlgauge.report.marks import UNDEFINED, absent, between, descending, number, whisker
from nlgauge.report.rows import (
    MEAN,
    PEOPLE,
    POOLED,
    SIGNIFICANT,
    Row,
    by_keys,
    compared,
    is_of_people,
    measured,
    values_of,
)
from nlgauge.report.tables.meta import group_triangles, selection_tables
from nlgauge.report.tables.table import Table

_WIDTH = 260  # pixels of the axis
_SECTION = ("criterion", "level", "stat")


def meta_html(result: Result) -> str:
    """The page of a result of kind `meta` or `select`."""
    return render(
        "meta.html",
        inputs=result.inputs,
        heading="Which model is the best?" if result.kind == "select" else "Metrics against people",
        sections=list(_sections([row for row in result.rows if not is_of_people(row)])),
        tables=selection_tables(result) if result.kind == "select" else [],
        matrices=list(_matrices(result.rows)),
        metrics=result.metrics,
        notes=result.notes,
        command=result.command,
        alpha=SIGNIFICANT,
    )


def _matrices(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Tables of criteria with each other and of metrics with criteria, for each level and statistic.

    There are none where criteria are not compared.
    """
    means = [row for row in measured(rows) if row["group"] == MEAN]
    for (level, stat), own in by_keys(means, "level", "stat").items():
        people = [row for row in own if is_of_people(row)]
        if not people:
            continue
        metrics = [row for row in own if not is_of_people(row)]
        criteria = values_of(metrics, "criterion")
        rated = set(values_of(people, "criterion"))
        names = [name for name in criteria if name in rated]
        values = {(f"{PEOPLE}{name}", name): 1.0 for name in names}  # each with itself
        values |= {(row["metric"], row["criterion"]): row["value"] for row in own}
        about = f"{stat}, level {level}"
        keys = [(name, f"{PEOPLE}{name}") for name in names]
        yield _matrix("Criteria with each other", about, names, keys, values)
        keys = [(name, name) for name in values_of(metrics, "metric")]
        yield _matrix("Metrics with criteria", about, criteria, keys, values)


def _matrix(
    title: str,
    about: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, str]],
    values: Mapping[tuple[str, str], float],
) -> dict[str, Any]:
    lines = [(shown, "", [amount(values.get((key, column))) for column in columns]) for shown, key in rows]
    return {"title": title, "about": about, "columns": columns, "blocks": [("", lines)]}


def _sections(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    tests = by_keys(compared(rows), *_SECTION)
    for section, values in by_keys(measured(rows), *_SECTION).items():
        yield _section(values, tests.get(section, []))


def _section(rows: Sequence[Row], tests: Sequence[Row]) -> dict[str, Any]:
    first = rows[0]
    groups = [group for group in values_of(rows, "group") if group not in (MEAN, POOLED)]
    means = {row["metric"]: row for row in rows if row["group"] == MEAN}
    counts = {row["metric"]: row for row in rows if row["group"] == groups[0]} if len(groups) == 1 else means
    order = sorted(means, key=lambda metric: descending(means[metric]["value"])) if tests else list(means)
    ends = [x for row in means.values() for x in (row["value"], row["low"], row["high"]) if not absent(x)]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    cells = {(row["metric"], row["group"]): row for row in rows}
    defined = [row["value"] for row in cells.values() if not absent(row["value"])]
    chances = (row["chance"] for row in means.values() if not absent(row["chance"]) and row["chance"] > 0)
    ties = f", ties {first['ties']}" if first["ties"] is not None else ""
    return {
        "title": f"{first['stat']} with {first['criterion']}",
        "about": f"level {first['level']}, averaging {first['averaging']}{ties}",
        "axis": f"{low:.2f} to {high:.2f}",
        "ranked": any(row.get("rank") is not None for row in means.values()),
        "chance": next((f"{chance:.3f}" for chance in chances), ""),
        "intervals": any(not absent(row["low"]) for row in means.values()),
        "counted": "n" if len(groups) == 1 else "groups",
        "lines": [_line(means[metric], counts[metric], low, high) for metric in order],
        "groups": ["-" if g is None else g for g in groups] if len(groups) > 1 else [],
        "cells": [(metric, [_shaded(cells.get((metric, g)), defined) for g in groups]) for metric in order],
        "triangles": [_triangle(table) for table in group_triangles(tests)],
    }


def _line(row: Row, counted: Row, low: float, high: float) -> dict[str, Any]:
    drawn = not absent(row["low"]) and not absent(row["value"])
    return {
        "metric": row["metric"],
        "value": number(row["value"]),
        "interval": between(row["low"], row["high"]),
        "picture": whisker(row, low, high, width=_WIDTH, zero=True) if drawn else "",
        "rank": row.get("rank") or "",
        "best": bool(row.get("not_outperformed")),
        "n": counted["n_used"],
        "n_undefined": counted["n_undefined"],
    }


def _triangle(table: Table) -> dict[str, Any]:
    """p-values of the better metric against the others, those that are significant shaded; what signs mean below."""
    lines = [
        (line[0], [_p_cell(cell, (i, j) in table.marked) for j, cell in enumerate(line[1:], start=1)])
        for i, line in enumerate(table.body)
    ]
    meaning = f"* {table.marked_as}"
    return {"claim": "; ".join([table.title, meaning, *table.legend]), "columns": table.header[1:], "lines": lines}


def _p_cell(cell: str, significant: bool) -> tuple[str, str]:
    if not cell or cell == UNDEFINED:
        return cell, ""
    return cell + (" *" if significant else ""), _background(shade(0.35 if significant else 0.0))


def _shaded(row: Row | None, defined: Sequence[float]) -> tuple[str, str, str]:
    """The value of a group, its interval and its colour."""
    if row is None or absent(row["value"]):
        return UNDEFINED if row is not None else "", "", ""
    value, low, high = row["value"], min(defined), max(defined)
    return (
        number(value),
        between(row["low"], row["high"]),
        _background(shade(0.7 * (value - low) / (high - low) if high > low else 0.0)),
    )


def _background(colour: str) -> str:
    return f"background: {colour}; color: {ink(colour)}"
