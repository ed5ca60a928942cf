"""What does a weight gain? Gains over the metric alone, the best weight for two metrics, and mean curves over many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nlgauge.core.result import NewRow, Row
from nlgauge.metaeval.rows import MEAN
from nlgauge.stats.draws import mean_interval

ALL, ADEQUACY = "mean-all", "mean-adequacy"


def point_row(
    base: NewRow,
    dataset: str | None = None,
    suite: str | None = None,
    group: str | None = None,
    phenomenon: str | None = None,
    human: Row | None = None,
    attack: Row | None = None,
) -> NewRow:
    """One point of a curve: agreement with people on a data set, accuracy under attacks of a suite, or both."""
    about = {key: human[key] if human is not None else None for key in ("stat", "criterion", "level", "averaging")}
    agreement = human or {"value": math.nan, "low": math.nan, "high": math.nan, "n_used": None}
    accuracy = attack or {"accuracy": math.nan, "low": math.nan, "high": math.nan, "n": None, "trained_on": None}
    return {
        **base,
        "dataset": dataset,
        "suite": suite,
        **about,
        "group": group,
        "phenomenon": phenomenon,
        "correlation": agreement["value"],
        "low": agreement["low"],
        "high": agreement["high"],
        "n_used": agreement["n_used"],
        "accuracy": accuracy["accuracy"],
        "accuracy_low": accuracy["low"],
        "accuracy_high": accuracy["high"],
        "n_pairs": accuracy["n"],
        "trained_on": accuracy["trained_on"],
    }


_KEY = ("metric", "with", "dataset", "suite", "stat", "criterion", "level", "group", "phenomenon")


def with_gains(rows: Sequence[NewRow]) -> None:
    """Add the gains to each row: the relative change of both numbers against the metric alone, and the mean of the two.

    A relative change is the change divided by the absolute value of the number of the metric alone. It is NaN where
    that number is 0 or undefined.
    """
    alone = {tuple(row[key] for key in _KEY): row for row in rows if row["weight"] == 0}
    for row in rows:
        start = alone[tuple(row[key] for key in _KEY)]
        for name in ("correlation", "accuracy"):
            row[f"gain_{name}"] = relative(start[name], row[name])
        row["gain"] = (row["gain_correlation"] + row["gain_accuracy"]) / 2
        row["best"] = False


def relative(before: float, after: float) -> float:
    """The relative change: the change divided by the absolute value from before; NaN where that is 0."""
    return (after - before) / abs(before) if before else math.nan


def mark_best(rows: Sequence[NewRow]) -> None:
    """Mark the best weight for each pair of metrics, statistic and criterion, and that of the other sets for each set.

    The best weight has the greatest mean gain among the weights at which neither number falls. It is taken over all
    data sets, all suites and all phenomena. Among equals it is the smallest weight; it is 0 where every weight costs
    something.
    """
    parts: dict[Any, list[NewRow]] = {}
    for row in rows:
        if row["dataset"] is not None and row["suite"] is not None and row["phenomenon"] == ALL:
            parts.setdefault((row["metric"], row["with"], row["stat"], row["criterion"], row["level"]), []).append(row)
    for own in parts.values():
        _mark([row for row in own if row["dataset"] == MEAN] or own)
    mark_left_out(rows)


def _mark(rows: Sequence[NewRow]) -> None:
    fit = [row for row in rows if row["gain_correlation"] >= 0 and row["gain_accuracy"] >= 0]
    if fit:
        max(fit, key=lambda row: row["gain"])["best"] = True


def mark_left_out(rows: Sequence[NewRow]) -> None:
    """Mark, for each data set and suite, the weight that is best on the others.

    The rule is that of `mark_best`, over the means of the data sets and suites but these two. Where there is only one
    data set, or one suite, it serves as well. Where there is only one of both, nothing can be left out.
    """
    parts: dict[Any, list[NewRow]] = {}
    for row in rows:
        row["left_out"] = False
        if not {None, MEAN} & {row["dataset"], row["suite"]} and row["phenomenon"] == ALL:
            parts.setdefault((row["metric"], row["with"], row["stat"], row["criterion"], row["level"]), []).append(row)
    for own in parts.values():
        sets, suites = ({row[key] for row in own} for key in ("dataset", "suite"))
        if len(sets) == len(suites) == 1:
            continue
        for dataset, suite in dict.fromkeys((row["dataset"], row["suite"]) for row in own):
            seen = [
                row
                for row in own
                if (row["dataset"] != dataset or len(sets) == 1) and (row["suite"] != suite or len(suites) == 1)
            ]
            chosen = _best_of_means(seen)
            for row in own:
                row["left_out"] |= (row["dataset"], row["suite"], row["weight"]) == (dataset, suite, chosen)


def _best_of_means(rows: Sequence[NewRow]) -> float | None:
    """The best weight for the means over some data sets and suites; None where a number is undefined or 0."""
    means: list[NewRow] = []
    for weight in dict.fromkeys(row["weight"] for row in rows):
        at = [row for row in rows if row["weight"] == weight]
        point: NewRow = {"weight": weight, "best": False}
        for name, where in (("correlation", "dataset"), ("accuracy", "suite")):
            point[name] = float(np.mean(list({row[where]: row[name] for row in at}.values())))
        means.append(point)
    start = next(point for point in means if point["weight"] == 0)
    for point in means:
        for name in ("correlation", "accuracy"):
            point[f"gain_{name}"] = relative(start[name], point[name])
        point["gain"] = (point["gain_correlation"] + point["gain_accuracy"]) / 2
    _mark(means)
    return next((point["weight"] for point in means if point["best"]), None)


def curves(rows: Sequence[NewRow], confidence: float = 0.95) -> list[NewRow]:
    """Rows of the mean gain at each weight over all pairs of metrics and all sets, with Student's intervals.

    Each pair of metrics contributes one gain in correlation per data set and one gain in accuracy per suite. Pairs
    with an NLI metric and other pairs have separate curves. The best weight of each curve is marked as that of a pair
    is.

    References:
        Chen and Eger (2023), figure 3.
    """
    found = []
    points = [row for row in rows if row["dataset"] not in (None, MEAN) and row["suite"] not in (None, MEAN)]
    parts: dict[Any, dict[float, list[NewRow]]] = {}
    for row in points:
        key = tuple(row[name] for name in ("partner", "stat", "criterion", "level", "averaging", "phenomenon"))
        parts.setdefault(key, {}).setdefault(row["weight"], []).append(row)
    for own in parts.values():
        curve = [_mean_gains(weight, at, confidence) for weight, at in own.items()]
        if curve[0]["phenomenon"] == ALL:
            _mark(curve)
        found += curve
    return found


def _mean_gains(weight: float, points: Sequence[NewRow], confidence: float) -> NewRow:
    first = points[0]
    base = {"metric": MEAN, "with": MEAN, "partner": first["partner"], "weight": weight, "spec": None}
    row = {
        **point_row(base, MEAN, MEAN, MEAN, first["phenomenon"]),
        **{key: first[key] for key in ("stat", "criterion", "level", "averaging")},
    }
    for name, where in (("correlation", "dataset"), ("accuracy", "suite")):
        gains = np.array(list({(r["metric"], r["with"], r[where]): r[f"gain_{name}"] for r in points}.values()))
        known = gains[~np.isnan(gains)]
        row[f"gain_{name}"], row[f"gain_{name}_low"], row[f"gain_{name}_high"] = mean_interval(gains, confidence)
        row[f"gain_{name}_median"] = float(np.median(known)) if len(known) else math.nan
        row[f"n_{name}"] = len(known)
    return {**row, "gain": (row["gain_correlation"] + row["gain_accuracy"]) / 2, "best": False, "left_out": False}
