"""Correlations of criteria with each other, of metrics with each other, and of metrics with criteria."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.result import NewRow
from nlgauge.core.scores import Scores, ids
from nlgauge.metaeval.align import JoinedScores, stored_signature
from nlgauge.metaeval.intervals import IntervalMethod
from nlgauge.metaeval.protocols.presets import Task
from nlgauge.metaeval.rows import MEAN
from nlgauge.metaeval.tasks import Plan, task_rows


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


def metrics_matrix(
    held: JoinedScores, stat: str = "pearson", level: str = "segment", options: Mapping[str, Any] | None = None
) -> tuple[list[str], Array]:
    """Correlate every metric with every other; the arguments are those of `criteria_matrix`.

    All metrics are first oriented so that higher is better. A metric that is constant has NaN.
    """
    names = list(held.scores)
    values = np.full((len(names), len(names)), np.nan)
    for j, other in enumerate(names):
        if _is_constant(held.scores[other].values):
            continue
        up = held.scores[other].higher_is_better
        judged = dataclasses.replace(held, human={other: held.scores[other].values * (1 if up else -1)}, pairs=None)
        for row in _rows(judged, other, stat, level, options or {}):
            values[names.index(row["metric"]), j] = row["value"]
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


def criterion_table(rows: Any, stat: str | None = None, level: str | None = None) -> tuple[list[str], list[str], Array]:
    """The table of metrics by criteria, made from the rows of a meta-evaluation.

    It returns the names of the metrics, those of the criteria, and the means over groups, shape (M, k).
    """
    own = [
        row
        for row in rows
        if row.get("against") is None
        and row["group"] == MEAN
        and stat in (None, row["stat"])
        and level in (None, row["level"])
    ]
    metrics, criteria = (list(dict.fromkeys(row[key] for row in own)) for key in ("metric", "criterion"))
    if len(own) != len(metrics) * len(criteria):
        raise InputError(
            f"{len(own)} values for {len(metrics)} metrics and {len(criteria)} criteria; name one stat and one level"
        )
    values = np.full((len(metrics), len(criteria)), np.nan)
    for row in own:
        values[metrics.index(row["metric"]), criteria.index(row["criterion"])] = row["value"]
    return metrics, criteria, values


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
    rows, _ = task_rows(held, criterion, Task(stat, level), Plan(options, intervals=IntervalMethod("none")))
    return [row for row in rows if row["group"] == MEAN]
