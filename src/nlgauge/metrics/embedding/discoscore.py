"""The focus difference of DiscoScore, roughly: whether two texts say the same around the same nouns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from nlgauge.core.options import Range
from nlgauge.metrics.embedding.points import kernel
from nlgauge.metrics.embedding.points.kernel import Side
from nlgauge.metrics.embedding.points.matched import Matched, Read, points_info
from nlgauge.metrics.references import Policy
from nlgauge.models.encoder import Encoder
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.tagging import tag

_NOUNS = ("NN", "NNS", "NNP", "NNPS")


@dataclass(frozen=True, kw_only=True)
class DiscoScore(Matched):
    """1 / (1 + the mean squared distance of the nouns of hypothesis and reference); an approximation.

    Args:
        layer: the number of blocks to run, 0 for the embeddings; None is two thirds of the depth (8 of 12).
        references: how to use several references; `mean` is the released code's.

    References:
        Zhao et al. (2023), "DiscoScore: Evaluating Text Generation with BERT and Discourse Coherence", section 3.1,
        DS-Focus with nouns. A noun lies at the sum of the unit vectors of its places (the last piece of each). Where
        this differs from the released code: nouns come from the tagger of this package, the encoder need not be one
        of discourse, a noun that one text lacks lies at 0 (theirs compares common nouns only, so that a hypothesis
        without any gets the best value), and the difference is turned into a similarity.
    """

    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    references: Policy = "mean"
    info: ClassVar = points_info(
        "discoscore",
        tasks={"as"},
        paper='Zhao et al. (2023), "DiscoScore: Evaluating Text Generation with BERT and Discourse Coherence"',
        summary="distance of the nouns' vectors, an approximation of DS-Focus (Zhao et al. 2023)",
    )

    def _layers(self, depth: int) -> tuple[int, ...]:
        return (self._one_layer(self.layer, max(min(depth, 1), depth * 2 // 3), depth),)

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        labels, numbers = encoder.tokenizer.words(read.text)
        vectors = kernel.unit(np.asarray(read.layers[0], dtype=np.float64))
        kept = numbers[: read.content.stop]  # of a text that is cut, a special token stands behind
        last = {number: place for place, number in enumerate(kept) if number is not None}
        nouns: dict[str, Any] = {}
        for number, kind in enumerate(tag(labels)):
            if kind in _NOUNS and number in last:
                word = labels[number].lower()
                nouns[word] = nouns.get(word, 0.0) + vectors[last[number]]
        self._names(nouns, tables)
        points = np.array(list(nouns.values())).reshape(len(nouns), vectors.shape[1])
        marks = np.array([tables[word] for word in nouns], dtype=np.int64)
        return Side(points, np.ones(len(nouns)), marks)

    def _tables(self, pool: Any, encoder: Encoder, runtime: Runtime) -> dict[str, int]:
        return {}  # noun -> its number in this call, filled as nouns are met

    def _names(self, nouns: Mapping[str, Any], numbers: dict[str, int]) -> None:
        for word in nouns:
            numbers.setdefault(word, len(numbers))

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        nouns = np.union1d(hypothesis.marks, reference.marks)
        places = [np.zeros((len(nouns), hypothesis.vectors.shape[1])) for _ in range(2)]
        for table, side in zip(places, (hypothesis, reference), strict=True):
            table[np.searchsorted(nouns, side.marks)] = side.vectors
        return (1 / (1 + float(((places[0] - places[1]) ** 2).sum() / len(nouns))),)
