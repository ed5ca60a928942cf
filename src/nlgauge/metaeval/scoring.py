"""What do the metrics say of the judged segments? References folded by one policy, pooled metrics a group at a time."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.scores import MetricInfo, Scores, join
from nlgauge.core.segment import Segment
from nlgauge.core.signature import Signature, signature_of, spec_of
from nlgauge.metrics.base import Metric, is_pooled
from nlgauge.metrics.references import over_references
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime

References = Literal["own", "mean", "best", "best_each", "first", "source"]
REFERENCES = ("own", "mean", "best", "best_each", "first", "source")
_ALSO = {"max": "best", "joint": "own"}


def references_policy(name: str | None) -> References:
    """The policy of a name; `max` is `best`, None and `joint` are `own`.

    Raises:
        InputError: an unknown policy, with the nearest known.
    """
    policy = "own" if name is None else _ALSO.get(name, name)
    if policy not in REFERENCES:
        raise InputError(f"references is {name!r}{nearest(str(name), (*REFERENCES, *_ALSO))}")
    return policy  # type: ignore[return-value]


@dataclass(frozen=True)
class ReferencePolicyMetric:
    """A metric under a policy for several references that is not its own.

    Attributes:
        metric: what scores one reference.
        policy: `mean`, `best`, `best_each` or `first` over single references, or `source`: the source stands for the
            reference, as factuality sets have it.
    """

    metric: Metric
    policy: References

    @property
    def info(self) -> MetricInfo:
        """The metric's own, but for what it reads."""
        own = self.metric.info
        needs = own.needs - {"references"} | {"source"} if self.policy == "source" else own.needs
        return dataclasses.replace(own, needs=needs, cached=False)

    @property
    def pooled(self) -> bool:
        """As the metric itself."""
        return is_pooled(self.metric)

    @property
    def spec(self) -> str:
        """The metric's own: the policy is an option of the evaluation, and stands in the signature."""
        return spec_of(self.metric)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """One value a segment; corpus numbers are means of these."""
        if self.policy == "source":
            scores = self._single([dataclasses.replace(s, references=(s.source or "",)) for s in segments], runtime)
        else:
            scores = over_references(segments, self.policy, lambda single: self._single(single, runtime))  # type: ignore[arg-type]
        return dataclasses.replace(scores, signature=self.signature(runtime))

    def signature(self, runtime: Runtime) -> Signature:
        """The metric's own, and the policy."""
        own = signature_of(self.metric, runtime)
        return Signature(own.spec, (*own.entries[:-1], ("references_folded", self.policy), *own.entries[-1:]))

    def _single(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        renamed = [
            dataclasses.replace(s, id=str(i)) for i, s in enumerate(segments)
        ]  # a segment stands here once for each reference
        scores = score_segments({"": self.metric}, renamed, runtime)[""]
        return dataclasses.replace(scores, ids=tuple(s.id for s in segments))


def score_judged(
    metrics: Mapping[str, Metric], segments: Sequence[Segment], runtime: Runtime, references: str | None = None
) -> tuple[dict[str, Scores], list[str]]:
    """Scores of the segments by each metric, in their order.

    A metric that is `pooled` (idf, min-max) sees one group at a time, so that a language pair or a task does not decide
    on the scores of another; see `MetricInfo`.

    Returns:
        Name -> Scores, and notes: which metrics are pooled, what was flagged.
    """
    policy = references_policy(references)
    held: dict[str, Any] = (
        dict(metrics)
        if policy == "own"
        else {name: ReferencePolicyMetric(built, policy) for name, built in metrics.items()}
    )
    _check_needs(held, segments)
    found = score_segments({name: built for name, built in held.items() if not is_pooled(built)}, segments, runtime)
    groups = list(dict.fromkeys(s.group for s in segments))
    notes = []
    for name, built in held.items():
        if not is_pooled(built):
            continue
        found[name] = _by_group(name, built, segments, groups, runtime)
        if len(groups) > 1:
            notes.append(f"{name} is pooled: scored in each of {len(groups)} groups by itself")
    return {name: found[name] for name in held}, notes


def _by_group(
    name: str, built: Metric, segments: Sequence[Segment], groups: Sequence[str | None], runtime: Runtime
) -> Scores:
    parts = [score_segments({name: built}, [s for s in segments if s.group == g], runtime)[name] for g in groups]
    whole = join(parts)
    places = {own: i for i, own in enumerate(whole.ids)}
    return whole.take([places[s.id] for s in segments])


def _check_needs(metrics: Mapping[str, Any], segments: Sequence[Segment]) -> None:
    """Refuse before anything is scored; where sources could stand in for references, say so."""
    for name, built in metrics.items():
        if (
            "references" in built.info.needs
            and segments
            and not any(s.references for s in segments)
            and all(s.source for s in segments)
        ):
            raise InputError(
                f"{name} needs references and no segment has any; references='source' takes the source for the"
                " reference"
            )
