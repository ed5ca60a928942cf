"""Does one metric get more pairs right than another? McNemar's exact test on the pairs on which they disagree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.correlation.entries import numbers
from nlgauge.stats.correlation.preferences import places
from nlgauge.stats.differences.result import LEAST, Alternative, MetricComparison, square
from nlgauge.stats.draws import pairs_of

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
        n_undefined: pairs left out because a score is missing.
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
    missing: str = "refuse",
) -> McNemar:
    """Does the first metric get more pairs right than the second? An exact test on the pairs on which they disagree.

    Args:
        better_first: scores of the better texts by the first metric, shape (n,).
        worse_first: scores of the worse texts by the first metric.
        better_second: scores of the better texts by the second metric.
        worse_second: scores of the worse texts by the second metric.
        ties: `loss` counts a tie as wrong; `exclude` leaves out the pairs that either metric ties.
        missing: `refuse` a missing score, or `drop` its pair.

    References:
        McNemar (1947), "Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages".
    """
    check_option("ties", ties, TiesOfTest, error=InputError)
    check_option("missing", missing, Literal["refuse", "drop"], error=InputError)
    columns = [numbers(column, "scores") for column in (better_first, worse_first, better_second, worse_second)]
    if len({column.shape for column in columns}) != 1 or columns[0].ndim != 1:
        raise InputError(
            f"scores have shapes {', '.join(str(c.shape) for c in columns)}, expected four vectors of equal lengths"
        )
    good_1, bad_1, good_2, bad_2 = columns
    left_out = np.asarray(np.isnan(np.stack(columns)).any(axis=0))
    if left_out.any() and missing == "refuse":
        raise InputError(f"a score is missing in {places(left_out)}; choose missing='drop'")
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
        better: scores of the better texts, shape (M, P), higher is better.
        worse: scores of the worse texts, shape (M, P).
        ties: `loss` (also called `zero`) counts a tie as wrong. `exclude` leaves out, for each two metrics, the pairs
            that either of them ties; the accuracies in `values` remain shares of all pairs.
        alternative: `greater` gives p of row better than column; or `two-sided`.

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
