"""Any transformers encoder: batches of equal length, cut after the layer asked for."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from typing import Any

import numpy as np
import torch

from nlgauge.core.errors import InputError
from nlgauge.models.locate import ModelFiles
from nlgauge.models.tokens import Ids
from nlgauge.runtime.batching import runs

_STACKS = ("layer", "layers", "block", "h")
_COUNTED = {"xlm", "flaubert"}  # families whose forward pass counts to n_layers, over several lists of parts
_DERIVED = ("inv_freq", "masked_bias", "position_ids")  # computed, though old checkpoints store them


class HubNetwork:
    """A transformers model behind `Network`.

    The model is cut to `layer` blocks, as bert_score cuts it: where a model ends in a norm of its own (pre-norm
    families such as T5 and mBART), that norm is applied to the cut model's output. For post-norm models this equals
    hidden_states[layer].

    Raises:
        InputError: no safetensors; or weights that do not fill the model, or that the installed transformers has no
            place for.
    """

    def __init__(self, files: ModelFiles, dtype: torch.dtype, device: torch.device) -> None:
        model, info = load_pretrained(files, dtype)
        missing = {id(parameter) for name, parameter in model.named_parameters() if name in info["missing_keys"]}
        if getattr(model.config, "is_encoder_decoder", False):
            model = model.get_encoder()
        self.model: Any = model.eval().to(device)
        self.device = device
        self.name = files.name
        self.width: int = int(getattr(model.config, "hidden_size", None) or model.config.d_model)
        self.batch_tokens = 1024 if device.type == "cpu" else 65536
        self.depth = files.depth
        self._lock = threading.RLock()
        self._owner, self._stack = _stack(model, self.depth)
        self._check(missing, info["unexpected_keys"])

    @contextmanager
    def cut(self, layer: int) -> Iterator[Callable[[Sequence[Ids]], torch.Tensor]]:
        """See `Network.cut`; the model keeps its first `layer` blocks only while the context lasts."""
        if layer == 0 and self.model.config.model_type == "deberta-v2":  # its forward pass fails without a block
            with self.cut(1):
                yield lambda sequences: self._forward(sequences, output_hidden_states=True)
            return
        config = self.model.config
        with self._lock:
            whole = getattr(self._owner, self._stack)
            setattr(
                self._owner, self._stack, layer if isinstance(whole, int) else torch.nn.ModuleList(list(whole)[:layer])
            )
            counts = (
                (config.num_hidden_layers, config.num_hidden_groups) if self._stack == "albert_layer_groups" else None
            )
            if counts:
                config.num_hidden_layers = config.num_hidden_groups = layer
            try:
                yield self._forward
            finally:
                setattr(self._owner, self._stack, whole)
                if counts:
                    config.num_hidden_layers, config.num_hidden_groups = counts

    def _forward(self, sequences: Sequence[Ids], **asked: bool) -> torch.Tensor:
        out = []
        for low, high in runs([len(s) for s in sequences]):
            ids = torch.from_numpy(np.stack(sequences[low:high])).to(self.device)
            output = self.model(input_ids=ids, attention_mask=torch.ones_like(ids), **asked)
            states = output.hidden_states[0] if asked else output[0]
            out.append(states.reshape(-1, states.shape[-1]))
        return torch.cat(out)

    def _check(self, missing: set[int], unexpected: Sequence[str]) -> None:
        """Refuse what transformers only warns of: weights made up at random, and weights left aside."""
        random = [
            name
            for name, parameter in self.model.named_parameters()
            if id(parameter) in missing and "pooler" not in name
        ]
        if random:
            raise InputError(
                f"model {self.name!r}: the weights hold no {random[0]} ({len(random)} missing); is config.json of this"
                " model?"
            )
        path = next(name for name, module in self.model.named_modules() if module is self._owner)
        within = re.compile(rf"(?:^|\.){re.escape(f'{path}.{self._stack}' if path else self._stack)}\.(\d+)\.")
        for key in sorted(unexpected):
            match = within.search(key)
            if match and int(match[1]) < self.depth and not key.endswith(_DERIVED):
                raise InputError(
                    f"model {self.name!r}: the installed transformers has no place for {key}, so its vectors would not"
                    " be this model's"
                )


class HubModel:
    """A whole model of transformers, placed on a device, for batches of equal length.

    Args:
        files: where the model is.
        dtype: of weights and activations.
        device: where it computes.
        kind: the automatic class of transformers that it is loaded with.
        doubt: what a user might ask whose weights do not fill it.

    Raises:
        InputError: no safetensors, or weights that do not fill the model: transformers would draw the rest at random.
    """

    def __init__(self, files: ModelFiles, dtype: torch.dtype, device: torch.device, kind: str, doubt: str) -> None:
        model, info = load_pretrained(files, dtype, kind)
        check_filled(files, model, info, doubt)
        self.model: Any = model.eval().to(device)
        self.device = device
        self.batch_tokens = 1024 if device.type == "cpu" else 65536
        self._typed = "token_type_ids" in signature(model.forward).parameters


def load_pretrained(files: ModelFiles, dtype: torch.dtype, kind: str = "AutoModel") -> tuple[Any, Any]:
    """The whole model as one of transformers' automatic classes has it, and what transformers says of its weights.

    Raises:
        InputError: no safetensors, or nothing that this class can load.
    """
    import transformers

    loaded: tuple[Any, Any] = from_pretrained(getattr(transformers, kind), files, dtype=dtype, output_loading_info=True)
    return loaded


def from_pretrained(kind: Any, files: ModelFiles, **options: Any) -> Any:
    """A model of a class of transformers, from safetensors on this machine and without running code that came with it.

    Args:
        kind: a class of transformers, such as `AutoModel`.
        files: where the model is.
        options: for `from_pretrained` of the class.

    Raises:
        InputError: no safetensors, or nothing that this class can load.
    """
    from transformers.utils import logging

    files.weight_files()
    logging.disable_progress_bar()
    level = logging.get_verbosity()
    logging.set_verbosity_error()  # which weights have no place, or which are new, we ask and say ourselves
    try:
        return kind.from_pretrained(
            str(files.folder), use_safetensors=True, trust_remote_code=False, local_files_only=True, **options
        )
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"model {files.name!r} cannot be loaded from {files.folder}: {reason[:200]}") from None
    finally:
        logging.set_verbosity(level)


def check_filled(files: ModelFiles, model: Any, info: Any, doubt: str) -> None:
    """Refuse a model with parameters that no weight fills: transformers would draw them at random.

    Args:
        files: of the model.
        model: as loaded.
        info: what transformers says of its weights.
        doubt: the question that the error ends with.
    """
    missing = [name for name, _ in model.named_parameters() if name in info["missing_keys"]]
    if missing:
        raise InputError(f"model {files.name!r}: the weights hold no {missing[0]} ({len(missing)} missing); {doubt}")


def _stack(model: Any, depth: int) -> tuple[Any, str]:
    """Where the blocks of a model are: the module, and its attribute to shorten."""
    config = model.config
    if config.model_type == "albert":
        # A group of blocks serves several layers in a row; listed once per layer, the stack can be cut like any other.
        owner = model.encoder
        groups = list(owner.albert_layer_groups)
        owner.albert_layer_groups = torch.nn.ModuleList([groups[i * len(groups) // depth] for i in range(depth)])
        config.num_hidden_groups = depth
        return owner, "albert_layer_groups"
    if config.model_type in _COUNTED:
        return model, "n_layers"
    for module in model.modules():
        for name in _STACKS:
            stack = getattr(module, name, None)
            if isinstance(stack, torch.nn.ModuleList) and len(stack) == depth:
                return module, name
    raise InputError(
        f"model type {config.model_type!r} is not known here: no stack of {depth} blocks was found; name another model"
    )
