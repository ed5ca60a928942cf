"""An audit as tables: accuracy by phenomenon, or deviation from people by criterion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nlgauge.core.result import Result
from nlgauge.report.marks import absent, number, with_interval
from nlgauge.report.rows import Row, by_keys, means_last, values_of
from nlgauge.report.tables.table import Table

_CERTAIN = ("high", "user")


def audit_tables(result: Result, digits: int = 3, intervals: bool = False) -> list[Table]:
    """The tables of a result of kind `audit`: one per group (preference) or task (checklist), one column per metric."""
    if not result.rows:
        return []
    if "phenomenon" in result.rows[0]:
        return [_preference(rows, digits, intervals) for rows in by_keys(result.rows, "group").values()]
    return [_checklist(rows, digits, intervals) for rows in by_keys(result.rows, "task").values()]


def _preference(rows: Sequence[Row], digits: int, intervals: bool) -> Table:
    metrics = values_of(rows, "metric")
    cells = {(row["metric"], row["phenomenon"]): row for row in rows}
    group = rows[0]["group"]
    body = []
    for name in means_last(row["phenomenon"] for row in rows):
        line = [name, _counts(cells.get((m, name)) for m in metrics)]
        for m in metrics:
            row = cells.get((m, name))
            line += [_share(row, "accuracy", digits, intervals), "" if row is None else str(row["ties"])]
        body.append(tuple(line))
    header = ("phenomenon", "n", *(x for m in metrics for x in (m, "ties")))
    return Table(f"accuracy, group {group}" if group is not None else "accuracy", header, tuple(body))


def _checklist(rows: Sequence[Row], digits: int, intervals: bool) -> Table:
    metrics = values_of(rows, "metric")
    cells = {(row["metric"], row["criterion"], row["template"]): row for row in rows}
    body = []
    for criterion, template in by_keys(rows, "criterion", "template"):
        line = [cells.get((m, criterion, template)) for m in metrics]
        first = next(row for row in line if row is not None)
        values = (_deviation(row, digits, intervals) for row in line)
        body.append((criterion, template, _counts(line), str(first["n_not_applicable"]), _people(first), *values))
    title = (
        f"deviation from people, task {rows[0]['task']}: drop of the metric less penalty of people (0 agrees, below 0"
        " punishes too little)"
    )
    return Table(title, ("criterion", "template", "n", "n/a", "people", *metrics), tuple(body), left=2)


def _people(row: Row) -> str:
    """The penalty that people give; a tilde marks one that is uncertain."""
    if absent(row["penalty"]):
        return "-"
    return f"{row['penalty']:.2f}{'' if row['certainty'] in _CERTAIN else '~'}"


def _share(row: Row | None, field: str, digits: int, intervals: bool, sign: str = "") -> str:
    if row is None:
        return ""
    if absent(row[field]):
        return "undefined" if row["n"] else "-"
    text = number(row[field], digits, sign=sign)
    return with_interval(row, text, digits, sign=sign) if intervals else text


def _deviation(row: Row | None, digits: int, intervals: bool) -> str:
    """The deviation; or the drop, where people's drop is not known."""
    if row is not None and absent(row["penalty"]) and not absent(row["drop"]):
        return f"drop {row['drop']:.{digits}f}"
    return _share(row, "deviation", digits, intervals, sign="+")


def _counts(rows: Iterable[Row | None]) -> str:
    """The number of pairs; several numbers where metrics have different pairs."""
    return "/".join(dict.fromkeys(str(row["n"]) for row in rows if row is not None))
