"""Scores as a table: one line per system, one column per metric, intervals and p-values inside the cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.marks import number, with_interval
from nlgauge.report.rows import SIGNIFICANT, measured, p_of
from nlgauge.report.tables.table import Table

_NO_NAME = "-"


def system_name(system: str | None) -> str:
    """How a system is shown; a dash stands for segments that name none."""
    return _NO_NAME if system is None else system


def score_table(result: Result, digits: int | None = None, only: Sequence[str] | None = None) -> Table:
    """The table of a result of kind `score`.

    Args:
        result: the result.
        digits: after the point; None for 2 or 4, by the scale of the metric.
        only: specifications of the metrics that get a column; None for all.
    """
    rows = measured(result.rows)
    grouped = any("group" in row for row in rows)
    compared = any(row.get("baseline") is not None for row in rows)
    specs = [m["spec"] for m in result.metrics if only is None or m["spec"] in only]
    lines: dict[tuple[Any, Any], dict[str, str]] = {}
    for row in rows:
        lines.setdefault((row.get("group"), row["system"]), {})[row["metric"]] = _scored(row, digits, result)
    bases = {row.get("baseline") for row in rows}
    counts = {(row.get("group"), row["system"]): row["n"] for row in rows}
    body = []
    for (group, system), cells in lines.items():
        name = system_name(system) + (" (baseline)" if compared and system in bases else "")
        names = ([_plain(group) or _NO_NAME] if grouped else []) + [name]
        body.append((*names, *(cells.get(spec, "") for spec in specs), str(counts[group, system])))
    header = (*(["group"] if grouped else []), "system", *specs, "n")
    return Table("", header, tuple(body), left=header.index("system") + 1)


def score_only(result: Result, digits: int | None = None) -> str:
    """The numbers alone: one line per system, its metrics side by side."""
    lines: dict[tuple[Any, Any], list[str]] = {}
    for row in result.rows:
        lines.setdefault((row.get("group"), row["system"]), []).append(
            number(row["value"], _digits(digits, row, result))
        )
    return "\n".join(" ".join(cells) for cells in lines.values())


def _scored(row: Mapping[str, Any], digits: int | None, result: Result) -> str:
    digits = _digits(digits, row, result)
    text = with_interval(row, number(row["value"], digits), digits)
    if row.get("p") is not None:
        text += f" p={p_of(row):.4f}" + ("*" if p_of(row) < SIGNIFICANT else " ")
    return text + rank_of(row)


def rank_of(row: Mapping[str, Any]) -> str:
    """The rank of a system among others, after its value; empty where systems were not ranked."""
    return f" rank {row['rank']}" if row.get("rank") is not None else ""


def _digits(digits: int | None, row: Mapping[str, Any], result: Result) -> int:
    """The number of decimals: a scale to 100 reads well with two, a scale to 1 with four."""
    if digits is not None:
        return digits
    values = (abs(r["value"]) for r in result.rows if r["metric"] == row["metric"] and r["value"] is not None)
    return 2 if max(values, default=0.0) > 1.5 else 4


def _plain(group: str | None) -> str:
    return "" if group is None else group.replace("\t", " ").replace("\n", " ")
