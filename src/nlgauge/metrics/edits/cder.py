"""CDER: word edits in which a jump to any place of the hypothesis costs one. An error rate: lower is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.scores import MetricInfo
from nlgauge.metrics.edits.counting import WordMetric

_MOST = 2.0  # as many edits as words and a jump, where there is one word


@dataclass(frozen=True, kw_only=True)
class Cder(WordMetric):
    """Edits and long jumps that cover each reference word once, over the words of the reference.

    References:
        Leusch et al. (2006), "CDER: Efficient MT Evaluation Using Block Movements", section 3: every edit and jump
        costs 1, and the hypothesis need not be covered. The penalty on what is left uncovered, which the paper tries
        besides, is left out, as in Moses.
    """

    info: ClassVar = MetricInfo(
        "cder",
        range=(0.0, _MOST),
        higher_is_better=False,
        summary="word edits and jumps per reference word",
        tasks={"mt"},
        paper='Leusch et al. (2006), "CDER: Efficient MT Evaluation Using Block Movements"',
    )

    def count(self, hypothesis: list[str], reference: list[str]) -> tuple[float, ...]:
        """Edits and jumps, and words of the reference."""
        return edits_with_jumps(hypothesis, reference), len(reference)

    def corpus(self, totals: Array) -> Array:
        """CDER of summed counts: shape (..., 2) to (...); without a reference the worst there is."""
        errors, words = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        return np.asarray(np.where(words > 0, errors / np.maximum(words, 1), _MOST))


def edits_with_jumps(hypothesis: list[str], reference: list[str]) -> int:
    """The cheapest way through both texts; place i of a row is where i words of the hypothesis are behind."""
    numbers: dict[str, int] = {}
    hyp = np.array([numbers.setdefault(word, len(numbers)) for word in hypothesis], dtype=np.int64)
    steps = np.arange(len(hyp) + 1)
    row = np.minimum(steps, 1)  # at the start, and a jump away from it
    for word in reference:
        below = row + 1  # the word is missing
        np.minimum(below[1:], row[:-1] + (hyp != numbers.get(word, -1)), out=below[1:])  # kept or replaced
        row = np.minimum.accumulate(below - steps) + steps  # words too many
        np.minimum(row, row.min() + 1, out=row)
    return int(row[-1])
