"""Sweeps and pooling studies as tables: a column a weight, a row a formula."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.core.table import Table
from nlgauge.metaeval.rows import MEAN
from nlgauge.metaeval.sweeps import ADEQUACY, ALL
from nlgauge.metaeval.tables import number

Row = Mapping[str, Any]
_ATTACKS = {ALL: "accuracy", ADEQUACY: "accuracy, adequacy"}


def sweep_tables(result: Result, digits: int = 3) -> list[Table]:
    """The tables of a result of kind `sweep`: of weights, or of pooling strategies."""
    if result.rows and "table" in result.rows[0]:
        return list(_pooling_tables(result.rows, digits))
    return list(_weight_tables(result.rows, digits))


def best_lines(result: Result) -> list[str]:
    """What to mix, a line for each pair of metrics, statistic and criterion; nothing for pooling strategies."""
    if not result.rows or "table" in result.rows[0]:
        return []
    found = []
    several = len(_tasks(result.rows)) > 1
    for (metric, partner, *task), rows in _by(whole(result.rows), "metric", "with", "stat", "criterion").items():
        found.append(f"{metric} with {partner}{_about(task) if several else ''}: {_best(rows)}")
    if len(found) > 1:
        mean = [row for row in result.rows if row["metric"] == MEAN and row["phenomenon"] == ALL]
        for (partner, *task), rows in _by(mean, "partner", "stat", "criterion").items():
            kind = "NLI metrics" if partner == "nli" else "other metrics"
            found.append(f"mean of all with {kind}{_about(task) if several else ''}: {_best(rows)}")
    return found


def _about(task: Sequence[str]) -> str:
    return f" ({' with '.join(task)})"


def _best(rows: Sequence[Row]) -> str:
    best = next((row for row in rows if row["best"]), None)
    if best is None:
        return "no gain can be told, for a number is undefined or 0 without the other metric"
    if not best["weight"]:
        return "at no weight is one number higher and neither lower; best alone"
    alone = ", the other alone" if best["weight"] == 1 else ""
    changes = f"{best['stat']} {percent(best['gain_correlation'])}, accuracy {percent(best['gain_accuracy'])}"
    return f"best weight {best['weight']:g}{alone} ({changes})" + (
        f": -m {best['spec']!r}" if best["spec"] is not None else ""
    )


def whole(rows: Sequence[Row], phenomenon: str = ALL) -> list[Row]:
    """The rows in which data sets and suites are taken together: their means, or the only ones; not the mean over pairs of metrics."""
    points = [
        row
        for row in rows
        if row["metric"] != MEAN
        and row["dataset"] is not None
        and row["suite"] is not None
        and row["phenomenon"] == phenomenon
    ]
    return [row for row in points if row["dataset"] == MEAN] or points


def percent(share: float) -> str:
    """A change as people read it: +3.1 %."""
    return "undefined" if share != share else f"{100 * share:+.1f} %"


def _weight_tables(rows: Sequence[Row], digits: int) -> Iterator[Table]:
    for stat, criterion, level in _tasks(rows):
        own = [row for row in rows if (row["stat"], row["criterion"], row["level"]) == (stat, criterion, level)]
        first = whole(own)[0]
        sets = f"{first['dataset']} and {first['suite']}" if first["dataset"] != MEAN else _counted(rows)
        weights = list(dict.fromkeys(row["weight"] for row in own))
        body: list[tuple[str, ...]] = []
        marked: set[tuple[int, int]] = set()
        adequacy = _by(whole(own, ADEQUACY), "metric", "with")
        for (metric, partner), mine in _by(whole(own), "metric", "with").items():
            lines = [
                (stat, "correlation", mine),
                *((name, "accuracy", part) for name, part in _accuracies(mine, adequacy.get((metric, partner)))),
            ]
            for what, key, part in lines:
                marked |= {(len(body), 3 + j) for j, row in enumerate(mine) if row["best"]}
                names = (metric, partner) if key == "correlation" else ("", "")
                body.append((*names, what, *(number(row[key], digits) for row in part)))
        header = ("metric", "with", "weight", *(f"{weight:g}" for weight in weights))
        yield Table(
            f"{stat} with {criterion} (level {level}) and accuracy under attack: {sets}",
            header,
            tuple(body),
            frozenset(marked),
            3,
        )


def _accuracies(rows: Sequence[Row], adequacy: Sequence[Row] | None) -> Iterator[tuple[str, Sequence[Row]]]:
    yield _ATTACKS[ALL], rows
    if adequacy:
        yield _ATTACKS[ADEQUACY], adequacy


def _counted(rows: Sequence[Row]) -> str:
    sets = {row["dataset"] for row in rows} - {None, MEAN}
    suites = {row["suite"] for row in rows} - {None, MEAN}
    return (
        f"means over {len(sets)} data set{'s' if len(sets) > 1 else ''} and {len(suites)}"
        f" suite{'s' if len(suites) > 1 else ''}"
    )


def _tasks(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    return list(dict.fromkeys((row["stat"], row["criterion"], row["level"]) for row in rows if row["stat"] is not None))


def _pooling_tables(rows: Sequence[Row], digits: int) -> Iterator[Table]:
    values, wins, left = ([row for row in rows if row["table"] == table] for table in ("values", "wins", "left-out"))
    for (metric, kind, where, stat, criterion), own in _by(
        values, "metric", "kind", "set", "stat", "criterion"
    ).items():
        about = f"{stat} with {criterion}" if kind == "correlation" else "accuracy under attack"
        yield _grid(f"{metric}: {about}, {where}", own, "value", digits)
    for (setup, kind), own in _by(wins, "setup", "kind").items():
        held = {"ref": "references", "src": "sources"}[setup]
        what = "agreement with people" if kind == "correlation" else "accuracy under attack"
        yield _grid(f"how often each is the best of {own[0]['n']}: {what}, {held}", own, "wins", 1)
    if left:
        header = ("metric", "set", "chosen on", "strategy", "best", "value", "best value", "cost")
        yield Table("chosen without the set", header, tuple(_line(row, digits) for row in left), left=5)


def _line(row: Row, digits: int) -> tuple[str, ...]:
    where = row["set"] if row["criterion"] is None else f"{row['set']}, {row['criterion']}"
    both = f"{row['formula']} {row['direction']}", f"{row['best_formula']} {row['best_direction']}"
    return (
        row["metric"],
        where,
        _CHOSEN[row["among"]],
        *both,
        *(number(row[key], digits) for key in ("value", "best_value", "cost")),
    )


_CHOSEN = {"correlation": "other data sets", "accuracy": "other suites", "all": "all other sets"}


def _grid(title: str, rows: Sequence[Row], key: str, digits: int) -> Table:
    """Directions by formulas, the best marked."""
    formulas, directions = (list(dict.fromkeys(row[name] for row in rows)) for name in ("formula", "direction"))
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
    return Table(title, ("direction", *formulas), tuple(body), frozenset(marked))


def _by(rows: Any, *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return found
