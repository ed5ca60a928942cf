"""Does a text say one phrase again and again, without anything between?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

TURNS = 3  # how often a loop says its phrase, at least
LEAST = 9  # words of a loop, at least: a phrase of three words turns three times, one word nine times
LEAST_LETTERS = 18  # as `LEAST`, where no blanks set words apart
PART = 1 / 3  # the share of a text that a loop takes up, at least; less than that leaves a text that says something
MOST = 2 / 3  # the share of a text that only says again what was just said, from which on hardly anything is left
LONGEST = 48  # letters of a word without an end ("mmmm...", "hahaha..."), at least

_GRAM = 4  # words that find their last occurrence together
_PERIOD = 16  # letters that turn in a word without an end, at most
_STAMMER = re.compile(r"([^\W\d_]{1,20}?)(?:\W*\1){3}")  # ha ha ha ha, noooo, 哈哈哈哈


class Loop(NamedTuple):
    """The longest loop of a text.

    Attributes:
        whole: the share of the text that it takes up, in [0, 1]; 0 if there is none.
        again: the share without its first turn.
    """

    whole: float
    again: float


def is_loop(words: Sequence[str], spaced: bool) -> bool:
    """Whether a third of a text or more is one phrase that turns three times or more, with nothing between.

    Repeats that are apart ("more and more ... more and more") are none, nor are lists whose entries differ.

    Args:
        words: of the text, in small letters; or its letters if no blanks set words apart.
        spaced: whether they are words.
    """
    return loop(words, spaced).whole >= PART


def loop(words: Sequence[str], spaced: bool) -> Loop:
    """The longest loop of nine words or more, or else the words without an end; arguments as of `is_loop`."""
    if spaced and max(map(len, words), default=0) >= LONGEST:
        endless = sum(len(word) for word in words if _is_endless(word))
        if endless:
            share = endless / sum(map(len, words))
            return Loop(share, share)
    least = LEAST if spaced else LEAST_LETTERS
    again = least - least // TURNS  # two of three turns were said before
    if len(words) - len(set(words)) < again or len(words) - len(set(pairwise(words))) < again:
        return Loop(0.0, 0.0)
    length, period = _longest(words, least)
    return Loop(length / len(words), (length - period) / len(words))


def turns_itself(text: str) -> bool:
    """Whether a source or reference says a short word four times in a row, so that an output may go on with it."""
    return _STAMMER.search(text.lower()) is not None


def _longest(words: Sequence[str], least: int) -> tuple[int, int]:
    """The number of words of the longest loop, and of its phrase; 0 if there is none.

    In a loop of phrases of p words, every four words stand p words after they stood last. One pass over the words
    therefore finds loops, however long the phrase is, unless it holds the same four words twice.
    """
    last: dict[tuple[str, ...], int] = {}
    longest = phrase = period = run = 0
    said = -len(words)  # where a word stands that is no number: tables of zeros are no loops
    for start, gram in enumerate(zip(*(words[k:] for k in range(_GRAM)), strict=False)):
        end = start + _GRAM
        step = start - last.get(gram, start)
        run = run + 1 if step == period else 1
        period, last[gram] = step, start
        said = end if gram[-1][0].isalpha() else said
        length = period + run + _GRAM - 1
        if period and length >= max(least, TURNS * period, longest + 1) and end - said < length:
            longest, phrase = length, period
    return longest, phrase


def _is_endless(word: str) -> bool:
    """Whether a word ends in letters that turn for 48 letters or more."""
    if len(word) < LONGEST or not word[-_PERIOD:].isalpha():
        return False
    tail = word[-LONGEST:]
    return any(tail[period:] == tail[:-period] for period in range(1, _PERIOD + 1))
