"""How did metrics agree with people elsewhere? The shipped table of public sets, and those nearest to these texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from zlib import crc32

import numpy as np

from nlgauge.choosing.evidence import DRAWS, LEVEL, PUBLIC, Evidence
from nlgauge.choosing.sample import Sample
from nlgauge.core.scores import Scores
from nlgauge.metrics.registry import metric
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.draws import generator
from nlgauge.text.scripts import leaning

_NEAREST = 3  # sets
_TABLE = "agreement.tsv"
_TOGETHER = 0.58  # correlation of two metrics on resamples of a set, on the mean; recipes/choose/table.py prints it
_Z = 1.959964  # of the normal distribution, for the ends of an interval of LEVEL
_DOUBLE = math.log(2)  # a text twice as long is one unit away
_CLOSE = 20.0  # points of chrF between outputs and references that are one unit
_OTHER_LANGUAGE = 3.0  # units


@dataclass(frozen=True)
class PublicSet:
    """A public set with ratings.

    Attributes:
        name: of the set.
        task: `mt`, `as` or `d2t`.
        language: code of the language of its outputs.
        words: mean number of words of an output.
        chrf: mean chrF of an output against its references; NaN without references.
    """

    name: str
    task: str
    language: str
    words: float
    chrf: float


@dataclass(frozen=True)
class Figure:
    """How often a metric ordered two outputs of a set as people did: the share, its interval, and n outputs."""

    value: float
    low: float
    high: float
    n: int


@cache
def public_sets() -> dict[PublicSet, dict[str, Figure]]:
    """Every set of the shipped table -> metric -> its figure. `python recipes/choose/table.py DATA` made it."""
    text = resources.files("nlgauge.data").joinpath(_TABLE).read_text(encoding="utf-8")
    found: dict[PublicSet, dict[str, Figure]] = {}
    for line in text.splitlines()[1:]:
        name, task, language, words, chrf, spec, value, low, high, n = line.split("\t")
        nearness = float(chrf) if chrf else math.nan  # one object, so that the lines of a set have one key
        key = PublicSet(name, task, language, float(words), nearness)
        found.setdefault(key, {})[spec] = Figure(float(value), float(low), float(high), int(n))
    return found


def profile_of(sample: Sample, task: str, runtime: Runtime, scores: Scores | None = None) -> PublicSet:
    """The user's texts as a set: how long they are, in which language, and how near to their references."""
    segments = sample.segments
    words = float(np.mean([len(s.hypothesis.split()) for s in segments])) if segments else 0.0
    codes = [code for s in segments[:50] if (code := leaning(s.hypothesis)) is not None]
    language = max(set(codes), key=codes.count) if codes else ""
    with_references = [s for s in segments if s.references]
    chrf = math.nan
    if with_references:
        found = score_segments({"": metric("chrf")}, with_references, runtime)[""] if scores is None else scores
        chrf = float(np.nanmean(found.values))
    return PublicSet("", task, language, words, chrf)


def distance(one: PublicSet, other: PublicSet) -> float:
    """How far two sets are from each other: in length, closeness to references and language.

    Infinite where the tasks differ, or one set has references and the other has none: other metrics can score it.
    """
    if one.task != other.task or math.isnan(one.chrf) != math.isnan(other.chrf):
        return math.inf
    apart = abs(math.log((one.words + 1) / (other.words + 1))) / _DOUBLE
    if not math.isnan(one.chrf):
        apart += abs(one.chrf - other.chrf) / _CLOSE
    if one.language and (one.language == "en") != (other.language == "en"):
        apart += _OTHER_LANGUAGE
    return apart


def nearest(own: PublicSet, leave_out: Sequence[str] = ()) -> list[PublicSet]:
    """The three sets of the same task that are nearest, or fewer, the nearest first; none for a task without sets."""
    known = [one for one in public_sets() if one.name not in leave_out and math.isfinite(distance(own, one))]
    return sorted(known, key=lambda one: (distance(own, one), one.name))[:_NEAREST]


def public_evidence(spec: str, sets: Sequence[PublicSet], seed: int = 0) -> Evidence | None:
    """The mean figure of a metric over some sets; None where one of them has none of it.

    Its draws are normal, with the width of the interval, and correlated as those of two metrics on one set are.
    """
    figures = [public_sets()[one].get(spec) for one in sets]
    known = [figure for figure in figures if figure is not None]
    if not known or len(known) < len(figures):
        return None
    value = sum(f.value for f in known) / len(known)
    error = math.sqrt(sum(((f.high - f.low) / (2 * _Z)) ** 2 for f in known)) / len(known)
    low, high = max(0.0, value - _Z * error), min(1.0, value + _Z * error)
    shared, own = (generator(seed + key).normal(size=DRAWS) for key in (0, crc32(spec.encode())))
    draws = value + error * (math.sqrt(_TOGETHER) * shared + math.sqrt(1 - _TOGETHER) * own)
    names = ", ".join(one.name for one in sets)
    assert LEVEL == 0.95
    return Evidence(spec, PUBLIC, value, low, high, sum(f.n for f in known), f"public sets {names}", draws)
