"""Which script is a text written in? Told by ranges of Unicode alone; languages of one script are not told apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nlgauge.text.wordlists import data_lines

Codes = npt.NDArray[np.int64]

LATIN = "Latin"
ENGLISH = "en"
SCRIPTS_OF = {ENGLISH: frozenset({LATIN})}  # language -> the scripts it is written in
NAME_OF = {ENGLISH: "English"}

_CHARACTERS = 1 << 20  # looked at together, so that memory does not grow with the texts
_TABLE = 0x40000  # characters beyond have no script here
_NONE, _BLANK, _LATIN = 0, 1, 2  # classes of characters; then one for each other script
_BLANKS = "\t\n\r \u00a0\u200b\u3000"
_SPLIT = 5  # a script without blanks is split into words where there is a blank for every so many of its characters
_KANA = 0.1  # Japanese is Han with at least this share of kana


class Writing(NamedTuple):
    """How a text is written.

    Attributes:
        script: the script of most of its letters, or else the one that is most frequent beside Latin.
        looks: how such a text looks, as in "12 segments look Chinese (Han)".
        spaced: whether its words are set apart by blanks.
    """

    script: str
    looks: str
    spaced: bool


def writings(texts: Sequence[str]) -> Codes:
    """The writing of each text, shape (n,): a place in `known_writings()`, or 0 for Latin.

    A text is Latin if at least half of its letters are, or if it has no letters.
    """
    codes = np.zeros(len(texts), dtype=np.int64)
    other = [place for place, text in enumerate(texts) if not text.isascii()]
    for part in _parts(other, texts):
        codes[part] = _written([texts[place] for place in part])
    return codes


@cache
def known_writings() -> tuple[Writing, ...]:
    """All writings; the first stands for Latin."""
    return tuple(
        Writing(name, looks, spaced or split) for name, looks, spaced, _ in _scripts() for split in (False, True)
    )


def _parts(places: Sequence[int], texts: Sequence[str]) -> Iterator[list[int]]:
    part: list[int] = []
    used = 0
    for place in places:
        part.append(place)
        used += len(texts[place])
        if used >= _CHARACTERS:
            yield part
            part, used = [], 0
    if part:
        yield part


def _written(texts: Sequence[str]) -> Codes:
    """As `writings`; counts the characters of each class in each text."""
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    raw = "".join(texts).encode("utf-32-le", "surrogatepass")
    classes = _classes()[np.minimum(np.frombuffer(raw, dtype="<u4"), _TABLE - 1)]
    if classes.max(initial=0) <= _LATIN:
        return np.zeros(len(texts), dtype=np.int64)
    n = len(_scripts()) + _LATIN
    owner = np.repeat(np.arange(len(texts)) * n, lengths)
    counts = np.bincount(owner + classes, minlength=len(texts) * n).reshape(len(texts), n)
    blanks, letters = counts[:, _BLANK], counts[:, _LATIN:]
    names = [name for name, *_ in _scripts()]
    han, kana = names.index("Han"), names.index("Kana")
    both = letters[:, han] + letters[:, kana]
    japanese = letters[:, kana] > _KANA * both
    letters[:, kana], letters[:, han] = np.where(japanese, both, 0), np.where(japanese, 0, both)
    latin = letters[:, 0].copy()
    letters[:, 0] = 0
    script, most = letters.argmax(axis=1), letters.max(axis=1)
    split = blanks * _SPLIT >= most
    return np.where(letters.sum(axis=1) > latin, 2 * script + split, 0)


@cache
def _scripts() -> tuple[tuple[str, str, bool, str], ...]:
    """Name, looks, whether words are set apart by blanks, and ranges of each script; Latin is the first."""
    rows = [line.split("\t") for line in data_lines("scripts.tsv")]
    return tuple((name, looks, blanks == "yes", ranges) for name, looks, blanks, ranges in rows)


@cache
def _classes() -> npt.NDArray[np.uint8]:
    """The class of each character, shape (_TABLE,)."""
    table = np.full(_TABLE, _NONE, dtype=np.uint8)
    table[[ord(blank) for blank in _BLANKS]] = _BLANK
    for number, (_, _, _, ranges) in enumerate(_scripts(), _LATIN):
        for ends in ranges.split():
            low, _, high = ends.partition("-")
            table[int(low, 16) : int(high or low, 16) + 1] = number
    return table
