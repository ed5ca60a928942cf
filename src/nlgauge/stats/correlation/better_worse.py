"""Does a metric prefer what people prefer? Pairs with a known order: Kendall-like statistics and preference accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.averaging import Ratio, blocks_of_groups
from nlgauge.stats.correlation.entries import Codes, choose
from nlgauge.stats.correlation.pairs import check_vectors, pair_counts

Tally = npt.NDArray[Any]  # whole numbers of pairs

TIES = ("loss", "half", "exclude", "zero")

_SLACK = 1e-9  # 75.1 - 50.1 is 24.999999999999993 in float64, yet people would say 25


def kendall_like(
    x: Array, z: Array, *, threshold: float = 25.0, ties: str = "loss", human_ties_lose: bool = False
) -> Ratio:
    """WMT's Kendall-like statistic over the pairs that people tell apart clearly.

    Args:
        x: scores, shape (..., n), all of one source.
        z: judgements, shape (..., n); leading axes broadcast.
        threshold: pairs at least so far apart count (inclusive); pairs that people tie never do.
        ties: what a pair is that the metric ties; WMT counts it as a loss.
        human_ties_lose: with a threshold of 0, count pairs tied by people as losses, as mt-metrics-eval does.

    Returns:
        Wins less losses, and the pairs counted, shape (...).

    References:
        Bojar, Graham and Kamran (2017), "Results of the WMT17 Metrics Shared Task", section 3.2; Xu et al. (2022), "Not
        All Errors are Equal" (SEScore), equation 3, which is this with threshold 0.
    """
    if not threshold >= 0:
        raise InputError(f"threshold is {threshold}, expected the least distance of two judgements, 0 or more")
    counts = pair_counts(x, z, human_epsilon=threshold * (1 - _SLACK))
    losses = counts.discordant
    if human_ties_lose and threshold == 0:
        losses = losses + counts.tied_z + counts.tied_both
    return tau_of(counts.concordant, losses, counts.tied_x, ties)


def rr_kendall(better: Array, worse: Array, *, ties: str = "loss") -> Ratio:
    """Kendall-like statistic of ready-made pairs: scores of the better and of the worse text, shape (..., n); see `tau_of`."""
    return tau_of(*outcomes(better, worse), ties)


def preference(better: Array, worse: Array, *, ties: str = "loss") -> Ratio:
    """Share of pairs in which the better text gets the higher score, shape (..., n) to (...); see `accuracy_of`."""
    return accuracy_of(*outcomes(better, worse), ties)


def outcomes(better: Array, worse: Array) -> tuple[Tally, Tally, Tally]:
    """Wins, losses and ties along the last axis; a NaN on either side is a loss."""
    better, worse = check_vectors(better, worse), check_vectors(worse, better)
    wins, ties = (better > worse).sum(axis=-1), (better == worse).sum(axis=-1)
    return wins, better.shape[-1] - wins - ties, ties


def tau_of(wins: Tally, losses: Tally, ties: Tally, policy: str) -> Ratio:
    """(wins - losses) / pairs; a tie is a loss (`loss`), no pair (`exclude`), or a pair that adds nothing (`half` and `zero`)."""
    choose(policy, TIES, "ties")
    lost = losses + ties if policy == "loss" else losses
    counted = wins + losses if policy == "exclude" else wins + losses + ties
    return Ratio(
        np.asarray(wins - lost, dtype=np.float64),
        np.asarray(counted, dtype=np.float64),
        np.asarray(ties, dtype=np.float64),
    )


def accuracy_of(wins: Tally, losses: Tally, ties: Tally, policy: str) -> Ratio:
    """Wins / pairs; a tie wins nothing (`loss` and `zero`), half (`half`), or is no pair (`exclude`)."""
    choose(policy, TIES, "ties")
    won = wins + ties / 2 if policy == "half" else wins
    counted = wins + losses if policy == "exclude" else wins + losses + ties
    return Ratio(
        np.asarray(won, dtype=np.float64), np.asarray(counted, dtype=np.float64), np.asarray(ties, dtype=np.float64)
    )


def darr_pairs(z: Array, groups: Codes, *, threshold: float = 25.0) -> tuple[Codes, Codes]:
    """Better/worse pairs from direct assessments of one source (DARR).

    Args:
        z: judgements, shape (n,), NaN where there is none.
        groups: the source of each entry, shape (n,), whole numbers from 0.
        threshold: the least distance of two judgements, inclusive.

    Returns:
        Positions of the better and of the worse entry of each pair, each of shape (pairs,).

    References:
        Ma, Bojar and Graham (2018), "Results of the WMT18 Metrics Shared Task", section 3.2.
    """
    better, worse = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for _, index in blocks_of_groups(groups, ~np.isnan(z), int(groups.max(initial=-1)) + 1):
        first, second = (index[:, side].ravel() for side in np.triu_indices(index.shape[1], 1))
        gap = z[first] - z[second]
        clear = (np.abs(gap) >= threshold * (1 - _SLACK)) & (gap != 0)
        better.append(np.where(gap > 0, first, second)[clear])
        worse.append(np.where(gap > 0, second, first)[clear])
    return np.concatenate(better), np.concatenate(worse)
