"""The table of a shared task: every metric by every statistic, the official average, and how firm the ranks are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.tables import (
    MEAN,
    POOLED,
    SIGNIFICANT,
    Row,
    Table,
    absent,
    by_keys,
    compared,
    descending,
    measured,
    number,
    p_values,
    rank_rule,
    values_of,
)

AVERAGE = "weighted_mean"
# Short names of statistics and levels, for heads of columns; others are short enough.
_SHORT = {
    "pairwise_accuracy": "PA",
    "soft_pairwise_accuracy": "SPA",
    "pearson": "r",
    "spearman": "rho",
    "kendall_b": "tau-b",
    "acc_eq_calibrated": "acc*",
    "acc_eq_held_out": "acc* out",
    "pdp_pairs": "pdp pairs",
    "system": "sys",
    "segment": "seg",
}
_STORED = "scores:"  # how the signature of a number begins that was read, not made

Task = tuple[int, str, str]  # its number, its statistic, its level


def official_tables(result: Result, digits: int = 3) -> list[Table]:
    """For each criterion the metrics by task, the best first, and the tasks; nothing where no protocol counts tasks."""
    rows = [row for row in result.rows if row["group"] in (MEAN, POOLED)]
    numbered = [row for row in measured(rows) if row.get("task") is not None]
    stored = {metric["spec"] for metric in result.metrics if str(metric["signature"]).startswith(_STORED)}
    groups = [group for group in values_of(result.rows, "group") if group not in (MEAN, POOLED, None)]
    rule, tables = rank_rule(result.notes), []
    for (criterion,), own in by_keys(numbered, "criterion").items():
        where = f", {groups[0]}" if len(groups) == 1 else f", mean of {len(groups)} language pairs" if groups else ""
        averages = {row["metric"]: row["value"] for row in measured(rows) if _is_average(row, criterion)}
        tests = [row for row in compared(rows) if row["criterion"] == criterion]
        by_task = {key: _by_metric(part) for key, part in by_keys(own, "task", "stat", "level").items()}
        tables += [
            _metrics(f"official table: metrics against {criterion}{where}", by_task, averages, stored, rule, digits),
            _tasks(by_task, by_keys(tests, "stat", "level")),
        ]
    return tables


def _is_average(row: Row, criterion: str) -> bool:
    return bool(row["stat"] == AVERAGE and row["criterion"] == criterion and row["group"] == MEAN)


def _by_metric(rows: Sequence[Row]) -> dict[str, Row]:
    """The value of each metric over all groups: pooled pairs of systems where they are pooled, else the mean."""
    pooled = {row["metric"]: row["value"] for row in rows if row["group"] == POOLED}
    means = [row for row in rows if row["group"] == MEAN]
    return {row["metric"]: {**row, "value": pooled.get(row["metric"], row["value"])} for row in means}


def _metrics(
    title: str,
    by_task: Mapping[Task, Mapping[str, Row]],
    averages: Mapping[str, float],
    stored: set[str],
    rule: str,
    digits: int,
) -> Table:
    first = next(iter(by_task.values()))
    key = averages or {metric: row["value"] for metric, row in first.items()}
    controls = [metric for metric, row in first.items() if row.get("control")]
    ranked_first = [metric for metric in first if metric not in controls]
    order = [*sorted(ranked_first, key=lambda metric: descending(key[metric])), *controls]
    header = ["metric", "scores", *(["average"] if averages else []), *map(_name, by_task)]
    body = []
    for metric in order:
        average = [number(averages.get(metric), digits, missing="-")] if averages else []
        cells = [_with_rank(rows[metric], rows, digits) for rows in by_task.values()]
        scored = "control" if metric in controls else "official" if metric in stored else "ours"
        body.append((metric, scored, *average, *cells))
    ranked = any(row.get("rank") for rows in by_task.values() for row in rows.values())
    legend = (f"(n): rank; {rule}",) if ranked else ()
    return Table(title, tuple(header), tuple(body), left=2, legend=legend)


def _name(task: Task) -> str:
    """A task in a head of a column: r sys."""
    _, stat, level = task
    return f"{_SHORT.get(stat, stat)} {_SHORT.get(level, level)}"


def _with_rank(row: Row, rows: Mapping[str, Row], digits: int) -> str:
    """The value, with its rank in brackets."""
    rank = row.get("rank")
    widest = max(len(str(other.get("rank") or "")) for other in rows.values())
    return number(row["value"], digits, missing="-") + ("" if rank is None else f" ({rank})".rjust(widest + 3))


def _tasks(by_task: Mapping[Task, Mapping[str, Row]], tests: Mapping[tuple[Any, ...], Sequence[Row]]) -> Table:
    """Each task with its weight, the number of ranks that a test tells apart, and the neighbours that it does not."""
    body = []
    for task, rows in by_task.items():
        _, stat, level = task
        first = next(iter(rows.values()))
        p = p_values(row for row in tests.get((stat, level), []) if row["group"] == MEAN)
        known = [metric for metric, row in rows.items() if not absent(row["value"]) and not row.get("control")]
        order = sorted(known, key=lambda metric: -rows[metric]["value"])
        tested = [p[pair] for pair in pairwise(order) if pair in p]
        near = sum(not value < SIGNIFICANT for value in tested)
        ranks = [row["rank"] for row in rows.values() if row.get("rank")]
        body.append(
            (
                _name(task),
                f"{stat} ({level})",
                f"{first['weight']:g}",
                str(max(ranks)) if ranks else "-",
                f"{near} of {len(tested)}" if tested else "-",
            )
        )
    return Table(
        "tasks: how many ranks a test tells apart, and how many neighbours it does not",
        ("task", "statistic (level)", "weight", "ranks", "within noise"),
        tuple(body),
        left=2,
        legend=(f"within noise: the better of two neighbours is not significantly better (p >= {SIGNIFICANT:g})",),
    )
