"""Cosine of two texts' average or most extreme vectors, and the mean of the best cosines of their tokens."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.scores import TASKS
from nlgauge.metrics.embedding.points import kernel
from nlgauge.metrics.embedding.points.kernel import Side
from nlgauge.metrics.embedding.points.matched import Read, points_info
from nlgauge.metrics.embedding.points.worded import Worded
from nlgauge.models.encoder import Encoder

_info = partial(points_info, range=(-1.0, 1.0), blank=0.0, tasks=TASKS)


@dataclass(frozen=True, kw_only=True)
class _Pooled(Worded):
    """Base of metrics that make one vector of a text from the vectors of its tokens as they are."""

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        return self._points(read, unit=False)


@dataclass(frozen=True, kw_only=True)
class EmbeddingAverage(_Pooled):
    """Cosine of the mean token vectors, without special tokens.

    References:
        Foltz et al. (1998), "The Measurement of Textual Coherence with Latent Semantic Analysis"; as a metric, Liu et
        al. (2016), "How NOT To Evaluate Your Dialogue System", section 3.2.2.
    """

    info: ClassVar = _info(
        "embedding-average",
        paper='Foltz et al. (1998), "The Measurement of Textual Coherence with Latent Semantic Analysis"',
        summary="cosine of mean vectors, contextual or of words",
    )

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        return (cosine(hypothesis.vectors.mean(axis=0), reference.vectors.mean(axis=0)),)


@dataclass(frozen=True, kw_only=True)
class VectorExtrema(_Pooled):
    """Cosine of the extreme vectors: in each dimension the number of the text that is farthest from 0.

    References:
        Forgues et al. (2014), "Bootstrapping Dialog Systems with Word Embeddings". Of a maximum and a minimum that are
        equally far from 0, the maximum counts. nlg-eval takes 0 if the minimum is exactly 0.
    """

    info: ClassVar = _info(
        "vector-extrema",
        paper='Forgues et al. (2014), "Bootstrapping Dialog Systems with Word Embeddings"',
        summary="cosine of the most extreme numbers of each dimension",
    )

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        return (cosine(_extremes(hypothesis.vectors), _extremes(reference.vectors)),)


@dataclass(frozen=True, kw_only=True)
class Greedy(Worded):
    """The mean of both directions' mean best cosines, without special tokens.

    References:
        Rus and Lintean (2012), "A Comparison of Greedy and Optimal Assessment of Natural Language Student Input Using
        Word-to-Word Similarity Metrics".
    """

    info: ClassVar = _info(
        "greedy",
        paper=(
            'Rus and Lintean (2012), "A Comparison of Greedy and Optimal Assessment of Natural Language Student Input'
            ' Using Word-to-Word Similarity Metrics"'
        ),
        summary="mean of both directions' mean best cosines of tokens",
    )
    columns: ClassVar = ("value", "precision", "recall")

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        precision, recall = kernel.greedy(hypothesis, reference)
        return (precision + recall) / 2, precision, recall


def _extremes(vectors: Array) -> Array:
    """The number of each dimension that is farthest from 0, shape (n, d) to (d,)."""
    highest, lowest = vectors.max(axis=0), vectors.min(axis=0)
    return np.asarray(np.where(highest >= np.abs(lowest), highest, lowest))


def cosine(first: Array, second: Array) -> float:
    """The cosine of two vectors; 0 where one of them is 0."""
    product = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(np.clip(first @ second / product, -1.0, 1.0)) if product else 0.0
