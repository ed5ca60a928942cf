"""Texts of the user's own that may show how a metric fails, by criterion, and what each metric says of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.audits.preference import Sides
from nlgauge.choosing.evidence import APART, ASPECTS, COPIES, ERRORS, HARMLESS, OWN
from nlgauge.choosing.measure import Measured
from nlgauge.choosing.people import rating_of
from nlgauge.choosing.systems import system_scores
from nlgauge.core.arrays import Array, Mask
from nlgauge.core.segment import Segment
from nlgauge.core.suite import Pair, Suite

OUTPUTS = "outputs"  # an output, and the same with an error
KINDS = (OUTPUTS, COPIES, HARMLESS, OWN, APART)  # what the two texts of a pool are
DIGITS = 6  # of a margin in deviations: what rounding leaves no processor changes
_RATED = 2000  # pairs of rated outputs that are looked through, those that people rate furthest apart


@dataclass(frozen=True)
class Texts:
    """Two texts, of which the first should score higher.

    Attributes:
        of: what they are, one of `KINDS`.
        id: of the pair, or of the first of two outputs.
        phenomenon: how they differ; None of two outputs.
        better, worse: the texts.
        original: the text that a change was made in, where neither of the two is it.
        reference: what both are compared with; None if nothing, or if they are not compared with the same.
        outputs: the two outputs, where they are two of the user's.
        ratings: of the two, where people rated them.
    """

    of: str
    id: str
    phenomenon: str | None
    better: str
    worse: str
    original: str | None = None
    reference: str | None = None
    outputs: tuple[Segment, Segment] | None = None
    ratings: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Scored:
    """What a metric says of all texts of a pool.

    Attributes:
        better, worse: its scores of the two texts, shape (n,); NaN where it has none.
        tried: the texts that it was tried on, shape (n,).
        missed: those of them that it fails on, shape (n,).
        far: how far it is from failing, in deviations of its scores, shape (n,); the lowest is the worst failure.
    """

    better: Array
    worse: Array
    tried: Mask
    missed: Mask
    far: Array


@dataclass(frozen=True, eq=False)
class Pool:
    """All texts that may show one criterion, and what each metric says of them."""

    criterion: str
    texts: Sequence[Texts]
    scored: Mapping[str, Scored]


def pools_of(found: Measured) -> list[Pool]:
    """The texts of every criterion that has some."""
    pools = [*_people(found), *_errors(found), *_copies(found), *_harmless(found), *_apart(found)]
    return [pool for pool in pools if pool.texts]


def _errors(found: Measured) -> Iterator[Pool]:
    if found.trials.errors is not None:
        for aspect in ASPECTS:
            yield _of_suite(found, found.trials.errors, 0, ERRORS + aspect, OUTPUTS, aspect)


def _copies(found: Measured) -> Iterator[Pool]:
    if found.trials.copies is not None:
        yield _of_suite(found, found.trials.copies, 1, COPIES, COPIES, None)


def _of_suite(found: Measured, suite: Suite, number: int, criterion: str, of: str, aspect: str | None) -> Pool:
    """The pairs of one aspect in which the worse text should score lower; of every aspect for None."""
    places = [
        i
        for i, pair in enumerate(suite.pairs)
        if pair.expect == "lower" and (aspect is None or pair.criterion == aspect)
    ]
    pairs = [suite.pairs[i] for i in places]
    scored = {}
    for spec in found.left:
        sides = found.sides[spec][number]
        if sides is not None:
            better, worse, tried = _spread(sides, len(suite))
            width = _width(sides)
            scored[spec] = _judged(better[places], worse[places], tried[places], sides.higher_is_better, width)
    texts = [
        # an error stands in the output, and a near-copy in the reference
        Texts(of, p.id, p.phenomenon, p.better, p.worse, _held(p) if of == COPIES else None, _held(p))
        for p in pairs
    ]
    return Pool(criterion, texts, scored)


def _held(pair: Pair) -> str | None:
    return pair.references[0] if pair.references else pair.source


def _spread(sides: Sides, n: int) -> tuple[Array, Array, Mask]:
    """The scores at the places of the pairs in a suite of n, and where there are some."""
    better, worse, tried = np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, dtype=np.bool_)
    where = list(sides.places)
    better[where], worse[where], tried[where] = sides.better, sides.worse, True
    return better, worse, tried


def _width(sides: Sides) -> float:
    """The deviation of all scores, the unit of margins; 1 where there is none."""
    scores = np.concatenate([sides.better, sides.worse])
    return float(np.nanstd(scores)) or 1.0 if not np.isnan(scores).all() else 1.0


def _judged(better: Array, worse: Array, tried: Mask, higher_is_better: bool, width: float) -> Scored:
    """A metric fails where the better text does not score higher, or a score is undefined."""
    far = (better - worse) * (1 if higher_is_better else -1) / width
    return Scored(better, worse, tried, tried & ~(far > 0), far)


def _harmless(found: Measured) -> Iterator[Pool]:
    """A harmless change and an error in the same text, of which the error costs no more."""
    suite = found.trials.errors
    if suite is None:
        return
    errors: dict[str, list[int]] = {}
    for i, pair in enumerate(suite.pairs):
        if pair.expect == "lower":
            errors.setdefault(pair.better, []).append(i)
    both = [(i, j) for i, pair in enumerate(suite.pairs) if pair.expect == "same" for j in errors.get(pair.better, ())]
    texts = []
    for i, j in both:
        same, error = suite.pairs[i], suite.pairs[j]
        names = f"{same.phenomenon} and {error.phenomenon}"
        texts.append(Texts(HARMLESS, error.id, names, same.worse, error.worse, same.better, _held(same)))
    scored = {}
    for spec in found.left:
        sides = found.sides[spec][0]
        if sides is not None and both:
            _, changed, tried = _spread(sides, len(suite))
            one, other = (np.array([pair[k] for pair in both]) for k in (0, 1))
            known = tried[one] & tried[other] & ~np.isnan(changed[one] + changed[other])  # the others do not count
            scored[spec] = _judged(changed[one], changed[other], known, sides.higher_is_better, _width(sides))
    yield Pool(HARMLESS, texts, scored)


def _people(found: Measured) -> Iterator[Pool]:
    """Two outputs that a metric orders against the user's ratings, of those that people rate furthest apart."""
    if found.pairs is None or not len(found.pairs) or found.criterion is None:
        return
    segments, human = found.sample.segments, rating_of(found.sample.dataset, found.criterion)
    first, second = found.pairs.first, found.pairs.second
    apart = np.round(human[first] - human[second], DIGITS)
    kept = np.sort(np.argsort(-apart, kind="stable")[:_RATED])
    first, second = first[kept], second[kept]
    texts = [
        _two(OWN, segments[i], segments[j], (float(human[i]), float(human[j])))
        for i, j in zip(first.tolist(), second.tolist(), strict=True)
    ]
    scored = {}
    for spec in found.left:
        scores = found.scores[spec]
        better, worse = scores.values[first], scores.values[second]
        known = ~np.isnan(better + worse)  # the others do not count
        width = float(np.nanstd(scores.values)) or 1.0
        scored[spec] = _judged(better, worse, known, scores.higher_is_better, width)
    yield Pool(OWN, texts, scored)


def _apart(found: Measured) -> Iterator[Pool]:
    """Outputs of two systems for one item that a metric orders against the scores of the two systems."""
    grid = found.grid
    if grid is None or found.sample.are_copies:
        return
    segments = found.sample.segments
    n = len(grid.systems)
    pairs = [(a, b, i) for a in range(n) for b in range(a + 1, n) for i in range(grid.places.shape[1])]
    texts, scored = [], {}
    for a, b, i in pairs:
        texts.append(_two(APART, segments[grid.places[a, i]], segments[grid.places[b, i]], None))
    one, other = (np.array([grid.places[pair[k], pair[2]] for pair in pairs], dtype=np.int64) for k in (0, 1))
    for spec in found.left:
        scores = found.scores[spec]
        whole = system_scores(scores, grid)
        ahead = np.array([np.sign(whole[a] - whole[b]) for a, b, _ in pairs])
        gaps = scores.values[one] - scores.values[other]
        width = float(np.nanstd(scores.values)) or 1.0
        far = ahead * gaps / width
        scored[spec] = Scored(scores.values[one], scores.values[other], ~np.isnan(far), far < 0, far)
    yield Pool(APART, texts, scored)


def _two(of: str, one: Segment, other: Segment, ratings: tuple[float, float] | None) -> Texts:
    held = one.references[0] if one.references else one.source
    shared = held if one.references[:1] == other.references[:1] and one.source == other.source else None
    return Texts(of, one.id, None, one.hypothesis, other.hypothesis, None, shared, (one, other), ratings)
