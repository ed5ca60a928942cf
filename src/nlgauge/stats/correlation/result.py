"""The value of a statistic, and everything it rests on."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from nlgauge.stats.correlation.averaging import Grouped, Means, mean_of_groups, pool


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """A statistic, and what it was computed from.

    Attributes:
        stat: the name of the statistic.
        value: the value; NaN where undefined.
        n_used: how many parts the value rests on: entries (averaging `none`), systems (level `system`) or groups
            (`item`, `sys`, `micro`).
        n_undefined: how many more were given and could not be used: without a judgement, with a dropped score, or a
            group that is too small or constant.
        n_missing: entries without a judgement, or whose score was dropped.
        n_zeroed: groups among those used that have no defined value and count as 0.
        n_pairs: pairs in the denominator, where pairs are pooled or not grouped; None elsewhere.
        n_ties: pairs that only one side ties, where `n_pairs` is given.
        level: `segment` or `system`.
        averaging: `none`, `item`, `sys` or `micro`.
        ties: how ties are settled; None where the statistic leaves no choice.
        epsilon: the difference of scores up to which they are tied; None where there is none. With held-out folds it
            is the threshold calibrated on all data.
        epsilon_unique: whether no other threshold is as good; None where no threshold was calibrated.
        chance: the value that random scores would reach; NaN where it is not known.
        low: lower end of a 95 % Wilson interval (preference accuracy without groups); NaN elsewhere.
        high: upper end.
        raw: the value as if higher were better for every metric; NaN where it was not computed.
        higher_is_better: the orientation declared; scores for which lower is better were negated first.
        compat: the package whose procedure was followed, or None.
        note: what a reader should know beside the number.
        groups: the value of each group by its label, NaN where undefined; empty with averaging `none`.
    """

    stat: str
    value: float
    n_used: int
    n_undefined: int
    n_missing: int
    n_zeroed: int = 0
    n_pairs: int | None = None
    n_ties: int | None = None
    level: str
    averaging: str
    ties: str | None = None
    epsilon: float | None = None
    epsilon_unique: bool | None = None
    chance: float = math.nan
    low: float = math.nan
    high: float = math.nan
    raw: float = math.nan
    higher_is_better: bool = True
    compat: str | None = None
    note: str = ""
    groups: dict[Hashable, float] = field(default_factory=dict, repr=False)


def summarise(
    grouped: Grouped,
    *,
    stat: str,
    level: str,
    averaging: str,
    labels: tuple[Hashable, ...],
    n_given: int,
    n_missing: npt.NDArray[np.int64],
    undefined: str = "skip",
    common: bool = False,
) -> list[Correlation]:
    """One result per metric from its values by group.

    Args:
        grouped: values, sizes and perhaps counts of M metrics in G groups.
        stat: the name of the statistic.
        level: the level to record.
        averaging: `none` (there is one group), `item`, `sys` or `micro`.
        labels: the names of the groups.
        n_given: the number of entries (or systems) that were given, used or not.
        n_missing: the number of missing entries per metric, shape (M,).
        undefined: see `mean_of_groups`.
        common: see `mean_of_groups`.
    """
    counts = grouped.counts
    if averaging == "none":
        defined = ~np.isnan(grouped.values[:, 0])
        n_used = np.where(defined, grouped.sizes[:, 0], 0)
        means = Means(grouped.values[:, 0], n_used, n_given - n_used, np.zeros_like(n_used))
    elif averaging == "micro" and counts is not None:
        means = pool(counts)
    else:
        means = mean_of_groups(grouped, undefined=undefined, common=common)
    show_pairs = counts is not None and averaging in ("none", "micro")
    found = []
    for m in range(len(grouped.values)):
        found.append(
            Correlation(
                stat=stat,
                value=float(means.values[m]),
                n_used=int(means.n_used[m]),
                n_undefined=int(means.n_undefined[m]),
                n_missing=int(n_missing[m]),
                n_zeroed=int(means.n_zeroed[m]),
                n_pairs=int(counts.denominator[m].sum()) if show_pairs and counts is not None else None,
                n_ties=int(counts.ties[m].sum()) if show_pairs and counts is not None else None,
                level=level,
                averaging=averaging,
                groups={} if averaging == "none" else dict(zip(labels, grouped.values[m].tolist(), strict=True)),
            )
        )
    return found
