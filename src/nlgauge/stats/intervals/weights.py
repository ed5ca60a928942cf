"""Pearson's r of grids whose systems and items count several times: all draws of a bootstrap from products."""

from __future__ import annotations

from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.draws import Seed, check_draws, check_level, generator, percentiles, resample_counts
from nlgauge.stats.grids import AXES, Averaging, check_grid, standardise

_CELLS = 1 << 22  # numbers held at once
_CONSTANT = 1e-12  # a variance that is less than this share of the squares is rounding


def pearson_ends(
    human: Array, metrics: Array, *, draws: int = 1000, seed: Seed = 0, confidence: float = 0.95
) -> tuple[Array, Array]:
    """Percentile bootstrap over items of Pearson's r over all cells of a grid, for M metrics on the same draws.

    Sums of every item, weighted by how often it is drawn, serve all draws at once.

    Args:
        human: judgements, shape (S, N), NaN where missing.
        metrics: scores, shape (M, S, N), higher is better.
        draws: B.
        seed: a whole number or a generator, which is advanced.
        confidence: share of the draws between the ends.

    Returns:
        Lower and upper ends, shape (M,) each; NaN for a constant metric.

    Raises:
        InputError: shapes that do not fit, a missing score, fewer than 2 items.
    """
    human, metrics = check_grid(human, metrics)
    check_draws(draws)
    check_level(confidence)
    if human.shape[1] < 2:
        raise InputError(f"a bootstrap over items needs 2 or more, got {human.shape[1]}")
    z, constant = standardise(metrics, ~np.isnan(human))
    columns = np.asarray(resample_counts(generator(seed), draws, human.shape[1]), dtype=np.float64)  # (B, N)
    drawn = segment_weights(human, z, None, columns, "none")
    return percentiles(np.where(constant, np.nan, drawn), confidence)


def segment_weights(human: Array, z: Array, rows: Array | None, columns: Array | None, averaging: Averaging) -> Array:
    """(Averaged) Pearson correlations of M metrics on B draws.

    Args:
        human: shape (S, N), NaN where missing.
        z: scores, shape (M, S, N), 0 where not judged.
        rows: how often each system counts, shape (B, S); None is once.
        columns: how often each item counts, shape (B, N); None is once.
        averaging: what a correlation spans. For `item` a correlation weighs systems by `rows`, and the mean weighs
            items by `columns`.

    Returns:
        Shape (B, M); NaN where no group is defined.
    """
    if averaging == "sys":
        return segment_weights(human.T, z.swapaxes(1, 2), columns, rows, "item")
    table = _columns(human, z, averaging)
    n_draws = len(rows) if rows is not None else len(columns) if columns is not None else 0
    rows = np.ones((n_draws, human.shape[0])) if rows is None else rows
    columns = np.ones((n_draws, human.shape[1])) if columns is None else columns
    if averaging == "none":
        by_system = table.reshape(-1, human.shape[1]) @ columns.T  # (columns S, B)
        sums = np.einsum("csb,bs->cb", by_system.reshape(len(table), human.shape[0], -1), rows)
        return _r(sums, len(z)).T
    total, count = np.zeros((2, len(z), n_draws))
    step = max(1, _CELLS // (len(table) * n_draws))
    for start in range(0, human.shape[1], step):
        part = slice(start, start + step)
        sums = np.matmul(table[:, :, part].transpose(2, 0, 1), rows.T)  # (items, columns, B)
        r = _r(sums.swapaxes(0, 1), len(z))  # (M, items, B)
        defined, weights = ~np.isnan(r), columns[:, part].T
        total += (np.where(defined, r, 0.0) * weights).sum(axis=1)
        count += (defined * weights).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((total / count).T)


def system_weights(human: Array, z: Array, rows: Array | None, columns: Array | None, _: Any = None) -> Array:
    """Pearson correlations of system scores, the means over the judged segments that are drawn.

    A system without any such segment drops out of the draw.
    """
    judged = (~np.isnan(human)).astype(np.float64)
    held = np.concatenate([judged[None], np.where(judged > 0, human, 0.0)[None], z])  # (2 + M, S, N)
    sums = held @ columns.T if columns is not None else held.sum(axis=2, keepdims=True)  # (2 + M, S, B or 1)
    n = sums[0]
    scores = np.where(n > 0, sums[1:], 0.0) / np.where(n > 0, n, 1.0)  # (1 + M, S, B or 1)
    weights = (n > 0) * (rows.T if rows is not None else 1.0)  # (S, B)
    mean = (scores * weights).sum(axis=1, keepdims=True) / np.maximum(weights.sum(axis=0), 1)
    centred = scores - mean
    cross = (centred[1:] * centred[:1] * weights).sum(axis=1)
    squares = (centred**2 * weights).sum(axis=1)
    constant = squares <= _CONSTANT**2 * (1 + mean[:, 0] ** 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.where(constant[1:] | constant[0], np.nan, cross / np.sqrt(squares[1:] * squares[0]))
    return np.asarray(np.clip(r, -1, 1).T)


def _columns(human: Array, z: Array, averaging: Averaging) -> Array:
    """Columns [1, g, g^2, z, z^2, z g] over judged cells, both sides centred in their groups, shape (3 + 3 M, S, N)."""
    axes, judged = AXES[averaging], ~np.isnan(human)
    n = np.maximum(judged.sum(axis=axes, keepdims=True), 1)
    held = np.where(judged, human, 0.0)
    g = np.where(judged, held - held.sum(axis=axes, keepdims=True) / n, 0.0)
    size = np.sqrt((g**2).mean()) or 1.0
    g = g / size
    moved = np.where(judged, z - z.sum(axis=tuple(a + 1 for a in axes), keepdims=True) / n, 0.0)
    ones = judged.astype(np.float64)[None]
    return np.concatenate([ones, g[None], (g * g)[None], moved, moved * moved, moved * g])


def _r(sums: Array, m: int) -> Array:
    """r from weighted sums of the columns, shape (3 + 3 M, ...) to (M, ...); NaN where a side is constant."""
    n = np.where(sums[0] > 0, sums[0], 1.0)
    g, g2, x, x2, xg = sums[1], sums[2], sums[3 : 3 + m], sums[3 + m : 3 + 2 * m], sums[3 + 2 * m :]
    spread_g, spread_x = g2 - g * g / n, x2 - x * x / n
    constant = (spread_g <= _CONSTANT * g2) | (spread_x <= _CONSTANT * x2)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (xg - x * g / n) / np.sqrt(spread_g * spread_x)
    return np.asarray(np.where(constant, np.nan, np.clip(r, -1, 1)))
