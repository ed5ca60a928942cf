"""Correlations of system scores after swaps: the mean of a mixture is linear in the means of either metric alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.stats.correlation.coefficients import pearson
from nlgauge.stats.differences.swaps.coins import Coins, collapse
from nlgauge.stats.differences.swaps.groups import Coefficient
from nlgauge.stats.differences.swaps.pearson import signed_sums
from nlgauge.stats.draws import pairs_of


def system_scores(human: Array, metrics: Array, used: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """Mean judgement of each system, shape (S,), NaN without any; mean scores over the cells in use, shape (M, S)."""
    judged = ~np.isnan(human)
    with np.errstate(invalid="ignore", divide="ignore"):
        people = np.where(judged, human, 0.0).sum(axis=1) / judged.sum(axis=1)
        scores = np.where(used, metrics, 0.0).sum(axis=2) / used.sum(axis=1)
    return people, scores


def correlate(coefficient: Coefficient, scores: Array, human: Array) -> Array:
    """The coefficient of means of standardised scores, shape (...,). Ranks see 10 decimals: ties on paper tie."""
    scores = np.ascontiguousarray(scores)
    return np.asarray(coefficient(scores if coefficient is pearson else np.round(scores, 10), human))


def system_draws(human: Array, z: Array, used: npt.NDArray[np.bool_], coins: Coins, coefficient: Coefficient) -> Array:
    """Differences of system-level coefficients after swaps of segment scores.

    Args:
        human: system scores, shape (S,).
        z: standardised scores, shape (M, S, N), 0 outside `used`.
        used: cells that count into a metric's system score, shape (S, N).
        coins: B patterns.
        coefficient: scores (..., S) and judgements (S,) to (...).

    Returns:
        Left minus right of every pair of metrics, shape (P, B).
    """
    n = used.sum(axis=1)[:, None, None]
    table = np.ascontiguousarray(collapse(z, coins.shape, "sys").transpose(1, 0, 2))  # (S, M, coins)
    base = table.sum(axis=2, keepdims=True) / n
    left, _ = pairs_of(len(z))
    drawn = np.empty((len(left), len(coins.bits)))
    for draws in coins.blocks():
        e = np.ascontiguousarray(coins.signs(draws).transpose(1, 2, 0))  # (S or 1, coins, b)
        moved = signed_sums(table, e) / n  # (S, M, b)
        for a in range(len(z) - 1):
            rows, later = left == a, slice(a + 1, None)
            middle, shift = base[:, a, None] + base[:, later], moved[:, a, None] - moved[:, later]  # (S, pairs, b)
            both = np.stack([middle + shift, middle - shift]) / 2
            first, second = correlate(coefficient, np.moveaxis(both, 1, -1), human)
            drawn[rows, draws] = first - second
    return drawn
