"""ITER: TER over stems, as a share of the longer text. An error rate: lower is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.scores import MetricInfo
from nlgauge.metrics.edits.counting import WordMetric
from nlgauge.metrics.lexical.shifts import TooLong, edits_with_shifts
from nlgauge.text.porter import stem


@dataclass(frozen=True, kw_only=True)
class Iter(WordMetric):
    """Edits with shifts between stems, over the words of the longer text; at most 1.

    Args:
        lowercase: compare in lower case, as TER does.

    References:
        Panja and Naskar (2018), "ITER: Improving Translation Edit Rate through Optimizable Edit Costs", adds stem
        matching, costs that are tuned on ratings, and a normalisation by which the rate ends at 1. This is the metric
        without tuning: every edit and shift costs 1, a match of stems nothing. The stemmer is Porter's, for English;
        words with capitals or letters beyond ASCII are compared as they are.
    """

    lowercase: bool = True
    info: ClassVar = MetricInfo(
        "iter",
        higher_is_better=False,
        summary="word edits with shifts between stems, per word of the longer text",
        tasks={"mt"},
        paper='Panja and Naskar (2018), "ITER: Improving Translation Edit Rate through Optimizable Edit Costs"',
        flags={"too_long"},
    )

    def words(self, text: str) -> list[str]:
        """The stems of a text."""
        return [stem(word) if word.isascii() and word.lower() == word else word for word in super().words(text)]

    def count(self, hypothesis: list[str], reference: list[str]) -> tuple[float, ...]:
        """Edits and shifts, and words of the longer text; NaN if the texts are too long for the search."""
        longer = max(len(hypothesis), len(reference))
        try:
            return edits_with_shifts(hypothesis, reference), longer
        except TooLong:
            return np.nan, longer

    def corpus(self, totals: Array) -> Array:
        """ITER of summed counts: shape (..., 2) to (...)."""
        edits, words = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        return np.asarray(np.where(words > 0, np.minimum(edits / np.maximum(words, 1), 1.0), 1.0))
