"""A sweep as a page: robustness against agreement, gains by weight; or which pooling strategy wins where."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.colours import shade
from nlgauge.report.drawing import Cell, heat_map
from nlgauge.report.html import render
from nlgauge.report.marks import UNDEFINED, absent, between, number, percent
from nlgauge.report.plots import Curve, curves_plot
from nlgauge.report.rows import ADEQUACY, ALL, MEAN, Row, by_keys, points_of, values_of, weight_tasks
from nlgauge.report.tables.sweep import best_lines, gain_of, is_pooling

_ATTACKS = {ALL: "all phenomena", ADEQUACY: "adequacy phenomena"}
_KINDS = {"correlation": "agreement with people", "accuracy": "accuracy under attack"}
_MOST_LABELS = 6
Section = dict[str, Any]


def sweep_html(result: Result) -> str:
    """The page of a result of kind `sweep`, of weights or of pooling strategies."""
    pooling = is_pooling(result)
    return render(
        "sweep.html",
        inputs=result.inputs,
        pooling=pooling,
        best=best_lines(result),
        sections=list(_pooling(result.rows) if pooling else _weights(result.rows)),
        metrics=result.metrics,
        notes=result.notes,
        command=result.command,
    )


def _section(
    title: str,
    about: str,
    pictures: Sequence[tuple[str, str]],
    table: dict[str, Any] | None = None,
    *,
    folded: bool = False,
) -> Section:
    """A section of the page; pictures are (caption, SVG), folded where there are many."""
    from markupsafe import Markup

    shown = [(caption, Markup(picture)) for caption, picture in pictures]
    return {"title": title, "about": about, "pictures": shown, "table": table, "folded": folded}


def _weights(rows: Sequence[Row]) -> Iterator[Section]:
    for (stat, criterion, level), own in weight_tasks(rows).items():
        about = f"{stat} with {criterion}, level {level}"
        for phenomenon, attacks in _ATTACKS.items():
            yield from _trades(points_of(own, phenomenon), stat, attacks, about)
        for (partner,), means in by_keys((row for row in own if row["metric"] == MEAN), "partner").items():
            others = "NLI metrics" if partner == "nli" else "metrics that are no NLI metrics"
            pictures = [("", gains(means, stat))]
            yield _section(f"Gains by weight: mixed with {others}", about, pictures, _gains_table(means))


def _trades(points: Sequence[Row], stat: str, attacks: str, about: str) -> Iterator[Section]:
    """Robustness against agreement: on everything together, then on each data set and suite."""
    together = [row for row in points if row["dataset"] == MEAN] or points
    if together:
        pictures = [("", trade_off(together, stat))]
        yield _section(f"Robustness against agreement: {attacks}", about, pictures, _table(together, stat))
    apart = by_keys((row for row in points if row["dataset"] != MEAN), "dataset", "suite")
    if len(apart) > 1:
        pictures = [(f"{dataset} and {suite}", trade_off(own, stat)) for (dataset, suite), own in apart.items()]
        yield _section(f"Each data set and suite: {attacks}", about, pictures, folded=True)


def trade_off(rows: Sequence[Row], stat: str) -> str:
    """Correlation over accuracy as SVG, one curve per pair of metrics.

    A star stands where the metric is alone, a cross where the other is. The best weight is ringed. Curves of metrics
    mixed with others than NLI metrics are dotted.

    References:
        Chen and Eger (2023), figures 2 and 4.
    """
    curves = [
        _trade(f"{metric} with {partner}", own, stat)
        for (metric, partner), own in by_keys(rows, "metric", "with").items()
    ]
    return curves_plot(f"{stat} over accuracy under attack", curves, "accuracy under attack", stat)


def _trade(name: str, rows: Sequence[Row], stat: str) -> Curve:
    best = next((i for i, row in enumerate(rows) if row["best"]), None)
    every = math.ceil(len(rows) / _MOST_LABELS)
    labelled = {best, len(rows) - 1, *range(0, len(rows), every)}
    return Curve(
        name,
        [(row["accuracy"], row["correlation"]) for row in rows],
        [f"{row['weight']:g}" if i in labelled else "" for i, row in enumerate(rows)],
        [f"{row['spec']}: accuracy {row['accuracy']:.3f}, {stat} {row['correlation']:.3f}" for row in rows],
        dotted=rows[0]["partner"] != "nli",
        ends=True,
        bold=best,
    )


def gains(rows: Sequence[Row], stat: str) -> str:
    """Mean gains over weights as SVG, with bands of 95 % intervals over pairs of metrics and sets.

    References:
        Chen and Eger (2023), figure 3.
    """
    phenomena = by_keys(rows, "phenomenon")
    first = next(iter(phenomena.values()))
    curves = [_gain(f"{stat} ({_over(first, 'correlation')})", first, "correlation")]
    for (phenomenon,), own in phenomena.items():
        curves.append(_gain(f"accuracy, {_ATTACKS[phenomenon]} ({_over(own, 'accuracy')})", own, "accuracy"))
    return curves_plot("gains by weight", curves, "weight of the other metric", "gain", percent=True)


def _over(rows: Sequence[Row], name: str) -> str:
    n = max(row[f"n_{name}"] for row in rows)
    return f"mean of {n}" if n > 1 else "one pair, one set: no interval"


def _gain(label: str, rows: Sequence[Row], name: str) -> Curve:
    key = f"gain_{name}"
    return Curve(
        label,
        [(row["weight"], row[key]) for row in rows],
        titles=[f"{row['weight']:g}: {100 * row[key]:+.1f} %" for row in rows],
        band=[(row[f"{key}_low"], row[f"{key}_high"]) for row in rows],
    )


def _table(rows: Sequence[Row], stat: str) -> dict[str, Any]:
    interval = "95 % interval"
    pairs = by_keys(rows, "metric", "with")
    header = ["metric", "with", "weight", stat, interval, "accuracy", interval, f"gain, {stat}", "gain, accuracy"]
    body = [
        [
            row["metric"],
            row["with"],
            f"{row['weight']:g}" + (" (best)" if row["best"] else ""),
            number(row["correlation"]),
            between(row["low"], row["high"]),
            number(row["accuracy"]),
            between(row["accuracy_low"], row["accuracy_high"]),
            gain_of(pairs[row["metric"], row["with"]], row, "correlation"),
            gain_of(pairs[row["metric"], row["with"]], row, "accuracy"),
        ]
        for row in rows
    ]
    return {"header": header, "words": 2, "rows": body}


def _gains_table(rows: Sequence[Row]) -> dict[str, Any]:
    body = [
        [
            _ATTACKS[row["phenomenon"]],
            f"{row['weight']:g}",
            *_gain_cells(row, "correlation"),
            *_gain_cells(row, "accuracy"),
        ]
        for row in rows
    ]
    measures = ("correlation", "accuracy")
    columns = [name for measure in measures for name in (f"gain, {measure}", "95 % interval", "median")]
    return {"header": ["phenomena", "weight", *columns], "words": 1, "rows": body}


def _gain_cells(row: Row, name: str) -> list[str]:
    mean, low, high, median = (row[f"gain_{name}{part}"] for part in ("", "_low", "_high", "_median"))
    return [percent(mean), "" if absent(low) else f"{percent(low)} to {percent(high)}", percent(median)]


def _pooling(rows: Sequence[Row]) -> Iterator[Section]:
    values, wins, left = ([row for row in rows if row["table"] == table] for table in ("values", "wins", "left-out"))
    for (setup, kind), own in by_keys(wins, "setup", "kind").items():
        about = f"{'with references' if setup == 'ref' else 'against the source'}, {own[0]['n']} contests"
        picture = _grid(f"wins, {_KINDS[kind]}", own, "wins", "g")
        yield _section(f"How often each strategy wins: {_KINDS[kind]}", about, [("", picture)])
    if left:
        about = "what the strategy with the best mean elsewhere loses here"
        yield _section("Chosen without the set", about, [], _choices(left))
    pictures = []
    for contest, own in by_keys(values, "metric", "kind", "set", "stat", "criterion").items():
        metric, kind, where, stat, criterion = contest
        measure = f"{stat} with {criterion}" if kind == "correlation" else _KINDS[kind]
        pictures.append((f"{metric}, {where}: {measure}", _grid(measure, own, "value", ".3f")))
    yield _section("Every strategy on every set", "darker is better within a picture", pictures)


def _choices(rows: Sequence[Row]) -> dict[str, Any]:
    """Strategies that were chosen without a set, and what they cost on it."""
    names = ["metric", "set left out", "criterion", "chosen on the other", "strategy", "best on the set"]
    body = [
        [
            row["metric"],
            row["set"],
            row["criterion"] or "",
            "all sets" if row["among"] == "all" else "sets of its kind",
            f"{row['formula']} {row['direction']}",
            f"{row['best_formula']} {row['best_direction']}",
            *(number(row[key]) for key in ("value", "best_value", "cost")),
        ]
        for row in rows
    ]
    return {"header": [*names, "value", "best value", "cost"], "words": len(names), "rows": body}


def _grid(label: str, rows: Sequence[Row], key: str, form: str) -> str:
    formulas, directions = values_of(rows, "formula"), values_of(rows, "direction")
    defined = [row[key] for row in rows if not absent(row[key])]
    low, high = min(defined, default=0.0), max(defined, default=0.0)
    cells = {(row["direction"], row["formula"]): _cell(row[key], low, high, form) for row in rows}
    lines = [[cells[way, formula] for formula in formulas] for way in directions]
    return heat_map(label, formulas, [("", way) for way in directions], lines)


def _cell(value: float | None, low: float, high: float, form: str) -> Cell:
    if value is None or absent(value):
        return Cell(UNDEFINED)
    return Cell(f"{round(value, 3) + 0.0:{form}}", shade(0.8 * (value - low) / (high - low) if high > low else 0.0))
