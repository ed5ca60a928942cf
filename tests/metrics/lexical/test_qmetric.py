from __future__ import annotations

from math import exp

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.qmetric import QMetric, kinds
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

ROMEO = "Who wrote the play Romeo and Juliet ?"


def one(hypothesis, *references, **options):
    found = QMetric(**options).score([Segment("1", hypothesis, references)], Runtime())
    return {"value": float(found.values[0])} | {name: float(column[0]) for name, column in found.parts.items()}


def test_words_of_a_question_by_kind():
    assert {kind: sorted(found) for kind, found in kinds(tuple(ROMEO.split())).items()} == {
        "relevant": ["play", "wrote"],
        "entities": ["juliet", "romeo"],
        "question": ["who"],
        "stopwords": ["and", "the"],
    }
    assert kinds(("In", "What", "city", "is", "Big", "Ben"))["question"] == {"what": 1, "city": 1}
    assert kinds(("Is", "Paris", "old"))["entities"] == {"paris": 1}  # a stop word that begins the text is no name
    assert not any(kinds(("?", "...")).values())


def test_answerability_weighs_the_kinds():
    # of the names one of two is left, of which the penalty for the shorter side takes 1/e in one direction:
    # precision 1 / e, recall 1/2; all others are whole
    found = one("Who wrote the play Romeo and ?", ROMEO)
    f1 = 2 * exp(-1) * 0.5 / (exp(-1) + 0.5)
    assert found["entities"] == pytest.approx(f1)
    assert found["answerability"] == pytest.approx(0.1 + 0.6 * f1 + 0.2 + 0.1)
    assert found["value"] == pytest.approx(0.7 * found["answerability"] + 0.3 * found["base"])


def test_a_kind_that_neither_has_counts_as_0_or_gives_its_weight_away():
    assert one("what is it", "what is it")["answerability"] == pytest.approx(0.3)  # question and stop words
    assert one("what is it", "what is it", absent="share")["answerability"] == pytest.approx(1)
    assert one("what is Rome", "what is it", absent="share")["answerability"] < 0.5
    assert one("?", "?", absent="share")["answerability"] == 0


def test_the_base_is_brought_to_0_to_1_where_it_has_an_end():
    text = "Who wrote the play ?", ROMEO
    for name in ("bleu2", "rougeL", "meteor", "nist"):
        alone = ng.metric(name).score([Segment("1", text[0], (text[1],))], Runtime()).values[0]
        assert one(*text, base=name, delta=0)["value"] == pytest.approx(alone / (100 if name == "bleu2" else 1))


def test_a_base_that_has_one_end_is_taken_as_it_is():
    pytest.importorskip("torch")
    segments = [
        Segment("1", "Who wrote Hamlet ?", (ROMEO,)),
        Segment("2", "w " * 600, (ROMEO,)),
        Segment("3", "鿋", (ROMEO,)),
    ]
    base = ng.metric("bertscore").score(segments, Runtime())
    metric = QMetric(base="bertscore", delta=0)
    found = metric.score(segments, Runtime())
    assert found.values.tolist() == pytest.approx(base.values.tolist(), nan_ok=True)  # all were NaN: high - low is inf
    assert not any(found.values[:2] != found.values[:2])
    assert metric.info.range == (-float("inf"), 1.0)
    for name in ("truncated", "unknown"):
        assert found.flags[name].tolist() == base.flags[name].tolist()
    assert found.flags["truncated"].any()
    assert found.flags["unknown"].any()


def test_what_the_base_says_of_the_call_is_passed_on():
    pytest.importorskip("torch")
    segments = [Segment("1", "Who ?", (ROMEO,)), Segment("2", "Who is it ?", ("Who are you ?",))]
    runtime = Runtime()
    (scores,) = score_segments({"q": QMetric(base="bertscore:idf=true")}, segments, runtime).values()
    assert "documents" in dict(scores.signature.entries)  # the digest of the texts of idf
    with pytest.raises(InputError, match="cider needs at least two segments"):
        ng.score(["a"], ["b"], metrics="qmetric:base=cider", language="off")


def test_names_are_presets():
    assert ng.metric("qrouge") == QMetric(base="rougeL")
    assert ng.metric("qbleu4") == QMetric()
    assert ng.metric("qnist").info.range == (0, float("inf"))
    assert ng.metric("qnist").pooled
    assert "|base:(metric:rouge|variant:L|" in str(signature_of(ng.metric("qrouge"), Runtime()))


def test_the_contract_holds_and_every_option_is_signed():
    check_metric(QMetric(base="nist", absent="share"))
    assert check_options(QMetric(), alternatives={"base": "rougeL"}) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base": "ter"}, r"^qmetric:base is 'ter', expected a metric of references whose higher values are better$"),
        ({"base": "summac"}, r"^qmetric:base is 'summac', expected a metric of references"),
        ({"entities": 0.9}, r"^qmetric:relevant, entities and question are 0\.1, 0\.9 and 0\.2, expected a sum of"),
        ({"base": "blue"}, r"^unknown metric 'blue'"),
    ],
)
def test_what_cannot_be_mixed_is_refused(options, message):
    with pytest.raises(SpecError, match=message):
        QMetric(**options)
