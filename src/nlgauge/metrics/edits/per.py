"""PER: the words that lack a counterpart, wherever it stands. An error rate: lower is better."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from nlgauge.core.scores import MetricInfo
from nlgauge.metrics.edits.counting import WordMetric


@dataclass(frozen=True, kw_only=True)
class Per(WordMetric):
    """Position-independent error rate: (the longer length - words in common) over the words of the reference.

    References:
        Tillmann et al. (1997), "Accelerated DP based search for statistical translation": words without a counterpart
        are replacements, and what one side has more is inserted or deleted.
    """

    info: ClassVar = MetricInfo(
        "per",
        range=(0.0, float("inf")),
        higher_is_better=False,
        summary="word edits per reference word, whatever the order",
        tasks={"mt", "d2t"},
        paper='Tillmann et al. (1997), "Accelerated DP based search for statistical translation"',
    )

    def count(self, hypothesis: list[str], reference: list[str]) -> tuple[float, ...]:
        """Errors, and words of the reference."""
        common = (Counter(hypothesis) & Counter(reference)).total()
        return max(len(hypothesis), len(reference)) - common, len(reference)
