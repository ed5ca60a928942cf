"""A metric inside another keeps its name, its company and its numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

from nlgauge.core.metric import signature_of, spec_of
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import Metric, is_pooled
from nlgauge.metrics.registry import metric
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.metrics.wrapped import CompanionMetric, ReferencePolicyMetric
from nlgauge.runtime.runtime import Runtime


@dataclass(frozen=True)
class Shared:
    """Letters of the hypothesis that its only reference has; `seen` is every list of ids it was asked to score."""

    seen: list = field(init=False, default_factory=list, compare=False)
    info: ClassVar = MetricInfo("shared", range=(0.0, np.inf), cached=True)
    pooled: ClassVar = True

    def score(self, segments, runtime):
        self.seen.append([s.id for s in segments])
        values = np.array([float(len(set(s.hypothesis) & set(s.references[0]))) for s in segments])
        return Scores(signature_of(self, runtime), ids(segments), values)


SEGMENTS = [Segment("a", "xyz", ("x", "xy"), "xyz"), Segment("b", "pq", ("q",), "")]


@pytest.mark.parametrize(
    ("policy", "values"),
    # "xyz" shares 1 letter with "x", 2 with "xy" and 3 with its source; "pq" shares 1 with "q" and none with nothing
    [("best", [2, 1]), ("best_each", [2, 1]), ("mean", [1.5, 1]), ("first", [1, 1]), ("source", [3, 0])],
)
def test_references_are_folded_by_the_policy_given_which_the_signature_names(policy, values):
    wrapped = ReferencePolicyMetric(Shared(), policy)
    scores = wrapped.score(SEGMENTS, Runtime())
    assert scores.values.tolist() == values
    assert scores.ids == ("a", "b")
    assert f"|references_folded:{policy}|nlgauge:" in str(scores.signature)
    assert scores.signature.spec == spec_of(wrapped) == "shared"


def test_a_segment_that_stands_there_once_for_each_reference_has_an_id_each_time():
    shared = Shared()
    ReferencePolicyMetric(shared, "mean").score(SEGMENTS, Runtime())
    assert shared.seen == [["0", "1", "2"]]


def test_a_source_that_stands_for_the_reference_is_what_is_needed():
    assert ReferencePolicyMetric(Shared(), "source").info.needs == {"source"}
    assert ReferencePolicyMetric(Shared(), "mean").info.needs == {"references"}


def test_a_companion_needs_what_either_needs_and_scores_as_it_would_alone():
    wrapped = CompanionMetric(Shared(), frozenset({"references", "source"}))
    assert wrapped.info.needs == {"references", "source"}
    alone, together = (metric.score(SEGMENTS, Runtime()) for metric in (Shared(), wrapped))
    assert str(alone.signature) == str(together.signature)
    np.testing.assert_array_equal(alone.values, together.values)


@pytest.mark.parametrize("wrapped", [ReferencePolicyMetric(Shared(), "mean"), CompanionMetric(Shared(), frozenset())])
def test_a_wrapper_is_a_metric_whose_scores_the_metric_inside_caches(wrapped):
    assert isinstance(wrapped, Metric)
    assert not wrapped.info.cached
    assert is_pooled(wrapped)


def test_a_policy_keeps_the_texts_of_frequencies_in_the_signature():
    segments = [Segment(str(i), "a b", (ref,)) for i, ref in enumerate(["a b", "c d"])]
    idf = metric("bertscore:idf=true")
    plain, folded = (
        score_segments({"": m}, segments, Runtime())[""] for m in (idf, ReferencePolicyMetric(idf, "best"))
    )
    own = dict(folded.signature.entries)
    assert own.pop("references_folded") == "best"
    assert own == dict(plain.signature.entries)
    assert own["documents"].startswith("sha256:")
