"""GLEU: the smaller of n-gram precision and recall, over all orders together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import SpecError
from nlgauge.core.options import Range
from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import check_needs, scores_of_stats
from nlgauge.metrics.lexical.ngrams.words import Gram, WordMetric, Words, grams, measured
from nlgauge.runtime.runtime import Runtime


@dataclass(frozen=True, kw_only=True)
class Gleu(WordMetric):
    """Google-BLEU as nltk computes it from the same words.

    Args:
        min_ngram_order: shortest n-gram counted.
        max_ngram_order: longest n-gram counted.

    References:
        Wu et al. (2016), "Google's Neural Machine Translation System", section 9.3. Of several references the one with
        the best GLEU counts, segment by segment.
    """

    min_ngram_order: Annotated[int, Range(least=1)] = 1
    max_ngram_order: Annotated[int, Range(least=1)] = 4
    info: ClassVar = MetricInfo(
        "gleu",
        summary="the smaller of n-gram precision and recall",
        tasks={"mt"},
        paper='Wu et al. (2016), "Google\'s Neural Machine Translation System: Bridging the Gap"',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_ngram_order > self.max_ngram_order:
            raise SpecError(
                f"gleu:min_ngram_order is {self.min_ngram_order}, expected at most max_ngram_order, which is"
                f" {self.max_ngram_order}"
            )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; `stats` are (matched n-grams, n-grams of the longer side).

        A side without words scores 0. It raises the flag `empty` if it is blank, and else `untokenized`.
        """
        check_needs(self, segments)
        stats, flags = measured(
            segments, 2, runtime, "gleu", self.splitter(), lambda refs: [self._grams(r) for r in refs], self._best
        )
        return scores_of_stats(self, segments, runtime, stats, flags)

    def corpus(self, totals: Array) -> Array:
        """GLEU of summed statistics: shape (..., 2) to (...), in 0 to 1."""
        totals = np.asarray(totals, dtype=np.float64)
        return np.asarray(totals[..., 0] / np.maximum(totals[..., 1], 1))

    def _grams(self, words: Words) -> Counter[Gram]:
        counted: Counter[Gram] = Counter()
        for order in range(self.min_ngram_order, self.max_ngram_order + 1):
            counted.update(grams(words, order))
        return counted

    def _best(self, hypothesis: Words, references: Sequence[Counter[Gram]]) -> tuple[int, int]:
        produced = self._grams(hypothesis)
        n_produced = produced.total()
        pairs = [((produced & r).total(), max(n_produced, r.total())) for r in references]
        return max(pairs, key=lambda pair: pair[0] / max(pair[1], 1))
