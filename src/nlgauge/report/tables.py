"""A score result as a page: a table a metric, intervals drawn on a common axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nlgauge.core.result import Result, replacing
from nlgauge.report.html import render

_WIDTH, _HEIGHT, _EDGE = 220, 16, 5


def write_html(result: Result, path: str | Path) -> None:
    """Write a result of kind `score` as one self-contained page, whole or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    with replacing(path) as file:
        file.write(score_html(result))


def score_html(result: Result) -> str:
    """The page of a result of kind `score`."""
    return render(
        "score.html",
        inputs=result.inputs,
        sections=[
            _section(metric, [row for row in result.rows if row["metric"] == metric["spec"]])
            for metric in result.metrics
        ],
        grouped=any("group" in row for row in result.rows),
        notes=result.notes,
    )


def _section(metric: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    known = [
        float(x) for row in rows for x in (row["value"], row["low"], row["high"]) if x is not None and not math.isnan(x)
    ]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    digits = 2 if max(abs(low), abs(high)) > 1.5 else 4
    return {
        "spec": metric["spec"],
        "higher_is_better": metric["higher_is_better"],
        "signature": str(metric["signature"]).split("|"),
        "intervals": any(row["low"] is not None for row in rows),
        "axis": f"{low:.{digits}f} to {high:.{digits}f}",
        "compared": any(row.get("baseline") is not None for row in rows),
        "rows": [_row(row, digits, low, high) for row in rows],
    }


def _row(row: Mapping[str, Any], digits: int, low: float, high: float) -> dict[str, Any]:
    def shown(value: float | None, sign: str = "") -> str:
        return "" if value is None else "undefined" if math.isnan(value) else f"{value:{sign}.{digits}f}"

    p = row.get("p")
    has_interval = row["low"] is not None and not math.isnan(row["low"])
    return {
        "group": row.get("group") or "-",
        "system": row["system"] if row["system"] is not None else "-",
        "is_baseline": row.get("baseline") is not None and row.get("baseline") == row["system"],
        "value": shown(row["value"]),
        "interval": f"{shown(row['low'])} to {shown(row['high'])}" if has_interval else "",
        "picture": _whisker(row, low, high) if has_interval else "",
        "delta": shown(row.get("delta"), "+"),
        "p": "" if p is None else f"{p:.4f}" + (" *" if p < 0.05 else ""),
        "n": row["n"],
        "n_undefined": row["n_undefined"],
    }


def _whisker(row: Mapping[str, Any], low: float, high: float) -> Any:
    """The interval as a line with its value as a dot; numbers only, so nothing needs escaping."""
    from markupsafe import Markup

    def x(value: float) -> float:
        return _EDGE + (_WIDTH - 2 * _EDGE) * ((value - low) / (high - low) if high > low else 0.5)

    middle = _HEIGHT / 2
    line = (
        f'<line x1="{x(row["low"]):.1f}" x2="{x(row["high"]):.1f}" y1="{middle}" y2="{middle}" stroke="#5b6672"'
        ' stroke-width="2"/>'
    )
    dot = f'<circle cx="{x(row["value"]):.1f}" cy="{middle}" r="4" fill="#1d4ed8"/>'
    label = f"{row['value']:.4g}, {row['low']:.4g} to {row['high']:.4g}"
    return Markup(
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{label}">{line}{dot}</svg>'
    )  # numbers alone, nothing to escape
