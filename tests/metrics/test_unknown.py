"""Text that a model cannot read is flagged, or has no score."""

import json
import shutil

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.spec import quote
from nlgauge.metrics.learned import model as learned
from nlgauge.metrics.unknown import LIMIT, known, nonfinite, unknown
from nlgauge.models.regressor import Ratings
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
    spec = f"bertscore:model={quote(str(tiny_model(kind)))}"
    scores = ng.score(["昨天没有", "the cat"], ["他们", "the cat sat"], metrics=spec, language="off")[spec]
    assert scores.flags["unknown"].tolist() == [kind != "roberta", False]
    assert np.isnan(scores.values).tolist() == [kind != "roberta", False]


# -- a model that computes NaN


def test_any_number_that_is_not_finite_is_flagged_and_undefined():
    values = np.array([0.5, np.nan, np.inf, -np.inf])
    assert nonfinite(values).tolist() == [False, True, True, True]
    assert nonfinite(values.reshape(2, 2)).tolist() == [True, True]
    np.testing.assert_array_equal(known(values, np.zeros(4)), [0.5, np.nan, np.nan, np.nan])


@pytest.fixture
def poisoned(tmp_path, monkeypatch):
    """A function that copies a model's folder and makes the vector of one word NaN.

    Such weights are refused when they are loaded; here they stand for what finite ones compute in half precision, which
    not every processor does alike.
    """
    monkeypatch.setattr("nlgauge.models.hub.check_finite", lambda *told: None)
    monkeypatch.setattr("nlgauge.models.packing.check_finite", lambda *told: None)

    def copy(folder, word="cat"):
        from safetensors.torch import load_file, save_file

        path = shutil.copytree(folder, tmp_path / "poisoned")
        row = json.loads((path / "tokenizer.json").read_text())["model"]["vocab"][word]
        tensors = load_file(path / "model.safetensors")
        (key,) = (name for name in tensors if name.endswith("word_embeddings.weight"))
        tensors[key][row] = float("nan")
        save_file(tensors, path / "model.safetensors", metadata={"format": "pt"})
        return str(path)

    return copy


HYPOTHESES = ["the cat sat", "the dog sat", "a dog lay", ""]
REFERENCES = ["the dog sat", "the dog lay", "the cat lay", "a dog"]


def check_poisoned(spec):
    scores = ng.score(HYPOTHESES, REFERENCES, metrics=spec, runtime=RUNTIME)[spec]
    assert scores.flags["nonfinite"].tolist() == [True, False, True, False]
    assert np.isnan(scores.values).tolist() == [True, False, True, False]
    assert all(np.isnan(part).tolist() == [True, False, True, False] for part in scores.parts.values())


@pytest.mark.parametrize("spec", ["bertscore:idf=true,layer=2", "bertscore:layer=0", "cosine"])
def test_a_word_whose_vector_is_nan_leaves_its_segments_without_a_score(tiny_model, poisoned, spec):
    folder = poisoned(tiny_model("bert"))
    check_poisoned(f'{spec}{"," if ":" in spec else ":"}model="{folder}"')
    if spec == "cosine":
        with pytest.raises(InputError, match="computes NaN or infinity for these texts; try dtype=float32"):
            ng.align("the cat sat", "the dog sat", f'bertscore:layer=2,model="{folder}"')


@pytest.mark.parametrize(
    "spec", ["nli:formula=e-c,direction=forward", "nli:references=parts", "summac:anchor=reference"]
)
def test_so_does_a_judge_of_entailment(tiny_nli, poisoned, spec):
    check_poisoned(f'{spec},model="{poisoned(tiny_nli("bert"))}"')


def test_so_does_a_regressor(monkeypatch):
    class Broken:
        def score(self, columns, advance):
            broken = ["cat" in hyp + ref for hyp, ref in zip(columns["hyp"], columns["ref"], strict=True)]
            values = np.where(broken, np.inf, -1.0)
            none = np.zeros(len(values), dtype=bool)
            return Ratings(values, truncated=none, unknown=np.zeros(len(values)), empty=none)

    monkeypatch.setattr(learned, "load_regressor", lambda *args: Broken())
    check_poisoned("sescore")


def test_a_model_that_has_no_room_for_a_piece_is_refused(tiny_model, tmp_path):
    path = shutil.copytree(tiny_model("bert"), tmp_path / "narrow")
    config = json.loads((path / "config.json").read_text()) | {"max_position_embeddings": 2}
    (path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="reads at most 2 pieces by its configuration, expected at least 3"):
        ng.score(["a cat"], ["a dog"], metrics=f'bertscore:layer=1,model="{path}"', runtime=RUNTIME)
