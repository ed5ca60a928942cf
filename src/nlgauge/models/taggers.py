"""The network of a head that marks words: the packed encoder, and two layers on the first piece of each word."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.models.heads import Head
from nlgauge.models.packing.packed import PackedBert
from nlgauge.models.tokens import Ids
from nlgauge.models.wordfeatures import FEATURES

ALIGNED = 3  # vectors of a place: its own, what it is aligned with, and how they differ
POOLED = 2  # numbers that a text has of each unit: its mean over the places, and the highest
_SHARPNESS = 10.0  # of the weights of an alignment
TENSORS = ("hidden.weight", "hidden.bias", "out.weight", "out.bias")
OF_TEXT = ("text.weight", "text.bias")  # of heads that judge whole texts, too


class PackedTagger:
    """A head over its encoder.

    Args:
        head: the head, with its encoder.
        dtype: of the encoder; the layers on top are computed in float32 or wider.
        device: where it runs.

    Raises:
        InputError: the encoder is not of BERT's family, or a tensor is missing or does not fit.
    """

    def __init__(self, head: Head, dtype: torch.dtype, device: torch.device) -> None:
        if not PackedBert.reads(head.encoder.config):
            raise InputError(
                f"head {head.path}: its encoder {head.encoder.name!r} is not of BERT's family, and heads stand on no"
                " other"
            )
        own, adapters = head.tensors()
        for name in TENSORS:
            if name not in own:
                raise InputError(f"head {head.path} holds no {name}")
        self.network = PackedBert(head.encoder, dtype, device, adapters)
        self.device, self.batch_tokens, self.depth = device, self.network.batch_tokens, head.encoder.depth
        self._wide = torch.promote_types(dtype, torch.float32)
        weight, bias, out, last = (own[name].to(device=device, dtype=self._wide) for name in TENSORS)
        self._hidden, self._out = (weight, bias), (out, last)
        if weight.shape[1] != ALIGNED * self.network.width + 1 + FEATURES or out.shape[1] != weight.shape[0]:
            raise InputError(f"head {head.path}: its layers do not fit an encoder of width {self.network.width}")
        self._text = self._layer_of_text(head, own)

    def _layer_of_text(self, head: Head, own: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor] | None:
        """The layer that judges whole texts, of a head that has one."""
        found = [name for name in OF_TEXT if name in own]
        if not found:
            return None
        units = self._hidden[0].shape[0]
        if len(found) == 1 or own[OF_TEXT[0]].shape != (1, POOLED * units) or own[OF_TEXT[1]].shape != (1,):
            raise InputError(f"head {head.path}: its layer for whole texts does not fit {units} units")
        weight, bias = (own[name].to(device=self.device, dtype=self._wide) for name in OF_TEXT)
        return weight, bias

    def logits(
        self,
        ids: Sequence[Ids],
        types: Sequence[Ids],
        places: Sequence[Ids],
        features: Sequence[npt.NDArray[np.float32]],
        starts: Ids,
    ) -> list[tuple[Array, float]]:
        """Logits of the places of each sequence, of shape (places, 4), and of its text. Several threads may call it.

        A head that judges no whole texts says infinity of them: any may have an error.

        Args:
            ids: pieces of sequences sorted by length.
            types: their types.
            places: the pieces that are judged.
            features: of these places, see `word_features`.
            starts: the number of pieces of each sequence before the judged text.
        """
        with self.network.cut(self.depth) as forward:
            states = forward(ids, types)
        inputs, row = [], 0
        for own, start, places_of, more in zip(ids, starts, places, features, strict=True):
            block = states[row : row + len(own)].to(self._wide)
            row += len(own)
            vectors = block[torch.from_numpy(places_of).to(self.device)]
            told = torch.from_numpy(more).to(device=self.device, dtype=self._wide)
            inputs.append(torch.cat([aligned(vectors[None], block[None, : int(start)])[0], told], dim=1))
        hidden = functional.gelu(functional.linear(torch.cat(inputs), *self._hidden))
        found = functional.linear(hidden, *self._out).double().cpu().numpy()
        sizes = [len(own) for own in places]
        texts = [math.inf] * len(sizes)
        if self._text is not None:
            pooled = torch.stack([pooled_units(own) for own in hidden.split(sizes)])
            texts = functional.linear(pooled, *self._text)[:, 0].double().cpu().tolist()
        return list(zip(np.split(found, np.cumsum(sizes)[:-1]), texts, strict=True))


def pooled_units(hidden: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    """The mean and the highest value of each unit over the places of a text, shape (..., 2 u).

    Args:
        hidden: units of places, shape (..., places, u).
        mask: False for padding, shape (..., places).
    """
    if mask is None:
        return torch.cat([hidden.mean(dim=-2), hidden.amax(dim=-2)], dim=-1)
    own = mask[..., None]
    mean = (hidden * own).sum(dim=-2) / own.sum(dim=-2).clamp(min=1)
    return torch.cat([mean, hidden.masked_fill(~own, -1e4).amax(dim=-2)], dim=-1)


def aligned(vectors: torch.Tensor, others: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    """What is told of places by their vectors and those of the other text, shape (n, places, 3 d + 1).

    A place is aligned with the mean of the other text's vectors, weighted by a softmax of their cosines with its own.
    Its inputs are its vector, the mean, how far both differ in each dimension, and the highest cosine.

    Args:
        vectors: of places, shape (n, places, d).
        others: of the other text's pieces, special tokens included, shape (n, L, d).
        mask: False for padding among the others, shape (n, L).
    """
    unit, units = (functional.normalize(part, dim=-1) for part in (vectors, others))
    cosines = unit @ units.transpose(1, 2)  # (n, places, L)
    if mask is not None:
        cosines = cosines.masked_fill(~mask[:, None], -1e4)
    mean = torch.softmax(_SHARPNESS * cosines, dim=-1) @ others
    return torch.cat([vectors, mean, (vectors - mean).abs(), cosines.amax(dim=-1, keepdim=True)], dim=-1)
