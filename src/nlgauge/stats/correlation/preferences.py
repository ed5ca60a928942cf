"""Does a metric prefer what people prefer? Pairs with a known order: Kendall-like statistics and accuracy."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.correlation.averaging import Ratio, blocks_of_groups
from nlgauge.stats.correlation.entries import Codes, PairPolicy, check_vectors, codes, numbers
from nlgauge.stats.correlation.pairs import pair_counts
from nlgauge.stats.correlation.rounding import decimals, settled, slack
from nlgauge.stats.draws import check_level
from nlgauge.stats.shares import SHARES, Interval

Tally = npt.NDArray[Any]  # whole numbers of pairs

Ties = Literal["loss", "half", "exclude", "zero"]
TIES: tuple[Ties, ...] = get_args(Ties)

_SLACK = 1e-9  # 75.1 - 50.1 is 24.999999999999993 in float64, yet people would say 25


@dataclass(frozen=True, kw_only=True)
class PreferenceAccuracy:
    """How often a metric prefers the better text.

    Attributes:
        value: the share of pairs, with ties settled by `ties`. Over several groups it is the plain mean of their
            shares. NaN without a pair.
        low: lower end of the interval; NaN for a mean of groups.
        high: upper end.
        wins: pairs in which the better text scores higher.
        n_ties: pairs with equal scores.
        losses: all other pairs.
        n_used: pairs in the denominator, or groups in the mean.
        n_undefined: pairs that do not count (a score is missing, or a tie is excluded), or groups without a pair.
        chance: the value of a metric that guesses wherever it does not tie.
        level: always `segment`.
        averaging: `none`, or `item` for a mean of groups.
        ties: how ties are settled.
        confidence: the confidence of the interval.
        groups: the result of each group, in the order of their first pair; empty without groups.
    """

    value: float
    low: float
    high: float
    wins: int
    n_ties: int
    losses: int
    n_used: int
    n_undefined: int
    chance: float
    level: str
    averaging: str
    ties: str
    confidence: float
    groups: dict[Hashable, PreferenceAccuracy]


def kendall_like(
    x: Array,
    z: Array,
    *,
    threshold: float = 25.0,
    ties: str = "loss",
    human_ties_lose: bool = False,
    exact: bool = False,
) -> Ratio:
    """WMT's Kendall-like statistic over the pairs that people clearly tell apart.

    Args:
        x: scores, shape (..., n), all of one source.
        z: judgements, shape (..., n); leading axes broadcast.
        threshold: pairs that differ by at least this count (inclusive); pairs that people tie never do.
        ties: how a pair counts that the metric ties; WMT counts it as a loss.
        human_ties_lose: with a threshold of 0, count pairs tied by people as losses, as mt-metrics-eval does.
        exact: see `pair_counts`.

    Returns:
        Wins minus losses, and the number of pairs counted, as a ratio of shape (...).

    References:
        Bojar, Graham and Kamran (2017), "Results of the WMT17 Metrics Shared Task", section 3.2; Xu et al. (2022),
        "Not All Errors are Equal" (SEScore), equation 3, which is this with threshold 0.
    """
    if not threshold >= 0:
        raise InputError(f"threshold is {threshold}, expected the least distance of two judgements, 0 or more")
    below = max(threshold * (1 - _SLACK) - (0.0 if exact else 2 * float(slack(z).max(initial=0.0))), 0.0)
    counts = pair_counts(x, z, human_epsilon=below, exact=exact)
    losses = counts.discordant
    if human_ties_lose and threshold == 0:
        losses = losses + counts.tied_z + counts.tied_both
    return tau_of(counts.concordant, losses, counts.tied_x, ties)


def rr_kendall(better: Array, worse: Array, *, ties: str = "loss") -> Ratio:
    """Kendall-like statistic of ready-made pairs: better and worse scores, shape (..., n); see `tau_of`."""
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
    """(wins - losses) / pairs. A tie is a loss (`loss`), is not counted (`exclude`), or adds 0 (`half`, `zero`)."""
    check_option("ties", policy, Ties, error=InputError)
    lost = losses + ties if policy == "loss" else losses
    counted = wins + losses if policy == "exclude" else wins + losses + ties
    return Ratio(
        np.asarray(wins - lost, dtype=np.float64),
        np.asarray(counted, dtype=np.float64),
        np.asarray(ties, dtype=np.float64),
    )


def accuracy_of(wins: Tally, losses: Tally, ties: Tally, policy: str) -> Ratio:
    """Wins / pairs. A tie counts as 0 (`loss`, `zero`), as half a win (`half`), or not as a pair (`exclude`)."""
    check_option("ties", policy, Ties, error=InputError)
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
        threshold: the smallest difference of two judgements that makes a pair, inclusive.

    Returns:
        Positions of the better and of the worse entry of each pair, each of shape (pairs,).

    References:
        Ma, Bojar and Graham (2018), "Results of the WMT18 Metrics Shared Task", section 3.2.
    """
    better, worse = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    places = decimals(z)
    for _, index in blocks_of_groups(groups, ~np.isnan(z), int(groups.max(initial=-1)) + 1):
        first, second = (index[:, side].ravel() for side in np.triu_indices(index.shape[1], 1))
        gap = settled(z[first] - z[second], places)
        clear = (np.abs(gap) >= threshold * (1 - _SLACK)) & (gap != 0)
        better.append(np.where(gap > 0, first, second)[clear])
        worse.append(np.where(gap > 0, second, first)[clear])
    return np.concatenate(better), np.concatenate(worse)


def preference_accuracy(
    better: Sequence[float | None] | Array,
    worse: Sequence[float | None] | Array,
    groups: Sequence[Hashable] | None = None,
    *,
    ties: str = "loss",
    missing: str = "refuse",
    confidence: float = 0.95,
    interval: str = "wilson",
) -> PreferenceAccuracy:
    """The share of pairs in which the better text gets the higher score.

    Args:
        better, worse: scores of the better and of the worse texts, shape (n,); higher is better.
        groups: a label for each pair, such as its phenomenon. The value is then the plain mean over groups, as suites
            report it.
        ties: `loss`, `half`, `exclude`, or `zero`, which is `loss` here.
        missing: a pair with a missing score is refused (`refuse`), left out (`drop`) or lost (`worst`).
        confidence, interval: of the interval; `wilson`, or `clopper-pearson`, which is exact and wider.

    Raises:
        InputError: lengths are unequal, a score is missing under `refuse`, or an option is out of its range.

    References: Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference".
    """
    check_option("ties", ties, Ties, error=InputError)
    check_option("missing", missing, PairPolicy, error=InputError)
    check_level(confidence)
    check_option("interval", interval, Interval, error=InputError)
    good, bad = numbers(better, "scores of the better texts"), numbers(worse, "scores of the worse texts")
    good, bad = check_vectors(good, bad), check_vectors(bad, good)
    absent = np.isnan(good) | np.isnan(bad)
    if absent.any() and missing == "refuse":
        raise InputError(f"a score is missing in {places(absent)}; choose missing='drop' or 'worst'")
    kept = ~absent if missing == "drop" else np.ones(len(good), dtype=np.bool_)
    whole = _settled(good, bad, kept, ties, confidence, interval)
    if groups is None:
        return whole
    of, labels = codes(groups, len(good), "groups")
    parts = {
        label: _settled(good[of == g], bad[of == g], kept[of == g], ties, confidence, interval)
        for g, label in enumerate(labels)
    }
    defined = [part for part in parts.values() if not math.isnan(part.value)]
    return PreferenceAccuracy(
        value=float(np.mean([part.value for part in defined])) if defined else math.nan,
        low=math.nan,
        high=math.nan,
        wins=whole.wins,
        n_ties=whole.n_ties,
        losses=whole.losses,
        n_used=len(defined),
        n_undefined=len(parts) - len(defined),
        chance=float(np.mean([part.chance for part in defined])) if defined else math.nan,
        level="segment",
        averaging="item",
        ties=ties,
        confidence=confidence,
        groups=parts,
    )


def places(absent: Mask) -> str:
    """How many pairs lack a score, and the first of them, for an error message."""
    return f"{absent.sum()} of {len(absent)} pairs (first: pair {int(np.flatnonzero(absent)[0])})"


def _settled(good: Array, bad: Array, kept: Mask, ties: str, confidence: float, interval: str) -> PreferenceAccuracy:
    wins, losses, tied = (int(count) for count in outcomes(good[kept], bad[kept]))
    ratio = accuracy_of(np.asarray(wins), np.asarray(losses), np.asarray(tied), ties)
    low, high = SHARES[interval](float(ratio.numerator), float(ratio.denominator), confidence)
    guessed = accuracy_of(np.asarray((wins + losses) / 2), np.asarray((wins + losses) / 2), np.asarray(tied), ties)
    return PreferenceAccuracy(
        value=float(ratio.value),
        low=low,
        high=high,
        wins=wins,
        n_ties=tied,
        losses=losses,
        n_used=int(ratio.denominator),
        n_undefined=len(good) - int(ratio.denominator),
        chance=float(guessed.value),
        level="segment",
        averaging="none",
        ties=ties,
        confidence=confidence,
        groups={},
    )
