"""The rows of a meta-evaluation: a number of one group, a number of all groups, or a test of two metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.result import NewRow, Row
from nlgauge.metaeval.align import JoinedScores
from nlgauge.stats.correlate import Correlation
from nlgauge.stats.tests import Adjustment, MetricComparison, Rule, adjusted, not_outperformed, rank_clusters

MEAN = "mean"  # the group of a mean over groups, and the criterion of a mean over criteria
POOLED = "pooled"  # the group of a share of the pairs of all groups


def group_numbers(one: Correlation) -> NewRow:
    """The fields for one group."""
    return {
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "n_used": one.n_used,
        "n_undefined": one.n_undefined,
        "ties": one.ties,
        "n_ties": one.n_ties,
        "n_pairs": one.n_pairs,
        "epsilon": one.epsilon,
        "chance": one.chance,
    }


def mean_numbers(parts: Sequence[Correlation]) -> NewRow:
    """The fields for the plain mean over groups; `n_used` counts groups."""
    n_defined = sum(not math.isnan(one.value) for one in parts)
    return {
        "value": mean_of_known([one.value for one in parts]),
        "low": math.nan,
        "high": math.nan,
        "n_used": n_defined,
        "n_undefined": len(parts) - n_defined,
        "ties": parts[0].ties if parts else None,
        "n_ties": None,
        "n_pairs": None,
        "epsilon": None,
        "chance": mean_of_known([one.chance for one in parts]),
    }


def pooled_numbers(parts: Sequence[Correlation]) -> NewRow:
    """The fields for one share over the pairs of all groups; pairs never cross groups."""
    pairs = [one.n_pairs or 0 for one in parts]
    n_pairs = sum(pairs)

    def pooled(shares: Iterable[float]) -> float:
        return sum(share * n for share, n in zip(shares, pairs, strict=True) if n) / n_pairs if n_pairs else math.nan

    return {
        **mean_numbers(parts),
        "value": pooled(one.value for one in parts),
        "n_pairs": n_pairs,
        "n_ties": sum(one.n_ties or 0 for one in parts),
        "chance": pooled(one.chance for one in parts),
    }


def disagreements(held: JoinedScores, most: int) -> list[NewRow]:
    """The segments that a metric and people rank most differently, for each criterion and metric.

    Ranks are among all rated segments of the data, 1 is the best, and equal values share their mean rank.

    Args:
        held: joined data with scores of segments.
        most: the number of segments for each criterion and metric.

    References:
        Zhang et al. (2020), "BERTScore", table 7, which shows such segments of two metrics.
    """
    from scipy.stats import rankdata

    rows: list[NewRow] = []
    for criterion, ratings in held.human.items():
        for metric, scores in held.scores.items():
            known = np.flatnonzero(~np.isnan(ratings) & ~np.isnan(scores.values))
            up = scores.values[known] * (1 if scores.higher_is_better else -1)
            people, ranks = rankdata(-ratings[known]), rankdata(-up)
            far = np.argsort(-np.abs(ranks - people), kind="stable")[:most]
            for i in far.tolist():
                segment = held.segments[int(known[i])]
                rows.append(
                    {
                        "id": segment.id,
                        "criterion": criterion,
                        "metric": metric,
                        "rank": float(ranks[i]),
                        "human_rank": float(people[i]),
                        "n": len(known),
                        "hyp": segment.hypothesis,
                        "ref": segment.references[0] if segment.references else "",
                    }
                )
    return rows


def mean_of_known(values: Sequence[float]) -> float:
    """The mean of the values that are defined; NaN where none is."""
    defined = [value for value in values if not math.isnan(value)]
    return float(np.mean(defined)) if defined else math.nan


def standings(
    test: MetricComparison | None, n: int, adjust: Adjustment, alpha: float, rule: Rule = "all"
) -> list[NewRow]:
    """The rank of each of n metrics, and whether no other beats it; empty without a test that says which is better."""
    if test is None or test.alternative != "greater":
        return [{} for _ in range(n)]
    p = adjusted(test.p, adjust)
    ranks, best = rank_clusters(test.values, p, alpha=alpha, rule=rule), not_outperformed(p, alpha=alpha)
    return [{"rank": int(ranks[m]) or None, "not_outperformed": bool(best[m])} for m in range(n)]


def rows_of_test(
    bases: Sequence[Row],
    values: Sequence[float],
    test: MetricComparison,
    adjust: Adjustment,
    power: Callable[[int, int, float], NewRow],
    baseline: int | None = None,
) -> Iterator[NewRow]:
    """One row for each metric and each other metric that it is compared with.

    Args:
        bases: the fields that all rows of a metric share, one entry per metric.
        values: the statistic of each metric.
        test: the comparison of every metric with every other.
        adjust: the method that adjusts the p-values.
        power: returns the field for the power of one test, from the two metrics and the adjusted p.
        baseline: the only metric that others are compared with; None compares every two.
    """
    made = ~np.eye(len(test.p), dtype=np.bool_)
    if baseline is not None:
        made[:, np.arange(len(made)) != baseline] = False
    p = _adjusted(np.where(made, test.p, np.nan), adjust, test.alternative == "two-sided" and baseline is None)
    for i, j in np.argwhere(made).tolist():
        pair = {"value": values[i], "against": bases[j]["metric"], **_difference(test, i, j)}
        yield {**bases[i], **pair, **power(i, j, float(p[i, j])), **_p(test, p, i, j, adjust)}


def _adjusted(p: Array, adjust: Adjustment, twice: bool) -> Array:
    """Adjusted p-values, shape (M, M); a two-sided test that stands there `twice` is one test."""
    if not twice:
        return adjusted(p, adjust)
    upper = adjusted(np.where(np.triu(np.ones(p.shape, dtype=np.bool_), 1), p, np.nan), adjust)
    return np.where(np.isnan(upper), upper.T, upper)


def _difference(test: MetricComparison, i: int, j: int) -> NewRow:
    delta: NewRow = {"delta": float(test.deltas[i, j])}
    if test.delta_low is not None and test.delta_high is not None:
        delta |= {"delta_low": float(test.delta_low[i, j]), "delta_high": float(test.delta_high[i, j])}
    return delta


def _p(test: MetricComparison, p: Array, i: int, j: int, adjust: Adjustment) -> NewRow:
    return {
        "p": float(test.p[i, j]),
        "p_adjusted": float(p[i, j]) if adjust != "none" else None,
        "test": test.test,
        "alternative": test.alternative,
        "generalise_to": test.generalise_to,
        "draws": test.draws,
    }
