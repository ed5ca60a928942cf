"""Two texts as weighted points: joined to n-grams, matched greedily, or moved onto each other at the least cost."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import MissingExtra
from nlgauge.models.tokens import Ids

Cost = Literal["squared", "euclidean", "cosine"]
BEGINNINGS = ("\u0120", "\u2581")  # what byte-level and SentencePiece vocabularies write before a word: Ġthe, ▁the
_MARKS = frozenset(string.punctuation)
_MOST_STEPS = 1_000_000  # of the transport solver; texts of 512 pieces need some ten thousand
_OPTIMAL = 1


@dataclass(frozen=True)
class Side:
    """The points of one text.

    Attributes:
        vectors: shape (n, d), or (k, n, d) where a vector comes in k parts; all products are then sums over the parts.
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
        return Side(self.vectors[..., kept, :], self.weights[kept], self.marks[kept], self.missing)


def is_mark(pieces: Sequence[str]) -> Mask:
    """Which pieces are one ASCII punctuation character, behind a blank (`▁(`) or not."""
    bare = (piece[1:] if piece.startswith(BEGINNINGS) else piece for piece in pieces)
    return np.array([piece in _MARKS for piece in bare], dtype=np.bool_)


def is_subword(pieces: Sequence[str]) -> Mask:
    """Which pieces continue a word, as WordPiece writes them (`##ing`)."""
    return np.array(["##" in piece for piece in pieces], dtype=np.bool_)


def power_means(layers: Sequence[npt.NDArray[np.floating]], rows: Ids | None = None) -> Array:
    """The minimum, mean and maximum over layers, k arrays of unit vectors (n, d) to (3, n, d).

    Together they are one long vector: products of points are sums over the three. Each lies in one piece of memory,
    and only the rows that are asked for are read, because it is memory that takes time here.

    References:
        Zhao et al. (2019), "MoverScore", section 3.1, "Aggregation".
    """
    read = [layer if rows is None else layer.take(rows, axis=0) for layer in layers[:2]]
    first, second = read[0], read[-1]
    low, mean, high = found = np.empty((3, *first.shape), dtype=first.dtype)
    np.minimum(first, second, out=low)
    np.maximum(first, second, out=high)
    np.add(first, second, out=mean)
    for layer in layers[2:]:
        layer = layer if rows is None else layer.take(rows, axis=0, out=second, mode="clip")
        np.minimum(low, layer, out=low)
        np.maximum(high, layer, out=high)
        np.add(mean, layer, out=mean)
    mean *= 1 / max(len(layers), 2)  # a layer alone was added to itself
    return found


def unit_vectors(vectors: Array) -> Array:
    """Vectors of length 1; a vector of zeros stays one."""
    return np.asarray(vectors * _scales(vectors))


def _scales(vectors: Array) -> Array:
    """The factors that bring vectors to length 1, shape (n, 1)."""
    lengths = np.sqrt(_squares(vectors))[:, None]
    lengths[lengths == 0] = 1
    return np.asarray(1 / lengths)


def _squares(vectors: Array) -> Array:
    """The squared length of each vector, shape (n,)."""
    return np.asarray(np.einsum("nd,nd->n" if vectors.ndim == 2 else "knd,knd->n", vectors, vectors))


def _products(hypothesis: Array, reference: Array) -> Array:
    """The products of all pairs of vectors, shape (n, m)."""
    products = hypothesis @ reference.swapaxes(-1, -2)
    return np.asarray(products if products.ndim == 2 else products.sum(axis=0))


def ngrams(side: Side, n: int) -> Side:
    """The windows of n neighbouring points, each at the weighted mean of its points, brought to length 1.

    A window weighs as much as its points together. A text of fewer points is one window. The vectors of the side are
    overwritten.

    References:
        Zhao et al. (2019), "MoverScore", section 3.1, "N-gram representations". The 1e-5 that the released code adds to
        the sum of the weights changes no direction.
    """
    n = min(n, len(side.weights))
    weights, vectors = side.weights, side.vectors
    if n > 1:
        count = len(weights) - n + 1
        if not (weights == 1).all():
            vectors *= weights.astype(vectors.dtype)[:, None]
        vectors = sum((vectors[..., i : i + count, :] for i in range(1, n)), vectors[..., :count, :])
        weights = sum((side.weights[i : i + count] for i in range(1, n)), side.weights[:count])
    vectors *= _scales(vectors)
    return Side(vectors, weights, side.marks[: len(weights)], side.missing)


def greedy(hypothesis: Side, reference: Side, similarity: Array | None = None) -> tuple[float, float]:
    """Weighted means of the best similarities, of the hypothesis (precision) and of the reference (recall).

    Args:
        hypothesis: one point or more, of which one has a weight.
        reference: the same.
        similarity: shape (n, m); None takes the dot products.
    """
    table = _products(hypothesis.vectors, reference.vectors) if similarity is None else similarity
    precision = np.average(table.max(axis=1), weights=hypothesis.weights)
    return float(precision), float(np.average(table.max(axis=0), weights=reference.weights))


def distances(hypothesis: Array, reference: Array, cost: Cost) -> Array:
    """Distances of all pairs of points, (n, d) and (m, d) to (n, m)."""
    if cost == "cosine":
        return unit_distances(unit_vectors(hypothesis), unit_vectors(reference), cost)
    squares = _products(hypothesis, reference)
    squares *= -2
    squares += _squares(hypothesis)[:, None]
    squares += _squares(reference)
    np.maximum(squares, 0.0, out=squares)
    return squares if cost == "squared" else np.asarray(np.sqrt(squares))


def unit_distances(hypothesis: Array, reference: Array, cost: Cost) -> Array:
    """Distances of all pairs of points that have length 1, shape (n, m); the square of one is 2 - 2 times the cosine.

    A vector of zeros gets any distance: no weight of it is moved.
    """
    distances = _products(hypothesis, reference)
    np.subtract(1.0, distances, out=distances)
    if cost != "cosine":
        distances *= 2
    np.maximum(distances, 0.0, out=distances)
    return np.asarray(np.sqrt(distances)) if cost == "euclidean" else distances


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


def as_points(vectors: Sequence[npt.NDArray[np.float32]], pooled: bool, kept: Mask | None = None) -> Array:
    """The points of pieces: their unit vectors at one layer, or the power means of those of several layers.

    Args:
        vectors: unit vectors at each layer, each (n, d).
        pooled: take the power means.
        kept: which of the pieces to take, shape (n,); None is all.
    """
    rows = None if kept is None or kept.all() else np.flatnonzero(kept)
    if pooled:
        return power_means(vectors, rows)
    last = vectors[-1] if rows is None else vectors[-1].take(rows, axis=0)
    return unit_vectors(np.asarray(last, dtype=np.float64))
