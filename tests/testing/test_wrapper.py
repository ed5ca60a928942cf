"""Every metric made of others says what those say; one that keeps something back is caught."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.metric import limit, rounds, trained_on, whole
from nlgauge.core.scores import MetricInfo
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.qmetric import QMetric
from nlgauge.metrics.registry import METRICS
from nlgauge.metrics.run import score_segments, vectors_of
from nlgauge.metrics.wrapped import CompanionMetric, ReferencePolicyMetric, WrappedMetric
from nlgauge.testing import SEGMENTS, check_metric, check_options
from nlgauge.testing.metric import MODEL_TOLERANCE, POOL_TOLERANCE
from nlgauge.text.scripts import known_writings

MANY = {  # what an inner metric has to say: documents, passes, moments, training, a way out, notes, languages, vectors
    "bertscore:idf=true",
    "cider",
    "0.5*bleu + 0.5*chrf",
    "nli",
    "parent",
    "rated",
    "discoscore",
    "meteor",
    "cosine",
}
FEW = SEGMENTS[:6]


def check_wrapper(wrapper, inner, segments=FEW):
    """A metric made of another one says all that this one says."""
    runtime, segments = ng.Runtime(), list(segments)
    own, other = whole(wrapper), whole(inner)
    assert own.pooled or not other.pooled, "the metric inside is pooled and the wrapper is not"
    passes, needed = rounds(own), rounds(other)
    enough = passes is None if needed is None else passes is None or passes >= needed
    assert enough, f"rounds is {passes}, and {needed} of the metric inside"
    for what, asked in (("trained_on", trained_on), ("notes", lambda metric: metric.notes)):
        lost = [one for one in asked(other) if not any(one in said for said in asked(own))]
        assert not lost, f"{what} of the metric inside are left out: {lost}"
    most, least = limit(own), limit(other)
    assert least is None or (most is not None and most <= least), f"limit is {most}, and {least} of the metric inside"
    for need in own.info.needs & other.lacking.keys():
        assert own.lacking.get(need) == other.lacking[need], f"lacking[{need!r}] of the metric inside is lost"
    for writing in (known_writings()[0]._replace(language="de"), *known_writings()):
        reason = other.unread(writing)
        assert reason is None or own.unread(writing), f"the metric inside says {reason!r} of {writing}"
    outside = vectors_of(own, runtime)
    lost = [one for one, layers in vectors_of(other, runtime).items() if {*layers} - {*outside.get(one, ())}]
    assert not lost, "vectors that the metric inside reads are not in vectors_of"
    refused = refuses(own, segments)
    assert refused or not refuses(other, segments), "it takes what the metric inside refuses"
    if not refused:
        scored = score_segments({"wrapper": own, "inner": other}, segments, runtime)
        signed = {name: "documents" in dict(scores.signature.entries) for name, scores in scored.items()}
        assert signed["wrapper"] or not signed["inner"], "documents are read, and the signature has no digest of them"


def refuses(metric, segments):
    try:
        metric.refuse(segments)
    except ng.InputError:
        return True
    return False


@pytest.mark.parametrize("spec", sorted(MANY - {"0.5*bleu + 0.5*chrf"}))
def test_a_sum(spec):
    check_wrapper(ng.metric(f"1*{spec} + 0.5*chrf++"), ng.metric(spec))


@pytest.mark.parametrize("spec", sorted(MANY))
def test_another_policy_for_references(spec):
    inner = ng.metric(spec)
    check_wrapper(ReferencePolicyMetric(inner, "mean"), inner)


@pytest.mark.parametrize("spec", sorted(MANY))
def test_a_metric_beside_another(spec):
    inner = ng.metric(spec)
    check_wrapper(CompanionMetric(inner, frozenset({"references", "source"}) | inner.info.needs), inner)


@pytest.mark.parametrize("base", ["bertscore:idf=true", "nist", "meteor", "rated"])
def test_qmetric(base):
    check_wrapper(QMetric(base=base), ng.metric(base))


@dataclass(frozen=True)
class _Silent(WrappedMetric):
    """A wrapper that scores as the metric inside, and keeps one thing back."""

    keeps: str = ""

    @property
    def info(self):
        return replace(self.metric.info, cached=False)

    def documents(self, segments):
        return self.metric.documents(segments)

    def score(self, segments, runtime):
        scores = self._inside(segments, runtime)
        entries = tuple(entry for entry in scores.signature.entries if entry[0] != "documents")
        return replace(scores, signature=replace(scores.signature, entries=entries))

    def __getattribute__(self, name):
        if name == object.__getattribute__(self, "keeps"):
            nothing = {"trained_on": (), "vectors_of": lambda runtime: {}, "rounds": 0}
            return nothing[name] if name in nothing else object.__getattribute__(whole(ng.metric("chrf")), name)
        return object.__getattribute__(self, name)


@pytest.mark.parametrize(
    ("keeps", "spec", "message"),
    [
        ("rounds", "cider", "rounds is 0, and 1 of the metric inside"),
        ("pooled", "cider", "is pooled and the wrapper is not"),
        ("trained_on", "nli-robust", "trained_on of the metric inside are left out"),
        ("notes", "rated", "notes of the metric inside are left out"),
        ("lacking", "parent", r"lacking\['table'\] of the metric inside is lost"),
        ("unread", "meteor", "the metric inside says"),
        ("vectors_of", "cosine", "vectors that the metric inside reads"),
        ("documents", "bertscore:idf=true", "the signature has no digest of them"),
    ],
)
def test_what_is_kept_back_is_found(keeps, spec, message):
    inner = ng.metric(spec)
    check_wrapper(_Silent(inner), inner)
    with pytest.raises(AssertionError, match=message):
        check_wrapper(_Silent(inner, keeps), inner)


def test_a_sound_metric_passes(overlap):
    check_metric(overlap(), registered=False)
    check_metric(overlap(lowercase=False), registered=False)


def test_a_sound_metric_with_an_error_rate_a_model_or_a_pool_passes(overlap):
    @dataclass(frozen=True, kw_only=True)
    class Distance(overlap):
        info: ClassVar = MetricInfo("distance", higher_is_better=False, cached=True)

        def value(self, hypothesis, reference):
            return 1 - super().value(hypothesis, reference)

        def score(self, segments, runtime):
            found = super().score(segments, runtime)
            # the best reference is the one at the least distance, but blank texts are at the greatest
            values = [min(self.value(s.hypothesis, r) for r in s.references) for s in segments]
            return replace(found, values=np.array(values, dtype=float))

    @dataclass(frozen=True, kw_only=True)
    class Ranked(overlap):
        pooled: ClassVar = True
        info: ClassVar = MetricInfo("ranked", range=(-1.0, 1.0))

        def score(self, segments, runtime):
            found = super().score(segments, runtime)
            return replace(found, values=found.values - found.values.mean())

    check_metric(Distance(), registered=False)
    check_metric(Ranked(), registered=False)


def test_a_metric_that_no_entry_point_names_is_refused_unless_that_is_said(overlap):
    with pytest.raises(Exception, match="unknown metric 'overlap'"):
        check_metric(overlap())


def test_own_segments_take_the_place_of_ours(overlap):
    @dataclass(frozen=True, kw_only=True)
    class Fails(overlap):
        def value(self, hypothesis, reference):
            assert "own" in hypothesis + reference or not {"own"} & {hypothesis, reference}
            seen.append(hypothesis)
            return super().value(hypothesis, reference)

    seen = []
    check_metric(
        Fails(), [Segment("a", "own text", ("own words",)), Segment("b", "text", ("own text",))], registered=False
    )
    assert "own text" in seen
    assert SEGMENTS[0].hypothesis not in seen


def test_without_a_model_no_digit_may_change_and_with_one_those_of_float32(overlap):
    @dataclass(frozen=True, kw_only=True)
    class Astray(overlap):
        strays: ClassVar = 0.0

        def score(self, segments, runtime):
            found = super().score(segments, runtime)
            return replace(found, values=found.values * (1 - self.strays * (len(segments) % 2)))

    @dataclass(frozen=True, kw_only=True)
    class Counted(Astray):
        info: ClassVar = MetricInfo("counted")
        strays: ClassVar = 1e-15

    @dataclass(frozen=True, kw_only=True)
    class Modelled(Astray):
        info: ClassVar = MetricInfo("modelled", cached=True)
        strays: ClassVar = MODEL_TOLERANCE / 2

    @dataclass(frozen=True, kw_only=True)
    class Worse(Modelled):
        strays: ClassVar = MODEL_TOLERANCE * 4

    with pytest.raises(AssertionError, match=r"tolerance 0\)$|tolerance 0\);"):
        check_metric(Counted(), registered=False)
    check_metric(Modelled(), registered=False)
    with pytest.raises(AssertionError, match="tolerance 1e-06"):
        check_metric(Worse(), registered=False)
    check_metric(Worse(), registered=False, tolerance=MODEL_TOLERANCE * 8)
    with pytest.raises(AssertionError, match=r"company of the other segments changes the value .* \(tolerance 1e-08"):
        check_metric(Modelled(), registered=False, tolerance=1e-8)
    assert POOL_TOLERANCE < MODEL_TOLERANCE


def test_options_alone_can_be_checked_on_a_metric_that_is_not_best_on_a_copy(overlap):
    assert check_options(overlap(), registered=False) == []


def test_a_function_is_checked_and_forgotten():
    def first(hypothesis, references):
        return float(hypothesis.split()[:1] == references[0].split()[:1])

    def above_mean(hypotheses):
        lengths = [len(hypothesis) for hypothesis in hypotheses]
        return [length - sum(lengths) / len(lengths) for length in lengths]

    check_metric(first)
    with pytest.raises(AssertionError, match="above_mean: the company of the other segments changes the value"):
        check_metric(above_mean)
    assert not {"first", "above_mean"} & {*METRICS.names()}
