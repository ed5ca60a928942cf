"""A metric inside another: with a different policy for references, or with more needs than its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nlgauge.core.metric import BaseMetric, Documents, Layers, spec_of, whole
from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.metrics.base import Metric, corpora_of, is_pooled, notes_of, rounds, trained_on
from nlgauge.metrics.embedding.sharing import merged
from nlgauge.metrics.references import Policy, over_references
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing


class Composed(BaseMetric):
    """A metric of other metrics: it says all that those inside say, but for what it says itself."""

    @property
    def pooled(self) -> bool:
        """Whether any metric inside is."""
        return any(is_pooled(one) for one in self.inside)

    @property
    def rounds(self) -> int | None:
        """As the metric inside that needs most; None if one cannot be scored in parts."""
        needed = [rounds(one) for one in self.inside]
        known = [n for n in needed if n is not None]
        return max(known, default=0) if len(known) == len(needed) else None

    @property
    def trained_on(self) -> tuple[str, ...]:
        """Ids of the perturbations that the model of any metric inside saw in training."""
        return tuple(dict.fromkeys(name for one in self.inside for name in trained_on(one)))

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the metrics inside."""
        return tuple(dict.fromkeys(note for one in self.inside for note in notes_of(one)))

    @property
    def limit(self) -> int | None:
        """The least limit of the metrics inside."""
        return min((one.limit for one in self.inside if one.limit is not None), default=None)

    @property
    def lacking(self) -> Mapping[str, str]:
        """As the first metric inside that knows."""
        return {need: advice for one in reversed(self.inside) for need, advice in one.lacking.items()}

    def documents(self, segments: Sequence[Segment]) -> Sequence[Documents]:
        """The texts that the metrics inside take frequencies from."""
        return [documents for one in self.inside for documents in corpora_of(one, segments)]

    def vectors_of(self, runtime: Runtime) -> Layers:
        """The vectors that the metrics inside read."""
        return merged([one.vectors_of(runtime) for one in self.inside])

    def refuse(self, segments: Sequence[Segment]) -> None:
        """Refuse what any metric inside refuses."""
        for one in self.inside:
            one.refuse(segments)

    def unfit(self, segments: Sequence[Segment]) -> str | None:
        """The reason of the first metric inside that has one."""
        return next((reason for one in self.inside if (reason := one.unfit(segments)) is not None), None)

    def unread(self, writing: Writing) -> str | None:
        """Why a metric inside cannot read a text in this script; None if all can."""
        reasons = dict.fromkeys(reason for one in self.inside if (reason := one.unread(writing)) is not None)
        return "; ".join(reasons) or None


@dataclass(frozen=True)
class WrappedMetric(Composed):
    """A metric around another one, which alone uses the cache."""

    metric: Metric

    @property
    def inside(self) -> tuple[BaseMetric, ...]:
        """The metric that it is around."""
        return (whole(self.metric),)

    @property
    def spec(self) -> str:
        """The specification of the metric inside: a wrapper is an option of an evaluation, not of the metric."""
        return spec_of(self.metric)

    def _inside(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        return score_segments({"": self.metric}, segments, runtime)[""]


@dataclass(frozen=True)
class _Prepared(WrappedMetric):
    """A wrapper that changes what the metric inside is given. Its scores are signed by that metric."""

    def documents(self, segments: Sequence[Segment]) -> Sequence[Documents]:
        """None: the signature of the scores has those of the metric inside, which are taken from what it is given."""
        return ()


@dataclass(frozen=True)
class ReferencePolicyMetric(_Prepared):
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
class CompanionMetric(_Prepared):
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
