"""Named entities: runs of proper nouns, which lists classify as people, places and organisations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from nlgauge.text.doc import Token
from nlgauge.text.names.lists import RATHER_PEOPLE, is_first_name, is_word, name_words, places
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
_MAY_NAME = frozenset({"Sun", "April", "May", "June", "August"})
_FEW = 3  # words with capitals that can stand between two parts of one name
_NAMING = frozenset({"NN", "NNS", "JJ", "JJR", "JJS", "VBN", "VBG", "VB", "VBP", "VBZ", "VBD"})
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


def entities(tokens: Sequence[Token], *, whole: bool = False) -> list[Entity]:
    """The named entities of a text, in order and without overlap.

    An entity is a run of proper nouns. Two runs with "of", "of the" or "&" between them are joined if the first one
    ends in a word for an organisation or an office (Bank of England). Days and months are not entities.

    Args:
        tokens: the tokens of one text, with Penn Treebank tags.
        whole: a name is taken with all of its words that have capitals, and only if it is sure to be one: nothing is
            found in a text whose names have no capitals, nor single letters and common words at the head of a sentence.
    """
    proper = (t for t in enumerate(tokens) if whole and t[1].tag in ("NNP", "NNPS"))
    small = {i for i, t in proper if t.text.isalpha() and t.text.islower()}
    if len(small) > sum(_is_capitalised(t) and not opens(tokens, i) for i, t in enumerate(tokens)):
        return []
    people = persons(tokens)
    by_token = {i: p for p in people for i in range(p.first, p.last + 1)}
    named: list[Entity] = []
    for run in _joined(tokens, list(runs(tokens, _capitalised_nouns(tokens, whole=whole))), whole=whole):
        first, last = run[0], run[-1]
        while first <= last and (first in small or _is_date(tokens[first])):
            if whole and first < last and (tokens[first].text in _MAY_NAME or _is_plain(tokens[first + 1])):
                break  # Sun Jian, Sunday Times
            first += 1
        while first <= last and (last in small or _is_date(tokens[last])):
            if whole and first < last and _is_plain(tokens[last - 1]):
                break  # Fat Tuesday
            last -= 1
        alone = whole and first == last  # a letter names nobody, nor does 13th
        if first > last or (alone and (len(tokens[first].text) == 1 or tokens[first].text[0].isdigit())):
            continue
        named += _parts(tokens, first, last, by_token)
    return [e for e in named if not (whole and _is_common(tokens, e))]


def _is_common(tokens: Sequence[Token], entity: Entity) -> bool:
    """Whether a capital alone makes a word look like a name, where every word has one: `Woman was hurt.`"""
    alone = entity.first == entity.last and entity.label == "other" and opens(tokens, entity.first)
    return alone and is_word(tokens[entity.first].text) and not is_first_name(tokens[entity.first].text)


def _capitalised_nouns(tokens: Sequence[Token], *, whole: bool) -> set[int]:
    """Words written as names inside a sentence though they are tagged as words: `Constant` in `the Carter Constant`.

    Where most words have capitals, as in a headline, only those of organisations and places count.
    """
    kinds = name_words("organisation") | name_words("place-word") | _BEFORE_OF
    inside = [i for i, t in enumerate(tokens) if t.tag in _NAMING and _is_capitalised(t) and not opens(tokens, i)]
    loud = len(inside) > sum(t.tag in _NAMING and t.text.islower() for t in tokens)
    found: set[int] = set()
    for i in inside:
        token = tokens[i]
        if token.text.lower() in kinds and token.tag in ("NN", "NNS", "JJ"):
            found.add(i)
        elif whole and not loud and not _is_office(token.text.lower()):
            near = [k for k in (i - 1, i + 1) if 0 <= k < len(tokens)]
            beside = any(tokens[k].tag in ("NNP", "NNPS") and _is_capitalised(tokens[k]) for k in near)
            if beside or i - 1 in found or token.tag in ("NN", "NNS"):
                found.add(i)
    return found


def _is_capitalised(token: Token) -> bool:
    """Whether a word has a capital and goes on in small letters, as names inside a sentence do."""
    return token.text[:1].isupper() and (token.text[1:].islower() or not token.text[1:])


def _joined(tokens: Sequence[Token], named: list[list[int]], *, whole: bool) -> list[list[int]]:
    """Runs with those that "of", "of the", "&" or words with capitals tie to them: `Made In Chelsea`."""
    joined: list[list[int]] = []
    for run in named:
        between = range(joined[-1][-1] + 1, run[0]) if joined else range(0)
        words = [tokens[i].text.lower() for i in between]
        last = tokens[joined[-1][-1]] if joined else tokens[run[0]]
        capitals = whole and bool(words) and all(tokens[i].text[0].isupper() for i in between) and len(words) < _FEW
        tied = (
            words == ["&"]
            or capitals
            or (words[:1] and words[0] in _INSIDE and words[1:] in ([], ["the"]) and _takes_of(last, whole=whole))
        )
        if tied:
            joined[-1] += [*between, *run]
        else:
            joined.append(list(run))
    return joined


def _is_plain(token: Token) -> bool:
    """Whether a part of a name is a word that is neither a first name nor a place: `Fat`, `Times`."""
    return is_word(token.text) and not _is_date(token) and not is_first_name(token.text) and token.text not in places()


def _is_date(token: Token) -> bool:
    """Whether a word is a day or a month."""
    return token.text.lower() in name_words("calendar")


def _takes_of(token: Token, *, whole: bool) -> bool:
    """Whether "of" after a word goes on with the same name: Bank of England, but not Paris of Hemingway."""
    lower = token.text.lower()
    if whole and is_word(token.text) and token.text not in places() and not is_first_name(token.text):
        return True  # Player of the Year
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
