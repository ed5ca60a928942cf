"""Cosine of two texts' average or most extreme vectors, and the mean of the best cosines of their tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.scores import TASKS, MetricInfo
from nlgauge.metrics.embedding.points import kernel
from nlgauge.metrics.embedding.points.kernel import Side
from nlgauge.metrics.embedding.points.matched import Read
from nlgauge.metrics.embedding.points.worded import Worded
from nlgauge.models.encoder import Encoder

_FLAGS = {"unknown", "nonfinite"}


@dataclass(frozen=True, kw_only=True)
class EmbeddingAverage(Worded):
    """Cosine of the mean token vectors, without special tokens.

    Args:
        model: `embedded`, a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        layer: the number of blocks to run, 0 for the embeddings; None is the last layer.
        vectors: a file of static word vectors in place of a model.
        references: how to use several references.
        long: a text beyond the model's limit is cut (`truncate`) or read in half-overlapping windows (`windows`).
        max_tokens: a lower limit than the model's own.
        dtype: the precision of the encoder; None takes the runtime's.

    References:
        Foltz et al. (1998), "The Measurement of Textual Coherence with Latent Semantic Analysis"; as a metric, Liu et
        al. (2016), "How NOT To Evaluate Your Dialogue System", section 3.2.2.
    """

    info: ClassVar = MetricInfo(
        "embedding-average",
        range=(-1.0, 1.0),
        blank=0.0,
        cached=True,
        flags=_FLAGS,
        tasks=TASKS,
        paper='Foltz et al. (1998), "The Measurement of Textual Coherence with Latent Semantic Analysis"',
        summary="cosine of mean vectors, contextual or of words",
    )

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        return self._points(read, unit=False)

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        return (cosine(hypothesis.vectors.mean(axis=0), reference.vectors.mean(axis=0)),)


@dataclass(frozen=True, kw_only=True)
class VectorExtrema(Worded):
    """Cosine of the extreme vectors: in each dimension the number of the text that is farthest from 0.

    Args:
        model: `embedded`, a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        layer: the number of blocks to run, 0 for the embeddings; None is the last layer.
        vectors: a file of static word vectors in place of a model.
        references: how to use several references.
        long: a text beyond the model's limit is cut (`truncate`) or read in half-overlapping windows (`windows`).
        max_tokens: a lower limit than the model's own.
        dtype: the precision of the encoder; None takes the runtime's.

    References:
        Forgues et al. (2014), "Bootstrapping Dialog Systems with Word Embeddings". Of a maximum and a minimum that are
        equally far from 0, the maximum counts. nlg-eval takes 0 if the minimum is exactly 0.
    """

    info: ClassVar = MetricInfo(
        "vector-extrema",
        range=(-1.0, 1.0),
        blank=0.0,
        cached=True,
        flags=_FLAGS,
        tasks=TASKS,
        paper='Forgues et al. (2014), "Bootstrapping Dialog Systems with Word Embeddings"',
        summary="cosine of the most extreme numbers of each dimension",
    )

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        return self._points(read, unit=False)

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        return (cosine(_extremes(hypothesis.vectors), _extremes(reference.vectors)),)


@dataclass(frozen=True, kw_only=True)
class Greedy(Worded):
    """The mean of both directions' mean best cosines, without special tokens.

    Args:
        model: `embedded`, a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        layer: the number of blocks to run, 0 for the embeddings; None is the last layer.
        vectors: a file of static word vectors in place of a model.
        references: how to use several references.
        long: a text beyond the model's limit is cut (`truncate`) or read in half-overlapping windows (`windows`).
        max_tokens: a lower limit than the model's own.
        dtype: the precision of the encoder; None takes the runtime's.

    References:
        Rus and Lintean (2012), "A Comparison of Greedy and Optimal Assessment of Natural Language Student Input Using
        Word-to-Word Similarity Metrics".
    """

    info: ClassVar = MetricInfo(
        "greedy",
        range=(-1.0, 1.0),
        blank=0.0,
        cached=True,
        flags=_FLAGS,
        tasks=TASKS,
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
