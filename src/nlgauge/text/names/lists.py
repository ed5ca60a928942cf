"""Lists of names: people's first and last names with their gender, places, and words inside and beside names."""

from __future__ import annotations

from functools import cache
from typing import Literal

from nlgauge.text.lexicon.lexicon import POSES, rank
from nlgauge.text.wordlists import WordList, data_lines

Gender = Literal["f", "m"]

_CLEAR = 5.0  # a first name is of one gender when it is given so many times as often to it
_MET = 14_000  # rank among lemmas; what lies beyond (john, twain, raj) is hardly met as a word
_FUNCTION_WORDS = WordList("names", "function words")
# Places that were named after people, or bear the same name, and are more often people.
RATHER_PEOPLE = WordList("names", "rather people")


def gender_of(first_name: str) -> Gender | None:
    """f or m for a first name that is given mostly to girls or to boys; None for other and for unknown names."""
    entry = _first_names().get(_capitalised(first_name))
    return entry[2] if entry else None


def is_first_name(word: str) -> bool:
    """Whether a word is a frequent first name in the US or in other countries."""
    return _capitalised(word) in _first_names()


def is_last_name(word: str) -> bool:
    """Whether a word is one of the frequent last names in the US."""
    return _capitalised(word) in _last_names()


def share(first_name: str) -> float:
    """Percent of the women, or of the men, of the US who bear a first name, whichever is more; 0 for other names."""
    entry = _first_names().get(_capitalised(first_name))
    return max(entry[:2]) if entry else 0.0


def first_names(gender: Gender | None = None) -> list[str]:
    """First names in the US that are neither words nor places, most frequent first; of one gender, or all."""
    return [
        n
        for n, (f, m, g) in _first_names().items()
        if f + m > 0 and (g == gender or gender is None) and not is_word(n) and not _is_place(n)
    ]


def last_names() -> list[str]:
    """Last names in the US that are neither words nor places, most frequent first."""
    return [n for n in _last_names() if not is_word(n) and not _is_place(n) and n not in _first_names()]


@cache
def places() -> dict[str, str]:
    """The known places, each with its kind: country, capital, state or place."""
    return dict(line.split("\t") for line in data_lines("places.tsv"))


@cache
def name_words(kind: str) -> frozenset[str]:
    """The words of one kind that occur inside or beside names, in small letters.

    Kinds are title, sure, no-name, suffix, particle, organisation and others.
    """
    listed: list[str] = []
    for line in data_lines("name_words.tsv"):
        name, words = line.split("\t")
        if name == kind:
            listed += words.split("|" if kind == "firm" else " ")
    return frozenset(listed)


@cache
def is_word(name: str) -> bool:
    """Whether a name is also a word that is so frequent that a reader may think of it."""
    ranks = [r for pos in POSES if (r := rank(name, pos)) is not None]
    return bool(ranks and min(ranks) < _MET) or name.lower() in _FUNCTION_WORDS | name_words("calendar")


def _is_place(name: str) -> bool:
    return name in places() and name not in RATHER_PEOPLE


def _capitalised(word: str) -> str:
    return word[:1] + word[1:].lower() if word.isupper() else word


@cache
def _first_names() -> dict[str, tuple[float, float, Gender | None]]:
    """First name -> percent of women and of men who bear it, gender."""
    table: dict[str, tuple[float, float, Gender | None]] = {}
    for line in data_lines("first_names.tsv"):
        name, *shares = line.split("\t")
        f, m = map(float, shares)
        table[name] = (f, m, "f" if f >= _CLEAR * m else "m" if m >= _CLEAR * f else None)
    for line in data_lines("first_names_world.txt"):
        gender, *names = line.split()
        for name in names:
            table.setdefault(name, (0.0, 0.0, "f" if gender == "f" else "m" if gender == "m" else None))
    return table


@cache
def _last_names() -> dict[str, None]:
    return dict.fromkeys(data_lines("last_names.txt"))
