"""Adapters: on every linear layer, saying what peft's say, taken off as matrices that merge to the same model."""

import warnings
from importlib.util import find_spec

import pytest

if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)

import torch
from transformers import AutoModel

from nlgauge.core.errors import InputError
from nlgauge.training.adapters import adapted, adapter_tensors, add_adapters, set_adapters

LAYERS = {f"attention.self.{part}" for part in ("query", "key", "value")} | {
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
}
NAMES = {f"encoder.layer.{i}.{layer}" for i in range(3) for layer in LAYERS}
INPUTS = {"input_ids": torch.tensor([[2, 5, 7, 3], [2, 6, 8, 3]])}


@pytest.fixture
def encoder(tiny_model):
    return AutoModel.from_pretrained(tiny_model("bert"), add_pooling_layer=False).eval()


def stirred(model):
    """Updates that are not 0, as they are before training."""
    torch.manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                parameter.normal_(0, 0.2)
            assert parameter.requires_grad == ("lora_" in name)
    return model


def test_every_linear_layer_gets_one_and_all_else_is_frozen(encoder):
    model = stirred(add_adapters(encoder, 4, 8.0))
    assert set(adapted(model)) == NAMES


def test_fresh_adapters_change_nothing(encoder):
    before = encoder(**INPUTS)[0]
    assert torch.equal(add_adapters(encoder, 4, 8.0).eval()(**INPUTS)[0], before)


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
    plain = AutoModel.from_pretrained(tiny_model("bert"), add_pooling_layer=False).eval()
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
    other = add_adapters(AutoModel.from_pretrained(tiny_model("bert"), add_pooling_layer=False), 4, 8.0)
    set_adapters(other, tensors)
    again = adapter_tensors(other)
    assert all(torch.equal(tensors[name], again[name]) for name in tensors)


def test_a_head_of_another_rank_is_refused(encoder, tiny_model):
    tensors = adapter_tensors(add_adapters(encoder, 4, 8.0))
    other = add_adapters(AutoModel.from_pretrained(tiny_model("bert"), add_pooling_layer=False), 2, 8.0)
    with pytest.raises(
        InputError, match=r"has shape \(4, 32\) for .*lora_a, expected shape \(2, 32\); is its rank another\?"
    ):
        set_adapters(other, tensors)


def test_a_rank_below_one_is_refused(encoder):
    with pytest.raises(InputError, match="rank is 0"):
        add_adapters(encoder, 0, 8.0)


def test_nothing_is_warned_of(encoder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        add_adapters(encoder, 4, 8.0)


@pytest.mark.parametrize("alpha", [0.0, -1.0, float("nan"), float("inf")])
def test_an_alpha_that_scales_nothing_is_refused(encoder, alpha):
    with pytest.raises(InputError, match="alpha is"):
        add_adapters(encoder, 4, alpha)


def test_a_model_may_change_its_adapted_layers_in_place(tiny_model):
    # DeBERTa adds a bias to parts of what a layer gives
    model = add_adapters(AutoModel.from_pretrained(tiny_model("deberta")), 2, 4.0)
    model(input_ids=torch.tensor([[0, 5, 6, 2]]))[0].sum().backward()
    assert any(p.grad is not None and p.grad.any() for name, p in model.named_parameters() if "lora_B" in name)


def test_an_encoder_without_linear_layers_is_refused(tiny_model):
    with pytest.raises(InputError, match=r"of type 'gpt2' has no linear layers to adapt; use method full or frozen"):
        add_adapters(AutoModel.from_pretrained(tiny_model("gpt2")), 2, 4.0)
