"""A metric under examination: its scores of a list, and what it means that two of them agree."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.metric import spec_of
from nlgauge.core.scores import Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import Metric
from nlgauge.runtime.runtime import Runtime

ROUNDING = 1e-9  # 100 * exp(log(1)) and the like may end a few float64 roundings beyond the end of a range


@dataclass
class Subject:
    """A metric with the segments it is tried on.

    Attributes:
        metric: the metric.
        segments: n segments.
        runtime: where it runs.
        tolerance: how far two scores of one segment may lie apart, relative to values above 1.
    """

    metric: Metric
    segments: list[Segment]
    runtime: Runtime
    tolerance: float

    @cached_property
    def base(self) -> Scores:
        """The scores of the segments as given."""
        return self.score(self.segments)

    @property
    def sign(self) -> int:
        """The sign that makes higher values better."""
        return 1 if self.metric.info.higher_is_better else -1

    @property
    def reads_references(self) -> bool:
        """Whether the metric holds the hypothesis against references."""
        return "references" in self.metric.info.needs

    def require(self, holds: Any, sentence: str) -> None:
        """Raise the sentence, with the metric's name before it, unless it holds."""
        if not holds:
            raise AssertionError(f"{spec_of(self.metric)}: {sentence}")

    def score(self, segments: Sequence[Segment], runtime: Runtime | None = None) -> Scores:
        """Scores of a fresh list, which must come back as it was given."""
        given = list(segments)
        before = copy.deepcopy(given)
        scores = self.metric.score(given, runtime or self.runtime)
        self.require(given == before, "score changes the segments it is given")
        self.require(isinstance(scores, Scores), f"score returns {type(scores).__name__}, expected Scores")
        self.require(scores.ids == ids(segments), "the ids of the scores are not those of the segments, in their order")
        return scores

    def near(self, one: Any, other: Any, slack: float = 0.0) -> Any:
        """Elementwise: within the tolerance (or `slack`, if that is more), or both NaN, or the same infinity."""
        one, other = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            close = np.isfinite(one) & (
                np.abs(one - other) <= max(self.tolerance, slack) * np.maximum(1.0, np.abs(one))
            )
        return close | (one == other) | (np.isnan(one) & np.isnan(other))

    def same(self, expected: Scores, found: Scores, change: str) -> None:
        """Require that two scores of the same segments agree in values, parts, flags and statistics."""
        for kind in ("parts", "flags"):
            names = [list(getattr(s, kind)) for s in (expected, found)]
            self.require(
                names[0] == names[1], f"{change} changes which {kind} there are, from {names[0]} to {names[1]}"
            )
        columns = {"value": (expected.values, found.values)}
        columns |= {f"part {name!r}": (column, found.parts[name]) for name, column in expected.parts.items()}
        columns |= {
            f"flag {name!r}": (column.astype(np.float64), found.flags[name].astype(np.float64))
            for name, column in expected.flags.items()
        }
        stats = expected.segment_stats, found.segment_stats
        self.require(stats[0].shape[1] == stats[1].shape[1], f"{change} changes the number of statistics")
        columns |= {f"statistic {i}": (stats[0][:, i], stats[1][:, i]) for i in range(stats[0].shape[1])}
        for name, (one, other) in columns.items():
            for i in np.flatnonzero(~self.near(one, other))[:1].tolist():
                self.require(
                    False,
                    f"{change} changes the {name} of segment {expected.ids[i]!r} from {one[i]} to {other[i]} (tolerance"
                    f" {self.tolerance:g})",
                )

    def within_range(self, values: Array, names: Sequence[str]) -> None:
        """Require that every defined value lies in `info.range`."""
        low, high = self.metric.info.range
        inside = (values >= low) & (values <= high)
        at_the_ends = self.near(values, low, ROUNDING) | self.near(values, high, ROUNDING)
        for i in np.flatnonzero(~(inside | at_the_ends | np.isnan(values))).tolist():
            self.require(False, f"{names[i]} scores {values[i]}, outside info.range {self.metric.info.range}")
