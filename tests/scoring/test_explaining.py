"""Words, runs and categories, each by hand."""

import gzip
import json
import os
import random
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.spec import Signature
from nlgauge.metaeval.spans import f1_of_totals, one_to_one_counts, precision_and_recall
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.explaining import _best_pieces, _is_misspelt, align, differing, spans_of, unmatched
from nlgauge.text.worded import WordedText

pytest.importorskip("torch")


REF = WordedText.of("The cat sat on the mat.")


def marked(text, *words):
    hyp = WordedText.of(text)
    return hyp, np.array([word in words for word in hyp.words])


def texts(spans, hyp):
    return [hyp.text[span.start : span.end] for span in spans]


def test_words_of_no_other_text_are_unmatched_in_any_case():
    hyp = WordedText.of("the CAT sat near a mat!")
    assert [word for word, no in zip(hyp.words, unmatched(hyp, [REF]), strict=True) if no] == ["near", "a", "!"]
    assert not unmatched(hyp, [REF, WordedText.of("near a mat!")]).any()


def test_neighbours_are_one_span():
    hyp, words = marked("A dog of snow lay on the rug today.", "dog", "snow", "lay", "rug")
    assert texts(spans_of(hyp, [REF], words), hyp) == ["dog", "snow lay", "rug"]


@pytest.mark.parametrize(
    ("hyp", "ref", "word", "category"),
    [
        ("It costs 40 euros.", "It costs 14 euros.", "40", "number"),
        ("The cat sat three times.", "The cat sat five times.", "three", "number"),
        ("The cat sat on Tuesday.", "The cat sat on Thursday.", "Tuesday", "date"),
        ("He did not go.", "He went.", "not", "negation"),
        ("He met Anna there.", "He met Maria there.", "Anna", "name"),
        ("Anna left.", "Maria left.", "Anna", None),
        ("The weathre is cold.", "The weather is cold.", "weathre", "spelling"),
        ("The cat the cat sat.", "The cat sat.", "the cat", "repetition"),
        ("The lamp is cold.", "The land is cold.", "lamp", None),  # two letters are too many in a short word
        ("The lamb is cold.", "The lamp is cold.", "lamb", "spelling"),
        ("The cat sat on the hat.", "The cat sat on the mat.", "hat", None),
        ("Stop, now.", "Stop now.", ",", "punctuation"),
        ("A warm day.", "A cold day.", "warm", None),
    ],
)
def test_categories_are_told_from_words(hyp, ref, word, category):
    worded = WordedText.of(hyp)
    start = hyp.index(word)
    words = np.array([a >= start and b <= start + len(word) for a, b in worded.places])
    assert [span.category for span in spans_of(worded, [WordedText.of(ref)], words)] == [category]


def test_a_repetition_is_found_wherever_it_stands():
    hyp = WordedText.of("Now the cat the cat sat.")
    words = np.array([place in (3, 4) for place in range(len(hyp.words))])  # the second "the cat"
    (span,) = spans_of(hyp, [WordedText.of("Now the cat sat.")], words)
    assert (hyp.text[span.start : span.end], span.category) == ("the cat", "repetition")


def test_a_slip_is_found_among_many_words_as_by_looking_at_each():
    rng, n = random.Random(3), 500
    drawn = ["".join(rng.choices("abcd", k=rng.randint(3, 9))) for _ in range(2 * n)]
    new, meant = dict.fromkeys(drawn[:n]), frozenset(drawn[n:])
    for word in new.keys() - meant:
        most = 2 if len(word) > 6 else 1
        slow = any(len(other) > 3 and Levenshtein.distance(word, other) <= most for other in meant)
        assert _is_misspelt(word, meant) == (len(word) > 3 and slow)


@given(st.text(max_size=60), st.text(max_size=60))
def test_spans_of_any_text_lie_in_it_in_order_and_apart(text, other):
    hyp, ref = WordedText.of(text), WordedText.of(other)
    words = unmatched(hyp, [ref])
    spans = spans_of(hyp, [ref], words)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert not unmatched(hyp, [hyp]).any()


# --- What says something that no other text says: runs of words with content; numbers, days and months by what they say


def words(hyp, *refs, marks=differing):
    text = WordedText.of(hyp)
    marked = marks(text, [WordedText.of(ref) for ref in refs])
    return [word for word, is_marked in zip(text.words, marked, strict=True) if is_marked]


@pytest.mark.parametrize(
    ("hyp", "ref", "found"),
    [
        ("The cat is black.", "The cat is white.", ["black"]),
        ("The cat sat upon a mat!", "The cat sat on the mat.", []),  # "upon", "a" and "!" say nothing by themselves
        ("They live in the old house.", "They live at home.", ["in", "the", "old", "house"]),  # a run stays whole
        ("He did not go.", "He did go.", ["not"]),
        ("No one came.", "Not one came.", ["No"]),  # "one" is mostly no number
        ("She left.", "He left.", ["She"]),
        ("It has left.", "They left.", []),
        ("A cat sat. \U0001f600", "A cat sat.", []),
    ],
)
def test_runs_with_a_word_of_content_are_marked_whole(hyp, ref, found):
    assert words(hyp, ref) == found


@pytest.mark.parametrize(
    ("hyp", "ref", "found"),
    [
        ("He bought three red apples.", "He bought five red apples.", ["three"]),
        ("Sales rose by 15 % in 2019.", "In 2019 sales rose by 25 %.", ["15"]),
        ("It is a hundred thousand years old.", "It is ten thousand years old.", ["a", "hundred", "thousand"]),
        ("They met on Tuesday in May.", "On Thursday they met, in May.", ["Tuesday"]),
        ("They met in March.", "They met in April.", ["March"]),
        ("They met on May 4.", "They met on March 4.", ["May"]),
        ("They met at 5 am.", "They met at 5 pm.", ["5", "am"]),
        ("They met on 2020-03-04.", "They met on April 3, 2020.", ["2020-03-04"]),
        ("It is 5 miles long.", "It is 5 km long.", ["miles"]),
        ("May I ask?", "Can I ask?", []),
        ("Three people died in 2019.", "In 2019 people died.", ["Three"]),  # no other text says it
    ],
)
def test_another_number_day_or_month_is_marked(hyp, ref, found):
    assert words(hyp, ref) == found


@pytest.mark.parametrize(
    ("hyp", "ref"),
    [
        ("It costs 1,500 euros.", "It costs 1500 euros."),
        ("The 21st century", "the twenty-first century"),
        ("On Tue, 3 May", "On Tuesday, May 3rd"),
        ("Sun is hot.", "The sun is hot."),  # no day: the other text has the word
        ("The 2nd train left on 2020-03-04.", "The second train left on March 4, 2020."),
        ("The second train left on March 4, 2020.", "The 2nd train left on 04.03.2020."),
        ("It opens at 5 pm and closes at 22:30.", "It opens at 17:00 and closes at 10:30 PM."),
        ("It opens at five o'clock.", "It opens at 5 o\u2019clock."),
        ("Some 12K visitors paid $5.", "Some 12,000 visitors paid 5 dollars."),
        ("Some 12 thousand visitors paid 5 euros.", "Some 12k visitors paid EUR 5."),
        ("50 per cent of 3.5 million", "50 % of 3,500,000"),
        ("It is five kilometres long.", "It is 5 km long."),
        ("May I come in March?", "I may come in march."),
    ],
)
def test_a_number_or_a_day_that_is_written_in_another_way_is_not(hyp, ref):
    assert words(hyp, ref) == []


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("We cannot go.", "We can't go."),
        ("WE CAN\u2019T GO.", "We can not go."),
        ("I won't go.", "I will not go."),
        ("They shan't pass.", "They shall not pass."),
        ("He ain't here.", "He is not here."),
        ("He hasn't left.", "He has not left."),
        ("We dont know.", "We do n't know."),
        ("Let's tell 'em.", "Let us tell them."),
        ("I am gonna go, it\u2019s late.", "I am going to go, it is late."),
    ],
)
@pytest.mark.parametrize("marks", [differing, unmatched])
def test_a_contraction_says_what_its_words_say(text, other, marks):
    told = {"not", "n't", "n\u2019t", "us", "them", "gon", "na", "going", "to", "ca", "wo", "sha", "ai", "dont"}
    for one, two in ((text, other), (other, text)):
        assert not told & {word.lower() for word in words(one, two, marks=marks)}


def test_one_reference_that_has_a_number_or_a_day_is_enough():
    assert words("He left on Tuesday.", "He left on Tue.", "He left on Friday.") == []
    assert words("He has two sons.", "He has three sons.") == ["two"]
    assert words("He has two sons.", "He has three sons.", "He has 2 sons.") == []


@given(st.text(alphabet="0123456789., abcMayTue-", max_size=40), st.text(alphabet="0123456789., Mon", max_size=40))
def test_no_text_differs_from_itself(text, other):
    assert words(text, text) == []
    assert words(text, text, other) == []


@given(st.text(alphabet="abt hesno,.'", max_size=40), st.text(alphabet="abt hesno,.'", max_size=40))
def test_without_numbers_and_days_only_unmatched_words_are_marked(text, other):
    assert not Counter(words(text, other)) - Counter(words(text, other, marks=unmatched))


# --- What is marked, against what, and what is refused

HYP, EXPLAIN_REF = "The cat sat on the hat.", "The cat sat on the mat."


def explain_words(one):
    return [one.hypothesis[span.start : span.end] for span in one.spans]


def test_the_words_of_no_other_text_are_marked():
    (one,) = ng.explain(HYP, EXPLAIN_REF, method="words")
    assert explain_words(one) == ["hat"]
    assert (one.score, one.spans[0].severity) == (-5, "major")
    assert ng.explain([HYP], [EXPLAIN_REF], method="words").rows == (one,)


def test_marks_of_spans_are_major_and_need_no_model(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    (one,) = ng.explain("The dog sat on a hat!", EXPLAIN_REF)
    assert [(one.hypothesis[span.start : span.end], span.severity, span.confidence) for span in one.spans] == [
        ("dog", "major", None),
        ("a hat!", "major", None),
    ]
    assert ng.explain("The dog sat on the mat!", EXPLAIN_REF)[0].score == -5
    assert ng.explain("The dog sat on the mat!", EXPLAIN_REF, method="words")[0].score == -10  # "!", too


def test_texts_without_blanks_between_words_are_noted():
    texts, references = (
        ["\u4ed6\u6628\u5929\u6765\u4e86\u3002", HYP],
        ["\u4ed6\u4eca\u5929\u6765\u4e86\u3002", EXPLAIN_REF],
    )  # he came yesterday, today
    found = ng.explain(texts, references)
    assert explain_words(found[0]) == [texts[0][:-1]]  # all but the full stop
    told = "1 of 2 hypotheses (1) are written without blanks between words, so a mark covers a whole clause"
    assert told in found.notes


def test_a_long_text_without_sense_has_no_error_beside_itself():
    senseless = "Uranium collected the skidded of critics diabolical salary".split()
    text = " ".join(random.Random(0).choices(senseless, k=5000))
    found = ng.explain([text], [[text]])
    assert (found[0].spans, found.notes) == ((), ())


def test_a_word_of_any_reference_is_right():
    (one,) = ng.explain(HYP, [EXPLAIN_REF, "There is a hat."], method="words")
    assert one.spans == ()
    assert one.score == 0
    assert one.others == (EXPLAIN_REF, "There is a hat.")


def test_without_references_the_source_is_read_and_noted():
    with pytest.warns(ng.ScoreWarning, match="1 of 1 hypotheses are compared with their source"):
        found = ng.explain(HYP, srcs=EXPLAIN_REF, method="words")
    assert explain_words(found[0]) == ["hat"]
    of_source, of_marks = found.notes
    assert of_source == "1 of 1 hypotheses are compared with their source, which must say the same"
    assert "about one in six an error" in of_marks  # whoever reads a mark must know that it may be another wording


def test_what_texts_are_held_against_can_be_chosen():
    data = Dataset((Segment("a", HYP, (EXPLAIN_REF,), "The cat sat on the hat, they say."),))
    assert explain_words(ng.explain(data, method="words")[0]) == ["hat"]
    with pytest.warns(ng.ScoreWarning):
        assert explain_words(ng.explain(data, method="words", against="src")[0]) == []
    with pytest.warns(ng.ScoreWarning):
        assert explain_words(ng.explain(data, method="words", against="both")[0]) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hyps": [HYP]}, "segment '1' has nothing to be compared with, expected a reference, or a source"),
        ({"hyps": [HYP], "refs": [EXPLAIN_REF], "against": "src"}, "expected a source"),
        ({"hyps": [HYP], "refs": [EXPLAIN_REF], "against": "both"}, "expected a reference and a source"),
        ({"hyps": [HYP], "srcs": ["猫坐在垫子上，然后睡着了。"]}, "segment '1': its source is in another script"),
        (
            {
                "hyps": ["The cat sat on the mat and it was warm."],
                "srcs": ["Die Katze saß auf der Matte und es war warm."],
            },
            "its source looks like German, another language",
        ),
        (
            {"hyps": ["The museum was closed in 1890."], "srcs": ["Das Museum wurde 1890 geschlossen."]},
            "its source looks like German, another language",
        ),
        (
            {"hyps": ["The museum was closed in 1890."], "srcs": ["Le mus\u00e9e fut ferm\u00e9 en 1890."]},
            "its source looks like French, another language",
        ),
        ({"hyps": [HYP], "refs": [EXPLAIN_REF], "method": "magic"}, "method"),
        ({"hyps": [HYP], "refs": [EXPLAIN_REF], "against": "all"}, "against"),
        ({"hyps": [HYP, HYP], "refs": [EXPLAIN_REF]}, "2 hypotheses but 1"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InputError, match=message):
        ng.explain(**arguments)


def test_a_source_in_another_script_is_refused_with_what_the_method_allows():
    pair = {"hyps": [HYP], "srcs": ["猫坐在垫子上，然后睡着了。"]}
    with pytest.raises(InputError, match="choose against=ref"):
        ng.explain(**pair)
    with pytest.raises(InputError, match=r"expected the same language; leave the segment out$"):
        ng.explain(**pair, method="evidence")


@pytest.mark.parametrize(
    ("hyp", "source"),
    [
        ("Bridge closed in 1890.", "The bridge was closed in 1890."),
        ("Paris.", "The cat sat on the mat in Paris, and it was warm."),
        ("Das Museum schloss 1890.", "Das Museum wurde 1890 geschlossen."),
        ("Arapiraca is in Brazil.", "Est\u00e1dio Municipal | location | Arapiraca, Brazil"),  # a table is no language
    ],
)
def test_a_short_text_is_not_taken_for_another_language(hyp, source):
    with pytest.warns(ng.ScoreWarning, match="compared with their source"):
        assert len(ng.explain([hyp], srcs=[source])) == 1


def test_a_blank_hypothesis_lacks_everything():
    with pytest.warns(ng.ScoreWarning, match=r"2 of 3 hypotheses \(1, 2\) are blank: everything is missing"):
        found = ng.explain(["", " \u200b", HYP], [EXPLAIN_REF, EXPLAIN_REF, EXPLAIN_REF], method="words")
    assert [one.score for one in found] == [-25, -25, -5]
    assert [(span.start, span.missing, span.category) for span in found[1].spans] == [(0, True, "omission")]


@pytest.mark.filterwarnings("ignore::nlgauge.ScoreWarning")
@pytest.mark.parametrize("method", ["spans", "words", "evidence"])
@pytest.mark.parametrize("against", ["ref", "src"])
def test_a_hypothesis_without_a_word_of_content_lacks_everything(method, against):
    wrong = "Dogs ran to Oslo in 1999." if method == "evidence" else HYP  # below its line, and with a mark by words
    texts, others = [".", "is of the", "\U0001f642", wrong], [EXPLAIN_REF] * 4
    given = {"refs": others} if against == "ref" and method != "evidence" else {"srcs": others}
    found = ng.explain(texts, **given, method=method)
    assert "3 of 4 hypotheses (1, 2, 3) are without a word of content: everything is missing" in found.notes
    assert [one.score for one in found] == [-25, -25, -25, -5]  # worse than a real one
    assert [[(s.start, s.missing, s.category) for s in one.spans] for one in found[:3]] == [[(0, True, "omission")]] * 3


def test_a_text_of_function_words_is_no_omission_where_another_says_no_more():
    assert ng.explain("So it did.", "And so it is.")[0].spans == ()
    assert ng.explain("No.", "No, the shop is closed.")[0].spans == ()  # a negation says something
    assert ng.explain("It did.", ["The cat did it.", "That is what it did."])[0].spans == ()


@pytest.mark.parametrize(("marked", "is_told"), [(8, True), (7, False)])
def test_evidence_says_where_its_cut_off_fits_no_text(monkeypatch, marked, is_told):
    row = {"start": 0, "end": 2, "sentence": "A.", "contradiction": 0.1, "evidence": "B.", "lacking": []}
    claims = [[{**row, "support": 0.3, "reason": "not said" if place < marked else None}] for place in range(10)]
    signature = Signature("explain:method=evidence", ())
    monkeypatch.setattr("nlgauge.scoring.explaining._evidence", lambda segments, runtime: (claims, signature, []))
    notes = ng.explain(["A cat."] * 10, srcs=["A dog."] * 10, method="evidence").notes
    told = f"{marked} of 10 texts are below the line: the line of 0.25 does not fit these texts"
    assert any(note.startswith(told) for note in notes) == is_told


def test_a_blank_reference_is_noted_and_bears_out_nothing():
    with pytest.warns(ng.ScoreWarning, match="1 of 2 hypotheses .2. are compared with a blank text"):
        found = ng.explain([HYP, ""], [[EXPLAIN_REF], [" "]], method="words")
    assert found[1].spans == ()  # neither says anything


def test_the_signature_names_method_and_version():
    found = ng.explain(HYP, EXPLAIN_REF, method="words")
    assert found.method["signature"].startswith("method:words|nlgauge:")
    assert found.method["higher_is_better"]


def test_nothing_to_explain_is_no_error():
    assert len(ng.explain([], [], method="words")) == 0


DATA = Path(os.environ.get("NLGAUGE_DATA", "absent"), "ted-mqm-zh-en", "segments.jsonl.gz")


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_file(), reason="the MQM annotations of TED talks are not part of the product")
@pytest.mark.parametrize(
    ("method", "level"),
    # .183 (.12, .44) was measured for `words` with other words: here clitics are words, and marks.
    [("words", (0.194, 0.124, 0.444)), ("spans", (0.211, 0.147, 0.3685))],
)
def test_methods_without_a_model_have_their_known_levels(method, level):
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if not row["system"].startswith("ref")]
    people = [[(e["start"], e["end"]) for e in row["errors"] if e.get("side") == "hyp"] for row in rows]
    marked = ng.explain([row["hyp"] for row in rows], [row["refs"][0] for row in rows], method=method)
    spans = [[(span.start, span.end) for span in one.spans] for one in marked]
    counts = one_to_one_counts(people, spans)
    found = (float(f1_of_totals(counts.sum(axis=0))), *precision_and_recall(counts))
    assert found == pytest.approx(level, abs=1e-3)


ALIGNMENT_HYP, ALIGNMENT_REF = "It is freezing today.", "The weather is unbearably cold today."
CLOSE = 1e-6  # float32, encoded in one batch or another


@pytest.fixture(scope="module")
def runtime():
    return Runtime()


def test_words_and_numbers_are_those_of_the_metric(runtime):
    found = ng.align(ALIGNMENT_HYP, ALIGNMENT_REF, runtime=runtime)
    parts = BertScore().score([Segment("a", ALIGNMENT_HYP, (ALIGNMENT_REF,))], runtime).parts
    assert found.hypothesis == ("It", "is", "freezing", "today", ".")
    assert found.reference == ("The", "weather", "is", "unbearably", "cold", "today", ".")
    assert found.similarities.shape == (5, 7)
    assert (found.precision, found.recall, found.f1) == pytest.approx(
        [parts[p][0] for p in ("precision", "recall", "f1")], abs=CLOSE
    )
    assert found.hypothesis_matches[1] == 2  # is, is
    assert found.reference_matches[5] == 3  # today, today
    assert str(found.signature).startswith("metric:bertscore|model:embedded|layer:4|")


def test_words_of_one_piece_add_up_to_precision_and_recall(runtime):
    # every word here is one piece; without special tokens the marked similarities are all that is matched
    found = align("it is cold today", "the rain is warm", "bertscore:special_tokens=drop", runtime)
    assert found.precision == pytest.approx(found.similarities.max(axis=1).mean(), abs=CLOSE)
    assert found.recall == pytest.approx(found.similarities.max(axis=0).mean(), abs=CLOSE)


def test_a_word_of_several_pieces_weighs_what_they_weigh_together(runtime):
    # una ##bear ##ably? whatever the pieces are: n of them among the words' N
    found = align("unbearably cold", "cold", runtime=runtime)
    pieces = BertScore().encoder(runtime).tokenizer.words("unbearably cold")[1]
    n = pieces.count(0)
    assert n > 1
    assert found.hypothesis_weights == pytest.approx([n / (n + 1), 1 / (n + 1)])
    assert found.reference_weights.tolist() == [1]


def test_two_words_are_as_similar_as_their_best_pieces():
    pieces = np.array([[9, 9, 9, 9], [9, 0.1, 0.5, 9], [9, 0.7, 0.2, 9], [9, 0.3, 0.4, 9], [9, 9, 9, 9]])
    # rows: end, word 0 in two pieces, word 1, end; columns: end, words 0 and 1, end
    found = _best_pieces(pieces, [None, 0, 0, 1, None], [None, 0, 1, None], (2, 2))
    assert found.tolist() == [[0.7, 0.5], [0.3, 0.4]]


def test_weights_follow_idf_from_a_file(runtime, tmp_path):
    documents = tmp_path / "documents.txt"
    documents.write_text("it is cold\nit is warm\nit rains\n", encoding="utf-8")
    found = align("it is freezing", "it", f'bertscore:idf_file="{documents}"', runtime)
    # log(4/4), log(4/3), log(4/1), as shares
    raw = np.log([1, 4 / 3, 4])
    assert found.hypothesis_weights == pytest.approx(raw / raw.sum(), abs=CLOSE)
    assert found.reference_weights.tolist() == [0]  # "it" is in every document: nothing on this side weighs anything


@pytest.mark.parametrize(("hyp", "ref"), [("", ALIGNMENT_REF), (ALIGNMENT_HYP, " "), ("", "")])
def test_a_blank_side_has_no_words_and_scores_nothing(runtime, hyp, ref):
    found = align(hyp, ref, runtime=runtime)
    assert found.similarities.shape == (len(found.hypothesis), len(found.reference))
    assert found.f1 == 0
    assert set(found.hypothesis_matches) | set(found.reference_matches) <= {None}


@given(hyp=st.text(max_size=20), ref=st.text(max_size=20))
@settings(max_examples=30)
def test_any_two_texts_can_be_held_side_by_side(runtime, hyp, ref):
    found = align(hyp, ref, runtime=runtime)
    assert found.similarities.shape == (len(found.hypothesis), len(found.reference))
    assert np.isfinite(found.similarities).all()
    assert (np.abs(found.similarities) <= 1 + CLOSE).all()
    for weights in (found.hypothesis_weights, found.reference_weights):
        assert weights.sum() == pytest.approx(1, abs=CLOSE) or not weights.any()


def test_other_families_are_shown_too(tiny_model, runtime):
    for kind in ("roberta", "xlm-roberta", "t5"):
        found = align("the cat sat", "a cat", BertScore(model=str(tiny_model(kind)), layer=2), runtime)
        assert found.hypothesis == ("the", "cat", "sat")
        assert found.reference == ("a", "cat")
        # T5's end token keeps its weight and is left out of the picture
        assert found.hypothesis_weights.sum() == pytest.approx(1 if kind != "t5" else 3 / 4, abs=CLOSE)


def test_a_text_beyond_the_limit_is_refused_and_read_in_windows(runtime):
    with pytest.raises(
        InputError, match=r"longer than the 8 pieces that model 'embedded' reads at once; .*long=windows"
    ):
        align("one two three four five six seven eight", "one", BertScore(max_tokens=8), runtime)
    found = align("one two three four five six seven eight", "one", BertScore(max_tokens=8, long="windows"), runtime)
    assert len(found.hypothesis) == 8


def test_what_cannot_be_aligned_is_refused(runtime):
    with pytest.raises(SpecError, match="'chrf' matches no tokens, use bertscore"):
        align(ALIGNMENT_HYP, ALIGNMENT_REF, "chrf", runtime)
    with pytest.raises(SpecError, match="idf=true needs many references"):
        align(ALIGNMENT_HYP, ALIGNMENT_REF, BertScore(idf=True), runtime)
    with pytest.raises(InputError, match="ref is list, expected a string"):
        align(ALIGNMENT_HYP, [ALIGNMENT_REF], runtime=runtime)
