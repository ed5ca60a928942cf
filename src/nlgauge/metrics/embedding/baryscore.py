"""BaryScore: the distance of two texts' Wasserstein barycenters, in which the layers of an encoder are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.metric import Documents
from nlgauge.core.options import checked
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.idf import Table, hypothesis_documents, reference_documents
from nlgauge.metrics.embedding.points import kernel
from nlgauge.metrics.embedding.points.kernel import Side
from nlgauge.metrics.embedding.points.matched import Matched, Read, points_info
from nlgauge.metrics.references import Policy
from nlgauge.models.encoder import Encoder
from nlgauge.runtime.runtime import Runtime

_LAYERS = 5  # the last ones
_STEPS, _MOVED = 100, 1e-7  # rounds of the barycenter at most, and the squared way of its points that ends it


@dataclass(frozen=True, kw_only=True)
class BaryScore(Matched):
    """The exact transport cost between the barycenters of hypothesis and reference; lower is better.

    Args:
        idf: weight pieces by inverse document frequency, those of hypotheses in the hypotheses of the call, those of
            references in its references; the released code does so by default.
        references: how to use several references; `best` takes the nearest.

    References:
        Colombo et al. (2021), "Automatic Text Evaluation through the Lens of Wasserstein Barycenters", section 3. The
        barycenter starts at the mean of each piece over the layers; in the released code all its points start at 0, so
        that the first plan is any.
    """

    idf: bool = False
    references: Policy = "best"
    info: ClassVar = points_info(
        "baryscore",
        range=(0.0, 4.0),
        higher_is_better=False,
        tasks={"mt", "as", "ic", "d2t"},
        paper='Colombo et al. (2021), "Automatic Text Evaluation through the Lens of Wasserstein Barycenters"',
        summary="distance of the texts' Wasserstein barycenters over layers (Colombo et al. 2021)",
    )

    def __post_init__(self) -> None:
        checked(self)
        # The two sides of a copy have different weights if their frequencies come from different texts.
        object.__setattr__(self, "info", replace(type(self).info, copy_is_best=not self.idf))

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the other segments of the call."""
        return self.idf

    def documents(self, segments: Sequence[Segment]) -> list[Documents]:
        """The texts that idf is taken from."""
        return [hypothesis_documents(segments), reference_documents(segments)]

    def _layers(self, depth: int) -> tuple[int, ...]:
        return tuple(range(max(depth - _LAYERS, 0) + 1, depth + 1))

    def _tables(self, pool: Sequence[Segment], encoder: Encoder, runtime: Runtime) -> list[Table] | None:
        return self._idf(self.documents(pool), encoder, runtime) if self.idf else None

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        n = len(read.ids)
        weights = np.ones(n) if tables is None else tables[0 if is_hypothesis else 1].weights(read.ids).astype(float)
        layers = [kernel.unit(np.asarray(vectors, dtype=np.float64)) for vectors in read.layers]
        if not weights.any() or not all(np.isfinite(layer).all() for layer in layers):
            return Side(layers[-1], weights, read.ids)
        return Side(barycenter(layers, weights), np.ones(n), read.ids)

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        costs = kernel.distances(hypothesis.vectors, reference.vectors, "squared")
        return (kernel.transport(costs, hypothesis.weights, reference.weights)[0],)


def barycenter(layers: Sequence[Array], weights: Array) -> Array:
    """n points of equal weight whose mean squared transport cost to k weighted sets of n points is least.

    Args:
        layers: k sets of points, each (n, d); the points of one piece stand in one row.
        weights: the weight of each point, the same in every set, shape (n,).

    References:
        Cuturi and Doucet (2014), "Fast Computation of Wasserstein Barycenters", algorithm 2.
    """
    points = np.mean(layers, axis=0)
    even = np.ones(len(points))
    for _ in range(_STEPS):
        flows = [kernel.transport(kernel.distances(points, layer, "squared"), even, weights)[1] for layer in layers]
        moved = np.mean([flow @ layer for flow, layer in zip(flows, layers, strict=True)], axis=0) * len(points)
        way = float(((moved - points) ** 2).sum())
        points = moved
        if way <= _MOVED:
            break
    return np.asarray(points)
