"""Meta-evaluation as tables: values by group or criterion, tests as triangles, selection."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.core.table import Table

FORMS = ("text", "tsv", "markdown", "latex")
MEAN = "mean"
POOLED = "pooled"
_ALPHA = 0.05


def value_tables(result: Result, digits: int = 3, intervals: bool = True) -> list[Table]:
    """A table for each level and statistic: a line a metric, a column a group, or a criterion where there are several.

    Where metrics were tested against each other the best stands first, and a mark says that no other is significantly
    better.
    """
    rows = [row for row in result.rows if row.get("against") is None]
    found = []
    for level, stat in dict.fromkeys((row["level"], row["stat"]) for row in rows):
        found.append(
            _value_table([row for row in rows if (row["level"], row["stat"]) == (level, stat)], digits, intervals)
        )
    return found


def _value_table(rows: Sequence[Mapping[str, Any]], digits: int, intervals: bool) -> Table:
    first = rows[0]
    criteria = list(dict.fromkeys(row["criterion"] for row in rows))
    groups = list(dict.fromkeys(row["group"] for row in rows))
    named = [g for g in groups if g not in (MEAN, POOLED)]
    columns: list[Any]
    if len(criteria) > 1:
        rows, columns, where = [row for row in rows if row["group"] == MEAN], criteria, "criterion"
    elif len(named) > 1:
        columns, where = [*named, *(g for g in groups if g in (MEAN, POOLED))], "group"
    else:  # the row of the only group counts its segments, that of the mean would count groups
        rows, columns, where = [row for row in rows if row["group"] in named], named, "group"
    cells: dict[str, dict[Any, Mapping[str, Any]]] = {}
    for row in rows:
        cells.setdefault(row["metric"], {})[row[where]] = row
    last = columns[-1] if columns[-1] != POOLED else columns[-2]
    ranked = len(columns) == 1 and any(row.get("rank") is not None for row in rows)
    if any("not_outperformed" in row for row in rows):
        cells = dict(sorted(cells.items(), key=lambda item: -_sortable(item[1][last]["value"])))
    header = ["metric", *(_heading(column, first["stat"], len(columns)) for column in columns)]
    body = [
        [metric, *(_cell(own.get(column), digits, intervals) for column in columns)] for metric, own in cells.items()
    ]
    marked = {
        (i, j + 1)
        for i, own in enumerate(cells.values())
        for j, c in enumerate(columns)
        if c in own and own[c].get("not_outperformed")
    }
    for title, show, wanted in (
        ("rank", lambda row: str(row.get("rank") or "-"), ranked),
        (
            "chance",
            lambda row: number(row["chance"], digits),
            len(columns) == 1 and any((row["chance"] or 0) > 0 for row in rows),
        ),
        ("n", lambda row: str(row["n_used"]), len(columns) == 1),
    ):
        if wanted:
            header.append(title)
            for line, own in zip(body, cells.values(), strict=True):
                line.append(show(own[last]))
    return Table(_title(first, criteria, groups), tuple(header), tuple(map(tuple, body)), frozenset(marked))


def selection_tables(result: Result, digits: int = 3) -> list[Table]:
    """A table for each group, or for the mean of several: a line a metric, a column for each of Hits@1, MRR and Diff, and what chance gets."""
    groups = list(dict.fromkeys(row["group"] for row in result.rows))
    shown = groups[:1] if len(groups) <= 2 else [*groups[:-1], MEAN]
    found = []
    for group in shown:
        rows = [row for row in result.rows if row["group"] == group]
        stats = list(dict.fromkeys(row["stat"] for row in rows))
        metrics = list(dict.fromkeys(row["metric"] for row in rows))
        by = {(row["metric"], row["stat"]): row for row in rows}
        simulated = any(row["simulated"] is not None for row in rows)
        body = [[metric, *(number(by[metric, stat]["value"], digits) for stat in stats)] for metric in metrics]
        header = ["metric", *stats]
        if simulated:
            header += [f"{stat} simulated" for stat in stats]
            body = [[*line, *(number(by[line[0], stat]["simulated"], digits) for stat in stats)] for line in body]
        blind = [number(by[metrics[0], stat]["chance"], digits) for stat in stats]
        body.append(["(any of the pool)", *blind, *([""] * len(stats) if simulated else [])])
        first = rows[0]
        of = "" if group is None else f", {group}"
        models = f"{first['n_used']} models" if group != MEAN else f"{first['n_used']} groups"
        title = f"the best of {first['pool']} by each metric, seen by {first['criterion']}: {models}{of}"
        found.append(Table(title, tuple(header), tuple(map(tuple, body))))
    return found


def triangles(result: Result, digits: int = 3) -> list[Table]:
    """For each criterion, level and statistic the p-values of row against column, the best metric first; marked where below 0.05.

    Of several groups the mean is shown where it was tested, else every group.
    """
    tested = [row for row in result.rows if row.get("against") is not None]
    kinds = dict.fromkeys((row["criterion"], row["level"], row["stat"]) for row in tested)
    found = []
    for criterion, level, stat in kinds:
        own = [row for row in tested if (row["criterion"], row["level"], row["stat"]) == (criterion, level, stat)]
        groups = (
            [MEAN] if any(row["group"] == MEAN for row in own) else list(dict.fromkeys(row["group"] for row in own))
        )
        for group in groups:
            found.append(_triangle([row for row in own if row["group"] == group], digits))
    return found


def _triangle(rows: Sequence[Mapping[str, Any]], digits: int) -> Table:
    first = rows[0]
    power = {(row["metric"], row["against"]): row["power"] for row in rows if row.get("power") is not None}
    p = {
        (row["metric"], row["against"]): row["p"] if row.get("p_adjusted") is None else row["p_adjusted"]
        for row in rows
    }
    values = {row["metric"]: row["value"] for row in rows}
    order = sorted(values, key=lambda metric: -_sortable(values[metric]))
    body, marked = [], set()
    for i, metric in enumerate(order[:-1]):
        line = [metric]
        for j, other in enumerate(order[1:], start=1):
            found = f" (power {number(power[metric, other], 2)})" if (metric, other) in power else ""
            line.append(number(p[metric, other], digits) + found if j > i else "")
            if j > i and p[metric, other] < _ALPHA:
                marked.add((i, j))
        body.append(tuple(line))
    claim = "row better than column" if first["alternative"] == "greater" else "row and column differ"
    adjusted = ", adjusted" if first.get("p_adjusted") is not None else ""
    where = "" if first["group"] in (MEAN, None) else f", {first['group']}"
    title = (
        f"p of {claim}{adjusted}: {first['stat']} with {first['criterion']}, level {first['level']}{where},"
        f" {first['test']}"
    )
    return Table(title, ("", *order[1:]), tuple(body), frozenset(marked))


def matrix_table(title: str, names: Sequence[str], values: Any, digits: int = 3) -> Table:
    """A square of numbers with a name for each row and column."""
    body = tuple((name, *(number(float(v), digits) for v in row)) for name, row in zip(names, values, strict=True))
    return Table(title, ("", *names), body)


def _sortable(value: float | None) -> float:
    return -math.inf if value is None or math.isnan(value) else value


def _title(row: Mapping[str, Any], criteria: Sequence[str], groups: Sequence[str | None]) -> str:
    of = criteria[0] if len(criteria) == 1 else f"{sum(c != MEAN for c in criteria)} criteria"
    named = [g for g in groups if g not in (MEAN, POOLED, None)]
    where = f", {named[0]}" if len(named) == 1 else f", {len(named)} groups" if named else ""
    ties = f", ties {row['ties']}" if row["ties"] is not None else ""
    return f"{row['stat']} with {of}: level {row['level']}, averaging {row['averaging']}{ties}{where}"


def _heading(column: str | None, stat: str, n: int) -> str:
    return stat if n == 1 else "-" if column is None else column


def _cell(row: Mapping[str, Any] | None, digits: int, intervals: bool) -> str:
    if row is None:
        return ""
    text = number(row["value"], digits)
    if intervals and row["low"] is not None and not math.isnan(row["low"]):
        text += f" [{number(row['low'], digits)}, {number(row['high'], digits)}]"
    return text


def number(value: float | None, digits: int) -> str:
    """A number with so many digits, or the word where there is none."""
    if value is None or math.isnan(value):
        return "undefined"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text
