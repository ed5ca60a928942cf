"""The part-of-speech tagger: a perceptron that reads the words of a sentence from left to right."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nlgauge.text.tagging import features
from nlgauge.text.tagging.features import EDGE, Word

Sums: TypeAlias = NDArray[np.int16]  # some fifty weights below 100 are added up

_LONGEST = 1_000  # words whose scores are held at once
_MOST = 30_000  # words whose sums are kept, some 100 MB; beyond, all are forgotten and begun anew


def tag(words: Sequence[str]) -> list[str]:
    """Penn Treebank tags of the words of one sentence, as the English Web Treebank gives them.

    Args:
        words: tokens as `nlgauge.text.word_spans` splits them, with either apostrophe and with any capitals.

    Returns:
        One tag per word, in order. The same words always get the same tags. A sentence of more than 1,000 words is read
        in pieces.
    """
    tagger = _tagger()
    return [tags for first in range(0, len(words), _LONGEST) for tags in tagger.tag(words[first : first + _LONGEST])]


@cache
def _tagger() -> Tagger:
    return Tagger(gzip.decompress(resources.files("nlgauge.data").joinpath("language", "tagger.json.gz").read_bytes()))


class _Known(NamedTuple):
    """A word, and sums of weights.

    These are of its own features and of words at four places beside it, shape (5, tags), and behind tags.
    """

    word: Word
    sums: Sums
    behind: dict[tuple[int, bool], Sums]


class Tagger:
    """Weights of features, and sums of weights for words that were tagged before.

    Scores that do not depend on earlier tags are summed for all words of a sentence at once. Weights are integers, so
    that neither the machine nor the texts tagged before can change a tag.
    """

    def __init__(self, packed: bytes) -> None:
        """Read JSON: tags, features, the number of weights of each feature, and tag and value of each weight."""
        model = json.loads(packed)
        self.tags: list[str] = model["tags"]
        self._rows = {name: row for row, name in enumerate(model["features"], 1)}
        self._weights = np.zeros((len(self._rows) + 1, len(self.tags)), np.int16)  # row 0: features without weights
        self._weights[np.repeat(np.arange(1, len(self._rows) + 1), model["counts"]), model["places"]] = model["weights"]
        edges = [EDGE, *self.tags]
        self._histories = np.array(
            [[self._total(features.tags(second, first)) for first in edges] for second in edges]
        )  # (tags + 1, tags + 1, tags)
        self._words: dict[tuple[str, str], _Known] = {}
        self._sums: dict[tuple[features.Feature, tuple[object, ...]], Sums] = {}

    def tag(self, words: Sequence[str]) -> list[str]:
        """Tags of the words of one sentence."""
        if len(self._words) > _MOST or len(self._sums) > 4 * _MOST:
            self._words.clear()
            self._sums.clear()
        case = features.sentence_case(words)
        edge = self._word(EDGE, case)
        known = [edge, edge, *(self._word(word, case) for word in words), edge, edge]
        second = first = 0  # places among the tags, from 1; 0 is the edge
        finite = False
        places = []
        for word, score in zip(known[2:-2], self._apart_from_tags(known), strict=True):
            behind = word.behind.get((first, finite))
            if behind is None:
                behind = word.behind[first, finite] = self._behind(
                    self.tags[first - 1] if first else EDGE, word.word, finite
                )
            score += behind
            score += self._histories[second, first]
            second, first = first, int(score.argmax()) + 1
            places.append(first)
            finite = features.has_finite(finite, word.word, self.tags[first - 1])
        return [self.tags[place - 1] for place in places]

    def _apart_from_tags(self, known: Sequence[_Known]) -> Sums:
        """Scores of each tag for each word but two at either end, shape (n, tags), without what earlier tags say."""
        row_of, weights = self._rows.get, self._weights
        collected: list[Sums] = []
        starts = []
        for names, asked in features.around([each.word for each in known[2:-2]], known[0].word):
            starts.append(len(collected))
            for question in asked:
                collected.append(self._answer(question))
            for name in names:
                row = row_of(name)
                if row is not None:
                    collected.append(weights[row])
        sums = np.array([each.sums for each in known])  # (n + 4, 5, tags)
        total: Sums = np.add.reduceat(np.array(collected), starts, axis=0)
        for place, shift in enumerate((2, 1, 0, 3, 4)):  # the word itself, those before it, those behind it
            total += sums[shift : shift + len(starts), place]
        return total

    def _word(self, text: str, case: str) -> _Known:
        entry = self._words.get((text, case))
        if entry is None:
            word = Word(text, case)
            said = [
                of(word) for of in (features.own, features.before, features.before2, features.after, features.after2)
            ]
            rows = [self._rows.get(name, 0) for names in said for name in names]
            starts = np.cumsum([0, *map(len, said[:-1])])
            entry = self._words[text, case] = _Known(word, np.add.reduceat(self._weights[rows], starts, axis=0), {})
        return entry

    def _behind(self, first: str, word: Word, finite: bool) -> Sums:
        """Sum of weights for a word behind a tag."""
        row = self._rows.get(features.tag_and_word(first, word.lower))
        answer = self._answer((features.tag_and_kind, (first, word.shape, word.known, word.lower[-2:], finite)))
        return answer if row is None else answer + self._weights[row]

    def _answer(self, question: tuple[features.Feature, tuple[object, ...]]) -> Sums:
        answer = self._sums.get(question)
        if answer is None:
            of, about = question
            answer = self._sums[question] = self._total(of(*about))
        return answer

    def _total(self, names: Sequence[str]) -> Sums:
        """Sum of the weights of features, for each tag; not to be written to."""
        rows = [row for name in names if (row := self._rows.get(name)) is not None]
        total: Sums = (
            self._weights[rows].sum(axis=0, dtype=np.int16) if len(rows) > 1 else self._weights[rows[0] if rows else 0]
        )
        return total
