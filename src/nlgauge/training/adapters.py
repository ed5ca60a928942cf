"""Low-rank adapters on every linear layer: added with peft, saved as plain matrices.

References:
    Hu et al. (2022), "LoRA: Low-Rank Adaptation of Large Language Models".
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from types import MethodType
from typing import Any

import torch

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.models.heads import Head
from nlgauge.models.locate import ModelFiles

_ADAPTER = "default"  # peft's own name of the first adapter


def add_adapters(model: Any, rank: int, alpha: float) -> Any:
    """The model with an adapter on each linear layer of its encoder.

    The encoder's own weights are frozen; the layers on top of the encoder learn.

    Args:
        model: a transformers model.
        rank: the rank of each update.
        alpha: the update is scaled by alpha / rank.

    Raises:
        InputError: the rank is below 1, alpha is 0 or below, or the encoder has no linear layers (GPT-2).
        MissingExtra: peft is not installed.
    """
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError:
        raise MissingExtra("training with adapters", "train") from None
    if rank < 1:
        raise InputError(f"rank is {rank}, expected 1 or more")
    if not 0 < alpha < math.inf:
        raise InputError(f"alpha is {alpha}, expected more than 0")
    encoder = getattr(model, model.base_model_prefix, model)
    above = (
        []
        if encoder is model
        else [name for name, part in model.named_children() if part is not encoder and list(part.parameters())]
    )
    linear = {id(part) for part in encoder.modules() if isinstance(part, torch.nn.Linear)}
    layers = [name for name, part in model.named_modules() if id(part) in linear]
    if not layers:
        raise InputError(
            f"a model of type {model.config.model_type!r} has no linear layers to adapt; use method full or frozen"
        )
    scale: Any = alpha  # peft declares whole numbers and takes any
    config = LoraConfig(
        r=rank, lora_alpha=scale, lora_dropout=0.0, target_modules=layers, modules_to_save=above or None
    )
    with warnings.catch_warnings():  # peft asks in a way that later releases of transformers frown upon
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing` is deprecated", FutureWarning)
        peft_model = get_peft_model(model, config)
    for module in adapted(peft_model).values():
        module.forward = MethodType(_forward, module)
    return peft_model


def adapted(model: Any) -> dict[str, Any]:
    """The adapted layers of a model, by the names they had before adaptation."""
    layers = {}
    for name, module in model.named_modules():
        if hasattr(module, "lora_A") and _ADAPTER in module.lora_A:
            layers[name.removeprefix("base_model.model.")] = module
    return layers


def adapter_tensors(model: Any) -> dict[str, torch.Tensor]:
    """`<layer>.lora_a` (rank, in) and `<layer>.lora_b` (out, rank) in float16; `lora_b` includes the scaling.

    The updated weights are W + lora_b @ lora_a.
    """
    tensors = {}
    for name, module in adapted(model).items():
        scale = module.scaling[_ADAPTER]
        tensors[f"{name}.lora_a"] = module.lora_A[_ADAPTER].weight.detach().float().cpu().half().contiguous()
        tensors[f"{name}.lora_b"] = (module.lora_B[_ADAPTER].weight.detach().float().cpu() * scale).half().contiguous()
    return tensors


def set_adapters(model: Any, tensors: Mapping[str, torch.Tensor]) -> None:
    """Start from the adapters of a head instead of from zero.

    Raises:
        InputError: the head has other layers or another rank.
    """
    with torch.no_grad():
        for name, module in adapted(model).items():
            scale = module.scaling[_ADAPTER]
            for part, factor in (("a", 1.0), ("b", 1 / scale)):
                weight = (module.lora_A if part == "a" else module.lora_B)[_ADAPTER].weight
                tensor = tensors.get(f"{name}.lora_{part}")
                if tensor is None or tensor.shape != weight.shape:
                    what = "nothing" if tensor is None else f"shape {tuple(tensor.shape)}"
                    expected = f"expected shape {tuple(weight.shape)}; is its rank another?"
                    raise InputError(f"the head to begin from has {what} for {name}.lora_{part}, {expected}")
                weight.copy_(tensor.float() * factor)


def begin_adapters(model: Any, head: Head, files: ModelFiles) -> None:
    """Start from the adapters of a head, in the rank of the model: of each product the largest singular values.

    A model of a higher rank keeps its new adapters beside them.

    Args:
        model: with adapters.
        head: to begin from.
        files: of the encoder of the model.

    Raises:
        InputError: the head is one for another encoder, or has no adapter for a layer.
    """
    if head.encoder.weights_digest != files.weights_digest:
        raise InputError(f"head {head.path} stands on another encoder than {files.name!r}; begin from one on the same")
    made = {}
    given = head.tensors()[1]
    for name, module in adapted(model).items():
        if name not in given:
            continue  # set_adapters names it
        down, up = given[name]
        weight = module.lora_A[_ADAPTER].weight
        rank = min(len(weight), len(down))
        left, values, right = torch.linalg.svd(up.double() @ down.double(), full_matrices=False)
        root = values[:rank].sqrt()
        made[f"{name}.lora_a"], new = weight.detach().float().cpu().clone(), module.lora_B[_ADAPTER].weight
        made[f"{name}.lora_b"] = torch.zeros(new.shape)
        made[f"{name}.lora_a"][:rank] = (root[:, None] * right[:rank]).float()
        made[f"{name}.lora_b"][:, :rank] = (left[:, :rank] * root).float()
    set_adapters(model, made)


def _forward(module: Any, states: torch.Tensor) -> torch.Tensor:
    """The output of peft's layer, in one sum and without copies in other precisions.

    On processors these take a third of the time.
    """
    base, scale = module.base_layer, module.scaling[_ADAPTER]
    kind = (
        torch.get_autocast_dtype(states.device.type)
        if torch.is_autocast_enabled(states.device.type)
        else base.weight.dtype
    )
    weight, bias = base.weight.to(kind), None if base.bias is None else base.bias.to(kind)
    apply: Callable[..., torch.Tensor] = _Adapted.apply
    out = apply(states.to(kind), weight, bias, module.lora_A[_ADAPTER].weight, module.lora_B[_ADAPTER].weight, scale)
    # Out here, so that a model may change its parts in place (DeBERTa).
    found: torch.Tensor = out.unflatten(0, states.shape[:-1])
    return found


class _Adapted(torch.autograd.Function):
    """x (W + scale B A)ᵀ + b with frozen W and b, its parts added up where they are made."""

    @staticmethod
    def forward(ctx: Any, states: Any, weight: Any, bias: Any, a: Any, b: Any, scale: float) -> Any:
        x, low_a, low_b = states.flatten(0, -2), a.to(weight.dtype), (b * scale).to(weight.dtype)
        low = x @ low_a.T  # (N, rank)
        out = x @ weight.T if bias is None else torch.addmm(bias, x, weight.T)  # (N, out)
        out.addmm_(low, low_b.T)
        ctx.save_for_backward(x, low, weight, low_a, low_b)
        ctx.scale, ctx.shape = scale, states.shape
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, low, weight, low_a, low_b = ctx.saved_tensors
        g_low = g @ low_b  # (N, rank)
        back = (g @ weight).addmm_(g_low, low_a).view(ctx.shape) if ctx.needs_input_grad[0] else None
        return back, None, None, (g_low.T @ x).float(), (g.T @ low).float() * ctx.scale, None
