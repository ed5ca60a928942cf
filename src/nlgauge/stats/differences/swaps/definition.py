"""What does it mean that two metrics trade places? The plain loop over draws, which every faster way must equal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations

import numpy as np

from nlgauge.core.arrays import Array, Mask


def swapped_differences(value: Callable[[Array], float], metrics: Array, patterns: Iterable[Mask]) -> Array:
    """Differences of the statistic of every two metrics after their scores traded places.

    Args:
        value: the statistic of one grid of scores, shape (S, N).
        metrics: standardised scores, shape (M, S, N).
        patterns: B masks, True where the scores of the two metrics trade places, shapes (S or 1, N or 1).

    Returns:
        First minus second of every pair of metrics, (0, 1), (0, 2), ..., (1, 2), ...; shape (P, B).
    """
    masks = list(patterns)
    rows = []
    for a, b in combinations(metrics, 2):
        rows.append([value(np.where(swap, b, a)) - value(np.where(swap, a, b)) for swap in masks])
    return np.array(rows)
