"""A metric inside another: with a different policy for references, or with more needs than its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.core.segment import Segment
from nlgauge.core.signature import Signature, spec_of
from nlgauge.metrics.base import Metric, is_pooled, refuse, rounds, unread
from nlgauge.metrics.references import Policy, over_references
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing


@dataclass(frozen=True)
class WrappedMetric:
    """What wrappers share: specification and pooling are those of the metric inside, which alone uses the cache."""

    metric: Metric

    @property
    def pooled(self) -> bool:
        """As the metric inside."""
        return is_pooled(self.metric)

    @property
    def rounds(self) -> int | None:
        """As the metric inside."""
        return rounds(self.metric)

    @property
    def spec(self) -> str:
        """The specification of the metric inside: a wrapper is an option of an evaluation, not of the metric."""
        return spec_of(self.metric)

    def unread(self, writing: Writing) -> str | None:
        """As the metric inside."""
        return unread(self.metric, writing)

    def refuse(self, segments: Sequence[Segment]) -> None:
        """As the metric inside."""
        refuse(self.metric, segments)

    def _inside(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        return score_segments({"": self.metric}, segments, runtime)[""]


@dataclass(frozen=True)
class ReferencePolicyMetric(WrappedMetric):
    """A metric with a different policy for several references.

    Attributes:
        metric: the metric that scores one reference.
        policy: `mean`, `best`, `best_each` or `first` over single references; or `source`: the source stands for the
            reference, as in factuality sets.
    """

    policy: Policy | Literal["source"]

    @property
    def info(self) -> MetricInfo:
        """The info of the metric inside, except for what it reads."""
        info = self.metric.info
        needs = info.needs - {"references"} | {"source"} if self.policy == "source" else info.needs
        return replace(info, needs=needs, cached=False)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """One value per segment.

        Corpus numbers are means of these. They are the metric's own where each segment has one reference, or the first
        or the source is taken.
        """
        if self.policy == "source":
            scores = self._single([replace(s, references=(s.source or "",)) for s in segments], runtime)
        else:
            scores = over_references(segments, self.policy, lambda single: self._single(single, runtime))
        inside = scores.signature
        folded = ("references_folded", self.policy)
        return replace(scores, signature=Signature(inside.spec, (*inside.entries[:-1], folded, *inside.entries[-1:])))

    def _single(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        # A segment occurs once per reference here, so its id does not tell the copies apart.
        renamed = [replace(s, id=str(i)) for i, s in enumerate(segments)]
        return replace(self._inside(renamed, runtime), ids=tuple(s.id for s in segments))


@dataclass(frozen=True)
class CompanionMetric(WrappedMetric):
    """A metric that sees only segments that it and another metric can both score, so that their sum can be computed.

    Attributes:
        metric: the metric that scores.
        needs: what either of the two metrics needs.
    """

    needs: frozenset[str]

    @property
    def info(self) -> MetricInfo:
        """The info of the metric inside, except for what it needs."""
        return replace(self.metric.info, needs=self.needs, cached=False)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """As the metric inside."""
        return self._inside(segments, runtime)
