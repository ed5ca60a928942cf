"""Does a curve of agreement hold for systems it was not fitted on? Log loss, calibration, and what chance gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.draws import Seed, generator
from nlgauge.stats.systems.curves import FORMS, Form, SystemPairs, fit_curve

LeftOut = Literal["systems", "sets"]
_SURE = 1e-6  # a share nearer to 0 or 1 would give one wrong pair an infinite loss


@dataclass(frozen=True)
class Bin:
    """Pairs with about the same predicted share: its mean, the share in which people agreed, and the pairs."""

    predicted: float
    agreed: float
    pairs: float


@dataclass(frozen=True)
class HeldOutPairs:
    """The verdicts of curves on pairs with a system that they were not fitted on.

    Attributes:
        predicted: the shares, shape (T,).
        agreed, weight: as in `SystemPairs`, shape (T,).
        pair: number of the pair, shape (T,).
    """

    predicted: Array
    agreed: Array
    weight: Array
    pair: npt.NDArray[np.int64]

    @property
    def log_loss(self) -> float:
        """Minus the mean logarithm of the share that was given to what people said; 0.693 is a coin's."""
        p = np.clip(self.predicted, _SURE, 1 - _SURE)
        loss = -self.agreed * np.log(p) - (1 - self.agreed) * np.log(1 - p)
        return float(np.average(loss, weights=self.weight))

    def bins(self, count: int = 10) -> list[Bin]:
        """The pairs in `count` bins of equal weight, from the smallest share to the largest."""
        order = np.argsort(self.predicted, kind="stable")
        p, y, w = self.predicted[order], self.agreed[order], self.weight[order]
        # A bin ends where the share changes: equal shares stay together.
        ends = np.cumsum(w) / w.sum()
        last = np.searchsorted(p, p, side="right") - 1
        number = np.minimum((ends[last] * count - 1e-9).astype(int), count - 1)
        found = []
        for k in np.unique(number):
            own = number == k
            mean = [float(np.average(values[own], weights=w[own])) for values in (p, y)]
            found.append(Bin(mean[0], mean[1], float(w[own].sum())))
        return found

    def calibration_error(self, count: int = 10) -> float:
        """Expected calibration error: the mean distance of predicted and observed share over the bins.

        References:
            Naeini, Cooper and Hauskrecht (2015), "Obtaining Well Calibrated Probabilities Using Bayesian Binning".
        """
        found = self.bins(count)
        total = sum(one.pairs for one in found)
        return sum(one.pairs * abs(one.predicted - one.agreed) for one in found) / total

    def error_by_chance(self, count: int = 10, *, draws: int = 100, seed: Seed = 0) -> float:
        """The calibration error that the true curve would show on average, because there are so few pairs.

        People's verdicts are drawn from the predicted shares; a pair has one verdict on all of its items.
        """
        rng = generator(seed)
        errors = []
        for _ in range(draws):
            verdict = rng.random(int(self.pair.max()) + 1)[self.pair]
            drawn = HeldOutPairs(self.predicted, (verdict < self.predicted).astype(float), self.weight, self.pair)
            errors.append(drawn.calibration_error(count))
        return float(np.mean(errors))


def held_out(pairs: SystemPairs, form: Form, left_out: LeftOut = "systems") -> HeldOutPairs:
    """Predict each pair by curves that saw none of its systems' pairs, one left-out system (or set) at a time.

    Args:
        pairs: the pairs of all systems.
        form: the form of the curve.
        left_out: `systems` leaves out each system in turn, so that a pair is predicted twice; `sets` each set.

    Raises:
        InputError: sets are left out, and there is only one.
    """
    _, number = np.unique(np.stack([pairs.first, pairs.second]), axis=1, return_inverse=True)
    if left_out == "sets":
        sets = np.unique(pairs.group)
        if len(sets) < 2:
            raise InputError("there is one set of systems; leaving out sets needs at least two")
        tests = [pairs.group == one for one in sets]
    else:
        tests = [(pairs.first == s) | (pairs.second == s) for s in np.unique(np.append(pairs.first, pairs.second))]
    predicted, rows = [], []
    for test in tests:
        curve = fit_curve(pairs.weighted(np.where(test, 0.0, pairs.weight)), form, whole=pairs)
        predicted.append(curve.share(pairs.difference[test], pairs.n[test]))
        rows.append(np.flatnonzero(test))
    where = np.concatenate(rows)
    weight = pairs.weight[where] / (2 if left_out == "systems" else 1)
    return HeldOutPairs(np.concatenate(predicted), pairs.agreed[where], weight, np.ravel(number)[where])


def best_form(pairs: SystemPairs, forms: Sequence[Form] = FORMS) -> tuple[Form, HeldOutPairs]:
    """The form with the least log loss on systems left out, and what it said of them; of equal ones the first."""
    tried = {form: held_out(pairs, form) for form in forms}
    best = min(tried, key=lambda form: tried[form].log_loss)
    return best, tried[best]
