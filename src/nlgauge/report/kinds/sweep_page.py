"""A sweep as a page: robustness against agreement, gains by weight; or which pooling strategy wins where."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.figure import Figure, banded, shaded
from nlgauge.report.html import render_result
from nlgauge.report.kinds.sweep import best_lines, gain_of, is_pooling
from nlgauge.report.maps import Cell, amount
from nlgauge.report.plots import Curve, axes_of, curves_plot, swatch
from nlgauge.report.rows import (
    ADEQUACY,
    ALL,
    MEAN,
    Row,
    absent,
    between,
    by_keys,
    number,
    percent,
    points_of,
    values_of,
    weight_tasks,
    with_nan,
)

_ATTACKS = {ALL: "all phenomena", ADEQUACY: "adequacy phenomena"}
_KINDS = {"correlation": "agreement with people", "accuracy": "accuracy under attack"}
_MOST_LABELS = 6
Section = dict[str, Any]
Panel = dict[str, Any]  # a caption, and a picture with its legend or a map
Map = dict[str, Any]
Best = Mapping[tuple[Any, ...], float]


def sweep_html(result: Result) -> str:
    """The page of a result of kind `sweep`, of weights or of pooling strategies."""
    result = replace(result, rows=with_nan(result.rows))
    pooling = is_pooling(result)
    return render_result(
        "sweep.html",
        result,
        pooling=pooling,
        best=best_lines(result),
        sections=list(_pooling(result.rows) if pooling else _weights(result.rows)),
    )


def _section(
    title: str,
    about: str,
    panels: Sequence[Panel] = (),
    *,
    table: dict[str, Any] | None = None,
    folded: bool = False,
    drawn: Figure | None = None,
) -> Section:
    """A section of the page; panels are folded where there are many, and `drawn` holds their numbers."""
    links = drawn.links if drawn is not None else []
    return {"title": title, "about": about, "panels": panels, "table": table, "folded": folded, "links": links}


def _weights(rows: Sequence[Row]) -> Iterator[Section]:
    for (stat, criterion, level), own in weight_tasks(rows).items():
        about = f"{stat} with {criterion}, level {level}"
        best = {(row["metric"], row["with"]): row["weight"] for row in own if row["best"]}
        for phenomenon, attacks in _ATTACKS.items():
            yield from _trades(points_of(own, phenomenon), best, stat, attacks, about)
        for (partner,), means in by_keys((row for row in own if row["metric"] == MEAN), "partner").items():
            others = "NLI metrics" if partner == "nli" else "metrics that are no NLI metrics"
            panel = gains(means, stat)
            title = f"Gains by weight: mixed with {others}"
            drawn = Figure(title, _gained(means), banded("weight", "measure", "gain"))
            yield _section(title, about, [panel], table=_gains_table(means), drawn=drawn)


def _trades(points: Sequence[Row], best: Best, stat: str, attacks: str, about: str) -> Iterator[Section]:
    """Robustness against agreement: on everything together, then on each data set and suite."""
    together = [row for row in points if row["dataset"] == MEAN] or points
    if together:
        title = f"Robustness against agreement: {attacks}"
        panels, table = trade_offs(together, best, stat), _table(together, stat)
        yield _section(title, about, panels, table=table, drawn=_traded(title, together))
    apart = by_keys((row for row in points if row["dataset"] != MEAN), "dataset", "suite")
    if len(apart) > 1:
        panels = [
            {**panel, "caption": f"{panel['caption']}, {dataset} and {suite}"}
            for (dataset, suite), own in apart.items()
            for panel in trade_offs(own, best, stat)
        ]
        title = f"Each data set and suite: {attacks}"
        every = [row for own in apart.values() for row in own]
        yield _section(title, about, panels, folded=True, drawn=_traded(title, every))


def _traded(title: str, rows: Sequence[Row]) -> Figure:
    """The numbers of trade-offs: a curve over its weights for every pair on every data set and suite."""
    names = ("metric", "with", "dataset", "suite", "weight", "accuracy", "correlation")
    numbers = [{"pair": f"{row['metric']} with {row['with']}", **{name: row[name] for name in names}} for row in rows]
    sides = {
        axis: {"field": name, "type": "quantitative", "scale": {"zero": False}}
        for axis, name in (("x", "accuracy"), ("y", "correlation"))
    }
    apart = {"order": {"field": "weight", "type": "quantitative"}, "color": {"field": "pair", "type": "nominal"}}
    apart["detail"] = {"field": "dataset", "type": "nominal"}
    return Figure(title, numbers, {"mark": {"type": "line", "point": True}, "encoding": {**sides, **apart}})


def trade_offs(rows: Sequence[Row], best: Best, stat: str) -> list[Panel]:
    """Correlation over accuracy, one panel per pair of metrics, on common axes; the other pairs stand behind.

    A star stands where the metric is alone, a cross where the other is. The best weight is ringed.

    Args:
        rows: points of the pairs.
        best: (metric, other) -> the best weight of the pair.
        stat: the statistic.

    References:
        Chen and Eger (2023), figure 2; preprint, figures 1 and 2.
    """
    pairs = by_keys(rows, "metric", "with")
    curves = [_trade(f"{' with '.join(pair)}", own, best.get(pair), stat) for pair, own in pairs.items()]
    axes = axes_of(curves, "accuracy under attack", stat, x_within=(0.0, 1.0), y_within=(-1.0, 1.0))
    panels = []
    for curve, pair in zip(curves, pairs, strict=True):
        chosen = f"; best weight {best[pair]:g}" if pair in best else ""
        behind = [other for other in curves if other is not curve]
        picture = curves_plot(f"{curve.name}: {stat} over accuracy under attack", [curve], axes, behind)
        panels.append(_panel(f"{curve.name}{chosen}", picture))
    return panels


def _panel(caption: str, picture: str, keys: Sequence[str] = ()) -> Panel:
    """A picture of our own making under a caption; keys are names of its curves, in order."""
    from markupsafe import Markup

    legend = [(Markup(swatch(k)), key) for k, key in enumerate(keys)]
    return {"caption": caption, "picture": Markup(picture), "legend": legend}


def _trade(name: str, rows: Sequence[Row], best: float | None, stat: str) -> Curve:
    ringed = next((i for i, row in enumerate(rows) if row["weight"] == best), None)
    every = math.ceil(len(rows) / _MOST_LABELS)
    labelled = {ringed, len(rows) - 1, *range(0, len(rows), every)}
    return Curve(
        name,
        [(row["accuracy"], row["correlation"]) for row in rows],
        [f"{row['weight']:g}" if i in labelled else "" for i, row in enumerate(rows)],
        [f"{row['spec']}: accuracy {row['accuracy']:.3f}, {stat} {row['correlation']:.3f}" for row in rows],
        ends=True,
        bold=ringed,
    )


def gains(rows: Sequence[Row], stat: str) -> Panel:
    """Mean gains over weights, with bands of 95 % intervals over pairs of metrics and sets.

    References:
        Chen and Eger (2023), figure 3.
    """
    phenomena = by_keys(rows, "phenomenon")
    first = next(iter(phenomena.values()))
    curves = [_gain(f"{stat} ({_over(first, 'correlation')})", first, "correlation")]
    for (phenomenon,), own in phenomena.items():
        curves.append(_gain(f"accuracy, {_ATTACKS[phenomenon]} ({_over(own, 'accuracy')})", own, "accuracy"))
    axes = axes_of(curves, "weight of the other metric", "gain", percent=True)
    return _panel("", curves_plot("gains by weight", curves, axes), [curve.name for curve in curves])


def _gained(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The numbers of gains: the means of both measures by weight, with their intervals."""
    return [
        {
            "measure": name if name == "correlation" else f"accuracy, {_ATTACKS[row['phenomenon']]}",
            "weight": row["weight"],
            **{end: row[f"gain_{name}{part}"] for end, part in (("gain", ""), ("low", "_low"), ("high", "_high"))},
        }
        for (phenomenon,), own in by_keys(rows, "phenomenon").items()
        for name in ("correlation", "accuracy")
        for row in own
        if name == "accuracy" or phenomenon == rows[0]["phenomenon"]
    ]


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
        panel = {"caption": "", "map": _grid(own, "wins")}
        title = f"How often each strategy wins: {_KINDS[kind]}"
        numbers = [{name: row[name] for name in ("direction", "formula", "wins")} for row in own]
        drawn = Figure(title, numbers, shaded("formula", "direction", "wins"))
        yield _section(title, about, [panel], drawn=drawn)
    if left:
        about = "what the strategy with the best mean elsewhere loses here"
        yield _section("Chosen without the set", about, table=_choices(left))
    panels = []
    for contest, own in by_keys(values, "metric", "kind", "set", "stat", "criterion").items():
        metric, kind, where, stat, criterion = contest
        measure = f"{stat} with {criterion}" if kind == "correlation" else _KINDS[kind]
        panels.append({"caption": f"{metric}, {where}: {measure}", "map": _grid(own, "value")})
    title, names = "Every strategy on every set", ("metric", "kind", "set", "stat", "criterion", "direction", "formula")
    numbers = [
        {"contest": ", ".join(str(row[name]) for name in names[:5] if row[name] is not None)}
        | {name: row[name] for name in (*names, "value")}
        for row in values
    ]
    drawn = Figure(title, numbers, shaded("formula", "direction", "value", "contest"))
    yield _section(title, "darker is better within a table", panels, drawn=drawn)


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


def _grid(rows: Sequence[Row], key: str) -> Map:
    """Directions by formulas, darker where more."""
    formulas, directions = values_of(rows, "formula"), values_of(rows, "direction")
    defined = [row[key] for row in rows if not absent(row[key])]
    low, high = min(defined, default=0.0), max(defined, default=0.0)
    cells = {(row["direction"], row["formula"]): _cell(row[key], low, high, key) for row in rows}
    lines = [(way, "", [cells[way, formula] for formula in formulas]) for way in directions]
    return {"columns": formulas, "blocks": [("", lines)]}


def _cell(value: float | None, low: float, high: float, key: str) -> Cell:
    known = value is not None and not absent(value)
    return amount(value, low, high, digits=3, text=f"{value:.3g}" if known and key == "wins" else "")
