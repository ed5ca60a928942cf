"""CIDEr: cosines of n-gram counts that are weighted by how few items' references have the n-gram."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Annotated, Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Mask
from nlgauge.core.errors import InputError
from nlgauge.core.metric import signature_of
from nlgauge.core.options import Range
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.lexical.ngrams.words import Gram, WordMetric, Words, WordTokenizer, grams, measured
from nlgauge.runtime.pool import Counts, Term
from nlgauge.runtime.runtime import Runtime

_SCALE = 10.0
_Documents = tuple[tuple[str, ...], ...]  # the references of each segment


@dataclass(frozen=True)
class _Vector:
    """The weighted counts of a text: for each order n-gram -> weight and the norm; and its number of pairs of words."""

    weights: list[dict[Gram, float]]
    norms: list[float]
    length: int


@dataclass(frozen=True)
class _Rarity:
    """log(N / df) of n-grams; log(N) of those that no reference has. Those that were asked for are kept."""

    of: Mapping[Term, int]
    unseen: float
    known: dict[Gram, float] = field(default_factory=dict)

    def vector(self, counts: Sequence[Counter[Gram]]) -> _Vector:
        known, of, unseen = self.known, self.of, self.unseen
        for order in counts:
            for gram in order:
                if gram not in known:
                    known[gram] = unseen - math.log(of.get(gram, 1))
        weights = [{gram: n * known[gram] for gram, n in order.items()} for order in counts]
        norms = [math.sqrt(sum([w * w for w in order.values()])) for order in weights]
        return _Vector(weights, norms, max(counts[0].total() - 1, 0))


@dataclass(frozen=True, kw_only=True)
class Cider(WordMetric):
    """CIDEr as pycocoevalcap computes it from the same words, which is the formula of CIDEr-D.

    Args:
        max_ngram_order: longest n-gram counted.
        sigma: how far two texts may differ in length: standard deviation, in words, of the factor for it. None leaves
            the factor out.
        clip: an n-gram counts no more often than in the reference.

    References:
        Vedantam et al. (2015), "CIDEr: Consensus-based Image Description Evaluation"; the formula without `clip` and
        `sigma` is the paper's CIDEr, with both its CIDEr-D. The cosines with several references are averaged. An item's
        references are one document; the documents are those of all segments of a system.
    """

    tokenizer: WordTokenizer = "unicode"
    max_ngram_order: Annotated[int, Range(least=1)] = 4
    sigma: Annotated[float, Range(above=0)] | None = 6.0
    clip: bool = True
    pooled: ClassVar = True
    rounds: ClassVar = 1
    info: ClassVar = MetricInfo(
        "cider",
        range=(0.0, _SCALE),
        summary="cosine of n-gram counts weighted by rarity, with a penalty for length",
        tasks={"ic", "d2t"},
        paper='Vedantam et al. (2015), "CIDEr: Consensus-based Image Description Evaluation"',
    )

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """Over what the rarity of n-grams is counted."""
        return {**super().facts(runtime), "pool": "system"}

    def refuse(self, segments: Sequence[Segment]) -> None:
        """Refuse a system with one segment: every n-gram of its references would weigh nothing."""
        for system, n in Counter(segment.system for segment in segments).items():
            self._check(system, n)

    def _check(self, system: str | None, n: int) -> None:
        if n < 2:
            of = "" if system is None else f" of system {system!r}"
            raise InputError(
                f"{self.info.name} needs at least two segments{of}, found {n}: from one, every n-gram of its"
                " references weighs nothing; score more segments in one call"
            )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 10; the corpus number is their mean.

        A side without words scores 0. It raises the flag `empty` if it is blank, and else `untokenized`.

        Raises:
            InputError: a system has one segment only, so that every n-gram of its references weighs nothing.
        """
        check_needs(self, segments, runtime)
        values = np.zeros(len(segments))
        flags: dict[str, Mask] = {name: np.zeros(len(segments), dtype=np.bool_) for name in ("empty", "untokenized")}
        places: dict[str | None, list[int]] = {}
        for place, segment in enumerate(segments):
            places.setdefault(segment.system, []).append(place)
        counter = _Counter(self.splitter(), self.max_ngram_order)
        documents = {system: tuple(segments[i].references for i in where) for system, where in places.items()}
        rarities = self._rarities(counter, documents, runtime)
        for system, where in places.items():
            mine, rarity = [segments[place] for place in where], rarities[system]

            def prepare(references: Sequence[Words], rarity: _Rarity = rarity) -> tuple[_Rarity, list[_Vector]]:
                return rarity, [rarity.vector(counter.counts(words)) for words in references]

            rows, raised = measured(mine, 1, runtime, "cider", counter.split, prepare, partial(self._mean, counter))
            values[where] = rows[:, 0]
            for name, flag in raised.items():
                flags[name][where] = flag
        return Scores(signature_of(self, runtime), ids(segments), values, flags=flags)

    def _rarities(
        self, counter: _Counter, documents: Mapping[str | None, _Documents], runtime: Runtime
    ) -> dict[str | None, _Rarity]:
        """Of each system, over its segments in the call, or in the pool that the call is a part of."""
        if runtime.pool is None:
            return {system: counter.rarity(counter.frequencies(mine)) for system, mine in documents.items()}
        own = signature_of(self, runtime)
        wanted = {
            f"n-grams of references of system {system!r}: {own}": partial(counter.frequencies, mine)
            for system, mine in documents.items()
        }
        found = dict(zip(documents, runtime.pool.counts(wanted), strict=True))
        for system, counted in found.items():
            self._check(system, counted.n)
        return {system: counter.rarity(counted) for system, counted in found.items()}

    def _mean(self, counter: _Counter, hypothesis: Words, prepared: tuple[_Rarity, list[_Vector]]) -> float:
        rarity, references = prepared
        vector = rarity.vector([grams(hypothesis, order) for order in counter.orders])
        return _SCALE * sum(self._cosine(vector, r) for r in references) / len(references)

    def _cosine(self, hypothesis: _Vector, reference: _Vector) -> float:
        """The mean over the orders; an order in which one side has no weight counts 0."""
        total = 0.0
        for ours, theirs, own, other in zip(
            hypothesis.weights, reference.weights, hypothesis.norms, reference.norms, strict=True
        ):
            if own and other:
                shared = [(ours[gram], theirs[gram]) for gram in ours.keys() & theirs.keys()]
                product = math.fsum([min(h, r) * r if self.clip else h * r for h, r in shared])
                total += product / (own * other)
        if self.sigma is not None:
            total *= math.exp(-((hypothesis.length - reference.length) ** 2) / (2 * self.sigma**2))
        return total / len(hypothesis.weights)


class _Counter:
    """The n-grams of references, each counted once, and how rare they are among the documents of a system."""

    def __init__(self, split: Callable[[str], Words], max_order: int) -> None:
        self.split, self.orders = cache(split), range(1, max_order + 1)
        self._counts: dict[Words, list[Counter[Gram]]] = {}
        self._frequencies: dict[_Documents, Counts] = {}  # most systems have the same references
        self._rarities: dict[int, tuple[Counts, _Rarity]] = {}

    def counts(self, words: Words) -> list[Counter[Gram]]:
        """The n-grams of a reference, by order."""
        if words not in self._counts:
            self._counts[words] = [grams(words, order) for order in self.orders]
        return self._counts[words]

    def frequencies(self, documents: _Documents) -> Counts:
        """In how many documents n-grams are; a document is the references of a segment."""
        if documents not in self._frequencies:
            frequency: Counter[Term] = Counter()
            for document in documents:
                frequency.update({g for text in document for order in self.counts(self.split(text)) for g in order})
            self._frequencies[documents] = Counts(len(documents), frequency)
        return self._frequencies[documents]

    def rarity(self, counted: Counts) -> _Rarity:
        """How rare n-grams are."""
        if id(counted) not in self._rarities:
            self._rarities[id(counted)] = counted, _Rarity(counted.of, math.log(counted.n))
        return self._rarities[id(counted)][1]
