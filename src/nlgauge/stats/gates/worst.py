"""What is the worst that unseen items may do? A bound from the share of items that lose, and the largest loss."""

from __future__ import annotations

from nlgauge.stats.shares import clopper_pearson


def worst_case_bound(losing: int, n: int, largest: float, alpha: float = 0.05) -> float:
    """A lower bound of the mean difference that holds whatever the losses are: each is taken as the largest possible.

    Args:
        losing: items whose difference is below 0.
        n: all items.
        largest: the largest loss that the scale of the scores allows, above 0.
        alpha: the chance that the bound is too high.

    Returns:
        At most 0; minus the upper Clopper-Pearson bound of the share of losing items, times the largest loss.
    """
    return -clopper_pearson(losing, n, 1 - 2 * alpha)[1] * largest


def worst_case_p(losing: int, n: int, largest: float, value: float) -> float:
    """The p-value of the claim that the true mean is above a value, in accord with `worst_case_bound`.

    Args:
        losing, n, largest: as there.
        value: the claimed bound; from 0 on nothing is shown.
    """
    from scipy import special

    share = -value / largest
    if share <= 0:
        return 1.0
    return 0.0 if share >= 1 else float(special.bdtr(losing, n, share))


def items_without_loss(largest: float, allow: float, alpha: float = 0.05) -> int | None:
    """How many items without a loss show by the worst case that no more than `allow` is lost; None for no number."""
    import math

    share = allow / largest
    if share <= 0:
        return None
    return 1 if share >= 1 else math.ceil(math.log(alpha) / math.log1p(-share))
