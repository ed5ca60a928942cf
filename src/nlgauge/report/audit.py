"""An audit as a page: accuracy by phenomenon as bars, deviation by criterion as a heat map, both drawn as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nlgauge.core.difference import pieces
from nlgauge.core.result import Result, replacing
from nlgauge.report import drawing
from nlgauge.report.drawing import DARK, GRID, RULE, Cell, line, room, svg, text
from nlgauge.report.html import render
from nlgauge.report.labels import clean
from nlgauge.report.signed import signed

Row = Mapping[str, Any]
_BAR, _GAP, _EDGE = 260, 14, 8  # pixels
_MEAN = "mean-"
_SERIES = ("#1d4ed8", "#b45309", "#047857", "#7c3aed", "#be123c", "#4b5563", "#0e7490", "#a16207")


def write_html(
    result: Result, path: str | Path, worst: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
) -> None:
    """Write a result of kind `audit` as one self-contained page, whole or not at all.

    Args:
        result: the result.
        path: of the page.
        worst: for each metric the cases it got most wrong, as `Audit.worst` gives them.

    Raises:
        InputError: the file cannot be written.
    """
    with replacing(path) as file:
        # Text made in Python may hold lone surrogates, which no file can.
        file.write(audit_html(result, worst).encode("utf-8", "backslashreplace").decode())


def audit_html(result: Result, worst: Mapping[str, Sequence[Mapping[str, Any]]] | None = None) -> str:
    """The page of a result of kind `audit`."""
    preference = bool(result.rows) and "phenomenon" in result.rows[0]
    return render(
        "audit.html",
        inputs=result.inputs,
        preference=preference,
        sections=_bars(result.rows) if preference else _maps(result.rows),
        words=(0, 1, 3) if preference else (0, 1, 2, 8, 9),  # columns of names and intervals
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
    return drawing.heat_map(
        "deviation of metrics from people",
        metrics,
        keys,
        [[_cell(cells.get((m, *key))) for m in metrics] for key in keys],
    )


def bars(rows: Sequence[Row]) -> str:
    """Accuracies of one group as an SVG: a block a phenomenon, a bar a metric with its interval; a line at one half. Text is escaped."""
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    names = in_order(row["phenomenon"] for row in rows)
    cells = {(row["metric"], row["phenomenon"]): row for row in rows}
    left = _EDGE + room(names) + 12
    block = _GAP * len(metrics) + 10
    legend = 20 * len(metrics) + 14
    width, height = left + max(_BAR + 60, 18 + room(metrics)) + _EDGE, legend + block * len(names) + 24
    parts = []
    for k, m in enumerate(metrics):
        parts.append(f'<rect x="{left:.1f}" y="{20 * k + 4}" width="12" height="12" {_fill(k)}/>')
        parts.append(text(left + 18, 20 * k + 14, m))
    for tick in (0.0, 0.5, 1.0):
        x = left + _BAR * tick
        parts.append(line(x, legend, x, height - 20, RULE if tick == 0.5 else GRID))
        parts.append(text(x, height - 6, f"{tick:g}", anchor="middle", quiet=True))
    for i, name in enumerate(names):
        top = legend + block * i + 4
        parts.append(text(left - _EDGE, top + block / 2, name, anchor="end", bold=name.startswith(_MEAN)))
        for k, m in enumerate(metrics):
            row = cells.get((m, name))
            if row is not None and not _absent(row["accuracy"]):
                parts.append(_bar(left, top + _GAP * k, row, _fill(k)))
    return svg(width, height, "accuracy by phenomenon", parts)


def in_order(names: Iterable[str]) -> list[str]:
    """Phenomena in order of appearance, means last."""
    known = list(dict.fromkeys(names))
    return [n for n in known if not n.startswith(_MEAN)] + [n for n in known if n.startswith(_MEAN)]


def _fill(k: int) -> str:
    """The colour of metric k; after the last colour they come again, paler each time."""
    again, place = divmod(k, len(_SERIES))
    return f'fill="{_SERIES[place]}"' + (f' fill-opacity="{0.5**again:.2g}"' if again else "")


def _bar(left: float, y: float, row: Row, fill: str) -> str:
    value, low, high = row["accuracy"], row["low"], row["high"]
    shown = f'<rect x="{left:.1f}" y="{y}" width="{_BAR * value:.1f}" height="{_GAP - 4}" {fill}/>'
    if not _absent(low):
        shown += line(left + _BAR * low, y + 5, left + _BAR * high, y + 5, DARK)
    return shown + text(left + _BAR * max(value, 0 if _absent(high) else high) + 6, y + 9, f"{value:.2f}", size=11)


def _cell(row: Row | None) -> Cell:
    if row is None:
        return Cell("")
    value = row["deviation"]
    if _absent(value):
        return Cell(
            "-" if not row["n"] else "undefined" if _absent(row["drop"]) else f"drop {row['drop']:.2f}"
        )  # people's is not known
    return Cell(f"{value:+.2f}", signed(value), f"drop {row['drop']:.2f}, people {row['penalty']:.2f}, n {row['n']}")


def _bars(rows: Sequence[Row]) -> list[dict[str, Any]]:
    from markupsafe import Markup

    out = []
    for group in dict.fromkeys(row["group"] for row in rows):
        own = [row for row in rows if row["group"] == group]
        title = f"Accuracy by phenomenon{f', {clean(str(group))}' if group is not None else ''}"
        out.append({"title": title, "picture": Markup(bars(own)), "rows": [_counted(row) for row in own]})
    return out


def _maps(rows: Sequence[Row]) -> list[dict[str, Any]]:
    from markupsafe import Markup

    out = []
    for task in dict.fromkeys(row["task"] for row in rows):
        own = [row for row in rows if row["task"] == task]
        out.append(
            {
                "title": f"Deviation from people, task {task}",
                "picture": Markup(heat_map(own)),
                "rows": [_deviating(row) for row in own],
            }
        )
    return out


def _counted(row: Row) -> list[str]:
    shown = [_number(row["accuracy"]) or "undefined", _interval(row, "")]
    return [row["metric"], row["phenomenon"], *shown, *(str(row[name]) for name in ("n", "wins", "ties", "losses"))]


def _deviating(row: Row) -> list[str]:
    counts = [str(row["n"]), str(row["n_not_applicable"])]
    numbers = [
        _number(row["drop"]),
        _number(row["penalty"], ".2f"),
        _number(row["deviation"], "+.3f"),
        _interval(row, "+"),
    ]
    return [row["metric"], row["criterion"], row["template"], *counts, *numbers, row["certainty"]]


def _number(value: float | None, form: str = ".3f") -> str:
    return "" if _absent(value) else f"{value:{form}}"


def _interval(row: Row, sign: str) -> str:
    return "" if _absent(row["low"]) else f"{row['low']:{sign}.3f} to {row['high']:{sign}.3f}"


def _case(case: Mapping[str, Any]) -> dict[str, Any]:
    held = case["reference"] or case["better"]
    scores = {side: _number(case[side], ".4g") or "undefined" for side in ("score_better", "score_worse")}
    return {**case, **scores, "held": held, "pieces": pieces(held, case["worse"])}


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
