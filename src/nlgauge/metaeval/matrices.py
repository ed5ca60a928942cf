"""What a correlation is held against: controls that compare nothing, and other criteria."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.result import NewRow, Row
from nlgauge.core.scores import Scores, ids
from nlgauge.core.spec import Signature
from nlgauge.metaeval.joined import JoinedScores, stored_signature
from nlgauge.metaeval.measure import IntervalMethod, Task
from nlgauge.metaeval.tasks import MEAN, Protocol, task_rows
from nlgauge.metrics.learned.gauge import Sentinel
from nlgauge.runtime.runtime import Runtime

# --- Control rows: what is got by knowing the input, or the length of a text, without comparing anything

ITEM_MEAN = "sentinel:item-mean"  # the name of the control that is made of all metrics


def with_controls(rows: Sequence[Row], held: JoinedScores, protocol: Protocol) -> tuple[list[NewRow], list[str]]:
    """Rows of controls for every task, marked as `control`, and a note on metrics that do no better than a control.

    The controls are `sentinel:side=source` (where sources are known), `sentinel:side=hypothesis`, and
    `sentinel:item-mean`: for every output of an item, the mean over all metrics and outputs of this item, each metric
    brought to mean 0 and standard deviation 1.
    """
    controls = _controls(held)
    alone = dataclasses.replace(held, scores=controls, system_tables={}, lower_is_better=frozenset(), counts={})
    bare = dataclasses.replace(
        protocol,
        metric_test=None,
        intervals=IntervalMethod("none"),
        adjust="none",
        aggregate="mean",
        power=False,
        baseline=None,
    )
    found: list[NewRow] = []
    for task in protocol.tasks:
        for criterion in held.human:
            found += task_rows(alone, criterion, task, bare)[0]
    for row in found:
        row["control"] = True
    return found, list(_notes(rows, found))


def _controls(held: JoinedScores) -> dict[str, Scores]:
    runtime, segments = Runtime(device="cpu"), held.segments
    sides = [Sentinel(side="hypothesis")]
    if all(segment.source for segment in segments):
        sides.insert(0, Sentinel(side="source"))
    found = {f"sentinel:side={one.side}": one.score(segments, runtime) for one in sides}
    mean = _item_means(held)
    if mean is not None:
        found[ITEM_MEAN] = Scores(Signature(ITEM_MEAN, ()), ids(segments), mean)
    return found


def _item_means(held: JoinedScores) -> Array | None:
    """The mean score of each item over outputs and metrics, shape (n,); None where items or scores are not known."""
    columns = [one.values if one.higher_is_better else -one.values for one in held.scores.values()]
    if not columns or any(segment.item is None for segment in held.segments):
        return None
    standard = []
    for group in held.groups:
        at = held.places[group]
        part = np.stack([column[at] for column in columns])
        spread = np.nanstd(part, axis=1, keepdims=True)
        standard.append((at, (part - np.nanmean(part, axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)))
    values = np.zeros(len(held.segments))
    for at, part in standard:
        _, items = np.unique([str(held.segments[i].item) for i in at], return_inverse=True)
        totals = np.bincount(items, weights=np.nan_to_num(part).mean(axis=0)) / np.bincount(items)
        values[at] = totals[items]
    return values


def _notes(rows: Sequence[Row], controls: Sequence[Row]) -> Iterator[str]:
    """Which metrics have a control within their interval, or above it, for each task and criterion.

    Where there is no interval, it is which have a control at least as good.
    """
    best: dict[tuple[str, str, str], Row] = {}
    for row in controls:
        key = (row["criterion"], row["stat"], row["level"])
        if row["group"] == MEAN and not math.isnan(row["value"]):
            best[key] = max(row, best.get(key, row), key=lambda one: float(one["value"]))
    for (criterion, stat, level), control in best.items():
        near = [
            row
            for row in rows
            if (row["criterion"], row["stat"], row["level"], row["group"]) == (criterion, stat, level, MEAN)
            and row.get("against") is None
            and (row["value"] if math.isnan(row["low"]) else row["low"]) <= control["value"]
        ]
        if near:
            bounded = any(not math.isnan(row["low"]) for row in near)
            where = "within or above the interval" if bounded else "not below the value"
            yield (
                f"{stat} at level {level}: {control['metric']} gets {control['value']:.3f} without comparing texts,"
                f" which is {where} of {', '.join(row['metric'] for row in near)}; such a number can be had by knowing"
                " the input"
            )


# --- Correlations of criteria with each other, of metrics with each other, and of metrics with criteria


def criteria_matrix(
    held: JoinedScores, stat: str = "kendall_b", level: str = "segment", options: Mapping[str, Any] | None = None
) -> tuple[list[str], Array]:
    """Correlate every criterion with every other; the diagonal is 1 where the correlation is defined.

    For each pair of criteria, only segments that are rated for both count. Averaging and groups are those for metrics.

    Args:
        held: joined data.
        stat: the name of the statistic.
        level: `segment`, `item` or `system`.
        options: options of the statistic.

    Returns:
        The names of the k criteria, and the mean over groups for each pair, shape (k, k).

    Raises:
        InputError: there is only one criterion.

    References:
        Sai et al. (2021), "Perturbation CheckLists for Evaluating NLG Evaluation Metrics", sections 2.1 and 5.1,
        figures 1 and 3.
    """
    names = list(held.human)
    if len(names) < 2:
        raise InputError(f"{names[0]!r} is the only criterion, expected two or more to compare; ask for 'all'")
    values = np.full((len(names), len(names)), np.nan)
    for i, one in enumerate(names):
        both = ~np.isnan(held.human[one])
        for j, other in enumerate(names):
            values[i, j] = _pair(held.take(both & ~np.isnan(held.human[other])), one, other, stat, level, options or {})
    return names, values


def criteria_rows(held: JoinedScores, stat: str, level: str) -> list[NewRow]:
    """The matrix of criteria as rows of a result file: a criterion stands in the place of a metric, as `human.NAME`."""
    names, values = criteria_matrix(held, stat, level)
    rest = dict.fromkeys(("averaging", "low", "high", "n_used", "n_undefined", "ties"))
    return [
        {
            "metric": f"human.{one}",
            "criterion": other,
            "level": level,
            "stat": stat,
            "group": MEAN,
            "value": float(values[i, j]),
            **rest,
        }
        for i, one in enumerate(names)
        for j, other in enumerate(names)
        if i != j
    ]


def _pair(held: JoinedScores, one: str, other: str, stat: str, level: str, options: Mapping[str, Any]) -> float:
    if _is_constant(held.human[other]):
        return float("nan")
    scores = Scores(stored_signature(one, "ratings"), ids(held.segments), held.human[one])
    (row,) = _rows(dataclasses.replace(held, scores={one: scores}, system_tables={}), other, stat, level, options)
    return float(row["value"])


def _is_constant(values: Array) -> bool:
    known = values[~np.isnan(values)]
    return not len(known) or not np.ptp(known)


def _rows(held: JoinedScores, criterion: str, stat: str, level: str, options: Mapping[str, Any]) -> list[NewRow]:
    task = Task(stat, level)
    protocol = Protocol(tasks=(task,), options=options, intervals=IntervalMethod("none"))
    rows, _ = task_rows(held, criterion, task, protocol)
    return [row for row in rows if row["group"] == MEAN]
