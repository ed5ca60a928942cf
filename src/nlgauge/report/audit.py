"""An audit as a page: accuracy by phenomenon as bars, deviation by criterion as a heat map, both drawn as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nlgauge.core.difference import pieces
from nlgauge.core.result import Result, replacing
from nlgauge.report.colours import ink
from nlgauge.report.html import render
from nlgauge.report.signed import signed

Row = Mapping[str, Any]
_ROW, _CELL, _LABEL, _HEAD, _CHAR = 22, 74, 8, 26, 6.6  # pixels
_BAR, _GAP = 260, 14
_SERIES = ("#1d4ed8", "#b45309", "#047857", "#7c3aed", "#be123c", "#4b5563", "#0e7490", "#a16207")


def write_html(result: Result, path: str | Path, worst: Mapping[str, Sequence[Mapping[str, Any]]] | None = None) -> None:
    """Write a result of kind `audit` as one self-contained page, whole or not at all.

    Args:
        result: the result.
        path: of the page.
        worst: for each metric the cases it got most wrong, as `Audit.worst` gives them.

    Raises:
        InputError: the file cannot be written.
    """
    with replacing(path) as file:
        file.write(audit_html(result, worst))


def audit_html(result: Result, worst: Mapping[str, Sequence[Mapping[str, Any]]] | None = None) -> str:
    """The page of a result of kind `audit`."""
    preference = bool(result.rows) and "phenomenon" in result.rows[0]
    return render(
        "audit.html",
        inputs=result.inputs,
        preference=preference,
        sections=_bars(result.rows) if preference else _maps(result.rows),
        worst=[{"metric": spec, "cases": [_case(c) for c in cases]} for spec, cases in (worst or {}).items() if cases],
        metrics=[{**metric, "signature": str(metric["signature"]).split("|")} for metric in result.metrics],
        notes=result.notes,
    )


def heat_map(rows: Sequence[Row]) -> str:
    """Deviations of one task as an SVG: a line a template, in blocks by criterion; a column a metric.

    Blue punishes too little (below 0), brown too much, white agrees. Text is escaped.
    """
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    keys = list(dict.fromkeys((row["criterion"], row["template"]) for row in rows))
    cells = {(row["metric"], row["criterion"], row["template"]): row for row in rows}
    left = _LABEL + _CHAR * max(len(template) for _, template in keys) + 10
    block = _CHAR * max(len(criterion) for criterion, _ in keys) + 16
    head = _HEAD + _CHAR * 0.55 * max(len(m) for m in metrics)
    width, height = left + block + _CELL * len(metrics) + 60, head + _ROW * len(keys) + 6
    parts = [_text(left + block + _CELL * (j + 0.5), head - 8, m, anchor="start", turn=-35) for j, m in enumerate(metrics)]
    before = None
    for i, (criterion, template) in enumerate(keys):
        y = head + _ROW * i
        if criterion != before:
            parts.append(_text(_LABEL, y + 15, criterion, quiet=True))
            parts.append(f'<line x1="{_LABEL}" x2="{width - 60:.1f}" y1="{y}" y2="{y}" stroke="#9aa5b1"/>')
            before = criterion
        parts.append(_text(block + left - 8, y + 15, template, anchor="end"))
        for j, m in enumerate(metrics):
            parts.append(_cell(left + block + _CELL * j, y, cells[m, criterion, template]))
    return _svg(width, height, "deviation of metrics from people", parts)


def bars(rows: Sequence[Row]) -> str:
    """Accuracies of one group as an SVG: a block a phenomenon, a bar a metric with its interval; a line at one half. Text is escaped."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    names = list(dict.fromkeys(row["phenomenon"] for row in rows))
    names = [n for n in names if not n.startswith("mean-")] + [n for n in names if n.startswith("mean-")]
    cells = {(row["metric"], row["phenomenon"]): row for row in rows}
    left = _LABEL + _CHAR * max(map(len, names)) + 12
    block = _GAP * len(metrics) + 10
    legend = 20 * len(metrics) + 14
    width, height = left + _BAR + 90, legend + block * len(names) + 24
    parts = []
    for k, m in enumerate(metrics):
        parts.append(f'<rect x="{left:.1f}" y="{20 * k + 4}" width="12" height="12" fill="{_SERIES[k % len(_SERIES)]}"/>')
        parts.append(_text(left + 18, 20 * k + 14, m))
    for tick in (0.0, 0.5, 1.0):
        x = left + _BAR * tick
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{legend}" y2="{height - 20}" stroke="{"#9aa5b1" if tick == 0.5 else "#d9dee3"}"/>')
        parts.append(_text(x, height - 6, f"{tick:g}", anchor="middle", quiet=True))
    for i, name in enumerate(names):
        top = legend + block * i + 4
        parts.append(_text(left - 8, top + block / 2, name, anchor="end", bold=name.startswith("mean-")))
        for k, m in enumerate(metrics):
            row = cells.get((m, name))
            if row is not None and not _absent(row["accuracy"]):
                parts.append(_bar(left, top + _GAP * k, row, _SERIES[k % len(_SERIES)]))
    return _svg(width, height, "accuracy by phenomenon", parts)


def _bar(left: float, y: float, row: Row, colour: str) -> str:
    value, low, high = row["accuracy"], row["low"], row["high"]
    shown = f'<rect x="{left:.1f}" y="{y}" width="{_BAR * value:.1f}" height="{_GAP - 4}" fill="{colour}"/>'
    if not _absent(low):
        shown += (
            f'<line x1="{left + _BAR * low:.1f}" x2="{left + _BAR * high:.1f}" y1="{y + 5}" y2="{y + 5}" stroke="#1f2933" stroke-width="1.5"/>'
        )
    return shown + _text(left + _BAR * max(value, 0 if _absent(high) else high) + 6, y + 9, f"{value:.2f}", size=11)


def _cell(x: float, y: float, row: Row) -> str:
    value = row["deviation"]
    if _absent(value):
        note = "no penalty" if row["n"] and not _absent(row["drop"]) else "-"
        return _text(x + _CELL / 2, y + 15, note, anchor="middle", quiet=True, size=11)
    colour = signed(value)
    title = f"drop {row['drop']:.2f}, people {row['penalty']:.2f}, n {row['n']}"
    return (
        f'<g><title>{title}</title><rect x="{x + 1:.1f}" y="{y + 1}" width="{_CELL - 2}" height="{_ROW - 2}" fill="{colour}"/>'
        f"{_text(x + _CELL / 2, y + 15, f'{value:+.2f}', anchor='middle', fill=ink(colour))}</g>"
    )


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", turn: int = 0, quiet: bool = False, bold: bool = False, size: int = 12, fill: str = ""
) -> str:
    from markupsafe import escape

    turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
    weight = ' font-weight="600"' if bold else ""
    colour = fill or ("#5b6672" if quiet else "#1f2933")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{weight}{turned}>{escape(text)}</text>'


def _svg(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    family = "Helvetica Neue, Arial, Liberation Sans, Noto Sans, DejaVu Sans, sans-serif"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="{label}" font-family="{family}">{"".join(parts)}</svg>'
    )


def _bars(rows: Sequence[Row]) -> list[dict[str, Any]]:
    from markupsafe import Markup

    groups = list(dict.fromkeys(row["group"] for row in rows))
    out = []
    for group in groups:
        own = [row for row in rows if row["group"] == group]
        out.append({"title": f"Accuracy by phenomenon{f', {group}' if group is not None else ''}", "picture": Markup(bars(own)), "rows": own})
    return out


def _maps(rows: Sequence[Row]) -> list[dict[str, Any]]:
    from markupsafe import Markup

    out = []
    for task in dict.fromkeys(row["task"] for row in rows):
        own = [row for row in rows if row["task"] == task]
        out.append({"title": f"Deviation from people, task {task}", "picture": Markup(heat_map(own)), "rows": own})
    return out


def _case(case: Mapping[str, Any]) -> dict[str, Any]:
    held = case["reference"] or case["better"]
    return {**case, "held": held, "pieces": pieces(held, case["worse"])}


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
