"""Does one metric correlate better with people than another? Williams' test of two correlations with one variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.differences.result import LEAST, Alternative, Compat, MetricComparison, square
from nlgauge.stats.draws import pairs_of
from nlgauge.stats.grids import check_grid

_ROUNDING = 1e-12  # correlations this close are one correlation computed twice


def williams(
    r12: float | Array,
    r13: float | Array,
    r23: float | Array,
    n: int,
    *,
    alternative: Alternative = "greater",
    compat: Compat | None = None,
) -> Any:
    """The p-value of Williams' test, from Pearson correlations alone; arrays broadcast.

    Args:
        r12: correlation of people (1) and a metric (2).
        r13: correlation of people and the other metric (3).
        r23: correlation of the two metrics.
        n: the number of rated and scored entries.
        alternative: `greater` gives p of r12 > r13; `two-sided` gives p of r12 != r13.
        compat: `mt-metrics-eval` gives p of |t|, so that the direction is lost; `nlpstats` takes absolute correlations
            first.

    Returns:
        p in (0, 1]. It is 1 where the metrics are the same up to scale (r23 = 1), since there is nothing to find. It
        is NaN where a correlation is NaN, where n < 4, and where one metric is the other turned round (r23 = -1), for
        which the statistic is 0 / 0.

    References:
        Williams (1959), "The Comparison of Regression Variables"; Steiger (1980), "Tests for Comparing Elements of a
        Correlation Matrix", equation 7; Graham and Baldwin (2014), "Testing for Significance of Increased Correlation
        with Human Judgment".
    """
    from scipy.stats import t as student

    check_option("alternative", alternative, Alternative, error=InputError)
    if compat is not None:
        check_option("compat", compat, Compat, error=InputError)
    r12, r13, r23 = (np.asarray(r, dtype=np.float64) for r in (r12, r13, r23))
    if compat == "nlpstats":
        r12, r13, r23 = np.abs(r12), np.abs(r13), np.abs(r23)
    if any(bool((np.abs(r) > 1 + _ROUNDING).any()) for r in (r12, r13, r23)):
        raise InputError("a correlation is outside [-1, 1]; Williams' test takes correlations, not scores")
    if n < 4:
        return np.full(np.broadcast_shapes(r12.shape, r13.shape, r23.shape), np.nan)[()]
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if compat is None:
        determinant = np.maximum(determinant, 0)  # below 0 only by rounding
    mean = (r12 + r13) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt(2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - r23) ** 3)
        t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23)) / spread
    if compat == "mt-metrics-eval":
        t = np.abs(t)
    p = 2 * student.sf(np.abs(t), n - 3) if alternative == "two-sided" else student.sf(t, n - 3)
    p = np.maximum(p, LEAST)
    if compat is None:
        same = (r23 >= 1 - _ROUNDING) & (np.abs(r12 - r13) <= np.sqrt(_ROUNDING))
        turned = r23 <= -1 + _ROUNDING
        p = np.where(same, 1.0, np.where(turned, np.nan, p))
    return np.asarray(p)[()]


def williams_test(
    human: Array, metrics: Array, *, alternative: Alternative = "greater", compat: Compat | None = None
) -> MetricComparison:
    """Williams' test of every metric against every other, over one vector of scores each.

    For system scores of S systems give shapes (S,) and (M, S). A grid is taken as one long vector whose entries count
    as independent. Entries of one item are not, so p comes out too small where items differ in difficulty.

    Args:
        human: judgements, shape (S,) or (S, N); a missing one (NaN) drops its entry for all metrics.
        metrics: scores, shape (M, S) or (M, S, N); higher is better, so negate an error rate first.
        alternative: as in `williams`.
        compat: as in `williams`.

    Raises:
        InputError: shapes do not fit, or a score is missing.
    """
    human, metrics = check_grid(human, metrics)
    rated = ~np.isnan(human)
    n, m = int(rated.sum()), len(metrics)
    r = _correlations(np.vstack([human[rated][None], metrics[:, rated]]))
    left, right = pairs_of(m)
    options: dict[str, Any] = {"alternative": alternative, "compat": compat}
    between = r[1 + left, 1 + right]
    forth = np.atleast_1d(williams(r[0, 1 + left], r[0, 1 + right], between, n, **options))
    back = np.atleast_1d(williams(r[0, 1 + right], r[0, 1 + left], between, n, **options))
    values = r[0, 1:]
    undefined = np.isnan(values).astype(np.int64)
    deltas = values[:, None] - values
    return MetricComparison(
        "williams",
        "systems" if human.shape[1] == 1 else "both",
        alternative,
        values,
        deltas,
        square(forth, back, m),
        1 - undefined,
        undefined,
        None,
        np.zeros((m, m), dtype=np.int64),
        compat,
    )


def _correlations(rows: Array) -> Array:
    """Pearson's r of all pairs of rows; NaN beside a constant row."""
    size = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    centred = rows - rows.mean(axis=1, keepdims=True) if rows.shape[1] else rows
    norm = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    constant = norm <= 1e-14 * size * np.sqrt(
        max(rows.shape[1], 1)
    )  # judged beside the size of the values: rounding is no spread
    unit = np.where(constant, np.nan, centred) / np.where(constant, 1, norm)
    return np.clip(unit @ unit.T, -1, 1)
