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
        names: the name of a part of a block in BERT -> its name here.
    """

    counts_from_padding: bool = False
    padding: int | None = None
    has_types: bool = True
    relative: str = ""
    names: Mapping[str, str] = field(default_factory=dict)

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
FAMILIES: Mapping[str, Family] = {"bert": Family(), "roberta": _ROBERTA, "xlm-roberta": _ROBERTA, "mpnet": _MPNET}


def is_read(config: Mapping[str, Any]) -> bool:
    """Whether the packed forward pass fits a model: one of these families, with nothing in it that is seldom."""
    return (
        config.get("model_type") in FAMILIES
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder", False)
        and (config.get("type_vocab_size", 2) or 0) > 0
        and config.get("embedding_size", config.get("hidden_size")) == config.get("hidden_size")
        and config.get("relative_attention_num_buckets", _BUCKETS) == _BUCKETS
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
