"""Scores that the data hold themselves, such as those of a log or of people, as metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import Metric, MetricLike
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime

PREFIX = "human."


@dataclass(frozen=True, kw_only=True)
class Rated(BaseMetric):
    """A column of ratings in the data; of several ratings of a text the mean. Higher is taken to be better.

    Args:
        criterion: the column.
    """

    criterion: str

    @property
    def info(self) -> MetricInfo:
        """Facts; the scale is not known."""
        return MetricInfo(f"{PREFIX}{self.criterion}", needs=set(), range=(-math.inf, math.inf), copy_is_best=False)

    @property
    def spec(self) -> str:
        """The specification that `metrics_of` takes."""
        return f"{PREFIX}{self.criterion}"

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """The ratings, NaN where a text has none.

        Raises:
            InputError: no text has one.
        """
        values = np.array([_mean(s.human.get(self.criterion)) for s in segments])
        if len(values) and np.isnan(values).all():
            known = dict.fromkeys(name for s in segments for name in s.human)
            has = nearest(self.criterion, known) if known else "; there are no ratings"
            raise InputError(f"no text has a rating {self.criterion!r}{has}")
        return Scores(signature_of(self, runtime), ids(segments), values)


def _mean(rating: Any) -> float:
    """A rating, or the mean of several."""
    if rating is None:
        return math.nan
    return float(np.mean(rating)) if np.size(rating) else math.nan


def metrics_of(metrics: MetricLike | Sequence[MetricLike], encoder: str | None) -> dict[str, Metric]:
    """Specification as typed -> metric, as `named`; `human.NAME` is a column of the data.

    Raises:
        SpecError: there is no metric, or one is unknown or named twice.
    """
    listed = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Sequence) else list(metrics)
    own = {s: Rated(criterion=s.removeprefix(PREFIX)) for s in listed if isinstance(s, str) and s.startswith(PREFIX)}
    placed: list[Any] = [own.get(one, one) if isinstance(one, str) else one for one in listed]
    return named(placed, encoder)
