"""PARENT: n-grams of a text that a reference or the records behind it support, and records that the text mentions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from rapidfuzz.distance import LCSseq

from nlgauge.core.metric import signature_of
from nlgauge.core.options import Range
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.lexical import sacre
from nlgauge.metrics.lexical.ngrams.records import values_of_source, values_of_table
from nlgauge.metrics.lexical.ngrams.words import Gram, WordMetric, Words, grams
from nlgauge.runtime.runtime import Runtime

_LITTLE = 1e-5  # in place of a precision or recall of 0
_NO_DIVISION_BY_0 = 1e-8
_PARTS = ("precision", "recall", "reference")
_INFO = MetricInfo(
    "parent",
    needs={"references", "table"},
    copy_is_best=False,
    summary="n-grams supported by reference or records, and records mentioned; records that no reference says count",
    tasks={"d2t"},
    paper='Dhingra et al. (2019), "Handling Divergent Reference Texts when Evaluating Table-to-Text Generation"',
)


@dataclass(frozen=True, kw_only=True)
class Parent(WordMetric):
    """PARENT with the word-overlap model, as the authors' program computes it from the same words.

    Args:
        max_ngram_order: longest n-gram counted.
        weight: how much the recall of records counts against that of the reference, the paper's lambda. None takes
            the share of the records that the reference leaves out, as the paper's section 3.3 proposes.
        records: where the records are: in `table`, or written in one line in `source`.

    References:
        Dhingra et al. (2019), "Handling Divergent Reference Texts when Evaluating Table-to-Text Generation". Of several
        references the one with the best F score counts. Unlike in the program, a reference without words scores 0:
        there it would be a perfect match in recall.
    """

    lowercase: bool = True
    max_ngram_order: Annotated[int, Range(least=1)] = 4
    weight: Annotated[float, Range(least=0, most=1)] | None = 0.5
    records: Literal["table", "source"] = "table"
    info: ClassVar = _INFO
    lacking: ClassVar = {"table": "; if its source holds the records, take parent:records=source"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.records == "source":
            object.__setattr__(self, "info", replace(_INFO, needs={"references", "source"}))

    def refuse(self, segments: Sequence[Segment]) -> None:
        """Refuse records in a form that is not known."""
        for segment in segments:
            self._values(segment)

    def _values(self, segment: Segment) -> tuple[str, ...]:
        return values_of_table(segment) if self.records == "table" else values_of_source(segment)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1, the F score; parts `precision`, `recall` and `reference`, the index of the best one.

        The corpus number is the mean. A side without words, or no record with a word, raises the flag `empty` if it
        is blank, and else `untokenized`; without words of hypothesis or reference the value is 0.
        """
        check_needs(self, segments)
        split, known = self.splitter(), {}
        rows = np.zeros((len(segments), 1 + len(_PARTS)))  # (n, 4)
        empty, wordless = sacre.is_empty(segments), np.zeros(len(segments), dtype=np.bool_)
        with runtime.progress(len(segments), "parent") as advance:
            for place, segment in enumerate(segments):
                values = self._values(segment)
                key = segment.hypothesis, segment.references, values
                if key not in known:
                    listed = [words for words in map(split, values) if words]
                    hypothesis, references = split(segment.hypothesis), [split(r) for r in segment.references]
                    lost = not hypothesis or not any(references) or not listed
                    known[key] = self._best(hypothesis, references, listed), lost
                rows[place], wordless[place] = known[key]
                advance(1)
        parts = {name: np.ascontiguousarray(rows[:, i]) for i, name in enumerate(_PARTS, start=1)}
        flags = {"empty": empty, "untokenized": wordless & ~empty}
        return Scores(signature_of(self, runtime), ids(segments), rows[:, 0], parts, flags=flags)

    def _best(
        self, hypothesis: Words, references: Sequence[Words], records: Sequence[Words]
    ) -> tuple[float, float, float, int]:
        """F score, precision and recall against the best reference, and which it is."""
        said = {word for record in records for word in record}
        ours = [_weighed(hypothesis, order, said) for order in range(1, self.max_ngram_order + 1)]
        mentioned = _mentioned(records, hypothesis)
        singles = [self._single(ours, reference, records, said, mentioned) for reference in references]
        place = max(range(len(singles)), key=lambda i: singles[i][0])
        return *singles[place], place

    def _single(
        self,
        ours: Sequence[_Weighed],
        reference: Words,
        records: Sequence[Words],
        said: Set[str],
        mentioned: float,
    ) -> tuple[float, float, float]:
        if not reference or not ours[0].counts:
            return 0.0, 0.0, 0.0
        precisions, recalls = [], []
        for order, mine in enumerate(ours, start=1):
            theirs = _weighed(reference, order, said)
            precisions.append(_precision(mine, theirs.counts))
            recalls.append(_recall(theirs, mine.counts))
        precision = _geometric_mean(precisions)
        weight = 1 - _mentioned(records, reference) if self.weight is None else self.weight
        of_reference = _geometric_mean(recalls) or _LITTLE
        recall = of_reference ** (1 - weight) * (mentioned or _LITTLE) ** weight
        return 2 * precision * recall / (precision + recall + _NO_DIVISION_BY_0), precision, recall


@dataclass(frozen=True)
class _Weighed:
    """N-grams of one order: how often each occurs, and the share of its words that the records have."""

    counts: Counter[Gram]
    shares: dict[Gram, float]


def _weighed(words: Words, order: int, said: Set[str]) -> _Weighed:
    counts = grams(words, order)
    return _Weighed(counts, {gram: sum(word in said for word in gram) / order for gram in counts})


def _precision(ours: _Weighed, theirs: Counter[Gram]) -> float:
    """Words of the reference count whole, others as far as the records have them."""
    total = ours.counts.total()
    found = 0.0
    for gram, count in ours.counts.items():
        matched = min(count, theirs[gram])
        found += matched + (count - matched) * ours.shares[gram]
    return found / total if total else 0.0


def _recall(theirs: _Weighed, ours: Counter[Gram]) -> float:
    """Only what the records have counts."""
    total = sum(count * theirs.shares[gram] for gram, count in theirs.counts.items())
    found = sum(min(count, ours[gram]) * theirs.shares[gram] for gram, count in theirs.counts.items())
    return found / total if total else 1.0


def _mentioned(records: Sequence[Words], words: Words) -> float:
    """The mean share of a record's words that a text has in the same order."""
    return sum(LCSseq.similarity(r, words) / len(r) for r in records) / len(records) if records else 0.0


def _geometric_mean(shares: Sequence[float]) -> float:
    """Of the orders; 0 if no single word matches, while a longer n-gram that has no match counts little."""
    if shares[0] == 0:
        return 0.0
    return math.exp(math.fsum(math.log(share or _LITTLE) for share in shares) / len(shares))
