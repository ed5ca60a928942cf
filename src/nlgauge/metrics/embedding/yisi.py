"""YiSi without semantic roles: weighted precision and recall over tokens (YiSi-1) or over characters of words (0)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from typing import Annotated, Any, ClassVar

import numpy as np

from nlgauge.core.metric import BaseMetric, Documents, Policy, check_needs, over_references, signature_of
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.embedding import kernel
from nlgauge.metrics.embedding.kernel import Side
from nlgauge.metrics.embedding.points import MatchedPoints, Read, points_info
from nlgauge.metrics.embedding.vectors import IdfTable, first_references
from nlgauge.models.encoder import Encoder
from nlgauge.runtime.pool import Counts, Incidence
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.tokenize import best_shares, unicode_words

_PAPER = (
    'Lo (2019), "YiSi - a Unified Semantic MT Quality Evaluation and Estimation Metric for Languages with Different'
    ' Levels of Available Resources"'
)
Share = Annotated[float, Range(least=0, most=1)]


@dataclass(frozen=True, kw_only=True)
class YiSi1(MatchedPoints):
    """Weighted means of the best cosines of tokens, and their weighted harmonic mean; no semantic roles.

    Rare tokens count more, and recall more than precision. Each token takes its best cosine on the other side, but no
    special token takes part. The parts are `f`, `precision` and `recall`. With idf, the default, a score depends on the
    other references of the call; `idf=false` makes it stand alone. A copy scores 1; an empty side gets 0 in all three
    (flag `empty`). Lo (2019) used layer 9 of BERT base.

    Args:
        layer: the number of blocks to run, 0 for the embeddings; None is the last layer.
        alpha: the share of precision in the denominator of F = PR / (alpha P + (1 - alpha) R); the higher, the more
            recall counts.
        idf: weight a piece by log(1 + (N + 1) / (df + 1)), where df of the N first references of the call contain it;
            an item's counts once.
        references: with several references, `best` takes value and parts of that with the best value, `best_each` the
            best of each on its own, `mean` the means, `first` those of the first.

    References:
        Lo (2019), "YiSi", sections 2 and 3.1.
    """

    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    alpha: Share = 0.8
    idf: bool = True
    references: Policy = "best"
    info: ClassVar = points_info(
        "yisi1",
        range=(-1.0, 1.0),
        blank=0.0,
        tasks={"mt"},
        paper=_PAPER,
        summary="weighted precision and recall of token vectors, mostly recall (Lo 2019)",
    )
    columns: ClassVar = ("f", "precision", "recall")

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the references of the other segments."""
        return self.idf

    def documents(self, segments: Sequence[Segment]) -> list[Documents]:
        """The texts that idf is taken from."""
        return [first_references(segments)]

    def _layers(self, depth: int) -> tuple[int, ...]:
        return (self._one_layer(self.layer, depth, depth),)

    def _tables(self, pool: Sequence[Segment], encoder: Encoder, runtime: Runtime) -> IdfTable | None:
        return self._idf(self.documents(pool), encoder, runtime, least=1)[0] if self.idf else None

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: IdfTable | None) -> Side:
        pieces = read.ids[read.content]
        weights = np.ones(len(pieces))
        if tables is not None:
            weights = np.log1p(np.exp(tables.weights(pieces).astype(np.float64)))
        return Side(kernel.as_points([read.layers[0][read.content]], False), weights, pieces)

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        precision, recall = kernel.greedy(hypothesis, reference)
        return weighted_f(precision, recall, self.alpha), precision, recall


@dataclass(frozen=True, kw_only=True)
class YiSi0(Checked, BaseMetric):
    """YiSi over words, whose similarity is the share of their characters in the longest common substring.

    Words are runs of letters and digits in small letters; the best match of each is weighted and joined as in `yisi1`,
    with the same parts and the same dependence on the call by idf. The order of words does not count, and a negation
    costs next to nothing. An empty side gets 0 (flag `empty`), and so does one without a word (flag `untokenized`).

    Args:
        alpha: the share of precision in the denominator of F = PR / (alpha P + (1 - alpha) R); the higher, the more
            recall counts.
        idf: weight a word by log(1 + (N + 1) / (df + 1)), where df of the N first references of the call contain it;
            an item's counts once.
        references: with several references, `best` takes value and parts of that with the best value, `best_each` the
            best of each on its own, `mean` the means, `first` those of the first.

    References:
        Lo (2019), "YiSi", section 3.2. The similarity of words of a and b characters with a longest common substring of
        c is 2 c / (a + b).
    """

    alpha: Share = 0.8
    idf: bool = True
    references: Policy = "best"
    info: ClassVar = MetricInfo(
        "yisi0",
        tasks={"mt"},
        paper=_PAPER,
        summary="weighted precision and recall of words by common characters (Lo 2019)",
    )
    rounds: ClassVar = 1

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the references of the other segments."""
        return self.idf

    def documents(self, segments: Sequence[Segment]) -> list[Documents]:
        """The texts that idf is taken from."""
        return [first_references(segments)]

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The version of Unicode that says what a word is."""
        return {"unicode": unicodedata.unidata_version}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values from 0 to 1; parts `f`, `precision`, `recall`; flags `empty` and `untokenized`.

        A side without a word gets 0.

        Raises:
            InputError: a segment has no reference.
        """
        check_needs(self, segments)
        counts = self._counts(segments, runtime) if self.idf else None

        def weight(word: str) -> float:
            return 1.0 if counts is None else log1p((counts.n + 1) / (counts.of.get(word, 0) + 1))

        return over_references(segments, self.references, lambda single: self._score_single(single, weight, runtime))

    def _counts(self, segments: Sequence[Segment], runtime: Runtime) -> Counts:
        """In how many first references each word is: those of the call, or of the pool that it is a part of."""
        (first,) = self.documents(segments)

        def gather() -> Incidence:
            keys = [] if runtime.pool is None else first.keys()
            return Incidence.of(first.kind, keys, [dict.fromkeys(unicode_words(text)) for text in first.texts])

        if runtime.pool is None:
            return gather().counts([True] * len(first.texts))
        return runtime.pool.counts({f"words of {first.kind}": gather})[0]

    def _score_single(self, segments: Sequence[Segment], weight: Callable[[str], float], runtime: Runtime) -> Scores:
        found = np.zeros((len(segments), 3))
        untokenized = np.zeros(len(segments), dtype=np.bool_)
        empty = np.array([is_blank(s.hypothesis) or is_blank(s.references[0]) for s in segments], dtype=np.bool_)
        for i, segment in enumerate(segments):
            sides = [unicode_words(text) for text in (segment.hypothesis, segment.references[0])]
            untokenized[i] = empty[i] or not all(sides)
            if untokenized[i]:
                continue
            precision, recall = (
                float(np.average(best_shares(words, others), weights=[weight(word) for word in words]))
                for words, others in (sides, sides[::-1])
            )
            found[i] = weighted_f(precision, recall, self.alpha), precision, recall
        flags = {"empty": empty, "untokenized": untokenized}
        parts = dict(zip(("f", "precision", "recall"), found.T, strict=True))
        return Scores(signature_of(self, runtime), ids(segments), parts["f"], parts, flags=flags)


def weighted_f(precision: float, recall: float, alpha: float) -> float:
    """PR / (alpha P + (1 - alpha) R); 0 where P and R have opposite signs or one is 0."""
    return precision * recall / (alpha * precision + (1 - alpha) * recall) if precision * recall > 0 else 0.0
