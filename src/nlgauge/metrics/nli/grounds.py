"""Which names and numbers of a sentence stand nowhere in its source? And how much of it is copied from there?"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Literal

from nlgauge.text.languages import language
from nlgauge.text.names import entities, name_words
from nlgauge.text.numbers.find import find_numbers, is_among, values_of
from nlgauge.text.numbers.words import Number
from nlgauge.text.porter import stem
from nlgauge.text.tokenize import unicode_words

_WORD = re.compile(r"[^\W_]+(?:[.'’][^\W_]+)*")
_OWNER = re.compile(r"['’]s?$")
_RUN = 3  # words
_STEM = 4  # letters that two forms of a name share at least: Spain, Spanish
_ENDING = 4  # letters by which a form may be longer: America, American
_ACRONYM = 5  # letters of the longest one that is looked for among initials
_SMALL = frozenset({"of", "the", "and", "for", "in"})  # left out of an acronym
_TITLES = ("title", "title-m", "title-f", "no-name", "particle", "suffix", "calendar")
_KEPT = 4096  # sentences whose names and numbers are remembered


@dataclass(frozen=True, slots=True)
class Mention:
    """A name or a number of a text.

    Attributes:
        start: its first character.
        end: the one after its last.
        text: as written.
        kind: what it is.
    """

    start: int
    end: int
    text: str
    kind: Literal["name", "number"]


class Grounds:
    """The words and numbers of a source, found when they are first asked for.

    A name has ground if each of its words is a word of the source in whatever case, without its possessive ending; or
    begins like one (Spanish, Spain); or is made of initials of neighbouring words with capitals (UN). Titles and days
    need none. A number has ground if the source has its value, in digits or in words.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._known: dict[int, frozenset[tuple[str, ...]]] = {}  # length of runs of words -> those of the source

    def lacks(self, sentence: str) -> tuple[Mention, ...]:
        """Names and numbers of a sentence without ground, in order. Its names are looked for as in English text."""
        return tuple(
            mention
            for mention, what in _mentions(sentence)
            if not (is_among(what, self._values) if isinstance(what, Number) else all(map(self._has_word, what)))
        )

    def copied(self, sentence: str) -> float:
        """The share of the runs of three words of a sentence that stand in the source, by stems; 0 to 1.

        A sentence of one or two words is one run; one without words counts as copied.
        """
        words = _stems(sentence)
        length = min(_RUN, len(words))
        runs = [words[i : i + length] for i in range(len(words) - length + 1)] if words else []
        return sum(run in self._runs(length) for run in runs) / len(runs) if runs else 1.0

    def _runs(self, length: int) -> frozenset[tuple[str, ...]]:
        if length not in self._known:
            words = _stems(self._source)
            self._known[length] = frozenset(words[i : i + length] for i in range(len(words) - length + 1))
        return self._known[length]

    def _has_word(self, word: str) -> bool:
        if word in self._words:
            return True
        if len(word) > _STEM and word[: max(_STEM, len(word) - _ENDING)] in self._stems:
            return True
        return 2 <= len(word) <= _ACRONYM and word in self._initials

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_folded_words(self._source))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(word[:i] for word in self._words for i in range(_STEM, len(word) + 1))

    @cached_property
    def _initials(self) -> str:
        """First letters of words with capitals; a blank where other words stand."""
        words = (word for word in _WORD.findall(self._source) if word not in _SMALL)
        return "".join(_fold(word[0]) if word[0].isupper() else " " for word in words)

    @cached_property
    def _values(self) -> frozenset[Decimal]:
        return values_of(self._source)


@lru_cache(maxsize=_KEPT)
def _mentions(sentence: str) -> tuple[tuple[Mention, tuple[str, ...] | Number], ...]:
    """Numbers of a sentence, and its names with their words, in order."""
    found: list[tuple[Mention, tuple[str, ...] | Number]] = []
    for number in find_numbers(sentence):
        start, end = number.outer_start, number.outer_end
        found.append((Mention(start, end, sentence[start:end], "number"), number))
    taken = [(mention.start, mention.end) for mention, _ in found]
    for name in entities(language().analyse(sentence).tokens):
        text = sentence[name.start : name.end]
        words = tuple(word for word in _folded_words(text, capitals=True) if not _is_title(word))
        if words and not any(start < name.end and name.start < end for start, end in taken):
            found.append((Mention(name.start, name.end, text, "name"), words))
    return tuple(sorted(found, key=lambda pair: pair[0].start))


def _folded_words(text: str, *, capitals: bool = False) -> list[str]:
    """Words without case, marks and possessive endings; with `capitals` those alone that begin with one."""
    words = (_OWNER.sub("", word) for word in _WORD.findall(text))
    return [_fold(word) for word in words if word and (word[0].isupper() or not capitals)]


def _stems(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in unicode_words(text))


def _fold(word: str) -> str:
    letters = unicodedata.normalize("NFKD", word.replace(".", "")).casefold()
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _is_title(word: str) -> bool:
    return any(word in name_words(kind) for kind in _TITLES)
