"""Names in a text: people with their gender, places, organisations; lists tell what is a name, and of what."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from nlgauge.text.doc import COMMON, HYPHENS, PROPER, Token
from nlgauge.text.lexicon import POSES, rank
from nlgauge.text.scripts import WordList, data_lines

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
    borne = (n for n, (f, m, g) in _first_names().items() if f + m > 0 and gender in (g, None))
    return [n for n in borne if not is_word(n) and not _is_place(n)]


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


# --- The people named in a text, found by first names and titles, with the parts of their names and their gender

LONGEST = 3  # words of a name, particles and suffixes not counted
_COMMON = 0.05  # percent of people with a first name that is read as one although it is a word too (Mark, Grace)
_CALLED_AFTER = WordList("names", "called after people")
_DETERMINERS = frozenset({"the", "a", "an", "this", "these", "those", "every", "each", "no", "any", "some"})
_INSIDE = frozenset("in at near outside across around into via".split())  # before a place rather than before a person
_WHERE = _INSIDE | {"to", "from", "of", "toward", "towards"}
# Titles that are not used with last names: Sir Elton and Queen Mary, but Mr Blair.
_WITH_FIRST = frozenset("sir dame king queen prince princess pope sister brother uncle aunt lady don emperor".split())
_VERBS = frozenset({"VBD", "VBZ", "MD"})
_BEFORE_SUBJECTS = frozenset("that but when while because although if since as where before after until then".split())
BEFORE_PLACES = frozenset("San Santa Saint St. St Fort Ft. Port New Mount Mt. Lake Cape El Los Las".split())


@dataclass(frozen=True, slots=True)
class Person:
    """One mention of a person.

    Attributes:
        first, last: the first and the last token of the name, both included. A title stands before them.
        start, end: offsets of the name in the text.
        who: the number of the person, from 0. All mentions of the same person in a text have the same number.
        gender: f or m if the name or the title shows it, else None.
        title: the token of the title (Mr, President), the last one if there are several, or None.
        given: the token of the first name, or None.
        family: the token of the last name, or None.
    """

    first: int
    last: int
    start: int
    end: int
    who: int
    gender: Gender | None
    title: int | None
    given: int | None
    family: int | None

    label: Literal["person"] = "person"


def persons(tokens: Sequence[Token]) -> list[Person]:
    """The people named in a text, in order.

    A person is a run of up to three proper nouns that begins with a frequent first name or follows a title. Earlier and
    later mentions of the same last name alone are found too. Precision is more important than recall. So places,
    organisations, months, and first names that are also words are left out unless the name around them leaves no doubt.
    A last name alone is left out if nobody in the text has it as part of a full name, unless it is frequent, no word,
    and the subject of a verb (Phillips was).

    Args:
        tokens: the tokens of one text, with Penn Treebank tags.
    """
    also = _misread(tokens)
    people = [p for run in runs(tokens, also) if (p := _read(tokens, run)) is not None]
    taken = {i for p in people if p.family is not None for i in range(p.first, p.last + 1)}
    # Of these a last name that is a first name too (Cameron) is read as the last name.
    mentions = list(_mentions(tokens, people, taken))
    people = [p for p in people if p.first not in {m.first for m in mentions}] + mentions
    return _told_apart(tokens, people)


def runs(tokens: Sequence[Token], also: Collection[int] = ()) -> Iterator[list[int]]:
    """Places of the tokens of each run of proper nouns, and of the tokens in `also`.

    Hyphens and particles (van, de la) inside a run belong to it.
    """
    run: list[int] = []
    for i, token in enumerate(tokens):
        if _is_proper(token) or i in also:
            run.append(i)
            continue
        particle = token.text.islower() and token.text in name_words("particle")
        inside = bool(run) and (particle or _joins(tokens, i))
        if inside and _is_proper_after(tokens, i):
            run.append(i)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _misread(tokens: Sequence[Token]) -> set[int]:
    """First names that were tagged as words although they have a capital and a name follows: Will Smith."""
    return {
        i
        for i, token in enumerate(tokens[:-1])
        if token.text[:1].isupper()
        and not _is_proper(token)
        and _is_proper(tokens[i + 1])
        and is_first_name(token.text)
        and not opens(tokens, i)
        and token.text.lower() not in name_words("calendar")
    }


def _is_proper(token: Token) -> bool:
    return token.tag in PROPER and any(c.isalpha() for c in token.text)


def _joins(tokens: Sequence[Token], i: int) -> bool:
    hyphen = tokens[i].text in HYPHENS and tokens[i - 1].end == tokens[i].start
    return hyphen and i + 1 < len(tokens) and tokens[i].end == tokens[i + 1].start


def _is_proper_after(tokens: Sequence[Token], i: int) -> bool:
    """Whether a proper noun comes next, one more particle between allowed (von der Leyen)."""
    after = tokens[i + 1 : i + 3]
    return bool(after) and (
        _is_proper(after[0])
        or (len(after) > 1 and after[0].text in name_words("particle") | {"-"} and _is_proper(after[1]))
    )


def _read(tokens: Sequence[Token], run: list[int]) -> Person | None:
    """The person whom a run names, if it does."""
    title, rest = _after_title(tokens, run)
    while title is None and len(rest) > 1 and opens(tokens, rest[0]) and _is_only_word(tokens[rest[0]].text):
        rest = rest[1:]  # "Yesterday Mary", where a word is taken for a name because it stands first
    acronym = len(rest) > 2 and tokens[rest[0]].text.isupper() and not tokens[rest[1]].text.isupper()
    if title is None and acronym and len(tokens[rest[0]].text) > 1:
        rest = rest[1:]  # "VP Jane Smith"
    if not rest or _is_joined(tokens, rest) or _names_a_thing(tokens, title, rest):
        return None
    words = [tokens[i].text for i in rest]
    full = " ".join(words).lower().replace(" - ", "-")
    beside = name_words("particle") | name_words("suffix")
    parts = [i for i in rest if tokens[i].text.lower() not in beside]
    names = [i for i in parts if tokens[i].text not in HYPHENS and not _follows_hyphen(tokens, i)]
    if not names or len(names) > LONGEST or full in name_words("firm") or not tokens[rest[0]].text[0].isupper():
        return None
    named = any(phrase in places() or phrase.split(" ")[0] in BEFORE_PLACES for phrase in _phrases(words))
    if named or any(_spoils(tokens[i]) for i in names):
        return None
    given = names[0] if is_first_name(tokens[names[0]].text) else None
    by_family = title is None and given is None and len(names) == 1 and _sure_family(tokens, names[0])
    if by_family:
        sure = True
    elif title is None:
        sure = _sure_alone(tokens, names[0]) if len(names) == 1 else _sure_pair(tokens, names)
    else:
        sure = _sure_titled(tokens, title, names)
    if not sure or (given is None and title is None and not by_family):
        return None
    formal = title is not None and tokens[title].text.lower() not in _WITH_FIRST
    family = names[-1] if len(names) > 1 or given is None or formal else None
    if len(names) == 1 and family is not None:
        given = None
    told = gender_of_title(tokens[title]) if title is not None else None
    gender = told or _gender_by([tokens[i].text for i in parts if i != family])
    return Person(rest[0], rest[-1], tokens[rest[0]].start, tokens[rest[-1]].end, 0, gender, title, given, family)


def _gender_by(given_names: list[str]) -> Gender | None:
    """Of the first name; of Jean-Claude that of the second."""
    whole = [n for n in given_names if n not in HYPHENS]
    return gender_of(whole[1] if whole[:1] == ["Jean"] and len(whole) > 1 else whole[0]) if whole else None


def _after_title(tokens: Sequence[Token], run: list[int]) -> tuple[int | None, list[int]]:
    """The last title of a run, or right before it, and what follows."""
    for place in range(len(run) - 2, -1, -1):
        if is_title(tokens[run[place]]):
            return run[place], run[place + 1 :]
    before = tokens[run[0] - 1] if run[0] else None
    if before is not None and is_title(before) and (before.text[0].isupper() or before.lower not in name_words("sure")):
        return run[0] - 1, run
    return None, run


def _sure_alone(tokens: Sequence[Token], name: int) -> bool:
    """Whether a first name that stands alone is a person."""
    text, before = tokens[name].text, tokens[name - 1] if name else None
    if not is_first_name(text) or len(text) < 3 or text.isupper() or tokens[name].tag != "NNP":
        return False
    word_before = before.text.lower() if before is not None else ""
    place = text in places() and (word_before in _WHERE or text not in RATHER_PEOPLE)
    if place or word_before in _DETERMINERS | _INSIDE:
        return False
    if text.lower() in name_words("calendar") | name_words("not-alone"):
        return False
    if is_word(text):
        return not opens(tokens, name) and share(text) >= _COMMON
    return True


def _sure_family(tokens: Sequence[Token], name: int) -> bool:
    """Whether a last name that stands alone is a person: nothing stands before it that could be more of a name."""
    text, before = tokens[name].text, tokens[name - 1] if name else None
    after = tokens[name + 1].tag if name + 1 < len(tokens) else ""
    if tokens[name].tag != "NNP" or text.isupper() or not is_last_name(text) or after not in _VERBS:
        return False
    if is_word(text) or text in places() or text.lower() in name_words("calendar") | name_words("not-alone"):
        return False
    return before is None or (opens(tokens, name) or before.lower in _BEFORE_SUBJECTS)


def opens(tokens: Sequence[Token], i: int) -> bool:
    """Whether a token stands where words are capitalised anyway."""
    before = tokens[i - 1] if i else None
    return before is None or before.tag in (".", ":", "``", "''", "-LRB-") or before.end < tokens[i].start - 1


def _sure_pair(tokens: Sequence[Token], names: list[int]) -> bool:
    """Whether a first name with what follows is a person."""
    given, family = tokens[names[0]].text, tokens[names[-1]].text
    if not is_first_name(given):
        return False
    listed = is_last_name(family)
    if given.isupper() and len(given) > 1:
        return listed
    if tokens[names[-1]].tag == "NNPS" and not listed:
        return False
    doubtful = is_word(given) or given in places() or given.lower() in name_words("calendar")
    if doubtful and given not in RATHER_PEOPLE:
        return listed or (share(given) >= 0.01 and not is_word(family) and family not in places())
    return listed or not is_word(family) or share(given) >= _COMMON


def _sure_titled(tokens: Sequence[Token], title: int, names: list[int]) -> bool:
    """Whether a title is followed by a name rather than by more of an office."""
    word = tokens[title].text.lower()
    texts = [tokens[i].text for i in names]
    place = texts[-1] in places() and not is_first_name(texts[0])
    if place or any(t.lower() in name_words("no-name") for t in texts):
        return False
    family = is_last_name(texts[-1]) and not is_word(texts[-1])
    return word in name_words("sure") or family or any(is_first_name(t) and not is_word(t) for t in texts)


def _mentions(tokens: Sequence[Token], people: list[Person], taken: set[int]) -> Iterator[Person]:
    """Last names alone, and first names alone, of people who are named in full."""
    full = {tokens[p.family].text: p for p in people if p.family is not None and len(tokens[p.family].text) > 1}
    by_given = {tokens[p.given].text: p for p in people if p.given is not None and p.family is not None}
    for run in runs(tokens):
        rest = [i for i in run if tokens[i].text not in name_words("particle")]
        if len(rest) != 1 or rest[0] in taken or _is_joined(tokens, rest):
            continue
        at, text = rest[0], tokens[rest[0]].text
        person = full.get(text) or by_given.get(text)
        if person is None or text in places():
            continue
        by_family = text in full
        if by_family or (not is_word(text) and text.lower() not in name_words("calendar")):
            given, family = (None, at) if by_family else (at, None)
            alone = replace(person, first=at, last=at, start=tokens[at].start, end=tokens[at].end, title=None)
            yield replace(alone, given=given, family=family)


def _told_apart(tokens: Sequence[Token], people: list[Person]) -> list[Person]:
    """The mentions, with one number for all mentions of a person.

    These share the last name, or the first name if they have no last name.
    """
    numbers: dict[tuple[str, str], int] = {}
    given_alone: dict[str, int] = {}
    numbered = []
    full_first = sorted(people, key=lambda p: (p.given is None or p.family is None, p.first))
    for p in full_first:
        given = tokens[p.given].text if p.given is not None else ""
        family = tokens[p.family].text if p.family is not None else ""
        who = numbers.get((given, family))
        if who is None and not given:
            who = next((n for (g, f), n in numbers.items() if f == family), None)
        if who is None and not family:
            who = given_alone.get(given)
        if who is None:
            who = len(set(numbers.values()))
        numbers[given, family] = who
        given_alone.setdefault(given, who)
        numbered.append(replace(p, who=who))
    genders = {p.who: p.gender for p in numbered if p.gender is not None}
    numbered.sort(key=lambda p: p.first)
    order = {who: n for n, who in enumerate(dict.fromkeys(p.who for p in numbered))}
    return [replace(p, who=order[p.who], gender=p.gender or genders.get(p.who)) for p in numbered]


def _spoils(token: Token) -> bool:
    """Whether a word shows that a run of proper nouns is no person."""
    lower = token.text.lower()
    thing = lower in name_words("place-word") | name_words("thing-word")
    return lower in name_words("organisation") or (thing and not is_last_name(token.text))


def _is_joined(tokens: Sequence[Token], run: list[int]) -> bool:
    """Whether "&" ties it to another name: Ernst & Young."""
    around = [i for i in (run[0] - 1, run[-1] + 1) if 0 <= i < len(tokens)]
    return any(tokens[i].text == "&" for i in [*around, *run])


def _names_a_thing(tokens: Sequence[Token], title: int | None, rest: list[int]) -> bool:
    """Whether something is called after a person: the Princess Anne hospital, the Ms Marple."""
    after = tokens[rest[-1] + 1].text.lower() if rest[-1] + 1 < len(tokens) else ""
    if after in _CALLED_AFTER or not title:
        return after in _CALLED_AFTER
    return tokens[title - 1].text.lower() == "the" and tokens[title].text.lower() in name_words("sure-first")


def _follows_hyphen(tokens: Sequence[Token], i: int) -> bool:
    """Whether it is the second half of a double name: Claude in Jean-Claude, but not Assad in al-Assad."""
    hyphen = i > 1 and tokens[i - 1].text in HYPHENS and tokens[i - 1].end == tokens[i].start
    return hyphen and tokens[i - 2].text.lower() not in name_words("particle")


def _phrases(words: list[str]) -> Iterator[str]:
    """Runs of two words and more."""
    for first in range(len(words)):
        for last in range(first + 2, len(words) + 1):
            yield " ".join(words[first:last])


def is_title(token: Token) -> bool:
    """Whether a word stands before names: Mr, President."""
    return token.lower in name_words("title") or gender_of_title(token) is not None


def gender_of_title(token: Token) -> Gender | None:
    """The gender of whom a title addresses; None for one of both, and for any other word."""
    return "m" if token.lower in name_words("title-m") else "f" if token.lower in name_words("title-f") else None


# --- Named entities: runs of proper nouns, which lists classify as people, places and organisations

Label = Literal["person", "place", "organisation", "other"]

_TIES = frozenset("of for de du des del della do da di".split())  # Bank of England, Ministry for Health
_BEFORE_OF = frozenset("republic kingdom isle gulf cape tower statue book lord speaker cabinet".split())
_QUALIFIERS = frozenset("North South East West Northern Southern Eastern Western Central New Greater".split())
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
    proper = (t for t in enumerate(tokens) if whole and t[1].tag in PROPER)
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
    return alone and _is_only_word(tokens[entity.first].text)


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
            beside = any(tokens[k].tag in PROPER and _is_capitalised(tokens[k]) for k in near)
            if beside or i - 1 in found or token.tag in COMMON:
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
        goes_on = bool(words) and words[0] in _TIES and words[1:] in ([], ["the"]) and _takes_of(last, whole=whole)
        if words == ["&"] or capitals or goes_on:
            joined[-1] += [*between, *run]
        else:
            joined.append(list(run))
    return joined


def _is_plain(token: Token) -> bool:
    """Whether a part of a name is a word that is neither a first name nor a place: `Fat`, `Times`."""
    return _is_only_word(token.text) and not _is_date(token) and token.text not in places()


def _is_only_word(text: str) -> bool:
    return is_word(text) and not is_first_name(text)


def _is_date(token: Token) -> bool:
    """Whether a word is a day or a month."""
    return token.text.lower() in name_words("calendar")


def _takes_of(token: Token, *, whole: bool) -> bool:
    """Whether "of" after a word goes on with the same name: Bank of England, but not Paris of Hemingway."""
    lower = token.text.lower()
    if whole and _is_only_word(token.text) and token.text not in places():
        return True  # Player of the Year
    kinds = ("organisation", "place-word", "thing-word")
    return lower in _BEFORE_OF or any(lower in name_words(kind) for kind in kinds)


def _parts(tokens: Sequence[Token], first: int, last: int, people: dict[int, Person]) -> list[Entity]:
    """A run as one entity, or cut at the person in it."""
    if all(_is_office(t.text.lower()) for t in tokens[first : last + 1]):
        return []
    person = next((people[i] for i in range(first, last + 1) if i in people), None)
    if person is None:
        label = _label([t.text for t in tokens[first : last + 1]])
        return [Entity(first, last, tokens[first].start, tokens[last].end, label)]
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
