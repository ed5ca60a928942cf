"""Scores as a page: a table per metric, with intervals drawn on a common axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.html import render
from nlgauge.report.marks import absent, between, number, whisker, with_interval
from nlgauge.report.rows import SIGNIFICANT, Row, measured, p_of
from nlgauge.report.tables.pairs import pair_tables
from nlgauge.report.tables.score import digits_of, rank_of

_WIDTH = 220  # pixels of the axis


def score_html(result: Result) -> str:
    """The page of a result of kind `score`."""
    return render(
        "score.html",
        inputs=result.inputs,
        sections=[
            _section(metric, [row for row in measured(result.rows) if row["metric"] == metric["spec"]])
            for metric in result.metrics
        ],
        grouped=any("group" in row for row in result.rows),
        pairs=pair_tables(result),
        notes=result.notes,
        command=result.command,
        alpha=SIGNIFICANT,
    )


def _section(metric: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
    ends = [float(x) for row in rows for x in (row["value"], row["low"], row["high"]) if not absent(x)]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    digits = digits_of(metric, rows)
    return {
        "spec": metric["spec"],
        "higher_is_better": metric["higher_is_better"],
        "signature": metric["signature"],
        "intervals": any(row["low"] is not None for row in rows),
        "axis": f"{low:.{digits}f} to {high:.{digits}f}",
        "compared": any(row.get("baseline") is not None for row in rows),
        "rows": [_row(row, digits, low, high) for row in rows],
    }


def _row(row: Row, digits: int, low: float, high: float) -> dict[str, Any]:
    p, delta = None if row.get("p") is None else p_of(row), row.get("delta")
    return {
        "group": row.get("group") or "-",
        "system": row["system"] if row["system"] is not None else "-",
        "is_baseline": row.get("baseline") is not None and row.get("baseline") == row["system"],
        "value": ("" if row["value"] is None else number(row["value"], digits)) + rank_of(row),
        "interval": between(row["low"], row["high"], digits),
        "picture": "" if absent(row["low"]) else whisker(row, low, high, width=_WIDTH, digits=digits),
        "delta": "" if delta is None else with_interval(_ends_of_delta(row), number(delta, digits, sign="+"), digits),
        "p": "" if p is None else f"{p:.4f}" + (" *" if p < SIGNIFICANT else ""),
        "n": row["n"],
        "n_undefined": row["n_undefined"],
    }


def _ends_of_delta(row: Row) -> Row:
    return {"low": row.get("delta_low"), "high": row.get("delta_high")}
