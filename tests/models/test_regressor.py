"""Regressors from files: their numbers by torch alone, in any company, and what cannot be read."""

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file

from nlgauge.core.errors import InputError
from nlgauge.models import pooled
from nlgauge.models import regressor as module
from nlgauge.models.regressor import load_regressor, text_vectors
from nlgauge.models.regressor_files import locate_regressor
from nlgauge.runtime.runtime import Runtime

HYPS = ["the cat sat on the mat", "rain", "a dog lay on the rug", "snow fell today", "rain"]
REFS = ["a cat sat on a mat", "heavy rain", "the dog", "snow fell today", "heavy rain"]
SRCS = ["good morning", "rain fell", "not a dog", "snow", "rain fell"]
COLUMNS = {"hyp": HYPS, "ref": REFS, "src": SRCS}
ROUNDING = 1e-5  # float32 through three layers


def score(path, columns=COLUMNS, **options):
    """Values, and whether a text was cut."""
    found = load_regressor(str(path), "float32", Runtime(device="cpu", **options)).score(columns)
    return found.values, found.truncated


def by_transformers(path, folder, adapted=True):
    """The same numbers from transformers' BERT, a text at a time, in the order that the formulas are written in."""
    from transformers import AutoModel, AutoTokenizer

    tensors = load_file(str(path))
    encoder, tokenizer = (
        AutoModel.from_pretrained(folder, add_pooling_layer=False).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    if adapted:
        name = "encoder.layer.1.output.dense"
        weight = encoder.get_submodule(name).weight
        weight.data += tensors[f"{name}.lora_b"].float() @ tensors[f"{name}.lora_a"].float()

    def vector(text, layers):
        with torch.no_grad():
            states = encoder(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states
        if layers == "mix":
            shares = torch.softmax(tensors["mix.weights"], 0)
            return tensors["mix.scale"] * sum(w * s[0] for w, s in zip(shares, states, strict=True)).mean(0)
        return torch.cat([states[layer][0].mean(0) for layer in layers])

    def value(features):
        for i in (0, 1):
            features = torch.tanh(tensors[f"hidden.{i}.weight"] @ features + tensors[f"hidden.{i}.bias"])
        return (tensors["out.weight"] @ features + tensors["out.bias"]).item()

    return vector, value


@pytest.mark.parametrize(("layers", "named"), [("3", (3,)), ("2", (2,)), ("1,3", (1, 3)), ("mix", "mix")])
def test_the_score_is_what_transformers_and_the_formula_say(tiny_regressor, tiny_model, layers, named):
    path = tiny_regressor(layers=layers)
    vector, value = by_transformers(path, tiny_model("bert"))
    found, cut = score(path)
    assert not cut.any()
    for i, (hyp, ref) in enumerate(zip(HYPS, REFS, strict=True)):
        h, r = vector(hyp, named), vector(ref, named)
        assert found[i] == pytest.approx(value(torch.cat([h, r, h * r, (h - r).abs()])), abs=ROUNDING)


def test_source_and_reference_as_comets_estimator_has_them(tiny_regressor, tiny_model):
    path = tiny_regressor(features="hyp,ref,hyp*src,hyp*ref,|hyp-src|,|hyp-ref|", adapted=False)
    vector, value = by_transformers(path, tiny_model("bert"), adapted=False)
    found, _ = score(path)
    for i, texts in enumerate(zip(HYPS, REFS, SRCS, strict=True)):
        h, r, s = (vector(text, (3,)) for text in texts)
        assert found[i] == pytest.approx(
            value(torch.cat([h, r, h * s, h * r, (h - s).abs(), (h - r).abs()])), abs=ROUNDING
        )


def test_targets_that_were_standardised_are_brought_back(tiny_regressor):
    plain, _ = score(tiny_regressor())
    found, _ = score(tiny_regressor(target_mean="-9.5", target_sd="4"))
    assert found == pytest.approx(plain * 4 - 9.5)


@pytest.mark.parametrize("layers", ["3", "mix"])
def test_a_segment_scores_the_same_in_any_company(tiny_regressor, layers):
    path = tiny_regressor(layers=layers)
    together, _ = score(path)
    assert together[1] == together[4]  # the same texts
    for i in range(len(HYPS)):
        alone, _ = score(path, {name: texts[i : i + 1] for name, texts in COLUMNS.items()})
        assert alone[0] == pytest.approx(together[i], abs=ROUNDING)
    small, _ = score(path, token_budget=6)
    assert small == pytest.approx(together, abs=ROUNDING)


def test_layers_are_mixed_part_by_part_of_the_texts(tiny_regressor, monkeypatch):
    path, done, sizes = tiny_regressor(layers="mix"), [], []
    together, _ = score(path)
    read = pooled.encoder_means

    def watched(encoder, sequences, *rest, **options):
        sizes.append(len(sequences))
        return read(encoder, sequences, *rest, **options)

    monkeypatch.setattr(pooled, "encoder_means", watched)
    monkeypatch.setattr(module, "_HELD_BYTES", 4 * 32 * 4 * 3)  # 32 numbers a vector, 4 layers, 3 texts
    found = load_regressor(str(path), "float32", Runtime(device="cpu")).score(COLUMNS, done.append)
    assert sizes == [3, 3, 1]  # of hypotheses and references, of which one is in both
    assert sum(done) == 7
    assert found.values == pytest.approx(together, abs=ROUNDING)


def test_a_long_text_is_cut_and_says_so(tiny_regressor):
    _, cut = score(tiny_regressor(max_tokens="6"))
    assert cut.tolist() == [True, False, True, False, False]  # six words and special tokens; five; four and two fit


def test_equal_texts_are_encoded_once_and_none_costs_nothing(tiny_regressor):
    done = []
    regressor = load_regressor(str(tiny_regressor()), "float32", Runtime(device="cpu"))
    regressor.score({"hyp": ["a cat", " a cat ", "rain"], "ref": ["rain", "rain", "a cat"]}, done.append)
    assert sum(done) == 2
    nothing = regressor.score({"hyp": [], "ref": []})
    assert (len(nothing.values), len(nothing.truncated), len(nothing.unknown)) == (0, 0, 0)


def test_the_share_of_unknown_pieces_is_that_of_the_worse_side(tiny_regressor):
    regressor = load_regressor(str(tiny_regressor()), "float32", Runtime(device="cpu"))
    found = regressor.score({"hyp": ["the cat", "the λόγος", "λόγος"], "ref": ["λόγος", "the cat", "a dog"]})
    assert found.unknown.tolist() == [1, 0.5, 1]


def test_layers_are_mixed_by_their_weights():
    means = torch.tensor([[[1.0, 2.0], [5.0, 6.0]]])
    assert text_vectors(means, None).tolist() == [[1, 2, 5, 6]]
    # 2 * (0.25 * (1, 2) + 0.75 * (5, 6))
    assert text_vectors(means, (torch.tensor([0.25, 0.75]), torch.tensor([2.0]))).tolist() == [[8, 10]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "nli"}, "is for nli, expected one for regressor"),
        ({"layers": "7"}, "layers is '7', expected mix or numbers from 0 to 3"),
        ({"layers": "top"}, "layers is 'top'"),
        ({"features": "hyp,ref,hyp*mt,|hyp-ref|"}, r"feature 'hyp\*mt' is unknown"),
        ({"widths": "8,6,4"}, "holds no hidden.2.weight"),
        ({"drop": ("out.bias",)}, "holds no out.bias"),
        ({"target_sd": "wide"}, "target_sd is 'wide', expected a number"),
        ({"drop": ("mix.scale",), "layers": "mix"}, "holds no mix.scale"),
    ],
)
def test_heads_that_cannot_be_are_refused_in_one_line(tiny_regressor, changes, message):
    with pytest.raises(InputError, match=message) as refused:
        score(tiny_regressor(**changes))
    assert "\n" not in str(refused.value)


def test_a_layer_of_another_width_is_refused(tiny_regressor, tmp_path):
    from safetensors.torch import save_file

    path = tiny_regressor()
    head = locate_regressor(str(path)).head
    tensors = load_file(str(path)) | {"hidden.0.weight": torch.zeros(8, 64)}
    save_file(tensors, tmp_path / "other.safetensors", dict(head.metadata))
    with pytest.raises(InputError, match="a layer takes 64 numbers, expected 128; is its encoder another"):
        score(tmp_path / "other.safetensors")


def test_adapters_stand_on_bert_alone_and_others_may_be_frozen(tiny_regressor):
    with pytest.raises(InputError, match="is not of BERT's family, and adapters stand on no other"):
        score(tiny_regressor(family="distilbert"))
    assert np.isfinite(score(tiny_regressor(family="distilbert", adapted=False))[0]).all()
