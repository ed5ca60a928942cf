"""Which part of speech each word of a sentence is: a perceptron that reads the words from left to right."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from . import tagfeatures as features
from .tagfeatures import EDGE, Word

Sums: TypeAlias = NDArray[np.int32]

_MOST = 30_000  # sums of weights kept of a kind; beyond, all are forgotten and begun anew


def tag(words: Sequence[str]) -> list[str]:
    """Penn Treebank tags of the words of one sentence, as the English Web Treebank gives them.

    Args:
        words: tokens as `words.word_spans` parts them; either apostrophe, in capitals or not.
    Returns:
        One tag for each word, in order. The same words always get the same tags.
    """
    return _tagger().tag(words) if words else []


@cache
def _tagger() -> Tagger:
    return Tagger(gzip.decompress(resources.files("nlgauge.data").joinpath("language", "tagger.json.gz").read_bytes()))


class _Known(NamedTuple):
    """A word of a sentence, and sums of the weights of what it says of itself and of words at four places beside it, shape (5, tags)."""

    word: Word
    sums: Sums


class Tagger:
    """Weights of features, and their sums for words met before.

    What does not hang on earlier tags is added up for all words of a sentence at once. Weights are whole numbers, so that neither the
    machine nor what was tagged before can change a tag.
    """

    def __init__(self, packed: bytes) -> None:
        """Read JSON: tags, features, how many weights each feature has, and of each weight the place of its tag and its value."""
        model = msgspec.json.decode(packed)
        self.tags: list[str] = model["tags"]
        self._rows = {name: row for row, name in enumerate(model["features"], 1)}
        self._weights = np.zeros((len(self._rows) + 1, len(self.tags)), np.int32)  # row 0: features without weights
        self._weights[np.repeat(np.arange(1, len(self._rows) + 1), model["counts"]), model["places"]] = model["weights"]
        self._sums: dict[tuple[object, ...], Sums] = {}
        self._words: dict[tuple[str, str], _Known] = {}

    def tag(self, words: Sequence[str]) -> list[str]:
        """Tags of the words of one sentence."""
        if len(self._sums) > _MOST:
            self._sums.clear()
            self._words.clear()
        case = features.sentence_case(words)
        edge = self._word(EDGE, case)
        known = [edge, edge, *(self._word(word, case) for word in words), edge, edge]
        tags: list[str] = []
        second = first = EDGE
        for i, score in enumerate(self._apart_from_tags(known), 2):
            word, following = known[i].word, known[i + 1].word
            score += self._sum(features.tags, second, first)
            score += self._sum(features.tag_and_word, first, word)
            score += self._sum(features.tag_and_next, first, word, following)
            second, first = first, self.tags[score.argmax()]
            tags.append(first)
        return tags

    def _apart_from_tags(self, known: Sequence[_Known]) -> Sums:
        """Scores of each tag for each word but two at either end, shape (n, tags), without what earlier tags say."""
        read = [each.word for each in known]
        kinds = features.auxiliaries(read[2:-2])
        around = [self._sum(features.around, *read[i - 1 : i + 2], kind) for i, kind in enumerate(kinds, 2)]
        sums = np.array([each.sums for each in known])  # (n + 4, 5, tags)
        return np.array(around) + sums[2:-2, 0] + sums[1:-3, 1] + sums[:-4, 2] + sums[3:-1, 3] + sums[4:, 4]

    def _word(self, text: str, case: str) -> _Known:
        found = self._words.get((text, case))
        if found is None:
            word = Word(text, case)
            sums = np.array([self._total(of(word)) for of in (features.own, features.before, features.before2, features.after, features.after2)])
            found = self._words[text, case] = _Known(word, sums)
        return found

    def _sum(self, of: Callable[..., list[str]], *about: object) -> Sums:
        """Sum of the weights of the features of some things, for each tag."""
        found = self._sums.get((of, about))
        if found is None:
            found = self._sums[of, about] = self._total(of(*about))
        return found

    def _total(self, names: Sequence[str]) -> Sums:
        total: Sums = self._weights[[self._rows.get(name, 0) for name in names]].sum(axis=0, dtype=np.int32)
        return total
