"""Does a difference between two systems stay on another half of the items? The share of halves on which it does."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Array, Floats
from nlgauge.stats.draws import Finish, Seed, check_stats, fair_coins, generator, pairs_of, percentiles, resample_counts


@dataclass(frozen=True, eq=False)
class Halves:
    """How often differences between systems have one sign on two random halves of the items.

    Attributes:
        value: the share, over all pairs of systems and draws; a tie is half a win, and chance is 0.5.
        low, high: the ends of its 95 % interval.
        draws: the share on B resamples of the items, shape (B,).
        n: the number of pairs of systems.
    """

    value: float
    low: float
    high: float
    draws: Array
    n: int


def stable_on_halves(stats: Array, finish: Finish, *, draws: int = 1000, seed: Seed = 0) -> Halves:
    """The share of draws in which the difference of two systems has one sign on both halves of the items.

    The resamples say how far the share varies: each makes another share expected, if differences are normal, and these
    are moved so that their mean is the share.

    Args:
        stats: segment statistics, shape (S, n, k), as for `bootstrap_interval`; two systems or more.
        finish: maps totals of shape (..., k) to corpus scores of shape (...).
        draws: the number of splits, and of resamples.
        seed: a whole number or a generator, which is advanced.

    Raises:
        InputError: fewer than 2 systems or items, or statistics that are not finite.
    """
    stats = check_stats(stats, systems=2)
    one, other = pairs_of(len(stats))
    rng = generator(seed)
    coins = fair_coins(rng, draws, stats.shape[1])
    halves = [corpus_scores(stats, finish, side) for side in (coins, 1 - coins)]  # each (B, S)
    signs = [np.sign(half[:, one] - half[:, other]) for half in halves]
    both = signs[0] * signs[1]
    known = ~np.isnan(both)
    value = float(((both[known] + 1) / 2).mean()) if known.any() else 0.5
    values = corpus_scores(stats, finish, resample_counts(rng, draws, stats.shape[1]))
    drawn = np.clip(value + _expected(values[:, one] - values[:, other]), 0.0, 1.0)
    low, high = percentiles(drawn[:, None], 0.95)
    return Halves(value, float(low[0]), float(high[0]), drawn, len(one))


def corpus_scores(stats: Array, finish: Finish, times: Floats) -> Array:
    """Corpus scores of S systems over items that count so often as `times` of shape (B, n) says, shape (B, S)."""
    totals = np.einsum("bn,snk->bsk", times, stats)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(finish(totals), dtype=np.float64)


def _expected(gaps: Array) -> Array:
    """The share that each of B resamples makes expect, less the mean of all; gaps have shape (B, pairs)."""
    from scipy import special

    error = np.maximum(np.nanstd(gaps, axis=0), 1e-12)
    p = special.ndtr(np.abs(np.nan_to_num(gaps)) / (math.sqrt(2) * error))  # a half varies by sqrt(2) more
    expected = (p**2 + (1 - p) ** 2).mean(axis=1)
    return np.asarray(expected - expected.mean())
