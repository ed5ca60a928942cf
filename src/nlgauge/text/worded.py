"""The words of a text in lower case and in full: which carry content, which deny, which say a number or a day."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from nlgauge.text.scripts import data_lines
from nlgauge.text.tokenize import word_spans

if TYPE_CHECKING:
    from nlgauge.text.numbers.said import Said, Saying

_CLITICS = frozenset({"'s", "'re", "'ve", "'ll", "'d", "'m", "o'clock"})
NEGATIONS = frozenset("not n't no never none nobody nothing nowhere neither nor cannot without".split())
_IN_FULL = {  # both words as one -> each in full
    "can't": "can not", "won't": "will not", "shan't": "shall not", "ain't": "is not", "let's": "let us",
    "gonna": "going to", "wanna": "want to", "gotta": "got to",
}  # fmt: skip
_ALONE = {"n't": "not", "'em": "them", "y'all": "you"}
_NO_APOSTROPHE = re.compile(r"(?:do|does|did|is|are|was|were|has|have|had|ca|wo|could|would|should)nt")
_PERSONS = frozenset(
    "i me my mine myself you your yours yourself yourselves he him his himself she her hers herself"
    " we us our ours ourselves they them their theirs themselves".split()
)


@dataclass(frozen=True)
class WordedText:
    """A text and its words.

    Attributes:
        text: the text.
        places: start and end of each word.
    """

    text: str
    places: tuple[tuple[int, int], ...] = field(repr=False)

    @classmethod
    def of(cls, text: str) -> WordedText:
        """The words of a text, as `word_spans` finds them; marks are words, too."""
        return cls(text, tuple(word_spans(text)))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words."""
        return tuple(self.text[start:end] for start, end in self.places)

    @cached_property
    def lower(self) -> tuple[str, ...]:
        """The words in lower case, with straight apostrophes, and what is contracted in full: ca|n't is can|not."""
        words = [word.lower().replace("’", "'") for word in self.words]
        for place, pair in enumerate(list(pairwise(words))):
            if (full := _IN_FULL.get("".join(pair))) is not None:
                words[place : place + 2] = full.split()
        return tuple("not" if _NO_APOSTROPHE.fullmatch(word) else _ALONE.get(word, word) for word in words)

    @cached_property
    def sayings(self) -> tuple[Saying, ...]:
        """Its numbers, dates, times, days and units."""
        from nlgauge.text.numbers.said import sayings  # what `meta`, which names the methods, need not load

        return tuple(sayings(self.text))

    @cached_property
    def values(self) -> Said:
        """What these say."""
        from nlgauge.text.numbers.said import values_of

        return values_of(self.text)

    @cached_property
    def numbered(self) -> frozenset[int]:
        """Which words, by their place among the words, are part of a number."""
        return self.inside((one.start, one.end) for one in self.sayings if one.kind == "number")

    @cached_property
    def dated(self) -> frozenset[int]:
        """Which are a day or a month."""
        return self.inside((one.start, one.end) for one in self.sayings if one.kind == "day")

    def inside(self, spans: Iterable[tuple[int, int]]) -> frozenset[int]:
        """Which words, by their place among the words, overlap one of some spans of characters."""
        found: set[int] = set()
        for low, high in spans:
            first = bisect_right(self.places, low, key=lambda place: place[1])
            found.update(range(first, bisect_left(self.places, high, key=lambda place: place[0])))
        return frozenset(found)


def is_function(word: str) -> bool:
    """Whether a word in lower case is a function word of English or has no letter or digit."""
    return word in _function_words() or not any(char.isalnum() for char in word)


def carries_content(word: str) -> bool:
    """Whether a word in lower case is no function word, or is one that negates or says who."""
    return word in NEGATIONS or word in _PERSONS or not is_function(word)


@cache
def _function_words() -> frozenset[str]:
    return frozenset(" ".join(data_lines("stopwords.txt")).split()) | _CLITICS
