"""The summary of a shared task: the weighted average, and ranks within noise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from nlgauge.core.result import NewRow, Row
from nlgauge.metaeval.protocols.presets import Preset, Task
from nlgauge.metaeval.rows import MEAN, POOLED

AVERAGE = "weighted_mean"  # the statistic of the official average
_OF_TASKS = ("rank", "not_outperformed", "task", "weight")
_OF_STATISTICS = ("ties", "n_ties", "n_pairs", "epsilon", "chance")
# from 0 to 1 as they are
_SHARES = ("pairwise_accuracy", "soft_pairwise_accuracy", "acc_eq", "acc_eq_calibrated")
# Measured on he-en of WMT23, 16 metrics; the level of the pair test on simulated data: docs/statistics/significance.md
_TESTS_DIFFER = (
    "values of official tables are those of mt-metrics-eval, but for soft pairwise accuracy (up to 0.0014 apart on"
    " he-en of WMT23: there p-values are drawn, and ties depend on the order of systems). Ranks differ: the official"
    " test of acc_eq swaps pairs of systems, which finds a difference in 20 % of cases without one; here whole items"
    " are swapped"
)


def as_official(
    rows: Sequence[NewRow], controls: Sequence[NewRow], tasks: Sequence[Task], protocol: Preset, alpha: float
) -> tuple[list[NewRow], list[str]]:
    """The rows of the official average, and notes; where all tasks were done, values are given the number of theirs.

    Controls are numbered, too, and take no part in averages.
    """
    notes = list(noise_notes(rows, tasks, alpha))
    if tuple(tasks) != protocol.tasks:
        return [], notes
    number_tasks([*rows, *controls], protocol)
    averages = list(average_rows(rows, protocol)) if protocol.weights else []
    return averages, [*notes, *([average_note(protocol)] if averages else []), procedure_note(protocol)]


def average_rows(rows: Sequence[Row], protocol: Preset) -> Iterator[NewRow]:
    """The weighted mean over the tasks of a protocol: one row per metric and group, and one over all; the best first.

    Correlations count as (r + 1) / 2. A value over several groups is the mean over groups; accuracy on pairs of systems
    is that of the pooled pairs.
    """
    weighted = [(task, w) for task, w in zip(protocol.tasks, protocol.weights, strict=True) if w]
    total = sum(weight for _, weight in weighted)
    own = {
        (row["metric"], row["criterion"], row["group"], row["level"], row["stat"]): row
        for row in rows
        if row.get("against") is None
    }
    averages: list[NewRow] = []
    # The rows of a mean over criteria have no pooled pairs of systems: each criterion has an average of its own.
    for metric, criterion, group in dict.fromkeys(key[:3] for key in own if key[2] != POOLED and key[1] != MEAN):
        mean, first = 0.0, own[metric, criterion, group, weighted[0][0].level, weighted[0][0].stat]
        for task, weight in weighted:
            at = POOLED if group == MEAN and task.stat == "pairwise_accuracy" else group
            value = float(own[metric, criterion, at, task.level, task.stat]["value"])
            mean += weight / total * (value if task.stat in _SHARES else (value + 1) / 2)
        averages.append(
            {
                **{
                    name: None if name in _OF_STATISTICS else cell
                    for name, cell in first.items()
                    if name not in _OF_TASKS
                },
                "level": "tasks",
                "stat": AVERAGE,
                "value": mean,
                "low": math.nan,
                "high": math.nan,
                "n_used": len(weighted),
                "n_undefined": 0,
                "raw": mean,
            }
        )
    yield from sorted(averages, key=lambda row: (math.isnan(row["value"]), -row["value"]))  # the undefined last


def number_tasks(rows: Sequence[NewRow], protocol: Preset) -> None:
    """Give every value its task in an official table, counted from 1, and the weight of the task in the average."""
    weights = protocol.weights or (0.0,) * len(protocol.tasks)
    at = {
        (task.stat, task.level): (number, weight)
        for number, (task, weight) in enumerate(zip(protocol.tasks, weights, strict=True), start=1)
    }
    for row in rows:
        if row.get("against") is None:
            row["task"], row["weight"] = at[row["stat"], row["level"]]


def procedure_note(protocol: Preset) -> str:
    """Where the official procedure differs from ours, and by how much."""
    return "; ".join(filter(None, [protocol.differs, _TESTS_DIFFER]))


def average_note(protocol: Preset) -> str:
    """How the official average is made."""
    parts = [
        f"{weight:g} {task.stat} ({task.level})"
        for task, weight in zip(protocol.tasks, protocol.weights, strict=True)
        if weight
    ]
    return f"{AVERAGE}: the mean of {', '.join(parts)}; correlations as (r + 1) / 2"


def noise_notes(rows: Sequence[Row], tasks: Sequence[Task], alpha: float) -> Iterator[str]:
    """How many neighbours in the ranking of each task and criterion a test does not tell apart."""
    criteria = dict.fromkeys(row["criterion"] for row in rows)
    for task, criterion in product(tasks, criteria):
        at = (criterion, task.level, task.stat, MEAN)
        mine = [row for row in rows if (row["criterion"], row["level"], row["stat"], row["group"]) == at]
        values = {row["metric"]: row["value"] for row in mine if row.get("against") is None}
        p = {
            (row["metric"], row["against"]): row["p"] if row["p_adjusted"] is None else row["p_adjusted"]
            for row in mine
            if row.get("against") is not None
        }
        order = sorted((m for m, value in values.items() if not math.isnan(value)), key=lambda m: -values[m])
        tested = [p[pair] for pair in pairwise(order) if pair in p]
        near = sum(not value < alpha for value in tested)
        if tested:
            of = f" for {criterion}" if len(criteria) > 1 else ""
            yield (
                f"{task.stat} at level {task.level}{of}: of {len(tested)} neighbours in the ranking, {near} are within"
                f" noise (p >= {alpha:g})"
            )
