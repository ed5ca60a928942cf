"""Sentence mover's similarity: the cost of moving the sentences of one text onto those of the other."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Any, ClassVar

import numpy as np

from nlgauge.metrics.embedding.points import kernel
from nlgauge.metrics.embedding.points.kernel import Side
from nlgauge.metrics.embedding.points.matched import Read, points_info
from nlgauge.metrics.embedding.points.worded import Worded
from nlgauge.metrics.embedding.points.wordvectors import UNKNOWN
from nlgauge.models.encoder import Encoder
from nlgauge.text.tokenize import split_sentences


@dataclass(frozen=True, kw_only=True)
class Sms(Worded):
    """exp(-cost) of moving the sentence vectors of the hypothesis onto those of the reference, or words as well.

    Args:
        words: move the words, too (the name `swms`); they have half of the weight.

    References:
        Clark et al. (2019), "Sentence Mover's Similarity: Automatic Evaluation for Multi-Sentence Texts", section 3.
        There, stop words are left out with GloVe vectors, and vectors are not brought to length 1.
    """

    words: bool = False
    info: ClassVar = points_info(
        "sms",
        tasks={"as"},
        paper='Clark et al. (2019), "Sentence Mover\'s Similarity: Automatic Evaluation for Multi-Sentence Texts"',
        summary="least cost of moving sentence vectors onto each other (Clark et al. 2019)",
    )

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        points = self._points(read, unit=True)
        pieces = encoder.tokenizer.tokens(split_sentences(read.text), "windows")
        sizes = np.array([len(encoder.tokenizer.content(t)) for t in pieces], dtype=np.int64)
        numbers = np.repeat(np.arange(len(sizes)), sizes)[: read.content.stop - read.content.start]
        if self.vectors is not None:
            numbers = numbers[read.ids[: len(numbers)] != UNKNOWN]
        numbers = np.pad(numbers, (0, len(points.weights) - len(numbers)), mode="edge") if len(numbers) else numbers
        kept, sizes = np.unique(numbers, return_counts=True)
        means = np.array([points.vectors[numbers == number].mean(axis=0) for number in kept]).reshape(
            len(kept), points.vectors.shape[1]
        )
        sentences = Side(means, sizes.astype(np.float64), kept)
        if not self.words or not len(kept):
            return sentences
        return Side(
            np.concatenate([points.vectors, means]),
            np.concatenate([points.weights, sentences.weights]),
            np.concatenate([points.marks, kept]),
        )

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        costs = kernel.distances(hypothesis.vectors, reference.vectors, "euclidean")
        return (exp(-kernel.transport(costs, hypothesis.weights, reference.weights)[0]),)
