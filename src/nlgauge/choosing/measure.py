"""All evidence on all metrics: scores of outputs and trials; a metric that fails is left out with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np

from nlgauge.audits.preference import Sides, pairs_for, score_sides
from nlgauge.choosing.evidence import (
    APART,
    ASPECTS,
    COPIES,
    ERRORS,
    HARMLESS,
    OWN,
    CriterionShare,
    copy_evidence,
    error_evidence,
    tried_on_few,
    unreadable,
    unusable,
)
from nlgauge.choosing.trials import (
    Compared,
    Grid,
    OutputSample,
    PublicSet,
    Trials,
    agreement,
    alike,
    apart_evidence,
    grid_of,
    looked_at,
    nearest,
    profile_of,
    public_evidence,
    rated_pairs,
    rating_of,
    system_scores,
)
from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, NlgaugeError
from nlgauge.core.metric import BaseMetric, described
from nlgauge.core.scores import Scores, count
from nlgauge.core.segment import Segment
from nlgauge.core.suite import Pair, Suite
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
        pairs: the outputs that people do not rate the same; None without ratings.
        language: of the outputs, its code; "" where it is not told.
        sets: the public sets nearest to the texts.
        scores: metric -> scores of the outputs of the sample.
        sides: metric -> scores of both texts of errors, and of near-copies, where it has them.
        out: metric -> why it is ruled out.
        told: metric -> what must be said of it.
        evidence: all of it.
        alike: metric -> the first metric that orders the texts alike, and their rank correlation.
        about: the metrics as a result file lists them.
        notes: what a reader must know.
        encoder: the encoder of metrics that name no model.
    """

    sample: OutputSample
    trials: Trials
    metrics: Mapping[str, BaseMetric]
    criterion: str | None
    grid: Grid | None
    pairs: Compared | None = None
    language: str = ""
    sets: Sequence[PublicSet] = ()
    scores: dict[str, Scores] = field(default_factory=dict)
    sides: dict[str, tuple[Sides | None, Sides | None]] = field(default_factory=dict)
    out: dict[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    evidence: list[CriterionShare] = field(default_factory=list)
    alike: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    about: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    encoder: str | None = None

    @property
    def n_rated(self) -> int:
        """Pairs of outputs that people do not rate the same."""
        return 0 if self.pairs is None else len(self.pairs)

    @property
    def left(self) -> list[str]:
        """The metrics that are not ruled out."""
        return [spec for spec in self.metrics if spec not in self.out]


def measured(
    sample: OutputSample,
    trials: Trials,
    metrics: Mapping[str, BaseMetric],
    criterion: str | None,
    seed: int,
    runtime: Runtime,
) -> Measured:
    """The evidence on each metric.

    Raises:
        InputError: every metric is ruled out.
    """
    grid = grid_of(sample.segments, sample.n_items)
    found = Measured(sample, trials, metrics, criterion, grid, encoder=runtime.encoder)
    if criterion is not None:
        found.pairs = rated_pairs(sample.segments, rating_of(sample.dataset, criterion))
    found.out, found.told = unreadable(metrics, sample.segments)
    found.out |= {spec: "it describes outputs, and judges none" for spec, m in metrics.items() if not m.info.judges}
    for spec in found.left:  # one that fails on two outputs does not hold up the others
        with _ruling_out(found, spec):
            tried_on_few(metrics[spec], sample.segments, runtime)
    _scored(found, runtime.sharing({PAIRS: {}}))
    for spec in found.left:
        _weigh(found, spec, seed)
    if not found.left:
        reasons = "; ".join(f"{spec}: {why}" for spec, why in found.out.items())
        raise InputError(f"no metric can score these texts: {reasons}")
    _together(found, seed, runtime)
    return found


def _scored(found: Measured, runtime: Runtime) -> None:
    """Score outputs, errors and near-copies with all metrics; what fails is ruled out, and the rest goes on."""
    segments, errors, copies = found.sample.segments, found.trials.errors, found.trials.copies
    sizes = [len(segments), *(2 * len(suite) for suite in (errors, copies) if suite is not None)]
    with runtime.progress(len(found.left) * sum(sizes), "choosing") as advance:
        bar = Bar(None if runtime.progress is silent else advance)

        def scored(size: int, score: Callable[[Mapping[str, BaseMetric], Runtime], Mapping[str, T]]) -> Mapping[str, T]:
            left = {spec: found.metrics[spec] for spec in found.left}
            with bar.part(runtime, len(left) * size, len(left)) as watched:
                return _all_or_each(found, left, lambda metrics: score(metrics, watched))

        found.scores |= scored(sizes[0], lambda metrics, watched: score_segments(metrics, segments, watched))
        sides: list[Mapping[str, Sides]] = []
        for suite in (errors, copies):
            sides.append({} if suite is None else scored(2 * len(suite), partial(_sides, suite)))
        found.sides |= {spec: (sides[0].get(spec), sides[1].get(spec)) for spec in found.left}


def _all_or_each(
    found: Measured, metrics: Mapping[str, BaseMetric], score: Callable[[Mapping[str, BaseMetric]], Mapping[str, T]]
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


def _sides(suite: Suite, metrics: Mapping[str, BaseMetric], runtime: Runtime) -> dict[str, Sides]:
    """The scores of a suite by the metrics that can answer for its pairs.

    One that lacks what it needs in them has no sides, as scores from a file, which know the user's outputs alone. That
    is found out on one pair, so that the others are not scored in vain.
    """
    able = {}
    for spec, built in metrics.items():
        with suppress(InputError):
            first = suite.pairs[pairs_for(spec, built, suite, "own")[0]]
            if not built.pooled:  # some refuse to pool over one pair
                quiet = replace(runtime, progress=silent)
                score_sides(replace(suite, pairs=(first,)), {spec: built}, quiet, scripts="off")
            able[spec] = built
    looking: dict[tuple[int, ...], dict[str, BaseMetric]] = {}
    for spec, built in able.items():
        looking.setdefault(tuple(looked_at(suite, built)), {})[spec] = built
    made: dict[str, Sides] = {}
    try:
        for places, some in looking.items():
            part = replace(suite, pairs=tuple(suite.pairs[i] for i in places))
            for spec, sides in score_sides(part, some, runtime, scripts="off").items():
                made[spec] = replace(sides, places=tuple(places[i] for i in sides.places))
    except InputError:
        if len(able) > 1:
            raise  # each is asked alone then
        return {}
    return made


def _weigh(found: Measured, spec: str, seed: int) -> None:
    """The evidence on a metric from its scores; one whose scores are of no use is ruled out."""
    built, segments, scores = found.metrics[spec], found.sample.segments, found.scores[spec]
    errors, copies = sides = found.sides[spec]
    trials = found.trials.suites
    out, told = unusable(scores, segments) if found.sample.has_outputs else ("", "")
    if not out and _never_moves(sides):
        out = "no error changes its score"
    if out:
        found.out[spec] = out
    pairs, read = (sum(map(len, each)) for each in (trials, [looked_at(suite, built) for suite in trials]))
    few = "" if read == pairs else f"it looked at {read} of {pairs} pairs with an error or a change: sources are long"
    if told or few:
        found.told[spec] = "; ".join(filter(None, (found.told.get(spec, ""), told, few)))
    found.about.append(described(spec, built, scores.signature, count(scores.flags, scores.values)))
    found.notes += [f"{spec}: {note}" for note in built.notes]
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
            found.evidence.append(CriterionShare.of(spec, OWN, made, source))


def _never_moves(sides: Sequence[Sides | None]) -> bool:
    """Whether no pair of texts with a known order changes the score."""
    margins = [one.margin for one in sides if one is not None]
    return bool(margins) and all(not np.nan_to_num(margin).any() for margin in margins)


def _together(found: Measured, seed: int, runtime: Runtime) -> None:
    """What is about all metrics together: those alike, the public sets, and the texts themselves."""
    left = found.left
    found.alike = alike({spec: found.scores[spec] for spec in left}, found.grid)
    profile = profile_of(found.sample, found.trials.task, runtime, found.scores.get("chrf"))
    found.language, found.sets = profile.language, nearest(profile)
    for spec in left:
        one = public_evidence(spec, found.sets, seed, found.encoder)
        if one is not None:
            found.evidence.append(one)
    found.notes += Looks(language="off").seen({}, found.sample.segments, is_paired=True).notes()


# --- Texts of the user's own that may show how a metric fails, by criterion, and what each metric says of them

OUTPUTS = "outputs"  # an output, and the same with an error
KINDS = (OUTPUTS, COPIES, HARMLESS, OWN, APART)  # what the two texts of a pool are
DIGITS = 6  # of a margin in deviations: what rounding leaves no processor changes
_RATED = 2000  # pairs of rated outputs that are looked through, those that people rate furthest apart


@dataclass(frozen=True)
class OrderedTexts:
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
class ScoredPool:
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
class TextPool:
    """All texts that may show one criterion, and what each metric says of them."""

    criterion: str
    texts: Sequence[OrderedTexts]
    scored: Mapping[str, ScoredPool]


def pools_of(found: Measured) -> list[TextPool]:
    """The texts of every criterion that has some."""
    pools = [*_people(found)]
    errors, copies = found.trials.errors, found.trials.copies
    if errors is not None:
        pools += [_of_suite(found, errors, 0, ERRORS + aspect, OUTPUTS, aspect) for aspect in ASPECTS]
    if copies is not None:
        pools.append(_of_suite(found, copies, 1, COPIES, COPIES, None))
    return [pool for pool in (*pools, *_harmless(found), *_apart(found)) if pool.texts]


def _of_suite(found: Measured, suite: Suite, number: int, criterion: str, of: str, aspect: str | None) -> TextPool:
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
            width = _width(sides.better, sides.worse)
            scored[spec] = _judged(better[places], worse[places], tried[places], sides.higher_is_better, width)
    texts = [
        # an error stands in the output, and a near-copy in the reference
        OrderedTexts(of, p.id, p.phenomenon, p.better, p.worse, _held(p) if of == COPIES else None, _held(p))
        for p in pairs
    ]
    return TextPool(criterion, texts, scored)


def _held(pair: Pair) -> str | None:
    return pair.references[0] if pair.references else pair.source


def _spread(sides: Sides, n: int) -> tuple[Array, Array, Mask]:
    """The scores at the places of the pairs in a suite of n, and where there are some."""
    better, worse, tried = np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, dtype=np.bool_)
    where = list(sides.places)
    better[where], worse[where], tried[where] = sides.better, sides.worse, True
    return better, worse, tried


def _width(*scores: Array) -> float:
    """The deviation of all scores, the unit of margins; 1 where there is none."""
    every = np.concatenate(scores)
    return float(np.nanstd(every)) or 1.0 if not np.isnan(every).all() else 1.0


def _judged(better: Array, worse: Array, tried: Mask, higher_is_better: bool, width: float) -> ScoredPool:
    """A metric fails where the better text does not score higher, or a score is undefined."""
    far = (better - worse) * (1 if higher_is_better else -1) / width
    return ScoredPool(better, worse, tried, tried & ~(far > 0), far)


def _harmless(found: Measured) -> Iterator[TextPool]:
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
        texts.append(OrderedTexts(HARMLESS, error.id, names, same.worse, error.worse, same.better, _held(same)))
    scored = {}
    for spec in found.left:
        sides = found.sides[spec][0]
        if sides is not None and both:
            _, changed, tried = _spread(sides, len(suite))
            one, other = (np.array([pair[k] for pair in both]) for k in (0, 1))
            width = _width(sides.better, sides.worse)
            known = tried[one] & tried[other] & ~np.isnan(changed[one] + changed[other])  # the others do not count
            scored[spec] = _judged(changed[one], changed[other], known, sides.higher_is_better, width)
    yield TextPool(HARMLESS, texts, scored)


def _people(found: Measured) -> Iterator[TextPool]:
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
        scored[spec] = _judged(better, worse, known, scores.higher_is_better, _width(scores.values))
    yield TextPool(OWN, texts, scored)


def _apart(found: Measured) -> Iterator[TextPool]:
    """Outputs of two systems for one item that a metric orders against the scores of the two systems."""
    grid = found.grid
    if grid is None or found.sample.are_copies:
        return
    segments = found.sample.segments
    n = len(grid.systems)
    pairs = [(a, b, i) for a in range(n) for b in range(a + 1, n) for i in range(grid.places.shape[1])]
    texts = [_two(APART, segments[grid.places[a, i]], segments[grid.places[b, i]], None) for a, b, i in pairs]
    scored = {}
    one, other = (np.array([grid.places[pair[k], pair[2]] for pair in pairs], dtype=np.int64) for k in (0, 1))
    for spec in found.left:
        scores = found.scores[spec]
        whole = system_scores(scores, grid)
        ahead = np.array([np.sign(whole[a] - whole[b]) for a, b, _ in pairs])
        gaps = scores.values[one] - scores.values[other]
        far = ahead * gaps / _width(scores.values)
        scored[spec] = ScoredPool(scores.values[one], scores.values[other], ~np.isnan(far), far < 0, far)
    yield TextPool(APART, texts, scored)


def _two(of: str, one: Segment, other: Segment, ratings: tuple[float, float] | None) -> OrderedTexts:
    held = one.references[0] if one.references else one.source
    shared = held if one.references[:1] == other.references[:1] and one.source == other.source else None
    return OrderedTexts(of, one.id, None, one.hypothesis, other.hypothesis, None, shared, (one, other), ratings)


# --- Where does a metric fail on these texts? For each share that is measured, texts of the user's own that show it

_MOST = 5  # examples of errors that a recommended metric misses


@dataclass(frozen=True, eq=False)
class FailureExample:
    """Texts that show why a share is not 1.

    Attributes:
        name: `e1`, `e2` and so on.
        criterion: the share.
        texts: the two texts.
        scores: metric -> its scores of the better and the worse text, and whether it fails.
    """

    name: str
    criterion: str
    texts: OrderedTexts
    scores: Mapping[str, tuple[float, float, bool]]

    def rows(self) -> Iterator[dict[str, Any]]:
        """The texts, then a flat object for each metric that was tried on them."""
        texts = self.texts
        ratings = texts.ratings or (None, None)
        ids = [None, None] if texts.outputs is None else [s.id for s in texts.outputs]
        systems = [None, None] if texts.outputs is None else [s.system for s in texts.outputs]
        yield {
            **{"said": "example", "example": self.name, "shows": self.criterion, "of": texts.of, "id": texts.id},
            **{"phenomenon": texts.phenomenon, "reference": texts.reference, "original": texts.original},
            **{"better": texts.better, "worse": texts.worse},
            **{"id_better": ids[0], "id_worse": ids[1], "system_better": systems[0], "system_worse": systems[1]},
            **{"rating_better": ratings[0], "rating_worse": ratings[1]},
        }
        for spec, (better, worse, missed) in self.scores.items():
            yield {
                **{"said": "scores", "example": self.name, "metric": spec},
                **{"score_better": better, "score_worse": worse, "missed": missed},
            }


@dataclass
class Examples:
    """The examples that were chosen, in their order, and where they are found again."""

    pools: Sequence[TextPool]
    chosen: list[FailureExample] = field(default_factory=list)
    _names: dict[tuple[int, int], str] = field(default_factory=dict)  # pool and place -> example

    def add(self, pool: TextPool, place: int) -> str:
        """The name of the example of these texts, which is new or chosen already."""
        key = self.pools.index(pool), place
        if key not in self._names:
            name = self._names[key] = f"e{len(self.chosen) + 1}"
            scores = {
                spec: (float(one.better[place]), float(one.worse[place]), bool(one.missed[place]))
                for spec, one in pool.scored.items()
                if one.tried[place]
            }
            self.chosen.append(FailureExample(name, pool.criterion, pool.texts[place], scores))
        return self._names[key]

    def show(self, pool: TextPool, spec: str, where: Callable[[OrderedTexts], bool] = lambda texts: True) -> str | None:
        """A failure of a metric: one that is chosen already, or else the clearest; None if it has none."""
        places = [i for i in clearest_first(pool, spec) if where(pool.texts[i])]
        number = self.pools.index(pool)
        known = [(int(name[1:]), name) for i in places if (name := self._names.get((number, i)))]
        if known:
            return min(known)[1]
        return self.add(pool, places[0]) if places else None

    def of(self, spec: str, *criteria: str) -> str | None:
        """The first example that is chosen and shows how a metric fails under one of some criteria."""
        for one in self.chosen:
            if (not criteria or one.criterion in criteria) and one.scores.get(spec, (0, 0, False))[2]:
                return one.name
        return None

    def of_phenomenon(self, spec: str, phenomenon: str) -> str | None:
        """An error of a kind, put into an output, that a metric misses."""
        for pool in self.pools:
            if pool.criterion.startswith(ERRORS):
                name = self.show(pool, spec, lambda texts: texts.phenomenon == phenomenon)
                if name is not None:
                    return name
        return None

    def beyond(self, first: str, second: str) -> str | None:
        """An error that the first metric misses and the second sees, the clearest; None if there is none."""
        seen = []
        for number, pool in enumerate(self.pools):
            one, other = pool.scored.get(first), pool.scored.get(second)
            is_error = pool.criterion == COPIES or pool.criterion.startswith(ERRORS)
            if is_error and one is not None and other is not None:
                for i in np.flatnonzero(one.missed & other.tried & ~other.missed).tolist():
                    seen.append((-round(float(other.far[i]), DIGITS), number, i))
        if not seen:
            return None
        _, number, place = min(seen)
        return self.add(self.pools[number], place)


def clearest_first(pool: TextPool, spec: str) -> list[int]:
    """Places of the texts that a metric fails on: first those that most others see, of these the worst failures.

    What no metric sees may be no error: one that is put into a wrong output may mend it.
    """
    one = pool.scored.get(spec)
    if one is None:
        return []
    others = np.sum([scored.tried & ~scored.missed for scored in pool.scored.values()], axis=0)
    far = np.round(np.nan_to_num(one.far, nan=0.0), DIGITS)
    return sorted(np.flatnonzero(one.missed).tolist(), key=lambda i: (-others[i], far[i], i))


def examples_of(found: Measured, chosen: Sequence[str], ranked: Sequence[str]) -> Examples:
    """Examples of failures: errors that the recommended metrics miss, then one of each metric under each criterion.

    Metrics that fail on the same texts share an example, so that there are few.

    Args:
        found: the evidence.
        chosen: the recommended metrics.
        ranked: all metrics that are not ruled out, the best first.
    """
    made = Examples(pools_of(found))
    for spec in chosen:
        # one of each kind of error in turn, then near-copies, which are few in practice
        outputs = [pool for pool in made.pools if pool.criterion.startswith(ERRORS)]
        turns = zip_longest(*(clearest_first(pool, spec)[:_MOST] for pool in outputs))
        clear = [(pool, i) for turn in turns for pool, i in zip(outputs, turn, strict=True) if i is not None]
        clear += [(pool, i) for pool in made.pools if pool.criterion == COPIES for i in clearest_first(pool, spec)]
        for pool, i in clear[:_MOST]:
            made.add(pool, i)
    for pool in made.pools:
        for spec in ranked:
            made.show(pool, spec)
    return made
