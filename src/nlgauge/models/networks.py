"""Classifiers of token sequences and of words: our heads, those of BERT's family, and any other of transformers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.models.encoder import FEATURES
from nlgauge.models.heads import Head
from nlgauge.models.hub import HubModel, know_start
from nlgauge.models.locate import ModelFiles, is_read
from nlgauge.models.packing import PackedBert, below
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import runs

# The model classes whose head is written here -> dense layer behind the first token, classifier.
_OWN = {
    "BertForSequenceClassification": ("pooler.dense", "classifier"),
    "RobertaForSequenceClassification": ("classifier.dense", "classifier.out_proj"),
    "XLMRobertaForSequenceClassification": ("classifier.dense", "classifier.out_proj"),
    "DebertaForSequenceClassification": ("pooler.dense", "classifier"),
    "DebertaV2ForSequenceClassification": ("pooler.dense", "classifier"),
}
# What follows the dense layer; the key is what DeBERTa's configuration calls it.
_AFTER: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {"gelu": functional.gelu, "tanh": torch.tanh}


def classifier(files: ModelFiles, dtype: torch.dtype, device: torch.device) -> Classifier:
    """The classifier of a checkpoint.

    Raises:
        InputError: the weights do not fill the model, or transformers cannot load them.
    """
    config = files.config
    kind = str((config.get("architectures") or [None])[0])
    after = str(config.get("pooler_hidden_act", "gelu")) if kind.startswith("Deberta") else "tanh"
    if kind in _OWN and after in _AFTER and is_read(config):
        network = PackedBert(files, dtype, device)
        dense, out = ((network.tensor(f"{name}.weight"), network.tensor(f"{name}.bias")) for name in _OWN[kind])
        return PackedClassifier(network, files.depth, (dense,), out, mean=False, after=_AFTER[after])
    return HubClassifier(files, dtype, device)


def headed(head: Head, dtype: torch.dtype, device: torch.device) -> Classifier:
    """The classifier of a head over its encoder.

    Raises:
        InputError: the encoder is not of BERT's family, or the tensors do not fit it.
    """
    network, own = below(head, dtype, device)
    hidden = (_layer(head, own, "hidden"),) if "hidden.weight" in own else ()
    return PackedClassifier(network, head.encoder.depth, hidden, _layer(head, own, "classifier"), mean=True)


def _layer(head: Head, tensors: Mapping[str, torch.Tensor], name: str) -> tuple[torch.Tensor, torch.Tensor]:
    for part in ("weight", "bias"):
        if f"{name}.{part}" not in tensors:
            raise InputError(f"head {head.path} holds no {name}.{part}")
    return tensors[f"{name}.weight"], tensors[f"{name}.bias"]


class PackedClassifier:
    """Layers on top of the encoder's last layer. Their input is the first vector, perhaps with the mean of all vectors.

    Args:
        network: the encoder.
        depth: the encoder's number of layers.
        hidden: weight and bias of each hidden layer.
        out: weight and bias of the last layer.
        mean: whether the mean is part of the input.
        after: what follows a hidden layer.
    """

    def __init__(
        self,
        network: PackedBert,
        depth: int,
        hidden: Sequence[tuple[torch.Tensor, torch.Tensor]],
        out: tuple[torch.Tensor, torch.Tensor],
        *,
        mean: bool,
        after: Callable[[torch.Tensor], torch.Tensor] = torch.tanh,
    ) -> None:
        self.network, self.depth, self.mean, self._after = network, depth, mean, after
        self.device, self.batch_tokens = network.device, network.batch_tokens
        # What is small is computed precisely, in half precision too.
        self._wide = torch.promote_types(network.dtype, torch.float32)
        self._hidden = [self._placed(layer) for layer in hidden]
        self._out = self._placed(out)
        width = network.width * (2 if mean else 1)
        for weight, _ in (*self._hidden, self._out):
            if weight.shape[1] != width:
                raise InputError(
                    f"model {network.files.name!r}: a layer of its head takes {weight.shape[1]} numbers, expected"
                    f" {width}"
                )
            width = weight.shape[0]

    def logits(self, ids: Sequence[Ids], types: Sequence[Ids]) -> torch.Tensor:
        """Logits of sequences sorted by length, shape (n, labels), in CPU memory. Several threads may call it."""
        return self.classify(self.pooled(ids, types)).cpu()

    def classify(self, features: torch.Tensor) -> torch.Tensor:
        """Logits of what `pooled` gives, shape (n, labels)."""
        for weight, bias in self._hidden:
            features = self._after(functional.linear(features, weight, bias))
        return functional.linear(features, *self._out)

    def pooled(self, ids: Sequence[Ids], types: Sequence[Ids]) -> torch.Tensor:
        """What the layers on top read of sequences sorted by length, shape (n, d), or (n, 2 d) with the mean."""
        with self.network.cut(self.depth) as forward:
            states = forward(ids, types)
        found, row = [], 0
        for low, high in runs([len(i) for i in ids]):
            n, length = high - low, len(ids[low])
            block = states[row : row + n * length].view(n, length, -1).to(self._wide)
            row += n * length
            found.append(torch.cat([block[:, 0], block.mean(dim=1)], dim=1) if self.mean else block[:, 0])
        return torch.cat(found)

    def _placed(self, layer: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        weight, bias = (part.to(device=self.device, dtype=self._wide) for part in layer)
        return weight, bias


class HubClassifier(HubModel):
    """Any sequence classifier of transformers, in batches of equal length."""

    def __init__(self, files: ModelFiles, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__(files, dtype, device, "AutoModelForSequenceClassification", "is it a classifier of text?")
        config = self.model.config
        self._end = config.eos_token_id if config.is_encoder_decoder else None
        if config.is_encoder_decoder:
            know_start(self.model)
        # Without a piece for padding transformers lets a left-to-right model read one sequence at a time.
        self._alone = getattr(config, "pad_token_id", None) is None and files.reads_left_to_right
        kinds = getattr(config, "type_vocab_size", None)
        # GPT-2 takes types for words of its own, and its tokenizer makes none.
        self._typed = self._typed and (kinds is None or kinds > 1) and not files.reads_left_to_right

    def logits(self, ids: Sequence[Ids], types: Sequence[Ids]) -> torch.Tensor:
        """As of `PackedClassifier`."""
        wide = torch.promote_types(self.model.dtype, torch.float32)
        logits = torch.empty(len(ids), int(self.model.config.num_labels), dtype=wide)
        for places in self._alike(ids):
            batch = torch.from_numpy(np.stack([ids[i] for i in places])).to(self.device)
            inputs = {"input_ids": batch, "attention_mask": torch.ones_like(batch)}
            if self._typed:
                inputs["token_type_ids"] = torch.from_numpy(np.stack([types[i] for i in places])).to(self.device)
            logits[places] = self.model(**inputs).logits.to(logits)
        return logits

    def _alike(self, ids: Sequence[Ids]) -> Iterator[list[int]]:
        """Positions of sequences with equal lengths.

        Encoder-decoders read the vector of the last end token, so for them all sequences of a group also have the same
        number of end tokens.
        """
        if self._alone:
            yield from ([place] for place in range(len(ids)))
            return
        for low, high in runs([len(i) for i in ids]):
            groups: dict[int, list[int]] = {}
            for place in range(low, high):
                groups.setdefault(int((ids[place] == self._end).sum()) if self._end is not None else 0, []).append(
                    place
                )
            yield from groups.values()


Classifier: TypeAlias = PackedClassifier | HubClassifier


# --- The network of a head that marks words: the packed encoder, and two layers on the first piece of each word

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
        self.network, own = below(head, dtype, device, TENSORS)
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
