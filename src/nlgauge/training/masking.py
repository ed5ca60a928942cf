"""Sentences for a masked language model: read, taken into pieces, their words masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile, Lines
from nlgauge.models.infill import PieceTokenizer
from nlgauge.models.tokens import Ids

_LEAST_WORDS = 3  # a shorter text says too little about a word in it


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
    """Some texts with words masked.

    Args:
        texts: what is masked.
        where: their positions.
        share: of the words of a text that are masked, at least one.
        shown: share of these that is not masked but shown, half as they are and half as any piece (BERT: 0.2).
        mask: id of the mask token.
        size: pieces in the vocabulary.
        rng: the draws.

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
