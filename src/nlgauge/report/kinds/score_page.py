"""Scores as a page: a table per metric, with intervals drawn on a common axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.figure import Figure
from nlgauge.report.html import render_result
from nlgauge.report.kinds.score import (
    agreement_tables,
    digits_of,
    pair_tables,
    parts_tables,
    parts_title,
    rank_of,
    star_of,
)
from nlgauge.report.rows import SIGNIFICANT, Row, absent, between, measured, number, p_of, values_of, with_interval
from nlgauge.report.strips import Axis, axis_of, strip
from nlgauge.report.table import Table
from nlgauge.report.trust import Trust, doubts_of


def score_html(
    result: Result, trust: Mapping[str, Trust] | None = None, figures: Sequence[Sequence[Figure]] = ()
) -> str:
    """The page of a result of kind `score`.

    Args:
        result: the result.
        trust: metric -> what else is known of it, shown beside its scores.
        figures: what stands above the tables, in groups.
    """
    parts, doubts = {table.title: table for table in parts_tables(result)}, doubts_of(result)
    return render_result(
        "score.html",
        result,
        what=_counted(len(values_of(measured(result.rows), "system")), "system"),
        sections=[
            {
                **_section(metric, [row for row in measured(result.rows) if row["metric"] == metric["spec"]], parts),
                "trust": (trust or {}).get(metric["spec"]),
                "doubt": doubts.get(metric["spec"], ""),
            }
            for metric in result.metrics
        ],
        figures=figures,
        grouped=any("group" in row for row in result.rows),
        flagged=any("n_flagged" in row for row in result.rows),
        pairs=pair_tables(result),
        agreement=agreement_tables(result),
        alpha=SIGNIFICANT,
    )


def _section(metric: Mapping[str, Any], rows: Sequence[Row], parts: Mapping[str, Table]) -> dict[str, Any]:
    ends = [float(x) for row in rows for x in (row["value"], row["low"], row["high"]) if not absent(x)]
    digits = digits_of(metric, rows)
    bases = {row["value"] for row in rows if _is_baseline(row) and not absent(row["value"])}
    base = bases.pop() if len(bases) == 1 else None  # every group has a baseline of its own
    axis = axis_of(ends, base)
    return {
        "spec": metric["spec"],
        "higher_is_better": metric["higher_is_better"],
        "signature": metric["signature"],
        "intervals": any(row["low"] is not None for row in rows),
        "axis": axis if ends else None,
        "based": base is not None,
        "compared": any(row.get("baseline") is not None for row in rows),
        "parts": parts.get(parts_title(metric["spec"])),
        "rows": [_row(row, digits, axis, metric["higher_is_better"]) for row in rows],
    }


def _row(row: Row, digits: int, axis: Axis, higher_is_better: bool) -> dict[str, Any]:
    p, delta = None if absent(row.get("p")) else p_of(row), row.get("delta")
    return {
        "group": row.get("group") or "-",
        "system": row["system"] if row["system"] is not None else "-",
        "is_baseline": _is_baseline(row),
        "value": ("" if row["value"] is None else number(row["value"], digits)) + rank_of(row),
        "interval": between(row["low"], row["high"], digits),
        "picture": strip(row, axis, digits),
        "delta": "" if delta is None else with_interval(_ends_of_delta(row), number(delta, digits, sign="+"), digits),
        "p": "" if p is None else f"{p:.4f} {star_of(row, higher_is_better)}".rstrip(),
        "n": row["n"],
        "n_undefined": row["n_undefined"],
        "n_flagged": row.get("n_flagged", 0),
    }


def _ends_of_delta(row: Row) -> Row:
    return {"low": row.get("delta_low"), "high": row.get("delta_high")}


def _is_baseline(row: Row) -> bool:
    return row.get("baseline") is not None and row.get("baseline") == row["system"]


def _counted(n: int, name: str) -> str:
    return f"{n} {name}{'' if n == 1 else 's'}"
