"""Masked language models: a head on the embedded encoder, those of BERT and RoBERTa, any other of transformers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch.nn import functional

from nlgauge.core.errors import InputError
from nlgauge.models.heads import Head
from nlgauge.models.hub import HubModel
from nlgauge.models.locate import ModelFiles
from nlgauge.models.packing.packed import PackedBert
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import runs

# The model classes whose head is written here -> dense layer, norm, bias; the last layer is the word vectors again.
_OWN = {
    "BertForMaskedLM": ("predictions.transform.dense", "predictions.transform.LayerNorm", "predictions.bias"),
    "RobertaForMaskedLM": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
    "XLMRobertaForMaskedLM": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
}
_ROWS = 32  # masks that are held against the vocabulary at a time: always as many, so that one kernel does them all


class MaskedNetwork(Protocol):
    """A loaded masked language model."""

    device: Any
    batch_tokens: int

    def at(self, ids: Sequence[Ids], places: Sequence[int]) -> torch.Tensor:
        """Log-probabilities of all pieces at one position of each sequence, at least float32, shape (n, V).

        Sequences are sorted by length. Several threads may call it at once.
        """
        ...

    def logits(self, ids: Sequence[Ids], rows: Ids, places: Ids) -> torch.Tensor:
        """Logits of all pieces at any positions, at least float32, shape (k, V).

        Args:
            ids: sequences, sorted by length.
            rows: the sequence of each position, ascending, shape (k,).
            places: the position in its sequence, shape (k,).
        """
        ...


def masked_network(files: ModelFiles, dtype: torch.dtype, device: torch.device) -> MaskedNetwork:
    """The masked language model of a checkpoint.

    Raises:
        InputError: the weights do not fill the model, or transformers cannot load them.
    """
    config = files.config
    kinds = config.get("architectures") or [None]
    if kinds[0] in _OWN and PackedBert.reads(config) and config.get("tie_word_embeddings", True):
        network = PackedBert(files, dtype, device)
        dense, norm, bias = _OWN[kinds[0]]
        pairs = [(network.tensor(f"{name}.weight"), network.tensor(f"{name}.bias")) for name in (dense, norm)]
        return PackedMasked(network, files.depth, pairs[0], pairs[1], network.tensor(bias))
    return HubMasked(files, dtype, device)


def headed_mask(head: Head, dtype: torch.dtype, device: torch.device) -> MaskedNetwork:
    """The masked language model of a head over its encoder.

    Raises:
        InputError: the encoder is not of BERT's family, or tensors are missing.
    """
    if not PackedBert.reads(head.encoder.config):
        raise InputError(
            f"head {head.path}: its encoder {head.encoder.name!r} is not of BERT's family, and heads stand on no other"
        )
    own, adapters = head.tensors()
    for name in ("dense.weight", "dense.bias", "norm.weight", "norm.bias", "bias"):
        if name not in own:
            raise InputError(f"head {head.path} holds no {name}")
    network = PackedBert(head.encoder, dtype, device, adapters)
    return PackedMasked(
        network,
        head.encoder.depth,
        (own["dense.weight"], own["dense.bias"]),
        (own["norm.weight"], own["norm.bias"]),
        own["bias"],
    )


class PackedMasked:
    """A transform of the last layer, compared with the vector of every piece; computed only at masked positions."""

    def __init__(
        self,
        network: PackedBert,
        depth: int,
        dense: tuple[torch.Tensor, torch.Tensor],
        norm: tuple[torch.Tensor, torch.Tensor],
        bias: torch.Tensor,
    ) -> None:
        self.network, self.depth = network, depth
        self.device, self.batch_tokens = network.device, network.batch_tokens
        # What is small is computed precisely, in half precision too.
        self._wide = torch.promote_types(network.dtype, torch.float32)
        self._dense, self._norm = (
            (weight.to(device=self.device, dtype=self._wide), shift.to(device=self.device, dtype=self._wide))
            for weight, shift in (dense, norm)
        )
        self._bias = bias.to(device=self.device, dtype=self._wide)
        self._words = network.words
        if self._dense[0].shape != (network.width, network.width) or len(self._bias) != len(self._words):
            raise InputError(
                f"model {network.files.name!r}: its masked language model is of another size than its encoder"
            )

    def at(self, ids: Sequence[Ids], places: Sequence[int]) -> torch.Tensor:
        """See `MaskedNetwork`."""
        return torch.log_softmax(self.logits(ids, np.arange(len(ids)), np.asarray(places, dtype=np.int64)), dim=1)

    def logits(self, ids: Sequence[Ids], rows: Ids, places: Ids) -> torch.Tensor:
        """See `MaskedNetwork`."""
        starts = np.cumsum([0, *(len(row) for row in ids[:-1])])
        with self.network.cut(self.depth) as forward:
            states = forward(ids)[torch.from_numpy(starts[rows] + places).to(self.device)]
        n = len(rows)
        states = functional.pad(states.to(self._wide), (0, 0, 0, -n % _ROWS))
        states = functional.layer_norm(
            functional.gelu(functional.linear(states, *self._dense)),
            (self.network.width,),
            *self._norm,
            self.network.epsilon,
        )
        states = states.to(self._words.dtype)
        found = torch.cat([functional.linear(states[i : i + _ROWS], self._words) for i in range(0, n, _ROWS)])[:n]
        return found.to(self._wide).add_(self._bias)


class HubMasked(HubModel):
    """Any masked language model of transformers, in batches of equal length."""

    def __init__(self, files: ModelFiles, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__(files, dtype, device, "AutoModelForMaskedLM", "is it a masked language model?")
        self._asked = threading.local()
        below = getattr(self.model, self.model.base_model_prefix, None)
        self._narrows = below is not None and below is not self.model
        if below is not None and self._narrows:
            below.register_forward_hook(self._narrow)

    def at(self, ids: Sequence[Ids], places: Sequence[int]) -> torch.Tensor:
        """See `MaskedNetwork`."""
        return torch.log_softmax(self.logits(ids, np.arange(len(ids)), np.asarray(places, dtype=np.int64)), dim=1)

    def logits(self, ids: Sequence[Ids], rows: Ids, places: Ids) -> torch.Tensor:
        """See `MaskedNetwork`."""
        found = []
        for low, high in runs([len(row) for row in ids]):
            here = slice(*np.searchsorted(rows, [low, high]))
            where = [torch.from_numpy(index).to(self.device) for index in (rows[here] - low, places[here])]
            batch = torch.from_numpy(np.stack(ids[low:high])).to(self.device)
            inputs = {"input_ids": batch, "attention_mask": torch.ones_like(batch)}
            if self._typed:
                inputs["token_type_ids"] = torch.zeros_like(batch)
            self._asked.where = where
            logits = self.model(**inputs).logits
            found.append((logits[:, 0] if self._narrows else logits[where[0], where[1]]).float())
        return torch.cat(found)

    def _narrow(self, module: Any, given: Any, out: Any) -> Any:
        """Pass only the asked positions to the head: comparing all others with the vocabulary would take most time."""
        rows, places = self._asked.where
        out.last_hidden_state = out.last_hidden_state[rows, places][:, None]
        return out
