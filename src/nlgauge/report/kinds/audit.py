"""An audit as tables and a page: accuracy by phenomenon, or deviation from people by criterion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.drawing import Axis, Cell, bar, csv_file, ramp, signed
from nlgauge.report.pages import render_result
from nlgauge.report.tables import (
    MEAN_PREFIX,
    UNDEFINED,
    Kind,
    Paper,
    Part,
    Row,
    Table,
    absent,
    between,
    by_keys,
    means_last,
    number,
    values_of,
    with_interval,
)
from nlgauge.report.text import marked, pieces

_CERTAIN = ("high", "user")
_UNCERTAIN = "~"
SCALES = "[...]: the scale of drops; compare columns of one scale, or name it for all with --normalise"


def audit_tables(result: Result, digits: int = 3, intervals: bool = False) -> list[Table]:
    """The tables of a result of kind `audit`: one per group (preference) or task (checklist), one column per metric."""
    if not result.rows:
        return []
    if "phenomenon" in result.rows[0]:
        tables = [_preference(rows, digits, intervals) for rows in by_keys(result.rows, "group").values()]
        return [*tables, *([statistics_table(result.statistics, digits, intervals)] if result.statistics else [])]
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


def statistics_table(rows: Sequence[Row], digits: int = 3, intervals: bool = True) -> Table:
    """The statistics that the authors of a suite report: one row per part, one column per metric."""
    metrics = values_of(rows, "metric")
    cells = {(row["metric"], row["statistic"], row["part"]): row for row in rows}
    body = []
    for statistic, part in by_keys(rows, "statistic", "part"):
        line = [cells.get((metric, statistic, part)) for metric in metrics]
        values = (_share(row, "value", digits, intervals and not absent(row["low"] if row else None)) for row in line)
        body.append((statistic, part, _counts(line), *values))
    return Table("as the authors of the suite report", ("statistic", "part", "n", *metrics), tuple(body), left=2)


def _checklist(rows: Sequence[Row], digits: int, intervals: bool) -> Table:
    metrics = values_of(rows, "metric")
    cells = {(row["metric"], row["criterion"], row["template"]): row for row in rows}
    body = []
    for criterion, template in by_keys(rows, "criterion", "template"):
        line = [cells.get((m, criterion, template)) for m in metrics]
        first = next(row for row in line if row is not None)
        values = (_deviation(row, digits, intervals) for row in line)
        body.append((criterion, template, _counts(line), str(first["n_not_applicable"]), _people(first), *values))
    heads = scaled(rows, metrics)
    uncertain = any(_people(row).endswith(_UNCERTAIN) for row in rows)
    legend = (
        *((f"{_UNCERTAIN} the penalty of people is uncertain",) if uncertain else ()),
        *((SCALES,) if heads != metrics else ()),
    )
    title = (
        f"deviation from people, task {rows[0]['task']}: drop of the metric less penalty of people (0 agrees, below 0"
        " punishes too little)"
    )
    return Table(title, ("criterion", "template", "n", "n/a", "people", *heads), tuple(body), left=2, legend=legend)


def scaled(rows: Sequence[Row], metrics: Sequence[str]) -> list[str]:
    """The metrics as heads of columns; where their drops have several scales, each with its own in brackets."""
    scales = {row["metric"]: row.get("norm") for row in rows}
    several = len({scales.get(metric) for metric in metrics}) > 1
    return [f"{metric} [{scales[metric]}]" if several and scales.get(metric) else metric for metric in metrics]


def _people(row: Row) -> str:
    """The penalty that people give; a tilde marks one that is uncertain."""
    if absent(row["penalty"]):
        return "-"
    return f"{row['penalty']:.2f}{'' if row['certainty'] in _CERTAIN else _UNCERTAIN}"


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
        return f"drop {number(row['drop'], digits)}"
    return _share(row, "deviation", digits, intervals, sign="+")


def _counts(rows: Iterable[Row | None]) -> str:
    """The number of pairs or texts; several numbers where metrics have different ones."""
    return "/".join(dict.fromkeys(str(row["n"]) for row in rows if row is not None))


def case_lines(spec: str, cases: Sequence[Row]) -> str:
    """The cases that a metric got most wrong, as lines with the edit marked."""
    if not cases:
        return f"worst cases of {spec}: none among the pairs that it scored (of a checklist, with a known penalty)"
    lines = [f"worst cases of {spec}"]
    for case in cases:
        lines += [
            f"  {case['id']} ({case['phenomenon']}), {fault_of(case)}",
            f"    compared with  {_held(case)}",
            f"    better  {case['better']}",
            f"    worse   {marked(_held(case), case['worse'])}",
        ]
    return "\n".join(lines)


def case_table(spec: str, cases: Sequence[Row]) -> Table:
    """The same as a table."""
    body = [
        line
        for case in cases
        for line in (
            (case["id"], case["phenomenon"], fault_of(case), "compared with", _held(case)),
            ("", "", "", "better", case["better"]),
            ("", "", "", "worse", marked(_held(case), case["worse"])),
        )
    ]
    return Table(f"worst cases of {spec}", ("pair", "phenomenon", "fault", "", "text"), tuple(body), left=5)


def fault_of(case: Row) -> str:
    """By how much the metric is wrong: its margin; of a checklist, its drop beside that of people."""
    if absent(case.get("drop")):
        return f"margin {case['margin']:.4g}"
    return f"drop {number(case['drop'], 2)}, people {number(case['penalty'], 2)}"


def _held(case: Row) -> str:
    return str(case["reference"] or case["better"])


def audit_parts(paper: Paper) -> list[Part]:
    """The tables, and the cases that each metric got most wrong: in lines, or as a table for a paper."""
    tables = audit_tables(paper.result, paper.places, paper.full)
    lines = (case_lines(*one) if paper.is_text or not one[1] else case_table(*one) for one in paper.worst.items())
    return [*tables, *lines]


# --- An audit as a page: accuracy by phenomenon as bars, deviation from people as shades, one column per metric

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
        counted = [
            [row["metric"], row["phenomenon"], number(row["accuracy"]), between(row["low"], row["high"])]
            + [str(row[name]) for name in ("n", "wins", "ties", "losses")]
            for row in own
        ]
        file = csv_file(title, numbers)
        sections.append({"title": title, "metrics": metrics, "lines": lines, "rows": counted, "csv": file})
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
        deviating = [_deviating(row) for row in own]
        heads = scaled(own, metrics)
        sections.append(
            {
                **{"title": title, "metrics": heads, "scales": SCALES if heads != metrics else ""},
                **{"blocks": blocks, "rows": deviating, "csv": csv_file(title, drawn)},
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


KIND = Kind(parts=audit_parts, page=audit_html)
