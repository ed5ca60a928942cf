"""Every metric made of others says what those say; one that keeps something back is caught."""

from dataclasses import dataclass, replace

import pytest

import nlgauge as ng
from nlgauge.core.metric import whole
from nlgauge.metrics.lexical.qmetric import QMetric
from nlgauge.metrics.wrapped import CompanionMetric, ReferencePolicyMetric, WrappedMetric
from nlgauge.testing import SEGMENTS, check_wrapper

MANY = {  # what an inner metric has to say: documents, passes, moments, training, a way out, notes, languages, vectors
    "bertscore:idf=true",
    "cider",
    "0.5*bleu + 0.5*chrf",
    "nli",
    "parent",
    "rated",
    "gruen",
    "meteor",
    "cosine",
}
GUARDED = MANY - {"cider", "0.5*bleu + 0.5*chrf"}  # of these an empty text would move the others
FEW = SEGMENTS[:6]


@pytest.mark.parametrize("spec", sorted(GUARDED))
def test_guarded(spec):
    check_wrapper(ng.metric(f"guarded({spec})"), ng.metric(spec), FEW)


@pytest.mark.parametrize("spec", sorted(MANY - {"0.5*bleu + 0.5*chrf"}))
def test_a_sum(spec):
    check_wrapper(ng.metric(f"1*{spec} + 0.5*chrf++"), ng.metric(spec), FEW)


@pytest.mark.parametrize("policy", ["mean", "first"])
@pytest.mark.parametrize("spec", sorted(MANY))
def test_another_policy_for_references(spec, policy):
    inner = ng.metric(spec)
    check_wrapper(ReferencePolicyMetric(inner, policy), inner, FEW)


@pytest.mark.parametrize("spec", sorted(MANY))
def test_a_metric_beside_another(spec):
    inner = ng.metric(spec)
    check_wrapper(CompanionMetric(inner, frozenset({"references", "source"}) | inner.info.needs), inner, FEW)


@pytest.mark.parametrize("base", ["bertscore:idf=true", "nist", "meteor", "rated"])
def test_qmetric(base):
    check_wrapper(QMetric(base=base), ng.metric(base), FEW)


@dataclass(frozen=True)
class _Silent(WrappedMetric):
    """A wrapper that scores as the metric inside, and keeps one thing back."""

    keeps: str = ""

    @property
    def info(self):
        return replace(self.metric.info, cached=False)

    def score(self, segments, runtime):
        scores = self._inside(segments, runtime)
        entries = tuple(entry for entry in scores.signature.entries if entry[0] != "documents")
        return replace(scores, signature=replace(scores.signature, entries=entries))

    def __getattribute__(self, name):
        if name == object.__getattribute__(self, "keeps"):
            return object.__getattribute__(whole(ng.metric("chrf")), name)
        return object.__getattribute__(self, name)


@pytest.mark.parametrize(
    ("keeps", "spec", "message"),
    [
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
    check_wrapper(_Silent(inner), inner, FEW)
    with pytest.raises(AssertionError, match=message):
        check_wrapper(_Silent(inner, keeps), inner, FEW)


def test_a_wrapper_that_is_scored_before_the_metric_inside_can_be_is_found():
    class Hasty(_Silent):
        rounds = 0

    with pytest.raises(AssertionError, match="rounds is 0, and 1 of the metric inside"):
        check_wrapper(Hasty(ng.metric("cider")), ng.metric("cider"), FEW)


def test_what_is_refused_inside_is_refused():
    inner = ng.metric("cider")
    lone = FEW[:1]
    with pytest.raises(ng.InputError):
        whole(inner).refuse(lone)
    check_wrapper(_Silent(inner), inner, lone)
    with pytest.raises(AssertionError, match="it takes what the metric inside refuses"):
        check_wrapper(_Silent(inner, "refuse"), inner, lone)
