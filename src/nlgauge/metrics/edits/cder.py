"""CDER: word edits in which a jump to any place of the hypothesis costs one. An error rate: lower is better."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.scores import MetricInfo
from nlgauge.metrics.edits.counting import WordMetric

_KEPT = 1024  # words whose places are held as bits; in long texts those of all words would fill the memory
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
    """The cheapest way through both texts; place i of a row is where i words of the hypothesis are behind.

    Since a jump leads anywhere, a row holds two values: the least, and one more. It is kept as the least and as the
    bits of the places that have it.
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(hypothesis, start=1):
        places.setdefault(word, []).append(place)
    bits_of = lru_cache(_KEPT)(lambda word: sum(1 << place for place in places.get(word, ())))
    everywhere = (1 << len(hypothesis) + 1) - 1
    least, cheapest = 0, 1  # at the start; all else is a jump away from it
    for word in reference:
        after, equal = cheapest << 1, bits_of(word)
        if kept := after & equal:
            cheapest = kept
        else:  # the word is missing or replaced, or kept after a jump
            least, cheapest = least + 1, (cheapest | after | equal) & everywhere
    return least + 1 - (cheapest >> len(hypothesis))
