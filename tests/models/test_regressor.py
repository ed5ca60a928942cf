"""Files of regressors: what their header says, and what is none."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metrics.learned.regressor import Regressor
from nlgauge.models import matching
from nlgauge.models import regressor as module
from nlgauge.models.regressor import load_regressor, locate_regressor, text_vectors
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric


def test_names_that_are_no_regressor_are_refused(tmp_path):
    with pytest.raises(
        InputError, match=r"model 'bert-base-cased' is no regressor: expected a \.safetensors head or a folder"
    ):
        locate_regressor("bert-base-cased")
    with pytest.raises(InputError, match=r"holds no regressor\.safetensors"):
        locate_regressor(str(tmp_path))
    with pytest.raises(InputError, match="does not exist"):
        locate_regressor(str(tmp_path / "absent.safetensors"))


@pytest.mark.parametrize("name", ["~nobody/regressor", "x" * 300])
def test_a_path_that_the_system_does_not_take_is_no_regressor(name):
    with pytest.raises(InputError, match="is no regressor"):
        locate_regressor(name)


# --- Regressors that read both texts in one sequence: their numbers by transformers alone, in any company

HYPS = ["the cat sat on the mat", "rain", "a dog lay on the rug", "snow fell today", "rain"]
REFS = ["a cat sat on a mat", "heavy rain", "the dog", "snow fell today", "heavy rain"]
COLUMNS = {"hyp": HYPS, "ref": REFS}
ROUNDING = 1e-5  # float32 through three layers, against another order of sums
COMPANY = 1e-6  # float32 at scores of the size of 1
LOW, HIGH = -25.0, 2.0
CPU = Runtime(device="cpu")


@pytest.fixture
def crossed(tiny_head):
    """A function from metadata to a head of random weights."""

    def make(**changes):
        about = {"kind": "regressor", "features": "both", "labels": None, "low": f"{LOW}", "high": f"{HIGH}"}
        return tiny_head(outputs=1, **about | changes)

    return make


def score(path, columns=COLUMNS, **options):
    return load_regressor(str(path), "float32", Runtime(device="cpu", **options)).score(columns)


def flags(scores, name):
    return scores.flags[name].tolist()


def test_the_score_is_what_transformers_says_of_reference_and_hypothesis(crossed, tiny_model):
    from transformers import AutoModel, AutoTokenizer

    path = crossed()
    tensors = load_file(str(path))
    encoder = AutoModel.from_pretrained(tiny_model("bert"), add_pooling_layer=False).eval()
    tokenizer = AutoTokenizer.from_pretrained(tiny_model("bert"))
    for name in {name.rpartition(".lora_")[0] for name in tensors if ".lora_" in name}:
        update = tensors[f"{name}.lora_b"].float() @ tensors[f"{name}.lora_a"].float()
        encoder.get_submodule(name).weight.data += update
    weight, bias = tensors["classifier.weight"].float()[0], tensors["classifier.bias"].float()[0]
    found = score(path).values
    assert np.ptp(found) > 0.1
    for value, hyp, ref in zip(found, HYPS, REFS, strict=True):
        with torch.no_grad():
            states = encoder(**tokenizer(ref, hyp, return_tensors="pt"))[0][0]
        expected = weight @ torch.cat([states[0], states.mean(0)]) + bias
        assert value == pytest.approx(expected.item(), abs=ROUNDING)


def test_it_needs_a_reference_and_keeps_the_contract(crossed):
    metric = Regressor(model=str(crossed()))
    assert metric.info.needs == {"references"}
    check_metric(metric, runtime=CPU, tolerance=COMPANY)


def test_which_text_is_the_reference_matters(crossed):
    path = crossed()
    swapped = score(path, {"hyp": REFS, "ref": HYPS}).values
    assert abs(swapped - score(path).values)[:3].min() > 1e-3


def test_targets_that_were_standardised_are_brought_back(crossed):
    found = score(crossed(target_mean="-9.5", target_sd="4")).values
    assert found == pytest.approx(score(crossed()).values * 4 - 9.5)


def test_equal_pairs_are_read_once_and_none_costs_nothing(crossed):
    done = []
    model = load_regressor(str(crossed()), "float32", CPU)
    found = model.score({"hyp": ["a cat", " a cat ", "rain"], "ref": ["rain", "rain", "a cat"]}, done.append)
    assert sum(done) == 2  # texts
    assert found.values[0] == found.values[1] != found.values[2]
    nothing = model.score({"hyp": [], "ref": []})
    assert (len(nothing.values), len(nothing.truncated), len(nothing.unknown), len(nothing.empty)) == (0, 0, 0, 0)


def test_a_long_pair_is_cut_and_says_so(crossed):
    metric = Regressor(model=str(crossed(max_tokens="10")))
    rows = [Segment(f"{i}", hyp, (ref,)) for i, (hyp, ref) in enumerate(zip(HYPS, REFS, strict=True))]
    # of ten pieces three are special: 6 + 6 words do not fit, nor do 6 + 2; 1 + 2 and 3 + 3 do
    assert flags(metric.score(rows, CPU), "truncated") == [True, False, True, False, False]
    wide = Regressor(model=str(crossed(max_tokens="10")), max_tokens=20)
    assert not any(flags(wide.score(rows, CPU), "truncated"))


def test_empty_and_unknown_texts_are_flagged(crossed):
    metric = Regressor(model=str(crossed()))
    texts = [("", "a cat"), ("\ufffd", "a cat"), ("a cat", "\u0301"), ("λόγος λόγος", "a cat"), ("a cat", "a cat")]
    texts.append(("a cat", "λόγος λόγος"))
    found = metric.score([Segment(f"{i}", hyp, (ref,)) for i, (hyp, ref) in enumerate(texts)], CPU)
    assert flags(found, "empty") == [True, True, True, False, False, False]
    assert found.values[:3].tolist() == [LOW] * 3
    assert flags(found, "unknown") == [False, False, False, True, False, True]  # on either side
    assert np.isnan(found.values[[3, 5]]).all()
    assert np.isfinite(found.values[4])


def test_no_vectors_are_shared_and_no_layer_is_named(crossed):
    found = locate_regressor(str(crossed()))
    assert (found.texts, found.layers, found.read_layers) == (("hyp", "ref"), (), ())
    assert Regressor(model=found.head.name).vectors_of(CPU) == {}


def test_a_head_without_a_tensor_is_refused_in_one_line(crossed):
    with pytest.raises(InputError, match=r"holds no classifier\.bias") as refused:
        score(crossed(drop=("classifier.bias",)))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["ruse", "comet", "comet-qe"])
def test_a_name_of_a_paper_takes_no_head_of_these_features(crossed, name):
    with pytest.raises(InputError, match="use regressor:model="):
        ng.metric(name, model=str(crossed()))


def test_a_last_layer_of_several_numbers_is_refused(tiny_head):
    path = tiny_head(outputs=3, kind="regressor", features="both", labels=None, low=f"{LOW}", high=f"{HIGH}")
    with pytest.raises(InputError, match="its last layer gives 3 numbers, expected one"):
        score(path)


# --- Regressors from files: their numbers by torch alone, in any company, and what cannot be read

SRCS = ["good morning", "rain fell", "not a dog", "snow", "rain fell"]
WITH_SOURCES = {"hyp": HYPS, "ref": REFS, "src": SRCS}


def score_and_cut(path, columns=WITH_SOURCES, **options):
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
    found, cut = score_and_cut(path)
    assert not cut.any()
    for i, (hyp, ref) in enumerate(zip(HYPS, REFS, strict=True)):
        h, r = vector(hyp, named), vector(ref, named)
        assert found[i] == pytest.approx(value(torch.cat([h, r, h * r, (h - r).abs()])), abs=ROUNDING)


def test_source_and_reference_as_comets_estimator_has_them(tiny_regressor, tiny_model):
    path = tiny_regressor(features="hyp,ref,hyp*src,hyp*ref,|hyp-src|,|hyp-ref|", adapted=False)
    vector, value = by_transformers(path, tiny_model("bert"), adapted=False)
    found, _ = score_and_cut(path)
    for i, texts in enumerate(zip(HYPS, REFS, SRCS, strict=True)):
        h, r, s = (vector(text, (3,)) for text in texts)
        assert found[i] == pytest.approx(
            value(torch.cat([h, r, h * s, h * r, (h - s).abs(), (h - r).abs()])), abs=ROUNDING
        )


def test_layers_are_mixed_part_by_part_of_the_texts(tiny_regressor, monkeypatch):
    path, done, sizes = tiny_regressor(layers="mix"), [], []
    together, _ = score_and_cut(path)
    read = matching.encoder_means

    def watched(encoder, sequences, *rest, **options):
        sizes.append(len(sequences))
        return read(encoder, sequences, *rest, **options)

    monkeypatch.setattr(matching, "encoder_means", watched)
    monkeypatch.setattr(module, "_HELD_BYTES", 4 * 32 * 4 * 3)  # 32 numbers a vector, 4 layers, 3 texts
    found = load_regressor(str(path), "float32", Runtime(device="cpu")).score(WITH_SOURCES, done.append)
    assert sizes == [3, 3, 1]  # of hypotheses and references, of which one is in both
    assert sum(done) == 7
    assert found.values == pytest.approx(together, abs=ROUNDING)


def test_a_long_text_is_cut_and_says_so(tiny_regressor):
    _, cut = score_and_cut(tiny_regressor(max_tokens="6"))
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
def test_regressor_heads_that_cannot_be_are_refused_in_one_line(tiny_regressor, changes, message):
    with pytest.raises(InputError, match=message) as refused:
        score_and_cut(tiny_regressor(**changes))
    assert "\n" not in str(refused.value)


def test_a_layer_of_another_width_is_refused(tiny_regressor, tmp_path):
    from safetensors.torch import save_file

    path = tiny_regressor()
    head = locate_regressor(str(path)).head
    tensors = load_file(str(path)) | {"hidden.0.weight": torch.zeros(8, 64)}
    save_file(tensors, tmp_path / "other.safetensors", dict(head.metadata))
    with pytest.raises(InputError, match="a layer takes 64 numbers, expected 128; is its encoder another"):
        score_and_cut(tmp_path / "other.safetensors")


def test_adapters_stand_on_bert_alone_and_others_may_be_frozen(tiny_regressor):
    with pytest.raises(InputError, match="is not of BERT's family, and adapters stand on no other"):
        score_and_cut(tiny_regressor(family="distilbert"))
    assert np.isfinite(score_and_cut(tiny_regressor(family="distilbert", adapted=False))[0]).all()
