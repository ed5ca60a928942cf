"""Your own NLI model: labelled pairs read, a head or a whole classifier trained on them, evaluated and saved."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors import safe_open

from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile
from nlgauge.models.entailment import LABELS, PairTokenizer
from nlgauge.models.heads import FORMAT, SUFFIX, widened
from nlgauge.models.hub import know_start
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Runtime, by_length, torch_device
from nlgauge.training.examples import read_rows
from nlgauge.training.heads import (
    FEATURES,
    HeadNetwork,
    adapter_tensors,
    add_adapters,
    arithmetic,
    check_output,
    head_metadata,
    head_network,
    narrow_frozen,
    new_folder,
    own_tensors,
    pad_of,
    padded,
    reads_types,
    save_encoder,
    set_adapters,
    with_dropout,
    write_head,
)
from nlgauge.training.loop import Checkpoint, alone, fit_network
from nlgauge.training.recipe import NliRecipe, check_precision, run_line, trainable

KIND = "nli"
_EVALUATION_TOKENS = 4096


@dataclass(frozen=True)
class Accuracy:
    """How often a model predicts the label of a test set.

    Attributes:
        name: the name of the file.
        n: the number of pairs.
        accuracy: the share of labels predicted correctly.
        two_way: the share of pairs for which entailment is told from the other labels correctly.
        recall: for each label, the share of its pairs predicted correctly; NaN where there are none.
    """

    name: str
    n: int
    accuracy: float
    two_way: float
    recall: tuple[float, ...]


@alone
def train_nli(
    train: Sequence[InputFile],
    output: str,
    recipe: NliRecipe,
    runtime: Runtime,
    *,
    dev: Sequence[InputFile] = (),
    test: Sequence[InputFile] = (),
    about: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Accuracy]:
    """Train on labelled pairs, write the model, and evaluate it.

    A head fits the encoder that it was made for; a folder works for every family that transformers can classify with.
    Pairs are batched by similar length, gradients are clipped to norm 1, and a run that was stopped goes on (see
    `Checkpoint`). XNLI-R of the paper of MENLI is `FacebookAI/xlm-roberta-base`, method `full`, rate 2e-5, 3 epochs of
    batches of 32, dropout 0.1, 128 tokens; the tests do this with a tiny XLM-R.

    Args:
        train: JSON lines files of premise, hypothesis and label. One that is named twice counts twice.
        output: a `.safetensors` name for a head (adapters, on a BERT or MPNet), any other name for a folder.
        recipe: what is trained, and how.
        runtime: device, precision (bfloat16 or float32) and progress.
        dev: files to evaluate on after each pass.
        test: files to evaluate on at the end.
        about: more metadata of a head: name, recipe, data, trained_on_phenomena (perturbations of the training data,
            with commas: an audit marks the rows of a metric that was taught the attack).
        tell: called with lines about the progress.

    Returns:
        The accuracy on each test file.
    """
    check_precision(runtime)
    check_output(output, recipe.method)
    is_head = output.endswith(SUFFIX)
    if recipe.init is not None and not is_head:
        raise InputError("a head to begin from goes with a head to write; end the output's name in .safetensors")
    files = trainable(locate(recipe.model, recipe.revision), runtime, recipe.method)
    tokenizer = PairTokenizer(files, recipe.max_tokens)
    sets = {file.name: encode_pairs(read_pairs(file), tokenizer) for file in (*train, *dev, *test)}
    learnt = [sets[file.name] for file in train]
    pairs = EncodedPairs(
        [ids for part in learnt for ids in part.ids],
        [types for part in learnt for types in part.types],
        np.concatenate([part.labels for part in learnt]),
        sum(part.n_cut for part in learnt),
    )
    tell(f"{len(pairs.ids)} pairs, {pairs.lengths.mean():.1f} tokens each, {pairs.n_cut} cut, in {runtime.dtype}")
    device = torch_device(torch, runtime.device)
    network = _network(recipe, files, is_head, runtime.dtype == "bfloat16").to(device).train()
    pad, labels = pad_of(files), torch.from_numpy(pairs.labels).to(device)

    def loss(where: np.ndarray) -> torch.Tensor:
        with arithmetic(device, runtime.dtype):
            logits = network(**batch_inputs(pairs, where, pad, device))
        return torch.nn.functional.cross_entropy(logits, labels[torch.from_numpy(where).to(device)])

    def measure(file: InputFile) -> Accuracy:
        return accuracy(file.name, probabilities(network, sets[file.name], pad, runtime.dtype), sets[file.name].labels)

    def after(epoch: int) -> None:
        for file in dev:
            tell(f"pass {epoch}: {Path(file.name).name} {measure(file).accuracy:.4f}")

    checkpoint = Checkpoint.beside(output, run_line(train, recipe, runtime, files))
    fit_network(network, loss, pairs.lengths, recipe.schedule, checkpoint, runtime, after)
    accuracies = [measure(file) for file in test]
    if isinstance(network, HeadNetwork):
        metadata = head_metadata(KIND, recipe, files, runtime.dtype, about)
        save_head(output, network, {"trained_on_phenomena": "", **metadata})
    else:
        save_folder(output, network, files)
    checkpoint.done()
    return accuracies


def accuracy(name: str, probable: np.ndarray, labels: np.ndarray) -> Accuracy:
    """How probabilities, shape (n, 3), agree with labels, shape (n,)."""
    said = probable.argmax(1)
    recall = tuple(
        float(np.mean(said[labels == i] == i)) if np.any(labels == i) else float("nan") for i in range(len(LABELS))
    )
    return Accuracy(
        name, len(labels), float(np.mean(said == labels)), float(np.mean((said == 0) == (labels == 0))), recall
    )


def _network(recipe: NliRecipe, files: ModelFiles, is_head: bool, narrow: bool) -> HeadNetwork | SequenceNetwork:
    """A head's network, which may begin from an earlier head, or a whole classifier."""
    seed = recipe.schedule.seed
    if not is_head:
        return sequence_network(files, recipe.method, recipe.rank, recipe.alpha, recipe.dropout, seed, narrow)
    network = head_network(files, recipe.rank, recipe.alpha, recipe.dropout, seed, narrow)
    if recipe.init is not None:
        begin_from(recipe.init, network, files)
    return network


# --- Labelled pairs of sentences, read from JSON lines and split into pieces


class LabelledPair(NamedTuple):
    """A premise, a hypothesis and the index of their label in `LABELS`."""

    premise: str
    hypothesis: str
    label: int


@dataclass(frozen=True)
class EncodedPairs:
    """Pairs as a network reads them.

    Attributes:
        ids: piece ids of each pair, special tokens included.
        types: token types in the same shapes; in BERT's families 0 for the premise's pieces and 1 for the
            hypothesis's.
        labels: shape (n,).
        n_cut: the number of pairs longer than the limit, whose longer side was cut.
    """

    ids: list[Ids]
    types: list[Ids]
    labels: Ids
    n_cut: int

    @property
    def lengths(self) -> Ids:
        """The number of pieces of each pair, shape (n,)."""
        return np.array([len(ids) for ids in self.ids], dtype=np.int64)


def read_pairs(file: InputFile) -> list[LabelledPair]:
    """The pairs of a JSON lines file: `premise`, `hypothesis` and `label`, one of `LABELS` in any case."""
    return read_rows(
        file,
        lambda row, where: [_pair(row)],
        "pairs, expected one JSON object per line with premise, hypothesis and label",
    )


def _pair(row: Any) -> LabelledPair:
    premise, hypothesis, label = (_text(row, name) for name in ("premise", "hypothesis", "label"))
    folded = label.strip().lower()
    if folded not in LABELS:
        raise InputError(f"label is {label!r:.60}, expected {', '.join(LABELS[:-1])} or {LABELS[-1]}")
    return LabelledPair(premise, hypothesis, LABELS.index(folded))


def _text(row: Any, name: str) -> str:
    value = row.get(name) if isinstance(row, dict) else None
    if not isinstance(value, str):
        found = f"{name} is {type(value).__name__}" if isinstance(row, dict) and name in row else f"no {name}"
        raise InputError(f"{found}, expected an object with the texts premise, hypothesis and label")
    return value


def encode_pairs(pairs: Sequence[LabelledPair], tokenizer: PairTokenizer) -> EncodedPairs:
    """The pieces of each pair, as they are read when the model is used."""
    contents = tokenizer.read(text for pair in pairs for text in pair[:2])
    joined = tokenizer.pairs([pair[:2] for pair in pairs], contents)
    rows = [joined.ids(i) for i in range(len(pairs))]
    labels = np.array([pair.label for pair in pairs], dtype=np.int64)
    return EncodedPairs([ids for ids, _ in rows], [types for _, types in rows], labels, int(joined.truncated.sum()))


# --- The networks that read a pair: an encoder under a small head, or a transformers classifier


class SequenceNetwork(torch.nn.Module):
    """A transformers model for sequence classification; `typed` says whether the types of its pieces are read."""

    def __init__(self, model: Any, typed: bool = True) -> None:
        super().__init__()
        self.model = model
        base = model.get_base_model() if hasattr(model, "get_base_model") else model
        self._typed = typed and reads_types(model)
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


def sequence_network(
    files: ModelFiles, method: str, rank: int, alpha: float, dropout: float, seed: int, narrow: bool
) -> SequenceNetwork:
    """Any encoder as a transformers classifier, trained as a whole (`full`) or by adapters (`lora`).

    A model that reads from left to right and has no piece for padding reads no batch, and is refused.
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


def batch_inputs(
    pairs: EncodedPairs, where: Ids | Sequence[int], pad: int, device: torch.device
) -> dict[str, torch.Tensor]:
    """The inputs of a network for some pairs, padded to the longest of them."""
    return padded([pairs.ids[i] for i in where], [pairs.types[i] for i in where], pad, device)


def probabilities(network: torch.nn.Module, pairs: EncodedPairs, pad: int, dtype: str) -> np.ndarray:
    """The probabilities that a network gives each pair, in the order of `LABELS`: float64, shape (n, 3)."""
    device = next(network.parameters()).device
    probable = np.zeros((len(pairs.ids), len(LABELS)))
    training = network.training
    network.eval()
    with torch.inference_mode(), arithmetic(device, dtype):
        for where in by_length(pairs.lengths, _EVALUATION_TOKENS):
            logits = network(**batch_inputs(pairs, where, pad, device))
            probable[where] = torch.softmax(logits.double(), dim=1).cpu().numpy()
    network.train(training)
    return probable


def save_head(path: str | os.PathLike[str], network: HeadNetwork, about: Mapping[str, str]) -> None:
    """Write a head, whole or not at all; `about` is more metadata, all of them strings."""
    tensors = adapter_tensors(network.encoder) | own_tensors(network)
    write_head(path, tensors, {"labels": ",".join(LABELS), "features": FEATURES, **about})


def begin_from(path: str | os.PathLike[str], network: HeadNetwork, files: ModelFiles) -> None:
    """Load the weights of an earlier head into a network, whose encoder is that of `files`.

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


def save_folder(path: str | os.PathLike[str], network: SequenceNetwork, files: ModelFiles) -> None:
    """Write a classifier as transformers reads it, adapters merged, with its tokenizer; whole or not at all."""
    with new_folder(path) as folder:
        save_encoder(folder, network.model, files)
