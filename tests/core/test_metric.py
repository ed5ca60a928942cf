"""What a metric says of itself, and what holds where it says nothing."""

from dataclasses import dataclass, field
from importlib import metadata
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.metric import (
    BaseMetric,
    Documents,
    options_of,
    scores_parts,
    show,
    signature,
    signature_of,
    spec_of,
    whole,
)
from nlgauge.core.options import construct
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import parse
from nlgauge.core.suite import Pair
from nlgauge.metrics.base import check_needs
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
    assert not scores_parts(metric)
    with pytest.raises(NotImplementedError):
        metric.scorer(SEGMENTS, None)


def test_a_class_that_says_more_is_asked_for_it_and_is_not_copied():
    own = Telling()
    metric = whole(own)
    assert (metric.spec, metric.pooled, metric.rounds) == ("telling(bare)", True, 2)
    assert (metric.notes, metric.lacking) == (("read this",), {"source": "; take another"})
    assert metric.facts(None) == {"me": id(own)}
    assert metric.scorer(SEGMENTS, None)(SEGMENTS) == (SEGMENTS, SEGMENTS)
    assert scores_parts(metric)
    assert metric.trained_on == ()


def test_texts_have_keys_where_something_tells_them_apart():
    # "x" of one item and of another have other keys; without items a text is like no other
    known = Documents("references", {"1": ("x", "y"), "2": ("x",)}, ["x", "y", "x"])
    keys = known.keys()
    assert len({*keys}) == 3
    assert all(len(key) == 16 for key in keys)
    assert Documents("references", None, ["x", "y"]).keys() == [b"", b""]


@dataclass(frozen=True, kw_only=True)
class Toy:
    whole: int = 1
    real: float = 0.5
    switch: bool = False
    maybe: int | None = None
    text: str = "13a"
    derived: int = field(init=False, default=7)
    info: ClassVar = MetricInfo("toy")


@dataclass(frozen=True)
class Resolving(Toy):
    def facts(self, runtime):
        return {"maybe": 12, "weights": f"on {runtime}"}


@dataclass(frozen=True)
class Pooled(Toy):
    pooled: ClassVar = True


def test_a_signature_is_the_fields_in_order_then_the_version():
    ours = metadata.version("nlgauge")
    assert str(signature(Toy(switch=True))) == f"metric:toy|whole:1|real:0.5|switch:true|text:13a|nlgauge:{ours}"


def test_facts_replace_fields_in_their_place_and_add_to_them():
    # `maybe` stays where it was; what is no field follows the fields
    names = [name for name, _ in signature_of(Resolving(), "cpu").entries]
    assert names == ["metric", "whole", "real", "switch", "maybe", "text", "weights", "nlgauge"]
    assert dict(signature_of(Resolving(), "cpu").entries)["maybe"] == "12"
    assert dict(signature_of(Resolving(), "cpu").entries)["weights"] == "on cpu"


def test_without_a_runtime_nothing_is_resolved():
    names = [name for name, _ in signature_of(Resolving()).entries]
    assert names == ["metric", "whole", "real", "switch", "text", "nlgauge"]


def test_what_is_none_is_left_out_and_what_is_zero_false_or_empty_is_not():
    entries = dict(signature(Toy(whole=0, real=0.0, text=""), {"revision": None, "layer": 0}).entries)
    assert "maybe" not in entries
    assert "revision" not in entries
    assert {name: entries[name] for name in ("whole", "real", "switch", "text", "layer")} == {
        "whole": "0",
        "real": "0.0",
        "switch": "false",
        "text": "",
        "layer": "0",
    }


def test_a_fact_that_is_none_takes_its_option_out():
    assert "whole" not in dict(signature(Toy(), {"whole": None}).entries)


def test_a_resolved_option_does_not_enter_the_specification():
    # the specification asks for the rule again, the signature says what the rule gave
    assert signature_of(Resolving(), "cpu").spec == "toy"


def test_a_pooled_metric_says_over_what():
    assert dict(signature(Pooled()).entries)["pool"] == "call"
    assert dict(signature(Pooled(), {"pool": "references"}).entries)["pool"] == "references"


def test_the_specification_holds_what_differs_from_the_defaults():
    assert spec_of(Toy()) == "toy"
    assert spec_of(Toy(real=2.0, text="a, b")) == 'toy:real=2.0,text="a, b"'


def test_a_field_that_is_no_option_stands_in_neither():
    assert "derived" not in [f.name for f in options_of(Toy())]
    assert "derived" not in dict(signature(Toy()).entries)


@given(
    st.builds(
        Toy,
        whole=st.integers(),
        real=st.floats(allow_nan=False),
        switch=st.booleans(),
        maybe=st.none() | st.integers(),
        text=st.text().filter(lambda text: "\0" not in text),  # no specification holds it: no file is named so
    )
)
def test_the_specification_rebuilds_any_metric(metric):
    spec = parse(spec_of(metric))
    assert construct(Toy, dict(spec.options), {}, "toy") == metric


def test_values_are_shown_as_the_grammar_reads_them():
    assert [show(v) for v in (None, True, False, 0.1, 1e-7, 3, "x")] == [
        "none",
        "true",
        "false",
        "0.1",
        "1e-07",
        "3",
        "x",
    ]


@dataclass(frozen=True)
class Share:
    """A metric of a plug-in that knows `info` and `score`, and no base class: letters that the reference has, too."""

    info: ClassVar = MetricInfo("share")

    def score(self, segments, runtime):
        check_needs(self, segments)
        values = np.array([len({*s.hypothesis} & {*s.references[0]}) / 26 for s in segments])
        return Scores(signature_of(self, runtime), ids(segments), values)


class Point:
    name = "share"

    def load(self):
        return Share


@pytest.mark.parametrize("spec", ["share", "0.5*share + 0.5*chrf[norm=none]", "guarded(share)"])
def test_a_plug_in_with_two_members_works_wherever_a_metric_does(spec, monkeypatch):
    points = metadata.entry_points
    monkeypatch.setattr(
        "nlgauge.core.options.metadata.entry_points",
        lambda group: [Point()] if group == "nlgauge.metrics" else points(group=group),
    )
    hyps = {"one": ["a cat sat", "the dog ran", "birds sing"] * 4, "two": ["cat", "a dog", "no bird"] * 4}
    refs = ["a cat sat down", "the dog ran off", "birds sing"] * 4
    rated = [
        Segment(f"{system}{i}", text, (refs[i],), None, system, str(i), human={"quality": float(i + len(text))})
        for system, texts in hyps.items()
        for i, text in enumerate(texts)
    ]
    pairs = [
        Pair(id=str(i), phenomenon="words", better=good, worse=bad, references=(ref,))
        for i, (good, bad, ref) in enumerate(zip(*hyps.values(), refs, strict=True))
    ]
    assert ng.metric(spec) == ng.metric(spec)
    (scores,) = ng.score(hyps, refs, metrics=spec).values()
    assert scores.by_system()["one"] > scores.by_system()["two"]
    assert [row["system"] for row in ng.compare(hyps, refs, metrics=spec).result().rows[:2]] == ["one", "two"]
    assert ng.meta_evaluate(ng.Dataset(tuple(rated)), metrics=spec).rows
    assert ng.audit(ng.Suite(tuple(pairs), "own"), spec).rows[0]["accuracy"] == 1
    assert ng.gate(hyps["one"], hyps["one"], refs, metrics=spec).rows
    with pytest.raises(ng.InputError, match="needs references; segment '1' has none"):
        ng.score(["a"], metrics=spec)
