"""The networks that read a pair of sentences: an encoder under a small head, or a transformers classifier."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from inspect import signature
from typing import Any

import numpy as np
import torch

from nlgauge.core.errors import InputError
from nlgauge.models.hub import from_pretrained, know_start
from nlgauge.models.locate import ModelFiles
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Advance
from nlgauge.training.adapters import add_adapters
from nlgauge.training.data import LABELS, EncodedPairs

FEATURES = "cls,mean"  # of the last layer: the first vector, and the mean of all, special tokens included
_EVALUATION_TOKENS = 4096
_HEADED = ("bert", "mpnet")  # model types whose heads are loaded again


class HeadNetwork(torch.nn.Module):
    """An encoder whose first vector and mean vector are the input of one linear layer.

    Args:
        encoder: of transformers.
        width: of a token's vector.
        outputs: of the linear layer; one for each label by default.
    """

    def __init__(self, encoder: Any, width: int, outputs: int = len(LABELS)) -> None:
        super().__init__()
        self.encoder = encoder
        base = encoder.get_base_model() if hasattr(encoder, "get_base_model") else encoder
        self._typed = "token_type_ids" in signature(base.forward).parameters
        self.classifier = torch.nn.Linear(2 * width, outputs)

    def forward(self, **inputs: torch.Tensor) -> torch.Tensor:
        """Logits, float32, shape (n, outputs)."""
        if not self._typed:
            del inputs["token_type_ids"]
        states = self.encoder(**inputs)[0].float()
        mask = inputs["attention_mask"][:, :, None]
        mean = (states * mask).sum(1) / mask.sum(1)
        with torch.autocast(states.device.type, enabled=False):
            logits: torch.Tensor = self.classifier(torch.cat([states[:, 0], mean], dim=1))
        return logits

    def own_tensors(self) -> dict[str, torch.Tensor]:
        """The weights on top of the encoder, by their names in a head file."""
        return {
            f"classifier.{name}": tensor.detach().float().cpu().contiguous()
            for name, tensor in self.classifier.named_parameters()
        }


class SequenceNetwork(torch.nn.Module):
    """A transformers model for sequence classification; `typed` says whether the types of its pieces are read."""

    def __init__(self, model: Any, typed: bool = True) -> None:
        super().__init__()
        self.model = model
        base = model.get_base_model() if hasattr(model, "get_base_model") else model
        self._typed = typed and "token_type_ids" in signature(base.forward).parameters
        self._reads_last = base.config.model_type == "xlnet"
        if base.config.is_encoder_decoder:
            know_start(base)

    def forward(self, **inputs: torch.Tensor) -> torch.Tensor:
        """Logits, float32, shape (n, 3)."""
        if not self._typed:
            del inputs["token_type_ids"]
        if self._reads_last:
            inputs = _from_the_left(inputs)
        logits: torch.Tensor = self.model(**inputs).logits.float()
        return logits


def _from_the_left(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same sequences with their padding before them, for a model that reads the last vector (XLNet)."""
    mask = inputs["attention_mask"]
    steps = torch.arange(mask.shape[1], device=mask.device)
    places = (steps - (1 - mask).sum(1, keepdim=True)) % mask.shape[1]
    return {name: tensor.gather(1, places) for name, tensor in inputs.items()}


def head_network(
    files: ModelFiles,
    rank: int,
    alpha: float,
    dropout: float,
    seed: int,
    narrow: bool,
    outputs: int = len(LABELS),
) -> HeadNetwork:
    """An encoder with new adapters and a new classifier.

    Args:
        files: the files of a BERT or MPNet encoder.
        rank: the rank of the adapters.
        alpha: the scale of the adapters times their rank.
        dropout: the dropout of the encoder in training.
        seed: the seed of the new weights.
        narrow: keep frozen weights in bfloat16, where arithmetic is in it anyway.
        outputs: of the classifier.
    """
    encoder = encoder_below(files, dropout)
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        adapted = add_adapters(encoder, rank, alpha)
        network = HeadNetwork(adapted, files.config["hidden_size"], outputs)
    if narrow:
        narrow_frozen(network)
    return network


def encoder_below(files: ModelFiles, dropout: float) -> Any:
    """The encoder below a head.

    Raises:
        InputError: the encoder is neither BERT nor MPNet, or its weights cannot be read.
    """
    from transformers import AutoModel

    files.check()
    if files.config.get("model_type") not in _HEADED:
        raise InputError(
            f"a head is made for encoders of type bert or mpnet, {files.name!r} is {files.config.get('model_type')!r};"
            " name a folder as the output"
        )
    return with_dropout(AutoModel, files, dropout, add_pooling_layer=False)


def sequence_network(
    files: ModelFiles, method: str, rank: int, alpha: float, dropout: float, seed: int, narrow: bool
) -> SequenceNetwork:
    """Any encoder as a transformers classifier, trained as a whole (`full`) or by adapters (`lora`).

    Raises:
        InputError: the model reads from left to right and has no piece for padding, so that it reads no batch.
    """
    from transformers import AutoModelForSequenceClassification

    if files.reads_left_to_right and files.config.get("pad_token_id") is None:
        raise InputError(
            f"model {files.name!r} has no piece for padding, which a batch needs; name one as pad_token_id in its"
            " config.json"
        )
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        names = {"id2label": dict(enumerate(LABELS)), "label2id": {label: i for i, label in enumerate(LABELS)}}
        model = with_dropout(AutoModelForSequenceClassification, files, dropout, num_labels=len(LABELS), **names)
        if method == "lora":
            model = add_adapters(model, rank, alpha)
    if narrow and method == "lora":
        narrow_frozen(model)
    return SequenceNetwork(model, typed=not files.reads_left_to_right)


def with_dropout(kind: Any, files: ModelFiles, dropout: float, **options: Any) -> Any:
    """A model of a transformers class with its weights, for training, with this dropout in all its layers."""
    # Eager attention: torch's fused one has no fast way in bfloat16 on processors, where it takes half of the time.
    model = from_pretrained(kind, files, dtype=torch.float32, attn_implementation="eager", **options)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = dropout
    return model


def narrow_frozen(network: torch.nn.Module) -> None:
    """Keep frozen weights in bfloat16."""
    for parameter in network.parameters():
        if not parameter.requires_grad:
            parameter.data = parameter.data.to(torch.bfloat16)


def arithmetic(device: torch.device, dtype: str) -> AbstractContextManager[Any]:
    """The context in which a network runs: autocast for bfloat16, nothing for float32."""
    return torch.autocast(device.type, torch.bfloat16) if dtype == "bfloat16" else nullcontext()


def pad_of(files: ModelFiles) -> int:
    """The id that pads a batch; any id will do, since padding is masked."""
    return int(files.config.get("pad_token_id") or 0)


def batch_inputs(
    pairs: EncodedPairs, where: Ids | Sequence[int], pad: int, device: torch.device
) -> dict[str, torch.Tensor]:
    """The inputs of a network for some pairs, padded to the longest of them."""
    return padded([pairs.ids[i] for i in where], [pairs.types[i] for i in where], pad, device)


def padded(rows: Sequence[Ids], types: Sequence[Ids] | None, pad: int, device: torch.device) -> dict[str, torch.Tensor]:
    """The inputs of a network for some sequences, padded to the longest of them; types are 0 where none are given."""
    ids = np.full((len(rows), max(len(row) for row in rows)), pad, dtype=np.int64)
    mask, kinds = np.zeros_like(ids), np.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)], mask[i, : len(row)] = row, 1
        if types is not None:
            kinds[i, : len(row)] = types[i]
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
    return {name: torch.from_numpy(array).to(device) for name, array in inputs.items()}


def probabilities(
    network: torch.nn.Module, pairs: EncodedPairs, pad: int, dtype: str, advance: Advance = lambda count: None
) -> np.ndarray:
    """The probabilities that a network gives each pair, in the order of `LABELS`: float64, shape (n, 3)."""
    from nlgauge.runtime.runtime import by_length

    device = next(network.parameters()).device
    probable = np.zeros((len(pairs.ids), len(LABELS)))
    training = network.training
    network.eval()
    with torch.inference_mode(), arithmetic(device, dtype):
        for where in by_length(pairs.lengths, _EVALUATION_TOKENS):
            logits = network(**batch_inputs(pairs, where, pad, device))
            probable[where] = torch.softmax(logits.double(), dim=1).cpu().numpy()
            advance(len(where))
    network.train(training)
    return probable
