"""Evidence on one metric under one criterion: a share with its interval, and where it comes from."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.stats.draws import FEWEST, dependent_trials, generator, percentiles, resample_counts, wilson

Care = Literal["meaning", "facts", "coverage", "fluency"]
ASPECTS: tuple[Care, ...] = get_args(Care)
OWN, PUBLIC, COPIES, HARMLESS, APART = "people", "public", "copies", "harmless", "apart"
ERRORS = "errors."  # criteria of errors in outputs begin so, and an aspect follows
CRITERIA = (OWN, PUBLIC, *(ERRORS + aspect for aspect in ASPECTS), COPIES, HARMLESS, APART)
CHANCE = 0.5  # of every criterion
DRAWS = 1000
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Evidence:
    """A share in [0, 1] that says how well a metric does under one criterion; a blind choice has 0.5 everywhere.

    Attributes:
        metric: the specification as typed.
        criterion: one of `CRITERIA`.
        value: the share.
        low, high: its 95 % interval; NaN where it is not known.
        n: how many there are: pairs of texts of errors and near-copies, outputs of ratings, pairs of systems.
        source: the texts that it was found on.
        draws: the share on B resamples of the items, shape (B,); the same resamples for every metric.
        detail: further numbers of the row.
    """

    metric: str
    criterion: str
    value: float
    low: float
    high: float
    n: int
    source: str
    draws: Array = field(default_factory=lambda: np.empty(0), repr=False)
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def is_few(self) -> bool:
        """Whether it is of too few trials to count."""
        return self.n < FEWEST and (self.criterion in (COPIES, HARMLESS) or self.criterion.startswith(ERRORS))

    def as_row(self, weight: float) -> dict[str, Any]:
        """The flat object of the result file."""
        return {
            "metric": self.metric,
            "criterion": self.criterion,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "weight": 0.0 if self.is_few else weight,
            "source": self.source,
            **self.detail,
        }


@dataclass(frozen=True, eq=False)
class Share:
    """A share of trials that come from clusters, such as items.

    Attributes:
        value, low, high, n, draws: as in `Evidence`.
    """

    value: float
    low: float
    high: float
    n: int
    draws: Array


def share(won: Array, clusters: Sequence[Hashable], seed: int = 0) -> Share | None:
    """The share of trials won, with an interval that knows that trials of one cluster depend on each other.

    Args:
        won: 1 for a trial won, 0.5 for a tie, 0 for a loss, shape (n,); NaN for a trial that does not count.
        clusters: where each trial comes from, length n.
        seed: of the resamples. The same seed and clusters draw the same resamples, so that metrics are compared on
            them pair by pair.

    Returns:
        The share, whose interval is Wilson's for the effective number of trials; None if no trial counts.
    """
    numbers: dict[Hashable, int] = {}
    places = np.array([numbers.setdefault(one, len(numbers)) for one in clusters], dtype=np.int64)
    counted = ~np.isnan(won)
    n = int(counted.sum())
    if not n:
        return None
    value = float(won[counted].mean())
    parts = (won[counted] - value) / n
    trials = dependent_trials(n, parts, [clusters[i] for i in np.flatnonzero(counted).tolist()], LEVEL)
    low, high = wilson(value * trials, trials, LEVEL)
    wins = np.bincount(places, weights=np.where(counted, won, 0.0), minlength=len(numbers))
    sizes = np.bincount(places, weights=counted.astype(np.float64), minlength=len(numbers))
    times = resample_counts(generator(seed), DRAWS, len(numbers))
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = (times @ wins) / (times @ sizes)
    return Share(value, low, high, n, np.where(np.isnan(drawn), value, drawn))


def interval_of(draws: Array) -> tuple[float, float]:
    """The ends of the middle 95 % of draws; NaN where there are none."""
    if not len(draws):
        return math.nan, math.nan
    low, high = percentiles(np.asarray(draws, dtype=np.float64)[:, None], LEVEL)
    return float(low[0]), float(high[0])
