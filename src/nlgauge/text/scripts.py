"""Lists of words in the data folder, and what they and the letters of a text tell: its script, its language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class WordList(Set[str]):
    """The words of one section of a file in `data/language/wordlists`.

    Making such a set at the top of a module costs nothing, since its file is read when a word is first looked up.
    Iteration follows the order of the file. The union, intersection or difference with another set is a frozenset.

    Args:
        file: the name of the file, without its extension.
        section: the name in brackets at the head of the section.
    """

    __slots__ = ("_file", "_section", "_words")

    def __init__(self, file: str, section: str) -> None:
        self._file, self._section = file, section
        self._words: dict[str, None] | None = None

    def __contains__(self, word: object) -> bool:
        return word in (self._words if self._words is not None else self._read())

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __repr__(self) -> str:
        return f"WordList({self._file!r}, {self._section!r})"

    def _read(self) -> dict[str, None]:
        if self._words is None:
            self._words = dict.fromkeys(_sections(self._file)[self._section])
        return self._words

    @classmethod
    def _from_iterable(cls, words: Iterator[str]) -> frozenset[str]:  # type: ignore[override]
        return frozenset(words)


@cache
def data_lines(name: str) -> tuple[str, ...]:
    """The lines of a text file in `data/language`, without blank ones and comments, which begin with `# `."""
    text = files("nlgauge").joinpath("data", "language", name).read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("# "))


@cache
def _sections(file: str) -> Mapping[str, list[str]]:
    """The words of each section, in order."""
    sections: dict[str, list[str]] = {}
    words: list[str] = []
    for line in data_lines(f"wordlists/{file}.txt"):
        if line.startswith("["):
            words = sections.setdefault(line.strip("[]"), [])
        else:
            words += line.split()
    return sections


# --- Which language is a text in? Told by n-grams of its bytes, by the library py3langid, which works offline

_LONGEST = 1000  # characters that are looked at: more tell nothing new
_KEPT = 4096  # texts whose languages are remembered: references are shared


@lru_cache(maxsize=_KEPT)
def languages(text: str) -> Mapping[str, float]:
    """Code of a language -> the probability that the text is in it, the most probable first.

    Codes are those of ISO 639, of two letters where there are such. A text of less than three words tells little.
    """
    return dict(_identifier().rank(text[:_LONGEST]))


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # its model takes a second to load

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


# --- Which script is a text written in? Told by ranges of Unicode alone; `functionwords` tells languages of one script

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


# --- Which language is a text in, by its function words? A cheap look that often tells it, and says where it does not

FEWEST, SHARE = 2, 0.3  # distinct function words of its language that a text has, and their share of distinct words
SHARE_BESIDE = 0.12  # the same share where a text is held against English alone: many languages have few such words
LEAD = 2  # how many times as many function words of its language it has as of any other
_WORD = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=_KEPT)
def told_language(text: str) -> str | None:
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
