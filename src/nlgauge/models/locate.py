"""Where the files of models are, and what they say: the encoder that ships, folders, the hub, families. No torch."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property, wraps
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError, MissingExtra, NlgaugeError
from nlgauge.core.segment import unique
from nlgauge.core.spec import version
from nlgauge.models import fetch, repository
from nlgauge.models.pickled import converted, digest, sources_of

if TYPE_CHECKING:
    import torch


NAME = fetch.EMBEDDED  # the encoder of metrics that name no model

# --- Find the files of a model: embedded, in a folder, or on the Hugging Face hub. Torch is not loaded

# What numbers depend on besides weights.
_BESIDE = ("config.json", "*token*.json", "vocab*", "merges*", "*.model", "*.spm")
# Families of which each vector knows only the text to its left; where a family has both kinds, its configuration says.
_LEFT_TO_RIGHT = (
    "biogpt", "bloom", "codegen", "cohere", "ctrl", "deepseek", "exaone", "falcon", "gemma", "glm", "gpt", "granite",
    "llama", "mamba", "ministral", "mistral", "mixtral", "mpt", "nemotron", "olmo", "openai-gpt", "opt", "persimmon",
    "phi", "qwen", "rwkv", "smollm", "stablelm", "starcoder", "xglm",
)  # fmt: skip
# Encoder-decoders, whose configurations need not say so.
_PAIRED = {"bart", "longt5", "m2m_100", "marian", "mbart", "mt5", "pegasus", "t5", "umt5"}
SHORT = len("sha256:") + 16  # how much of a digest stands in a signature
_IN_CACHE = re.compile(r"/models--([^/]+)/snapshots/[^/]+$")  # the folder of a model there
_NAME, _MOST_HEADER = re.compile(r"([\w.-]{1,96}/)?[\w.-]{1,96}"), 1 << 24
_BROKEN = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
_TYPES: dict[str, type] = {"model_type": str, "hidden_act": str, "architectures": list, "type_vocab_size": int}
# Layers, width and vocabulary of encoders whose layer and baseline are known: what a folder must agree with that says
# it began as one of them.
_SIZES = {
    "bert-base-uncased": (12, 768, 30522), "bert-large-uncased": (24, 1024, 30522),
    "bert-base-chinese": (12, 768, 21128), "bert-base-multilingual-cased": (12, 768, 119547),
    "roberta-base": (12, 768, 50265), "roberta-large": (24, 1024, 50265),
    "xlm-roberta-base": (12, 768, 250002), "xlm-roberta-large": (24, 1024, 250002),
    "allenai/scibert_scivocab_uncased": (12, 768, 31090), "dbmdz/bert-base-turkish-cased": (12, 768, 32000),
    "microsoft/deberta-large-mnli": (24, 1024, 50265), "microsoft/deberta-xlarge-mnli": (48, 1024, 50265),
}  # fmt: skip
HINT = "which its config.json names; if it was trained further, its own layer may be another"
_TYPES_IN_WORDS = {str: "a text", list: "a list", int: "a whole number"}
P = ParamSpec("P")


@dataclass(frozen=True)
class ModelFiles:
    """A model on disk.

    Attributes:
        name: the name that the user gave.
        folder: the folder with config.json, the tokenizer's files and safetensors weights.
        identity: identifies the weights: `sha256:...` of the weight files, or `revision:...` of the hub's commit.
        setup: identifies configuration and tokenizer if `identity` does not: `sha256:...` of a folder's files.
    """

    name: str
    folder: Path
    identity: str
    setup: str | None = None

    @property
    def config(self) -> dict[str, Any]:
        """The model's config.json.

        Raises:
            InputError: it cannot be read, or what is asked of it here has another type.
        """
        config = _json(self.folder / "config.json")
        for name, kind in _TYPES.items():
            if not isinstance(config.get(name), kind | None):
                expected = _TYPES_IN_WORDS[kind]
                raise InputError(f"{self.folder}/config.json: {name} is {config[name]!r:.40}, expected {expected}")
        return config

    @property
    def tokenizer_config(self) -> dict[str, Any]:
        """The tokenizer's configuration; empty if the model has none."""
        path = self.folder / "tokenizer_config.json"
        return _json(path) if path.exists() else {}

    @property
    def depth(self) -> int:
        """The number of layers above the embeddings."""
        config = self.config
        for key in ("num_hidden_layers", "n_layers", "encoder_layers", "num_encoder_layers", "num_layers", "n_layer"):
            if isinstance(config.get(key), int) and config[key] >= 0:
                return int(config[key])
        raise InputError(
            f"{self.folder}/config.json names no number of layers (num_hidden_layers); is this an encoder?"
        )

    @property
    def taken_as(self) -> tuple[str, str]:
        """The model that this one is, by name, and of a folder what says so; its own name where nothing does.

        A folder in a cache of the hub says it by its path, and weights that were written again by their record. Else
        weights of the hub's cache are the same; or config.json names a model of the same sizes, from which this one may
        have been trained further, but not for labels.
        """
        if self.setup is None:
            return repository.split(self.name)[0], ""
        inside = _IN_CACHE.search(Path(os.path.expanduser(self.name)).resolve().as_posix())
        if inside is not None:
            return inside[1].replace("--", "/"), "as its path says"
        if written := recorded(self.weight_files()[0]):
            return written, "of which its weights were written"
        if held := repository.holder(self.weights_digest):
            return held, "whose weights in the hub's cache are the same"
        config = self.config
        sizes = tuple(config.get(key) for key in ("num_hidden_layers", "hidden_size", "vocab_size"))
        for name in repository.names(str(config.get("_name_or_path"))):
            labelled = any("Classification" in str(kind) for kind in config.get("architectures") or ())
            if _SIZES.get(name) == sizes and not (labelled and not name.endswith("-mnli")):
                return name, HINT
        return self.name, ""

    @property
    def has_encoder_alone(self) -> bool:
        """Whether the weights are of the encoder of an encoder-decoder model, as in a folder of T5EncoderModel."""
        return any(str(name).endswith("EncoderModel") for name in self.config.get("architectures") or ())

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for readers of the model's vectors."""
        notes = []
        kind = self.config.get("model_type", "unknown")
        if self.config.get("auto_map"):
            notes.append(
                f"{self.name} brings code of its own (auto_map in config.json), which is never run; it is read as model"
                f" type {kind!r} of transformers, so its vectors can differ from those of its authors"
            )
        if self.reads_left_to_right:
            notes.append(
                f"{self.name} reads from left to right (model type {kind!r}), so the vector of a word does not know"
                " what follows it; metrics of matched vectors are made for encoders, which read both sides"
            )
        return tuple(notes)

    @property
    def is_paired(self) -> bool:
        """Whether the model is an encoder-decoder."""
        config = self.config
        return bool(config.get("is_encoder_decoder")) or config.get("model_type") in _PAIRED

    @property
    def reads_left_to_right(self) -> bool:
        """Whether each vector knows only the text to its left, as in a causal language model."""
        if self.name in fetch.ENCODERS:
            return False
        config = self.config
        if config.get("use_bidirectional_attention") or config.get("is_encoder_decoder"):
            return False
        written = any(str(name).endswith("ForCausalLM") for name in config.get("architectures") or ())
        family = str(config.get("model_type", ""))
        return written or config.get("is_decoder") is True or family.startswith(_LEFT_TO_RIGHT)

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that the model reads; empty if this is not known."""
        return fetch.ENCODERS[self.name].languages if self.name in fetch.ENCODERS else ()

    def facts(self, *, head: str | None = None) -> dict[str, Any]:
        """The facts that identify the model, for a signature: weights, configuration, and the libraries that read them.

        Where a folder lies and what it is called changes no number, so a signature says `folder` in place of its path.

        Args:
            head: identity of a head on top of the model. The head was made for exactly these weights, so a hub's
                commit, which identifies them only indirectly, is given under `weights`, too.
        """
        kind, _, value = self.identity.partition(":")
        facts: dict[str, Any] = {} if head is None else {"head": head[:SHORT]}
        if kind == "revision" and head is None:
            facts["revision"] = value
        else:
            facts["weights"] = self.identity[:SHORT]
        if self.setup:
            facts["setup"] = self.setup[:SHORT]
            if head is None:
                facts |= {"model": "folder", "revision": None}
        return {**facts, "tokenizers": version("tokenizers"), "torch": version("torch")}

    def check(self) -> None:
        """Refuse files of a named encoder that are not the expected ones. To be called before they are loaded.

        Raises:
            InputError: they have another digest.
        """
        if self.name in fetch.ENCODERS:
            fetch.check(self.name, self.folder)

    @property
    def weights_digest(self) -> str:
        """SHA-256 over the weight files, whether or not `identity` says it."""
        if self.identity.startswith("sha256:"):
            return self.identity.removeprefix("sha256:")
        return _digest(tuple(self.weight_files()))

    def weight_files(self) -> list[Path]:
        """The safetensors files: one file or several shards.

        Raises:
            InputError: there are none.
        """
        index = self.folder / "model.safetensors.index.json"
        if index.exists():
            shards = _json(index).get("weight_map")
            if not isinstance(shards, dict) or not shards:
                raise InputError(
                    f"model {self.name!r}: {index} has no weight_map; expected the index that save_pretrained writes"
                )
            for shard in shards.values():
                if not isinstance(shard, str) or PurePath(shard).is_absolute() or ".." in PurePath(shard).parts:
                    raise InputError(
                        f"model {self.name!r}: {index} has {shard!r} in its weight_map, expected the name of a file in"
                        " the same folder"
                    )
            files = [self.folder / shard for shard in sorted(set(shards.values()))]
            for file in files:
                if not os.path.isfile(file):
                    raise InputError(
                        f"model {self.name!r}: {index.name} names {file.name}, which is not in {self.folder}; fetch or"
                        " copy it again"
                    )
            return files
        single = self.folder / "model.safetensors"
        if single.exists():
            return [single]
        raise InputError(
            f"model {self.name!r}: neither model.safetensors nor pytorch_model.bin in {self.folder}; other forms of"
            " weights are not read, save_pretrained of transformers writes the first"
        )


def locate(model: str, revision: str | None = None) -> ModelFiles:
    """Find the files of a model.

    Args:
        model: `embedded`, `base`, `multilingual`, a folder, or an id of the Hugging Face hub, with or without
            @REVISION. A hub model is fetched once and then found in the cache.
        revision: branch, tag or commit of a hub model, if its name does not say it.

    Raises:
        InputError: there is no such folder or model, a model is not cached and there is no network, or the weights have
            another digest than expected.
        MissingExtra: the packages of the `neural` extra are not installed.
    """
    name, own = repository.split(model)
    if name in fetch.ENCODERS:
        if revision is not None or own is not None:
            raise InputError(f"the {name} model has no revisions; leave revision out")
        if find_spec("torch") is None:
            raise MissingExtra(f"the encoder {model!r}", "neural")
        return ModelFiles(model, fetch.folder(model), f"sha256:{fetch.ENCODERS[model].sha256}")
    folder = Path(os.path.expanduser(model))  # a user who is unknown stays as typed
    if os.path.isdir(folder):
        if revision is not None:
            raise InputError(f"model folder {model} has no revisions; leave revision out")
        if not (folder / "config.json").is_file():
            raise InputError(f"model folder {folder} has no config.json; expected a folder written by save_pretrained")
        setup = _named_digest([path for pattern in _BESIDE for path in folder.glob(pattern)])
        pickles = {} if repository.has_safetensors(folder) else sources_of(folder)
        weights = _digest(tuple(pickles.values()) or tuple(ModelFiles(model, folder, "").weight_files()))
        if pickles:
            folder = converted(folder, repository.home("pickled") / f"{weights[:16]}-{setup[:16]}", {})
        return ModelFiles(model, folder, f"sha256:{weights}", f"sha256:{setup}")
    if folder.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise InputError(f"model folder {model} does not exist")
    if own is not None and (revision is not None or not own):
        raise InputError(f"model {model!r}: expected one revision, as NAME@REVISION or by the option revision")
    folder, commit = repository.snapshot(name, revision or own)
    return ModelFiles(model, folder, f"revision:{commit}")


def refusing_broken(
    load: Callable[Concatenate[Any, ModelFiles, P], None],
) -> Callable[Concatenate[Any, ModelFiles, P], None]:
    """Let a constructor that reads the files of a model refuse in one line what it cannot make sense of.

    Raises:
        InputError: the constructor raises an error of Python or of a library. Errors of this package stay as they are.
    """

    @wraps(load)
    def loaded(self: Any, files: ModelFiles, /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            load(self, files, *args, **kwargs)
        except NlgaugeError:
            raise
        except _BROKEN as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise InputError(
                f"model {files.name!r} cannot be loaded from {files.folder}: {type(error).__name__}: {reason[:200]};"
                " are config.json and the tokenizer's files of this model?"
            ) from None

    return loaded


def _json(path: Path) -> dict[str, Any]:
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=unique)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot read {path}: {error}") from None
    if not isinstance(loaded, dict):
        raise InputError(f"{path} holds {type(loaded).__name__}, expected a JSON object")
    return loaded


def recorded(weights: Path) -> str:
    """The repository that a file of safetensors says its weights are of; empty where it says none."""
    with suppress(OSError, ValueError, LookupError, TypeError, RecursionError), weights.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size)) if size <= _MOST_HEADER else {}
        name = header["__metadata__"]["repository"]
        return name if _NAME.fullmatch(name) else ""
    return ""


def _digest(paths: tuple[Path, ...]) -> str:
    """SHA-256 over the weight files, in the order of their names. A single file gives its own digest."""
    parts = [digest_of(p) for p in paths]
    return parts[0] if len(parts) == 1 else sha256("".join(parts).encode()).hexdigest()


def _named_digest(paths: list[Path]) -> str:
    """SHA-256 over names and digests, because it also matters which of the small files exist."""
    digests = sorted((p.name, digest_of(p)) for p in paths if p.is_file())
    return sha256(json.dumps(digests).encode()).hexdigest()


def digest_of(path: Path) -> str:
    """SHA-256 of a file. It is computed only once unless the file changes."""
    return _file_digest(str(path), path.stat().st_mtime_ns, path.stat().st_size)


@cache
def _file_digest(path: str, mtime_ns: int, size: int) -> str:
    return digest(Path(path))


# --- Whether weights are numbers: a model with NaN among them answers, and every answer is NaN or wrong


def check_finite(what: str, tensors: Iterable[tuple[str, torch.Tensor]]) -> None:
    """Refuse weights that are not finite.

    Args:
        what: what errors call the file or the model.
        tensors: names and weights.

    Raises:
        InputError: a tensor holds NaN or infinity.
    """
    for name, tensor in tensors:
        if not tensor.isfinite().all():
            raise InputError(
                f"{what}: the weights {name} hold NaN or infinity, expected finite numbers; load or train it again"
            )


# --- A model whose files are known and whose network is loaded only when it is asked

Files = TypeVar("Files")
Tokenizer = TypeVar("Tokenizer")
Network = TypeVar("Network")


class LazyModel(Generic[Files, Tokenizer, Network]):
    """Files, tokenizer and network of one model.

    Args:
        found: its files.
        tokenizer: its tokenizer.
        load: function that returns the network.
        budget: the largest number of tokens in a batch; None is left to the model.
    """

    def __init__(self, found: Files, tokenizer: Tokenizer, load: Callable[[], Network], budget: int | None) -> None:
        self.found, self.tokenizer = found, tokenizer
        self._load, self.budget = load, budget

    @cached_property
    def network(self) -> Network:
        """The network, loaded when it is first needed."""
        return self._load()


# --- The families of encoders that the packed forward pass reads: where each differs from BERT

_BUCKETS = 32  # of MPNet: 16 distances behind and 16 ahead


@dataclass(frozen=True)
class Family:
    """How a model type differs from BERT.

    Attributes:
        counts_from_padding: whether positions count from the padding index on; BERT's count from 0.
        padding: the padding index where it is the same for all models; None where it is the id of the padding piece.
        has_types: whether the type of a token has a vector.
        relative: the table of numbers that are added to scores by distance; empty if there is none.
        is_disentangled: whether scores have parts for vectors of distances, as in `models.packing.disentangled`.
            Vectors of positions and of types are then a choice of each model's.
        is_joined: whether query, key and value are one layer, head by head.
        epsilon: of the layer norms of a model that does not say.
        names: the name of a part of a block in BERT -> its name here.
    """

    counts_from_padding: bool = False
    padding: int | None = None
    has_types: bool = True
    relative: str = ""
    is_disentangled: bool = False
    is_joined: bool = False
    epsilon: float = 1e-12
    names: Mapping[str, str] = field(default_factory=dict)

    def tables(self, config: Mapping[str, Any]) -> tuple[bool, bool]:
        """Whether there are vectors of positions, and of types."""
        if not self.is_disentangled:
            return True, self.has_types
        return bool(config.get("position_biased_input", True)), (config.get("type_vocab_size", 0) or 0) > 0

    def named(self, name: str) -> str:
        """The name of a tensor of a block that BERT calls `name`."""
        part, dot, kind = name.rpartition(".")
        return f"{self.names.get(part, part)}{dot}{kind}"


_ROBERTA = Family(counts_from_padding=True)
_MPNET = Family(
    counts_from_padding=True,
    padding=1,
    has_types=False,
    relative="encoder.relative_attention_bias.weight",
    names={
        "attention.self.query": "attention.attn.q",
        "attention.self.key": "attention.attn.k",
        "attention.self.value": "attention.attn.v",
        "attention.output.dense": "attention.attn.o",
        "attention.output.LayerNorm": "attention.LayerNorm",
    },
)
_DEBERTA = Family(is_disentangled=True, is_joined=True, epsilon=1e-7)
_DEBERTA_2 = Family(
    is_disentangled=True,
    epsilon=1e-7,
    names={f"attention.self.{part}": f"attention.self.{part}_proj" for part in ("query", "key", "value")},
)
FAMILIES: Mapping[str, Family] = {
    "bert": Family(),
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "mpnet": _MPNET,
    "deberta": _DEBERTA,
    "deberta-v2": _DEBERTA_2,
}


def is_read(config: Mapping[str, Any]) -> bool:
    """Whether the packed forward pass fits a model: one of these families, with nothing in it that is seldom."""
    family = FAMILIES.get(str(config.get("model_type")))
    return (
        family is not None
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder", False)
        and (_is_published_deberta(config) if family.is_disentangled else (config.get("type_vocab_size", 2) or 0) > 0)
        and config.get("embedding_size", config.get("hidden_size")) == config.get("hidden_size")
        and config.get("relative_attention_num_buckets", _BUCKETS) == _BUCKETS
    )


def is_disentangled(config: Mapping[str, Any]) -> bool:
    """Whether a model is a DeBERTa, which also has no pooling layer of its own."""
    family = FAMILIES.get(str(config.get("model_type")))
    return family is not None and family.is_disentangled


def distance_parts(config: Mapping[str, Any]) -> list[str]:
    """The parts of DeBERTa's scores that have to do with distances, as config.json names them: c2p, p2c."""
    parts = config.get("pos_att_type")
    if isinstance(parts, str):
        return [part.strip() for part in parts.lower().split("|")]
    return list(map(str, parts)) if isinstance(parts, list) else []


def _is_published_deberta(config: Mapping[str, Any]) -> bool:
    """Whether a DeBERTa is one whose weights are published: others stay with transformers."""
    parts, heads = distance_parts(config), config.get("num_attention_heads")
    most = config.get("max_relative_positions", -1)
    reach = config.get("max_position_embeddings", 512) if isinstance(most, int) and most <= 0 else most
    size = config.get("attention_head_size")
    return (
        config.get("relative_attention") is True
        and sorted(parts) in (["c2p"], ["p2c"], ["c2p", "p2c"])
        and config.get("type_vocab_size", 0) != 1  # transformers then reads no types
        and not config.get("talking_head", False)
        and isinstance(reach, int)
        and reach > 0
        and (
            config.get("model_type") == "deberta"
            or (_has_buckets(config, reach) and not config.get("conv_kernel_size"))
        )
        and (size is None or not isinstance(heads, int) or _is_product(config.get("hidden_size"), size, heads))
    )


def _is_product(whole: object, size: object, heads: int) -> bool:
    return isinstance(size, int) and size * heads == whole


def _has_buckets(config: Mapping[str, Any], reach: int) -> bool:
    """Whether distances are told apart one by one, or by an even number of buckets that the farthest one needs."""
    number = config.get("position_buckets", -1)
    return isinstance(number, int) and (number <= 0 or (number % 2 == 0 and number >= 4 and number // 2 < reach - 1))


def buckets(most: int) -> npt.NDArray[np.int64]:
    """The bucket of each distance from -most to most, as MPNet and T5 count them: shape (2 * most + 1,).

    Distances below 8 have buckets of their own, larger ones share 8 up to 128, whose borders are 8 * 2 ** (k / 2). They
    are compared as whole numbers: a logarithm may round to either side of a border, from processor to processor.

    References:
        Raffel et al. (2020), "Exploring the Limits of Transfer Learning", section 2.1; Song et al. (2020), "MPNet".
    """
    half, exact = _BUCKETS // 2, _BUCKETS // 4
    ahead = np.arange(-most, most + 1)
    far = np.abs(ahead)
    borders = [exact * exact << k for k in range(1, exact)]
    shared = exact + np.searchsorted(borders, far * far, side="right")
    found: npt.NDArray[np.int64] = np.where(far < exact, far, shared) + half * (ahead > 0)
    return found
