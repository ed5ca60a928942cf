"""Regressors that read both texts in one sequence: their numbers by transformers alone, in any company."""

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metrics.learned.regressor import Regressor
from nlgauge.models.regressor import load_regressor
from nlgauge.models.regressor_files import locate_regressor
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric

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


def test_a_segment_scores_the_same_in_any_company(crossed):
    path = crossed()
    together = score(path).values
    assert together[1] == together[4]  # the same texts
    for i in range(len(HYPS)):
        alone = score(path, {name: texts[i : i + 1] for name, texts in COLUMNS.items()}).values
        assert alone[0] == pytest.approx(together[i], abs=COMPANY)
    assert score(path, token_budget=6).values == pytest.approx(together, abs=COMPANY)
    order = np.random.default_rng(0).permutation(len(HYPS))
    moved = score(path, {name: [texts[i] for i in order] for name, texts in COLUMNS.items()}).values
    assert moved == pytest.approx(together[order], abs=COMPANY)


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


@pytest.mark.parametrize(("policy", "fold"), [("mean", np.mean), ("best", np.max)])
def test_several_references_are_folded(crossed, policy, fold):
    metric = Regressor(model=str(crossed()), references=policy)
    each = score(crossed(), {"hyp": ["a cat"] * 2, "ref": ["the cat sat", "rain"]}).values
    found = metric.score([Segment("1", "a cat", ("the cat sat", "rain"))], CPU).values
    assert found == pytest.approx([fold(each)], abs=COMPANY)


def test_the_ends_of_the_scale_are_brought_to_0_and_1(crossed):
    path = crossed()
    found = Regressor(model=str(path), rescale=True).score([Segment("1", "a cat", ("rain",))], CPU).values
    plain = score(path, {"hyp": ["a cat"], "ref": ["rain"]}).values
    assert found == pytest.approx((plain - LOW) / (HIGH - LOW), abs=COMPANY)


def test_no_vectors_are_shared_and_no_layer_is_named(crossed):
    found = locate_regressor(str(crossed()))
    assert (found.texts, found.layers, found.read_layers) == (("hyp", "ref"), (), ())
    assert Regressor(model=found.head.name).vectors_of(CPU) == {}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"drop": ("classifier.bias",)}, "holds no classifier.bias"),
        ({"target_sd": "wide"}, "target_sd is 'wide', expected a number"),
        ({"kind": "nli"}, "is for nli, expected one for regressor"),
    ],
)
def test_heads_that_cannot_be_are_refused_in_one_line(crossed, changes, message):
    with pytest.raises(InputError, match=message) as refused:
        score(crossed(**changes))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["ruse", "comet", "comet-qe"])
def test_a_name_of_a_paper_takes_no_head_of_these_features(crossed, name):
    with pytest.raises(InputError, match="use regressor:model="):
        ng.metric(name, model=str(crossed()))


def test_a_last_layer_of_several_numbers_is_refused(tiny_head):
    path = tiny_head(outputs=3, kind="regressor", features="both", labels=None, low=f"{LOW}", high=f"{HIGH}")
    with pytest.raises(InputError, match="its last layer gives 3 numbers, expected one"):
        score(path)
