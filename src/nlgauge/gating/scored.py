"""What do the metrics say of both sides? Scores of every run, and one difference per item."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.scores import Note, Scores
from nlgauge.core.segment import Segment
from nlgauge.gating.outputs import Outputs
from nlgauge.metrics.base import Metric, check_needs, cut_words, is_pooled
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime


@dataclass(frozen=True)
class Scored:
    """One side with its scores.

    Attributes:
        outputs: the texts.
        runs: specification -> the scores of the runs of each item, in the order of items.
        signatures: specification -> what determines the scores.
        notes: counts of texts that were cut, are empty or have no score.
    """

    outputs: Outputs
    runs: Mapping[str, Sequence[Array]]
    signatures: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def over(self, outputs: Outputs) -> Scored:
        """The same scores for the same items in another order."""
        places = {item: i for i, item in enumerate(self.outputs.items)}
        order = [places[item] for item in outputs.items]
        runs = {spec: [scores[i] for i in order] for spec, scores in self.runs.items()}
        return replace(self, outputs=outputs, runs=runs)


def score_side(outputs: Outputs, metrics: Mapping[str, Metric], runtime: Runtime) -> Scored:
    """Score all runs of one side."""
    for built in metrics.values():
        check_needs(built, outputs.segments, runtime)
    return _scored(outputs, score_segments(metrics, outputs.segments, runtime), metrics)


def score_sides(base: Outputs, new: Outputs, metrics: Mapping[str, Metric], runtime: Runtime) -> tuple[Scored, Scored]:
    """Score both sides in one call: references are read once, and a metric that depends on all texts sees all."""
    segments, n = [*base.segments, *new.segments], len(base.segments)
    for built in metrics.values():
        check_needs(built, segments, runtime)
    alone = {spec: built for spec, built in metrics.items() if not is_pooled(built)}
    pooled = {spec: built for spec, built in metrics.items() if is_pooled(built)}
    found = score_segments(alone, segments, runtime) if alone else {}
    renamed = [*_renamed("base", base.segments), *_renamed("new", new.segments)]
    found |= score_segments(pooled, renamed, runtime) if pooled else {}
    sides = [
        _scored(side, {spec: found[spec].take(np.arange(*places)) for spec in metrics}, metrics)
        for side, places in ((base, (0, n)), (new, (n, len(segments))))
    ]
    return sides[0], sides[1]


def _renamed(side: str, segments: Sequence[Segment]) -> Iterator[Segment]:
    return (replace(segment, id=f"{side}:{segment.id}") for segment in segments)


def _scored(outputs: Outputs, found: Mapping[str, Scores], metrics: Mapping[str, Metric]) -> Scored:
    ends = list(accumulate(map(len, outputs.items.values())))[:-1]
    notes = [
        note.after(f"{outputs.name}: ") if isinstance(note, Note) else note
        for spec, scores in found.items()
        for note in scores.flag_notes(spec, undefined=None, cut=cut_words(metrics[spec]))
    ]
    return Scored(
        outputs,
        {spec: np.split(scores.values, ends) for spec, scores in found.items()},
        {spec: str(scores.signature) for spec, scores in found.items()},
        tuple(notes),
    )


@dataclass(frozen=True)
class Differences:
    """One metric on both sides.

    Attributes:
        base, new: the mean score of each item, shape (n,), in the metric's own direction.
        values: by how much the new side is better, shape (n,); NaN where either side has no score.
        lost: items that have a score in BASE and none in NEW, shape (n,).
        is_rate: whether all scores are 0 or 1, one run each.
        largest: the width of the scale; None where it has no limits.
        falls: whether lower scores are better.
        runs: the scores of the runs of each item, of both sides.
        at_stake: what an item loses that falls to the worst score; None where there is none.
    """

    base: Array
    new: Array
    values: Array
    lost: Array
    is_rate: bool
    largest: float | None
    falls: bool
    runs: tuple[Sequence[Array], Sequence[Array]]
    at_stake: float | None = None


def differences(spec: str, metric: Metric, base: Scored, new: Scored, undefined: str) -> Differences:
    """The differences of a metric, turned so that below 0 is worse.

    An item of several runs has the mean of those with a score; in NEW all runs must have one.

    Args:
        spec: the metric as typed.
        metric: the same.
        base, new: the sides.
        undefined: `worst` gives runs of NEW without a score the worst one.

    Raises:
        InputError: the worst score is asked for, and the metric has none.
    """
    low, high = metric.info.range
    up = metric.info.higher_is_better
    old, fresh = base.runs[spec], new.runs[spec]
    if undefined == "worst" and any(np.isnan(one).any() for one in fresh):
        worst = low if up else high
        if not math.isfinite(worst):
            raise InputError(
                f"{spec} has no worst score, which --undefined worst (undefined='worst') gives to a text without one;"
                " choose fail or drop"
            )
        fresh = [np.where(np.isnan(one), worst, one) for one in fresh]
    before = np.array([_mean(one[~np.isnan(one)]) for one in old])
    after = np.array([_mean(one) for one in fresh])
    known = np.concatenate([*old, *fresh])
    known = known[~np.isnan(known)]
    is_binary = bool(np.isin(known, (0.0, 1.0)).all()) and not (math.isfinite(high - low) and high - low != 1)
    one_each = max(map(len, [*old, *fresh])) == 1
    largest = high - low if math.isfinite(high - low) else 1.0 if is_binary else None
    values = (after - before) if up else (before - after)
    worst = 0.0 if is_binary else low if up else high
    return Differences(
        before,
        after,
        values,
        np.isnan(after) & ~np.isnan(before),
        is_binary and one_each,
        largest,
        not up,
        (old, fresh),
        _at_stake(np.abs(before - worst), values) if math.isfinite(worst) else None,
    )


def _at_stake(room: Array, values: Array) -> float | None:
    """The loss of an item that falls to the worst score, of which any item is as likely as another to be the one.

    Items count by what they have to lose, since one that has nothing cannot show that it fell; and no less is at stake
    than was lost.
    """
    known = ~np.isnan(values)
    room = room[known]
    return float(max((room**2).sum() / room.sum(), -values[known].min())) if room.any() else None


def _mean(scores: Array) -> float:
    return float(scores.mean()) if len(scores) else math.nan
