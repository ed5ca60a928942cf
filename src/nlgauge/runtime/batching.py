"""Batches of texts for a model, of equal length as far as can be, and windows of pairs whose texts memory can hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Index = npt.NDArray[np.int64]

# The numbers of one text move with the shape of its batch: a matrix product of another size may be another kernel,
# which adds in another order. Log-probabilities in float32 move by some 1e-6, probabilities in half precision by some
# 1e-2. Two numbers that are further apart than the margin, which is more than twice that, stand in the same order in
# every batch. What hangs on two that are closer is settled by the text alone.
_MARGINS: Mapping[str, float] = {"float64": 1e-4, "float32": 1e-4, "bfloat16": 0.1, "float16": 0.02}


def margin(dtype: str) -> float:
    """How far apart two numbers must be so that their order is the same in every batch.

    In float32 and float64 this holds for probabilities and for their logarithms, in half precision for probabilities.
    """
    return _MARGINS[dtype]


def by_length(lengths: Sequence[int] | Index, budget: int) -> Iterator[Index]:
    """Batches of positions, shortest texts first, each of at most `budget` tokens and at least one text.

    Sorting is stable, so the batches depend only on the lengths. Texts of equal length lie beside each other inside a
    batch. How much a batch with several lengths costs depends on the model.

    Args:
        lengths: the number of tokens of each text, shape (n,).
        budget: the largest number of tokens in a batch.
    """
    lengths = np.asarray(lengths, dtype=np.int64)
    order = np.argsort(lengths, kind="stable")
    start, used = 0, 0
    for position, index in enumerate(order):
        size = int(lengths[index])
        if position > start and used + size > budget:
            yield order[start:position]
            start, used = position, 0
        used += size
    if start < len(order):
        yield order[start:]


def windows(pairs: Index, sizes: Sequence[int] | Index, most: int) -> Iterator[Index]:
    """Positions of pairs of texts, consecutive, in windows whose distinct texts together have at most `most` of size.

    A pair that is larger stands alone. A window ends only where the next pair does not fit, so pairs that share a text
    should stand beside each other: a text of several windows counts in each.

    Args:
        pairs: the numbers of two texts each, shape (n, 2).
        sizes: the size of each text, shape (texts,).
        most: the largest size of a window.
    """
    sizes = np.asarray(sizes, dtype=np.int64)
    held: set[int] = set()
    start = used = 0
    for place, pair in enumerate(map(set, pairs.tolist())):
        new = sum(int(sizes[text]) for text in pair - held)
        if place > start and used + new > most:
            yield np.arange(start, place)
            start, used, held = place, 0, set()
            new = sum(int(sizes[text]) for text in pair)
        held |= pair
        used += new
    if start < len(pairs):
        yield np.arange(start, len(pairs))


def runs(values: Sequence[int] | Index) -> Iterator[tuple[int, int]]:
    """Start and end of each run of equal neighbours."""
    values = np.asarray(values)
    if not len(values):
        return
    edges = np.flatnonzero(np.diff(values)) + 1
    bounds = [0, *edges.tolist(), len(values)]
    yield from pairwise(bounds)
