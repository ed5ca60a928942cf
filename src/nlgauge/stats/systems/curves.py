"""How often do people order two systems as a metric does? A curve over the difference, fitted on pairs of systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, by_value
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.draws import Seed, check_draws, generator

Form = Literal["logistic", "logistic_n", "isotonic"]
FORMS: tuple[Form, ...] = get_args(Form)
Places = npt.NDArray[np.int64]

_UNIT = 500  # segments at which the power of `logistic_n` is 1
_KNOTS = 20  # of the isotonic curve, at quantiles of the differences
_STEEPEST = 1e3  # slope times the median difference; beyond it all shares are 1


@by_value
@dataclass(frozen=True)
class SystemPairs:
    """P pairs of systems, held against people. A pair may stand there several times, on other items.

    Attributes:
        difference: by how much the metric prefers one of the two, 0 or more, shape (P,).
        agreed: 1 where people prefer the same one, 0 the other, 0.5 neither, shape (P,).
        n: the number of segments behind the difference, shape (P,).
        first, second: numbers of the two systems, shape (P,); systems of different sets have different numbers.
        group: number of the set, shape (P,).
        weight: what a row counts, shape (P,); the rows of one pair sum to 1.
    """

    difference: Array
    agreed: Array
    n: Array
    first: Places
    second: Places
    group: Places
    weight: Array

    def __len__(self) -> int:
        return len(self.difference)

    @property
    def n_pairs(self) -> int:
        """The number of distinct pairs."""
        return len(np.unique(np.stack([self.first, self.second]), axis=1).T)

    def weighted(self, weight: Array) -> SystemPairs:
        """The same pairs with other weights; those of weight 0 are left out."""
        keep = weight > 0
        names = ("difference", "agreed", "n", "first", "second", "group")
        return replace(self, weight=weight[keep], **{name: getattr(self, name)[keep] for name in names})


@by_value
@dataclass(frozen=True)
class AgreementCurve:
    """The share of pairs of systems that people order as the metric does.

    The share is 0.5 for no difference, never falls as the difference grows, and the shares of a difference and of its
    negative sum to 1.

    Attributes:
        form: `logistic`, 1 / (1 + exp(-slope difference)); `logistic_n`, whose slope is multiplied by
            (n / 500) ** power, power from 0 to 1; or `isotonic`, straight lines between values at knots.
        parameters: slope and power, or the values at the knots; shape (k,), or (B, k) for B curves at once.
        knots: differences, rising from 0; empty but for `isotonic`.
    """

    form: Form
    parameters: Array
    knots: Array

    def share(self, difference: float | Array, n: float | Array = _UNIT) -> Array:
        """The share for differences of systems over n segments; shape of the arguments, after (B,) for B curves."""
        size, sign = np.abs(difference), np.sign(difference)
        rows = np.atleast_2d(self.parameters)
        upper = np.stack([self._upper(row, size, np.asarray(n, dtype=np.float64)) for row in rows])
        share = 0.5 + sign * (upper - 0.5)
        return np.asarray(share if np.ndim(self.parameters) > 1 else share[0])

    def difference_for(self, share: float, n: float = _UNIT) -> float:
        """The least difference at which the share is reached; infinite if it never is."""
        if self.form == "isotonic":
            above = np.flatnonzero(self.parameters >= share)
            if not len(above):
                return np.inf
            if above[0] == 0:
                return 0.0
            ends = slice(above[0] - 1, above[0] + 1)
            return float(np.interp(share, self.parameters[ends], self.knots[ends]))
        slope = _slope(self.parameters, np.float64(n))
        return float(np.log(share / (1 - share)) / slope) if slope > 0 else np.inf

    def _upper(self, row: Array, size: Array, n: Array) -> Array:
        if self.form == "isotonic":
            return np.asarray(np.interp(size, self.knots, row))
        return _logistic(_slope(row, n) * size)


def fit_curve(pairs: SystemPairs, form: Form = "logistic", *, whole: SystemPairs | None = None) -> AgreementCurve:
    """Fit the curve to pairs of systems.

    One tied pair with the median difference is added, so that a metric with which people always agreed gets no share
    of 1, and no pair at all a share of 0.5.

    Args:
        pairs: the pairs; there may be none if `whole` is given.
        form: one of `FORMS`.
        whole: the pairs of which `pairs` are a part. Median and knots are theirs.

    Raises:
        InputError: the form is unknown.
    """
    check_option("form", form, Form, error=InputError)
    typical = _median(whole or pairs)
    tied = (np.array([value]) for value in (typical, 0.5, float(_UNIT), 1.0))
    columns = (pairs.difference, pairs.agreed, pairs.n, pairs.weight)
    d, y, n, w = (np.append(column, one) for column, one in zip(columns, tied, strict=True))
    if form == "isotonic":
        knots = _knots((whole or pairs).difference)
        return AgreementCurve(form, _isotonic(d, y, w, knots), knots)
    return AgreementCurve(form, _FITS[form](d / typical, y, n, w) / _scale(form, typical), np.empty(0))


def resampled_curves(pairs: SystemPairs, form: Form, *, draws: int = 200, seed: Seed = 0) -> AgreementCurve:
    """The curves of B resamples of the systems, shape of parameters (B, k).

    Pairs share systems and systems share items, so whole sets are drawn with replacement first (where there is more
    than one) and then the systems of each. A pair counts as often as both of its systems were drawn.

    References:
        Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 8 (structured data).
    """
    check_draws(draws)
    rng = generator(seed)
    sets = [np.unique(np.append(*_ends(pairs, pairs.group == g))) for g in np.unique(pairs.group)]
    n_systems = 1 + max(int(systems.max()) for systems in sets)
    found = []
    for _ in range(draws):
        times = np.zeros(n_systems)
        by_set = np.zeros(n_systems)
        for k in rng.integers(len(sets), size=len(sets)) if len(sets) > 1 else [0]:
            by_set[sets[k]] += 1
        for systems in sets:
            np.add.at(times, rng.choice(systems, len(systems)), 1)
        weight = pairs.weight * times[pairs.first] * times[pairs.second] * by_set[pairs.first]
        found.append(fit_curve(pairs.weighted(weight), form, whole=pairs))
    return replace(found[0], parameters=np.stack([curve.parameters for curve in found]))


def _ends(pairs: SystemPairs, rows: npt.NDArray[np.bool_]) -> tuple[Places, Places]:
    return pairs.first[rows], pairs.second[rows]


def _slope(parameters: Array, n: Array | np.float64) -> Array:
    power = parameters[1] if len(parameters) > 1 else 0.0
    return np.asarray(parameters[0] * (n / _UNIT) ** power)


def _logistic(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.minimum(x, 700.0))))


def _median(pairs: SystemPairs) -> float:
    """The median difference; a small number where all differences are 0."""
    middle = float(np.median(pairs.difference)) if len(pairs) else 1.0
    return middle or float(pairs.difference.max()) or 1.0


def _scale(form: str, typical: float) -> Array:
    return np.array([typical]) if form == "logistic" else np.array([typical, 1.0])


def _fit_logistic(d: Array, y: Array, n: Array, w: Array) -> Array:
    """The slope by Newton's method; the likelihood is concave, and 0 is the least slope."""
    slope = 0.0
    for _ in range(100):
        p = _logistic(slope * d)
        rise, bend = float(w @ (d * (y - p))), float(w @ (d * d * p * (1 - p)))
        step = rise / bend if bend else 0.0
        after = min(max(slope + step, 0.0), 2 * slope + 1, _STEEPEST)  # a step too far would leave the slope flat
        if abs(after - slope) <= 1e-10 * (1 + slope):
            break
        slope = after
    return np.array([after])


def _fit_logistic_n(d: Array, y: Array, n: Array, w: Array) -> Array:
    """Slope and power by maximum likelihood, the power from 0 to 1: more segments never say less."""
    from scipy.optimize import minimize

    start = float(_fit_logistic(d, y, n, w)[0])
    if start == 0:
        return np.array([0.0, 0.0])
    logs = np.log(n / _UNIT)

    def loss(at: Array) -> tuple[float, Array]:
        scaled = d * np.exp(at[1] * logs)
        p = _logistic(at[0] * scaled)
        log_odds = at[0] * scaled
        rest = w * (p - y)
        value = float(w @ (np.logaddexp(0, log_odds) - y * log_odds))
        return value, np.array([rest @ scaled, rest @ (log_odds * logs)])

    bounds = [(0.0, _STEEPEST), (0.0, 1.0)]
    return np.asarray(minimize(loss, [start, 0.0], jac=True, method="L-BFGS-B", bounds=bounds).x)


_FITS: Mapping[str, Callable[[Array, Array, Array, Array], Array]] = {
    "logistic": _fit_logistic,
    "logistic_n": _fit_logistic_n,
}


def _knots(differences: Array) -> Array:
    """0, and quantiles of the differences."""
    return np.unique(np.append(0.0, np.quantile(differences, np.linspace(0, 1, _KNOTS + 1)[1:])))


def _isotonic(d: Array, y: Array, w: Array, knots: Array) -> Array:
    """The values at the knots: shares in the intervals between them, pooled until none falls, then at least 0.5."""
    middles, shares, weights = [], [], []
    for k, rows in enumerate(np.split(np.argsort(d), np.searchsorted(np.sort(d), knots[1:-1], side="right"))):
        if not len(rows) or not w[rows].sum():
            continue
        middles.append((knots[k] + knots[k + 1]) / 2 if k + 1 < len(knots) else knots[k])
        shares.append(float(np.average(y[rows], weights=w[rows])))
        weights.append(float(w[rows].sum()))
        while len(shares) > 1 and shares[-2] >= shares[-1]:  # pool adjacent violators
            total = weights[-2] + weights[-1]
            shares[-2:] = [(shares[-2] * weights[-2] + shares[-1] * weights[-1]) / total]
            middles[-2:] = [(middles[-2] * weights[-2] + middles[-1] * weights[-1]) / total]
            weights[-2:] = [total]
    highest = 1 - 0.5 / (w.sum() + 1)  # nothing is certain after so many pairs
    values = np.clip(shares, 0.5, highest)
    return np.asarray(np.interp(knots, [0.0, *middles], [0.5, *values]))
