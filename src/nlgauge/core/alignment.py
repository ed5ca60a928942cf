"""Two texts held side by side, token by token: what a matching metric saw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.signature import Signature


@dataclass(frozen=True)
class Alignment:
    """Token similarities of one hypothesis (n tokens) and one reference (m tokens).

    Tokens are words: pieces of a word are joined, and a word's similarity to another is that of their best pieces.

    Attributes:
        hypothesis: the words of the hypothesis, n of them.
        reference: the words of the reference, m of them.
        similarities: cosine, shape (n, m), in [-1, 1].
        hypothesis_weights: share of each word in precision, shape (n,), sums to 1 over the words that count.
        reference_weights: share of each word in recall, shape (m,).
        precision: weighted mean of the row maxima; likewise `recall` over the columns, and their harmonic mean `f1`, as
            the metric reports them.
        signature: what made it.
    """

    hypothesis: tuple[str, ...]
    reference: tuple[str, ...]
    similarities: Array
    hypothesis_weights: Array
    reference_weights: Array
    precision: float
    recall: float
    f1: float
    signature: Signature

    @property
    def hypothesis_matches(self) -> list[int | None]:
        """The reference word that each hypothesis word is matched to; None where the reference is empty.

        Of several that are equally similar, the first is taken.
        """
        return (
            [int(i) for i in np.argmax(self.similarities, axis=1)]
            if len(self.reference)
            else [None] * len(self.hypothesis)
        )

    @property
    def reference_matches(self) -> list[int | None]:
        """For each word of the reference the hypothesis word it is matched to."""
        return (
            [int(i) for i in np.argmax(self.similarities, axis=0)]
            if len(self.hypothesis)
            else [None] * len(self.reference)
        )
