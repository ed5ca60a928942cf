"""Named entities: runs of proper nouns, which lists classify as people, places and organisations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nlgauge.text.doc import Token
from nlgauge.text.names.lists import RATHER_PEOPLE, name_words, places
from nlgauge.text.names.people import BEFORE_PLACES, Person, opens, persons, runs

Label = Literal["person", "place", "organisation", "other"]

_INSIDE = frozenset(
    {"of", "for", "de", "du", "des", "del", "della", "do", "da", "di"}
)  # Bank of England, Ministry for Health
_BEFORE_OF = frozenset(
    {"republic", "kingdom", "isle", "gulf", "cape", "tower", "statue", "book", "lord", "speaker", "cabinet"}
)
_QUALIFIERS = frozenset(
    {"North", "South", "East", "West", "Northern", "Southern", "Eastern", "Western", "Central", "New", "Greater"}
)
_ACRONYM = re.compile(r"(?:[A-Z]\.?){2,}s?")


@dataclass(frozen=True, slots=True)
class Entity:
    """A named entity.

    Attributes:
        first, last: its first and last token, both included. The titles of people belong to it if they are written as
            names.
        start, end: offsets in the text.
        label: person, place or organisation, or other if the lists do not tell.
        person: the mention, if the entity is a person.
    """

    first: int
    last: int
    start: int
    end: int
    label: Label
    person: Person | None = None


def entities(tokens: Sequence[Token]) -> list[Entity]:
    """The named entities of a text, in order and without overlap.

    An entity is a run of proper nouns. Two runs with "of", "of the" or "&" between them are joined if the first one
    ends in a word for an organisation or an office (Bank of England). Days and months are not entities.

    Args:
        tokens: the tokens of one text, with Penn Treebank tags.
    """
    people = persons(tokens)
    by_token = {i: p for p in people for i in range(p.first, p.last + 1)}
    named: list[Entity] = []
    for run in _joined(tokens, list(runs(tokens, _capitalised_nouns(tokens)))):
        first, last = run[0], run[-1]
        while first <= last and tokens[first].text.lower() in name_words("calendar"):
            first += 1
        while first <= last and tokens[last].text.lower() in name_words("calendar"):
            last -= 1
        if first > last:
            continue
        named += _parts(tokens, first, last, by_token)
    return named


def _capitalised_nouns(tokens: Sequence[Token]) -> set[int]:
    """Nouns written as names inside a sentence that are words of organisations or places: the Bank."""
    kinds = name_words("organisation") | name_words("place-word") | _BEFORE_OF
    return {
        i
        for i, token in enumerate(tokens)
        if token.tag in ("NN", "NNS", "JJ")
        and token.text[:1].isupper()
        and token.text.lower() in kinds
        and not opens(tokens, i)
    }


def _joined(tokens: Sequence[Token], named: list[list[int]]) -> list[list[int]]:
    """Runs with those that "of", "of the" or "&" ties to them."""
    joined: list[list[int]] = []
    for run in named:
        between = range(joined[-1][-1] + 1, run[0]) if joined else range(0)
        words = [tokens[i].text.lower() for i in between]
        tied = words == ["&"] or (
            words[:1] and words[0] in _INSIDE and words[1:] in ([], ["the"]) and _takes_of(tokens[joined[-1][-1]])
        )
        if tied:
            joined[-1] += [*between, *run]
        else:
            joined.append(list(run))
    return joined


def _takes_of(token: Token) -> bool:
    """Whether "of" after a word goes on with the same name: Bank of England, but not Paris of Hemingway."""
    lower = token.text.lower()
    return lower in _BEFORE_OF or any(
        lower in name_words(kind) for kind in ("organisation", "place-word", "thing-word")
    )


def _parts(tokens: Sequence[Token], first: int, last: int, people: dict[int, Person]) -> list[Entity]:
    """A run as one entity, or cut at the person in it."""
    if all(_is_office(t.text.lower()) for t in tokens[first : last + 1]):
        return []
    person = next((people[i] for i in range(first, last + 1) if i in people), None)
    if person is None:
        return [
            Entity(
                first, last, tokens[first].start, tokens[last].end, _label([t.text for t in tokens[first : last + 1]])
            )
        ]
    start = person.title if person.title is not None and first <= person.title else person.first
    before = _parts(tokens, first, start - 1, people) if first < start and person.title is None else []
    whole = first if person.title is not None else start  # what stands before a title belongs to it: Apple CEO Tim Cook
    here = Entity(whole, person.last, tokens[whole].start, tokens[person.last].end, "person", person)
    after = _parts(tokens, person.last + 1, last, people) if person.last < last else []
    return [*before, here, *after]


def _is_office(word: str) -> bool:
    return any(word in name_words(kind) for kind in ("title", "title-m", "title-f", "no-name"))


def _label(words: list[str]) -> Label:
    phrase = " ".join(words).replace(" - ", "-")
    if phrase in RATHER_PEOPLE:
        return "other"
    if phrase in places() or f"The {phrase}" in places():
        return "place"
    if "&" in words or any(w.lower() in name_words("organisation") for w in words):
        return "organisation"
    if words[-1].lower() in name_words("place-word") or words[0] in BEFORE_PLACES:
        return "place"
    if len(words) == 1 and _ACRONYM.fullmatch(words[0]) and len(words[0]) > 1:
        return "organisation"
    return "place" if words[-1] in places() and len(words) > 1 and words[0] in _QUALIFIERS else "other"
