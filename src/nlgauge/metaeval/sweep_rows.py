"""The rows of a sweep: by group, by phenomenon, by data set and suite, and for their means."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from nlgauge.core.result import NewRow, Row
from nlgauge.metaeval.gains import ADEQUACY, ALL, point_row
from nlgauge.metaeval.mixing import sum_of
from nlgauge.metaeval.rows import MEAN


def joined_rows(
    people: Sequence[Row],
    robust: Sequence[Row],
    pairs: Sequence[tuple[str, str]],
    weights: Sequence[float],
    norm: str,
    is_nli: Mapping[str, bool],
) -> Iterator[NewRow]:
    """Rows by group, by phenomenon, by data set and suite, and for their means."""
    tasks = list(dict.fromkeys((r["criterion"], r["level"], r["averaging"], r["stat"]) for r in people))
    by_sum: dict[str, list[Row]] = {}
    for row in people:
        by_sum.setdefault(row["metric"], []).append(row)
    by_pair: dict[tuple[tuple[str, str], float], list[Row]] = {}
    for row in robust:
        by_pair.setdefault((row["pair"], row["weight"]), []).append(row)
    for one, other in pairs:
        for weight in weights:
            spec = sum_of(one, other, weight, norm)
            base = {
                "metric": one,
                "with": other,
                "partner": "nli" if is_nli[other] else "other",
                "weight": weight,
                "spec": spec,
            }
            accuracies = by_pair[(one, other), weight]
            yield from (point_row(base, suite=r["suite"], phenomenon=r["phenomenon"], attack=r) for r in accuracies)
            for task in tasks:
                own = [r for r in by_sum[spec] if (r["criterion"], r["level"], r["averaging"], r["stat"]) == task]
                several = len({(r["dataset"], r["group"]) for r in own}) > 2 * len({r["dataset"] for r in own})
                yield from (
                    point_row(base, dataset=r["dataset"], group=r["group"], human=r)
                    for r in own
                    if several and r["group"] != MEAN
                )
                yield from _points(base, [r for r in own if r["group"] == MEAN], accuracies)


def _points(base: NewRow, agreements: Sequence[Row], accuracies: Sequence[Row]) -> Iterator[NewRow]:
    """Each data set with each suite, and the means where there are several."""
    counted = {name: [r for r in accuracies if r["phenomenon"] == name] for name in (ALL, ADEQUACY)}
    if sum(r["n"] for r in counted[ALL]) == sum(r["n"] for r in counted[ADEQUACY]):
        del counted[ADEQUACY]
    for name, own in counted.items():
        if name == ADEQUACY and len(own) < len(counted[ALL]):
            continue  # a suite without such phenomena
        for human in agreements:
            for attack in own:
                yield point_row(base, human["dataset"], attack["suite"], MEAN, name, human, attack)
        if len(agreements) > 1 or len(own) > 1:
            human = {
                **agreements[0],
                "value": _mean(agreements, "value"),
                "low": math.nan,
                "high": math.nan,
                "n_used": len(agreements),
            }
            attack = {
                **own[0],
                "accuracy": _mean(own, "accuracy"),
                "low": math.nan,
                "high": math.nan,
                "n": sum(r["n"] for r in own),
            }
            yield point_row(base, MEAN, MEAN, MEAN, name, human, attack)


def _mean(rows: Sequence[Row], key: str) -> float:
    return float(np.mean([row[key] for row in rows]))
