"""SUPERT: a summary held against the first sentences of its source, without a reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.options import Range, checked
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.bertscore import f1
from nlgauge.metrics.embedding.points import kernel
from nlgauge.metrics.embedding.points.kernel import Side
from nlgauge.metrics.embedding.points.matched import Matched, Read, points_info
from nlgauge.metrics.embedding.points.stopwords import ENGLISH, Stopwords, are_stopped, identity_of, stopwords
from nlgauge.models.encoder import Encoder
from nlgauge.models.tokens import Long
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.tokenize import split_sentences


@dataclass(frozen=True, kw_only=True)
class Supert(Matched):
    """F of the best cosines between the tokens of a summary and of the first sentences of its source.

    Args:
        layer: the number of blocks to run, 0 for the embeddings; None is the last layer.
        sentences: how many sentences at the beginning of the source stand for a reference.
        stopwords: words that are left out: `english`, or a file with one word per line; None for no word.
        value: which of the three is the metric's value.
        long: a text beyond the model's limit is read in half-overlapping windows (`windows`) or cut (`truncate`).

    References:
        Gao et al. (2020), "SUPERT: Towards New Frontiers in Unsupervised Evaluation Metrics for Multi-Document
        Summarization", sections 3 and 4 (the first 10 to 15 sentences do best). The released code encodes each
        sentence alone; here a text is read as a whole.
    """

    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    sentences: Annotated[int, Range(least=1)] = 15
    stopwords: str | None = ENGLISH
    value: Literal["f1", "precision", "recall"] = "f1"
    long: Long = "windows"
    info: ClassVar = points_info(
        "supert",
        needs={"source"},
        range=(-1.0, 1.0),
        copy_is_best=False,
        blank=0.0,
        tasks={"as"},
        paper=(
            'Gao et al. (2020), "SUPERT: Towards New Frontiers in Unsupervised Evaluation Metrics for Multi-Document'
            ' Summarization"'
        ),
        summary="tokens matched with the first sentences of the source (Gao et al. 2020)",
    )
    columns: ClassVar = ("f1", "precision", "recall")

    def __post_init__(self) -> None:
        checked(self)

    def facts(self, runtime: Runtime) -> dict[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        return {**super().facts(runtime), "stopwords": identity_of(self.stopwords)}

    def scorer(self, pool: Sequence[Segment], runtime: Runtime) -> Callable[[Sequence[Segment]], Scores]:
        """A function that scores segments against the first sentences of their sources."""
        against = super().scorer(pool, runtime)

        def first(segment: Segment) -> str:
            return " ".join(split_sentences(segment.source or "")[: self.sentences])

        return lambda segments: against([replace(s, references=(first(s),)) for s in segments])

    def _layers(self, depth: int) -> tuple[int, ...]:
        return (self._one_layer(self.layer, depth, depth),)

    def _tables(self, pool: Sequence[Segment], encoder: Encoder, runtime: Runtime) -> Stopwords:
        return stopwords(self.stopwords)

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Stopwords) -> Side:
        pieces = read.ids[read.content]
        side = Side(kernel.as_points([read.layers[0][read.content]], False), np.ones(len(pieces)), pieces)
        return side.take(~are_stopped(read.ids, read.content, tables, encoder.tokenizer)[read.content])

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        precision, recall = kernel.greedy(hypothesis, reference)
        return float(f1(np.array([precision]), np.array([recall]))[0]), precision, recall

    def _value(self) -> str:
        return self.value
