import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.alignment import _best_pieces, align
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.runtime.runtime import Runtime

pytest.importorskip("torch")
HYP, REF = "It is freezing today.", "The weather is unbearably cold today."
CLOSE = 1e-6  # float32, encoded in one batch or another


@pytest.fixture(scope="module")
def runtime():
    return Runtime()


def test_words_and_numbers_are_those_of_the_metric(runtime):
    found = ng.align(HYP, REF, runtime=runtime)
    parts = BertScore().score([Segment("a", HYP, (REF,))], runtime).parts
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


@pytest.mark.parametrize(("hyp", "ref"), [("", REF), (HYP, " "), ("", "")])
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
    for kind in ("roberta", "xlm-roberta", "distilbert", "t5"):
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
        align(HYP, REF, "chrf", runtime)
    with pytest.raises(SpecError, match="idf=true needs many references"):
        align(HYP, REF, BertScore(idf=True), runtime)
    with pytest.raises(InputError, match="ref is list, expected a string"):
        align(HYP, [REF], runtime=runtime)
