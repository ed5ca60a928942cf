"""An audit as tables: accuracy by phenomenon, or deviation from people by criterion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nlgauge.core.result import Result
from nlgauge.report.difference import marked
from nlgauge.report.kinds.kind import Kind
from nlgauge.report.paper import Paper, Part
from nlgauge.report.rows import Row, absent, by_keys, means_last, number, values_of, with_interval
from nlgauge.report.table import Table

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
    """The number of pairs; several numbers where metrics have different pairs."""
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
    """The texts that both sides are compared with."""
    return str(case["reference"] or case["better"])


def audit_parts(paper: Paper) -> list[Part]:
    """The tables, and the cases that each metric got most wrong: in lines, or as a table for a paper."""
    tables = audit_tables(paper.result, paper.places, paper.intervals)
    lines = (case_lines(*one) if paper.is_text or not one[1] else case_table(*one) for one in paper.worst.items())
    return [*tables, *lines]


KIND = Kind(parts=audit_parts, page="nlgauge.report.kinds.audit_page:audit_html")
