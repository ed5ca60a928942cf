"""DeBERTa's attention: distances and buckets, and every layer, against transformers."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from nlgauge.core.errors import InputError
from nlgauge.models.locate import ModelFiles
from nlgauge.models.packing import disentangled, kernels
from nlgauge.models.packing.disentangled import Relative
from nlgauge.models.packing.packed import PackedBert

CPU = torch.device("cpu")
SHAPE = {"vocab_size": 40, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
BOTH = {**SHAPE, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
THIRD = {"norm_rel_ebd": "layer_norm", "share_att_key": True, "position_buckets": 32, "position_biased_input": False}
# name -> (model type, configuration)
MODELS = {
    "first": ("deberta", {**BOTH, "position_biased_input": False, "max_position_embeddings": 512}),
    "first, positions and types": ("deberta", {**BOTH, "type_vocab_size": 2, "max_position_embeddings": 320}),
    "first, short reach": ("deberta", {**BOTH, "position_biased_input": False, "max_relative_positions": 20}),
    "first, to keys": ("deberta", {**BOTH, "pos_att_type": "c2p", "position_biased_input": False}),
    "first, to queries": ("deberta", {**BOTH, "pos_att_type": "p2c", "position_biased_input": False}),
    "second": ("deberta-v2", {**BOTH, "norm_rel_ebd": "layer_norm", "position_buckets": 16}),
    "second, linear": ("deberta-v2", {**BOTH, "position_biased_input": False, "type_vocab_size": 2}),
    "second, convolution": ("deberta-v2", {**BOTH, **THIRD, "conv_kernel_size": 3, "conv_act": "gelu"}),
    "second, wide convolution": ("deberta-v2", {**BOTH, **THIRD, "conv_kernel_size": 5}),
    "third": ("deberta-v2", {**BOTH, **THIRD, "pos_att_type": "p2c|c2p"}),
    "third, few buckets": ("deberta-v2", {**BOTH, **THIRD, "position_buckets": 8, "max_relative_positions": 64}),
}
LENGTHS = [1, 2, 2, 5, 5, 5, 30, 96, 97, 128, 129, 129, 200, 320]  # around where kernels change
FAR = [513, 700]  # beyond all distances that are told apart


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A function from a name of `MODELS` to a folder with random weights, made once."""
    from transformers import AutoConfig, AutoModel

    folders = {}

    def make(name):
        if name not in folders:
            folders[name] = tmp_path_factory.mktemp("deberta")
            kind, config = MODELS[name]
            with torch.random.fork_rng():
                torch.manual_seed(0)
                model = AutoModel.from_config(AutoConfig.for_model(kind, **config))
                # Biases start at 0 and norms at 1, so that one put in another's place would not show.
                for parameter in model.parameters():
                    parameter.data += torch.randn_like(parameter) * (0.2 if parameter.dim() == 1 else 0.1)
            model.save_pretrained(folders[name])
        return folders[name]

    return make


def texts(lengths, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(1, 40, size=n) for n in lengths]


def hidden_states(folder, sequences, dtype=torch.float64):
    """transformers' own, one text at a time: layer -> rows of all texts."""
    from transformers import AutoModel
    from transformers.models.deberta.modeling_deberta import DebertaLayerNorm

    model = AutoModel.from_pretrained(folder, dtype=dtype).eval()
    if dtype == torch.float64:  # the norms of the first DeBERTa round to float32, whatever the precision
        for module in model.modules():
            if isinstance(module, DebertaLayerNorm):
                module.forward = lambda states, norm=module: torch.nn.functional.layer_norm(
                    states, states.shape[-1:], norm.weight, norm.bias, norm.variance_epsilon
                )
    with torch.inference_mode():
        found = [model(torch.from_numpy(ids)[None], output_hidden_states=True).hidden_states for ids in sequences]
    return [torch.cat([states[layer][0] for states in found]) for layer in range(len(found[0]))]


def network(folder, dtype=torch.float64, **how):
    return PackedBert(ModelFiles("tiny", folder, ""), dtype, CPU, **how)


def layers(packed, sequences):
    with torch.inference_mode(), packed.cut_each([0, 1, 2, 3]) as forward:
        return forward(sequences)


def lengths_of(name):
    """A model with vectors of positions reads no text beyond them."""
    positions = MODELS[name][1].get("position_biased_input", True)
    return LENGTHS if positions else LENGTHS + FAR


@pytest.mark.parametrize("name", MODELS)
def test_in_float64_nothing_but_rounding_is_left(made, name):
    sequences = texts(lengths_of(name))
    for found, expected in zip(
        layers(network(made(name)), sequences), hidden_states(made(name), sequences), strict=True
    ):
        torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("as_gpu", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_every_layer_is_that_of_transformers(made, name, as_gpu):
    sequences = texts(lengths_of(name))
    packed = network(made(name), torch.float32, as_gpu=as_gpu)
    expected = hidden_states(made(name), sequences, torch.float32)
    for found, theirs in zip(layers(packed, sequences), expected, strict=True):
        torch.testing.assert_close(found, theirs, atol=1e-5, rtol=0)


def test_distances_have_the_buckets_of_transformers():
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    ahead = torch.arange(-699, 700)
    for buckets in (32, 64, 256):
        theirs = make_log_bucket_position(ahead, buckets, 512).long() + buckets
        config = {"model_type": "deberta-v2", "position_buckets": buckets, "max_position_embeddings": 512}
        found = Relative.of(config).places(700)
        assert found.tolist() == theirs.clamp(0, 2 * buckets - 1).tolist()


def test_buckets_by_hand():
    # four to each side, of which two are of one distance: 3 begins at 2 * 3.5 ** 0 and ends where all are one
    config = {"model_type": "deberta-v2", "position_buckets": 4, "max_relative_positions": 8}
    assert Relative.of(config).places(10)[9:].tolist() == [4, 5, 6, 7, 7, 7, 7, 7, 7, 7]
    assert Relative.of(config).places(10)[:10].tolist() == [0, 0, 1, 1, 1, 1, 1, 2, 3, 4]


def test_distances_of_the_first_are_counted_one_by_one():
    config = {"model_type": "deberta", "max_relative_positions": 3, "position_buckets": 2}
    assert Relative.of(config).places(6).tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 5]


@pytest.mark.parametrize("name", ["first", "second", "second, convolution", "third"])
def test_bfloat16_is_as_near_as_that_of_transformers(made, name):
    sequences = texts(LENGTHS)
    expected = hidden_states(made(name), sequences)[3]
    # The first one is refused by transformers in bfloat16; of the third the rounding is much the same.
    rounded = "third" if name == "first" else name
    theirs = hidden_states(made(rounded), sequences, torch.bfloat16)[3] - hidden_states(made(rounded), sequences)[3]
    for as_gpu in (False, True):
        found = layers(network(made(name), torch.bfloat16, as_gpu=as_gpu), sequences)[3]
        assert found.dtype == torch.bfloat16
        assert (found - expected).abs().mean() < 1.2 * theirs.abs().mean()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_without_fast_products_of_it(made, dtype, monkeypatch):
    monkeypatch.setattr(kernels, "prepares", lambda weight: False)
    sequences = texts([1, 5, 5, 30])
    expected = hidden_states(made("third"), sequences)[3]
    found = layers(network(made("third"), dtype), sequences)[3]
    assert (found - expected).abs().max() / expected.abs().max() < 0.03


@pytest.mark.parametrize(("dtype", "near"), [(torch.bfloat16, 0.03), (torch.float32, 1e-6)])
def test_scores_beyond_the_range_of_exponentials_have_their_maximum_subtracted(made, monkeypatch, dtype, near):
    sequences = texts([5, 5, 30])
    packed = network(made("third"), dtype)
    plain = layers(packed, sequences)[3]
    told = []
    monkeypatch.setattr(kernels, "exponentials", lambda weights: told.append(weights.zero_()))  # None: none were kept
    found = layers(packed, sequences)[3]
    assert told
    assert (found - plain).abs().max() / plain.abs().max() < near


@pytest.mark.parametrize("name", MODELS)
def test_a_texts_vectors_do_not_depend_on_its_company(made, name):
    packed = network(made(name), torch.float32)
    sequences = texts(LENGTHS)
    together = layers(packed, sequences)
    alone = [layers(packed, [ids]) for ids in sequences]
    for layer in range(4):
        one_by_one = torch.cat([states[layer] for states in alone])
        torch.testing.assert_close(one_by_one, together[layer], atol=5e-6, rtol=0)


def test_tables_grow_with_the_texts_and_those_of_the_longest_are_not_kept(made, monkeypatch):
    monkeypatch.setattr(disentangled, "_KEPT", 64)
    packed = network(made("third"))
    sizes = []
    for length in (5, 40, 33, 100):
        found = layers(packed, texts([length]))[3]
        torch.testing.assert_close(found, layers(network(made("third")), texts([length]))[3], atol=1e-12, rtol=0)
        sizes.append(packed._blocks[0].positions._state[0])
    assert sizes == [32, 64, 64, 64]


def test_types_are_read_with_and_without_positions(made):
    from transformers import AutoModel

    for name in ("first, positions and types", "second, linear"):
        ids, types = texts([7, 30]), [np.arange(n) % 2 for n in (7, 30)]
        model = AutoModel.from_pretrained(made(name)).eval()
        with torch.inference_mode(), network(made(name), torch.float32).cut(3) as forward:
            found, without = forward(ids, types), forward(ids)
            expected = [
                model(torch.from_numpy(i)[None], token_type_ids=torch.from_numpy(t)[None]).last_hidden_state[0]
                for i, t in zip(ids, types, strict=True)
            ]
        torch.testing.assert_close(found, torch.cat(expected), atol=1e-5, rtol=0)
        assert (found - without).abs().max() > 0.01


@pytest.mark.parametrize("layer", ["in_proj", "pos_proj", "pos_q_proj"])
def test_adapters_of_the_first_are_added_to_its_own_layers(made, tmp_path, layer):
    from safetensors.torch import load_file, save_file

    shutil.copytree(made("first"), tmp_path / "added")
    name = f"encoder.layer.1.attention.self.{layer}"
    weights = load_file(made("first") / "model.safetensors")
    # Small, so that attention stays away from the large values whose rounding it would multiply.
    drawn = torch.Generator().manual_seed(0)
    down, up = (0.3 * torch.randn(*shape, generator=drawn) for shape in ((2, 32), (len(weights[f"{name}.weight"]), 2)))
    weights[f"{name}.weight"] += up @ down
    save_file(weights, tmp_path / "added" / "model.safetensors", {"format": "pt"})
    sequences = texts([1, 5, 30])
    found = layers(network(made("first"), adapters={name: (down, up)}), sequences)[3]
    torch.testing.assert_close(found, hidden_states(tmp_path / "added", sequences)[3], atol=1e-5, rtol=0)
    assert (found - layers(network(made("first")), sequences)[3]).abs().max() > 0.01


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("first", "encoder.rel_embeddings.weight"),
        ("first", "encoder.layer.0.attention.self.in_proj.weight"),
        ("first", "encoder.layer.0.attention.self.q_bias"),
        ("first", "encoder.layer.0.attention.self.pos_proj.weight"),
        ("first", "encoder.layer.0.attention.self.pos_q_proj.bias"),
        ("second", "encoder.layer.0.attention.self.pos_key_proj.bias"),
        ("second", "embeddings.position_embeddings.weight"),
        ("third", "encoder.LayerNorm.bias"),
        ("third", "encoder.layer.0.attention.self.query_proj.weight"),
        ("second, convolution", "encoder.conv.conv.weight"),
    ],
)
def test_a_missing_weight_is_told_in_one_line(made, tmp_path, name, gone):
    from safetensors.torch import load_file, save_file

    shutil.copytree(made(name), tmp_path / "short")
    weights = load_file(made(name) / "model.safetensors")
    del weights[gone]
    save_file(weights, tmp_path / "short" / "model.safetensors")
    with pytest.raises(InputError, match=rf"'tiny': the weights hold no {gone}; is config\.json of this model") as told:
        layers(network(tmp_path / "short"), texts([3]))
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("name", "changes", "says"),
    [
        (
            "first",
            {"max_position_embeddings": 256},
            "max_relative_positions is 256 in config.json, expected 512 by the",
        ),
        ("first", {"max_relative_positions": 8}, "max_relative_positions is 8 in config.json, expected 512 by the"),
        ("third", {"position_buckets": 64}, "position_buckets is 64 in config.json, expected 32 by the weights"),
        ("first", {"hidden_size": 64}, "hidden_size is 64 in config.json, expected 32 by the weights"),
    ],
)
def test_a_configuration_that_is_not_of_the_weights_is_refused_at_once(made, tmp_path, name, changes, says):
    shutil.copytree(made(name), tmp_path / "other")
    path = tmp_path / "other" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")
    with pytest.raises(InputError) as told:
        network(tmp_path / "other")
    assert says in str(told.value)
    assert "\n" not in str(told.value)


def test_weights_of_another_shape_are_told_in_one_line(made, tmp_path):
    from safetensors.torch import load_file, save_file

    for name, tensor in {
        "pos_proj.weight": torch.zeros(32, 16),
        "pos_q_proj.bias": torch.zeros(16),
        "in_proj.weight": torch.zeros(32, 32),
        "q_bias": torch.zeros(16),
    }.items():
        folder = tmp_path / name
        shutil.copytree(made("first"), folder)
        weights = load_file(folder / "model.safetensors")
        weights[f"encoder.layer.0.attention.self.{name}"] = tensor
        save_file(weights, folder / "model.safetensors")
        shape = " x ".join(map(str, tensor.shape))
        with pytest.raises(
            InputError, match=rf"encoder\.layer\.0\..*{name} has shape {shape} in the weights, expected"
        ):
            layers(network(folder), texts([3]))


def test_names_with_the_prefix_of_a_model_are_read(made, tmp_path):
    from safetensors.torch import load_file, save_file

    name = "second, convolution"
    shutil.copytree(made(name), tmp_path / "prefixed")
    weights = {f"deberta.{key}": value for key, value in load_file(made(name) / "model.safetensors").items()}
    save_file(weights, tmp_path / "prefixed" / "model.safetensors")
    sequences = texts([1, 5, 30])
    for one, other in zip(
        layers(network(tmp_path / "prefixed"), sequences), layers(network(made(name)), sequences), strict=True
    ):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=0)


def test_an_encoder_takes_the_packed_forward_pass(tiny_model):
    from nlgauge.models.encoder import load_encoder
    from nlgauge.runtime.runtime import Runtime

    for kind in ("deberta", "deberta-v2"):
        network = load_encoder(str(tiny_model(kind)), None, "float32", Runtime(device="cpu")).network
        assert type(network).__name__ == "PackedBert"
