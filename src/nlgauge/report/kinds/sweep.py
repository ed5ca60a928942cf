"""Sweeps and pooling studies as tables: one column per weight, or one per formula; and in words what to mix."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from nlgauge.core.result import Result
from nlgauge.report.kinds.kind import Kind
from nlgauge.report.rows import (
    ADEQUACY,
    ALL,
    MEAN,
    Row,
    absent,
    by_keys,
    number,
    percent,
    values_of,
    weight_tasks,
    whole,
)
from nlgauge.report.table import Table

_ATTACKS = {ALL: "accuracy", ADEQUACY: "accuracy, adequacy"}
_CHOSEN = {"correlation": "other data sets", "accuracy": "other suites", "all": "all other sets"}
_POINT = ("metric", "with", "dataset", "suite", "phenomenon", "criterion", "group")
_LEAST = 0.05  # of which a share is shown where there is no interval
_AGREEMENT, _ROBUSTNESS = "agreement with people", "accuracy under attack"


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
        row: one of them.
    """
    share = row[f"gain_{name}"]
    if row["metric"] == MEAN:
        return f"{percent(share)} (median {percent(row[f'gain_{name}_median'])})"
    alone = next(one for one in rows if one["weight"] == 0)
    difference = number(row[name] - alone[name], digits, sign="+")
    return f"{difference} ({percent(share)})" if _is_told_from_0(alone, name) else difference


def _is_told_from_0(row: Row, name: str) -> bool:
    low, high = (row[f"{'accuracy_' if name == 'accuracy' else ''}{end}"] for end in ("low", "high"))
    return bool(abs(row[name]) >= _LEAST if absent(low) else low > 0 or high < 0)


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
        measure = f"{stat} with {criterion}" if kind == "correlation" else _ROBUSTNESS
        yield _grid(f"{metric}: {measure}, {where}", strategies, "value", digits)
    for (setup, kind), strategies in by_keys(wins, "setup", "kind").items():
        against = {"ref": "references", "src": "sources"}[setup]
        measure = _AGREEMENT if kind == "correlation" else _ROBUSTNESS
        yield _grid(f"how often each is the best of {strategies[0]['n']}: {measure}, {against}", strategies, "wins", 1)
    if left:
        header = ("metric", "set", "chosen on", "strategy", "best", "value", "best value", "cost")
        yield Table("chosen without the set", header, tuple(_line(row, digits) for row in left), left=5)


def _line(row: Row, digits: int) -> tuple[str, ...]:
    where = row["set"] if row["criterion"] is None else f"{row['set']}, {row['criterion']}"
    both = f"{row['formula']} {row['direction']}", f"{row['best_formula']} {row['best_direction']}"
    numbers = (number(row[key], digits) for key in ("value", "best_value", "cost"))
    return (row["metric"], where, _CHOSEN[row["among"]], *both, *numbers)


def _grid(title: str, rows: Sequence[Row], key: str, digits: int) -> Table:
    """Directions by formulas, the best marked."""
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


KIND = Kind(
    parts=lambda paper: [*sweep_tables(paper.result, paper.places), "\n".join(best_lines(paper.result))],
    page="nlgauge.report.kinds.sweep_page:sweep_html",
)
