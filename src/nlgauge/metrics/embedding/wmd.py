"""Word mover's distance: the cost of moving the tokens of one text onto those of the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from nlgauge.core.scores import TASKS
from nlgauge.metrics.embedding.points import kernel
from nlgauge.metrics.embedding.points.kernel import Side
from nlgauge.metrics.embedding.points.matched import points_info
from nlgauge.metrics.embedding.points.worded import Worded


@dataclass(frozen=True, kw_only=True)
class Wmd(Worded):
    """The exact transport cost between the tokens of hypothesis and reference; lower is better.

    Args:
        cost: the distance of two unit vectors: `euclidean`, or `cosine` (1 - cosine).
        references: how to use several references; `best` takes the nearest.

    References:
        Kusner et al. (2015), "From Word Embeddings to Document Distances", section 4.
    """

    cost: Literal["euclidean", "cosine"] = "euclidean"
    info: ClassVar = points_info(
        "wmd",
        range=(0.0, 2.0),
        higher_is_better=False,
        tasks=TASKS,
        paper='Kusner et al. (2015), "From Word Embeddings to Document Distances"',
        summary="word mover's distance: least cost of moving token vectors (Kusner et al. 2015)",
    )

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        costs = kernel.distances(hypothesis.vectors, reference.vectors, self.cost)
        return (kernel.transport(costs, hypothesis.weights, reference.weights)[0],)
