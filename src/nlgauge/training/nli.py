"""Your own NLI model: read, train, evaluate, save."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile
from nlgauge.models.encoder import torch_device
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.classifier import (
    HeadNetwork,
    SequenceNetwork,
    arithmetic,
    batch_inputs,
    head_network,
    pad_of,
    probabilities,
    sequence_network,
)
from nlgauge.training.data import LABELS, EncodedPairs, encode_pairs, read_pairs
from nlgauge.training.heads import KIND, begin_from, check_output, head_metadata, save_folder, save_head
from nlgauge.training.loop import Checkpoint, alone, fit_network
from nlgauge.training.recipe import NliRecipe, check_precision, run_line, trainable


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

    Args:
        train: JSON lines files of premise, hypothesis and label.
        output: a `.safetensors` name for a head (embedded encoder, adapters), any other name for a folder that
            transformers reads.
        recipe: what is trained, and how.
        runtime: device, precision (bfloat16 or float32) and progress.
        dev: files to evaluate on after each pass.
        test: files to evaluate on at the end.
        about: more metadata of a head: name, recipe, data, trained_on_phenomena.
        tell: called with lines about the progress.

    Returns:
        The accuracy on each test file.

    Raises:
        InputError: files, labels or outputs are not usable; also what `locate` raises.
        MissingExtra: torch or peft is not installed.
    """
    _check(recipe, runtime, output)
    files = trainable(locate(recipe.model, recipe.revision), runtime, recipe.method)
    tokenizer = PairTokenizer(files, recipe.max_tokens)
    sets = {file.name: encode_pairs(read_pairs(file), tokenizer) for file in (*train, *dev, *test)}
    pairs = _joined([sets[file.name] for file in train])
    tell(f"{len(pairs.ids)} pairs, {pairs.lengths.mean():.1f} tokens each, {pairs.n_cut} cut, in {runtime.dtype}")
    device, is_head = torch_device(torch, runtime.device), output.endswith(".safetensors")
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
    _save(output, network, recipe, files, runtime.dtype, about)
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


def _check(recipe: NliRecipe, runtime: Runtime, output: str) -> None:
    check_precision(runtime)
    check_output(output, recipe.method)
    if recipe.init is not None and not output.endswith(".safetensors"):
        raise InputError("a head to begin from goes with a head to write; end the output's name in .safetensors")


def _save(
    output: str,
    network: HeadNetwork | SequenceNetwork,
    recipe: NliRecipe,
    files: ModelFiles,
    dtype: str,
    about: Mapping[str, str] | None,
) -> None:
    if isinstance(network, HeadNetwork):
        metadata = head_metadata(KIND, recipe, files, dtype, about)
        save_head(output, network, {"trained_on_phenomena": "", **metadata})
    else:
        save_folder(output, network, files)


def _network(recipe: NliRecipe, files: ModelFiles, is_head: bool, narrow: bool) -> HeadNetwork | SequenceNetwork:
    """A head's network, which may begin from an earlier head, or a whole classifier."""
    seed = recipe.schedule.seed
    if not is_head:
        return sequence_network(files, recipe.method, recipe.rank, recipe.alpha, recipe.dropout, seed, narrow)
    network = head_network(files, recipe.rank, recipe.alpha, recipe.dropout, seed, narrow)
    if recipe.init is not None:
        begin_from(recipe.init, network, files)
    return network


def _joined(parts: Sequence[EncodedPairs]) -> EncodedPairs:
    ids, types = [row for part in parts for row in part.ids], [row for part in parts for row in part.types]
    return EncodedPairs(ids, types, np.concatenate([part.labels for part in parts]), sum(part.n_cut for part in parts))
