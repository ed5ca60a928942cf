"""Sweeps and pooling studies as tables and a page: a column per weight or per formula, and in words what to mix."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.drawing import Cell, Curve, amount, axes_of, csv_file, plot_of
from nlgauge.report.pages import render_result
from nlgauge.report.tables import (
    ADEQUACY,
    ALL,
    MEAN,
    Kind,
    Row,
    Table,
    absent,
    between,
    by_keys,
    number,
    percent,
    points_of,
    values_of,
    weight_tasks,
    whole,
    with_nan,
)

_ATTACKS = {ALL: "accuracy", ADEQUACY: "accuracy, adequacy"}
_CHOSEN = {"correlation": "other data sets", "accuracy": "other suites", "all": "all other sets"}
_POINT = ("metric", "with", "dataset", "suite", "phenomenon", "criterion", "group")
_LEAST = 0.05  # of which a share is shown where there is no interval
_MEASURES = {"correlation": "agreement with people", "accuracy": "accuracy under attack"}


def sweep_tables(result: Result, digits: int = 3) -> list[Table]:
    """The tables of a result of kind `sweep`: of weights, or of pooling strategies."""
    if is_pooling(result):
        return list(_pooling_tables(result.rows, digits))
    tasks = weight_tasks(result.rows).values()
    return [
        table for rows in tasks for table in (_weight_table(rows, result.rows, digits), *_left_out_table(rows, digits))
    ]


def is_pooling(result: Result) -> bool:
    """Whether a sweep is a study of pooling strategies; else it is one of weights."""
    return bool(result.rows) and "table" in result.rows[0]


def best_lines(result: Result) -> list[str]:
    """The mix to take, one line per pair of metrics, statistic and criterion; none for pooling strategies."""
    if not result.rows or is_pooling(result):
        return []
    lines = []
    several = len(weight_tasks(result.rows)) > 1
    for (metric, partner, *task), rows in by_keys(whole(result.rows), "metric", "with", "stat", "criterion").items():
        lines.append(f"{metric} with {partner}{_about(task) if several else ''}: {_best(rows)}")
    if len(lines) > 1:
        mean = [row for row in result.rows if row["metric"] == MEAN and row["phenomenon"] == ALL]
        for (partner, *task), rows in by_keys(mean, "partner", "stat", "criterion").items():
            kind = "NLI metrics" if partner == "nli" else "other metrics"
            lines.append(f"mean of all with {kind}{_about(task) if several else ''}: {_best(rows)}")
    return lines


def _about(task: Sequence[str]) -> str:
    return f" ({' with '.join(task)})"


def _best(rows: Sequence[Row]) -> str:
    best = next((row for row in rows if row["best"]), None)
    if best is None:
        return "no gain can be told, for a number is undefined or 0 without the other metric"
    if not best["weight"]:
        return "at no weight is one number higher and neither lower; best alone"
    alone = ", the other alone" if best["weight"] == 1 else ""
    changes = f"{best['stat']} {gain_of(rows, best, 'correlation')}, accuracy {gain_of(rows, best, 'accuracy')}"
    typed = f"; -m {shlex.quote(best['spec'])}" if best["spec"] is not None else ""
    return f"best weight {best['weight']:g}{alone}: {changes}{typed}"


def gain_of(rows: Sequence[Row], row: Row, name: str, digits: int = 3) -> str:
    """The gain of a weight in `correlation` or `accuracy`: the difference, and its share of the metric's own value.

    There is no share where what the metric has alone may be 0: its interval reaches 0 or, where it has no interval, it
    is below 0.05.

    Args:
        rows: the rows of the same two metrics, of which one has weight 0; or those of means over many, which are means
            of shares, of which the median stands beside the mean.
    """
    share = row[f"gain_{name}"]
    if row["metric"] == MEAN:
        return f"{percent(share)} (median {percent(row[f'gain_{name}_median'])})"
    alone = next(one for one in rows if one["weight"] == 0)
    difference = number(row[name] - alone[name], digits, sign="+")
    low, high = (alone[f"{'accuracy_' if name == 'accuracy' else ''}{end}"] for end in ("low", "high"))
    is_told_from_0 = abs(alone[name]) >= _LEAST if absent(low) else low > 0 or high < 0
    return f"{difference} ({percent(share)})" if is_told_from_0 else difference


def _weight_table(rows: Sequence[Row], everything: Sequence[Row], digits: int) -> Table:
    """The table of one statistic and criterion; a line per pair of metrics and measure, a column per weight."""
    first = whole(rows)[0]
    sets = f"{first['dataset']} and {first['suite']}" if first["dataset"] != MEAN else _counted(everything)
    body: list[tuple[str, ...]] = []
    marked: set[tuple[int, int]] = set()
    adequacy = by_keys(whole(rows, ADEQUACY), "metric", "with")
    for pair, points in by_keys(whole(rows), "metric", "with").items():
        lines = [(first["stat"], "correlation", points), (_ATTACKS[ALL], "accuracy", points)]
        if pair in adequacy:
            lines.append((_ATTACKS[ADEQUACY], "accuracy", adequacy[pair]))
        for measure, key, part in lines:
            marked |= {(len(body), 3 + j) for j, row in enumerate(points) if row["best"]}
            names = pair if key == "correlation" else ("", "")
            body.append((*names, measure, *(number(row[key], digits) for row in part)))
    header = ("metric", "with", "weight", *(f"{weight:g}" for weight in values_of(rows, "weight")))
    title = f"{first['stat']} with {first['criterion']} (level {first['level']}) and accuracy under attack: {sets}"
    return Table(title, header, tuple(body), frozenset(marked), 3, marked_as="the best weight")


def _left_out_table(rows: Sequence[Row], digits: int) -> Iterator[Table]:
    """The gain on each data set and suite of the weight that is best on the others; nothing without others."""
    chosen = [row for row in rows if row.get("left_out")]
    body = []
    for row in chosen:
        own = [r for r in rows if all(r[key] == row[key] for key in _POINT)]
        gains = (gain_of(own, row, name, digits) for name in ("correlation", "accuracy"))
        body.append((row["metric"], row["with"], row["dataset"], row["suite"], f"{row['weight']:g}", *gains))
    if body:
        header = ("metric", "with", "data set", "suite", "weight", chosen[0]["stat"], _ATTACKS[ALL])
        yield Table("gains at the weight that is best on the other sets", header, tuple(body), left=4)


def _counted(rows: Sequence[Row]) -> str:
    def several(key: str, name: str) -> str:
        n = len({row[key] for row in rows} - {None, MEAN})
        return f"{n} {name}{'s' if n > 1 else ''}"

    return f"means over {several('dataset', 'data set')} and {several('suite', 'suite')}"


def _pooling_tables(rows: Sequence[Row], digits: int) -> Iterator[Table]:
    values, wins, left = ([row for row in rows if row["table"] == table] for table in ("values", "wins", "left-out"))
    contests = by_keys(values, "metric", "kind", "set", "stat", "criterion")
    for (metric, kind, where, stat, criterion), strategies in contests.items():
        measure = f"{stat} with {criterion}" if kind == "correlation" else _MEASURES[kind]
        yield _grid(f"{metric}: {measure}, {where}", strategies, "value", digits)
    for (setup, kind), strategies in by_keys(wins, "setup", "kind").items():
        against = {"ref": "references", "src": "sources"}[setup]
        title = f"how often each is the best of {strategies[0]['n']}: {_MEASURES[kind]}, {against}"
        yield _grid(title, strategies, "wins", 1)
    if left:
        header = ("metric", "set", "chosen on", "strategy", "best", "value", "best value", "cost")
        yield Table("chosen without the set", header, tuple(_line(row, digits) for row in left), left=5)


def _line(row: Row, digits: int) -> tuple[str, ...]:
    where = row["set"] if row["criterion"] is None else f"{row['set']}, {row['criterion']}"
    both = f"{row['formula']} {row['direction']}", f"{row['best_formula']} {row['best_direction']}"
    numbers = (number(row[key], digits) for key in ("value", "best_value", "cost"))
    return (row["metric"], where, _CHOSEN[row["among"]], *both, *numbers)


def _grid(title: str, rows: Sequence[Row], key: str, digits: int) -> Table:
    formulas, directions = values_of(rows, "formula"), values_of(rows, "direction")
    cells = {(row["direction"], row["formula"]): row[key] for row in rows}
    defined = [value for value in cells.values() if value == value]
    top = max(defined, default=0.0)
    body = [(way, *(number(cells[way, formula], digits) for formula in formulas)) for way in directions]
    marked = {
        (i, j + 1)
        for i, way in enumerate(directions)
        for j, formula in enumerate(formulas)
        if defined and cells[way, formula] == top
    }
    return Table(title, ("direction", *formulas), tuple(body), frozenset(marked), marked_as="the best strategy")


# --- A sweep as a page: robustness against agreement, gains by weight; or which pooling strategy wins where

_PHENOMENA = {ALL: "all phenomena", ADEQUACY: "adequacy phenomena"}
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
    drawn: Sequence[Row] | None = None,
) -> Section:
    """A section of the page; panels are folded where there are many, and `drawn` holds their numbers."""
    file = csv_file(title, drawn) if drawn is not None else None
    return {"title": title, "about": about, "panels": panels, "table": table, "folded": folded, "csv": file}


def _weights(rows: Sequence[Row]) -> Iterator[Section]:
    for (stat, criterion, level), own in weight_tasks(rows).items():
        about = f"{stat} with {criterion}, level {level}"
        best = {(row["metric"], row["with"]): row["weight"] for row in own if row["best"]}
        for phenomenon, attacks in _PHENOMENA.items():
            yield from _trades(points_of(own, phenomenon), best, stat, attacks, about)
        for (partner,), means in by_keys((row for row in own if row["metric"] == MEAN), "partner").items():
            others = "NLI metrics" if partner == "nli" else "metrics that are no NLI metrics"
            panel = gains(means, stat)
            title = f"Gains by weight: mixed with {others}"
            yield _section(title, about, [panel], table=_gains_table(means), drawn=_gained(means))


def _trades(points: Sequence[Row], best: Best, stat: str, attacks: str, about: str) -> Iterator[Section]:
    """Robustness against agreement: on everything together, then on each data set and suite."""
    together = [row for row in points if row["dataset"] == MEAN] or points
    if together:
        title = f"Robustness against agreement: {attacks}"
        panels, table = trade_offs(together, best, stat), _table(together, stat)
        yield _section(title, about, panels, table=table, drawn=_traded(together))
    apart = by_keys((row for row in points if row["dataset"] != MEAN), "dataset", "suite")
    if len(apart) > 1:
        panels = [
            {**panel, "caption": f"{panel['caption']}, {dataset} and {suite}"}
            for (dataset, suite), own in apart.items()
            for panel in trade_offs(own, best, stat)
        ]
        title = f"Each data set and suite: {attacks}"
        every = [row for own in apart.values() for row in own]
        yield _section(title, about, panels, folded=True, drawn=_traded(every))


def _traded(rows: Sequence[Row]) -> list[Row]:
    names = ("metric", "with", "dataset", "suite", "weight", "accuracy", "correlation")
    return [{"pair": f"{row['metric']} with {row['with']}", **{name: row[name] for name in names}} for row in rows]


def trade_offs(rows: Sequence[Row], best: Best, stat: str) -> list[Panel]:
    """Correlation over accuracy, one panel per pair of metrics, on common axes; the other pairs stand behind.

    A star stands where the metric is alone, a cross where the other is. The best weight is ringed.

    Args:
        best: (metric, other) -> the best weight of the pair.

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
        plot = plot_of(f"{curve.name}: {stat} over accuracy under attack", [curve], axes, behind)
        panels.append({**plot, "caption": f"{curve.name}{chosen}", "legend": ()})
    return panels


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
        curves.append(_gain(f"accuracy, {_PHENOMENA[phenomenon]} ({_over(own, 'accuracy')})", own, "accuracy"))
    axes = axes_of(curves, "weight of the other metric", "gain", percent=True)
    return {"caption": "", **plot_of("gains by weight", curves, axes)}


def _gained(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {
            "measure": name if name == "correlation" else f"accuracy, {_PHENOMENA[row['phenomenon']]}",
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
            _PHENOMENA[row["phenomenon"]],
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
        panel = {"caption": "", "map": _map(own, "wins")}
        title = f"How often each strategy wins: {_MEASURES[kind]}"
        numbers = [{name: row[name] for name in ("direction", "formula", "wins")} for row in own]
        yield _section(title, about, [panel], drawn=numbers)
    if left:
        about = "what the strategy with the best mean elsewhere loses here"
        yield _section("Chosen without the set", about, table=_choices(left))
    panels = []
    for contest, own in by_keys(values, "metric", "kind", "set", "stat", "criterion").items():
        metric, kind, where, stat, criterion = contest
        measure = f"{stat} with {criterion}" if kind == "correlation" else _MEASURES[kind]
        panels.append({"caption": f"{metric}, {where}: {measure}", "map": _map(own, "value")})
    title, names = "Every strategy on every set", ("metric", "kind", "set", "stat", "criterion", "direction", "formula")
    numbers = [
        {"contest": ", ".join(str(row[name]) for name in names[:5] if row[name] is not None)}
        | {name: row[name] for name in (*names, "value")}
        for row in values
    ]
    yield _section(title, "darker is better within a table", panels, drawn=numbers)


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


def _map(rows: Sequence[Row], key: str) -> Map:
    formulas, directions = values_of(rows, "formula"), values_of(rows, "direction")
    defined = [row[key] for row in rows if not absent(row[key])]
    low, high = min(defined, default=0.0), max(defined, default=0.0)
    cells = {(row["direction"], row["formula"]): _cell(row[key], low, high, key) for row in rows}
    lines = [(way, "", [cells[way, formula] for formula in formulas]) for way in directions]
    return {"columns": formulas, "blocks": [("", lines)]}


def _cell(value: float | None, low: float, high: float, key: str) -> Cell:
    known = value is not None and not absent(value)
    return amount(value, low, high, digits=3, text=f"{value:.3g}" if known and key == "wins" else "")


KIND = Kind(
    parts=lambda paper: [*sweep_tables(paper.result, paper.places), "\n".join(best_lines(paper.result))],
    page=sweep_html,
)
