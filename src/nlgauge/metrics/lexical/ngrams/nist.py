"""NIST: n-gram precision in which rare n-grams of the references count more."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Literal, cast

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.metric import signature_of
from nlgauge.core.options import Range
from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import check_needs, scores_of_stats
from nlgauge.metrics.lexical.ngrams.words import Gram, WordMetric, Words, grams, measured
from nlgauge.runtime.pool import Counts, Term
from nlgauge.runtime.runtime import Runtime

_HALF_AT = math.log(1.5)  # the penalty is 1/2 where the references have one and a half times the words
_BETA = math.log(0.5) / _HALF_AT**2


@dataclass(frozen=True)
class _Reference:
    grams: list[Counter[Gram]]  # of each order from 1
    length: int


@dataclass(frozen=True)
class _Information:
    """How much an n-gram tells: the binary logarithm of how rarely its first n - 1 words go on with its last."""

    counts: Mapping[Gram, int]
    n_words: int

    def weigh(self, matched: Counter[Gram]) -> float:
        return sum(self.of(gram) * count for gram, count in matched.items())

    def of(self, gram: Gram) -> float:
        return math.log((self.counts[gram[:-1]] if len(gram) > 1 else self.n_words) / self.counts[gram], 2)


@dataclass(frozen=True, kw_only=True)
class Nist(WordMetric):
    """NIST as nltk computes it from the same words.

    The corpus number weighs n-grams by the references of all segments of the call, as `corpus_nist` does.

    Args:
        max_ngram_order: longest n-gram counted.
        information: the references that weigh the n-grams of a segment's value: its own (`segment`, nltk's
            `sentence_nist`) or all of the call (`call`).

    References:
        Doddington (2002), "Automatic Evaluation of Machine Translation Quality Using N-gram Co-Occurrence Statistics",
        section 3. Of several references each order takes the one with the best precision, as in nltk.
    """

    max_ngram_order: Annotated[int, Range(least=1)] = 5
    information: Literal["segment", "call"] = "segment"
    pooled: ClassVar = True  # the corpus number always, and under `call` the values
    rounds: ClassVar = 1
    info: ClassVar = MetricInfo(
        "nist",
        range=(0.0, float("inf")),
        copy_is_best=False,
        summary="n-gram precision weighted by information; a shorter text of rarer n-grams can beat a copy",
        tasks={"mt", "d2t", "qg"},
        paper=(
            'Doddington (2002), "Automatic Evaluation of Machine Translation Quality Using N-gram Co-Occurrence'
            ' Statistics"'
        ),
    )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of 0 or more; `stats` are (information matched, n-grams) of each order, then words of both sides.

        A side without words scores 0. It raises the flag `empty` if it is blank, and else `untokenized`.
        """
        check_needs(self, segments)
        split = self.splitter()
        prepared = {refs: [self._reference(split(r)) for r in refs] for refs in {s.references for s in segments}}
        call = self._of_call([r for s in segments for r in prepared[s.references]], runtime)

        def rows(call: _Information | None) -> tuple[Array, dict[str, Mask]]:
            k = 2 * self.max_ngram_order + 2
            return measured(segments, k, runtime, "nist", split, self._references, partial(self._row, call))

        stats, flags = rows(call)
        values = self.corpus(stats if self.information == "call" else rows(None)[0])
        return scores_of_stats(self, segments, runtime, stats, flags, values)

    def corpus(self, totals: Array) -> Array:
        """NIST of summed statistics: shape (..., 2 * max_ngram_order + 2) to (...)."""
        totals = np.asarray(totals, dtype=np.float64)
        order = self.max_ngram_order
        information, produced = totals[..., : 2 * order : 2], totals[..., 1 : 2 * order : 2]  # (..., order)
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = np.where(produced > 0, information / produced, 0.0).sum(axis=-1)
            ratio = np.where(totals[..., -2] > 0, totals[..., -1] / totals[..., -2], 0.0)
            penalty = np.where(ratio < 1, np.exp(_BETA * np.log(ratio) ** 2), 1.0)
        return np.asarray(np.where(ratio > 0, precision * penalty, 0.0))

    def _of_call(self, references: Sequence[_Reference], runtime: Runtime) -> _Information:
        """The references of the call, or of the pool that it is a part of."""
        if runtime.pool is None:
            return _information(references)

        def gather() -> Counts:
            found = _information(references)
            return Counts(found.n_words, dict[Term, int](found.counts.items()))

        (counted,) = runtime.pool.counts({f"n-grams of references: {signature_of(self, runtime)}": gather})
        return _Information(cast(Mapping[Gram, int], counted.of), counted.n)

    def _reference(self, words: Words) -> _Reference:
        return _Reference([grams(words, order) for order in range(1, self.max_ngram_order + 1)], len(words))

    def _references(self, references: Sequence[Words]) -> tuple[list[_Reference], _Information]:
        counted = [self._reference(words) for words in references]
        return counted, _information(counted)

    def _row(
        self, call: _Information | None, hypothesis: Words, prepared: tuple[list[_Reference], _Information]
    ) -> list[float]:
        references, own = prepared
        information = own if call is None else call
        row: list[float] = []
        words = 0  # of the references chosen for each order
        for order in range(1, self.max_ngram_order + 1):
            produced = grams(hypothesis, order)
            n_produced = produced.total()
            weighed = [(information.weigh(produced & r.grams[order - 1]), r.length) for r in references]
            matched, length = max(weighed)
            row += [matched, n_produced]
            words += length
        return [*row, words, self.max_ngram_order * len(hypothesis)]


def _information(references: Sequence[_Reference]) -> _Information:
    counts: Counter[Gram] = Counter()
    for reference in references:
        for counted in reference.grams:
            counts.update(counted)
    return _Information(counts, sum(r.length for r in references))
