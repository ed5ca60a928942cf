"""An NLI model of one's own: read, train, evaluate, save."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from nlgauge.core.errors import InputError
from nlgauge.core.result import check_target
from nlgauge.io.files.files import InputFile
from nlgauge.models import embedded
from nlgauge.models.encoder import torch_device
from nlgauge.models.locate import locate
from nlgauge.models.pairs import PairTokenizer
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.classifier import arithmetic, batch_inputs, head_network, probabilities, sequence_network
from nlgauge.training.data import LABELS, EncodedPairs, encode_pairs, read_pairs
from nlgauge.training.heads import begin_from, check_folder, head_metadata, save_folder, save_head
from nlgauge.training.loop import Checkpoint, Schedule, fit, run_line

Method = Literal["lora", "full"]
_STEPS_KEPT = 200  # between two checkpoints


@dataclass(frozen=True, kw_only=True)
class NliRecipe:
    """What is trained, and how.

    Attributes:
        model: `embedded`, a folder, or a hub id; revision: of the latter.
        revision: see model.
        method: `lora` trains adapters on all linear layers and a classifier, `full` everything.
        rank: of the adapters; alpha: their scale times the rank.
        alpha: see rank.
        dropout: of the encoder while it learns.
        max_tokens: most pieces of a pair.
        init: a head to begin from.
        schedule: how long and how fast.
    """

    model: str = embedded.NAME
    revision: str | None = None
    method: Method = "lora"
    rank: int = 16
    alpha: float = 32.0
    dropout: float = 0.0
    max_tokens: int = 256
    init: str | None = None
    schedule: Schedule = field(default_factory=Schedule)


@dataclass(frozen=True)
class Accuracy:
    """How often a model names the label of a test set.

    Attributes:
        name: of the file.
        n: pairs.
        accuracy: share of labels named.
        two_way: share where entailment is told from the rest rightly.
        recall: for each label its share named, NaN where there is none.
    """

    name: str
    n: int
    accuracy: float
    two_way: float
    recall: tuple[float, ...]


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
        train: JSON lines files of premise, hypothesis, label.
        output: a `.safetensors` name gets a head (embedded encoder, adapters), any other a folder that transformers
            reads.
        recipe: what and how.
        runtime: device, precision (bfloat16 or float32), progress.
        dev: evaluated after each pass; test: evaluated at the end.
        test: see dev.
        about: what a head's metadata say besides: name, recipe, data, trained_on_phenomena.
        tell: told lines on how it goes.

    Returns:
        Accuracy on each test file.

    Raises:
        InputError: files, labels or outputs that do not do; what `locate` raises.
        MissingExtra: torch or peft is not installed.
    """
    is_head = output.endswith(".safetensors")
    _check(recipe, runtime, output, is_head)
    files = locate(recipe.model, recipe.revision)
    tokenizer = PairTokenizer(files, recipe.max_tokens)
    sets = {file.name: encode_pairs(read_pairs(file), tokenizer) for file in (*train, *dev, *test)}
    pairs = _joined([sets[file.name] for file in train])
    tell(f"{len(pairs.ids)} pairs, {pairs.lengths.mean():.1f} tokens each, {pairs.n_cut} cut")
    device = torch_device(torch, runtime.device)
    narrow = runtime.dtype == "bfloat16"
    network: Any
    if is_head:
        network = head_network(files, recipe.rank, recipe.alpha, recipe.dropout, recipe.schedule.seed, narrow)
        if recipe.init is not None:
            begin_from(recipe.init, network)
    else:
        network = sequence_network(
            files, recipe.method, recipe.rank, recipe.alpha, recipe.dropout, recipe.schedule.seed, narrow
        )
    network.to(device).train()
    pad = int(files.config.get("pad_token_id") or 0)
    labels = torch.from_numpy(pairs.labels).to(device)

    def loss(where: np.ndarray) -> torch.Tensor:
        with arithmetic(device, runtime.dtype):
            logits = network(**batch_inputs(pairs, where, pad, device))
        return torch.nn.functional.cross_entropy(logits, labels[torch.from_numpy(where).to(device)])

    def measure(file: InputFile) -> Accuracy:
        return accuracy(file.name, probabilities(network, sets[file.name], pad, runtime.dtype), sets[file.name].labels)

    def after(epoch: int) -> None:
        for file in dev:
            tell(f"pass {epoch}: {Path(file.name).name} {measure(file).accuracy:.4f}")

    learnt = {name: parameter for name, parameter in network.named_parameters() if parameter.requires_grad}
    checkpoint = Checkpoint(
        path=Path(f"{output}.checkpoint"), run=run_line(train, recipe, runtime, files), every=_STEPS_KEPT
    )
    steps = -(-len(pairs.ids) // recipe.schedule.batch_size) * recipe.schedule.epochs
    with runtime.progress(steps, "steps") as advance:
        fit(learnt, loss, pairs.lengths, recipe.schedule, checkpoint, advance, after)
    found = [measure(file) for file in test]
    if is_head:
        save_head(output, network, {"trained_on_phenomena": "", **head_metadata(recipe, files, about)})
    else:
        save_folder(output, network, files)
    checkpoint.done()
    return found


def accuracy(name: str, found: np.ndarray, labels: np.ndarray) -> Accuracy:
    """How probabilities, shape (n, 3), agree with labels, shape (n,)."""
    said = found.argmax(1)
    recall = tuple(
        float(np.mean(said[labels == i] == i)) if np.any(labels == i) else float("nan") for i in range(len(LABELS))
    )
    return Accuracy(
        name, len(labels), float(np.mean(said == labels)), float(np.mean((said == 0) == (labels == 0))), recall
    )


def _check(recipe: NliRecipe, runtime: Runtime, output: str, is_head: bool) -> None:
    if runtime.dtype not in ("bfloat16", "float32"):
        raise InputError(
            f"dtype is {runtime.dtype}, expected bfloat16 or float32: training in other precisions is not offered"
        )
    if recipe.method not in ("lora", "full"):
        raise InputError(f"method is {recipe.method!r}, expected lora or full")
    if not 0 <= recipe.dropout < 1:
        raise InputError(f"dropout is {recipe.dropout}, expected a share from 0 to below 1")
    if is_head:
        check_target(output)
        if recipe.method == "full":
            raise InputError(
                f"{output}: a head holds adapters, method full changes everything; name a folder (no .safetensors) for"
                " the model"
            )
    else:
        check_folder(output)
        if recipe.init is not None:
            raise InputError("a head to begin from goes with a head to write; end the output's name in .safetensors")


def _joined(parts: Sequence[EncodedPairs]) -> EncodedPairs:
    ids, types = [row for part in parts for row in part.ids], [row for part in parts for row in part.types]
    return EncodedPairs(ids, types, np.concatenate([part.labels for part in parts]), sum(part.n_cut for part in parts))
