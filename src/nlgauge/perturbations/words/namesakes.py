"""Other names for people and places: of the same gender, of the same kind, and never one that the text has already."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from functools import cache

from nlgauge.text.doc import Doc
from nlgauge.text.lexicon import POSES, rank
from nlgauge.text.names import (
    Gender,
    Person,
    first_names,
    gender_of,
    is_first_name,
    is_last_name,
    last_names,
    name_words,
    places,
)
from nlgauge.text.scripts import WordList

_FIRST, _LAST = 150, 400  # how far down the lists of names, the most frequent first
_SHORTEST = 3  # letters; shorter ones are initials or words (Al, Ty, Jo)
_LEFT_OUT = frozenset(
    {"Jesus", "Roosevelt", "Clinton", "Muhammad", "Angel", "Adolf"}
)  # one bearer comes to mind, or the gender is in doubt
# Names that the census writes in another way than people do.
_MISSPELT = frozenset("Obrien Oconnor Oneal Oneil Oneill Odonnell Ohara Deleon Delacruz Dejesus".split())
_HYPHENS = frozenset({"-", "‑"})
COUNTRIES = WordList("words", "countries")
CITIES = WordList("words", "cities")
STATES = WordList("words", "states")


def basis(doc: Doc, person: Person) -> str:
    """The evidence of a person's gender: title, first name, mention (another mention of the same), or unknown."""
    if person.gender is None:
        return "unknown"
    if person.title is not None and doc.tokens[person.title].text.lower() in name_words("title-m") | name_words(
        "title-f"
    ):
        return "title"
    if person.given is not None and gender_of(doc.tokens[person.given].text) is not None:
        return "first name"
    return "mention"


def given_span(doc: Doc, person: Person) -> tuple[int, int] | None:
    """The tokens of the first name, with what hyphens tie to it (Anne-Marie)."""
    return None if person.given is None else (person.given, _to_hyphen(doc, person.given, person.last))


def family_span(doc: Doc, person: Person) -> tuple[int, int] | None:
    """The tokens of the last name, with particles before it (van Beethoven) and what hyphens tie to it."""
    if person.family is None:
        return None
    given = given_span(doc, person)
    if (
        given is not None and given[1] >= person.family
    ):  # Anne-Marie-Dupont: hyphens tie both names, and the first has it all
        return None
    first = person.family
    floor = person.first if given is None else given[1] + 1
    while first > floor and (
        doc.tokens[first - 1].text.lower() in name_words("particle") or doc.tokens[first - 1].text in _HYPHENS
    ):
        first -= 2 if doc.tokens[first - 1].text in _HYPHENS else 1
    return max(first, floor), _to_hyphen(doc, person.family, person.last)


def another_first_name(rng: random.Random, gender: Gender | None, taken: Collection[str]) -> str:
    """A frequent first name, of a gender where one is given, that is not among some (in small letters)."""
    return _drawn(rng, _frequent_first_names(gender), taken)


def another_last_name(rng: random.Random, taken: Collection[str]) -> str:
    """A frequent last name that is not among some (in small letters)."""
    return _drawn(rng, _frequent_last_names(), taken)


def another_place(rng: random.Random, place: str, taken: Collection[str]) -> str | None:
    """A country for a country, a state for a state, a city for a city; None for other places and what is not known."""
    kind = places().get(place) or places().get(f"The {place}")
    lists = {"country": COUNTRIES, "state": STATES, "capital": CITIES, "place": CITIES}
    if kind is None or (kind == "place" and place not in CITIES):
        return None
    free = [name for name in lists[kind] if name.lower() not in taken]
    return rng.choice(free) if free else None


def _drawn(rng: random.Random, names: Sequence[str], taken: Collection[str]) -> str:
    while (name := rng.choice(names)).lower() in taken:  # a text cannot name hundreds of people with frequent names
        if all(n.lower() in taken for n in names):
            return f"{name}son"
    return name


@cache
def _frequent_first_names(gender: Gender | None) -> list[str]:
    clear = [n for n in first_names(gender) if gender is not None or gender_of(n) is not None]
    return [n for n in clear if len(n) > _SHORTEST and not is_last_name(n) and n not in _LEFT_OUT][:_FIRST]


@cache
def _frequent_last_names() -> list[str]:
    """Without those that are words in small letters, or rarely: Hicks, but not Baker."""
    listed = [n for n in last_names() if len(n) > _SHORTEST and not is_first_name(n)]
    frequent = [n for n in listed if n not in _MISSPELT and all(rank(n, pos) is None for pos in POSES)][:_LAST]
    return [f"Mc{n[2:].capitalize()}" if n.startswith("Mc") else n for n in frequent]


def _to_hyphen(doc: Doc, at: int, last: int) -> int:
    while at + 2 <= last and doc.tokens[at + 1].text in _HYPHENS and doc.touches(at + 1) and doc.touches(at + 2):
        at += 2
    return at
