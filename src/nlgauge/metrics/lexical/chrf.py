"""chrF: F score of character n-grams; with word n-grams chrF+ and chrF++."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import SpecError
from nlgauge.core.metric import BaseMetric
from nlgauge.core.options import Range, checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores
from nlgauge.core.segment import Segment
from nlgauge.core.spec import version
from nlgauge.metrics.base import check_needs, scores_of_stats
from nlgauge.metrics.lexical import sacre
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing

_EPSILON = 1e-16  # sacrebleu's, for an order that one side is too short for


@dataclass(frozen=True, kw_only=True)
class ChrF(BaseMetric):
    """chrF as sacrebleu computes it; its options under its names. `word_order=2` is chrF++.

    Args:
        char_order: longest character n-gram; 0 leaves characters out.
        word_order: longest word n-gram.
        beta: how many times recall counts as much as precision.
        lowercase: compare in lower case.
        whitespace: count blanks as characters (in a text of nothing else they are no characters: it scores 0).
        eps_smoothing: average the F of all orders, missing ones near 0, as chrF++.py, NLTK and Moses do; otherwise
            precision and recall are averaged over the orders that both sides reach.

    References:
        Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation"; Popović (2017), "chrF++: words
        helping character n-grams". Of several references the one with the best F counts, segment by segment.
    """

    char_order: Annotated[int, Range(least=0)] = 6
    word_order: Annotated[int, Range(least=0)] = 0
    beta: Annotated[int, Range(least=0)] = 2
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False
    info: ClassVar = MetricInfo(
        "chrf",
        range=(0.0, 100.0),
        summary="F score of character n-grams",
        tasks=TASKS,
        paper='Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation"',
    )

    def __post_init__(self) -> None:
        checked(self)
        if self.char_order + self.word_order == 0:
            raise SpecError("chrf:char_order and word_order are both 0, expected at least one n-gram to count")
        if not self.char_order:
            paper = 'Popović (2016), "chrF deconstructed: β parameters and n-gram weights"'
            about = replace(self.info, summary="F score of word n-grams", tasks={"mt"}, paper=paper)
            object.__setattr__(self, "info", about)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """sacrebleu's version."""
        return {"sacrebleu": version("sacrebleu")}

    def unread(self, writing: Writing) -> str | None:
        """Whether texts without blanks would count as single words, where nothing but words is counted."""
        if writing.spaced or self.char_order:
            return None
        return "wordf splits words at blanks, of which they have few; take chrf, which counts characters"

    def peer_signature(self, references: Collection[int]) -> str | None:
        """sacrebleu's signature, where it names every option that was changed."""
        return sacre.signature(self._scorer(), references) if self.beta == 2 else None

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 100; `stats` are (produced, in the reference, matched) for each order.

        A blank side scores 0 and raises the flag `empty`.
        """
        check_needs(self, segments)
        stats = sacre.statistics(self._scorer(), segments, 3 * self._orders, runtime, "chrf")
        flags = {"empty": sacre.is_empty(segments)}
        return scores_of_stats(self, segments, runtime, stats, flags)

    def corpus(self, totals: Array) -> Array:
        """chrF of summed statistics: shape (..., 3 * (char_order + word_order)) to (...), in 0 to 100."""
        totals = sacre.floats(totals)
        factor = self.beta**2
        zero = np.zeros(totals.shape[:-1], dtype=totals.dtype)
        score, precision_sum, recall_sum, shared = zero, zero, zero, zero
        with np.errstate(divide="ignore", invalid="ignore"):
            for order in range(
                self._orders
            ):  # in sacrebleu's order of additions, to repeat its last digits in float32 too
                produced, wanted, matched = (totals[..., 3 * order + i] for i in range(3))
                precision = np.where(produced > 0, matched / produced, _EPSILON).astype(totals.dtype)
                recall = np.where(wanted > 0, matched / wanted, _EPSILON).astype(totals.dtype)
                if self.eps_smoothing:
                    denominator = factor * precision + recall
                    score = score + np.where(
                        denominator > 0, (1 + factor) * precision * recall / denominator, _EPSILON
                    ).astype(totals.dtype)
                    continue
                both = (produced > 0) & (wanted > 0)
                precision_sum = precision_sum + np.where(both, precision, 0)
                recall_sum = recall_sum + np.where(both, recall, 0)
                shared = shared + both
            if self.eps_smoothing:
                return np.asarray(100 * score / self._orders)
            precision, recall = precision_sum / np.maximum(shared, 1), recall_sum / np.maximum(shared, 1)
            score = (1 + factor) * precision * recall / (factor * precision + recall)
        return np.asarray(np.where(precision + recall > 0, 100 * score, 0).astype(totals.dtype))

    @property
    def _orders(self) -> int:
        return self.char_order + self.word_order

    def _scorer(self) -> Any:
        return sacre.chrf_scorer(
            char_order=self.char_order,
            word_order=self.word_order,
            beta=self.beta,
            lowercase=self.lowercase,
            whitespace=self.whitespace,
            eps_smoothing=self.eps_smoothing,
        )
