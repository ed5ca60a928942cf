"""Which language is a text in, by its function words? A cheap look that often tells it, and says where it does not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import chain

from nlgauge.text.scripts import ENGLISH
from nlgauge.text.wordlists import data_lines

FEWEST, SHARE = 2, 0.3  # distinct function words of its language that a text has, and their share of distinct words
SHARE_BESIDE = 0.12  # the same share where a text is held against English alone: many languages have few such words
LEAD = 2  # how many times as many function words of its language it has as of any other

_LONGEST = 1000  # characters that are looked at: more tell nothing new
_KEPT = 4096  # texts whose languages are remembered: references are shared
_WORD = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=_KEPT)
def told(text: str) -> str | None:
    """The code of the language whose function words a text has; None where they do not decide.

    Short texts, names, and languages without a list (`languages.tsv`) are not decided, nor is a text between two
    languages that are near to each other, such as Danish and Norwegian.
    """
    found, n = _counted(text)
    best = found.most_common(2)
    return _clear(*best[0], best[1][1] if len(best) > 1 else 0, SHARE * n) if best else None


@lru_cache(maxsize=_KEPT)
def leaning(text: str) -> str | None:
    """`en` for a text that looks English, the language it looks most like if it does not, None if neither is clear.

    Which of two near languages it is may be wrong: that it is not English is what is told.
    """
    found, n = _counted(text)
    english = found.pop(ENGLISH, 0)
    code, number = found.most_common(1)[0] if found else (ENGLISH, 0)
    least = SHARE_BESIDE * n
    return _clear(ENGLISH, english, number, least) or _clear(code, number, english, least)


@cache
def names() -> Mapping[str, str]:
    """Code -> English name of every language that is told apart, be it by function words or by the model."""
    return {code: name for code, name, _ in _rows()}


def _counted(text: str) -> tuple[Counter[str], int]:
    """Language -> how many of the distinct words of a text are function words of it; and the number of words."""
    words = set(_WORD.findall(text[:_LONGEST].lower()))
    return Counter(chain.from_iterable(_languages_of()[word] for word in words & _languages_of().keys())), len(words)


def _clear(code: str, number: int, other: int, least: float) -> str | None:
    return code if number >= max(FEWEST, LEAD * other, least) else None


@cache
def _languages_of() -> Mapping[str, tuple[str, ...]]:
    """Function word -> codes of its languages."""
    found: dict[str, tuple[str, ...]] = {}
    for code, _, words in _rows():
        for word in dict.fromkeys(_WORD.findall(words)):
            found[word] = (*found.get(word, ()), code)
    return found


@cache
def _rows() -> tuple[tuple[str, str, str], ...]:
    rows = [line.split("\t") for line in data_lines("languages.tsv")]
    return tuple((code, name, words[0] if words else "") for code, name, *words in rows)
