"""Models of transformers: loaded, cut after a layer, and run batch beside batch, each core one from end to end."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from inspect import signature
from typing import Any, TypeVar

import numpy as np
import torch

from nlgauge.core.errors import InputError
from nlgauge.models.attention import to_device
from nlgauge.models.locate import ModelFiles, check_finite, refusing_broken
from nlgauge.models.packing import fill_narrow
from nlgauge.models.tokens import Ids, silent
from nlgauge.runtime.runtime import runs

Job = TypeVar("Job")
Done = TypeVar("Done")


def side_by_side(
    work: Callable[[Job], Done], jobs: Sequence[Job], device: Any, *, one_core: bool = False
) -> Iterator[Done]:
    """The results of `work` for each job, in order, computed in inference mode.

    On a CPU, jobs are taken in turn by as many threads as torch may use, and each thread computes on one core. To split
    every operation of one batch among all cores would make them wait for each other thousands of times per second. That
    is slower on an idle machine, and many times slower on a busy one. On other devices, and if there is only one
    thread, the jobs run in the calling thread.

    Args:
        work: function of a job. It must not change what other jobs read.
        jobs: the jobs, in the order of the results.
        device: the device of the tensors that `work` computes with.
        one_core: run a single job on one core too, so that its numbers do not depend on the number of cores.
    """
    threads = torch.get_num_threads()
    if getattr(device, "type", "cpu") != "cpu" or threads == 1 or len(jobs) < (1 if one_core else 2):
        with torch.inference_mode():
            yield from map(work, jobs)
        return

    def on_one_core(job: Job) -> Done:
        with torch.inference_mode():  # holds for one thread
            return work(job)

    # torch keeps the count by thread, and besides one that new threads start from: that one is put back at the end.
    pool = ThreadPoolExecutor(min(threads, len(jobs)), "nlgauge", lambda: torch.set_num_threads(1))
    try:
        yield from pool.map(on_one_core, jobs)
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)


# --- Any encoder of transformers, run in batches of equal length and cut after the requested layer

_STACKS = ("layer", "layers", "block", "h")
_COUNTED = {"xlm", "flaubert"}  # families whose forward pass counts to n_layers, over several lists of parts
_FLOAT32 = {"xlnet"}  # families whose positions transformers makes in float32, whatever the precision of the weights
_DERIVED = ("inv_freq", "masked_bias", "position_ids")  # computed, though old checkpoints store them


class HubNetwork:
    """A transformers model, cut as `PackedBert` is.

    The model is cut to `layer` blocks, as bert_score does. For post-norm models the result equals
    hidden_states[layer]. If a model ends in a norm (pre-norm families such as T5 and mBART), that norm is applied to
    the output of the cut model.

    Raises:
        InputError: there are no safetensors, the weights do not fill the model, or the installed transformers has no
            place for some of them.
    """

    @refusing_broken
    def __init__(self, files: ModelFiles, dtype: torch.dtype, device: torch.device) -> None:
        kind = "AutoModelForTextEncoding" if files.has_encoder_alone else "AutoModel"
        model, info = load_pretrained(files, dtype, kind)
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
        """As of `PackedBert`. The model is cut to its first `layer` blocks only inside the context."""
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

    @contextmanager
    def cut_each(self, layers: Sequence[int]) -> Iterator[Callable[[Sequence[Ids]], list[torch.Tensor]]]:
        """Like `cut`, for several layers, in the given order; the model runs once for each."""

        def forward(sequences: Sequence[Ids]) -> list[torch.Tensor]:
            found = []
            for layer in layers:
                with self.cut(layer) as run:
                    found.append(run(sequences))
            return found

        yield forward

    def _forward(self, sequences: Sequence[Ids], **asked: bool) -> torch.Tensor:
        out = []
        for low, high in runs([len(s) for s in sequences]):
            ids = to_device(np.stack(sequences[low:high]), self.device)
            output = self.model(input_ids=ids, attention_mask=torch.ones_like(ids), **asked)
            states = output.hidden_states[0] if asked else output[0]
            out.append(states.reshape(-1, states.shape[-1]))
        return torch.cat(out)

    def _check(self, missing: set[int], unexpected: Sequence[str]) -> None:
        """Refuse what transformers only warns about: weights drawn at random, and weights that are not used."""
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
    """A complete model of transformers on a device, for batches of equal length.

    Args:
        files: the files of the model.
        dtype: the precision of weights and activations.
        device: the device on which it runs.
        kind: the Auto class of transformers with which it is loaded.
        doubt: the question to the user that ends the error if weights do not fill the model.

    Raises:
        InputError: there are no safetensors, or the weights do not fill the model. transformers would draw the missing
            ones at random.
    """

    @refusing_broken
    def __init__(self, files: ModelFiles, dtype: torch.dtype, device: torch.device, kind: str, doubt: str) -> None:
        model, info = load_pretrained(files, dtype, kind)
        check_filled(files, model, info, doubt)
        self.model: Any = model.eval().to(device)
        self.device = device
        self.batch_tokens = 1024 if device.type == "cpu" else 65536
        self._typed = "token_type_ids" in signature(model.forward).parameters


def load_pretrained(files: ModelFiles, dtype: torch.dtype, kind: str = "AutoModel") -> tuple[Any, Any]:
    """Load a complete model with an Auto class of transformers. Also returns what transformers reports on its weights.

    Raises:
        InputError: there are no safetensors, this class cannot load the model, or transformers computes its family in
            float32 alone.
    """
    import transformers

    family = files.config.get("model_type")
    if family in _FLOAT32 and dtype != torch.float32:
        raise InputError(
            f"model {files.name!r} is of type {family!r}, which transformers computes in float32 alone; use"
            f" dtype=float32 in place of {str(dtype).removeprefix('torch.')}"
        )
    loaded: tuple[Any, Any] = from_pretrained(getattr(transformers, kind), files, dtype=dtype, output_loading_info=True)
    return loaded


def from_pretrained(kind: Any, files: ModelFiles, **options: Any) -> Any:
    """Load a model with a class of transformers, from local safetensors and without running code that comes with it.

    Args:
        kind: a class of transformers, such as `AutoModel`.
        files: the files of the model.
        options: options of the class's `from_pretrained`.

    Raises:
        InputError: there are no safetensors, or this class cannot load the model, or weights are not finite.
    """
    from transformers.utils import logging

    files.weight_files()
    logging.disable_progress_bar()
    try:
        with silent():
            loaded = kind.from_pretrained(
                str(files.folder), use_safetensors=True, trust_remote_code=False, local_files_only=True, **options
            )
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"model {files.name!r} cannot be loaded from {files.folder}: {reason[:200]}") from None
    model, info = loaded if isinstance(loaded, tuple) else (loaded, {"missing_keys": set()})
    info["missing_keys"] = set(info["missing_keys"]) - fill_narrow(files, model)
    check_finite(f"model {files.name!r}", model.named_parameters())
    return loaded


def check_filled(files: ModelFiles, model: Any, info: Any, doubt: str) -> None:
    """Refuse a model if no weight fills some parameters, which transformers would draw at random.

    Args:
        files: the files of the model.
        model: the loaded model.
        info: what transformers reports on its weights.
        doubt: the question that ends the error.
    """
    missing = [name for name, _ in model.named_parameters() if name in info["missing_keys"]]
    if missing:
        raise InputError(f"model {files.name!r}: the weights hold no {missing[0]} ({len(missing)} missing); {doubt}")


def know_start(model: Any) -> None:
    """Let an encoder-decoder know the piece that its decoder starts with, which some folders name in another file."""
    config = model.config
    if getattr(config, "decoder_start_token_id", None) is None:
        start = getattr(getattr(model, "generation_config", None), "decoder_start_token_id", None)
        config.decoder_start_token_id = config.pad_token_id if start is None else start


def _stack(model: Any, depth: int) -> tuple[Any, str]:
    """The place of a model's blocks: the module, and its attribute that is shortened."""
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
