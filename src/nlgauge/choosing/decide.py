"""The decision: which metrics are chosen, and the numbers that it rests on as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.audits.preference import Sides
from nlgauge.choosing.candidates import DEFAULTS
from nlgauge.choosing.evidence import OWN, Care, Evidence, Share, share
from nlgauge.choosing.measure import Measured
from nlgauge.choosing.outcomes import seen_beyond
from nlgauge.choosing.rule import FEWEST_PAIRS, RATINGS, Second, Standing, not_told, ranked, second_of, weights_of
from nlgauge.core.suite import Pair, Suite

_TOLD = 5  # errors of a kind, at least, to be named


@dataclass(frozen=True, eq=False)
class Decision:
    """What is recommended.

    Attributes:
        chosen: one or two metrics.
        standings: of all metrics that are not ruled out, the best first.
        weights: criterion -> its weight.
        level: metrics that cannot be told from the first, with the interval of the difference.
        open: the best metric by the user's ratings and those that these cannot tell from it; none without ratings, or
            if they tell it from all.
        second: the second metric with what it sees; None if there is none.
        beyond: metric -> of the errors that the first misses, the share that it sees.
        n_missed: the errors that the first misses.
        n_errors: all errors that the first was tried on.
        care: the errors that matter most.
        is_default: whether the first is the default of the task, since no metric stands out.
    """

    chosen: tuple[str, ...]
    standings: tuple[Standing, ...]
    weights: dict[str, float]
    level: tuple[tuple[str, float, float], ...]
    open: tuple[str, ...]
    second: Second | None
    beyond: dict[str, Share]
    n_missed: int
    n_errors: int
    care: Care | None
    is_default: bool = False

    @property
    def by_ratings(self) -> bool:
        """Whether the user's ratings decided."""
        return OWN in self.weights

    def rows(self, found: Measured) -> list[dict[str, Any]]:
        """The standing of each metric, and why others are ruled out."""
        level = {name for name, _, _ in self.level}
        rows: list[dict[str, Any]] = []
        for rank, one in enumerate(self.standings, 1):
            head, rho = found.alike[one.metric]
            seen = self.beyond.get(one.metric)
            rows.append(
                {
                    **_row(one.metric, found),
                    "value": one.value,
                    "low": one.low,
                    "high": one.high,
                    "rank": rank,
                    "chosen": self.chosen.index(one.metric) + 1 if one.metric in self.chosen else None,
                    "level": one.metric in level,
                    "alike": head if head != one.metric else None,
                    "rho": rho if head != one.metric else None,
                    "beyond": None if seen is None else seen.value,
                    "beyond_low": None if seen is None else seen.low,
                    "beyond_high": None if seen is None else seen.high,
                    "beyond_n": None if seen is None else seen.n,
                    "lacking": ", ".join(one.lacking) or None,
                    "told": found.told.get(one.metric),
                    "out": None,
                }
            )
        rows += [
            {**_row(spec, found), "value": None, "low": None, "high": None, "rank": None, "chosen": None, "out": why}
            for spec, why in found.out.items()
        ]
        return rows


def _row(spec: str, found: Measured) -> dict[str, Any]:
    cost = found.costs.get(spec)
    return {
        "metric": spec,
        "criterion": "standing",
        "seconds": None if cost is None else cost.seconds,
        "megabytes": None if cost is None else cost.megabytes,
    }


def decided(found: Measured, care: Care | None, seed: int) -> Decision:
    """Apply the rule."""
    rated = {one.metric for one in found.evidence if one.criterion == OWN}
    by_ratings = found.n_rated >= FEWEST_PAIRS and bool(rated)
    usual = weights_of(found.trials.task, care)
    order, left = ranked([one for one in found.evidence if not one.is_few], found.left, usual, by_ratings)
    weights = {**(RATINGS if by_ratings else {}), **(usual if left or not by_ratings else {})}
    first, level = order[0], _level(order, order[0], left)
    default = next((one for one in order if one.metric == DEFAULTS.get(found.trials.task)), None)
    is_default = default is not None and bool(level) and default.metric in {first.metric, *(name for name, *_ in level)}
    if default is not None and is_default:
        first, level = default, _level(order, default, left)
    group = found.alike[first.metric][0]
    others = [one for one in order if found.alike[one.metric][0] != group]
    beyond, missed, n_errors = _beyond(found, first.metric, [one.metric for one in others], seed)
    second = second_of(beyond)
    chosen = (first.metric, *([] if second is None else [second.metric]))
    return Decision(
        chosen, tuple(order), weights, tuple(level), left, second, beyond, missed, n_errors, care, is_default
    )


def _level(order: Sequence[Standing], first: Standing, left: Sequence[str]) -> list[tuple[str, float, float]]:
    """Who cannot be told from the first: of the metrics that ratings leave open, where they leave some."""
    return not_told(first, [one for one in order if one is not first and (not left or one.metric in left)])


def _suites(found: Measured, spec: str) -> list[tuple[Suite, Sides]]:
    """The suites that a metric has scores for."""
    both = zip((found.trials.errors, found.trials.copies), found.sides.get(spec, (None, None)), strict=True)
    return [(suite, sides) for suite, sides in both if suite is not None and sides is not None]


def _beyond(found: Measured, first: str, others: list[str], seed: int) -> tuple[dict[str, Share], int, int]:
    own = {id(suite): sides for suite, sides in _suites(found, first)}
    shares: dict[str, Share] = {}
    for spec in others:
        parts = [seen_beyond(suite, own[id(suite)], sides) for suite, sides in _suites(found, spec) if id(suite) in own]
        outcome = np.concatenate([part[0] for part in parts]) if parts else np.empty(0)
        made = share(outcome, [origin for part in parts for origin in part[1]], seed) if len(outcome) else None
        if made is not None:
            shares[spec] = made
    seen = [
        sides.margin[i] > 0
        for suite, sides in _suites(found, first)
        for i, pair in enumerate(_pairs(suite, sides))
        if pair.expect == "lower"
    ]
    return shares, len(seen) - sum(map(int, seen)), len(seen)


def _pairs(suite: Suite, sides: Sides) -> list[Pair]:
    return [suite.pairs[place] for place in sides.places]


def missed_kinds(found: Measured, spec: str) -> list[tuple[str, int, int]]:
    """Kinds of errors in outputs of which a metric misses more than half: how many it misses, of how many."""
    suite, (sides, _) = found.trials.errors, found.sides.get(spec, (None, None))
    if suite is None or sides is None:
        return []
    pairs, margins = _pairs(suite, sides), sides.margin
    wrong = [i for i, pair in enumerate(pairs) if pair.expect == "lower"]
    total = Counter(pairs[i].phenomenon for i in wrong)
    missed = Counter(pairs[i].phenomenon for i in wrong if not margins[i] > 0)
    kinds = [(name, n, total[name]) for name, n in missed.items() if n > total[name] / 2 and total[name] >= _TOLD]
    return sorted(kinds, key=lambda one: (-one[1] / one[2], -one[2]))


def evidence_of(found: Measured, spec: str) -> dict[str, Evidence]:
    """Criterion -> the evidence on a metric."""
    return {one.criterion: one for one in found.evidence if one.metric == spec}
