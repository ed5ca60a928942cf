"""A masked language model on an encoder that has none.

It is made of adapters, a transform and a bias over the encoder's own word vectors.

References:
    Devlin et al. (2019), "BERT", section 3.1, task 1; Press and Wolf (2017), "Using the Output Embedding to Improve
    Language Models".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from nlgauge.core.errors import InputError
from nlgauge.core.result import check_target
from nlgauge.io.files.files import InputFile
from nlgauge.models import embedded
from nlgauge.models.encoder import torch_device
from nlgauge.models.infill.pieces import PieceTokenizer
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.tokens import Ids
from nlgauge.runtime.batching import by_length
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.adapters import adapter_tensors, add_adapters
from nlgauge.training.classifier import arithmetic, bert_encoder, narrow_frozen, padded
from nlgauge.training.heads import FORMAT, VERSION, head_metadata, write_head
from nlgauge.training.loop import Checkpoint, Schedule, fit, run_line
from nlgauge.training.masking import EncodedTexts, encode_texts, masked, read_texts

KIND = "infill"
_STEPS_KEPT = 200  # between two checkpoints
_EVALUATION_SHARE, _EVALUATION_TOKENS = 0.15, 2048


@dataclass(frozen=True, kw_only=True)
class InfillRecipe:
    """What is trained, and how.

    Attributes:
        model: `embedded`, a folder, or a hub id of a BERT encoder; revision: of the latter.
        revision: see model.
        rank: of the adapters; alpha: their scale times the rank.
        alpha: see rank.
        share: of the words of a text that are masked.
        shown: share of these that is shown instead of masked, half as they are and half as any other piece; BERT's way
            is 0.2.
        dropout: of the encoder while it learns.
        max_tokens: most pieces of a text; what is longer is cut.
        schedule: how long and how fast.
    """

    model: str = embedded.NAME
    revision: str | None = None
    rank: int = 16
    alpha: float = 32.0
    share: float = 0.15
    shown: float = 0.0
    dropout: float = 0.0
    max_tokens: int = 128
    schedule: Schedule = field(default_factory=Schedule)


@dataclass(frozen=True)
class Guessed:
    """How often masked words are guessed.

    Attributes:
        name: of the file.
        n: masked words with a letter or digit, 15 % of the words of each text masked at once.
        top1: share of them that is the best guess; top5: that is among the best five, of the whole vocabulary.
        top5: see top1.
        loss: mean of minus the natural logarithm of their probability.
    """

    name: str
    n: int
    top1: float
    top5: float
    loss: float


class InfillNetwork(torch.nn.Module):
    """An encoder below a transform, whose result is held against the vector of every piece."""

    def __init__(self, encoder: Any, width: int, size: int, epsilon: float) -> None:
        super().__init__()
        self.encoder = encoder
        self.dense = torch.nn.Linear(width, width)
        self.norm = torch.nn.LayerNorm(width, eps=epsilon)
        self.bias = torch.nn.Parameter(torch.zeros(size))
        torch.nn.init.normal_(self.dense.weight, std=0.02)  # as BERT's, which was made for vectors of this size
        torch.nn.init.zeros_(self.dense.bias)

    def forward(self, rows: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
        """Logits of the whole vocabulary, float32, at some rows of the flattened batch, shape (m, V)."""
        states = self.encoder(**inputs)[0].flatten(0, 1).index_select(0, rows)
        states = self.norm(functional.gelu(self.dense(states)))
        words = self.encoder.get_input_embeddings().weight
        return (
            functional.linear(
                states, words.to(states.dtype) if not torch.is_autocast_enabled(states.device.type) else words
            ).float()
            + self.bias
        )


def train_infill(
    train: Sequence[InputFile],
    output: str,
    recipe: InfillRecipe,
    runtime: Runtime,
    *,
    dev: Sequence[InputFile] = (),
    about: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Guessed]:
    """Train on sentences, write the head, and say how well it guesses words of others.

    Args:
        train: text files, a sentence a line, plain or gzip.
        output: a `.safetensors` name.
        recipe: what and how.
        runtime: device, precision (bfloat16 or float32), progress.
        dev: evaluated after each pass.
        about: what the metadata say besides: name, recipe, data.
        tell: told lines on how it goes.

    Returns:
        What was guessed in each dev file.

    Raises:
        InputError: files or outputs that do not do; what `locate` raises.
        MissingExtra: torch or peft is not installed.
    """
    _check(recipe, runtime, output)
    files = locate(recipe.model, recipe.revision)
    tokenizer = PieceTokenizer(files, recipe.max_tokens)
    mask, size = tokenizer.mask, int(files.config["vocab_size"])
    if mask is None:
        raise InputError(f"model {files.name!r} has no mask token in its vocabulary; choose another encoder")
    if files.config.get("model_type") != "bert":  # told before all texts are read
        raise InputError(
            f"a head is made for BERT encoders, {files.name!r} is {files.config.get('model_type')!r}; choose another"
            " encoder"
        )
    texts = encode_texts(read_texts(train), tokenizer)
    held = {file.name: encode_texts(read_texts([file]), tokenizer) for file in dev}
    tell(
        f"{len(texts.ids)} texts, {texts.lengths.mean():.1f} tokens each, {texts.n_cut} cut, {texts.n_left_out} too"
        " short"
    )
    device = torch_device(torch, runtime.device)
    network = infill_network(files, recipe, texts.counts(size), runtime.dtype == "bfloat16").to(device).train()
    pad = int(files.config.get("pad_token_id") or 0)

    def loss(where: Ids) -> torch.Tensor:
        rng = np.random.default_rng(
            int(torch.randint(1 << 62, ()))
        )  # from the stream of the step, so that a resumed run draws the same
        rows, places = masked(texts, where, recipe.share, recipe.shown, mask, size, rng)
        logits, right = _guess(network, texts, where, rows, places, pad, runtime.dtype)
        return functional.cross_entropy(logits, right)

    def measure(file: InputFile) -> Guessed:
        return guessed(network, held[file.name], tokenizer, file.name, pad, runtime.dtype)

    def after(epoch: int) -> None:
        for file in dev:
            found = measure(file)
            tell(
                f"pass {epoch}: {Path(file.name).name} top-1 {found.top1:.4f} top-5 {found.top5:.4f} loss"
                f" {found.loss:.4f}"
            )

    learnt = {name: parameter for name, parameter in network.named_parameters() if parameter.requires_grad}
    checkpoint = Checkpoint(
        path=Path(f"{output}.checkpoint"), run=run_line(train, recipe, runtime, files), every=_STEPS_KEPT
    )
    steps = -(-len(texts.ids) // recipe.schedule.batch_size) * recipe.schedule.epochs
    with runtime.progress(steps, "steps") as advance:
        fit(learnt, loss, texts.lengths, recipe.schedule, checkpoint, advance, after)
    found = [measure(file) for file in dev]
    write_head(
        output,
        head_tensors(network, texts.capital),
        {"format": FORMAT, "version": VERSION, "kind": KIND, **head_metadata(recipe, files, about)},
    )
    checkpoint.done()
    return found


def infill_network(files: ModelFiles, recipe: InfillRecipe, counts: Ids, narrow: bool) -> InfillNetwork:
    """A BERT encoder with new adapters and a new transform. It begins by guessing each piece as often as it occurs.

    Args:
        files: of a BERT encoder.
        recipe: rank, alpha, dropout and seed.
        counts: occurrences of each piece, shape (V,).
        narrow: keep what is frozen in bfloat16.
    """
    encoder = bert_encoder(files, recipe.dropout)
    with torch.random.fork_rng([]):
        torch.manual_seed(recipe.schedule.seed)
        adapted = add_adapters(encoder, recipe.rank, recipe.alpha)
        network = InfillNetwork(
            adapted, files.config["hidden_size"], len(counts), files.config.get("layer_norm_eps", 1e-12)
        )
    often = torch.from_numpy(np.log(counts + 1.0))
    network.bias.data.copy_(often - often.mean())
    if narrow:
        narrow_frozen(network)
    return network


def guessed(
    network: InfillNetwork, texts: EncodedTexts, tokenizer: PieceTokenizer, name: str, pad: int, dtype: str
) -> Guessed:
    """How often a network guesses words, the same ones of the same texts every time."""
    mask = tokenizer.mask
    assert mask is not None
    lettered = np.array([any(c.isalnum() for c in word) for word in tokenizer.bare])
    ranks, losses = [], []
    training = network.training
    network.eval()
    with torch.inference_mode():
        for where in by_length(texts.lengths, _EVALUATION_TOKENS):
            rows, places = zip(*(_held(texts, int(i), mask) for i in where), strict=True)
            logits, right = _guess(network, texts, where, rows, places, pad, dtype)
            own = logits.gather(1, right[:, None])
            counted = torch.from_numpy(lettered[right.cpu().numpy()])
            ranks.append((logits > own).sum(1).cpu()[counted])
            losses.append(functional.cross_entropy(logits, right, reduction="none").cpu()[counted])
    network.train(training)
    rank, loss = torch.cat(ranks), torch.cat(losses)
    n = len(rank)
    return Guessed(
        name,
        n,
        top1=float((rank < 1).double().mean()) if n else float("nan"),
        top5=float((rank < 5).double().mean()) if n else float("nan"),
        loss=float(loss.double().mean()),
    )


def head_tensors(network: InfillNetwork, capital: np.ndarray) -> dict[str, torch.Tensor]:
    """A head's tensors: adapters, transform and bias in float16, and two bits for each piece: how it is written."""
    own = {"dense.weight": network.dense.weight, "dense.bias": network.dense.bias, "norm.weight": network.norm.weight}
    own |= {"norm.bias": network.norm.bias, "bias": network.bias}
    tensors = {name: tensor.detach().float().cpu().half().contiguous() for name, tensor in own.items()}
    return {**adapter_tensors(network.encoder), **tensors, "capital": torch.from_numpy(np.packbits(capital, axis=1))}


def _held(texts: EncodedTexts, i: int, mask: int) -> tuple[Ids, Ids]:
    (row,), (place,) = masked(texts, [i], _EVALUATION_SHARE, 0.0, mask, 1, np.random.default_rng(i))
    return row, place


def _guess(
    network: InfillNetwork,
    texts: EncodedTexts,
    where: Ids,
    rows: Sequence[Ids],
    places: Sequence[Ids],
    pad: int,
    dtype: str,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits at the masked places, and what stands there."""
    device = network.bias.device
    inputs = padded(rows, None, pad, device)
    longest = inputs["input_ids"].shape[1]
    flat = torch.from_numpy(np.concatenate([row * longest + place for row, place in enumerate(places)])).to(device)
    right = torch.from_numpy(np.concatenate([texts.ids[i][place] for i, place in zip(where, places, strict=True)])).to(
        device
    )
    with arithmetic(device, dtype):
        logits = network(flat, **inputs)
    return logits, right


def _check(recipe: InfillRecipe, runtime: Runtime, output: str) -> None:
    if runtime.dtype not in ("bfloat16", "float32"):
        raise InputError(
            f"dtype is {runtime.dtype}, expected bfloat16 or float32: training in other precisions is not offered"
        )
    if not output.endswith(".safetensors"):
        raise InputError(f"{output}: what is trained here is a head; end its name in .safetensors")
    check_target(output)
    if not 0 < recipe.share <= 1:
        raise InputError(f"the masked share is {recipe.share}, expected a share of the words, above 0 and at most 1")
    for name in ("shown", "dropout"):
        if not 0 <= getattr(recipe, name) < 1:
            raise InputError(f"{name} is {getattr(recipe, name)}, expected a share from 0 to below 1")
