"""Meta-evaluation as tables: values by group or criterion, tests between metrics as triangles, model selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.marks import descending, number, with_interval
from nlgauge.report.rows import (
    MEAN,
    POOLED,
    SIGNIFICANT,
    Row,
    by_keys,
    claim_of,
    compared,
    measured,
    p_values,
    values_of,
)
from nlgauge.report.tables.table import Table

Lines = Mapping[str, Mapping[Any, Row]]  # metric -> column -> row


def value_tables(result: Result, digits: int = 3, intervals: bool = True) -> list[Table]:
    """One table per level and statistic, with one line per metric and one column per group.

    With several criteria there is one column per criterion instead. Where metrics were tested against each other, the
    best comes first, and a mark says that no other is significantly better.
    """
    return [_value_table(rows, digits, intervals) for rows in by_keys(measured(result.rows), "level", "stat").values()]


def _value_table(rows: Sequence[Row], digits: int, intervals: bool) -> Table:
    first, criteria, groups = rows[0], values_of(rows, "criterion"), values_of(rows, "group")
    key, columns, rows = _columns(rows, criteria, groups)
    lines: dict[str, dict[Any, Row]] = {}
    for row in rows:
        lines.setdefault(row["metric"], {})[row[key]] = row
    last = columns[-1] if columns[-1] != POOLED else columns[-2]
    if any("not_outperformed" in row for row in rows):
        lines = dict(sorted(lines.items(), key=lambda line: descending(line[1][last]["value"])))
    header = ["metric", *(_heading(column, first["stat"], len(columns)) for column in columns)]
    body = [
        [metric, *(_cell(cells.get(column), digits, intervals) for column in columns)]
        for metric, cells in lines.items()
    ]
    marked = {
        (i, j)
        for i, cells in enumerate(lines.values())
        for j, column in enumerate(columns, start=1)
        if column in cells and cells[column].get("not_outperformed")
    }
    if len(columns) == 1:
        for title, shown in _about_one_column(lines, last, digits):
            header.append(title)
            body = [[*line, cell] for line, cell in zip(body, shown, strict=True)]
    return Table(_title(first, criteria, groups), tuple(header), tuple(map(tuple, body)), frozenset(marked))


def _columns(rows: Sequence[Row], criteria: list[Any], groups: list[Any]) -> tuple[str, list[Any], Sequence[Row]]:
    """The key of a row that gives the columns, its values, and the rows that they take."""
    names = [group for group in groups if group not in (MEAN, POOLED)]
    if len(criteria) > 1:
        return "criterion", criteria, [row for row in rows if row["group"] == MEAN]
    if len(names) > 1:
        return "group", [*names, *(group for group in groups if group in (MEAN, POOLED))], rows
    # the row of the only group counts its segments, that of the mean would count groups
    return "group", names, [row for row in rows if row["group"] in names]


def _about_one_column(lines: Lines, column: Any, digits: int) -> list[tuple[str, list[str]]]:
    """What a single column has room for beside it: rank and chance where there are any, and how many were used."""
    rows = [cells[column] for cells in lines.values()]
    beside = []
    if any(row.get("rank") is not None for row in rows):
        beside.append(("rank", [str(row.get("rank") or "-") for row in rows]))
    if any((row["chance"] or 0) > 0 for row in rows):
        beside.append(("chance", [number(row["chance"], digits) for row in rows]))
    return [*beside, ("n", [str(row["n_used"]) for row in rows])]


def selection_tables(result: Result, digits: int = 3) -> list[Table]:
    """One table per group, or one table for the mean of several groups.

    It has one line per metric, one column for each of Hits@1, MRR and Diff, and a last line for the values of chance.
    """
    groups = values_of(result.rows, "group")
    shown = groups[:1] if len(groups) <= 2 else [*groups[:-1], MEAN]
    return [_selection(group, [row for row in result.rows if row["group"] == group], digits) for group in shown]


def _selection(group: str | None, rows: Sequence[Row], digits: int) -> Table:
    stats, metrics = values_of(rows, "stat"), values_of(rows, "metric")
    cells = {(row["metric"], row["stat"]): row for row in rows}
    simulated = any(row["simulated"] is not None for row in rows)
    fields = ["value", "simulated"] if simulated else ["value"]
    body = [
        (metric, *(number(cells[metric, stat][field], digits) for field in fields for stat in stats))
        for metric in metrics
    ]
    blind = [number(cells[metrics[0], stat]["chance"], digits) for stat in stats]
    body.append(("(any of the pool)", *blind, *([""] * len(stats) if simulated else [])))
    header = ("metric", *stats, *(f"{stat} simulated" for stat in stats if simulated))
    first = rows[0]
    of = "" if group is None else f", {group}"
    models = f"{first['n_used']} models" if group != MEAN else f"{first['n_used']} groups"
    title = f"the best of {first['pool']} by each metric, seen by {first['criterion']}: {models}{of}"
    return Table(title, header, tuple(body))


def triangles(result: Result, digits: int = 3) -> list[Table]:
    """p-values of row against column, the best metric first, marked where they are below 0.05.

    There is one table per criterion, level and statistic. With several groups it shows the mean where that was tested,
    else every group.
    """
    tables = []
    for rows in by_keys(compared(result.rows), "criterion", "level", "stat").values():
        groups = by_keys(rows, "group")
        chosen = [groups[MEAN,]] if (MEAN,) in groups else list(groups.values())
        tables += [_triangle(own, digits) for own in chosen]
    return tables


def _triangle(rows: Sequence[Row], digits: int) -> Table:
    first = rows[0]
    power = {(row["metric"], row["against"]): row["power"] for row in rows if row.get("power") is not None}
    p = p_values(rows)
    values = {row["metric"]: row["value"] for row in rows}
    order = sorted(values, key=lambda metric: descending(values[metric]))
    body, marked = [], set()
    for i, metric in enumerate(order[:-1]):
        line = [metric, *([""] * i)]
        for j, other in enumerate(order[i + 1 :], start=i + 1):
            strength = f" (power {number(power[metric, other], 2)})" if (metric, other) in power else ""
            line.append(number(p[metric, other], digits) + strength)
            if p[metric, other] < SIGNIFICANT:
                marked.add((i, j))
        body.append(tuple(line))
    adjusted = ", adjusted" if first.get("p_adjusted") is not None else ""
    where = "" if first["group"] in (MEAN, None) else f", {first['group']}"
    title = (
        f"p of {claim_of(first)}{adjusted}: {first['stat']} with {first['criterion']}, level {first['level']}{where},"
        f" {first['test']}"
    )
    return Table(title, ("", *order[1:]), tuple(body), frozenset(marked))


def criteria_table(
    names: Sequence[str], values: Any, shares: Mapping[str, float], stat: str, level: str, digits: int = 3
) -> Table:
    """Criteria against each other.

    Args:
        names: the names of the k criteria.
        values: correlations, shape (k, k).
        shares: the shares of pairs that are `weak`, `moderate` and `strong`.
        stat, level: what was correlated.
        digits: the number of decimals.
    """
    strength = (
        f"{shares['weak']:.0%} of the pairs below 0.3, {shares['moderate']:.0%} to 0.5, {shares['strong']:.0%} above"
    )
    title = f"{stat} of criteria with each other: level {level}; {strength}"
    return matrix_table(title, names, values, digits)


def matrix_table(title: str, names: Sequence[str], values: Any, digits: int = 3) -> Table:
    """A square of numbers with a name for each row and column."""
    body = tuple((name, *(number(float(v), digits) for v in row)) for name, row in zip(names, values, strict=True))
    return Table(title, ("", *names), body)


def _title(row: Row, criteria: Sequence[str], groups: Sequence[str | None]) -> str:
    of = criteria[0] if len(criteria) == 1 else f"{sum(c != MEAN for c in criteria)} criteria"
    names = [g for g in groups if g not in (MEAN, POOLED, None)]
    where = f", {names[0]}" if len(names) == 1 else f", {len(names)} groups" if names else ""
    ties = f", ties {row['ties']}" if row["ties"] is not None else ""
    return f"{row['stat']} with {of}: level {row['level']}, averaging {row['averaging']}{ties}{where}"


def _heading(column: str | None, stat: str, n: int) -> str:
    return stat if n == 1 else "-" if column is None else column


def _cell(row: Row | None, digits: int, intervals: bool) -> str:
    if row is None:
        return ""
    text = number(row["value"], digits)
    return with_interval(row, text, digits) if intervals else text
