"""MoverScore: the cost of moving the n-grams of one text onto those of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.metric import Documents
from nlgauge.core.options import checked
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.idf import Table, hypothesis_documents, reference_documents
from nlgauge.metrics.embedding.points import kernel
from nlgauge.metrics.embedding.points.kernel import Side
from nlgauge.metrics.embedding.points.matched import Matched, Read, points_info
from nlgauge.metrics.embedding.points.stopwords import Stopwords, are_stopped, identity_of, stopwords
from nlgauge.metrics.references import Policy
from nlgauge.models.encoder import Encoder
from nlgauge.runtime.runtime import Runtime

_LAYERS = 5  # the last ones, whose power means are taken
_RANGES = {"pmeans": (-3.0, 1.0), "last": (0.0, 1.0)}  # squared distances of unit vectors reach 4


@dataclass(frozen=True, kw_only=True)
class MoverScore(Matched):
    """1 minus the exact transport cost between the n-grams of hypothesis and reference, or 1 / (1 + cost).

    Args:
        variant: `pmeans`, the first published code: minimum, mean and maximum over the last five layers, squared
            Euclidean cost, 1 - cost. `last`, the second: the last layer, Euclidean cost, 1 / (1 + cost).
        ngram: match single pieces (1) or pairs of neighbours (2).
        idf: weight pieces by inverse document frequency, those of hypotheses in the hypotheses of the call, those of
            references in its references.
        stopwords: leave out the words of a list: `english`, or a file with one word per line.
        drop_subwords: leave out pieces that continue a word.
        references: how to use several references; `mean` is what the published examples do.

    References:
        Zhao et al. (2019), "MoverScore: Text Generation Evaluating with Contextualized Embeddings and Earth Mover
        Distance", section 3. Special tokens take part; ASCII punctuation does not.

        Where this differs from the published code: an empty text gets the worst value (theirs may get 1), and a text
        without any weight gets none (theirs gets 1). The weights of a side sum to exactly 1. `ngram=2` works under
        `variant=last`, too, where theirs ignores it.
    """

    variant: Literal["pmeans", "last"] = "pmeans"
    ngram: Literal[1, 2] = 1
    idf: bool = False
    stopwords: str | None = None
    drop_subwords: bool = True
    references: Policy = "mean"
    info: ClassVar = points_info(
        "moverscore",
        tasks={"mt", "as", "ic", "d2t"},
        paper=(
            'Zhao et al. (2019), "MoverScore: Text Generation Evaluating with Contextualized Embeddings and Earth Mover'
            ' Distance"'
        ),
        summary="least cost of moving n-grams of token vectors onto each other (Zhao et al. 2019)",
    )

    def __post_init__(self) -> None:
        checked(self)
        # The two sides of a copy have different weights if their frequencies come from different texts.
        info = replace(type(self).info, range=_RANGES[self.variant], copy_is_best=not self.idf)
        object.__setattr__(self, "info", info)

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the other segments of the call."""
        return self.idf

    def documents(self, segments: Sequence[Segment]) -> list[Documents]:
        """The texts that idf is taken from."""
        return [hypothesis_documents(segments), reference_documents(segments)]

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        return {**super().facts(runtime), "stopwords": identity_of(self.stopwords)}

    def _layers(self, depth: int) -> tuple[int, ...]:
        return tuple(range(max(depth - _LAYERS, 0) + 1, depth + 1)) if self.variant == "pmeans" else (depth,)

    def _tables(
        self, pool: Sequence[Segment], encoder: Encoder, runtime: Runtime
    ) -> tuple[Stopwords, Table | None, Table | None]:
        stopped = stopwords(self.stopwords)
        if not self.idf:
            return stopped, None, None
        hypotheses, references = self._idf(self.documents(pool), encoder, runtime)
        return stopped, hypotheses, references

    def _side(
        self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: tuple[Stopwords, Table | None, Table | None]
    ) -> Side:
        stopped, *weighed = tables
        table = weighed[0 if is_hypothesis else 1]
        tokenizer = encoder.tokenizer
        dropped = tokenizer.which(kernel.is_mark)[read.ids]
        if self.drop_subwords:
            dropped = dropped | tokenizer.which(kernel.is_subword)[read.ids]
        dropped = dropped | are_stopped(read.ids, read.content, stopped, tokenizer)
        pieces = read.ids[~dropped]
        weights = np.ones(len(pieces)) if table is None else table.weights(pieces).astype(np.float64)
        points = kernel.as_points(read.layers, self.variant == "pmeans", ~dropped)
        return kernel.ngrams(Side(points, weights, pieces), self.ngram)

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        cost: kernel.Cost = "squared" if self.variant == "pmeans" else "euclidean"
        costs = kernel.unit_distances(hypothesis.vectors, reference.vectors, cost)
        moved, _ = kernel.transport(costs, hypothesis.weights, reference.weights)
        return (1 - moved if self.variant == "pmeans" else 1 / (1 + moved),)
