"""Train a masked language model on an encoder that has none.

It consists of adapters, a transform, and a bias over the encoder's own word vectors.

References:
    Devlin et al. (2019), "BERT", section 3.1, task 1; Press and Wolf (2017), "Using the Output Embedding to Improve
    Language Models".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from nlgauge.core.errors import InputError
from nlgauge.core.result import check_target
from nlgauge.io.files import InputFile, Lines
from nlgauge.models.heads import SUFFIX
from nlgauge.models.infill import PieceTokenizer
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Runtime, by_length, torch_device
from nlgauge.training.heads import (
    adapted_network,
    adapter_tensors,
    arithmetic,
    head_metadata,
    own_tensors,
    pad_of,
    padded,
    write_head,
)
from nlgauge.training.loop import Checkpoint, alone, fit_network
from nlgauge.training.recipe import InfillRecipe, check_precision, run_line

KIND = "infill"
_EVALUATION_SHARE, _EVALUATION_TOKENS = 0.15, 2048
_LEAST_WORDS = 3  # a shorter text says too little about a word in it


@dataclass(frozen=True)
class Guessed:
    """How often masked words are predicted correctly.

    Attributes:
        name: the name of the file.
        n: the number of masked words with a letter or digit; 15 % of the words of each text are masked at once.
        top1: the share of them that is the best prediction.
        top5: the share of them that is among the best five predictions, out of the whole vocabulary.
        loss: the mean negative natural logarithm of their probability.
    """

    name: str
    n: int
    top1: float
    top5: float
    loss: float


class InfillNetwork(torch.nn.Module):
    """An encoder below a transform; the result is compared with the vector of every piece."""

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
        if not torch.is_autocast_enabled(states.device.type):
            words = words.to(states.dtype)
        return functional.linear(states, words).float() + self.bias


@alone
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
    """Train on sentences, write the head, and measure how well it predicts words of other sentences.

    Texts of fewer than three known words are left out, and texts beyond the limit are cut; both are counted. What
    learns is an adapter on every linear layer, BERT's transform, and a bias per token that starts at the frequencies of
    the tokens; the last layer is the encoder's own word vectors. Only words that are one token are masked. The head
    fits its encoder alone, and remembers which words the training texts write with a capital ("Monday", "EU").

    Args:
        train: text files with one sentence per line, plain or gzip.
        output: a `.safetensors` name.
        recipe: what is trained, and how.
        runtime: device, precision (bfloat16 or float32) and progress.
        dev: files to evaluate on after each pass.
        about: more metadata: name, recipe, data.
        tell: called with lines about the progress.

    Returns:
        The accuracy on each dev file.
    """
    check_precision(runtime)
    if not output.endswith(SUFFIX):
        raise InputError(f"{output}: what is trained here is a head; end its name in .safetensors")
    check_target(output)
    files = locate(recipe.model, recipe.revision)
    tokenizer = PieceTokenizer(files, recipe.max_tokens)
    mask, size = _mask_of(files, tokenizer), int(files.config["vocab_size"])
    texts = encode_texts(read_texts(train), tokenizer)
    encoded = {file.name: encode_texts(read_texts([file]), tokenizer) for file in dev}
    tell(f"{texts.summary}, in {runtime.dtype}")
    device, pad = torch_device(torch, runtime.device), pad_of(files)
    network = infill_network(files, recipe, texts.counts(size), runtime.dtype == "bfloat16").to(device).train()

    def loss(where: Ids) -> torch.Tensor:
        # From the stream of the step, so that a resumed run draws the same.
        rng = np.random.default_rng(int(torch.randint(1 << 62, ())))
        rows, places = masked(texts, where, recipe.share, recipe.shown, mask, size, rng)
        logits, right = _guess(network, texts, where, rows, places, pad, runtime.dtype)
        return functional.cross_entropy(logits, right)

    def measure(file: InputFile) -> Guessed:
        return guessed(network, encoded[file.name], tokenizer, file.name, pad, runtime.dtype)

    def after(epoch: int) -> None:
        for file in dev:
            now = measure(file)
            tell(f"pass {epoch}: {Path(file.name).name} top-1 {now.top1:.4f} top-5 {now.top5:.4f} loss {now.loss:.4f}")

    checkpoint = Checkpoint.beside(output, run_line(train, recipe, runtime, files))
    fit_network(network, loss, texts.lengths, recipe.schedule, checkpoint, runtime, after)
    guesses = [measure(file) for file in dev]
    write_head(output, head_tensors(network, texts.capital), head_metadata(KIND, recipe, files, runtime.dtype, about))
    checkpoint.done()
    return guesses


def infill_network(files: ModelFiles, recipe: InfillRecipe, counts: Ids, narrow: bool) -> InfillNetwork:
    """A BERT encoder with new adapters and a new transform, which at first predicts pieces by their `counts`."""

    def above(encoder: Any) -> InfillNetwork:
        epsilon = files.config.get("layer_norm_eps", 1e-12)
        return InfillNetwork(encoder, files.config["hidden_size"], len(counts), epsilon)

    schedule = recipe.schedule
    network = adapted_network(above, files, recipe.rank, recipe.alpha, recipe.dropout, schedule.seed, narrow)
    often = torch.from_numpy(np.log(counts + 1.0))
    network.bias.data.copy_(often - often.mean())
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
            held = [
                masked(texts, [i], _EVALUATION_SHARE, 0.0, mask, 1, np.random.default_rng(i)) for i in where.tolist()
            ]
            rows, places = [row for (row,), _ in held], [place for _, (place,) in held]
            logits, right = _guess(network, texts, where, rows, places, pad, dtype)
            right_logits = logits.gather(1, right[:, None])
            counted = torch.from_numpy(lettered[right.cpu().numpy()])
            ranks.append((logits > right_logits).sum(1).cpu()[counted])
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
    own = {name: tensor.half() for name, tensor in own_tensors(network).items()}
    return {**adapter_tensors(network.encoder), **own, "capital": torch.from_numpy(np.packbits(capital, axis=1))}


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


def _mask_of(files: ModelFiles, tokenizer: PieceTokenizer) -> int:
    """The id of the mask token; what cannot be trained is refused here, before all texts are read."""
    if tokenizer.mask is None:
        raise InputError(f"model {files.name!r} has no mask token in its vocabulary; choose another encoder")
    if files.config.get("model_type") != "bert":
        raise InputError(
            f"a head is made for BERT encoders, {files.name!r} is {files.config.get('model_type')!r}; choose another"
            " encoder"
        )
    return tokenizer.mask


# --- Sentences for a masked language model: read, taken into pieces, their words masked


@dataclass(frozen=True)
class EncodedTexts:
    """Texts as a masked language model reads them.

    Attributes:
        ids: piece ids of each text, special tokens included.
        words: where in them the words of one piece stand, punctuation included; these are what is masked.
        n_left_out: texts of fewer than three such words.
        n_cut: texts longer than the limit, whose end was cut off.
        capital: whether a piece is mostly written with a capital where no sentence begins, as names are, and whether
            with nothing but capitals; shape (2, V).
    """

    ids: list[Ids]
    words: list[Ids]
    n_left_out: int
    n_cut: int
    capital: npt.NDArray[np.bool_]

    @property
    def lengths(self) -> Ids:
        """Pieces of each text, shape (n,)."""
        return np.array([len(ids) for ids in self.ids], dtype=np.int64)

    @property
    def summary(self) -> str:
        """How many texts there are, how long they are, and what became of others."""
        tokens = self.lengths.mean()
        return f"{len(self.ids)} texts, {tokens:.1f} tokens each, {self.n_cut} cut, {self.n_left_out} too short"

    def counts(self, size: int) -> Ids:
        """How often each piece of the vocabulary is a word, shape (size,)."""
        return np.bincount(
            np.concatenate([ids[words] for ids, words in zip(self.ids, self.words, strict=True)]), minlength=size
        )


def read_texts(files: Sequence[InputFile]) -> list[str]:
    """The lines of some files that are not blank.

    Raises:
        InputError: there is none; what `Lines` raises.
    """
    texts = [text for file in files for _, text in Lines(file).filled()]
    if not texts:
        raise InputError(f"{', '.join(file.name for file in files)} holds no text, expected one sentence per line")
    return texts


def encode_texts(texts: Sequence[str], tokenizer: PieceTokenizer) -> EncodedTexts:
    """Pieces of each text and where its words stand; texts without enough words are left out."""
    rows, words, n_cut = [], [], 0
    capitals, seen = np.zeros((2, len(tokenizer.vocabulary))), np.zeros(len(tokenizer.vocabulary))
    is_word = np.array([bool(word) for word in tokenizer.bare]) & ~tokenizer.continues
    letters = np.array([word[:1].isalpha() for word in tokenizer.bare])
    room = (
        None if tokenizer.max_tokens is None else tokenizer.max_tokens - len(tokenizer.prefix) - len(tokenizer.suffix)
    )
    for text, placed in zip(texts, tokenizer.place(texts), strict=True):
        ids = placed.ids
        alone = is_word[ids] & ~np.append(tokenizer.continues[ids[1:]], False)
        # A capital says something behind a word, not behind a full stop or a quotation mark.
        inside = np.flatnonzero(alone[1:] & letters[ids[1:]] & letters[ids[:-1]]) + 1
        np.add.at(seen, ids[inside], 1)
        written = [text[start:end] for start, end in zip(placed.starts[inside], placed.ends[inside], strict=True)]
        np.add.at(capitals[0], ids[inside], [word[0].isupper() for word in written])
        np.add.at(capitals[1], ids[inside], [word.isupper() for word in written])
        kept = ids[:room]
        at = np.flatnonzero(alone[: len(kept)])
        if len(at) >= _LEAST_WORDS:
            rows.append(np.concatenate([tokenizer.prefix, kept, tokenizer.suffix]))
            words.append(at + len(tokenizer.prefix))
            n_cut += len(kept) < len(ids)
    if not rows:
        raise InputError(
            f"no text has {_LEAST_WORDS} words that the model knows, of {len(texts)}; expected sentences, one per line"
        )
    return EncodedTexts(rows, words, len(texts) - len(rows), n_cut, capitals > seen / 2)


def masked(
    texts: EncodedTexts,
    where: Ids | Sequence[int],
    share: float,
    shown: float,
    mask: int,
    size: int,
    rng: np.random.Generator,
) -> tuple[list[Ids], list[Ids]]:
    """Some texts, at their positions `where`, with a share of their words masked, at least one of each.

    Args:
        shown: share of these that is not masked but shown, half as they are and half as any piece (BERT: 0.2).
        mask: id of the mask token.
        size: pieces in the vocabulary.

    Returns:
        Ids of each text, and where the words stand that are to be guessed.
    """
    rows, places = [], []
    for i in where:
        ids, words = texts.ids[i].copy(), texts.words[i]
        chosen = np.sort(rng.choice(words, max(1, round(share * len(words))), replace=False))
        draws = rng.random(len(chosen))
        ids[chosen[draws >= shown]] = mask
        other = chosen[draws < shown / 2]
        ids[other] = rng.integers(size, size=len(other))
        rows.append(ids)
        places.append(chosen)
    return rows, places
