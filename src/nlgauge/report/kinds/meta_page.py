"""A meta-evaluation as a page: a summary, values with their intervals on one axis, groups as shades, tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.figure import Figure, banded, shaded, with_intervals
from nlgauge.report.html import render_result
from nlgauge.report.kinds.meta import group_triangles
from nlgauge.report.kinds.official import AVERAGE, official_tables
from nlgauge.report.kinds.select import selection_tables
from nlgauge.report.maps import Cell, amount
from nlgauge.report.plots import Curve, axes_of, curves_plot, swatch
from nlgauge.report.rows import (
    MEAN,
    PEOPLE,
    POOLED,
    SIGNIFICANT,
    Row,
    absent,
    between,
    by_keys,
    compared,
    descending,
    is_of_people,
    measured,
    number,
    rank_rule,
    values_of,
)
from nlgauge.report.strips import Axis, axis_of, strip
from nlgauge.report.table import Table

_DRAWN = ("metric", "value", "low", "high")
_FALLING = ("diff",)  # statistics that are better where they are smaller
Section = dict[str, Any]
Scale = tuple[float, float]  # the values of the lightest and the darkest shade


def meta_html(result: Result) -> str:
    """The page of a result of kind `meta`."""
    return _html(result, "Metrics against people")


def selection_html(result: Result) -> str:
    """The page of a result of kind `select`."""
    return _html(result, "Which model is the best?", selecting=True, tables=selection_tables(result))


def _html(result: Result, heading: str, *, selecting: bool = False, tables: Sequence[Table] = ()) -> str:
    rows = [row for row in result.rows if not is_of_people(row)]
    official = official_tables(result)
    studies = list(_studies([row for row in rows if not (official and row["stat"] == AVERAGE)], directed=selecting))
    return render_result(
        "meta.html",
        result,
        heading=heading,
        selecting=selecting,
        summaries=[study["summary"] for study in studies if study["summary"]],
        sections=[section for study in studies for section in study["sections"]],
        tables=tables,
        official=official,
        rule=rank_rule(result.notes),
        matrices=list(_matrices(result.rows)),
        curves=list(_layers(rows)),
        alpha=SIGNIFICANT,
    )


def _layers(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Agreement by layer, one curve for each model, of a result that studies layers.

    References:
        Zhang et al. (2020), "BERTScore", figure 3.
    """
    from markupsafe import Markup

    tasks = by_keys([row for row in measured(rows) if "layer" in row], "stat", "criterion", "level")
    for (stat, criterion, level), own in tasks.items():
        means = [row for row in own if row["group"] == MEAN] or own
        curves = [_of_model(name, found) for (name,), found in by_keys(means, "model").items()]
        picture = curves_plot(f"{stat} by layer", curves, axes_of(curves, "layer", stat))
        legend = [(Markup(swatch(k)), curve.name) for k, curve in enumerate(curves)]
        about = f"{stat} with {criterion}, level {level}"
        numbers = [{name: row[name] for name in ("model", "layer", "value", "low", "high")} for row in means]
        links = Figure(f"By layer, {about}", numbers, banded("layer", "model")).links
        yield {"title": "By layer", "about": about, "picture": Markup(picture), "legend": legend, "links": links}


def _of_model(name: str, rows: Sequence[Row]) -> Curve:
    """The curve of a model over its layers, with a ring at its best one."""
    values, low, high = ([math.nan if absent(row[k]) else row[k] for row in rows] for k in ("value", "low", "high"))
    known = [i for i, value in enumerate(values) if not math.isnan(value)]
    return Curve(
        name,
        [(row["layer"], value) for row, value in zip(rows, values, strict=True)],
        titles=[f"{name}, layer {row['layer']}: {number(row['value'])}" for row in rows],
        band=list(zip(low, high, strict=True)),
        bold=max(known, key=values.__getitem__, default=None),
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


def _studies(rows: Sequence[Row], *, directed: bool) -> Iterator[dict[str, Any]]:
    """For each level and statistic its sections, one per criterion, with one order of metrics and one axis for all.

    Several criteria have a summary. It takes the place of a section for their mean.
    """
    tests = by_keys(compared(rows), "criterion", "level", "stat")
    for (level, stat), own in by_keys(measured(rows), "level", "stat").items():
        parts = {criterion: part for (criterion,), part in by_keys(own, "criterion").items()}
        means = {c: {row["metric"]: row for row in part if row["group"] == MEAN} for c, part in parts.items()}
        order = _order(means, stat)
        chances = [row["chance"] for row in own if not absent(row["chance"]) and row["chance"] > 0]
        axis = axis_of([*(row[key] for row in own for key in ("value", "low", "high")), *chances])
        values = [row["value"] for row in own if not absent(row["value"])]
        scale = (min(values, default=0.0), max(values, default=1.0))
        shown = [criterion for criterion in parts if criterion != MEAN or len(parts) == 1]
        yield {
            "summary": _summary(means, order, scale, f"{stat}, level {level}") if len(shown) > 1 else None,
            "sections": [
                {
                    **_section(parts[criterion], means[criterion], order, axis),
                    **_groups(parts[criterion], order, scale),
                    "triangles": [
                        _triangle(table) for table in group_triangles(tests.get((criterion, level, stat), []))
                    ],
                    "direction": _direction(stat) if directed else "",
                }
                for criterion in shown
            ],
        }


def _direction(stat: str) -> str:
    return f"{'lower' if stat in _FALLING else 'higher'} is better"


def _order(means: Mapping[str, Mapping[str, Row]], stat: str) -> list[str]:
    """Metrics with the best mean over criteria first; what has no number last."""
    metrics = list(dict.fromkeys(metric for rows in means.values() for metric in rows))
    overall = {}
    for metric in metrics:
        own = [rows[metric]["value"] for rows in ([means[MEAN]] if MEAN in means else means.values()) if metric in rows]
        known = [value for value in own if not absent(value)]
        mean = sum(known) / len(known) if known else None
        overall[metric] = -mean if mean is not None and stat in _FALLING else mean
    return sorted(metrics, key=lambda metric: descending(overall[metric]))


def _summary(means: Mapping[str, Mapping[str, Row]], order: Sequence[str], scale: Scale, about: str) -> Section:
    """Metrics by criteria, with their mean first."""
    criteria = [criterion for criterion in means if criterion != MEAN]
    columns, mean = list(criteria), means.get(MEAN, {})
    lines = [[_shaded(means[c].get(metric), scale) for c in criteria] for metric in order]
    if mean:
        columns.insert(0, f"mean of {len(criteria)}")
        lines = [[_mean(mean.get(m), scale, len(criteria)), *line] for m, line in zip(order, lines, strict=True)]
    return {
        "about": about,
        "columns": columns,
        "blocks": [("", [(metric, "", line) for metric, line in zip(order, lines, strict=True)])],
        "scale": _ends(scale),
        "mean": bool(mean),
        "ranked": any(row.get("not_outperformed") is not None for rows in means.values() for row in rows.values()),
    }


def _section(rows: Sequence[Row], means: Mapping[str, Row], order: Sequence[str], axis: Axis) -> Section:
    """The values of one criterion, or the means of its groups, on the axis of all."""
    first = rows[0]
    groups = values_of((row for row in rows if row["group"] not in (MEAN, POOLED)), "group")
    counts = {row["metric"]: row for row in rows if row["group"] == groups[0]} if len(groups) == 1 else means
    chances = [row["chance"] for row in means.values() if not absent(row["chance"]) and row["chance"] > 0]
    base = chances[0] if chances else 0.0 if axis.ticks[0] < 0 < axis.ticks[-1] else None
    based = Axis(axis.ticks, base)
    ties = f", ties {first['ties']}" if first["ties"] is not None else ""
    return {
        "title": f"{first['stat']} with {first['criterion']}",
        "about": f"level {first['level']}, averaging {first['averaging']}{ties}",
        "axis": based,
        "base": "" if base is None else "chance" if chances else "0",
        "ranked": any(row.get("rank") is not None for row in means.values()),
        "chance": f"{chances[0]:.3f}" if chances else "",
        "intervals": any(not absent(row["low"]) for row in means.values()),
        "counted": "n" if len(groups) == 1 else "criteria" if first["criterion"] == MEAN else "groups",
        "undefined": any(row["n_undefined"] for row in counts.values()),
        "lines": [_line(means[metric], counts[metric], based) for metric in order if metric in means],
        "links": Figure(
            f"{first['stat']} with {first['criterion']}, {first['level']}",
            [{name: means[metric][name] for name in _DRAWN} for metric in order if metric in means],
            with_intervals("metric", mark="point"),
        ).links,
    }


def _groups(rows: Sequence[Row], order: Sequence[str], scale: Scale) -> Section:
    """The values of one criterion by group; nothing where there is only one."""
    groups = values_of((row for row in rows if row["group"] != MEAN), "group")
    cells = {(row["metric"], row["group"]): row for row in rows}
    lines = [(metric, "", [_shaded(cells.get((metric, group)), scale) for group in groups]) for metric in order]
    several = len([group for group in groups if group != POOLED]) > 1
    columns = ["-" if group is None else group for group in groups] if several else []
    numbers = [{"group": row["group"], **{name: row[name] for name in _DRAWN}} for row in cells.values()]
    figure = Figure(f"{rows[0]['stat']} by group", numbers, shaded("group", "metric", "value"))
    return {"groups": columns, "blocks": [("", lines)], "scale": _ends(scale), "group_links": figure.links}


def _ends(scale: Scale) -> tuple[str, str]:
    return number(scale[0]), number(scale[1])


def _line(row: Row, counted: Row, axis: Axis) -> dict[str, Any]:
    return {
        "metric": row["metric"],
        "value": number(row["value"]),
        "interval": between(row["low"], row["high"]),
        "picture": strip(row, axis),
        "rank": row.get("rank") or "",
        "best": bool(row.get("not_outperformed")),
        "n": counted["n_used"],
        "n_undefined": counted["n_undefined"],
    }


def _shaded(row: Row | None, scale: Scale) -> Cell:
    """The value of a metric for a group or a criterion, with its interval."""
    if row is None:
        return Cell("")
    cell = amount(row["value"], *scale, digits=3)
    return replace(cell, note=between(row["low"], row["high"]), strong=bool(row.get("not_outperformed")))


def _mean(row: Row | None, scale: Scale, n: int) -> Cell:
    """The mean of a metric over n criteria; it says where some of them are missing."""
    missing = row is not None and row["n_used"] != n
    return replace(_shaded(row, scale), note=f"of {row['n_used']}" if row is not None and missing else "")


def _triangle(table: Table) -> dict[str, Any]:
    """p-values of the better metric against the others, those that are significant marked; what signs mean above."""
    lines = [
        (line[0], [(cell, (i, j) in table.marked) for j, cell in enumerate(line[1:], start=1)])
        for i, line in enumerate(table.body)
    ]
    meaning = f"* {table.marked_as}"
    return {"claim": "; ".join([table.title, meaning, *table.legend]), "columns": table.header[1:], "lines": lines}
