"""What may items do that were not seen? Bounds from the share that a sample can miss, and the most that each can lose.

Items are drawn whole, or in clusters: of those a `weight` says how large a missed one may be, in mean sizes.
"""

from __future__ import annotations

import math

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.stats.shares import clopper_pearson

_MISSED = np.geomspace(
    1, 1e-3, 200
)  # chances that a sample has none of those that lose all, the share of which follows
_TWICE = 2  # the largest loss that was seen, at most: docs/studies/gate.md


def worst_case_bound(
    losing: int, n: int, largest: float, alpha: float = 0.05, *, common: float = 0.0, weight: float = 1.0
) -> float:
    """A lower bound of the mean difference that holds whatever the losses are: each is taken as the largest possible.

    Args:
        losing: items, or clusters, whose difference is below the common one.
        n: all of them.
        largest: the largest loss that the scale of the scores allows, above 0.
        alpha: the chance that the bound is too high.
        common: the difference that the others have at least.
        weight: the size of the largest cluster, in mean sizes.

    Returns:
        With q, the upper Clopper-Pearson bound of the share of losing items: (1 - q) common - q largest.
    """
    share = _weighed(clopper_pearson(losing, n, 1 - 2 * alpha)[1], weight)
    return common - share * (largest + common)


def worst_case_p(
    losing: int, n: int, largest: float, value: float, *, common: float = 0.0, weight: float = 1.0
) -> float:
    """The p-value of the claim that the true mean is above a value, in accord with `worst_case_bound`.

    Args:
        losing, n, largest, common, weight: as there.
        value: the claimed bound; from `common` on nothing is shown.
    """
    from scipy import special

    share = _unweighed(value, largest, common, weight)
    if share <= 0:
        return 1.0
    return 0.0 if share >= 1 else float(special.bdtr(losing, n, share))


def items_without_loss(largest: float, allow: float, alpha: float = 0.05, weight: float = 1.0) -> int | None:
    """How many items without a loss show by the worst case that no more than `allow` is lost; None for no number."""
    share = _unweighed(-allow, largest, 0.0, weight)
    if share <= 0:
        return None
    return 1 if share >= 1 else math.ceil(math.log(alpha) / math.log1p(-share))


def believed_loss(values: Array) -> Array:
    """The loss that an item may have where no limit is known, from the tail of those that were seen.

    What noise does it does on both sides. Where losses reach farther than gains, they may reach farther still, and the
    largest loss is believed to be as many times as large, twice at most.

    Args:
        values: differences, shape (..., n).
    """
    loss, gain = np.maximum(-values.min(axis=-1), 0.0), np.maximum(values.max(axis=-1), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(loss * np.clip(np.nan_to_num(loss / gain, nan=1.0), 1, _TWICE))


def unseen_bound(mean: Array, error: Array, n: int, largest: Array, alpha: float = 0.05, weight: float = 1.0) -> Array:
    """A lower bound of a mean difference that reckons with losses too rare to be in the sample.

    Say a share p loses the most, and the others have a mean of m. That a sample has none of the former has the chance
    (1 - p)^n, and that its mean is then so far above m follows from Student's t. Of all p and m for which both together
    come out with `alpha` the worst is the bound. Without spread it is that of the worst case; where the spread is large
    beside largest / sqrt(n), it is Student's.

    Args:
        mean, error: means of samples and their standard errors, of any shape.
        n: items, or clusters, of each sample.
        largest: the loss of a missed item, of the same shape.
        alpha, weight: as in `worst_case_bound`.
    """
    from scipy import special

    missed = _MISSED[alpha < _MISSED]
    reach = -special.stdtrit(n - 1, alpha / missed) if n > 1 else np.zeros(len(missed))
    p = 1 - missed ** (1 / n)
    shape = (-1,) + (1,) * np.ndim(mean)
    p, reach = p.reshape(shape), reach.reshape(shape)
    rest = (1 - p) * (mean - error * reach)
    return np.asarray(((rest - p * weight * largest) / (1 - p + p * weight)).min(axis=0))


def unseen_p(mean: float, error: float, n: int, largest: float, value: float, weight: float = 1.0) -> float:
    """The p-value of the claim that the true mean is above a value, in accord with `unseen_bound`."""
    from scipy import special

    p = 1 - _MISSED ** (1 / n)
    rest = (value * (1 - p + p * weight) + p * weight * largest) / (1 - p)
    if not error > 0:
        return float((_MISSED * (rest >= mean)).max())
    return float((_MISSED * special.stdtr(n - 1, (rest - mean) / error)).max())


def _weighed(share: float, weight: float) -> float:
    """The share of items in a share of clusters."""
    return share * weight / (1 - share + share * weight)


def _unweighed(value: float, largest: float, common: float, weight: float) -> float:
    """The share of clusters that must lose all for the mean to be a value."""
    share = (common - value) / (largest + common) if largest + common > 0 else 0.0
    return share / (share + weight * (1 - share)) if 0 < share < 1 else share
