"""The rule: weights of the criteria, the standing of each metric, who cannot be told apart, and a second metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.choosing.evidence import (
    APART,
    ASPECTS,
    CHANCE,
    COPIES,
    DRAWS,
    ERRORS,
    HARMLESS,
    OWN,
    PUBLIC,
    Care,
    Evidence,
    Share,
    interval_of,
)
from nlgauge.core.arrays import Array

# How much a difference of one share counts beside another. Agreement with people is what is wanted, and differs little
# from metric to metric; audits say less of it (docs/studies/choose.md).
PUBLIC_WEIGHT, ERRORS_WEIGHT, COPIES_WEIGHT, HARMLESS_WEIGHT, APART_WEIGHT = 8.0, 2.0, 0.5, 0.5, 0.5
CARED_WEIGHT = 8.0  # of errors where the user says which ones matter
CARED_SHARE = 0.7  # of that weight for the errors that matter
# The weight of each kind of error by task; `mt` for a task that is not named.
BY_TASK: Mapping[str, Mapping[Care, float]] = {
    "mt": {"meaning": 0.4, "facts": 0.2, "coverage": 0.2, "fluency": 0.2},
    "as": {"meaning": 0.2, "facts": 0.4, "coverage": 0.2, "fluency": 0.2},
    "d2t": {"meaning": 0.15, "facts": 0.4, "coverage": 0.3, "fluency": 0.15},
    "ic": {"meaning": 0.3, "facts": 0.4, "coverage": 0.2, "fluency": 0.1},
    "qg": {"meaning": 0.5, "facts": 0.3, "coverage": 0.0, "fluency": 0.2},
    "dg": {"meaning": 0.5, "facts": 0.1, "coverage": 0.1, "fluency": 0.3},
}
FEWEST_PAIRS = 30  # of rated outputs, from which on ratings decide
FEWEST_MISSED = 5  # errors that the first metric misses, from which on a second is looked for


RATINGS: Mapping[str, float] = {OWN: 1.0}  # the weights where ratings of the user's decide


def weights_of(task: str, care: Care | None) -> dict[str, float]:
    """Criterion -> its weight where there are no ratings; those of criteria without evidence are left out later."""
    by_aspect = dict(BY_TASK.get(task, BY_TASK["mt"]))
    if care is not None:
        others = sum(share for aspect, share in by_aspect.items() if aspect != care)
        by_aspect = {aspect: (1 - CARED_SHARE) * by_aspect[aspect] / others for aspect in ASPECTS}
        by_aspect[care] = CARED_SHARE
    errors = ERRORS_WEIGHT if care is None else CARED_WEIGHT
    return {
        PUBLIC: PUBLIC_WEIGHT,
        **{ERRORS + aspect: errors * by_aspect[aspect] for aspect in ASPECTS},
        COPIES: COPIES_WEIGHT,
        HARMLESS: HARMLESS_WEIGHT,
        APART: APART_WEIGHT,
    }


@dataclass(frozen=True, eq=False)
class Standing:
    """What the evidence on a metric comes to.

    Attributes:
        metric: the specification as typed.
        value: the weighted mean of its shares, in [0, 1]; NaN where there is no evidence on any metric.
        low, high: its 95 % interval; NaN as `value`.
        draws: on B resamples, shape (B,).
        lacking: criteria on which there is evidence for others alone; it has the lowest share of the others there.
    """

    metric: str
    value: float
    low: float
    high: float
    draws: Array
    lacking: tuple[str, ...] = ()


def standings(evidence: Sequence[Evidence], metrics: Sequence[str], weights: Mapping[str, float]) -> list[Standing]:
    """The standing of each metric, the best first."""
    cells = {(one.metric, one.criterion): one for one in evidence if one.metric in metrics}
    counted = [name for name, weight in weights.items() if weight and any((m, name) in cells for m in metrics)]
    total = sum(weights[name] for name in counted)
    found = []
    for spec in metrics:
        value, draws = 0.0, np.zeros(DRAWS)
        if not counted:  # zeros as draws: no metric can be told from another
            found.append(Standing(spec, np.nan, np.nan, np.nan, draws))
            continue
        lacking = tuple(name for name in counted if (spec, name) not in cells)
        for name in counted:
            own = cells.get((spec, name)) or _lowest(name, cells)
            value += weights[name] / total * own.value
            draws = draws + weights[name] / total * (own.draws if len(own.draws) else own.value)
        found.append(Standing(spec, value, *interval_of(draws), draws, lacking))
    return sorted(found, key=lambda one: -one.value)  # stable: equal ones in the order as named


def _lowest(criterion: str, cells: Mapping[tuple[str, str], Evidence]) -> Evidence:
    return min((one for (_, name), one in cells.items() if name == criterion), key=lambda one: one.value)


def ranked(
    evidence: Sequence[Evidence], metrics: Sequence[str], weights: Mapping[str, float], has_ratings: bool
) -> tuple[list[Standing], tuple[str, ...]]:
    """The metrics, the best first, and those that ratings leave open.

    Ratings of the user's own decide where there are some. If they cannot tell the best from others, the usual weights
    rank these; the rest follows by ratings.

    Returns:
        Standings by the weights that decided, and the names that ratings leave open; none if they leave nothing open.
    """
    usual = standings(evidence, metrics, weights)
    if not has_ratings:
        return usual, ()
    own = standings(evidence, metrics, RATINGS)
    left = {own[0].metric, *(name for name, _, _ in not_told(own[0], own[1:]))}
    if len(left) == 1:
        return own, ()
    by_name = {one.metric: one for one in usual}
    rest = [by_name[one.metric] for one in own if one.metric not in left]
    order = [one for one in usual if one.metric in left]
    return [*order, *rest], tuple(one.metric for one in order)


def not_told(best: Standing, others: Sequence[Standing]) -> list[tuple[str, float, float]]:
    """Those of the others whose standing cannot be told from the best, with the interval of the difference."""
    found = []
    for one in others:
        low, high = interval_of(best.draws - one.draws)
        if low <= 0:
            found.append((one.metric, low, high))
    return found


@dataclass(frozen=True, eq=False)
class Second:
    """A metric beside the first.

    Attributes:
        metric: the specification as typed.
        seen: of the errors that the first misses, the share that it sees.
    """

    metric: str
    seen: Share


def second_of(beyond: Mapping[str, Share]) -> Second | None:
    """The metric that sees most of what the first misses; None if none sees more than half of it beyond chance.

    Args:
        beyond: metric -> the share that it sees, of the errors that the first misses; those alike are left out.
    """
    able = [Second(name, seen) for name, seen in beyond.items() if seen.n >= FEWEST_MISSED and seen.low > CHANCE]
    return max(able, key=lambda one: one.seen.value, default=None)
