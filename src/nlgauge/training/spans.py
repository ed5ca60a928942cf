"""Training a head that marks the words at fault in a text, from texts whose errors are known by place."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from inspect import signature
from typing import Any

import numpy as np
import torch

from nlgauge.core.errors import InputError
from nlgauge.core.result import check_target, claimed
from nlgauge.models.encoder import FEATURES, Words, torch_device
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.heads import find_head
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.networks import ALIGNED, POOLED, aligned, pooled_units
from nlgauge.models.spans import KIND, OUTPUTS, WordPairs, read_words
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.adapters import adapter_tensors, add_adapters, begin_adapters
from nlgauge.training.classifier import arithmetic, encoder_below, narrow_frozen, pad_of, padded
from nlgauge.training.heads import head_metadata, write_head
from nlgauge.training.loop import Checkpoint, fit_network
from nlgauge.training.recipe import Recipe, beginning, check_precision, run_line, trainable

_HIDDEN = 64  # units between the vectors and the four outputs
_TEXT = 0.5  # weight of whole texts in the loss
_RARE = 5.0  # weight of places where something is missing, of which there is one in fifty
UNKNOWN = -100  # the label of a word, a place or a text of which nothing is known


@dataclass(frozen=True)
class MarkedPair:
    """A text with known errors, beside a text without.

    Attributes:
        words: the words of the text.
        others: the words of the other one.
        labels: 0 for a right word, 1 for part of a minor error, 2 for part of a major one, or `UNKNOWN`; as many as
            `words`.
        missing: 1 where something is missing before a word, and at last after all, or `UNKNOWN`; one more than `words`.
        faulty: whether the text has an error at all; None where labels and `missing` say so, or nobody knows.
    """

    words: Words
    others: Words
    labels: tuple[int, ...]
    missing: tuple[int, ...]
    faulty: bool | None = None

    def has_error(self) -> int:
        """1 for a text with an error, 0 for one without, `UNKNOWN` where neither is known."""
        if self.faulty is not None:
            return int(self.faulty)
        if max((*self.labels, *self.missing)) > 0:
            return 1
        return UNKNOWN if UNKNOWN in (*self.labels, *self.missing) else 0


class SpanNetwork(torch.nn.Module):
    """An encoder, and two layers on the vectors of chosen places beside their features."""

    def __init__(self, encoder: Any, width: int) -> None:
        super().__init__()
        self.encoder = encoder
        base = encoder.get_base_model() if hasattr(encoder, "get_base_model") else encoder
        self._typed = "token_type_ids" in signature(base.forward).parameters
        self.hidden = torch.nn.Linear(ALIGNED * width + 1 + FEATURES, _HIDDEN)
        self.out = torch.nn.Linear(_HIDDEN, len(OUTPUTS))
        self.text = torch.nn.Linear(POOLED * _HIDDEN, 1)

    def forward(
        self,
        inputs: dict[str, torch.Tensor],
        places: torch.Tensor,
        features: torch.Tensor,
        starts: torch.Tensor,
        read: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of places and of whole texts, float32, shapes (n, places, 4) and (n,).

        Args:
            inputs: of the encoder, for n pairs.
            places: the pieces that are judged, padded with 0, shape (n, places).
            features: of the places, shape (n, places, FEATURES).
            starts: the number of pieces before the judged text, shape (n,).
            read: False for padding among the places, shape (n, places).
        """
        if not self._typed:
            del inputs["token_type_ids"]
        states = self.encoder(**inputs)[0].float()
        with torch.autocast(states.device.type, enabled=False):
            vectors = states.gather(1, places[:, :, None].expand(-1, -1, states.shape[2]))
            most = int(starts.max())
            mask = torch.arange(most, device=states.device)[None] < starts[:, None]
            told = torch.cat([aligned(vectors, states[:, :most], mask), features], dim=2)
            hidden = torch.nn.functional.gelu(self.hidden(told))
            return self.out(hidden), self.text(pooled_units(hidden, read))[:, 0]

    def tensors(self) -> dict[str, torch.Tensor]:
        """Adapters and layers by their names in a head file."""
        layers = {"hidden": self.hidden, "out": self.out, "text": self.text}
        own = {
            f"{name}.{part}": getattr(layer, part).detach().float().cpu().contiguous()
            for name, layer in layers.items()
            for part in ("weight", "bias")
        }
        return {**adapter_tensors(self.encoder), **own}


def train_spans(
    pairs: Sequence[MarkedPair],
    output: str | os.PathLike[str],
    recipe: Recipe,
    runtime: Runtime,
    *,
    about: Mapping[str, str] | None = None,
    dropout: float = 0.0,
    init: str | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> None:
    """Train a head and write it.

    The loss of a batch is the mean cross entropy of its words' severities, plus that of what is missing, plus that of
    whether a text has an error.

    Args:
        pairs: what is learnt from.
        output: a `.safetensors` file.
        recipe: encoder, rank of the adapters, longest pair and schedule.
        runtime: device, precision (bfloat16 or float32) and progress.
        about: more metadata of the head: name, recipe, data.
        dropout: of the encoder.
        init: a head to begin from: an earlier one of this kind, or an NLI head. Of the latter it takes what the
            adapters change, as nearly as the rank allows.
        tell: called with lines about the progress.

    Raises:
        InputError: the encoder is neither BERT nor MPNet, or the output cannot be written; also what `locate` raises.
        MissingExtra: torch or peft is not installed.
    """
    check_precision(runtime)
    _check(pairs, os.fspath(output))
    files = trainable(locate(recipe.model, recipe.revision), runtime, "lora")
    read = read_words(PairTokenizer(files, recipe.max_tokens), [(pair.words, pair.others) for pair in pairs])
    labels = [_labels(pair, numbers) for pair, numbers in zip(pairs, read.words, strict=True)]
    faulty = torch.tensor([pair.has_error() for pair in pairs])
    device = torch_device(torch, runtime.device)
    network = _network(files, recipe, dropout, runtime.dtype == "bfloat16").to(device).train()
    if init is not None:
        _begin(network, init, files)
    pad, rare = pad_of(files), torch.tensor(_RARE, device=device)
    cut = int(read.pairs.truncated.sum())
    tell(f"{len(pairs)} pairs, {read.pairs.lengths.mean():.1f} pieces each, {cut} cut, in {runtime.dtype}")

    def loss(where: Ids) -> torch.Tensor:
        inputs, places, features, starts, wanted, present = _batch(read, labels, where, pad, device)
        with arithmetic(device, runtime.dtype):
            logits, texts = network(inputs, places, features, starts, present)
        severity = torch.nn.functional.cross_entropy(
            logits[..., :3].flatten(0, 1), wanted[..., 0].flatten(), ignore_index=UNKNOWN, reduction="sum"
        )
        words = (wanted[..., 0] != UNKNOWN).sum().clamp(min=1)
        gap = _of_known(logits[..., 3], wanted[..., 1], rare)
        return severity / words + gap + _TEXT * _of_known(texts, faulty[where].to(device), None)

    with claimed(os.fspath(output)):
        own = f"{_digest(pairs)} {beginning(init)} {dropout}"
        checkpoint = Checkpoint.beside(os.fspath(output), f"{run_line([], recipe, runtime, files)} {own}")
        fit_network(network, loss, read.pairs.lengths, recipe.schedule, checkpoint, runtime)
        metadata = {"outputs": ",".join(OUTPUTS), **head_metadata(KIND, recipe, files, runtime.dtype, about)}
        write_head(output, network.tensors(), metadata)
        checkpoint.done()


def _of_known(logits: torch.Tensor, wanted: torch.Tensor, weight: torch.Tensor | None) -> torch.Tensor:
    """The mean cross entropy of yes and no where the answer is known; 0 where none is."""
    known = wanted != UNKNOWN
    total = torch.nn.functional.binary_cross_entropy_with_logits(
        logits[known], wanted[known].float(), pos_weight=weight, reduction="sum"
    )
    return total / known.sum().clamp(min=1)


def _check(pairs: Sequence[MarkedPair], output: str) -> None:
    if not output.endswith(".safetensors"):
        raise InputError(f"{output}: a head is a file, expected a name that ends in .safetensors")
    check_target(output)
    if not pairs:
        raise InputError("no pairs to learn from, expected one or more")
    for number, pair in enumerate(pairs):
        n, labels, gaps = len(pair.words), len(pair.labels), len(pair.missing)
        if (labels, gaps) != (n, n + 1):
            raise InputError(
                f"pair {number} has {n} words with {labels} labels and {gaps} gaps, expected {n} labels and {n + 1}"
                " gaps"
            )


def _digest(pairs: Sequence[MarkedPair]) -> str:
    """What tells these pairs from others, so that a checkpoint of other data is refused."""
    return sha256(repr(pairs).encode("utf-8", "surrogatepass")).hexdigest()


def _begin(network: SpanNetwork, init: str, files: ModelFiles) -> None:
    try:
        head = find_head(init, KIND)
    except InputError:
        head = find_head(init, "nli")
    else:
        own, _ = head.tensors()
        with torch.no_grad():
            for name, layer in (("hidden", network.hidden), ("out", network.out), ("text", network.text)):
                if f"{name}.weight" in own:  # heads made before judge no whole texts
                    layer.weight.copy_(own[f"{name}.weight"])
                    layer.bias.copy_(own[f"{name}.bias"])
    begin_adapters(network.encoder, head, files)


def _labels(pair: MarkedPair, numbers: Ids) -> Ids:
    """Severity and whether something is missing, of the places that were read, shape (places, 2)."""
    severities = np.array([*pair.labels, UNKNOWN], dtype=np.int64)
    return np.stack([severities[numbers], np.array(pair.missing, dtype=np.int64)[numbers]], axis=1)


def _batch(
    read: WordPairs, labels: Sequence[Ids], where: Ids, pad: int, device: torch.device
) -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Inputs of the encoder, places, features, starts, labels and which places are read, of a batch, padded."""
    ids, types = zip(*(read.pairs.ids(int(i)) for i in where), strict=True)
    most = max(len(read.places[i]) for i in where)
    places = np.zeros((len(where), most), dtype=np.int64)
    features = np.zeros((len(where), most, FEATURES), dtype=np.float32)
    wanted = np.full((len(where), most, 2), UNKNOWN, dtype=np.int64)
    for row, i in enumerate(where):
        size = len(read.places[i])
        places[row, :size], features[row, :size], wanted[row, :size] = read.places[i], read.features[i], labels[i]
    present = np.arange(most)[None] < np.array([len(read.places[i]) for i in where])[:, None]
    made = (torch.from_numpy(part).to(device) for part in (places, features, read.starts[where], wanted, present))
    first, second, third, fourth, fifth = made
    return padded(ids, types, pad, device), first, second, third, fourth, fifth


def _network(files: ModelFiles, recipe: Recipe, dropout: float, narrow: bool) -> SpanNetwork:
    encoder = encoder_below(files, dropout)
    with torch.random.fork_rng([]):
        torch.manual_seed(recipe.schedule.seed)
        network = SpanNetwork(add_adapters(encoder, recipe.rank, recipe.alpha), files.config["hidden_size"])
    if narrow:
        narrow_frozen(network)
    return network
