"""Which metrics does no other metric beat, and which ranks does a test tell apart?"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option

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


def rank_clusters(
    values: Array, p: Array, *, alpha: float = 0.05, rule: Rule = "all", compat: str | None = None
) -> npt.NDArray[np.int64]:
    """Ranks from 1, the best first; metrics between two breaks share a rank.

    Args:
        values: shape (M,), higher is better; NaN gets 0, which stands for no rank.
        p: one-sided p-values of row better than column, shape (M, M).
        alpha: a metric beats another where p < alpha.
        rule: `all` puts a break where every metric above beats every metric below. `any` goes down the list, and a
            metric opens a new rank as soon as one metric of the current rank beats it. `any` is greedy: of three
            metrics of which only the first beats the third, the second ends beside the first. `wmt` is `any` with
            p <= alpha, as WMT's organisers rank.
        compat: `mt-metrics-eval`: the rule `wmt`.

    References:
        Freitag et al. (2022), "Results of WMT22 Metrics Shared Task", section 6 (the greedy rule).
    """
    p, values = _check(p, alpha), np.asarray(values, dtype=np.float64)
    if values.shape != (len(p),):
        raise InputError(f"values have shape {values.shape}, expected ({len(p)},) beside p-values of shape {p.shape}")
    check_option("rule", rule, Rule, error=InputError)
    if compat is not None:
        check_option("compat", compat, Literal["mt-metrics-eval"], error=InputError)
        rule = "wmt"
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
