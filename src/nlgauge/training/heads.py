"""What trainings share: an encoder with adapters below new layers, its batches, and the files that it becomes."""

from __future__ import annotations

import json
import math
import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from inspect import signature
from pathlib import Path
from types import MethodType
from typing import Any, TypeVar

import numpy as np
import torch
from safetensors.torch import save

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.core.result import FileDraft, check_target, replacing
from nlgauge.models.entailment import LABELS
from nlgauge.models.heads import FORMAT, SUFFIX, VERSION, Head
from nlgauge.models.hub import from_pretrained
from nlgauge.models.locate import ModelFiles
from nlgauge.models.tokens import Ids
from nlgauge.training.recipe import Recipe

Network = TypeVar("Network", bound=torch.nn.Module)
FEATURES = "cls,mean"  # of the last layer: the first vector, and the mean of all, special tokens included
_HEADED = ("bert", "mpnet")  # model types whose heads are loaded again
_TOKENIZER = ("*token*.json", "vocab*", "merges*", "*.model", "*.spm")


class HeadNetwork(torch.nn.Module):
    """An encoder of transformers whose first vector and mean vector are the input of one linear layer."""

    def __init__(self, encoder: Any, width: int, outputs: int = len(LABELS)) -> None:
        super().__init__()
        self.encoder = encoder
        self._typed = reads_types(encoder)
        self.classifier = torch.nn.Linear(2 * width, outputs)

    def forward(self, **inputs: torch.Tensor) -> torch.Tensor:
        """Logits, float32, shape (n, outputs)."""
        if not self._typed:
            del inputs["token_type_ids"]
        states = self.encoder(**inputs)[0].float()
        mask = inputs["attention_mask"][:, :, None]
        mean = (states * mask).sum(1) / mask.sum(1)
        with torch.autocast(states.device.type, enabled=False):
            logits: torch.Tensor = self.classifier(torch.cat([states[:, 0], mean], dim=1))
        return logits


def reads_types(model: Any) -> bool:
    """Whether a transformers model, with adapters or without, reads the types of its pieces."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    return "token_type_ids" in signature(base.forward).parameters


def own_tensors(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The weights of a network above its `encoder`, by their names in a head file."""
    return {
        name: tensor.detach().float().cpu().contiguous()
        for name, tensor in network.state_dict().items()
        if not name.startswith("encoder.")
    }


def head_network(
    files: ModelFiles, rank: int, alpha: float, dropout: float, seed: int, narrow: bool, outputs: int = len(LABELS)
) -> HeadNetwork:
    """An encoder with new adapters and a new classifier of so many outputs; see `adapted_network`."""

    def above(encoder: Any) -> HeadNetwork:
        return HeadNetwork(encoder, files.config["hidden_size"], outputs)

    return adapted_network(above, files, rank, alpha, dropout, seed, narrow)


def adapted_network(
    above: Callable[[Any], Network], files: ModelFiles, rank: int, alpha: float, dropout: float, seed: int, narrow: bool
) -> Network:
    """An encoder, BERT or MPNet, with new adapters below new layers; `narrow` keeps frozen weights in bfloat16."""
    encoder = encoder_below(files, dropout)
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        network = above(add_adapters(encoder, rank, alpha))
    if narrow:
        narrow_frozen(network)
    return network


def encoder_below(files: ModelFiles, dropout: float) -> Any:
    """The encoder below a head; refused if it is neither BERT nor MPNet."""
    from transformers import AutoModel

    files.check()
    if files.config.get("model_type") not in _HEADED:
        raise InputError(
            f"a head is made for encoders of type bert or mpnet, {files.name!r} is {files.config.get('model_type')!r};"
            " name a folder as the output"
        )
    return with_dropout(AutoModel, files, dropout, add_pooling_layer=False)


def with_dropout(kind: Any, files: ModelFiles, dropout: float, **options: Any) -> Any:
    """A model of a transformers class with its weights, for training, with this dropout in all its layers."""
    # Eager attention: torch's fused one has no fast way in bfloat16 on processors, where it takes half of the time.
    model = from_pretrained(kind, files, dtype=torch.float32, attn_implementation="eager", **options)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = dropout
    return model


def narrow_frozen(network: torch.nn.Module) -> None:
    """Keep frozen weights in bfloat16."""
    for parameter in network.parameters():
        if not parameter.requires_grad:
            parameter.data = parameter.data.to(torch.bfloat16)


def arithmetic(device: torch.device, dtype: str) -> AbstractContextManager[Any]:
    """The context in which a network runs: autocast for bfloat16, nothing for float32."""
    return torch.autocast(device.type, torch.bfloat16) if dtype == "bfloat16" else nullcontext()


def pad_of(files: ModelFiles) -> int:
    """The id that pads a batch; any id will do, since padding is masked."""
    return int(files.config.get("pad_token_id") or 0)


def padded(rows: Sequence[Ids], types: Sequence[Ids] | None, pad: int, device: torch.device) -> dict[str, torch.Tensor]:
    """The inputs of a network for some sequences, padded to the longest of them; types are 0 where none are given."""
    ids = np.full((len(rows), max(len(row) for row in rows)), pad, dtype=np.int64)
    mask, kinds = np.zeros_like(ids), np.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)], mask[i, : len(row)] = row, 1
        if types is not None:
            kinds[i, : len(row)] = types[i]
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
    return {name: torch.from_numpy(array).to(device) for name, array in inputs.items()}


# --- Low-rank adapters on every linear layer (Hu et al. 2022, "LoRA"): added with peft, saved as plain matrices

_ADAPTER = "default"  # peft's own name of the first adapter


def add_adapters(model: Any, rank: int, alpha: float) -> Any:
    """The model with an adapter on each linear layer of its encoder, whose own weights are frozen; layers above learn.

    Raises:
        InputError: rank or alpha is out of range, or the encoder has no linear layers (GPT-2).
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
    """Start from the adapters of a head instead of from zero; one of other layers or another rank is refused."""
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

    A model of a higher rank keeps its new adapters beside them. A head for another encoder is refused.
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


# --- Files: a small safetensors file beside the embedded encoder, or a transformers folder


def head_metadata(
    kind: str, recipe: Recipe, files: ModelFiles, dtype: str, about: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The metadata of every head: its kind, its encoder, limits of its recipe, and what its maker adds."""
    fixed = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "encoder": recipe.model,
        "encoder_sha256": files.weights_digest,
        "max_tokens": str(recipe.max_tokens),
        "dtype": dtype,
    }
    if recipe.has_adapters:
        fixed["rank"] = str(recipe.rank)
    if recipe.revision is not None:
        fixed["encoder_revision"] = recipe.revision
    return {"name": "", "recipe": "", "data": "", **(about or {}), **fixed}


def write_head(path: str | os.PathLike[str], tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors and metadata as a safetensors file, whole or not at all; the same weights make the same bytes."""
    with replacing(path, "wb") as file:
        file.write(_in_order(save(dict(tensors), dict(metadata))))


def _in_order(data: bytes) -> bytes:
    """A safetensors file with a sorted header, so that the same weights make the same bytes."""
    size = int.from_bytes(data[:8], "little")
    header = json.dumps(
        json.loads(data[8 : 8 + size]), sort_keys=True, ensure_ascii=False, separators=(",", ":")
    ).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data[8 + size :]


def check_output(output: str, method: str) -> None:
    """Refuse an output that cannot be written, or a head of a method that changes the whole encoder."""
    if not output.endswith(SUFFIX):
        check_folder(output)
        return
    check_target(output)
    if method == "full":
        raise InputError(
            f"{output}: a head holds adapters, method full changes everything; name a folder (no .safetensors) for the"
            " model"
        )


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a folder that cannot be created, or that is not empty."""
    target = Path(path)
    if os.path.exists(target) and (not target.is_dir() or any(target.iterdir())):
        raise InputError(
            f"{target} is there already, expected a new folder for the model; name another, or end the name in"
            " .safetensors for a head"
        )
    if not os.path.exists(target):
        check_target(target)


@contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder that takes its final name only when everything in it is written; after an error nothing is left."""
    check_folder(path)
    target = Path(path)
    try:
        draft = FileDraft(os.fspath(target.resolve()), is_folder=True)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from None
    beside = Path(draft.path)
    try:
        yield beside
        umask = os.umask(0)
        os.umask(umask)
        beside.chmod(0o777 & ~umask)
        if target.exists():
            target.rmdir()
        os.replace(beside, target)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        draft.discard()


def save_encoder(folder: Path, model: Any, files: ModelFiles) -> None:
    """Write a model, adapters merged, as transformers reads it, with the tokenizer of the files it began from."""
    if hasattr(model, "merge_and_unload"):
        model = model.float().merge_and_unload()
    model.save_pretrained(str(folder), safe_serialization=True)
    for path in (path for pattern in _TOKENIZER for path in files.folder.glob(pattern)):
        shutil.copy(path, folder)
