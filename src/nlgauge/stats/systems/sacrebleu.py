"""The paired tests of sacrebleu 2.6.0, digit by digit, faults included: to check a published p-value, not to decide.

What is wrong with them: identical outputs get the smallest p-value there is (a strict `>` beside the add-one). And the
bootstrap takes |d*| minus its own mean, which counts only one of two tails where d is clearly different from 0; so it
rejects a true null too often.

What is kept: sums in float32, the order of the random stream, and a comparison in the precision of the scores.

What is not copied: there the seed 0 means no seed at all; here it is a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array, Floats
from nlgauge.stats.draws import blocks, is_whole, resample_counts

Finish = Callable[
    [Any], Any
]  # to repeat the last digits it keeps float32, as sacrebleu's own arithmetic does under NumPy 2

LEVEL = 0.95  # its intervals have no other


@dataclass(frozen=True)
class Found:
    """The numbers that sacrebleu reports.

    Attributes:
        values: corpus numbers, shape (S,).
        p: shape (S - 1,).
        means: means of the bootstrap draws, shape (S,); NaN where it makes none.
        half_widths: half of the distance between the 2.5 % and the 97.5 % draw, printed after "±", shape (S,).
    """

    values: Array
    p: Array
    means: Array
    half_widths: Array


def paired_bootstrap(stats: Array, finish: Finish, draws: int, seed: int) -> Found:
    """`PairedTest(test_type="bs")`: p = (#{|d*| - mean |d*| > |d|} + 1) / (B + 1); shape (S, n, k), baseline first."""
    values = _values(stats, finish)
    drawn = _bootstrap(stats, finish, draws, np.random.default_rng(seed))
    p = []
    for value, column in zip(values[1:], drawn[1:], strict=True):
        distances = np.abs(column - drawn[0])
        p.append(_p_value(distances - distances.mean(), abs(values[0] - value)))
    return Found(values, np.array(p), *_intervals(drawn))


def paired_randomisation(stats: Array, finish: Finish, draws: int, seed: int, interval_draws: int) -> Found:
    """`PairedTest(test_type="ar", n_ar_confidence=interval_draws)`: p = (#{|d*| > |d|} + 1) / (B + 1)."""
    values = _values(stats, finish)
    rng = np.random.default_rng(seed)
    p = []
    for value, distances in zip(values[1:], _swaps(stats, finish, draws, rng), strict=True):
        p.append(_p_value(distances, abs(values[0] - value)))
    if interval_draws < 1:
        absent = np.full(len(values), np.nan)
        return Found(values, np.array(p), absent, absent)
    # There the baseline is drawn from a fresh generator and the systems from the one that tossed the coins.
    drawn = [
        *_bootstrap(stats[:1], finish, interval_draws, np.random.default_rng(seed)),
        *_bootstrap(stats[1:], finish, interval_draws, rng),
    ]
    return Found(values, np.array(p), *_intervals(drawn))


def _values(stats: Array, finish: Finish) -> Array:
    return np.asarray(finish(stats.sum(axis=1)), dtype=np.float64)


def _bootstrap(stats: Array, finish: Finish, draws: int, rng: np.random.Generator) -> list[Floats]:
    """Corpus numbers on B resamples, a column of shape (B,) each system."""
    n_systems, n, k = stats.shape
    single = stats.astype(np.float32)
    table = single.transpose(1, 0, 2).reshape(n, -1)
    exact = is_whole(stats, n * float(np.abs(stats).max()))
    parts = []
    for block in blocks(draws, n):
        size = block.stop - block.start
        if exact:
            totals = resample_counts(rng, size, n, np.float32) @ table
        else:  # the order of additions matters now: repeat it
            index = rng.integers(n, size=(size, n))
            totals = np.stack([[rows[drawn].sum(0) for rows in single] for drawn in index])
        parts.append(totals.reshape(size, n_systems, k))
    totals = np.concatenate(parts)
    return [np.asarray(finish(totals[:, s])) for s in range(n_systems)]


def _swaps(stats: Array, finish: Finish, draws: int, rng: np.random.Generator) -> list[Array]:
    """|d*| of every shuffle, a column of shape (B,) each system but the first."""
    n_systems, n, k = stats.shape
    sums, gaps = stats.sum(axis=1), stats[1:] - stats[0]
    if not is_whole(stats, n * float(np.abs(stats).max())):
        # Sums that are equal on paper decide ties by their last digits: make the very products that it makes.
        kept = rng.integers(2, size=(draws, n), dtype=bool)
        pairs = [(kept @ stats[0] + ~kept @ rows, ~kept @ stats[0] + kept @ rows) for rows in stats[1:]]
        return [np.abs(finish(ours) - finish(theirs)) for ours, theirs in pairs]
    table = gaps.transpose(1, 0, 2).reshape(n, -1).astype(np.float32)
    parts = []
    for block in blocks(draws, n, multiple=32):  # 32 coins come from one word: no block ends inside one
        kept = rng.integers(2, size=(block.stop - block.start, n), dtype=bool)
        moved = (kept.astype(np.float32) @ table).astype(np.float64).reshape(-1, n_systems - 1, k)
        parts.append(np.abs(finish(sums[1:] - moved) - finish(sums[0] + moved)))
    return list(np.concatenate(parts).T)


def _p_value(distances: Floats, difference: float) -> float:
    # A Python float takes the precision of the array it is compared with.
    return (int((distances > distances.dtype.type(difference)).sum()) + 1) / (len(distances) + 1)


def _intervals(drawn: list[Floats]) -> tuple[Array, Array]:
    means, half_widths = [], []
    for column in drawn:
        ordered = np.sort(column)
        tail = len(ordered) // 40
        means.append(float(ordered.mean()))
        half_widths.append(float(0.5 * (ordered[len(ordered) - tail - 1] - ordered[tail])))
    return np.array(means), np.array(half_widths)
