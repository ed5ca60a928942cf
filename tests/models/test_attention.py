"""Kernels held by torch's own: the same numbers, whichever way they are computed."""

import numpy as np
import pytest
import torch
from tests.models.conftest import changed
from torch.nn import functional

from nlgauge.core.errors import InputError
from nlgauge.models import attention
from nlgauge.models import attention as gpu
from nlgauge.models.attention import Relative
from nlgauge.models.locate import ModelFiles
from nlgauge.models.packing import PackedBert


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(dtype)


# numbers up to about 5: float32 keeps 7 digits of them, bfloat16 between 2 and 3
@pytest.mark.parametrize(("dtype", "near"), [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 0.05)])
@pytest.mark.parametrize("gelu", [False, True])
@pytest.mark.parametrize("rows", [1, 64, 200])  # 64 is what the weights are prepared for; others are right too
def test_a_linear_layer_is_torchs_for_any_number_of_rows(dtype, near, gelu, rows):
    weight, bias, states = random(32, 48, dtype=dtype) / 8, random(32, dtype=dtype), random(rows, 48, dtype=dtype)
    with torch.inference_mode():
        found = attention.linear(weight, bias, 64, gelu=gelu)(states)
    wanted = functional.linear(states.double(), weight.double(), bias.double())
    wanted = functional.gelu(wanted) if gelu else wanted
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), wanted, atol=near, rtol=0)


@pytest.mark.parametrize(("dtype", "near"), [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 0.05)])
def test_a_residual_is_added_to_the_product(dtype, near):
    weight, bias, states = random(32, 48, dtype=dtype) / 8, random(32, dtype=dtype), random(200, 48, dtype=dtype)
    more = states[:, :32].contiguous() / 4
    with torch.inference_mode():
        found = attention.residual(weight, bias, 64)(states, more.clone())
        after = attention.linear(weight, bias, 64)(states).add_(more)
    wanted = functional.linear(states.double(), weight.double(), bias.double()) + more.double()
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), wanted, atol=near, rtol=0)  # numbers up to about 5
    if dtype != torch.bfloat16:
        assert torch.equal(found, after)  # not a bit moves in the precisions that are kept from version to version
    elif attention.prepares(weight):
        assert (found - wanted).abs().mean() < 0.9 * (after - wanted).abs().mean()  # 0.7: one rounding, not two


def test_without_onednn_it_is_torchs(monkeypatch):
    weight, bias, states = random(8, 4), random(8), random(3, 4)
    monkeypatch.setattr(attention, "prepares", lambda weight: False)
    torch.testing.assert_close(
        attention.linear(weight, bias, 64)(states), functional.linear(states, weight, bias), atol=0, rtol=0
    )
    torch.testing.assert_close(
        attention.linear(weight, bias, 64, gelu=True)(states),
        functional.gelu(functional.linear(states, weight, bias)),
        atol=0,
        rtol=0,
    )


@pytest.mark.parametrize(
    ("dtype", "near"), [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 0.05)]
)  # as above
@pytest.mark.parametrize("length", [1, 7, 16, 31, 96, 97, 300])  # to 96 by matrix products, beyond by torch's kernel
@pytest.mark.parametrize("biased", [False, True])
def test_attention_is_softmax_of_scaled_products_and_a_bias(dtype, near, length, biased):
    n, heads, size = 3, 2, 4
    joined = random(n * length, 3 * heads * size, dtype=dtype)
    bias = [random(heads, length, length, dtype=torch.promote_types(dtype, torch.float32))] * biased
    out = torch.zeros(n * length, heads * size, dtype=dtype)
    with torch.inference_mode():
        attention.kernel_attention(joined, out, n, heads, *bias)
    query, key, value = joined.double().view(n, length, 3, heads, size).permute(2, 0, 3, 1, 4)
    weights = torch.softmax(query @ key.transpose(-1, -2) / size**0.5 + sum(b.double() for b in bias), dim=-1)
    wanted = (weights @ value).transpose(1, 2).reshape(n * length, heads * size)
    torch.testing.assert_close(out.double(), wanted, atol=near, rtol=0)


def softmax(joined, n, heads):
    """Attention in float32 by the softmax of each row, rounded at the end."""
    length, size = len(joined) // n, joined.shape[1] // 3 // heads
    query, key, value = joined.float().view(n, length, 3, heads, size).permute(2, 0, 3, 1, 4)
    weights = torch.softmax(query @ key.transpose(-1, -2) * size**-0.5, dim=-1)
    return (weights @ value).transpose(1, 2).reshape(n * length, heads * size).to(joined.dtype)


@pytest.mark.parametrize("scale", [0.01, 1, 3, 10, 100])  # scores of up to 3e-4, 3, 30, 300 and 30,000
@pytest.mark.parametrize("length", [1, 16, 48])
def test_scores_of_any_size_give_the_softmax_in_bfloat16(length, scale):
    joined = random(3 * length, 3 * 8, dtype=torch.bfloat16) * scale
    out = torch.zeros(3 * length, 8, dtype=torch.bfloat16)
    attention.kernel_attention(joined, out, 3, 2)
    # the same float32 numbers but for their last digits: some are rounded the other way, by 1 of 2^7 to 2^8
    torch.testing.assert_close(out, softmax(joined, 3, 2), atol=1e-3 * scale, rtol=2**-7)


@pytest.mark.parametrize(("query", "key"), [(30, 30), (30, -30), (-30, 30)])
def test_a_row_far_from_the_others_keeps_its_weights(query, key):
    # one text's scores are 900 * 4 / 2 = 1800 or -1800, whose exponentials are infinite or 0; the other's are 0
    joined = torch.zeros(4, 12, dtype=torch.bfloat16)
    joined[:2, :4], joined[:2, 4:8] = query, key
    joined[:, 8:] = torch.tensor([1, 2, 3, 4], dtype=torch.bfloat16)[:, None]
    out = torch.zeros(4, 4, dtype=torch.bfloat16)
    attention.kernel_attention(joined, out, 2, 1)
    assert out[:, 0].tolist() == [1.5, 1.5, 3.5, 3.5]  # equal scores: the mean of the text's own values


def test_attention_in_float32_and_beyond_bfloat16_subtracts_the_maximum(monkeypatch):
    def refuse(*arguments):
        raise AssertionError

    monkeypatch.setattr(attention, "_without_maximum", refuse)
    for dtype in (torch.float64, torch.float32, torch.float16):  # their numbers are kept from version to version
        attention.kernel_attention(random(6, 24, dtype=dtype), torch.zeros(6, 8, dtype=dtype), 2, 2)


def test_a_text_attends_to_itself_alone():
    joined = random(10, 24)
    both, first = torch.zeros(10, 8), torch.zeros(5, 8)
    attention.kernel_attention(joined, both, 2, 2)
    attention.kernel_attention(joined[:5], first, 1, 2)
    torch.testing.assert_close(
        both[:5], first, atol=1e-6, rtol=0
    )  # float32; how many matrices are multiplied may change the last digit


# --- DeBERTa's attention: distances and buckets, and every layer, against transformers

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
    "third": ("deberta-v2", {**BOTH, **THIRD, "pos_att_type": "p2c|c2p"}),
    "third, few buckets": ("deberta-v2", {**BOTH, **THIRD, "position_buckets": 8, "max_relative_positions": 64}),
}
LENGTHS = [1, 2, 2, 5, 30, 96, 97, 128, 129, 129, 320]  # around where kernels change
FAR = [600]  # beyond all distances that are told apart


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


DAILY = {"first", "third"}
SOME, MORE = (
    [name if name in daily else pytest.param(name, marks=pytest.mark.slow) for name in MODELS]
    for daily in (DAILY, DAILY | {"first, positions and types", "first, to keys", "second, linear"})
)


@pytest.mark.parametrize("name", MORE)
def test_in_float64_nothing_but_rounding_is_left(made, name):
    sequences = texts(lengths_of(name))
    expected = hidden_states(made(name), sequences)
    for as_gpu in (False, True):
        for found, theirs in zip(layers(network(made(name), as_gpu=as_gpu), sequences), expected, strict=True):
            torch.testing.assert_close(found, theirs, atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", SOME)
def test_every_layer_is_that_of_transformers(made, name):
    sequences = texts(lengths_of(name))
    expected = hidden_states(made(name), sequences, torch.float32)
    for as_gpu in (False, True):
        packed = network(made(name), torch.float32, as_gpu=as_gpu)
        for found, theirs in zip(layers(packed, sequences), expected, strict=True):
            torch.testing.assert_close(found, theirs, atol=1e-5, rtol=0)


def test_distances_have_the_buckets_of_transformers():
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    ahead = torch.arange(-699, 700)
    for n in (32, 64, 256):
        theirs = make_log_bucket_position(ahead, n, 512).long() + n
        config = {"model_type": "deberta-v2", "position_buckets": n, "max_position_embeddings": 512}
        found = Relative.of(config).places(700)
        assert found.tolist() == theirs.clamp(0, 2 * n - 1).tolist()


@pytest.mark.parametrize("name", ["first", "third"])
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
    monkeypatch.setattr(attention, "prepares", lambda weight: False)
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
    monkeypatch.setattr(attention, "exponentials", lambda weights: told.append(weights.zero_()))  # None: none were kept
    found = layers(packed, sequences)[3]
    assert told
    assert (found - plain).abs().max() / plain.abs().max() < near


def test_tables_grow_with_the_texts_and_those_of_the_longest_are_not_kept(made, monkeypatch):
    monkeypatch.setattr(attention, "_KEPT", 64)
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
    from safetensors.torch import load_file

    name = f"encoder.layer.1.attention.self.{layer}"
    weights = load_file(made("first") / "model.safetensors")
    # Small, so that attention stays away from the large values whose rounding it would multiply.
    drawn = torch.Generator().manual_seed(0)
    down, up = (0.3 * torch.randn(*shape, generator=drawn) for shape in ((2, 32), (len(weights[f"{name}.weight"]), 2)))
    folder = changed(made("first"), tmp_path / "added", more={f"{name}.weight": weights[f"{name}.weight"] + up @ down})
    sequences = texts([1, 5, 30])
    found = layers(network(made("first"), adapters={name: (down, up)}), sequences)[3]
    torch.testing.assert_close(found, hidden_states(folder, sequences)[3], atol=1e-5, rtol=0)
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
    ],
)
def test_a_missing_weight_is_told_in_one_line(made, tmp_path, name, gone):
    short = changed(made(name), tmp_path / "short", keep=lambda key: key != gone)
    with pytest.raises(InputError, match=rf"'tiny': the weights hold no {gone}; is config\.json of this model") as told:
        layers(network(short), texts([3]))
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
    with pytest.raises(InputError) as told:
        network(changed(made(name), tmp_path / "other", changes))
    assert says in str(told.value)
    assert "\n" not in str(told.value)


def test_weights_of_another_shape_are_told_in_one_line(made, tmp_path):
    for name, tensor in {
        "pos_proj.weight": torch.zeros(32, 16),
        "pos_q_proj.bias": torch.zeros(16),
        "in_proj.weight": torch.zeros(32, 32),
        "q_bias": torch.zeros(16),
    }.items():
        folder = changed(made("first"), tmp_path / name, more={f"encoder.layer.0.attention.self.{name}": tensor})
        shape = " x ".join(map(str, tensor.shape))
        with pytest.raises(
            InputError, match=rf"encoder\.layer\.0\..*{name} has shape {shape} in the weights, expected"
        ):
            layers(network(folder), texts([3]))


def test_names_with_the_prefix_of_a_model_are_read(made, tmp_path):
    name, sequences = "third", texts([1, 5, 30])
    prefixed = changed(made(name), tmp_path / "prefixed", rename=lambda key: f"deberta.{key}")
    for one, other in zip(layers(network(prefixed), sequences), layers(network(made(name)), sequences), strict=True):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=0)


# --- Attention of several lengths at once is that of each text alone; what only a GPU has is stood in for

HEADS, SIZE = 2, 4
UP_TO_FORTY = np.array([1, 3, 16, 17, 17, 40])
ROUNDING = 1e-6


def one_by_one(joined, lengths=UP_TO_FORTY):
    """The definition: softmax of scaled products within each text; rows beyond the last text are 0."""
    mixed, start = torch.zeros(len(joined), HEADS * SIZE), 0
    for length in lengths.tolist():
        query, key, value = joined[start : start + length].view(length, 3, HEADS, SIZE).permute(1, 2, 0, 3)
        weights = torch.softmax(query @ key.transpose(1, 2) / SIZE**0.5, dim=-1)
        mixed[start : start + length] = (weights @ value).transpose(0, 1).reshape(length, -1)
        start += length
    return mixed


@pytest.fixture
def joined():
    return torch.randn(128, 3 * HEADS * SIZE, generator=torch.Generator().manual_seed(0))


def test_texts_of_about_one_length_share_a_padded_batch(joined, monkeypatch):
    calls, kernel = [], torch.nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        gpu.functional,
        "scaled_dot_product_attention",
        lambda q, *rest, **how: calls.append(q.shape) or kernel(q, *rest, **how),
    )
    found = gpu.packed_attention(UP_TO_FORTY, HEADS, CPU, torch.float32)(joined)
    torch.testing.assert_close(found, one_by_one(joined), atol=ROUNDING, rtol=0)
    assert [shape[0::2] for shape in calls] == [(3, 16), (2, 32), (1, 48)]  # texts, and the length they are padded to


def test_packed_texts_are_handed_over_where_they_lie(joined):
    def kernel(query, key, value, starts, of_keys, longest, longest_key):
        assert starts is of_keys
        assert (longest, longest_key) == (40, 40)
        assert starts.dtype == torch.int32
        parts = torch.stack([query, key, value], dim=1).reshape(len(query), -1)
        return one_by_one(parts, np.diff(starts.numpy())).view(len(query), HEADS, SIZE)

    found = gpu._packed(UP_TO_FORTY, HEADS, CPU, kernel)(joined)
    torch.testing.assert_close(found, one_by_one(joined), atol=ROUNDING, rtol=0)


def test_torch_has_the_kernel_for_packed_texts_with_these_arguments():
    from inspect import signature

    kernel = gpu._flash_attention()
    if kernel is None:
        pytest.skip("torch before 2.10")
    assert list(signature(kernel).parameters)[:7] == ["query", "key", "value", "cu_seq_q", "cu_seq_k", "max_q", "max_k"]
