"""Which script is a text written in? Told by ranges of Unicode alone; `functionwords` tells languages of one script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nlgauge.text.wordlists import data_lines

Codes = npt.NDArray[np.int64]

LATIN = "Latin"
ENGLISH = "en"
SCRIPTS_OF = {ENGLISH: frozenset({LATIN})}  # language -> the scripts it is written in

_CHARACTERS = 1 << 15  # looked at together: what is made of them stays in the processor's cache
_TABLE = 0x40001  # the last stands for all characters beyond, which have no script here
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
        language: the code of its language, where it is told by more than its script.
    """

    script: str
    looks: str
    spaced: bool
    language: str | None = None

    @property
    def may_be_english(self) -> bool:
        """Whether nothing tells that it is not English."""
        return self.script == LATIN and self.language in (None, ENGLISH)


def writings(texts: Sequence[str]) -> Codes:
    """The writing of each text, shape (n,): a place in `known_writings()`, or 0 for Latin.

    A text is Latin if at least half of its letters are, or if it has no letters.
    """
    places = [place for place, text in enumerate(texts) if not text.isascii()]
    codes = np.zeros(len(texts), dtype=np.int64)
    if places:
        known: dict[str, int] = {}
        for part in _parts(dict.fromkeys(texts[place] for place in places)):
            known.update(zip(part, _written(part).tolist(), strict=True))
        codes[places] = [known[texts[place]] for place in places]
    return codes


@cache
def known_writings() -> tuple[Writing, ...]:
    """All writings; the first stands for Latin. Of one script, that without blanks comes last."""
    return tuple(
        Writing(name, looks, spaced or split) for name, looks, spaced, _ in _scripts() for split in (True, False)
    )


def _parts(texts: Iterable[str]) -> Iterator[list[str]]:
    part: list[str] = []
    used = 0
    for text in texts:
        part.append(text)
        used += len(text)
        if used >= _CHARACTERS:
            yield part
            part, used = [], 0
    if part:
        yield part


def _written(texts: Sequence[str]) -> Codes:
    """As `writings`, of texts that are not empty; counts the characters of each class in each text."""
    raw = "".join(texts).encode("utf-32-le", "surrogatepass")
    classes = _classes().take(np.frombuffer(raw, dtype="<u4"), mode="clip")
    if classes.max() <= _LATIN:
        return np.zeros(len(texts), dtype=np.int64)
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    starts = np.cumsum(lengths) - lengths

    def count(number: int) -> Codes:
        return np.add.reduceat((classes == number).view(np.uint8), starts, dtype=np.int64)

    found = np.flatnonzero(np.bincount(classes)).tolist()
    letters = {number: count(number) for number in found if number > _LATIN}  # each (t,)
    han, kana = _number("Han"), _number("Kana")
    if han in letters and kana in letters:
        both = letters[han] + letters[kana]
        japanese = letters[kana] > _KANA * both
        letters |= {kana: np.where(japanese, both, 0), han: np.where(japanese, 0, both)}
    other = np.stack(list(letters.values()))  # (scripts, t)
    script = np.array(list(letters))[other.argmax(axis=0)] - _LATIN
    whole = count(_BLANK) * _SPLIT < other.max(axis=0)
    return np.where(other.sum(axis=0) > count(_LATIN), 2 * script + whole, 0)


@cache
def _number(script: str) -> int:
    """The class of a script's characters."""
    return [name for name, *_ in _scripts()].index(script) + _LATIN


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
