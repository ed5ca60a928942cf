"""What trials say of a metric: which errors it sees, what it takes for an error, and near-copies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlgauge.audits.preference import Sides
from nlgauge.choosing.evidence import ASPECTS, CHANCE, COPIES, ERRORS, HARMLESS, Evidence, Share, share
from nlgauge.core.arrays import Array
from nlgauge.core.suite import Pair, Suite

_SEEDS = {name: i for i, name in enumerate((*ASPECTS, COPIES, HARMLESS))}  # so that criteria are drawn apart


def error_evidence(suite: Suite, sides: Sides, source: str, seed: int = 0) -> list[Evidence]:
    """For each aspect the share of errors that a metric sees, and the share of harmless changes that it lets pass.

    An error is seen if the text with it scores lower than the text without. A harmless change passes beside an error in
    the same text if it costs less than the error does; so the scale of the metric plays no part.
    """
    pairs = [suite.pairs[place] for place in sides.places]
    found = []
    for aspect in ASPECTS:
        places = [i for i, pair in enumerate(pairs) if pair.expect == "lower" and pair.criterion == aspect]
        outcome = _seen(sides)[places]
        made = share(outcome, [pairs[i].origin for i in places], seed + _SEEDS[aspect]) if places else None
        if made is not None:
            found.append(_evidence(sides.spec, ERRORS + aspect, made, source))
    harmless = _beside(pairs, sides.margin)
    made = share(harmless[0], harmless[1], seed + _SEEDS[HARMLESS]) if len(harmless[0]) else None
    if made is not None:
        found.append(_evidence(sides.spec, HARMLESS, made, source))
    return found


def copy_evidence(suite: Suite, sides: Sides, seed: int = 0) -> list[Evidence]:
    """The share of near-copies with an error that score lower than a paraphrase without one."""
    pairs = [suite.pairs[place] for place in sides.places]
    made = share(_seen(sides), [pair.origin for pair in pairs], seed + _SEEDS[COPIES])
    return [] if made is None else [_evidence(sides.spec, COPIES, made, "your references")]


def _seen(sides: Sides) -> Array:
    """1 where the worse text scores lower, 0 where it does not, or a score is undefined; shape (n,)."""
    return (sides.margin > 0).astype(np.float64)


def _evidence(spec: str, criterion: str, made: Share, source: str) -> Evidence:
    return Evidence(spec, criterion, made.value, made.low, made.high, made.n, source, made.draws)


def _beside(pairs: Sequence[Pair], margin: Array) -> tuple[Array, list[tuple[str, str]]]:
    """For each harmless change and each error in the same text, whether the error costs more; and the text's origin."""
    errors: dict[str, list[int]] = {}
    for i, pair in enumerate(pairs):
        if pair.expect == "lower":
            errors.setdefault(pair.better, []).append(i)
    outcome, origins = [], []
    for i, pair in enumerate(pairs):
        if pair.expect != "same":
            continue
        for j in errors.get(pair.better, ()):
            gap = margin[j] - margin[i]
            outcome.append(np.nan if np.isnan(gap) else 1.0 if gap > 0 else CHANCE if gap == 0 else 0.0)
            origins.append(pair.origin)
    return np.array(outcome), origins


def seen_beyond(suite: Suite, first: Sides, second: Sides) -> tuple[Array, list[tuple[str, str]]]:
    """Of the errors that the first metric misses, whether the second sees them; and the origins of their texts."""
    places = {place: i for i, place in enumerate(second.places)}
    pairs = [suite.pairs[place] for place in first.places]
    seen, others = _seen(first), _seen(second)
    kept = [
        (i, places[place])
        for i, place in enumerate(first.places)
        if pairs[i].expect == "lower" and not seen[i] and place in places
    ]
    return np.array([others[j] for _, j in kept]), [pairs[i].origin for i, _ in kept]
