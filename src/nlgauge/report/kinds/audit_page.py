"""An audit as a page: accuracy by phenomenon as bars, deviation from people as shades, one column per metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.colours import signed
from nlgauge.report.difference import pieces
from nlgauge.report.figure import DIVERGING, Figure, shaded, with_intervals
from nlgauge.report.html import render_result
from nlgauge.report.kinds.audit import SCALES, fault_of, scaled, statistics_table
from nlgauge.report.maps import Cell, ramp
from nlgauge.report.rows import MEAN_PREFIX, UNDEFINED, Row, absent, between, by_keys, means_last, number, values_of
from nlgauge.report.strips import Axis, bar

SEEN = "\N{DAGGER}"  # beside a result on what the metric's model was trained on
NOT_APPLICABLE = "\N{EN DASH}"
_WON = ("metric", "phenomenon", "accuracy", "low", "high", "n")
_DEVIATES = ("metric", "deviation", "n")
_SHARES = Axis((0.0, 0.25, 0.5, 0.75, 1.0), base=0.5)


def audit_html(result: Result, worst: Mapping[str, Sequence[Mapping[str, Any]]] | None = None) -> str:
    """The page of a result of kind `audit`."""
    preference = bool(result.rows) and "phenomenon" in result.rows[0]
    return render_result(
        "audit.html",
        result,
        preference=preference,
        sections=_bars(result.rows) if preference else _maps(result.rows),
        statistics=statistics_table(result.statistics) if result.statistics else None,
        words=(0, 1, 3) if preference else (0, 1, 2, 8, 9),  # columns of names and intervals
        worst=[{"metric": spec, "cases": [_case(c) for c in cases]} for spec, cases in (worst or {}).items() if cases],
        seen=SEEN if any(row.get("trained_on") for row in result.rows) else "",
        not_applicable=NOT_APPLICABLE if any(not row["n"] for row in result.rows) else "",
        ramp=ramp(signed, -1.0, 1.0),
    )


def _bars(rows: Sequence[Row]) -> list[dict[str, Any]]:
    sections = []
    for (group,), own in by_keys(rows, "group").items():
        title = f"Accuracy by phenomenon{f', {group}' if group is not None else ''}"
        metrics, cells = values_of(own, "metric"), {(row["metric"], row["phenomenon"]): row for row in own}
        trained = _trained(own)
        lines = []
        for name in means_last(row["phenomenon"] for row in own):
            line = [cells.get((metric, name)) for metric in metrics]
            mean = name.startswith(MEAN_PREFIX)
            barred = [_barred(row, mean and row is not None and row["metric"] in trained) for row in line]
            lines.append((name, mean, _counts(line), barred))
        numbers = [{name: row[name] for name in _WON} for row in own]
        figure = Figure(title, numbers, with_intervals("phenomenon", "accuracy", by="metric"))
        counted = [_counted(row) for row in own]
        sections.append({"title": title, "metrics": metrics, "lines": lines, "rows": counted, "links": figure.links})
    return sections


def _trained(rows: Sequence[Row]) -> set[str]:
    """The metrics whose model was trained on some of what they are tested on; means over it are no blind test."""
    return {row["metric"] for row in rows if row.get("trained_on")}


def _barred(row: Row | None, in_part: bool) -> tuple[str, Any]:
    """The accuracy of a row in digits and as a bar; `in_part` is whether it is the mean of some that are marked."""
    if row is None:
        return "", ""
    if absent(row["accuracy"]):
        return (UNDEFINED if row["n"] else NOT_APPLICABLE), ""
    seen = bool(row.get("trained_on"))
    return number(row["accuracy"], 2) + (SEEN if seen or in_part else ""), bar(
        row["accuracy"], row["low"], row["high"], _SHARES, seen=seen
    )


def _maps(rows: Sequence[Row]) -> list[dict[str, Any]]:
    sections = []
    for (task,), own in by_keys(rows, "task").items():
        metrics = values_of(own, "metric")
        cells = {(row["metric"], row["criterion"], row["template"]): row for row in own}
        blocks = []
        for (criterion,), part in by_keys(own, "criterion").items():
            found = [
                (name, [cells.get((metric, criterion, name)) for metric in metrics])
                for name in values_of(part, "template")
            ]
            blocks.append((criterion, [(name, _counts(line), list(map(_cell, line))) for name, line in found]))
        blocks.append(("all perturbations", _means(own, metrics)))
        title = f"Deviation from people, task {task}"
        drawn = [
            {"perturbation": f"{row['criterion']}: {row['template']}", **{name: row[name] for name in _DEVIATES}}
            for row in own
        ]
        figure = Figure(title, drawn, shaded("metric", "perturbation", "deviation", scale=DIVERGING))
        deviating = [_deviating(row) for row in own]
        heads = scaled(own, metrics)
        sections.append(
            {
                **{"title": title, "metrics": heads, "scales": SCALES if heads != metrics else ""},
                **{"blocks": blocks, "rows": deviating, "links": figure.links},
            }
        )
    return sections


def _means(rows: Sequence[Row], metrics: Sequence[str]) -> list[tuple[str, str, list[Cell]]]:
    """Two lines that sum a metric up: its mean deviation, in which too much makes up for too little, and its mean
    distance from people, in which it does not. Perturbations count alike.
    """
    known = {m: [r["deviation"] for r in rows if r["metric"] == m and not absent(r["deviation"])] for m in metrics}
    counts = "/".join(dict.fromkeys(str(len(own)) for own in known.values()))
    marks = [SEEN if metric in _trained(rows) else "" for metric in metrics]
    means = [sum(own) / len(own) if own else None for own in known.values()]
    distances = [sum(map(abs, own)) / len(own) if own else None for own in known.values()]
    return [
        ("mean deviation", counts, [_shaded(mean, mark=mark) for mean, mark in zip(means, marks, strict=True)]),
        ("mean distance", counts, [Cell(number(d, 2) + mark) for d, mark in zip(distances, marks, strict=True)]),
    ]


def _shaded(value: float | None, title: str = "", mark: str = "") -> Cell:
    if value is None or absent(value):
        return Cell(UNDEFINED)
    return Cell(number(value, 2, sign="+") + mark, signed(value), title)


def _cell(row: Row | None) -> Cell:
    if row is None:
        return Cell("")
    mark = SEEN if row.get("trained_on") else ""
    if absent(row["deviation"]):
        # without people's penalty the drop alone is shown
        shown = UNDEFINED if absent(row["drop"]) else f"drop {number(row['drop'], 2)}{mark}"
        return Cell(shown if row["n"] else NOT_APPLICABLE)
    about = f"drop {number(row['drop'], 2)}, people {number(row['penalty'], 2)}, n {row['n']}"
    return _shaded(row["deviation"], about, mark)


def _counts(rows: Iterable[Row | None]) -> str:
    """The number of texts; several numbers where metrics have different texts."""
    return "/".join(dict.fromkeys(str(row["n"]) for row in rows if row is not None))


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
