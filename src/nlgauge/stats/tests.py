"""The result of comparing metrics on the same judgements, and how draws become p-values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Counts, by_value
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.draws import check_grid, pairs_of
from nlgauge.stats.entries import numbers
from nlgauge.stats.preferences import places

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
        generalise_to: what the answer holds for: `inputs`, other items and the same systems; `systems`, other systems
            and the same items; `both`, a test that swaps every score on its own (the same systems alone), or a
            bootstrap that draws both.
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


def p_values(drawn: Array, observed: Array, alternative: Alternative) -> tuple[Array, Array, Counts]:
    """p-values of differences from draws made under the null hypothesis; a draw that ties with the data counts.

    Args:
        drawn: differences on the draws, shape (P, B); NaN where undefined.
        observed: differences in the data, shape (P,).

    Returns:
        Of each difference and of its opposite (the same if two-sided), (hits + 1) / (defined draws + 1), or NaN where
        the difference or every draw is undefined; then the number of undefined draws. All have shape (P,).
    """
    defined = ~np.isnan(drawn)
    n_defined = defined.sum(axis=1)
    known = ~np.isnan(observed) & (n_defined > 0)
    seen = observed[:, None]
    with np.errstate(invalid="ignore"):
        if alternative == "two-sided":
            up = down = (np.abs(drawn) >= np.abs(seen) - SLACK).sum(axis=1)
        else:
            up, down = (drawn >= seen - SLACK).sum(axis=1), (drawn <= seen + SLACK).sum(axis=1)
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
    """The values of all pairs, and of the same pairs the other way, as a matrix of shape (n, n)."""
    left, right = pairs_of(n)
    matrix = np.full((n, n), diagonal)
    matrix[left, right] = forth
    matrix[right, left] = back
    return matrix


# --- Adjust p-values for the number of tests: among many tests, some p-values are small by chance

Adjustment = Literal["none", "holm", "bh"]
ADJUSTED: Mapping[Adjustment, str] = {
    "none": "not adjusted for the number of tests",
    "holm": "adjusted after Holm",
    "bh": "adjusted after Benjamini and Hochberg",
}


def adjusted(p: Array, how: str) -> Array:
    """p-values of one family, adjusted for their number by `holm` or `bh` (Benjamini and Hochberg), or by `none`."""
    check_option("adjust", how, Adjustment, error=InputError)
    if how == "none":
        return p
    return holm(p) if how == "holm" else benjamini_hochberg(p)


def holm(p: Array) -> Array:
    """Holm's step-down adjustment. It keeps the probability of any false finding at alpha, however the tests depend.

    Args:
        p: p-values of one family, any shape; NaN (a test that was not made) stays NaN and does not count. One-sided
            tests in both directions of a pair are two tests: who takes the better direction has looked at both.

    Returns:
        Adjusted p-values in [0, 1], in the shape of p; each is at least as large as the original.

    References:
        Holm (1979), "A Simple Sequentially Rejective Multiple Test Procedure".
    """
    made, ordered, order = _sorted(p)
    n = len(ordered)
    return _restore(p, made, order, np.maximum.accumulate(ordered * (n - np.arange(n))))


def benjamini_hochberg(p: Array) -> Array:
    """Benjamini and Hochberg's adjustment.

    Of the tests with p <= alpha, on average at most a share alpha is false. This holds for independent tests and for
    positively dependent ones. Arguments and shape are as in `holm`.

    References:
        Benjamini and Hochberg (1995), "Controlling the False Discovery Rate".
    """
    made, ordered, order = _sorted(p)
    n = len(ordered)
    stepped = ordered * (n / np.arange(1, n + 1))
    return _restore(p, made, order, np.minimum.accumulate(stepped[::-1])[::-1])


def _sorted(p: Array) -> tuple[npt.NDArray[np.bool_], Array, npt.NDArray[np.intp]]:
    p = np.asarray(p, dtype=np.float64)
    made = ~np.isnan(p)
    values = p[made]
    if ((values < 0) | (values > 1)).any():
        raise InputError(f"a p-value is {values[(values < 0) | (values > 1)][0]}, expected 0 to 1")
    order = np.argsort(values, kind="stable")
    return made, values[order], order


def _restore(p: Array, made: npt.NDArray[np.bool_], order: npt.NDArray[np.intp], adjusted: Array) -> Array:
    back = np.empty(len(order))
    back[order] = np.minimum(adjusted, 1)
    out = np.full(np.shape(p), np.nan)
    out[made] = back
    return out


# --- Which metrics does no other metric beat, and which ranks does a test tell apart?

Rule = Literal["all", "any", "wmt"]


def not_outperformed(p: Array, *, alpha: float = 0.05) -> npt.NDArray[np.bool_]:
    """The metrics that no other metric beats: the bold entries in the tables of WMT (2016 to 2019) and BERTScore.

    This is neither a rank nor transitive: of three metrics, the second may be beaten by none while the first beats the
    third. A metric without p-values (undefined) is not marked.

    Args:
        p: one-sided p-values of row better than column, shape (M, M); the diagonal is not read.
        alpha: a metric counts as beaten if p is below this.

    References:
        Bojar et al. (2016), "Results of the WMT16 Metrics Shared Task", section 4.
    """
    p = _check(p, alpha)
    others = ~np.eye(len(p), dtype=np.bool_)
    beaten = ((p < alpha) & others).any(axis=0)
    known = (~np.isnan(p) & others).any(axis=0) | (len(p) == 1)
    return np.asarray(~beaten & known)


def rank_clusters(values: Array, p: Array, *, alpha: float = 0.05, rule: Rule = "all") -> npt.NDArray[np.int64]:
    """Ranks from 1, the best first; metrics between two breaks share a rank.

    Args:
        values: shape (M,), higher is better; NaN gets 0, which stands for no rank.
        p: one-sided p-values of row better than column, shape (M, M).
        alpha: a metric beats another where p < alpha.
        rule: `all` puts a break where every metric above beats every metric below. `any` goes down the list, and a
            metric opens a new rank as soon as one metric of the current rank beats it. `any` is greedy: of three
            metrics of which only the first beats the third, the second ends beside the first. `wmt` is `any` with
            p <= alpha, as WMT's organisers rank.

    References:
        Freitag et al. (2022), "Results of WMT22 Metrics Shared Task", section 6 (the greedy rule).
    """
    p, values = _check(p, alpha), np.asarray(values, dtype=np.float64)
    if values.shape != (len(p),):
        raise InputError(f"values have shape {values.shape}, expected ({len(p)},) beside p-values of shape {p.shape}")
    check_option("rule", rule, Rule, error=InputError)
    beats = p <= alpha if rule == "wmt" else p < alpha
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(-values[known], kind="stable")]
    ranks = np.zeros(len(values), dtype=np.int64)
    start, rank = 0, 1
    for place, metric in enumerate(order):
        current = order[start:place]
        if place and (
            beats[np.ix_(order[:place], order[place:])].all() if rule == "all" else beats[current, metric].any()
        ):
            start, rank = place, rank + 1
        ranks[metric] = rank
    return ranks


def _check(p: Array, alpha: float) -> Array:
    p = np.asarray(p, dtype=np.float64)
    if p.ndim != 2 or p.shape[0] != p.shape[1]:
        raise InputError(f"p-values have shape {p.shape}, expected (metrics, metrics)")
    if not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha}, expected a share between 0 and 1 such as 0.05")
    return p


# --- Does one metric correlate better with people than another? Williams' test of two correlations with one variable

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

    It is meant for one coefficient over independent things, such as systems.

    Args:
        r12: correlation of people (1) and a metric (2).
        r13: correlation of people and the other metric (3).
        r23: correlation of the two metrics.
        n: the number of rated and scored entries.
        alternative: `greater` gives p of r12 > r13; `two-sided` gives p of r12 != r13.
        compat: `mt-metrics-eval` gives p of |t|, so that the direction is lost; `nlpstats` takes absolute correlations
            first.

    Returns:
        p in (0, 1]. It is 1 where the metrics are the same up to scale (r23 = 1), and NaN where a correlation is NaN, n
        < 4, or one metric is the negative of the other (r23 = -1).

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

    A grid is taken as one long vector whose entries count as independent, so p comes out too small where items differ
    in difficulty. The test assumes normal scores; where both sides are skewed it finds too much.

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
    # judged beside the size of the values: rounding is no spread
    constant = norm <= 1e-14 * size * np.sqrt(max(rows.shape[1], 1))
    unit = np.where(constant, np.nan, centred) / np.where(constant, 1, norm)
    return np.clip(unit @ unit.T, -1, 1)


# --- Does one metric get more pairs right than another? McNemar's exact test on the pairs on which they disagree

TiesOfTest = Literal["loss", "exclude"]


@dataclass(frozen=True, kw_only=True)
class McNemar:
    """Two metrics on the same pairs.

    Attributes:
        delta: the accuracy of the first metric minus that of the second.
        p: the exact two-sided p-value; 1 where the metrics never disagree.
        both: pairs that both get right.
        first_only: pairs that only the first gets right.
        second_only: pairs that only the second gets right.
        neither: pairs that both get wrong.
        n_used: the sum of these four.
        n_undefined: pairs left out because a metric ties them.
        ties: how ties are settled.
    """

    delta: float
    p: float
    both: int
    first_only: int
    second_only: int
    neither: int
    n_used: int
    n_undefined: int
    ties: str


def mcnemar(
    better_first: Array,
    worse_first: Array,
    better_second: Array,
    worse_second: Array,
    *,
    ties: str = "loss",
) -> McNemar:
    """Does the first metric get more pairs right than the second? An exact test on the pairs on which they disagree.

    Args:
        better_first: scores of the better texts by the first metric, shape (n,).
        worse_first: scores of the worse texts by the first metric.
        better_second: scores of the better texts by the second metric.
        worse_second: scores of the worse texts by the second metric.
        ties: `loss` counts a tie as wrong; `exclude` leaves out the pairs that either metric ties.

    References:
        McNemar (1947), "Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages".
    """
    check_option("ties", ties, TiesOfTest, error=InputError)
    columns = [numbers(column, "scores") for column in (better_first, worse_first, better_second, worse_second)]
    if len({column.shape for column in columns}) != 1 or columns[0].ndim != 1:
        raise InputError(
            f"scores have shapes {', '.join(str(c.shape) for c in columns)}, expected four vectors of equal lengths"
        )
    good_1, bad_1, good_2, bad_2 = columns
    left_out = np.asarray(np.isnan(np.stack(columns)).any(axis=0))
    if left_out.any():
        raise InputError(f"a score is missing in {places(left_out)}; leave such pairs out")
    if ties == "exclude":
        left_out |= (good_1 == bad_1) | (good_2 == bad_2)
    first, second = (good_1 > bad_1)[~left_out], (good_2 > bad_2)[~left_out]
    only_1, only_2 = int((first & ~second).sum()), int((second & ~first).sum())
    return McNemar(
        delta=(only_1 - only_2) / len(first) if len(first) else math.nan,
        p=_two_sided(only_1, only_2),
        both=int((first & second).sum()),
        first_only=only_1,
        second_only=only_2,
        neither=int((~first & ~second).sum()),
        n_used=len(first),
        n_undefined=int(left_out.sum()),
        ties=ties,
    )


def mcnemar_test(
    better: Array, worse: Array, *, ties: str = "loss", alternative: Alternative = "greater"
) -> MetricComparison:
    """McNemar's test of every metric against every other, on pairs of texts with a known order.

    Args:
        better, worse: scores of the better and of the worse texts, shape (M, P), higher is better.
        ties: `loss` (also called `zero`) counts a tie as wrong. `exclude` leaves out, for each two metrics, the pairs
            that either of them ties; the accuracies in `values` remain shares of all pairs.

    Raises:
        InputError: ties are settled in another way, or a score is missing.
    """
    check_option("alternative", alternative, Alternative, error=InputError)
    if ties not in ("loss", "zero", "exclude"):
        raise InputError(f"mcnemar settles ties as 'loss' or 'exclude', got {ties!r}")
    n_metrics, n_pairs = better.shape
    left, right = pairs_of(n_metrics)
    forth, back = np.empty(len(left)), np.empty(len(left))
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        pair = mcnemar(better[a], worse[a], better[b], worse[b], ties="exclude" if ties == "exclude" else "loss")
        won, lost = pair.first_only, pair.second_only
        forth[i], back[i] = (pair.p, pair.p) if alternative == "two-sided" else (_tail(won, lost), _tail(lost, won))
    values = (better > worse).mean(axis=1) if n_pairs else np.full(n_metrics, np.nan)
    return MetricComparison(
        "mcnemar",
        "both",
        alternative,
        values,
        values[:, None] - values,
        square(forth, back, n_metrics),
        np.full(n_metrics, n_pairs),
        np.zeros(n_metrics, dtype=np.int64),
        None,
        np.zeros((n_metrics, n_metrics), dtype=np.int64),
    )


def _two_sided(won: int, lost: int) -> float:
    from scipy.stats import binomtest

    return max(LEAST, float(binomtest(won, won + lost).pvalue)) if won + lost else 1.0


def _tail(won: int, lost: int) -> float:
    """The probability of at least this many wins if each outcome is a fair coin."""
    from scipy.stats import binom

    return max(LEAST, float(binom.sf(won - 1, won + lost, 0.5))) if won + lost else 1.0
