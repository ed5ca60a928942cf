"""Text that a model cannot read is flagged, or has no score."""

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.metrics.unknown import LIMIT, known, unknown
from nlgauge.runtime.runtime import Runtime

pytest.importorskip("torch")


def test_above_the_limit_is_flagged_and_all_is_undefined():
    shares = np.array([0.0, LIMIT, LIMIT + 0.01, 1.0])
    assert unknown(shares).tolist() == [False, False, True, True]
    np.testing.assert_array_equal(known(np.ones(4), shares), [1, 1, 1, np.nan])


RUNTIME = Runtime()  # one, so that models are loaded once
THAI = "คืนนี้จะมีฝนตกหนักทางภาคเหนือ"


@pytest.mark.parametrize(
    "spec",
    [
        "bertscore",
        "bertscore:rescale=true",
        "cosine",
        "nli",
        "nli:references=parts",
        "nli:long=windows",
        "nli-robust:formula=-c",
        "summac:anchor=reference",
        "sescore",
    ],
)
def test_a_text_without_a_known_piece_has_no_score_beside_others_that_do(spec):
    english = "It rains in the north."
    hypotheses = [THAI, english, english, ""]
    references = ["เมื่อวานเขาไม่ได้ไปโรงเรียน", THAI, "Rain falls in the north.", english]
    scores = ng.score(hypotheses, references, metrics=spec, language="off", runtime=RUNTIME)[spec]
    assert np.isnan(scores.values).tolist() == [True, True, False, False]
    assert all((np.isnan(part) == np.isnan(scores.values)).all() for part in scores.parts.values())
    assert scores.flags["unknown"].tolist() == [True, True, False, False]
    assert scores.flags["empty"].tolist() == [False, False, False, True]


@pytest.mark.parametrize("spec", ["bertscore", "cosine:references=best", "nli", "nli:references=parts"])
def test_of_several_references_those_that_can_be_read_count(spec):
    one = ng.score(["It rains."], [["Rain falls."]], metrics=spec, runtime=RUNTIME)[spec]
    two = ng.score(["It rains."], [["Rain falls.", THAI]], metrics=spec, language="off", runtime=RUNTIME)[spec]
    if spec == "nli":  # the mean over references is undefined where one of them is
        assert np.isnan(two.values).all()
        assert two.flags["unknown"].all()
    else:
        np.testing.assert_allclose(two.values, one.values, atol=1e-6)  # float32, other company
        assert not two.flags["unknown"].any()


def test_a_share_is_a_share_of_the_pieces(tiny_model):
    # the tiny vocabulary has the words and the full stop, but none of the Greek letters
    from nlgauge.models.locate import locate
    from nlgauge.models.tokens import TextTokenizer

    tokenizer = TextTokenizer(locate(str(tiny_model("bert"))))
    texts = ["the cat.", "the λόγος", "λόγος ήλιος", ""]
    shares = tokenizer.unknown_shares(tokenizer.content(t) for t in tokenizer.tokens(texts))
    assert shares.tolist() == [0, 0.5, 1, 0]


@pytest.mark.parametrize("kind", ["xlm-roberta", "mbart", "roberta"])
def test_marks_of_word_beginnings_hold_no_text_and_bytes_are_all_known(tiny_model, kind):
    spec = f"bertscore:model={tiny_model(kind)}"
    scores = ng.score(["昨天没有", "the cat"], ["他们", "the cat sat"], metrics=spec, language="off")[spec]
    assert scores.flags["unknown"].tolist() == [kind != "roberta", False]
    assert np.isnan(scores.values).tolist() == [kind != "roberta", False]
