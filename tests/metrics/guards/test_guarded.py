"""`guarded(metric)`: distrusted outputs score as the worst, and nothing else moves."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.metric import signature_of, spec_of
from nlgauge.metrics.base import Metric
from nlgauge.metrics.guards.rules import VERSION, Rules
from nlgauge.testing import check_metric

SOURCES = ["Die Fähre legt um zwölf Uhr ab.", "Die Straße ist heute gesperrt.", "Er sagte nichts dazu.", "Es regnet."]
REFERENCES = ["The ferry departs at noon.", "Today the road is closed.", "He said nothing about it.", "It is raining."]
HYPOTHESES = [
    "The ferry leaves at noon.",
    "Die Straße ist heute gesperrt.",
    "He said that he said that he said that he said that he said nothing.",
    "It rains.",
]
ODD = [False, True, True, False]


def scored(*metrics, runtime=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(ng.score(HYPOTHESES, REFERENCES, SOURCES, metrics=list(metrics), runtime=runtime).values())


def test_guarded_keeps_the_contract():
    check_metric(ng.metric("guarded(chrf)"))


@pytest.mark.parametrize("spec", ["bleu", "chrf", "wordf1", "ter", "wil", "cer", "rougeL", "meteor"])
def test_distrusted_outputs_get_the_worst_score_and_clean_ones_keep_theirs(spec):
    plain, guarded = scored(spec, f"guarded({spec})")
    low, high = ng.metric(spec).info.range
    assert guarded.flags["guarded"].tolist() == ODD
    np.testing.assert_array_equal(guarded.values[[0, 3]], plain.values[[0, 3]])
    worst = guarded.values[[1, 2]]
    if plain.higher_is_better:
        assert worst.tolist() == [low, low]
        assert guarded.system < plain.system
    else:
        assert (worst >= min(high, 1.0)).all()
        assert (worst >= plain.values[[1, 2]]).all()
        assert guarded.system > plain.system


def test_a_loop_that_leaves_an_answer_keeps_its_score():
    # 9 words of 27 go round: it is noted; without its first turn it is 6 of 9 words where nothing else stands
    others = " ".join(f"w{i}" for i in range(18))
    texts = [f"{others} {'on a board ' * 3}", "on a board " * 3, "so " + "on a board " * 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, guarded = ng.score(texts, ["a man on a board"] * 3, metrics=["chrf", "guarded(chrf)"]).values()
    assert [[*Rules().flags(ng.Segment("a", text))] for text in texts] == [["looping"]] * 3
    assert guarded.flags["guarded"].tolist() == [False, True, False]  # 6 of 9 are two thirds, and 6 of 10 are less
    assert guarded.values.tolist() == [plain.values[0], 0, plain.values[2]]


def test_chrf_of_a_guarded_corpus_worked_by_hand():
    # words of one character: "a b" and "c c c c c c c c c c" against "a b" and "d e"; chrF of letters alone, beta 1:
    # 2 of the 12 letters are right, 2 of the 4 asked for are there; masked, the loop still has 10 letters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = "chrf:char_order=1,beta=1,whitespace=false"
        (guarded,) = ng.score(["a b", "c " * 10], ["a b", "d e"], metrics=f"guarded({options})").values()
    assert guarded.flags["guarded"].tolist() == [False, True]
    assert guarded.values.tolist() == [100, 0]
    precision, recall = 2 / 12, 2 / 4
    assert guarded.system == pytest.approx(100 * 2 * precision * recall / (precision + recall))


def test_a_metric_without_counts_scores_an_empty_text():
    plain, guarded = scored("meteor", "guarded(meteor)")
    values = [plain.values[0], 0.0, 0.0, plain.values[3]]
    assert guarded.values.tolist() == values
    assert guarded.system == pytest.approx(np.mean(values))


def test_neural_scores_of_clean_texts_are_the_same_to_the_last_bit():
    pytest.importorskip("torch")
    for spec in ("bertscore", "bertscore:idf=true"):
        plain, guarded = scored(spec, f"guarded({spec})", runtime=ng.Runtime(device="cpu"))
        np.testing.assert_array_equal(guarded.values[[0, 3]], plain.values[[0, 3]])
        assert guarded.values[[1, 2]].tolist() == [0, 0]


def test_a_guarded_perplexity_is_that_of_an_empty_text_over_the_pieces_of_its_own(tiny_causal):
    pytest.importorskip("torch")
    spec = f'perplexity:model="{tiny_causal("gpt2")}"'
    texts = ["the cat sat", "rain " * 20]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, guarded, empty = (
            ng.score(hyps, metrics=one, runtime=ng.Runtime(device="cpu"))[one]
            for hyps, one in ((texts, spec), (texts, f"guarded({spec})"), ([""], spec))
        )
    assert guarded.flags["guarded"].tolist() == [False, True]
    assert guarded.values.tolist() == [
        plain.values[0],
        empty.values[0],
    ]  # signs in place of letters are less surprising
    assert guarded.parts["pieces"].tolist() == plain.parts["pieces"].tolist()
    first, second = plain.parts["pieces"]
    surprise = (first * np.log(plain.values[0]) + second * np.log(empty.values[0])) / (first + second)
    assert guarded.system == pytest.approx(np.exp(surprise))


def test_guards_that_count_are_chosen():
    all_of_them, copies = scored("guarded(chrf)", "guarded(chrf):guards=copied")
    assert copies.flags["guarded"].tolist() == [False, True, False, False]
    assert copies.values[2] > all_of_them.values[2] == 0


def test_the_signature_names_the_metric_inside_the_guards_and_what_tells_languages():
    built = ng.metric("guarded(chrf:word_order=2):guards=empty+copied")
    assert isinstance(built, Metric)
    assert spec_of(built) == "guarded(chrf:word_order=2):guards=empty+copied"
    signature = str(signature_of(built, ng.Runtime()))
    assert signature.startswith("metric:guarded|metric:(metric:chrf|char_order:6|word_order:2|")
    assert f"|guards:empty+copied|rules:{VERSION}|py3langid:" in signature
    assert VERSION == 2  # other rules than those of release 0.1.0, whose signatures name none
    assert "py3langid" not in str(signature_of(ng.metric("guarded(chrf):guards=looping"), ng.Runtime()))


@pytest.mark.parametrize(
    "spec", ["guarded(chrf)", "guarded(bleu:tokenize=zh):guards=looping", "0.5*guarded(bleu) + 0.5*guarded(chrf)"]
)
def test_specifications_rebuild_the_metric(spec):
    assert ng.metric(spec_of(ng.metric(spec))) == ng.metric(spec)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("guarded", r"^guarded holds a metric in brackets, as in guarded\(chrf\); got 'guarded'$"),
        ("chrf(bleu)", r"^chrf holds no metric in brackets, expected guarded\(bleu\)$"),
        ("guarded(chrf):guards=copyed", r"^guarded:guards names 'copyed'; did you mean 'copied'"),
        ("guarded(cider)", r"^guarded\(cider\): its scores depend on all texts of the call"),
        ("guarded(0.5*bleu + 0.5*chrf)", r"of a sum, guard the terms, as in 0.5\*guarded\(bleu\)"),
        ("guarded(chrf", r"expected '\)' at character 13, found the end$"),
        ("guarded(chrff)", r"^unknown metric 'chrff'; did you mean"),
    ],
)
def test_what_cannot_be_guarded_is_refused(spec, message):
    with pytest.raises(ng.SpecError, match=message):
        ng.metric(spec)


def test_scores_of_a_file_cannot_be_guarded(tmp_path):
    (tmp_path / "x.tsv").write_text("id\tcomet\n1\t0.5\n", encoding="utf-8")
    with pytest.raises(ng.SpecError, match=r"^guarded\(scores\): scores that are read from a file"):
        ng.metric(f'guarded(scores:file="{tmp_path / "x.tsv"}")')


@pytest.mark.parametrize("spec", ["bertscore:idf=true", "baryscore:idf=true"])
def test_documents_stand_in_the_signature(spec):
    # the words of the other segment decide what the words of the first one weigh
    others = ["the ferry leaves at noon"], ["a road that nobody closed"]
    signed = []
    for other in others:
        own, guarded = ng.score(
            ["the ferry", *other], ["the road", *other], metrics=[spec, f"guarded({spec})"]
        ).values()
        (digest,) = (value for name, value in own.signature.entries if name == "documents")
        assert [value for name, value in guarded.signature.entries if name == "documents"] == [digest]
        signed.append(str(guarded.signature))
    assert signed[0] != signed[1]


def test_the_way_out_of_an_error_is_that_of_the_metric_inside():
    with pytest.raises(ng.InputError, match="take parent:records=source"):
        ng.score(["a"], ["b"], metrics="guarded(parent)")
