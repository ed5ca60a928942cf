"""What can a gate show? The smallest allowance with which no change passes, by its own rule on differences at hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.stats.gates.studentized import studentized
from nlgauge.stats.gates.tango import tango_bounds
from nlgauge.stats.gates.worst import believed_loss, items_without_loss, unseen_bound

POWER = 0.8
FEW = 10  # items that changed, or clusters: below this no bound of a mean keeps its level (docs/studies/gate.md)
ENOUGH = 100  # changed items from which on the normal curve is as good as the rule (docs/studies/gate.md)
SAMPLES, RESAMPLES = 200, 500  # of no change, each with its mirror image, and of each: a power of .8 within .02
_ABOVE = 1 + 1e-6  # where a bound just passes, the last digit of a p-value would decide
_UNCHANGED = 9  # for each changed item: further ones move nothing but the number by which a sum is divided
_FARTHER, _HALVINGS, _MOST = 1.5, 4, 1e9  # how numbers of items are looked for


@dataclass(frozen=True)
class Power:
    """The power of a gate on differences like those at hand.

    Had nothing been lost, each difference might as well have the other sign. So samples without a loss are items (or
    clusters) drawn from those at hand, each with a sign by a coin, and scaled to their standard error; each sample is
    judged by the rule of the gate. On the normal curve, which is right where many items change, an allowance of 2.49
    standard errors passes with power .8 (for alpha .05).

    Attributes:
        values: differences of the items, or of the clusters in units of a mean of all items, shape (n,).
        error: the standard error of their mean.
        alpha: the level of the gate.
        is_rate: whether the rule is that of pass rates.
        is_clustered: whether the values are clusters, of which a few never pass.
        largest: the largest possible loss; None where it has no limit.
        weight: the size of the largest cluster, in mean sizes.
        seed: of the samples.
    """

    values: Array
    error: float
    alpha: float
    is_rate: bool
    is_clustered: bool
    largest: float | None
    weight: float = 1.0
    seed: int = 0

    def smallest(self, n: int | None = None) -> float:
        """The smallest allowance with which no change passes with power .8; infinite where there is none.

        Args:
            n: items, or clusters; by default as many as there are.
        """
        from scipy import special

        n = len(self.values) if n is None else n
        if not self.error > 0 and self._changed.any():  # all differ by the same, or there is one item
            return self.error if self.largest is None or math.isnan(self.error) else float(self._rare(0.0, 0.0, n))
        if self.is_clustered and n < FEW:
            return math.inf
        if self._share * n >= ENOUGH:
            error = self.error * math.sqrt(len(self.values) / n)
            rare = 0.0 if self.largest is None else float(self._rare(-float(special.ndtri(POWER)) * error, error, n))
            return max(self._reach * error, rare)
        needed = np.sort(self._rates(n) if self.is_rate else self._means(n))
        return float(max(needed[math.ceil(POWER * len(needed)) - 1], 0.0)) * _ABOVE

    def needed(self, allow: float) -> int | None:
        """How many items, or clusters, would do: no change passes with power .8; None where no number is known."""
        if not allow > 0:
            return None
        if not self._changed.any():
            return None if self.largest is None else items_without_loss(self.largest, allow, self.alpha, self.weight)
        if not self.error > 0 and (self.largest is None or math.isnan(self.error)):
            return None if math.isnan(self.error) else 1
        errors = min(self._reach * self.error / allow, math.sqrt(_MOST))
        n = max(math.ceil(len(self.values) * errors**2), FEW if self.is_clustered else 1)
        return _least(lambda tried: self.smallest(tried) <= allow, n)

    @property
    def _reach(self) -> float:
        """Standard errors, on the normal curve."""
        from scipy import special

        return float(special.ndtri(1 - self.alpha) + special.ndtri(POWER))

    @cached_property
    def _changed(self) -> Array:
        """Differences that are not 0, scaled so that their standard error around 0 is that of the mean."""
        values = self.values[self.values != 0]
        around = math.sqrt(float(values @ values) * len(self.values) / max(1, len(self.values) - 1)) / len(self.values)
        return np.asarray(values if self.is_rate or not self.error > 0 else values * (self.error / around))

    @property
    def _share(self) -> float:
        return len(self._changed) / len(self.values)

    def _shares(self, rng: np.random.Generator, draws: int) -> Array:
        """Shares of items that change, each as likely as the one at hand makes it; after Jeffreys."""
        k, n = len(self._changed), len(self.values)
        return rng.beta(k + 0.5, n - k + 0.5, draws) if 0 < k < n else np.full(draws, k / n)

    def _rates(self, n: int) -> Array:
        """The allowance with which each sample of n items just passes, by Tango's bound."""
        from scipy import special

        rng = np.random.default_rng(self.seed)
        changed = rng.binomial(n, self._shares(rng, 10 * SAMPLES))
        losses = rng.binomial(changed, 0.5)
        low = tango_bounds(changed - losses, losses, n, float(special.ndtri(1 - self.alpha)))[0]
        return np.where(changed >= FEW, -low, self._at_worst(losses.astype(np.float64), n))

    def _means(self, n: int) -> Array:
        """The same by the bootstrap-t and Student's bound, of which the wider counts; and of the mirror image."""
        from scipy import special

        rng = np.random.default_rng(self.seed)
        k, shares = len(self._changed), self._shares(rng, SAMPLES)
        drawn = min(n, math.ceil((1 + _UNCHANGED) * max(FEW, n * float(shares.max()))))
        is_changed = rng.random((SAMPLES, drawn)) < (shares * (n / drawn))[:, None]
        values = np.zeros((SAMPLES, drawn))
        if k:
            known = self._changed[rng.integers(k, size=(SAMPLES, k))]
            own = np.take_along_axis(known, rng.integers(k, size=(SAMPLES, drawn)), axis=1)
            values = np.where(is_changed, own * rng.choice([-1.0, 1.0], size=(SAMPLES, drawn)), 0.0)
        losing = np.concatenate([(values < 0).sum(axis=1), (values > 0).sum(axis=1)])
        at_worst = self._at_worst(losing.astype(np.float64), n)
        is_few = is_changed.sum(axis=1) < FEW
        if is_few.all():
            return at_worst
        found = studentized(values, draws=max(RESAMPLES, math.ceil(2 / self.alpha)), seed=rng)
        student = -float(special.stdtrit(drawn - 1, self.alpha)) * found.error
        low, high = found.bounds(self.alpha)
        wider = np.concatenate([np.maximum(student - found.mean, -low), np.maximum(student + found.mean, high)])
        most = np.concatenate([believed_loss(values), believed_loss(-values)])
        mean, error = np.concatenate([found.mean, -found.mean]), np.tile(found.error, 2)
        rare = self._rare(mean * (drawn / n), error * (drawn / n), n, most)
        return np.where(np.tile(is_few, 2), at_worst, np.maximum(wider * (drawn / n), rare))

    def _rare(self, mean: Array | float, error: Array | float, n: int, believed: Array | float = math.nan) -> Array:
        """The allowance that means of n items pass, as losses too rare for them let it."""
        most, weight = (believed, 1.0) if self.largest is None else (self.largest, self.weight)
        return -unseen_bound(np.asarray(mean), np.asarray(error), n, np.asarray(most), self.alpha, weight)

    def _at_worst(self, losing: Array, n: int) -> Array:
        """The allowance that the worst case of so many losing items just passes, for each sample."""
        from scipy import special

        if self.largest is None:
            return np.full(len(losing), np.inf)
        beyond = special.betaincinv(losing + 1.0, np.maximum(n - losing, 1.0), 1 - self.alpha)
        share = np.where(losing < n, beyond, 1.0)
        return share * self.weight / (1 - share + share * self.weight) * self.largest


def _least(is_enough: Callable[[int], bool], n: int) -> int | None:
    """The least number from n on that is enough, within some percent; None where none below a thousand million is."""
    short = n - 1
    while n < _MOST and not is_enough(n):
        short, n = n, math.ceil(n * _FARTHER)
    if n >= _MOST:
        return None
    for _ in range(_HALVINGS):
        middle = (short + n) // 2
        if middle in (short, n):
            break
        short, n = (short, middle) if is_enough(middle) else (middle, n)
    return n
