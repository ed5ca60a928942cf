"""PER: the words that lack a counterpart, wherever it stands. An error rate: lower is better."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from nlgauge.metrics.edits.counting import WordMetric, error_rate


@dataclass(frozen=True, kw_only=True)
class Per(WordMetric):
    """Position-independent error rate: (the longer length - words in common) over the words of the reference.

    References:
        Tillmann et al. (1997), "Accelerated DP based search for statistical translation": words without a counterpart
        are replacements, and what one side has more is inserted or deleted.
    """

    info: ClassVar = error_rate(
        "per",
        "word edits per reference word, whatever the order",
        'Tillmann et al. (1997), "Accelerated DP based search for statistical translation"',
    )

    def count(self, hypothesis: list[str], reference: list[str]) -> tuple[float, ...]:
        """Errors, and words of the reference."""
        common = (Counter(hypothesis) & Counter(reference)).total()
        return max(len(hypothesis), len(reference)) - common, len(reference)
