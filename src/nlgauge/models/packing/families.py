"""The families of encoders that the packed forward pass reads: where each differs from BERT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

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

    def convolves(self, config: Mapping[str, Any]) -> bool:
        """Whether the embeddings go through a convolution beside the first block."""
        return self.is_disentangled and not self.is_joined and config.get("conv_kernel_size", 0) > 0

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
        and (_disentangles(config) if family.is_disentangled else (config.get("type_vocab_size", 2) or 0) > 0)
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


def _disentangles(config: Mapping[str, Any]) -> bool:
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
        and (config.get("model_type") == "deberta" or (_has_buckets(config, reach) and _convolves(config)))
        and (size is None or not isinstance(heads, int) or _is_product(config.get("hidden_size"), size, heads))
    )


def _is_product(whole: object, size: object, heads: int) -> bool:
    return isinstance(size, int) and size * heads == whole


def _has_buckets(config: Mapping[str, Any], reach: int) -> bool:
    """Whether distances are told apart one by one, or by an even number of buckets that the farthest one needs."""
    number = config.get("position_buckets", -1)
    return isinstance(number, int) and (number <= 0 or (number % 2 == 0 and number >= 4 and number // 2 < reach - 1))


def _convolves(config: Mapping[str, Any]) -> bool:
    """Whether there is no convolution, or one that is written here."""
    width = config.get("conv_kernel_size", 0)
    return isinstance(width, int) and (
        width <= 0
        or (width % 2 == 1 and config.get("conv_groups", 1) == 1 and config.get("conv_act", "tanh") in ("gelu", "tanh"))
    )


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
