"""All evidence on all metrics: costs, scores of outputs and trials; a metric that fails is left out with the reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from nlgauge.audits.preference import Sides, pairs_for, score_sides
from nlgauge.choosing.costs import Cost, cost_of
from nlgauge.choosing.evidence import OWN, Evidence
from nlgauge.choosing.known import PublicSet, nearest, profile_of, public_evidence
from nlgauge.choosing.outcomes import copy_evidence, error_evidence
from nlgauge.choosing.people import Compared, agreement, rated_pairs, rating_of
from nlgauge.choosing.reading import unreadable, unusable
from nlgauge.choosing.sample import Sample
from nlgauge.choosing.systems import Grid, alike, apart_evidence, grid_of
from nlgauge.choosing.trials import Trials
from nlgauge.core.errors import InputError, NlgaugeError
from nlgauge.core.scores import Scores, count
from nlgauge.core.suite import Suite
from nlgauge.metrics.base import Metric, described, is_pooled, notes_of
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import PAIRS, Bar, Runtime, silent
from nlgauge.scoring.looks import Looks

T = TypeVar("T")


@dataclass
class Measured:
    """What was found out.

    Attributes:
        sample, trials: the texts.
        metrics: specification -> metric, of all that were asked for.
        criterion: of the user's ratings; None without any.
        grid: the systems side by side; None where they cannot be compared.
        sets: the public sets nearest to the texts.
        n_rated: pairs of outputs that people do not rate the same.
        scores: metric -> scores of the outputs of the sample.
        sides: metric -> scores of both texts of errors, and of near-copies, where it has them.
        costs: metric -> its cost.
        out: metric -> why it is ruled out.
        told: metric -> what must be said of it.
        evidence: all of it.
        alike: metric -> the first metric that orders the texts alike, and their rank correlation.
        about: the metrics as a result file lists them.
        notes: what a reader must know.
    """

    sample: Sample
    trials: Trials
    metrics: Mapping[str, Metric]
    criterion: str | None
    grid: Grid | None
    pairs: Compared | None = None
    sets: Sequence[PublicSet] = ()
    scores: dict[str, Scores] = field(default_factory=dict)
    sides: dict[str, tuple[Sides | None, Sides | None]] = field(default_factory=dict)
    costs: dict[str, Cost] = field(default_factory=dict)
    out: dict[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    evidence: list[Evidence] = field(default_factory=list)
    alike: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    about: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def n_rated(self) -> int:
        """Pairs of outputs that people do not rate the same."""
        return 0 if self.pairs is None else len(self.pairs)

    @property
    def left(self) -> list[str]:
        """The metrics that are not ruled out."""
        return [spec for spec in self.metrics if spec not in self.out]


def measured(
    sample: Sample, trials: Trials, metrics: Mapping[str, Metric], criterion: str | None, seed: int, runtime: Runtime
) -> Measured:
    """The evidence on each metric.

    Raises:
        InputError: every metric is ruled out.
    """
    found = Measured(sample, trials, metrics, criterion, grid_of(sample.segments, sample.n_items))
    if criterion is not None:
        found.pairs = rated_pairs(sample.segments, rating_of(sample.dataset, criterion))
    found.out, found.told = unreadable(metrics, sample.segments)
    _costs(found, runtime)
    _scored(found, runtime.sharing({PAIRS: {}}))
    for spec in found.left:
        _weigh(found, spec, seed)
    if not found.left:
        reasons = "; ".join(f"{spec}: {why}" for spec, why in found.out.items())
        raise InputError(f"no metric can score these texts: {reasons}")
    _together(found, seed, runtime)
    return found


def _costs(found: Measured, runtime: Runtime) -> None:
    """The cost of each metric; one that fails on a few outputs is ruled out."""
    for spec in found.left:
        with _ruling_out(found, spec):
            found.costs[spec] = cost_of(found.metrics[spec], found.sample.segments, runtime)


def _scored(found: Measured, runtime: Runtime) -> None:
    """Score outputs, errors and near-copies with all metrics; what fails is ruled out, and the rest goes on."""
    segments, errors, copies = found.sample.segments, found.trials.errors, found.trials.copies
    sizes = [len(segments), *(2 * len(suite) for suite in (errors, copies) if suite is not None)]
    everything = len(found.left) * sum(sizes)
    seconds = sum(found.costs[spec].elapsed for spec in found.left) * sum(sizes) / 1000
    with runtime.progress(everything, f"choosing (up to {math.ceil(seconds / 60)} min)") as advance:
        bar = Bar(None if runtime.progress is silent else advance)

        def scored(size: int, score: Callable[[Mapping[str, Metric], Runtime], Mapping[str, T]]) -> Mapping[str, T]:
            left = {spec: found.metrics[spec] for spec in found.left}
            with bar.part(runtime, len(left) * size, len(left)) as watched:
                return _all_or_each(found, left, lambda metrics: score(metrics, watched))

        found.scores |= scored(sizes[0], lambda metrics, watched: score_segments(metrics, segments, watched))
        sides: list[Mapping[str, Sides]] = []
        for suite in (errors, copies):
            sides.append({} if suite is None else scored(2 * len(suite), partial(_sides, suite)))
        found.sides |= {spec: (sides[0].get(spec), sides[1].get(spec)) for spec in found.left}


def _all_or_each(
    found: Measured, metrics: Mapping[str, Metric], score: Callable[[Mapping[str, Metric]], Mapping[str, T]]
) -> Mapping[str, T]:
    """What all metrics say in one call, in which those over one encoder share its vectors.

    If the call fails, each metric is asked alone, and what fails again is ruled out.
    """
    with suppress(Exception):
        return score(metrics)
    made: dict[str, T] = {}
    for spec, built in metrics.items():
        with _ruling_out(found, spec):
            made |= score({spec: built})
    return made


@contextmanager
def _ruling_out(found: Measured, spec: str) -> Iterator[None]:
    """Rule a metric out with the reason, whatever it raises."""
    try:
        yield
    except NlgaugeError as error:
        found.out[spec] = f"it failed: {error}"
    except Exception as error:
        found.out[spec] = f"it failed: {type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _sides(suite: Suite, metrics: Mapping[str, Metric], runtime: Runtime) -> dict[str, Sides]:
    """The scores of a suite by the metrics that can answer for its pairs.

    One that lacks what it needs in them has no sides, as scores from a file, which know the user's outputs alone. That
    is found out on one pair, so that the others are not scored in vain.
    """
    able = {}
    for spec, built in metrics.items():
        with suppress(InputError):
            first = suite.pairs[pairs_for(spec, built, suite, "own")[0]]
            if not is_pooled(built):  # some refuse to pool over one pair
                score_sides(replace(suite, pairs=(first,)), {spec: built}, _quiet(runtime), scripts="off")
            able[spec] = built
    try:
        return score_sides(suite, able, runtime, scripts="off")
    except InputError:
        if len(able) > 1:
            raise  # each is asked alone then
        return {}


def _quiet(runtime: Runtime) -> Runtime:
    return replace(runtime, progress=silent)


def _weigh(found: Measured, spec: str, seed: int) -> None:
    """The evidence on a metric from its scores; one whose scores are of no use is ruled out."""
    built, segments, scores = found.metrics[spec], found.sample.segments, found.scores[spec]
    errors, copies = sides = found.sides[spec]
    out, told = unusable(scores, segments) if found.sample.has_outputs else ("", "")
    if not out and _never_moves(sides):
        out = "no error changes its score"
    if out:
        found.out[spec] = out
    if told:
        found.told[spec] = "; ".join(filter(None, (found.told.get(spec, ""), told)))
    found.about.append(described(spec, built, scores.signature, count(scores.flags, scores.values)))
    found.notes += [f"{spec}: {note}" for note in notes_of(built)]
    if out:
        return
    if errors is not None and found.trials.errors is not None:
        found.evidence += error_evidence(found.trials.errors, errors, found.trials.source, seed)
    if copies is not None and found.trials.copies is not None:
        found.evidence += copy_evidence(found.trials.copies, copies, seed)
    if found.grid is not None and not found.sample.are_copies:
        found.evidence.append(apart_evidence(spec, scores, found.grid, seed))
    if found.pairs is not None and len(found.pairs):
        values = scores.values * (1 if scores.higher_is_better else -1)
        made = agreement(values, found.pairs, seed)
        if made is not None:
            source = f"your ratings of {found.criterion}"
            found.evidence.append(Evidence(spec, OWN, made.value, made.low, made.high, made.n, source, made.draws))


def _never_moves(sides: Sequence[Sides | None]) -> bool:
    """Whether no pair of texts with a known order changes the score."""
    margins = [one.margin for one in sides if one is not None]
    return bool(margins) and all(not np.nan_to_num(margin).any() for margin in margins)


def _together(found: Measured, seed: int, runtime: Runtime) -> None:
    """What is about all metrics together: those alike, the public sets, and the texts themselves."""
    left = found.left
    found.alike = alike({spec: found.scores[spec] for spec in left}, found.grid)
    profile = profile_of(found.sample, found.trials.task, runtime, found.scores.get("chrf"))
    found.sets = nearest(profile)
    for spec in left:
        one = public_evidence(spec, found.sets, seed)
        if one is not None:
            found.evidence.append(one)
    found.notes += Looks(language="off").seen({}, found.sample.segments).notes()
