"""Is the mean score of one system surely above a number? For tests that ask for a level instead of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.gating.losses import WORST
from nlgauge.gating.outputs import clusters_of
from nlgauge.gating.scored import Scored
from nlgauge.gating.words import rounded
from nlgauge.metrics.base import Metric
from nlgauge.stats.gates import FAIL, FEW, INCONCLUSIVE, Bound, bound_level

_CUT = 200  # characters of a text


@dataclass(frozen=True)
class Level:
    """The verdict on the mean of one metric.

    Attributes:
        verdict: PASS, FAIL or INCONCLUSIVE.
        mean, low, high: the mean in the metric's own direction, and its one-sided bounds.
        n: items with a score.
        text: why, and the items with the worst scores.
    """

    verdict: str
    mean: float
    low: float
    high: float
    n: int
    text: str


def level(spec: str, metric: Metric, side: Scored, value: float, *, alpha: float = 0.05) -> Level:
    """Judge whether the mean of a metric is surely at least `value`, or at most where lower is better.

    Args:
        spec: the metric as typed.
        metric: the same.
        side: its scores; a text without one is a FAIL.
        value: the number, in the metric's own direction and scale.
        alpha: the chance of a false PASS, and of a false FAIL, where the mean is equal to `value`.

    Raises:
        InputError: no item has a score.
    """
    runs, up = side.runs[spec], metric.info.higher_is_better
    items = list(side.outputs.items)
    means = np.array([one.mean() for one in runs])
    known = ~np.isnan(means)
    if not known.any():
        raise InputError(f"{spec}: no item has a score, expected at least one")
    groups = clusters_of(side.outputs.groups)
    clusters = None if groups is None else [g for g, is_known in zip(groups, known, strict=True) if is_known]
    low_end, high_end = metric.info.range
    is_rate = bool(np.isin(np.concatenate([*runs])[~np.isnan(np.concatenate([*runs]))], (0.0, 1.0)).all())
    is_rate = is_rate and max(map(len, runs)) == 1 and (low_end, high_end) != (0.0, 100.0)
    sign = 1 if up else -1
    bound = bound_level(
        sign * means[known],
        sign * value,
        clusters,
        alpha=alpha,
        is_rate=is_rate and up,
        least=low_end if up else -high_end,
    )
    ends = (sign * bound.low, sign * bound.high)[::sign]
    lost = [item for item, is_known in zip(items, known, strict=True) if not is_known]
    verdict = FAIL if lost else bound.verdict
    told = _told(spec, bound, sign, value, verdict, lost)
    worst = [] if verdict == "PASS" else _worst(spec, side, items, sign * means)
    return Level(verdict, sign * bound.delta, ends[0], ends[1], bound.n, "\n".join([told, *worst]))


def _told(spec: str, bound: Bound, sign: int, value: float, verdict: str, lost: Sequence[str]) -> str:
    limit = "at least" if sign > 0 else "at most"
    low, high = (sign * bound.low, sign * bound.high)[::sign]
    ends = ", ".join("" if np.isnan(end) else f"{end:.4g}" for end in (low, high))
    head = f"{verdict}: mean {spec} {sign * bound.delta:.4g} [{ends}], expected {limit} {value:g}"
    if lost:
        return f"{head}; {len(lost)} of {len(lost) + bound.n} items have no score ({', '.join(lost[:WORST])})"
    if verdict != INCONCLUSIVE:
        return head
    if bound.n_clusters is not None and bound.n_clusters < FEW:
        return f"{head}; {bound.n_clusters} groups are too few to pass, expected {FEW} or more"
    if bound.method == "worst-case" and np.isnan(bound.low):
        return f"{head}; fewer than {FEW} scores differ from the others, and {spec} has no worst score to reckon with"
    if bound.items_needed is None:
        return f"{head}; you have {bound.n} items, and the mean is too close to {value:g}, or on its wrong side"
    return f"{head}; you have {bound.n} items; a mean like this one needs about {rounded(bound.items_needed):,}"


def _worst(spec: str, side: Scored, items: Sequence[str], means: Array) -> list[str]:
    order = np.argsort(np.where(np.isnan(means), -np.inf, means), kind="stable")[:WORST].tolist()
    lines = [f"Items with the worst {spec}:"]
    for i in order:
        text = " ".join(side.outputs.items[items[i]][0].hypothesis.split())
        shown = "no score" if np.isnan(means[i]) else f"{side.runs[spec][i].mean():.4g}"
        lines.append(f"  {items[i]}  {shown}  {text[:_CUT]}")
    return lines
