"""The alignment of two texts, token by token, as a matching metric computed it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.signature import Signature


@dataclass(frozen=True)
class Alignment:
    """Token similarities of one hypothesis (n tokens) and one reference (m tokens).

    Tokens are words. The pieces of a word are joined, and the similarity of two words is the highest similarity between
    any of their pieces.

    Attributes:
        hypothesis: the words of the hypothesis, n of them.
        reference: the words of the reference, m of them.
        similarities: cosine, shape (n, m), in [-1, 1].
        hypothesis_weights: share of each word in precision, shape (n,), sums to 1 over the words that count.
        reference_weights: share of each word in recall, shape (m,).
        precision: weighted mean of the row maxima, as the metric reports it. `recall` is the same over the columns, and
            `f1` is the harmonic mean of the two.
        signature: the signature of the metric that made the alignment.
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

        If several reference words are equally similar, the first one is taken.
        """
        return (
            [int(i) for i in np.argmax(self.similarities, axis=1)]
            if len(self.reference)
            else [None] * len(self.hypothesis)
        )

    @property
    def reference_matches(self) -> list[int | None]:
        """For each word of the reference, the hypothesis word that it is matched to."""
        return (
            [int(i) for i in np.argmax(self.similarities, axis=0)]
            if len(self.hypothesis)
            else [None] * len(self.reference)
        )
