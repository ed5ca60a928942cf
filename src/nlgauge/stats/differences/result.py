"""The result of comparing metrics on the same judgements, and how draws become p-values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Counts, by_value
from nlgauge.stats.draws import pairs_of

Alternative = Literal["greater", "two-sided"]
Compat = Literal["mt-metrics-eval", "nlpstats"]

# Coefficients that are equal on paper differ by rounding; nothing that is counted or measured differs by so little.
SLACK = 1e-10

# The smallest normal float64: a p-value of a formula that is below it would be stored as 0, which no p-value is.
LEAST = float(np.finfo(np.float64).tiny)


@by_value
@dataclass(frozen=True)
class MetricComparison:
    """M metrics on the same judgements, each compared with every other.

    Attributes:
        test: the name of the test: `williams`, `perm_both`, `perm_inputs`, `perm_systems`, `item_swap`, `bootstrap`.
        generalise_to: what the answer holds for: `inputs` is other items and the same systems; `systems` is other
            systems and the same items; `both` is what the test of that name does (the page on significance says what
            it does not do).
        alternative: `greater` gives p of row better than column; `two-sided` gives p of a difference either way.
        values: the statistic of every metric, shape (M,); NaN where undefined.
        deltas: row minus column, shape (M, M).
        p: p-values, shape (M, M), in (0, 1]; NaN on the diagonal and where a difference is undefined.
        n_used: the number of groups (items, systems or one vector) behind each value, shape (M,).
        n_undefined: groups without a value, shape (M,); they are left out of the mean.
        draws: the number of draws, B; None where nothing is drawn.
        n_undefined_draws: draws on which a difference is undefined, shape (M, M). They count neither as hits nor as
            draws for p.
        compat: None, or the package whose procedure was followed.
        low: lower ends of intervals of `values`, shape (M,). These and the fields below are None where the test has no
            intervals.
        high: upper ends, shape (M,).
        delta_low: lower ends of the intervals of `deltas`, shape (M, M).
        delta_high: upper ends, shape (M, M).
        confidence: the share of the draws between the ends.
    """

    test: str
    generalise_to: str
    alternative: Alternative
    values: Array
    deltas: Array
    p: Array
    n_used: Counts
    n_undefined: Counts
    draws: int | None
    n_undefined_draws: Counts
    compat: str | None = None
    low: Array | None = None
    high: Array | None = None
    delta_low: Array | None = None
    delta_high: Array | None = None
    confidence: float | None = None


PValues = Callable[[Array, Array, Alternative], tuple[Array, Array, Counts]]
Values = tuple[Array, Counts, Counts]  # the statistic of M metrics, groups with a value, groups without; shapes (M,)


def p_values(
    drawn: Array, observed: Array, alternative: Alternative, slack: float = SLACK
) -> tuple[Array, Array, Counts]:
    """p-values of differences from draws made under the null hypothesis.

    Args:
        drawn: differences on the draws, shape (P, B); NaN where undefined.
        observed: differences in the data, shape (P,).
        alternative: `greater` or `two-sided`.
        slack: a draw that falls short of the observed difference by at most this ties with it.

    Returns:
        The p-value of each difference and that of its opposite (the same if two-sided). Each is (hits + 1) / (defined
        draws + 1), or NaN where the difference or every draw is undefined. Then the number of undefined draws. All
        have shape (P,).
    """
    defined = ~np.isnan(drawn)
    n_defined = defined.sum(axis=1)
    known = ~np.isnan(observed) & (n_defined > 0)
    seen = observed[:, None]
    with np.errstate(invalid="ignore"):
        if alternative == "two-sided":
            up = down = (np.abs(drawn) >= np.abs(seen) - slack).sum(axis=1)
        else:
            up, down = (drawn >= seen - slack).sum(axis=1), (drawn <= seen + slack).sum(axis=1)
    forth, back = (np.where(known, (hits + 1) / (n_defined + 1), np.nan) for hits in (up, down))
    return forth, back, drawn.shape[1] - n_defined


def from_draws(
    test: str,
    generalise_to: str,
    alternative: Alternative,
    found: Values,
    drawn: Array,
    compat: str | None = None,
    to_p: PValues = p_values,
) -> MetricComparison:
    """The result of a test whose p-values come from draws made under the null hypothesis.

    Args:
        test, generalise_to, alternative, compat: as in `MetricComparison`.
        found: the values in the data.
        drawn: differences of every pair of metrics on the draws, left minus right, shape (P, B).
        to_p: turns draws and observed differences into p-values.
    """
    values, n_used, n_undefined = found
    n, (left, right) = len(values), pairs_of(len(values))
    forth, back, lost = to_p(drawn, values[left] - values[right], alternative)
    return MetricComparison(
        test,
        generalise_to,
        alternative,
        values,
        values[:, None] - values,
        square(forth, back, n),
        n_used,
        n_undefined,
        drawn.shape[1],
        square(lost, lost, n, diagonal=0).astype(np.int64),
        compat,
    )


def square(forth: npt.NDArray[Any], back: npt.NDArray[Any], n: int, diagonal: float = np.nan) -> Array:
    """The values of all pairs, and of the same pairs turned round, as a matrix of shape (n, n)."""
    left, right = pairs_of(n)
    matrix = np.full((n, n), diagonal)
    matrix[left, right] = forth
    matrix[right, left] = back
    return matrix
