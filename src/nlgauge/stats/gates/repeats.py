"""Several runs of one item: how much is flicker, and which items pass too rarely?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.differences.multiplicity import holm


def within_variance(runs: Sequence[Array]) -> Array:
    """The variance of each item's mean that is due to its runs alone, shape (n,); NaN for a single run.

    Args:
        runs: the scores of each item, one array per item.
    """
    return np.array([one.var(ddof=1) / len(one) if len(one) > 1 else math.nan for one in runs])


def flicker(differences: Array, *sides: Sequence[Array]) -> float:
    """The share of the variance of differences that more runs of each item would take away, in [0, 1].

    Args:
        differences: of the means of items, shape (n,).
        sides: the scores of each item, for each of the two systems that has several runs.

    Returns:
        NaN where no item has two runs, or no difference varies.
    """
    known = [found for side in sides if not np.isnan(found := within_variance(side)).all()]
    total = float(np.var(differences, ddof=1)) if len(differences) > 1 else 0.0
    if not known or total <= 0:
        return math.nan
    return min(1.0, sum(float(np.nanmean(found)) for found in known) / total)


def rarely_passing(
    passes: Sequence[int], runs: Sequence[int], demand: float, *, alpha: float = 0.05
) -> npt.NDArray[np.bool_]:
    """The items that pass clearly more rarely than demanded, shape (n,); any sound item is among them with alpha.

    An item that passes 7 of 10 runs where 8 are demanded may be sound: with a true rate of .8 it does so every third
    time. An item is flagged if a Clopper-Pearson bound of its rate, by Holm over all items, is below the demand.

    Args:
        passes: runs that pass, of each item.
        runs: all runs of each item.
        demand: the share of runs that must pass, above 0 and up to 1.
        alpha: the chance that any item is flagged whose true rate is the demand.
    """
    from scipy import special

    if not 0 < demand <= 1:
        raise InputError(f"demand is {demand}, expected a share of runs above 0 and up to 1")
    k, n = np.asarray(passes, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    if k.shape != n.shape or (k > n).any() or (k < 0).any():
        raise InputError("passes and runs do not go together, expected at most as many passes as runs, per item")
    p = np.where(k == n, 1.0, special.betainc(np.maximum(n - k, 1), k + 1, 1 - demand))
    return np.asarray((n > 0) & (holm(p) <= alpha))
