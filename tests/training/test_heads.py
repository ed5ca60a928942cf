"""Heads: their networks, the files they become, and folders that nothing is left of after a failure."""

import json
import runpy
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from nlgauge.core.errors import InputError
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.heads import find_head
from nlgauge.models.locate import locate
from nlgauge.training.heads import (
    adapted,
    adapter_tensors,
    add_adapters,
    check_folder,
    head_metadata,
    head_network,
    set_adapters,
    write_head,
)
from nlgauge.training.nli import (
    KIND,
    LabelledPair,
    batch_inputs,
    begin_from,
    encode_pairs,
    probabilities,
    save_folder,
    save_head,
    sequence_network,
)
from nlgauge.training.recipe import NliRecipe, Recipe, Schedule

torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)


CLASSIFIER_PAIRS = [
    LabelledPair("the cat sat on the mat", "a cat", 0),
    LabelledPair("rain", "not snow today", 1),
    LabelledPair("a dog", "a dog fell", 2),
]
CPU = torch.device("cpu")


@pytest.fixture
def files(tiny_model):
    return locate(str(tiny_model("bert")))


@pytest.fixture
def pairs(files):
    return encode_pairs(CLASSIFIER_PAIRS, PairTokenizer(files, 40))


def test_the_features_are_the_first_vector_and_the_mean_of_all(files, pairs):
    network = head_network(files, 2, 4.0, 0.0, 0, False).eval()
    with torch.no_grad():
        logits = network(**batch_inputs(pairs, [0, 1], 0, CPU))
        for row in (0, 1):
            states = network.encoder(**batch_inputs(pairs, [row], 0, CPU))[0][0]  # alone, without padding
            features = torch.cat([states[0], states.mean(0)])
            # one sum over padded and one over bare rows, in float32
            assert torch.allclose(logits[row], network.classifier(features), atol=1e-5)


@pytest.mark.parametrize("kind", ["bert", "xlm-roberta", "distilbert", "xlnet", "t5, bytes"])
def test_a_pair_is_judged_alone_as_among_others(tiny_model, kind):
    files = locate(str(tiny_model(kind)))
    pairs = encode_pairs(CLASSIFIER_PAIRS, PairTokenizer(files, 40))
    network = sequence_network(files, "lora", 2, 4.0, 0.1, 0, False)
    pad = files.config.get("pad_token_id") or 0
    together = probabilities(network, pairs, pad, "float32")
    assert together.sum(axis=1) == pytest.approx(np.ones(3))
    for i, pair in enumerate(CLASSIFIER_PAIRS):
        alone = probabilities(network, encode_pairs([pair], PairTokenizer(files, 40)), pad, "float32")[0]
        assert alone == pytest.approx(together[i], abs=1e-5)  # float32 sums of other lengths
    assert network.training  # as it was


def test_a_batch_is_padded_to_its_longest_pair(pairs):
    inputs = batch_inputs(pairs, [1, 2], 9, CPU)
    assert inputs["input_ids"].shape == (
        2,
        8,
    )  # [CLS] rain [SEP] not snow today [SEP], and one more in [CLS] a dog [SEP] a dog fell [SEP]
    assert inputs["input_ids"][:, -1].tolist() == [9, 3]
    assert inputs["attention_mask"].tolist() == [[1] * 7 + [0], [1] * 8]
    assert inputs["token_type_ids"].tolist() == [[0, 0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1, 1, 1]]


def test_dropout_acts_in_training_only(files, pairs):
    network = sequence_network(files, "full", 2, 4.0, 0.5, 0, False).train()
    inputs = batch_inputs(pairs, [0], 0, CPU)
    assert not torch.equal(network(**inputs), network(**inputs))
    network.eval()
    assert torch.equal(network(**inputs), network(**inputs))


def test_new_weights_are_made_by_the_seed_and_frozen_ones_may_be_kept_narrow(files, tiny_model):
    first, same, other = (head_network(files, 2, 4.0, 0.0, seed, False).classifier.weight for seed in (1, 1, 2))
    assert torch.equal(first, same)
    assert not torch.equal(first, other)
    network = head_network(files, 2, 4.0, 0.0, 0, True)
    assert {p.dtype for p in network.parameters() if p.requires_grad} == {torch.float32}
    assert {p.dtype for p in network.parameters() if not p.requires_grad} == {torch.bfloat16}
    with pytest.raises(InputError, match=r"has no piece for padding, which a batch needs; name one as pad_token_id"):
        sequence_network(locate(str(tiny_model("gpt2"))), "full", 2, 4.0, 0.0, 0, False)


@pytest.fixture
def network(files):
    return head_network(files, 2, 4.0, 0.0, 0, False)


def about(files):
    recipe = Recipe(model=files.name, rank=2, max_tokens=40)
    return head_metadata(KIND, recipe, files, "float32", {"name": "x", "data": "é"})


def test_the_same_weights_make_the_same_bytes(files, network, tmp_path):
    paths = [tmp_path / f"{i}.safetensors" for i in range(3)]
    for path in paths:
        save_head(path, network, about(files))
    assert paths[0].read_bytes() == paths[1].read_bytes() == paths[2].read_bytes()
    header = paths[0].read_bytes()[8:].split(b"}}")[0]
    assert header.index(b'"__metadata__"') < header.index(b'"classifier.bias"') < header.index(b'"classifier.weight"')


def test_a_head_is_found_by_the_metrics_side_and_a_network_begins_from_it(files, network, tmp_path):
    with torch.no_grad():
        network.classifier.bias.fill_(0.5)
    save_head(tmp_path / "h.safetensors", network, about(files))
    head = find_head(str(tmp_path / "h.safetensors"), "nli")
    own, adapters = head.tensors()
    assert torch.equal(own["classifier.weight"], network.classifier.weight)
    other = head_network(files, 2, 4.0, 0.0, 1, False)
    begin_from(tmp_path / "h.safetensors", other, files)
    assert torch.equal(other.classifier.weight, network.classifier.weight)
    assert other.classifier.bias.tolist() == [0.5] * 3
    assert len(adapters) == 18  # six linear layers in each of three blocks
    assert (head.get("data"), head.whole("max_tokens"), head.items("labels")) == (
        "é",
        40,
        ("entailment", "neutral", "contradiction"),
    )
    assert {t.dtype for name, t in load_file(tmp_path / "h.safetensors").items() if ".lora_" in name} == {torch.float16}


def test_another_file_and_a_head_for_another_encoder_are_no_beginning(files, network, tmp_path):
    for metadata in (None, {"format": "nlgauge-head", "kind": "infill"}):
        save_file({"classifier.bias": torch.zeros(3)}, tmp_path / "h.safetensors", metadata)
        with pytest.raises(InputError, match=r"h\.safetensors is no NLI head"):
            begin_from(tmp_path / "h.safetensors", network, files)
    # the shapes are those of every encoder of this size
    save_head(tmp_path / "h.safetensors", network, {**about(files), "encoder_sha256": "0" * 64})
    with pytest.raises(InputError, match=r"was made for weights with SHA-256 0+, expected [0-9a-f]{64} of model"):
        begin_from(tmp_path / "h.safetensors", network, files)


def test_a_folder_is_never_written_over(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    with pytest.raises(InputError, match="is there already"):
        check_folder(tmp_path / "kept")
    (tmp_path / "empty").mkdir()
    check_folder(tmp_path / "empty")
    check_folder(tmp_path / "new")


def test_a_folder_holds_model_and_tokenizer_and_nothing_else_is_left(files, tmp_path, monkeypatch):
    save_folder(tmp_path / "m", sequence_network(files, "lora", 2, 4.0, 0.0, 0, True), files)
    assert [p.name for p in tmp_path.iterdir()] == ["m"]
    assert {p.name for p in (tmp_path / "m").iterdir()} == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    assert json.loads((tmp_path / "m" / "config.json").read_text())["architectures"] == [
        "BertForSequenceClassification"
    ]
    assert {tensor.dtype for tensor in load_file(tmp_path / "m" / "model.safetensors").values()} == {torch.float32}

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copy", full)
    with pytest.raises(InputError, match=r"cannot write .*n: No space left on device"):
        save_folder(tmp_path / "n", sequence_network(files, "full", 2, 4.0, 0.0, 0, False), files)
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


SHORTEN = Path(__file__).parents[2] / "recipes" / "tools" / "shorten.py"


@pytest.fixture
def narrowed():
    """What makes whole numbers of 8 bits of adapters."""
    if not SHORTEN.exists():
        pytest.skip("the recipes are not beside the tests")
    return runpy.run_path(str(SHORTEN))["narrowed"]


def test_adapters_in_eight_bits_are_read_as_they_were(files, network, tmp_path, narrowed):
    path, narrow = tmp_path / "wide.safetensors", tmp_path / "narrow.safetensors"
    for parameter in network.parameters():  # fresh adapters have zeros on one side
        torch.nn.init.normal_(parameter, std=0.2)
    save_head(path, network, about(files))
    write_head(narrow, narrowed(load_file(path)), {**dict(find_head(str(path), KIND).metadata), "name": "narrow"})
    (_, wide), (_, read) = find_head(str(path), KIND).tensors(), find_head(str(narrow), KIND).tensors()
    for name, pair in wide.items():
        for one, other in zip(pair, read[name], strict=True):
            largest = one.float().abs().amax(dim=1, keepdim=True)
            assert ((one.float() - other).abs() <= largest * 0.5 / 127 + 1e-6).all()  # half a step of its row
    begin_from(str(narrow), network, files)  # a run may begin from it
    capital = torch.tensor([[3, 250]], dtype=torch.uint8)  # packed bits, as a head of kind infill has, stay as they are
    write_head(path, {**load_file(path), "capital": capital}, dict(find_head(str(path), KIND).metadata))
    assert find_head(str(path), KIND).tensors()[0]["capital"].tolist() == [[3.0, 250.0]]


@pytest.mark.parametrize("lost", ["lora_a_scale", "lora_b_scale"])
def test_whole_numbers_without_their_scale_are_refused(files, network, tmp_path, narrowed, lost):
    path = tmp_path / "head.safetensors"
    save_head(path, network, about(files))
    tensors = narrowed(load_file(path))
    del tensors[next(name for name in tensors if name.endswith(lost))]
    write_head(path, tensors, dict(find_head(str(path), KIND).metadata))
    with pytest.raises(InputError, match="a number for each row"):
        find_head(str(path), KIND).tensors()


SHORT = Schedule(epochs=3, batch_size=16, learning_rate=0.01, seed=3)


def recipe(tiny_model, kind="bert", schedule=SHORT, **options):
    return NliRecipe(model=str(tiny_model(kind)), rank=4, alpha=8.0, max_tokens=40, schedule=schedule, **options)


# --- Adapters on every linear layer

LAYERS = {f"attention.self.{part}" for part in ("query", "key", "value")} | {
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
}
NAMES = {f"encoder.layer.{i}.{layer}" for i in range(3) for layer in LAYERS}
INPUTS = {"input_ids": torch.tensor([[2, 5, 7, 3], [2, 6, 8, 3]])}


@pytest.fixture
def encoder(tiny_model):
    return transformers.AutoModel.from_pretrained(tiny_model("bert"), add_pooling_layer=False).eval()


def stirred(model):
    """Updates that are not 0, as they are before training."""
    torch.manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                parameter.normal_(0, 0.2)
            assert parameter.requires_grad == ("lora_" in name)
    return model


def test_every_linear_layer_gets_one_that_changes_nothing_and_all_else_is_frozen(encoder):
    before = encoder(**INPUTS)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = add_adapters(encoder, 4, 8.0).eval()
    assert torch.equal(model(**INPUTS)[0], before)
    assert set(adapted(stirred(model))) == NAMES


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_outputs_and_gradients_are_pefts_own(encoder, dtype):
    model = stirred(add_adapters(encoder, 4, 8.0)).train(False)

    def run():
        model.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
            out = model(**INPUTS)[0].float()
        out.pow(2).sum().backward()
        return out.detach(), {n: p.grad.clone() for n, p in model.named_parameters() if p.requires_grad}

    out, gradients = run()
    for module in adapted(model).values():
        del module.forward  # back to peft's
    expected, theirs = run()
    share = (
        1e-5 if dtype == torch.float32 else 0.1
    )  # bfloat16 has 8 bits, its sums are rounded at other places, and three layers add to it
    assert (out - expected).norm() <= share * expected.norm()
    for name, gradient in gradients.items():
        assert (gradient - theirs[name]).norm() <= share * theirs[name].norm(), name


def test_the_matrices_merge_to_the_model_that_was_trained(encoder, tiny_model):
    model = stirred(add_adapters(encoder, 4, 8.0)).eval()
    tensors = adapter_tensors(model)
    assert {name.rpartition(".lora_")[0] for name in tensors} == NAMES
    plain = transformers.AutoModel.from_pretrained(tiny_model("bert"), add_pooling_layer=False).eval()
    with torch.no_grad():
        for name in NAMES:
            a, b = tensors[f"{name}.lora_a"], tensors[f"{name}.lora_b"]
            weight = plain.get_submodule(name).weight
            assert (a.dtype, a.shape, b.shape) == (torch.float16, (4, weight.shape[1]), (weight.shape[0], 4))
            weight += b.float() @ a.float()
        difference = (plain(**INPUTS)[0] - model(**INPUTS)[0]).abs().max()
    assert difference < 0.01  # the matrices are kept in float16, eleven bits


def test_adapters_go_on_from_a_heads(encoder, tiny_model):
    tensors = adapter_tensors(stirred(add_adapters(encoder, 4, 8.0)))
    other = add_adapters(transformers.AutoModel.from_pretrained(tiny_model("bert"), add_pooling_layer=False), 4, 8.0)
    set_adapters(other, tensors)
    again = adapter_tensors(other)
    assert all(torch.equal(tensors[name], again[name]) for name in tensors)
    other = add_adapters(transformers.AutoModel.from_pretrained(tiny_model("bert"), add_pooling_layer=False), 2, 8.0)
    said = r"has shape \(4, 32\) for .*lora_a, expected shape \(2, 32\); is its rank another\?"
    with pytest.raises(InputError, match=said):
        set_adapters(other, tensors)


def test_what_adapts_nothing_is_refused(encoder, tiny_model):
    with pytest.raises(InputError, match="rank is 0"):
        add_adapters(encoder, 0, 8.0)
    for alpha in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="alpha is"):
            add_adapters(encoder, 4, alpha)
    with pytest.raises(InputError, match=r"of type 'gpt2' has no linear layers to adapt; use method full or frozen"):
        add_adapters(transformers.AutoModel.from_pretrained(tiny_model("gpt2")), 2, 4.0)


def test_a_model_may_change_its_adapted_layers_in_place(tiny_model):
    # DeBERTa adds a bias to parts of what a layer gives
    model = add_adapters(transformers.AutoModel.from_pretrained(tiny_model("deberta")), 2, 4.0)
    model(input_ids=torch.tensor([[0, 5, 6, 2]]))[0].sum().backward()
    assert any(p.grad is not None and p.grad.any() for name, p in model.named_parameters() if "lora_B" in name)
