"""From probabilities of words to spans: thresholds, runs of neighbours, severities, and categories that rules know."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
from rapidfuzz.distance import Levenshtein

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.marks import ErrorSpan, Severity
from nlgauge.text.names import name_words
from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.numbers.words import Number
from nlgauge.text.scripts import data_lines
from nlgauge.text.tokenize import word_spans

_CLITICS = frozenset({"'s", "'re", "'ve", "'ll", "'d", "'m"})
_NEGATIONS = frozenset("not n't no never none nobody nothing nowhere neither nor cannot without".split())
_LETTERS = 3  # by which a day or a month is told, also where it is cut short: Tue, Tuesday
_DAYS = frozenset("mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec".split())
_SLIP = 2  # edits that a misspelt word may be away from one of the other text
_LEAST_SPELLED = 4  # letters of a word that may be misspelt
_DIGITS = 4  # of a confidence; the last bits of a probability differ between processors


@dataclass(frozen=True)
class Worded:
    """A text and its words.

    Attributes:
        text: the text.
        places: start and end of each word.
    """

    text: str
    places: tuple[tuple[int, int], ...] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> Worded:
        """The words of a text, as `nlgauge.text.word_spans` finds them; marks are words, too."""
        return cls(text, tuple(word_spans(text)))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words."""
        return tuple(self.text[start:end] for start, end in self.places)

    @cached_property
    def lower(self) -> tuple[str, ...]:
        """The words in lower case."""
        return tuple(word.lower() for word in self.words)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Its numbers, in digits or in words, without times of day, which are written in two ways (5 pm, 17:00)."""
        return tuple(number for number in find_numbers(self.text) if number.kind != "time")

    @cached_property
    def days(self) -> dict[int, str]:
        """Place among the words -> day of the week or month, by its first letters. It begins with a capital."""
        both = enumerate(zip(self.words, self.lower, strict=True))
        return {i: lower[:_LETTERS] for i, (word, lower) in both if word[:1].isupper() and lower in _calendar()}

    @cached_property
    def numbered(self) -> frozenset[int]:
        """Which words, by their place among the words, are part of a number."""
        return self.inside((number.start, number.end) for number in self.numbers)

    def inside(self, spans: Iterable[tuple[int, int]]) -> frozenset[int]:
        """Which words, by their place among the words, overlap one of some spans of characters."""
        found: set[int] = set()
        for low, high in spans:
            first = bisect_right(self.places, low, key=lambda place: place[1])
            found.update(range(first, bisect_left(self.places, high, key=lambda place: place[0])))
        return frozenset(found)


def unmatched(hypothesis: Worded, others: Sequence[Worded]) -> Mask:
    """Which words of a text stand in none of the other texts, in any case, shape (words,)."""
    known = {word for other in others for word in other.lower}
    return np.array([word not in known for word in hypothesis.lower], dtype=np.bool_)


def grown(probabilities: Array, threshold: float) -> Mask:
    """Which words are marked: runs of words above half of a threshold, of which one is above the threshold itself.

    Args:
        probabilities: that a word is at fault, shape (words,).
        threshold: in (0, 1).
    """
    marked = np.zeros(len(probabilities), dtype=np.bool_)
    for first, last in _runs(probabilities > threshold / 2):
        marked[first : last + 1] = probabilities[first : last + 1].max() > threshold
    return marked


def spans_of(
    hypothesis: Worded, others: Sequence[Worded], marked: Mask, is_major: Mask, faulty: Array | None = None
) -> list[ErrorSpan]:
    """Runs of marked words as spans. A run is major if one of its words is.

    Args:
        hypothesis: the text.
        others: the texts it was compared with, from which categories are told.
        marked: which words are at fault, shape (words,).
        is_major: which of them are part of a major error, shape (words,).
        faulty: the probability of each that it is at fault, shape (words,); the highest of a run is its confidence.
            None where there are no probabilities.
    """
    found = []
    for first, last in _runs(marked):
        severity: Severity = "major" if is_major[first : last + 1].any() else "minor"
        category = category_of(hypothesis, others, first, last)
        start, end = hypothesis.places[first][0], hypothesis.places[last][1]
        surest = None if faulty is None else _confidence(faulty[first : last + 1].max())
        found.append(ErrorSpan(start, end, severity, category=category, confidence=surest))
    return found


def gaps_of(hypothesis: Worded, others: Sequence[Worded], missing: Array, threshold: float) -> list[ErrorSpan]:
    """Places where something is missing: those above the threshold that are higher than their neighbours.

    They are major if a word of the other texts that carries content is not in the hypothesis, minor otherwise.

    Args:
        hypothesis: the text.
        others: the texts it was compared with.
        missing: the probability before each word and after the last one, shape (words + 1,).
        threshold: above which something is missing.
    """
    known = set(hypothesis.lower)
    lacks = all(any(not is_function(word) and word not in known for word in other.lower) for other in others)
    severity: Severity = "major" if lacks else "minor"
    around = np.concatenate([[-1.0], missing, [-1.0]])
    highest = (missing > threshold) & (missing >= around[:-2]) & (missing > around[2:])
    starts = [*(start for start, _ in hypothesis.places), len(hypothesis.text)]
    return [
        ErrorSpan(
            starts[place],
            starts[place],
            severity,
            category="omission",
            missing=True,
            confidence=_confidence(missing[place]),
        )
        for place in np.flatnonzero(highest)
    ]


def _confidence(probability: float) -> float:
    return round(float(probability), _DIGITS)


def is_function(word: str) -> bool:
    """Whether a word in lower case is a function word of English or has no letter or digit."""
    return word in _function_words() or not any(char.isalnum() for char in word)


def category_of(hypothesis: Worded, others: Sequence[Worded], first: int, last: int) -> str | None:
    """What kind of error a run of words is, as far as the words tell.

    `punctuation`: it has no letter or digit. `repetition`: all its words stand right before it, too. `negation`,
    `number`, `date`: one of its words is one that no other text has; a date is a day of the week or a month.
    `spelling`: its one word is in no other text, but is one or two letters away from a word that only others have.
    `name`: a word that is not the first begins with a capital, and no other text has it. None otherwise.
    """
    own, words = hypothesis.lower[first : last + 1], hypothesis.words[first : last + 1]
    known = Counter(word for other in others for word in other.lower)
    new = [place for place, word in enumerate(own) if word not in known]
    if not any(char.isalnum() for word in own for char in word):
        return "punctuation"
    if own == hypothesis.lower[max(0, first - len(own)) : first]:
        return "repetition"
    if any(own[place] in _NEGATIONS for place in new):
        return "negation"
    if any(char.isdigit() for place in new for char in own[place]) or any(
        first + place in hypothesis.numbered for place in new
    ):
        return "number"
    if any(first + place in hypothesis.days for place in new):
        return "date"
    if len(own) == 1 and new and _is_misspelt(own[0], set(known) - set(hypothesis.lower)):
        return "spelling"
    if any(words[place][:1].isupper() and first + place for place in new):
        return "name"
    return None


def _is_misspelt(word: str, meant: set[str]) -> bool:
    most = _SLIP if len(word) > _LEAST_SPELLED + 2 else 1
    return len(word) >= _LEAST_SPELLED and any(
        len(other) >= _LEAST_SPELLED and Levenshtein.distance(word, other, score_cutoff=most) <= most for other in meant
    )


def _runs(marked: Mask) -> list[tuple[int, int]]:
    """First and last of each run of marked words."""
    edges = np.diff(marked.astype(np.int8), prepend=0, append=0)
    return list(zip(np.flatnonzero(edges == 1).tolist(), (np.flatnonzero(edges == -1) - 1).tolist(), strict=True))


@cache
def _calendar() -> frozenset[str]:
    return frozenset(word for word in name_words("calendar") if word[:_LETTERS] in _DAYS)


@cache
def _function_words() -> frozenset[str]:
    return frozenset(" ".join(data_lines("stopwords.txt")).split()) | _CLITICS
