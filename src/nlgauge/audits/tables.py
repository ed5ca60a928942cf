"""An audit as tables: accuracy by phenomenon, deviation by criterion, worst cases with the edit marked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.core.table import Table

Row = Mapping[str, Any]
_MEAN = "mean-"


def audit_tables(result: Result, digits: int = 3, intervals: bool = False) -> list[Table]:
    """The tables of a result of kind `audit`: one a group (preference) or task (checklist), a column a metric."""
    if not result.rows:
        return []
    if "phenomenon" in result.rows[0]:
        groups = list(dict.fromkeys(row["group"] for row in result.rows))
        return [
            _preference([row for row in result.rows if row["group"] == group], digits, intervals) for group in groups
        ]
    tasks = list(dict.fromkeys(row["task"] for row in result.rows))
    return [_checklist([row for row in result.rows if row["task"] == task], digits, intervals) for task in tasks]


def _preference(rows: Sequence[Row], digits: int, intervals: bool) -> Table:
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    names = list(dict.fromkeys(row["phenomenon"] for row in rows))
    names = [n for n in names if not n.startswith(_MEAN)] + [n for n in names if n.startswith(_MEAN)]
    cells = {(row["metric"], row["phenomenon"]): row for row in rows}
    group = rows[0]["group"]
    counts = {name: _counts(cells.get((m, name)) for m in metrics) for name in names}
    header = ["phenomenon", "n", *(x for m in metrics for x in (m, "ties"))]
    body = []
    for name in names:
        line = [name, counts[name]]
        for m in metrics:
            row = cells.get((m, name))
            line += [_share(row, "accuracy", digits, intervals), "" if row is None else str(row["ties"])]
        body.append(tuple(line))
    return Table(f"accuracy, group {group}" if group is not None else "accuracy", tuple(header), tuple(body))


def _checklist(rows: Sequence[Row], digits: int, intervals: bool) -> Table:
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    keys = list(dict.fromkeys((row["criterion"], row["template"]) for row in rows))
    cells = {(row["metric"], row["criterion"], row["template"]): row for row in rows}
    header = ["criterion", "template", "n", "n/a", "people", *metrics]
    body = []
    for criterion, template in keys:
        own = [cells.get((m, criterion, template)) for m in metrics]
        first = next(row for row in own if row is not None)
        people = (
            "-"
            if _absent(first["penalty"])
            else f"{first['penalty']:.2f}{'' if first['certainty'] in ('high', 'user') else '~'}"
        )
        values = (_deviation(row, digits, intervals) for row in own)
        body.append((criterion, template, _counts(own), str(first["n_not_applicable"]), people, *values))
    title = (
        f"deviation from people, task {rows[0]['task']}: drop of the metric less penalty of people (0 agrees, below 0"
        " punishes too little)"
    )
    return Table(title, tuple(header), tuple(body), left=2)


def _share(row: Row | None, field: str, digits: int, intervals: bool, sign: str = "") -> str:
    if row is None:
        return ""
    value = row[field]
    if _absent(value):
        return "undefined" if row["n"] else "-"
    text = f"{value:{sign}.{digits}f}"
    if intervals and not _absent(row["low"]):
        text += f" [{row['low']:{sign}.{digits}f}, {row['high']:{sign}.{digits}f}]"
    return text


def _deviation(row: Row | None, digits: int, intervals: bool) -> str:
    """The deviation; the drop where people's is not known."""
    if row is not None and _absent(row["penalty"]) and not _absent(row["drop"]):
        return f"drop {row['drop']:.{digits}f}"
    return _share(row, "deviation", digits, intervals, sign="+")


def _counts(rows: Iterable[Row | None]) -> str:
    """How many pairs; several numbers where metrics have pairs of their own."""
    return "/".join(dict.fromkeys(str(row["n"]) for row in rows if row is not None))


def _absent(value: float | None) -> bool:
    return value is None or math.isnan(value)
