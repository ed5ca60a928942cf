"""What a metric says of itself, and what holds where it says nothing."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

import nlgauge as ng
from nlgauge.core.metric import BaseMetric, Documents, scores_parts, whole
from nlgauge.core.scores import MetricInfo
from nlgauge.text.scripts import known_writings

SEGMENTS = [ng.Segment("1", "a", ("b",))]


@dataclass(frozen=True)
class Bare:
    """A metric of somebody who knows two members."""

    info: ClassVar = MetricInfo("bare")

    def score(self, segments, runtime):
        raise NotImplementedError


@dataclass(frozen=True)
class Telling(Bare):
    """One who knows more, and does not inherit from `BaseMetric`."""

    spec: ClassVar = "telling(bare)"
    pooled: ClassVar = True
    rounds: ClassVar = 2
    notes: ClassVar = ("read this",)
    lacking: ClassVar = {"source": "; take another"}

    def facts(self, runtime):
        return {"me": id(self)}

    def scorer(self, pool, runtime):
        return lambda part: (pool, part)


def test_a_metric_that_inherits_is_itself():
    metric = ng.metric("chrf")
    assert isinstance(metric, BaseMetric)
    assert whole(metric) is metric


def test_a_class_of_two_members_has_the_usual_answers_for_the_others():
    metric = whole(Bare())
    assert (metric.pooled, metric.rounds, metric.trained_on, metric.notes, metric.lacking) == (False, None, (), (), {})
    assert (metric.spec, metric.inside, metric.info.name) == (None, (), "bare")
    assert (metric.facts(None), metric.documents(SEGMENTS), metric.vectors_of(None)) == ({}, (), {})
    assert metric.unread(known_writings()[0]) is metric.pieces(["a"], None) is metric.refuse(SEGMENTS) is None
    assert metric.counted("scores") == "scores"
    assert not scores_parts(Bare())
    with pytest.raises(NotImplementedError):
        metric.scorer(SEGMENTS, None)


def test_a_class_that_says_more_is_asked_for_it_and_is_not_copied():
    own = Telling()
    metric = whole(own)
    assert (metric.spec, metric.pooled, metric.rounds) == ("telling(bare)", True, 2)
    assert (metric.notes, metric.lacking) == (("read this",), {"source": "; take another"})
    assert metric.facts(None) == {"me": id(own)}
    assert metric.scorer(SEGMENTS, None)(SEGMENTS) == (SEGMENTS, SEGMENTS)
    assert scores_parts(own)
    assert metric.trained_on == ()


def test_texts_have_keys_where_something_tells_them_apart():
    # "x" of one item and of another have other keys; without items a text is like no other
    known = Documents("references", {"1": ("x", "y"), "2": ("x",)}, ["x", "y", "x"])
    keys = known.keys()
    assert len({*keys}) == 3
    assert all(len(key) == 16 for key in keys)
    assert Documents("references", None, ["x", "y"]).keys() == [b"", b""]
