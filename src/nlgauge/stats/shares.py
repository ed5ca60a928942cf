"""How far may a share or a mean be from its true value? Wilson's interval, Student's, and one for a mean of shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.stats.draws import check_level

FEWEST = 10  # trials: a share of fewer proves nothing, even if all of them are won


def wilson(wins: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a share of n independent trials, in [0, 1]; NaN where there is no trial.

    Args:
        wins: trials won; halves are allowed.
        n: trials.
        confidence: of the interval.

    References:
        Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference".
    """
    from scipy import special

    check_level(confidence)
    if n <= 0:
        return math.nan, math.nan
    z = float(special.ndtri((1 + confidence) / 2))
    p, room = wins / n, 1 + z * z / n
    middle = (p + z * z / (2 * n)) / room
    half = z / room * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # rounding may leave the end of a share of 0 or 1 a hair inside
    return (0.0 if wins <= 0 else max(0.0, middle - half)), (1.0 if wins >= n else min(1.0, middle + half))


def clopper_pearson(wins: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Exact interval of a share of n independent trials, in [0, 1]: it covers at least as often as it says.

    Arguments and absence are those of `wilson`. It is wider than Wilson's interval, which covers as often as it says on
    average; half a win counts as half.

    References:
        Clopper and Pearson (1934), "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial".
    """
    from scipy import special

    check_level(confidence)
    if n <= 0:
        return math.nan, math.nan
    tail = (1 - confidence) / 2
    low = 0.0 if wins <= 0 else float(special.betaincinv(wins, n - wins + 1, tail))
    high = 1.0 if wins >= n else float(special.betaincinv(wins + 1, n - wins, 1 - tail))
    return low, high


Interval = Literal["wilson", "clopper-pearson"]
SHARES: dict[str, Callable[[float, float, float], tuple[float, float]]] = {
    "wilson": wilson,
    "clopper-pearson": clopper_pearson,
}
SHARE_NAMES = {"wilson": "Wilson's", "clopper-pearson": "Clopper and Pearson's"}


def mean_of_shares(
    wins: Sequence[float], n: Sequence[float], confidence: float = 0.95, interval: str = "wilson"
) -> tuple[float, float, float]:
    """The plain mean of several shares and its interval; shares of no trial are left out, NaN where none is left.

    The shares are taken as independent. The interval is Wilson's for the effective number of trials: that of one share
    which is equal to the mean and varies as much as the mean does. One share, or equal shares of equally many trials,
    thus get Wilson's interval of all trials together.

    Args:
        wins, n: of each share.
        confidence: of the interval.
        interval: `wilson`, or `clopper-pearson`, with the same effective number of trials.

    Returns:
        Mean, lower and upper end, in [0, 1].

    References:
        Korn and Graubard (1998), "Confidence Intervals for Proportions with Small Expected Number of Positive Counts
        Estimated from Survey Data", for the effective number of trials. Simulated:
        `recipes/studies/coverage/simulate.py`.
    """
    check_level(confidence)
    kept = [(w, m) for w, m in zip(wins, n, strict=True) if m > 0]
    if not kept:
        return math.nan, math.nan, math.nan
    trials = mean_trials(wins, n)
    value = sum(w / m for w, m in kept) / len(kept)
    low, high = SHARES[interval](value * trials, trials, confidence)
    return value, low, high


def mean_trials(wins: Sequence[float], n: Sequence[float]) -> float:
    """The effective number of trials of a mean of shares, at least one of which has a trial; see `mean_of_shares`."""
    kept = [(w, m) for w, m in zip(wins, n, strict=True) if m > 0]
    # A half more on either side, so that shares of 0 and 1 are not certain.
    chances = [(w + 0.5) / (m + 1) for w, m in kept]
    variance = sum(p * (1 - p) / m for p, (_, m) in zip(chances, kept, strict=True)) / len(kept) ** 2
    chance = sum(chances) / len(kept)
    return chance * (1 - chance) / variance


def dependent_trials(trials: float, parts: Array, clusters: Sequence[Hashable], confidence: float = 0.95) -> float:
    """How many independent trials tell as much as n trials do of which some have one origin.

    Their number is divided by the design effect: how much more the sum of parts varies when whole origins are drawn
    than when trials are. It is divided once more for what few origins say of that, by the squared ratio of Student's
    quantiles for the numbers of origins and of trials.

    Args:
        trials: their number if they were independent: n for a plain share, `mean_trials` for a mean of shares.
        parts: by how much each trial moves the share from its value, shape (n,); they add up to 0. For a plain share,
            (outcome - share) / n.
        clusters: the origin of each trial, length n.
        confidence: of the interval that the number is for.

    Returns:
        At most `trials`. If no outcome differs from the others, the number for trials that always agree within an
        origin.

    References:
        Korn and Graubard (1998), as in `mean_of_shares`; Kish (1965), "Survey Sampling", for trials that all agree.
    """
    from scipy import special

    numbers: dict[Hashable, int] = {}
    places = np.array([numbers.setdefault(one, len(numbers)) for one in clusters], dtype=np.int64)
    sizes = np.bincount(places)
    n, n_clusters = len(parts), len(sizes)
    if n_clusters == n:
        return trials
    alone, together = float((parts**2).sum()), float((np.bincount(places, weights=parts) ** 2).sum())
    if n_clusters < 2 or alone <= 0:
        return trials * n / float((sizes**2).sum())
    effect = max(1.0, together / alone * n_clusters / (n_clusters - 1) * (n - 1) / n)
    tail = (1 + confidence) / 2
    few = float(special.stdtrit(n - 1, tail) / special.stdtrit(n_clusters - 1, tail)) ** 2
    return trials / effect * few


def mean_interval(values: Array, confidence: float = 0.95) -> tuple[float, float, float]:
    """Mean of the defined values, shape (n,), with Student's interval; NaN ends where fewer than two are defined."""
    from scipy import special

    check_level(confidence)
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if not len(known):
        return math.nan, math.nan, math.nan
    mean = float(known.mean())
    if len(known) < 2:
        return mean, math.nan, math.nan
    half = (
        float(special.stdtrit(len(known) - 1, (1 + confidence) / 2)) * float(known.std(ddof=1)) / math.sqrt(len(known))
    )
    return mean, mean - half, mean + half
