"""Tokens numbered: equal tokens get equal numbers, across all texts of a call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from nlgauge.metrics.lexical.bags import Index, Numbered, batches
from nlgauge.text.tokenize import BLANK_BUT_WORDS, TOKENIZERS, TokenizerName

Words = npt.NDArray[np.uint64]

_CHARACTERS = 1 << 16  # read at once: what is made of them stays in the processor's cache
_SEPARATOR = "\0"
_LETTERS = b"\0" + BLANK_BUT_WORDS[1:]  # the separator stays what it is
_WIDTH = 16  # letters of a word that fit two machine words
_LEAST_BITS, _MOST_BITS = 10, 16  # slots of a table, as powers of two
_CHARACTERS_A_SLOT = 64  # more slots would be wasted, since new words become rare
# Odd multipliers that spread the two machine words over the slots: two for each table in which a word may be stored.
_SPREAD = np.array(
    [
        [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F],
        [0xD6E8FEB86659FD93, 0xA0761D6478BD642F],
        [0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3],
    ],
    dtype=np.uint64,
)
_KEEP = np.array(
    [[(1 << 8 * min(max(n - skip, 0), 8)) - 1 for n in range(_WIDTH + 1)] for skip in (0, 8)], dtype=np.uint64
)


def number(texts: Sequence[str], tokenizer: TokenizerName, normal: Callable[[str], str] | None = None) -> Numbered:
    """Number the tokens of texts; `normal` (a stemmer) is asked once for each distinct token."""
    characters = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    vocabulary = AsciiWords(int(characters.sum())) if tokenizer == "rouge" else AnyWords(TOKENIZERS[tokenizer])
    blocks, lengths = [np.zeros(0, dtype=np.int64)], [np.zeros(1, dtype=np.int64)]
    for batch in batches(characters, _CHARACTERS):
        numbers, counts = vocabulary.add([texts[i] for i in batch])
        blocks.append(numbers)
        lengths.append(counts)
    flat, size = np.concatenate(blocks), vocabulary.size
    if normal is not None:
        renumbered = np.zeros(size, dtype=np.int64)
        renumbered[flat] = 1
        distinct = np.flatnonzero(renumbered)
        merged: dict[str, int] = {}
        renumbered[distinct] = [merged.setdefault(normal(token), len(merged)) for token in vocabulary.tokens(distinct)]
        flat, size = renumbered[flat], len(merged)
    return Numbered(flat, np.cumsum(np.concatenate(lengths)), size)


class AnyWords:
    """Numbers in order of first appearance, from a dictionary."""

    def __init__(self, tokenize: Callable[[str], list[str]]) -> None:
        self.tokenize = tokenize
        self.numbers: defaultdict[str, int] = defaultdict()
        self.numbers.default_factory = self.numbers.__len__  # a new token gets the next number

    @property
    def size(self) -> int:
        """One more than the highest number."""
        return len(self.numbers)

    def add(self, texts: Sequence[str]) -> tuple[Index, Index]:
        """Numbers of the tokens, end to end, and how many each text has."""
        tokens = [self.tokenize(text) for text in texts]
        numbers = np.array([self.numbers[token] for listed in tokens for token in listed], dtype=np.int64)
        return numbers, np.array([len(listed) for listed in tokens], dtype=np.int64)

    def tokens(self, numbers: Index) -> list[str]:
        """The tokens that bear these numbers, which ascend."""
        known = list(self.numbers)
        return [known[i] for i in numbers]


class AsciiWords:
    """The words that `rouge_words` finds, several times as fast: no word becomes an object of Python.

    A word's first 16 letters are two machine words, and these have a slot in a table: the slot is the number. Where
    another word sits there already the next table is tried; what finds no slot, or is longer, goes to a dictionary.

    Args:
        characters: about how many will be read; it sets the size of the tables.
    """

    def __init__(self, characters: int) -> None:
        self.bits = min(max((characters // _CHARACTERS_A_SLOT).bit_length(), _LEAST_BITS), _MOST_BITS)
        self.slots = 1 << self.bits
        self.tables = [np.zeros((2, self.slots), dtype=np.uint64) for _ in _SPREAD]
        self.others = AnyWords(str.split)

    @property
    def size(self) -> int:
        """One more than the highest number."""
        return len(self.tables) * self.slots + self.others.size

    def add(self, texts: Sequence[str]) -> tuple[Index, Index]:
        """Numbers of the words, end to end, and how many each text has."""
        joined = _SEPARATOR.join(texts)
        plain = (
            joined if joined.isascii() else joined.lower()
        )  # the lower case of some letters beyond ASCII is within it
        raw = plain.encode("ascii", "replace").translate(_LETTERS)
        letters = np.frombuffer(raw, dtype=np.uint8)
        ends = np.flatnonzero(letters == 0)
        if len(ends) >= max(len(texts), 1):  # a text holds the separator itself
            return self.add([text.replace(_SEPARATOR, " ") for text in texts])
        inside = np.zeros(len(raw) + 2, dtype=np.bool_)
        np.greater(letters, ord(" "), out=inside[1:-1])
        edges = np.flatnonzero(inside[1:] != inside[:-1])
        starts, lengths = edges[::2], edges[1::2] - edges[::2]
        numbers = self._find(raw, starts, lengths)
        cuts = np.searchsorted(starts, ends)
        return numbers, np.diff(cuts, prepend=0, append=len(starts))[: len(texts)]

    def tokens(self, numbers: Index) -> list[str]:
        """The words that bear these numbers, which ascend."""
        n_slots = len(self.tables) * self.slots
        own = numbers[numbers < n_slots]
        pairs = np.stack(self.tables)[own // self.slots, :, own % self.slots].astype("<u8")
        words: list[str] = np.frombuffer(pairs.tobytes(), dtype=f"S{_WIDTH}").astype(str).tolist()
        return words + self.others.tokens(numbers[len(own) :] - n_slots)

    def _find(self, raw: bytes, starts: Index, lengths: Index) -> Index:
        padded = raw + bytes(_WIDTH)
        n_letters = np.minimum(lengths, _WIDTH)
        pairs = (
            np.ndarray((len(raw) + 1,), dtype=f"V{_WIDTH}", buffer=padded, strides=(1,))[starts]
            .view("<u8")
            .reshape(-1, 2)
        )
        first, second = (pairs[:, i].astype(np.uint64) & _KEEP[i][n_letters] for i in range(2))
        numbers = np.full(len(starts), -1, dtype=np.int64)
        rest = np.flatnonzero(lengths <= _WIDTH)
        if len(rest) < len(starts):
            first, second = first[rest], second[rest]
        for place, (table, spread) in enumerate(zip(self.tables, _SPREAD, strict=True)):
            slots = ((first * spread[0] + second * spread[1]) >> np.uint64(64 - self.bits)).astype(np.int64)
            here = (table[0][slots] == first) & (table[1][slots] == second)
            if not here.all():
                new = np.flatnonzero(~here)
                new = new[table[0][slots[new]] == 0]
                table[0][slots[new]], table[1][slots[new]] = first[new], second[new]
                here[new] = (table[0][slots[new]] == first[new]) & (table[1][slots[new]] == second[new])
            numbers[rest[here]] = place * self.slots + slots[here]
            away = ~here
            rest, first, second = rest[away], first[away], second[away]
        left = np.flatnonzero(numbers < 0)
        words = [
            raw[start : start + length].decode()
            for start, length in zip(starts[left].tolist(), lengths[left].tolist(), strict=True)
        ]
        numbers[left] = len(self.tables) * self.slots + np.array(
            [self.others.numbers[word] for word in words], dtype=np.int64
        )
        return numbers
