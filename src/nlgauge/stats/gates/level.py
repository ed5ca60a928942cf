"""Is a mean surely above a number? Bounds of one system's mean score, by the methods of paired differences."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.stats.gates.decision import Bound, bound_difference
from nlgauge.stats.gates.studentized import DRAWS
from nlgauge.stats.shares import clopper_pearson


def bound_level(
    scores: Array,
    value: float,
    clusters: Sequence[Hashable] | None = None,
    *,
    alpha: float = 0.05,
    is_rate: bool = False,
    least: float = -math.inf,
    draws: int = DRAWS,
    seed: int = 0,
) -> Bound:
    """Bound a mean score, of which PASS says that it is above `value`.

    A pass rate gets the interval of Clopper and Pearson. Other scores are differences from their commonest value, so
    that scores which are nearly all alike are not taken for certain.

    Args:
        scores: of each item, higher is better, shape (n,); all defined.
        value: the number.
        clusters: the cluster of each item, length n; None where items are independent.
        alpha: the chance of a false PASS, and of a false FAIL, where the mean is equal to `value`.
        is_rate: whether the scores are 0 and 1, one run each.
        least: the lowest possible score.
        draws, seed: of the bootstrap.

    Returns:
        `delta`, `low` and `high` are the mean and its bounds; `allow` has no meaning.

    Raises:
        InputError: there is no score.
    """
    known = np.asarray(scores, dtype=np.float64)
    if is_rate and clusters is None and len(known):
        return _rate(known, value, alpha)
    values, counts = np.unique(known, return_counts=True)
    common = float(values[counts.argmax()]) if len(values) else 0.0
    centre = max(common, value)
    found = bound_difference(
        known - centre,
        clusters,
        allow=centre - value,
        alpha=alpha,
        largest=centre - least if math.isfinite(least) and centre > least else None,
        draws=draws,
        seed=seed,
    )
    mean = float(known.mean())
    return replace(
        found,
        delta=mean,
        low=found.low + centre,
        high=found.high + centre,
        items_needed=found.items_needed if found.method == "worst-case" else _needed(found, mean - value),
    )


def _needed(found: Bound, above: float) -> int | None:
    """The items with which a mean so far above is seen with power .8."""
    if not (above > 0 and math.isfinite(found.smallest_drop)):
        return None
    return max(1, math.ceil(found.n * (found.smallest_drop / above) ** 2))


def _rate(known: Array, value: float, alpha: float) -> Bound:
    from scipy import special

    n, wins = len(known), int(known.sum())
    low, high = clopper_pearson(wins, n, 1 - 2 * alpha)
    share = min(1.0, max(0.0, value))
    rate = wins / n
    error = math.sqrt(rate * (1 - rate) / n)
    found = Bound(
        method="clopper-pearson",
        delta=rate,
        error=error,
        low=low,
        high=high,
        p_pass=1.0 if wins == 0 else float(special.betainc(wins, n - wins + 1, share)),
        p_fail=1.0 if wins == n else float(special.betainc(n - wins, wins + 1, 1 - share)),
        allow=0.0,
        alpha=alpha,
        n=n,
        n_changed=n,
        n_clusters=None,
        smallest_drop=float(special.ndtri(1 - alpha) + special.ndtri(0.8)) * error,
        items_needed=None,
    )
    if wins == n and 0 < value < 1:  # so many passes in a row are rare enough
        return replace(found, items_needed=math.ceil(math.log(alpha) / math.log(value)))
    return replace(found, items_needed=_needed(found, rate - value))
