"""An audit as a page: accuracy by phenomenon as bars, deviation from people as a heat map, both drawn as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report import drawing
from nlgauge.report.colours import signed
from nlgauge.report.difference import pieces
from nlgauge.report.drawing import DARK, GRID, RULE, Cell, line, room, svg, text
from nlgauge.report.html import render
from nlgauge.report.labels import clean
from nlgauge.report.marks import UNDEFINED, absent, between, number
from nlgauge.report.rows import MEAN_PREFIX, Row, by_keys, means_last, values_of
from nlgauge.report.tables.audit import fault_of

_BAR, _GAP, _EDGE = 260, 14, 8  # pixels
_SERIES = ("#1d4ed8", "#b45309", "#047857", "#7c3aed", "#be123c", "#4b5563", "#0e7490", "#a16207")


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
        metrics=result.metrics,
        notes=result.notes,
        command=result.command,
    )


def heat_map(rows: Sequence[Row]) -> str:
    """Deviations of one task as an SVG: one line per perturbation, in blocks by criterion; one column per metric.

    Blue punishes too little (below 0), brown too much, white agrees. Text is escaped.
    """
    metrics, keys = values_of(rows, "metric"), list(by_keys(rows, "criterion", "template"))
    cells = {(row["metric"], row["criterion"], row["template"]): row for row in rows}
    return drawing.heat_map(
        "deviation of metrics from people",
        metrics,
        keys,
        [[_cell(cells.get((m, *key))) for m in metrics] for key in keys],
    )


def bars(rows: Sequence[Row]) -> str:
    """Accuracies of one group as an SVG: one block per phenomenon, in it one bar per metric with its interval.

    A line stands at one half. Text is escaped.
    """
    metrics, names = values_of(rows, "metric"), means_last(row["phenomenon"] for row in rows)
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
        parts.append(text(left - _EDGE, top + block / 2, name, anchor="end", bold=name.startswith(MEAN_PREFIX)))
        for k, m in enumerate(metrics):
            row = cells.get((m, name))
            if row is not None and not absent(row["accuracy"]):
                parts.append(_bar(left, top + _GAP * k, row, _fill(k)))
    return svg(width, height, "accuracy by phenomenon", parts)


def _fill(k: int) -> str:
    """The colour of metric k; after the last colour they come again, paler each time."""
    again, place = divmod(k, len(_SERIES))
    return f'fill="{_SERIES[place]}"' + (f' fill-opacity="{0.5**again:.2g}"' if again else "")


def _bar(left: float, y: float, row: Row, fill: str) -> str:
    value, low, high = row["accuracy"], row["low"], row["high"]
    shown = f'<rect x="{left:.1f}" y="{y}" width="{_BAR * value:.1f}" height="{_GAP - 4}" {fill}/>'
    if not absent(low):
        shown += line(left + _BAR * low, y + 5, left + _BAR * high, y + 5, DARK)
    return shown + text(left + _BAR * max(value, 0 if absent(high) else high) + 6, y + 9, f"{value:.2f}", size=11)


def _cell(row: Row | None) -> Cell:
    if row is None:
        return Cell("")
    value = row["deviation"]
    if absent(value):
        # without people's penalty the drop alone is shown
        return Cell("-" if not row["n"] else UNDEFINED if absent(row["drop"]) else f"drop {number(row['drop'], 2)}")
    about = f"drop {number(row['drop'], 2)}, people {number(row['penalty'], 2)}, n {row['n']}"
    return Cell(number(value, 2, sign="+"), signed(value), about)


def _bars(rows: Sequence[Row]) -> list[dict[str, Any]]:
    from markupsafe import Markup

    sections = []
    for (group,), own in by_keys(rows, "group").items():
        title = f"Accuracy by phenomenon{f', {clean(str(group))}' if group is not None else ''}"
        sections.append({"title": title, "picture": Markup(bars(own)), "rows": [_counted(row) for row in own]})
    return sections


def _maps(rows: Sequence[Row]) -> list[dict[str, Any]]:
    from markupsafe import Markup

    return [
        {
            "title": f"Deviation from people, task {task}",
            "picture": Markup(heat_map(own)),
            "rows": [_deviating(row) for row in own],
        }
        for (task,), own in by_keys(rows, "task").items()
    ]


def _counted(row: Row) -> list[str]:
    shown = [number(row["accuracy"]), between(row["low"], row["high"])]
    return [row["metric"], row["phenomenon"], *shown, *(str(row[name]) for name in ("n", "wins", "ties", "losses"))]


def _deviating(row: Row) -> list[str]:
    counts = [str(row["n"]), str(row["n_not_applicable"])]
    numbers = [
        number(row["drop"], missing=""),
        number(row["penalty"], 2, missing=""),
        number(row["deviation"], sign="+", missing=""),
        between(row["low"], row["high"], sign="+"),
    ]
    return [row["metric"], row["criterion"], row["template"], *counts, *numbers, row["certainty"]]


def _case(case: Mapping[str, Any]) -> dict[str, Any]:
    against = case["reference"] or case["better"]
    sides = ("score_better", "score_worse")
    scores = {side: UNDEFINED if absent(case[side]) else f"{case[side]:.4g}" for side in sides}
    return {**case, **scores, "fault": fault_of(case), "held": against, "pieces": pieces(against, case["worse"])}
