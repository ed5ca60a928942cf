"""Two texts as weighted points: joined to n-grams, matched greedily, or moved onto each other at the least cost."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import MissingExtra
from nlgauge.models.tokens import Ids

Cost = Literal["squared", "euclidean", "cosine"]
_MARKS = frozenset(string.punctuation)
_EPSILON = 1e-5  # MoverScore's released code adds it to the sum of the weights of an n-gram
_MOST_STEPS = 1_000_000  # of the transport solver; texts of 512 pieces need some ten thousand
_OPTIMAL = 1


@dataclass(frozen=True)
class Side:
    """The points of one text.

    Attributes:
        vectors: shape (n, d).
        weights: 0 or more, shape (n,).
        marks: what each point stands for: two points with one mark are the same piece or word. Shape (n,).
        missing: the share of words for which there is no vector.
    """

    vectors: Array
    weights: Array
    marks: Ids
    missing: float = 0.0

    def take(self, kept: Mask) -> Side:
        """Some of the points."""
        return Side(self.vectors[kept], self.weights[kept], self.marks[kept], self.missing)


def is_mark(pieces: Sequence[str]) -> Mask:
    """Which pieces are one ASCII punctuation character."""
    return np.array([piece in _MARKS for piece in pieces], dtype=np.bool_)


def is_subword(pieces: Sequence[str]) -> Mask:
    """Which pieces continue a word, as WordPiece writes them (`##ing`)."""
    return np.array(["##" in piece for piece in pieces], dtype=np.bool_)


def power_means(layers: Sequence[npt.NDArray[np.floating]]) -> Array:
    """The minimum, mean and maximum over layers, side by side: k arrays of unit vectors (n, d) to (n, 3 d).

    References:
        Zhao et al. (2019), "MoverScore", section 3.1, "Aggregation".
    """
    n, width = layers[0].shape
    found = np.empty((n, 3 * width), dtype=layers[0].dtype)  # float32 stays so: it is memory that takes time
    low, mean, high = found[:, :width], found[:, width : 2 * width], found[:, 2 * width :]
    first, rest = layers[0], layers[1:] or layers[:1]
    np.minimum(first, rest[0], out=low)
    np.maximum(first, rest[0], out=high)
    np.add(first, rest[0], out=mean)
    for layer in rest[1:]:
        np.minimum(low, layer, out=low)
        np.maximum(high, layer, out=high)
        np.add(mean, layer, out=mean)
    mean /= len(rest) + 1
    return found


def unit(vectors: Array) -> Array:
    """Vectors of length 1; a vector of zeros stays one."""
    lengths = np.sqrt(_squares(vectors))[:, None]
    lengths[lengths == 0] = 1
    return vectors / lengths


def _squares(vectors: Array) -> Array:
    """The squared length of each vector, shape (n,)."""
    return np.asarray(np.einsum("nd,nd->n", vectors, vectors))


def ngrams(side: Side, n: int) -> Side:
    """The windows of n neighbouring points, each at the weighted mean of its points, brought to length 1.

    A window weighs as much as its points together. A text of fewer points is one window.

    References:
        Zhao et al. (2019), "MoverScore", section 3.1, "N-gram representations"; the 1e-5 is the released code's.
    """
    n = min(n, len(side.weights))
    if n == 1:
        return replace(side, vectors=unit(side.vectors))
    count = len(side.weights) - n + 1
    weighted = side.weights.astype(side.vectors.dtype)[:, None] * side.vectors
    weights, vectors = side.weights[:count].copy(), weighted[:count].copy()
    for i in range(1, n):
        weights += side.weights[i : i + count]
        vectors += weighted[i : i + count]
    vectors /= (weights + _EPSILON)[:, None].astype(vectors.dtype)
    return Side(unit(vectors), weights, side.marks[:count], side.missing)


def greedy(hypothesis: Side, reference: Side, similarity: Array | None = None) -> tuple[float, float]:
    """Weighted means of the best similarities, of the hypothesis (precision) and of the reference (recall).

    Args:
        hypothesis: one point or more, of which one has a weight.
        reference: the same.
        similarity: shape (n, m); None takes the dot products.
    """
    table = hypothesis.vectors @ reference.vectors.T if similarity is None else similarity
    precision = np.average(table.max(axis=1), weights=hypothesis.weights)
    return float(precision), float(np.average(table.max(axis=0), weights=reference.weights))


def distances(hypothesis: Array, reference: Array, cost: Cost) -> Array:
    """Distances of all pairs of points, (n, d) and (m, d) to (n, m)."""
    if cost == "cosine":
        return np.maximum(1 - unit(hypothesis) @ unit(reference).T, 0.0)
    squares = hypothesis @ reference.T
    squares *= -2
    squares += _squares(hypothesis)[:, None]
    squares += _squares(reference)
    np.maximum(squares, 0.0, out=squares)
    return squares if cost == "squared" else np.asarray(np.sqrt(squares))


def transport(costs: Array, hypothesis: Array, reference: Array) -> tuple[float, Array]:
    """The least cost of moving the weights of one side onto those of the other: exact optimal transport.

    Args:
        costs: cost of moving a unit of weight, shape (n, m).
        hypothesis: weights, shape (n,), with a positive sum, which is brought to 1; `reference` likewise, (m,).

    Returns:
        The cost, and the weight moved from each point to each, shape (n, m).

    References:
        Rubner et al. (2000), "The Earth Mover's Distance as a Metric for Image Retrieval".
    """
    first, second = hypothesis / hypothesis.sum(), reference / reference.sum()
    if len(first) == 1 or len(second) == 1:  # there is one way only
        flow = first[:, None] * second
        return float((flow * costs).sum()), flow
    costs = np.ascontiguousarray(costs, dtype=np.float64)
    flow, cost, _, _, status = _solver()(first, second * (first.sum() / second.sum()), costs, _MOST_STEPS, 1)
    if status != _OPTIMAL:
        raise RuntimeError(f"optimal transport of {len(first)} to {len(second)} points ended with status {status}")
    return float(cost), flow


@cache
def _solver() -> Callable[..., Any]:
    """POT's network simplex without the wrapper `ot.emd2`, which takes several times as long as the solution."""
    try:
        from ot.lp.emd_wrap import emd_c
    except ImportError:
        raise MissingExtra("optimal transport", "neural") from None
    solver: Callable[..., Any] = emd_c
    return solver


def as_points(vectors: Sequence[npt.NDArray[np.float32]], pooled: bool) -> Array:
    """The points of pieces: their unit vectors at one layer, or the power means of those of several layers."""
    return power_means(vectors) if pooled else unit(np.asarray(vectors[-1], dtype=np.float64))
