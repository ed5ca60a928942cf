"""How far may a correlation be from its true value? Intervals, and Fisher's formula for them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.options import OneOf, check_option
from nlgauge.stats.correlation.correlate import Correlation
from nlgauge.stats.draws import check_level

_BONETT_WRIGHT = {"pearson": 3, "spearman": 3, "kendall_b": 4, "kendall_c": 4}
_ONE = 1 - 1e-15  # the largest r with a finite atanh


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A statistic with an interval.

    Attributes:
        stat: the name of the statistic.
        value: the value; NaN where undefined.
        low: lower end; NaN where undefined.
        high: upper end.
        confidence: 0.95 means that the interval holds the true value 19 times out of 20, if the assumptions of the
            method hold.
        method: `fisher` or `bootstrap`.
        generalise_to: what was resampled: `items`, `systems` or `both`; None for a formula.
        n_used: see `Correlation`.
        n_undefined: see `Correlation`.
        draws: the number of bootstrap resamples; 0 for a formula.
        n_undefined_draws: draws on which the statistic is undefined; they are left out.
        level: `segment` or `system`.
        averaging: `none`, `item`, `sys` or `micro`.
        ties: how ties are settled; None where there is no choice.
    """

    stat: str
    value: float
    low: float
    high: float
    confidence: float
    method: str
    generalise_to: str | None = None
    n_used: int
    n_undefined: int = 0
    draws: int = 0
    n_undefined_draws: int = 0
    level: str = "segment"
    averaging: str = "none"
    ties: str | None = None


def fisher_ends(stat: str, r: float | Array, n: int | Array, confidence: float = 0.95) -> tuple[Array, Array]:
    """Ends of Fisher's interval for correlations of n independent pairs; shapes broadcast, NaN where n is too small.

    tanh(atanh r -+ z c / sqrt(n - b)), with b = 3 and c = 1 for Pearson, b = 3 and c = sqrt(1 + r^2 / 2) for Spearman,
    b = 4 and c = sqrt(0.437) for Kendall.

    Raises:
        InputError: another statistic, or a confidence outside (0, 1).

    References:
        Bonett and Wright (2000), "Sample Size Requirements for Estimating Pearson, Kendall and Spearman Correlations".
    """
    from scipy import special

    check_option("statistic of a Fisher interval", stat, Annotated[str, OneOf(_BONETT_WRIGHT)], error=InputError)
    check_level(confidence)
    r, room = np.asarray(r, dtype=np.float64), np.asarray(n, dtype=np.float64) - _BONETT_WRIGHT[stat]
    width = {"pearson": np.ones_like(r), "spearman": np.sqrt(1 + r * r / 2)}.get(
        stat, np.full_like(r, math.sqrt(0.437))
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        half = float(special.ndtri((1 + confidence) / 2)) * width / np.sqrt(np.where(room > 0, room, np.nan))
        middle = np.arctanh(r)
        return np.tanh(middle - half), np.tanh(middle + half)


def widened_ends(x: Array, z: Array, confidence: float = 0.95) -> tuple[Array, Array]:
    """Ends of the interval of Pearson's r for independent pairs that need not be normal.

    On the scale of atanh r, the half width is that of Fisher's formula or of the jackknife, whichever is larger.
    Fisher's formula holds for normal pairs; if both sides are skewed, r varies far more than it says. Simulated
    coverage: `recipes/studies/coverage/simulate.py`.

    Args:
        x: scores, shape (M, n); a pair with NaN is left out.
        z: judgements, shape (n,).
        confidence: of the interval.

    Returns:
        Lower and upper ends, shape (M,) each; NaN from fewer than 4 pairs or constant values.

    References:
        Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 11, for the jackknife.
    """
    from scipy import special

    check_level(confidence)
    quantile, ends = float(special.ndtri((1 + confidence) / 2)), []
    for row in np.atleast_2d(x):
        known = ~np.isnan(row) & ~np.isnan(z)
        r, left_out = _r_and_left_out(row[known], z[known])
        n = len(left_out)
        if n < 4 or np.isnan(r):
            ends.append((math.nan, math.nan))
            continue
        middle = math.atanh(r)
        jackknife = math.sqrt((n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum()))
        half = quantile * max(1 / math.sqrt(n - _BONETT_WRIGHT["pearson"]), jackknife)
        ends.append((math.tanh(middle - half), math.tanh(middle + half)))
    low, high = np.array(ends).T
    return low, high


def _r_and_left_out(x: Array, z: Array) -> tuple[float, Array]:
    """Pearson's r of n pairs, and atanh of r without each of them, shape (n,); NaN where a side is constant."""
    n = len(x)
    if n < 4 or np.ptp(x) == 0 or np.ptp(z) == 0:
        return math.nan, np.full(n, math.nan)
    x, z = (x - x.mean()) / x.std(), (z - z.mean()) / z.std()
    r = float(np.clip((x * z).mean(), -_ONE, _ONE))
    # Sums without one pair: its own term off, and the mean of the rest is -x / (n - 1).
    product = (n * r - x * z) / (n - 1) - x * z / (n - 1) ** 2
    squares = [(n - a * a) / (n - 1) - a * a / (n - 1) ** 2 for a in (x, z)]
    with np.errstate(invalid="ignore", divide="ignore"):
        without = product / np.sqrt(squares[0] * squares[1])
    return r, np.arctanh(np.clip(np.nan_to_num(without, nan=r), -_ONE, _ONE))


def fisher_interval(found: Correlation, *, n: int | None = None, confidence: float = 0.95) -> Interval:
    """Fisher's interval of a correlation that was computed without averaging.

    Args:
        found: a correlation of Pearson, Spearman or Kendall.
        n: the number of independent pairs behind the value; by default the number it was computed from. Segments of
            one source or one system are not independent, which makes the interval too narrow. An average over groups
            has no such number, so n must be given.
        confidence: the confidence of the interval.

    Raises:
        InputError: an average comes without n, or the statistic is another one.
    """
    if n is None and found.averaging != "none":
        raise InputError(
            f"an average over groups ({found.averaging}) has no number of pairs; give n, or use a bootstrap over items"
        )
    pairs = found.n_used if n is None else n
    low, high = fisher_ends(found.stat, found.value, pairs, confidence)
    return Interval(
        stat=found.stat,
        value=found.value,
        low=float(low),
        high=float(high),
        confidence=confidence,
        method="fisher",
        n_used=found.n_used,
        n_undefined=found.n_undefined,
        level=found.level,
        averaging=found.averaging,
        ties=found.ties,
    )
