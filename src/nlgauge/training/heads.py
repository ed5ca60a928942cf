"""Trained heads as files: a small safetensors file beside the embedded encoder, or a transformers folder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save

from nlgauge.core.errors import InputError
from nlgauge.core.result import Draft, check_target, replacing
from nlgauge.models.heads import widened
from nlgauge.models.locate import ModelFiles
from nlgauge.training.adapters import adapter_tensors, set_adapters
from nlgauge.training.classifier import FEATURES, HeadNetwork, SequenceNetwork
from nlgauge.training.data import LABELS
from nlgauge.training.recipe import Recipe

FORMAT, VERSION, KIND = "nlgauge-head", "1", "nli"
_TOKENIZER = ("*token*.json", "vocab*", "merges*", "*.model", "*.spm")


def save_head(path: str | os.PathLike[str], network: HeadNetwork, about: Mapping[str, str]) -> None:
    """Write a head, whole or not at all.

    Args:
        path: a .safetensors file.
        network: the trained network.
        about: more metadata; all values are strings.
    """
    tensors = adapter_tensors(network.encoder) | network.own_tensors()
    write_head(path, tensors, {"labels": ",".join(LABELS), "features": FEATURES, **about})


def head_metadata(
    kind: str, recipe: Recipe, files: ModelFiles, dtype: str, about: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The metadata of every head: its kind, its encoder, limits of its recipe, and what its maker adds.

    Args:
        kind: of the head.
        recipe: how it was trained.
        files: of its encoder.
        dtype: the precision in which it was trained, which `auto` takes from the device.
        about: what its maker adds.
    """
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


def narrowed(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors of a head with its adapters in whole numbers of 8 bits, each row with a scale: half of the bytes.

    A number of a row is off by 0.4 % of the largest one at most; see `nlgauge.models.heads.Head`.
    """
    found = {}
    for name, tensor in tensors.items():
        if ".lora_" not in name:
            found[name] = tensor
            continue
        wide = tensor.float()
        scale = (wide.abs().amax(dim=1, keepdim=True) / 127).clamp(min=torch.finfo(torch.float32).tiny)
        found[name] = torch.round(wide / scale).to(torch.int8).contiguous()
        found[f"{name}_scale"] = scale.contiguous()
    return found


def _in_order(data: bytes) -> bytes:
    """A safetensors file with a sorted header, so that the same weights make the same bytes."""
    size = int.from_bytes(data[:8], "little")
    header = json.dumps(
        json.loads(data[8 : 8 + size]), sort_keys=True, ensure_ascii=False, separators=(",", ":")
    ).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data[8 + size :]


def begin_from(path: str | os.PathLike[str], network: HeadNetwork, files: ModelFiles) -> None:
    """Load the weights of an earlier head into a network.

    Args:
        path: the head.
        network: the network, whose encoder is that of `files`.
        files: the files of the encoder, which the head must have been made for.

    Raises:
        InputError: the file is not a head of this kind, is one for another encoder, or has another shape.
    """
    try:
        with safe_open(os.fspath(path), framework="pt") as file:
            about: dict[str, str] = file.metadata() or {}
            tensors: dict[str, torch.Tensor] = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except Exception as error:
        raise InputError(
            f"{os.fspath(path)}: no safetensors file that can be read ({str(error).splitlines()[0]})"
        ) from None
    if (about.get("format"), about.get("kind"), about.get("features")) != (FORMAT, KIND, FEATURES) or about.get(
        "labels"
    ) != ",".join(LABELS):
        raise InputError(f"{os.fspath(path)} is no NLI head as 'nlgauge train nli' writes them; name one")
    if about.get("encoder_sha256") != files.weights_digest:
        raise InputError(
            f"{os.fspath(path)} was made for weights with SHA-256 {about.get('encoder_sha256')}, expected"
            f" {files.weights_digest} of model {files.name!r}; begin from a head on the same encoder"
        )
    tensors = widened(tensors, Path(path))
    set_adapters(network.encoder, tensors)
    with torch.no_grad():
        network.classifier.weight.copy_(tensors["classifier.weight"])
        network.classifier.bias.copy_(tensors["classifier.bias"])


def check_output(output: str, method: str) -> None:
    """Refuse an output that cannot be written, or that cannot hold what a method changes.

    Args:
        output: a `.safetensors` name for a head, any other name for a folder.
        method: `full` changes the whole encoder; other methods leave it as it is.

    Raises:
        InputError: for such an output.
    """
    if not output.endswith(".safetensors"):
        check_folder(output)
        return
    check_target(output)
    if method == "full":
        raise InputError(
            f"{output}: a head holds adapters, method full changes everything; name a folder (no .safetensors) for the"
            " model"
        )


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a folder that cannot be created, or that is not empty.

    Raises:
        InputError: for such a folder.
    """
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
    """A folder that takes its final name only when everything in it is written; after an error nothing is left.

    Raises:
        InputError: as in `check_folder`; or the disk is full.
    """
    check_folder(path)
    target = Path(path)
    try:
        draft = Draft(os.fspath(target.resolve()), is_folder=True)
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
    """Write a model as transformers reads it, with the tokenizer of the files it began from.

    Adapters are merged into the weights.
    """
    if hasattr(model, "merge_and_unload"):
        model = model.float().merge_and_unload()
    model.save_pretrained(str(folder), safe_serialization=True)
    for path in (path for pattern in _TOKENIZER for path in files.folder.glob(pattern)):
        shutil.copy(path, folder)


def save_folder(path: str | os.PathLike[str], network: SequenceNetwork, files: ModelFiles) -> None:
    """Write a classifier as transformers reads it, with the encoder's tokenizer; whole or not at all.

    Adapters are merged into the weights.
    """
    with new_folder(path) as folder:
        save_encoder(folder, network.model, files)
