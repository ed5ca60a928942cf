"""Control rows: what is got by knowing the input, or the length of a text, without comparing anything."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.result import NewRow, Row
from nlgauge.core.scores import Scores, ids
from nlgauge.core.spec import Signature
from nlgauge.metaeval.align import JoinedScores
from nlgauge.metaeval.intervals import IntervalMethod
from nlgauge.metaeval.protocols.presets import Task
from nlgauge.metaeval.rows import MEAN
from nlgauge.metaeval.tasks import Plan, task_rows
from nlgauge.metrics.learned.gauge import Sentinel
from nlgauge.runtime.runtime import Runtime

ITEM_MEAN = "sentinel:item-mean"  # the name of the control that is made of all metrics


def with_controls(
    rows: Sequence[Row], held: JoinedScores, tasks: Sequence[Task], plan: Plan
) -> tuple[list[NewRow], list[str]]:
    """Rows of controls for every task, marked as `control`, and a note on metrics that do no better than a control.

    The controls are `sentinel:side=source` (where sources are known), `sentinel:side=hypothesis`, and
    `sentinel:item-mean`: for every output of an item, the mean over all metrics and outputs of this item, each metric
    brought to mean 0 and standard deviation 1.
    """
    controls = _controls(held)
    alone = dataclasses.replace(held, scores=controls, system_tables={}, lower_is_better=frozenset(), counts={})
    over, outliers = plan.system_scores, plan.outliers
    bare = Plan(plan.options, None, IntervalMethod("none"), system_scores=over, aggregate="mean", outliers=outliers)
    found: list[NewRow] = []
    for task in tasks:
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
