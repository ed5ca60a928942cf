"""Heads: small files of weights that were trained on top of an encoder. Finding and checking them needs no torch."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from nlgauge.core.errors import InputError, MissingExtra, nearest
from nlgauge.core.segment import unique
from nlgauge.models.locate import ModelFiles, check_finite, digest_of, locate

if TYPE_CHECKING:
    import torch

SUFFIX = ".safetensors"
# Those in nlgauge/data/heads that may be named, and what each is for.
SHIPPED = {
    "nli": "nli",
    "nli-robust": "nli",
    "infill": "infill",
    "sescore": "regressor",
    "rated": "regressor",
    "rated-both": "regressor",
}
# Those whose encoder is `base`, which is fetched; the head itself is in nlgauge/data/heads, too.
ON_BASE = {
    "nli-base": "nli",
    "nli-robust-base": "nli",
    "rated-base": "regressor",
    "rated-both-base": "regressor",
    "sescore-base": "regressor",
}
# Those whose encoder is `multilingual`, which is fetched as well.
ON_MULTILINGUAL = {"nli-multi": "nli"}
HEADS = {**SHIPPED, **ON_BASE, **ON_MULTILINGUAL}
# What stands on each encoder in the place of what ships: encoders and heads by name.
_IN_PLACE = {
    "base": {"embedded": "base", **{head.removesuffix("-base"): head for head in ON_BASE}},
    # Other heads stay with the encoder that they were made for.
    "multilingual": {"embedded": "multilingual", "nli": "nli-multi"},
}
HERE = "."  # the encoder of a head that lies beside it
FORMAT, VERSION = "nlgauge-head", "1"
_MOST_HEADER = 1 << 20
_SCALE = "_scale"


@dataclass(frozen=True)
class Head:
    """A head file, of which only the header was read.

    Attributes:
        name: the name that the user gave.
        path: the file. For each adapted linear layer it has `LAYER.lora_a` (rank, d_in) and `LAYER.lora_b` (d_out,
            rank), whose product lora_b @ lora_a is added to the layer's weight. An adapter NAME of whole numbers of 8
            bits goes with `NAME_scale`, by which each of its rows is multiplied, shape (rows, 1). It also has the
            tensors of the layers on top of the encoder.
        metadata: kind, encoder and its SHA-256, labels, languages and more, all of them strings.
        encoder: the files of the encoder that the head was made for.
    """

    name: str
    path: Path
    metadata: tuple[tuple[str, str], ...]
    encoder: ModelFiles

    @property
    def identity(self) -> str:
        """The identity of the head: `sha256:...` of the file."""
        return f"sha256:{digest_of(self.path)}"

    def facts(self, shown: str) -> dict[str, str]:
        """The facts that identify the head, for a signature: `shown` in place of a path, or the name of a shipped one.

        Where a file lies and what it is called changes no number.
        """
        return {"model": self.name if self.name in HEADS else shown}

    def get(self, key: str) -> str | None:
        """An entry of the metadata; None if there is none."""
        return dict(self.metadata).get(key)

    def items(self, key: str) -> tuple[str, ...]:
        """A list in the metadata, which is written there with commas; empty if there is none."""
        return tuple(part.strip() for part in (self.get(key) or "").split(",") if part.strip())

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that the head reads, as in its metadata, or else those of its encoder."""
        return self.items("languages") or self.encoder.languages

    def whole(self, key: str) -> int | None:
        """A whole number in the metadata; None if there is none."""
        value = self.get(key)
        if value is None:
            return None
        if not value.isdigit():
            raise InputError(f"head {self.path}: {key} is {value!r}, expected a whole number")
        return int(value)

    @property
    def has_adapters(self) -> bool:
        """Whether the head changes layers of its encoder."""
        return any(".lora_" in name for name in _header(self.path, self.path.stat().st_mtime_ns)[1])

    def tensors(self) -> tuple[dict[str, torch.Tensor], dict[str, tuple[torch.Tensor, torch.Tensor]]]:
        """The head's own tensors by name, as float32, and the adapters by the name of their layer."""
        try:
            from safetensors.torch import load_file
        except ImportError:
            raise MissingExtra(f"head {self.name!r}", "neural") from None
        try:
            loaded = load_file(str(self.path))
        except Exception as error:
            raise InputError(f"head {self.path} is not a readable safetensors file: {error}") from None
        loaded = widened(loaded, self.path)
        check_finite(f"head {self.path}", loaded.items())
        names = {key.rpartition(".lora_")[0] for key in loaded if ".lora_" in key}
        lacking = [
            f"{name}.lora_{side}" for name in sorted(names) for side in "ab" if f"{name}.lora_{side}" not in loaded
        ]
        if lacking:
            raise InputError(f"head {self.path} holds no {lacking[0]}; an adapter is a pair lora_a, lora_b")
        adapters = {name: (loaded.pop(f"{name}.lora_a"), loaded.pop(f"{name}.lora_b")) for name in sorted(names)}
        return {key: tensor.float() for key, tensor in loaded.items()}, adapters


class Headed:
    """Base of the files of a model that is a checkpoint, or a head on an encoder.

    Attributes:
        files: the files of the checkpoint, or of the encoder under the head.
        head: the head; None for a checkpoint that has its own.
    """

    files: ModelFiles
    head: Head | None

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that the model reads; empty if this is not known."""
        return self.files.languages if self.head is None else self.head.languages

    def max_tokens(self, asked: int | None = None) -> int | None:
        """The requested limit, else the one from training. The limit of a checkpoint is known to its tokenizer."""
        return self.head.whole("max_tokens") if asked is None and self.head is not None else asked


def widened(loaded: Mapping[str, torch.Tensor], path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a file, adapters of whole numbers times their scales."""
    found = {}
    for name, tensor in loaded.items():
        if name.endswith(_SCALE) and name.removesuffix(_SCALE) in loaded:
            continue
        if ".lora_" in name and not tensor.is_floating_point():
            scale = loaded.get(f"{name}{_SCALE}")
            if scale is None or tensor.ndim != 2 or scale.shape != (len(tensor), 1):
                raise InputError(
                    f"head {path}: {name} holds whole numbers, expected {name}{_SCALE} beside it, a number for each row"
                )
            tensor = tensor.float() * scale.float()
        found[name] = tensor
    return found


def on_encoder(model: str, encoder: str) -> str:
    """The encoder or head that stands on an encoder in the place of one that ships; the same model if there is none."""
    return _IN_PLACE.get(encoder, {}).get(model, model)


def is_head(model: str) -> bool:
    """Whether a model's name stands for a head, which is a shipped one or a file of safetensors."""
    return model in HEADS or model.endswith(SUFFIX)


def find_head(name: str, kind: str) -> Head:
    """Find a shipped head, or one in a file.

    Args:
        name: a name in `HEADS`, or the path of a file.
        kind: the kind that the head must have: `nli`, `infill`, ...

    Raises:
        InputError: there is no such file, it is not a head or has another kind, or its encoder has other weights than
            those that the head was made for.
    """
    if name in HEADS:
        path = Path(str(files("nlgauge.data").joinpath("heads", f"{name}{SUFFIX}")))
        if not path.is_file():
            raise InputError(
                f"the head {name!r} is not in this installation ({path}); install nlgauge again, or name a model with"
                " model=PATH"
            )
    else:
        path = Path(os.path.expanduser(name))
        if not os.path.isfile(path):
            raise InputError(
                f"head file {name} does not"
                f" exist{nearest(name, [n for n, k in HEADS.items() if k == kind]) if '/' not in name else ''}"
            )
    metadata = dict(_header(path, path.stat().st_mtime_ns)[0])
    if metadata.get("format") != FORMAT:
        raise InputError(
            f"{path} is no head: its metadata has format {metadata.get('format')!r}, expected {FORMAT!r}; name a"
            " model's folder"
        )
    if metadata.get("version") != VERSION:
        raise InputError(
            f"head {path} has version {_one_line(metadata.get('version'))}, this nlgauge reads version {VERSION};"
            " update nlgauge"
        )
    if metadata.get("kind") != kind:
        raise InputError(f"head {path} is for {_one_line(metadata.get('kind'))}, expected one for {kind}")
    encoder = _encoder(metadata, path)
    made_for, digest = metadata.get("encoder_sha256"), encoder.weights_digest
    if made_for != digest:
        raise InputError(
            f"head {path} was made for weights of {encoder.name!r} with SHA-256 {_one_line(made_for)}, found {digest};"
            " it fits no others"
        )
    return Head(name, path, tuple(sorted(metadata.items())), encoder)


def _one_line(text: str | None) -> str:
    """A value of the metadata, as an error shows it."""
    return " ".join(str(text).split())[:100]


def _encoder(metadata: Mapping[str, str], path: Path) -> ModelFiles:
    """The encoder that a head names. If both were trained together the name is `.`, which is the head's own folder."""
    name = metadata.get("encoder", "")
    return locate(str(path.parent) if name == HERE else name, metadata.get("encoder_revision") or None)


@cache
def _header(path: Path, mtime_ns: int) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """The strings and the names of tensors in the header of a safetensors file: 8 bytes of length, then JSON."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            if not 2 <= size <= _MOST_HEADER:
                raise ValueError("no header")
            header = json.loads(file.read(size), object_pairs_hook=unique)
            strings = header.pop("__metadata__", {})
            return tuple((key, str(value)) for key, value in strings.items()), tuple(header)
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        raise InputError(f"head {path} is not a readable safetensors file: {error}") from None
