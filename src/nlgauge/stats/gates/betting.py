"""May one look after every item? Bounds of a mean that hold at any time, from bets against it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError

_HALVINGS = 40
_MOST = 0.75  # of what a bet may lose


@dataclass(frozen=True)
class Bets:
    """A sequence of differences, on which one may look at any time.

    Attributes:
        values: shape (n,), scaled to [0, 1].
        largest: a difference lies between -largest and largest.
        weights: of the values in the mean, shape (n,), 1 at most.
    """

    values: Array
    largest: float
    weights: Array

    @classmethod
    def on(cls, differences: Array, largest: float, sizes: Array | None = None) -> Bets:
        """Bets on differences in their order, shape (n,).

        Args:
            differences: of items, or the means of clusters of items, of which one bet is on a whole.
            largest: as above.
            sizes: of the clusters, shape (n,); they are taken as known before the first bet.

        Raises:
            InputError: a difference is larger than the largest possible one.
        """
        values = np.asarray(differences, dtype=np.float64)
        if not largest > 0 or not math.isfinite(largest) or (np.abs(values) > largest * (1 + 1e-9)).any():
            raise InputError(f"differences lie outside -{largest:g} to {largest:g}, which bets need as their limits")
        weights = np.ones(len(values)) if sizes is None else np.asarray(sizes, dtype=np.float64) / np.max(sizes)
        return cls(np.clip((values + largest) / (2 * largest), 0, 1), largest, weights)

    def p_above(self, value: float, alpha: float = 0.05) -> float:
        """A p-value, valid at any time, of the claim that the true mean is above a value."""
        return 1 / max(1.0, _wealth(self.values, self.weights, self._scaled(value), alpha))

    def p_below(self, value: float, alpha: float = 0.05) -> float:
        """The same of the claim that it is below."""
        return 1 / max(1.0, _wealth(1 - self.values, self.weights, 1 - self._scaled(value), alpha))

    def bounds(self, alpha: float = 0.05) -> tuple[float, float]:
        """One-sided bounds, each of level 1 - alpha at all times together."""
        ends = []
        for values in (self.values, 1 - self.values):
            refuted, open_ = 0.0, 1.0
            for _ in range(_HALVINGS):
                middle = (refuted + open_) / 2
                is_refuted = _wealth(values, self.weights, middle, alpha) >= 1 / alpha
                refuted, open_ = (middle, open_) if is_refuted else (refuted, middle)
            ends.append(refuted)
        return (2 * ends[0] - 1) * self.largest, (1 - 2 * ends[1]) * self.largest

    def _scaled(self, value: float) -> float:
        return min(1.0, max(0.0, (value + self.largest) / (2 * self.largest)))


def _wealth(values: Array, weights: Array, mean: float, alpha: float) -> float:
    """The most that bets on more than `mean` ever held, beginning with 1; they win no more than once in 1 / alpha.

    References:
        Waudby-Smith and Ramdas (2024), "Estimating Means of Bounded Random Variables by Betting", section 4: the
        predictable plug-in.
    """
    if mean <= 0:
        return 1.0 if (values == 0).all() else math.inf  # only 0s have a mean of 0
    t = np.arange(1, len(values) + 1)
    means = (0.5 + np.cumsum(values)) / (t + 1)
    spread = (0.25 + np.cumsum((values - means) ** 2)) / (t + 1)
    before = np.concatenate([[0.25], spread[:-1]])  # a bet knows what came before it, and no more
    bets = np.minimum(np.sqrt(2 * math.log(1 / alpha) / (before * t * np.log1p(t))), _MOST / mean)
    return float(np.exp(np.max(np.cumsum(np.log1p(bets * weights * (values - mean))), initial=0.0)))
