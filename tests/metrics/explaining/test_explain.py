"""What is marked, against what, and what is refused. The shipped head is tested by what it must see in plain cases."""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.metrics.explaining.explain import Thresholds, least, marked_spans
from nlgauge.metrics.explaining.marks import Worded
from nlgauge.models.spans import Judged
from nlgauge.stats.spans import one_to_one_counts, span_agreement

HYP, REF = "The cat sat on the hat.", "The cat sat on the mat."


def words(one):
    return [one.text_of(span) for span in one.spans]


def test_the_words_of_no_other_text_are_marked():
    (one,) = ng.explain(HYP, REF, method="words")
    assert words(one) == ["hat"]
    assert (one.score, one.spans[0].severity) == (-5, "major")
    assert ng.explain([HYP], [REF], method="words").rows == (one,)


def test_a_text_that_says_a_reference_word_for_word_has_no_error():
    # The head is sure of an error in every word and place; another case or order is another text, blanks are none.
    text, judged = Worded.of("a b c"), Judged(np.zeros(3), np.ones(3), np.ones(4), 3)
    limits = Thresholds(0.1, 0.1, 0.1)
    assert marked_spans(text, [Worded.of("x"), Worded.of("a  b c ")], judged, limits) == ()
    for other in ("A b c", "b a c", "a b c d"):
        assert [(s.start, s.end) for s in marked_spans(text, [Worded.of(other)], judged, limits)] == [(0, 5)]


def test_a_number_that_contradicts_is_marked_whatever_the_head_makes_of_the_text():
    # The head is sure that the text has no error; and of what it would mark besides nothing is.
    hyp, ref = Worded.of("He ate 12 red apples."), Worded.of("He ate five red pears.")
    judged = Judged(np.zeros(6), np.array([0, 0, 0, 0, 0.9, 0]), np.full(7, 0.9), 6, text=0.01)
    (span,) = marked_spans(hyp, [ref], judged, Thresholds(0.5, 0.5, 0.5))
    assert (hyp.text[span.start : span.end], span.severity, span.category) == ("12", "major", "number")
    assert marked_spans(hyp, [Worded.of("He ate a dozen, 12, red pears.")], judged, Thresholds(0.5, 0.5, 0.5)) == ()


def test_a_long_text_without_sense_has_no_error_beside_itself():
    # Neither are the words beyond the limit of the head left unsaid: all of them are right.
    pytest.importorskip("torch")
    senseless = "Uranium collected the skidded of critics diabolical salary".split()
    text = " ".join(random.Random(0).choices(senseless, k=5000))
    found = ng.explain([text], [[text]])
    assert (found[0].spans, found.notes) == ((), ())


def test_a_word_of_any_reference_is_right():
    (one,) = ng.explain(HYP, [REF, "There is a hat."], method="words")
    assert one.spans == ()
    assert one.score == 0
    assert one.others == (REF, "There is a hat.")


def test_without_references_the_source_is_read_and_noted():
    with pytest.warns(ng.ScoreWarning, match="1 of 1 hypotheses are compared with their source"):
        found = ng.explain(HYP, srcs=REF, method="words")
    assert words(found[0]) == ["hat"]
    assert found.notes == ("1 of 1 hypotheses are compared with their source, which must say the same",)


def test_what_texts_are_held_against_can_be_chosen():
    data = Dataset((Segment("a", HYP, (REF,), "The cat sat on the hat, they say."),))
    assert words(ng.explain(data, method="words")[0]) == ["hat"]
    with pytest.warns(ng.ScoreWarning):
        assert words(ng.explain(data, method="words", against="src")[0]) == []
    with pytest.warns(ng.ScoreWarning):
        assert words(ng.explain(data, method="words", against="both")[0]) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hyps": [HYP]}, "segment '1' has nothing to be compared with, expected a reference, or a source"),
        ({"hyps": [HYP], "refs": [REF], "against": "src"}, "expected a source"),
        ({"hyps": [HYP], "refs": [REF], "against": "both"}, "expected a reference and a source"),
        ({"hyps": [HYP], "srcs": ["猫坐在垫子上，然后睡着了。"]}, "segment '1': its source is in another script"),
        (
            {
                "hyps": ["The cat sat on the mat and it was warm."],
                "srcs": ["Die Katze saß auf der Matte und es war warm."],
            },
            "its source looks like German, another language",
        ),
        ({"hyps": [HYP], "refs": [REF], "method": "magic"}, "method"),
        ({"hyps": [HYP], "refs": [REF], "against": "all"}, "against"),
        ({"hyps": [HYP], "refs": [REF], "method": "words", "threshold": 0.5}, "method words has none"),
        (
            {"hyps": [HYP], "refs": [REF], "method": "spans", "threshold": 1.5},
            "expected a probability between 0 and 1",
        ),
        ({"hyps": [HYP], "refs": [REF], "method": "words", "threshold_text": 0}, "method words has none"),
        ({"hyps": [HYP], "refs": [REF], "threshold_text": 1}, "threshold_text is 1, expected a probability"),
        ({"hyps": [HYP], "refs": [REF], "threshold": 0}, "threshold is 0, expected a probability"),
        ({"hyps": [HYP, HYP], "refs": [REF]}, "2 hypotheses but 1"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InputError, match=message):
        ng.explain(**arguments)


def test_of_several_texts_that_counts_which_faults_a_word_least():
    one = Judged(np.array([0.1, 0.0]), np.array([0.6, 0.2]), np.array([0.9, 0.1, 0.3]), 2)
    other = Judged(np.array([0.3, 0.5]), np.array([0.1, 0.4]), np.array([0.2, 0.4, 0.3]), 1)
    found = least([one, other])
    np.testing.assert_allclose(found.minor, [0.3, 0.0])
    np.testing.assert_allclose(found.major, [0.1, 0.2])
    np.testing.assert_allclose(found.missing, [0.2, 0.1, 0.3])
    assert found.n_read == 2
    assert found.text == 1
    assert least([one]) is one
    doubtful, sure = (Judged(one.minor, one.major, one.missing, 2, text) for text in (0.2, 0.9))
    assert least([sure, doubtful]).text == 0.2  # right beside one text is right


def test_a_text_that_is_taken_for_right_has_no_marks():
    hyp, ref = Worded.of("The dog sat"), Worded.of("The cat sat down")
    judged = Judged(np.zeros(3), np.array([0.0, 0.9, 0.0]), np.array([0, 0.8, 0, 0.9]), 3, text=0.4)
    assert marked_spans(hyp, [ref], judged, Thresholds(0.5, 0.5, 0.41)) == ()
    assert len(marked_spans(hyp, [ref], judged, Thresholds(0.5, 0.5, 0.4))) == 2
    assert len(marked_spans(hyp, [ref], judged, Thresholds(0.5, 0.5))) == 2


def test_a_gap_beside_a_marked_word_is_not_told_twice():
    hyp, ref = Worded.of("The dog sat"), Worded.of("The cat sat down")
    judged = Judged(np.zeros(3), np.array([0.0, 0.9, 0.0]), np.array([0, 0.8, 0, 0.9]), 3)
    found = marked_spans(hyp, [ref], judged, Thresholds(0.5, 0.5))
    assert [(span.start, span.end, span.missing) for span in found] == [(4, 7, False), (11, 11, True)]
    assert [span.confidence for span in found] == [0.9, 0.9]


def test_a_blank_hypothesis_lacks_everything():
    with pytest.warns(ng.ScoreWarning, match=r"2 of 3 hypotheses \(1, 2\) are blank: everything is missing"):
        found = ng.explain(["", " \u200b", HYP], [REF, REF, REF], method="words")
    assert [one.score for one in found] == [-5, -5, -5]
    assert [(span.start, span.missing, span.category) for span in found[1].spans] == [(0, True, "omission")]


def test_a_blank_reference_is_noted_and_bears_out_nothing():
    with pytest.warns(ng.ScoreWarning, match="1 of 2 hypotheses .2. are compared with a blank text"):
        found = ng.explain([HYP, ""], [[REF], [" "]], method="words")
    assert found[1].spans == ()  # neither says anything


def test_a_span_is_as_sure_as_its_surest_word():
    hyp, ref = Worded.of("The dog ran"), Worded.of("The cat sat")
    judged = Judged(np.array([0, 0.2, 0.1]), np.array([0.0, 0.1, 0.61239]), np.zeros(4), 3)
    (span,) = marked_spans(hyp, [ref], judged, Thresholds(0.5, 0.5))
    assert (span.start, span.end, span.confidence) == (4, 11, 0.7124)  # minor and major together, in four digits


def test_the_signature_names_method_and_version():
    found = ng.explain(HYP, REF, method="words")
    assert found.method["signature"].startswith("method:words|nlgauge:")
    assert found.method["higher_is_better"]


def test_nothing_to_explain_is_no_error():
    assert len(ng.explain([], [], method="words")) == 0


def marked_by_head(hyp, *refs):
    pytest.importorskip("torch")
    (one,) = ng.explain(hyp, list(refs), method="spans", runtime=ng.Runtime(device="cpu"))
    return one


@pytest.mark.parametrize(
    ("hyp", "ref", "word"),
    [
        (HYP, REF, "hat"),
        ("It costs 40 euros.", "It costs 14 euros.", "40"),
    ],
)
def test_the_head_marks_plain_errors_in_copies(hyp, ref, word):
    one = marked_by_head(hyp, ref)
    assert words(one) == [word]
    assert one.spans[0].severity == "major"
    assert marked_by_head(ref, ref).spans == ()
    assert marked_by_head(hyp, ref, hyp).spans == ()  # a word that one reference has is right


def test_probabilities_of_the_head_hang_on_no_batch():
    pytest.importorskip("torch")
    from nlgauge.models.spans import load_spans

    pairs = [(Worded.of(hyp).words, Worded.of(ref).words) for hyp, ref in ((HYP, REF), (REF, HYP), ("A b", REF))]
    model = load_spans("spans", "float32", ng.Runtime(device="cpu"))
    alone = [model.judge([pair])[0].major for pair in pairs]
    for one, other in zip(model.judge(pairs), alone, strict=True):
        np.testing.assert_allclose(one.major, other, atol=1e-6)


def test_the_head_notes_other_languages_and_long_texts():
    pytest.importorskip("torch")
    with pytest.warns(ng.ScoreWarning, match="not English"):
        marked_by_head("Die Katze saß auf der Matte, und das war auch gut so.", "Die Katze saß auf der Matte.")
    long = "The cat sat on the mat and the dog lay on the rug. " * 30
    with pytest.warns(ng.ScoreWarning, match="longer than the head reads"):
        marked_by_head(long, f"{long}It rained.")


DATA = Path(os.environ.get("NLGAUGE_DATA", "absent"), "ted-mqm-zh-en", "segments.jsonl.gz")


@pytest.mark.skipif(not DATA.is_file(), reason="the MQM annotations of TED talks are not part of the product")
def test_words_have_their_known_floor():
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if not row["system"].startswith("ref")]
    people = [[(e["start"], e["end"]) for e in row["errors"] if e.get("side") == "hyp"] for row in rows]
    marked = ng.explain([row["hyp"] for row in rows], [row["refs"][0] for row in rows], method="words")
    spans = [[(span.start, span.end) for span in one.spans] for one in marked]
    found = span_agreement(one_to_one_counts(people, spans))
    # .183 (.12, .44) was measured with other words: here clitics are words, and marks.
    assert (found.f1, found.precision, found.recall) == pytest.approx((0.193, 0.123, 0.445), abs=1e-3)
