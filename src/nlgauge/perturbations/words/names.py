"""Perturbations of who and what is named: another name, a wrong one, none."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, attack, worse
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.words.choice import field_of, is_grammar, single_words, words_of
from nlgauge.perturbations.words.mismatch import MismatchVerb
from nlgauge.perturbations.words.namesakes import (
    another_first_name,
    another_last_name,
    another_place,
    basis,
    family_span,
    given_span,
)
from nlgauge.perturbations.words.vocabulary import draw, room_for_noun
from nlgauge.text.doc import Doc, Span, Token
from nlgauge.text.english.clauses import modifies, with_hangers
from nlgauge.text.english.verbs import BE
from nlgauge.text.names import Entity, Person, entities, gender_of, is_first_name, name_words, places

# Draws for a noun of the same field: 15 to 25 % of all nouns are of a frequent field, so that nine times in ten one of
# so many is.
_DRAWS = 12
_HYPHENS = frozenset({"-", "‑"})
_EMPTY = frozenset({"DT", "IN", "TO", "CC", "PRP", "PRP$", "MD", "WP", "WDT", "WRB", "POS"})  # tags of words of grammar
_NEEDY = frozenset(
    "the a an his her their its our my in at of from with by for to on between under against near about into"
    " like than called titled entitled named".split()
)
_OPENING = frozenset({'"', "“", "``", "'", "‘", "("})
_ARTICLES = frozenset({"the", "a", "an"})
_NO_OBJECT = frozenset({"CC", "MD", "VBZ", "VBP", "VBD", "WDT", "PRP"})
_QUOTED = re.compile(r"(?<![\w])['‘\"“`]([^'‘’\"“”`\n]{1,60})['’\"”](?!\w)")
_ORDINAL = re.compile(r"[0-9]+(?:st|nd|rd|th)")
_NUMBERS = frozenset("Two Three Four Five Six Seven Eight Nine Ten Twelve First Second Third".split())
_EPITHETS = frozenset("Great Elder Younger Terrible Conqueror Bold Wise Magnificent First Second Third".split())
# Of more names than a few, this share of the words may go with them: of what is little but names ruins would be left.
_FEW, _MOST = 3, 0.4
_KINDS = ("name", "noun", "verb")
_NO_PERSON = Inapplicable("no person named")


@dataclass(frozen=True, kw_only=True)
class ChangeNames(Checked):
    """Give people other names of the same gender, wherever the text names them.

    Args:
        which: rename `all` people of the text, or `one`.
    """

    which: Literal["all", "one"] = "all"
    info: ClassVar = worse(
        "give people other names",
        ("Then Laura sang, and Laura’s dog barked.", "Then Helen sang, and Helen’s dog barked."),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit per part of a name."""
        people = case.language.persons(case.doc)
        if not people:
            return _NO_PERSON
        picked = people
        if self.which == "one":
            who = rng.choice(list(dict.fromkeys(p.who for p in people)))
            picked = [p for p in people if p.who == who]
        draft = Draft(case.doc)
        return draft.finish(names=_rename(case.doc, draft, picked, people, rng))


@dataclass(frozen=True, kw_only=True)
class WrongName:
    """Replace exactly one name by another of the same gender.

    It is a first name if its gender is known, else a last name.
    """

    info: ClassVar = attack(
        "replace one name by another", ("Then Laura Palmer spoke.", "Then Monica Palmer spoke."), name="name_error"
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit; the meta name the source of the gender."""
        doc = case.doc
        people = case.language.persons(doc)
        if not people:
            return _NO_PERSON
        person = rng.choice(people)
        taken = {t.lower for t in doc.tokens}
        given, family = given_span(doc, person), family_span(doc, person)
        if given is not None and person.gender is not None:
            span, new = given, another_first_name(rng, person.gender, taken)
        else:
            span, new = family or given or (person.first, person.last), another_last_name(rng, taken)
        draft = Draft(doc)
        draft.replace(*span, new)
        return draft.finish(
            name=doc.between(doc.span(*span)), replacement=new, gender=person.gender, basis=basis(doc, person)
        )


@dataclass(frozen=True, kw_only=True)
class DropNamedEntities(Checked):
    """Drop names of people, places, organisations and other things.

    What belongs to a name alone goes, too: the article or preposition before it, the commas around it.

    Args:
        which: drop `all` names, or `one`.
    """

    which: Literal["all", "one"] = "all"
    info: ClassVar = worse("drop names", ("The singer, Carla Bruni, arrived in Paris.", "The singer arrived."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Deletions."""
        doc, named = case.doc, _named(case.doc)
        if not named:
            return Inapplicable("no named entity")
        if self.which == "one":
            named = [rng.choice(named)]
        spans: list[Span] = []
        for entity in named:
            span = _in_whole(doc, entity)
            if spans and span.first <= spans[-1].last + 1:  # one name, of which a part is a person's
                before = spans.pop()
                span = doc.span(min(before.first, span.first), max(before.last, span.last))
            spans.append(span)
        gone = with_hangers(doc, spans)
        words = [t.index for t in doc.tokens if doc.word_at[t.index] is not None]
        lost = sum(i in gone for i in words)
        if all(i in gone or doc.tokens[i].tag in _EMPTY or doc.tokens[i].lower in BE for i in words):
            return Inapplicable("nothing would be left")
        if len(spans) > _FEW and lost > _MOST * len(words):
            return Inapplicable("too many names")
        if _dangles(doc, gone):
            return Inapplicable("would fall apart")
        draft = Draft(doc)
        for index in sorted(gone):
            draft.delete(index, index)
        draft.tidy()
        return draft.finish(names=[doc.between(span) for span in spans], labels=[e.label for e in named])


@dataclass(frozen=True, kw_only=True)
class PerturbEntities(Checked):
    """Ask about somebody or something else: another person or place, another noun, another verb.

    Args:
        kind: what is replaced: a `name`, a `noun` or a `verb`. `any` takes a name if there is one, else a noun, else a
            verb.
    """

    kind: Literal["any", "name", "noun", "verb"] = "any"
    info: ClassVar = worse(
        "replace a name, a noun or a verb by another", ("Where did Martha live?", "Where did Denise live?")
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The edits of one name, or one word."""
        reason = Inapplicable("no entity")
        for kind in _KINDS if self.kind == "any" else (self.kind,):
            change = self._made(kind, case, rng)
            if isinstance(change, Change):
                return Change(change.edits, {"kind": kind, **change.meta})
            reason = change if self.kind != "any" else reason
        return reason

    @staticmethod
    def _made(kind: str, case: Case, rng: random.Random) -> Change | Inapplicable:
        if kind == "noun":
            return _another_noun(case, rng)
        return MismatchVerb()(case, rng) if kind == "verb" else _another_name(case, rng)


def _another_noun(case: Case, rng: random.Random) -> Change | Inapplicable:
    """One noun replaced by a frequent one.

    The new noun is of the same field of meaning (an artifact for an artifact) if such a noun is soon drawn.
    """
    doc, present = case.doc, words_of(case)
    tokens = [t for t in single_words(doc, "noun") if not is_grammar(case.language.lemma(t.lower, t.tag), "noun")]
    if not tokens:
        return Inapplicable("no noun")
    token = rng.choice([t for t in tokens if not _in_compound(doc, t)] or tokens)
    field, found = field_of(case, token), None
    for _ in range(_DRAWS):
        found = draw(case, token, "noun", room_for_noun(doc, token), rng, avoid=present)
        if found is None or field_of(case, replace(token, text=found)) == field:
            break
    if found is None:
        return Inapplicable("no word that fits")
    draft = Draft(doc)
    draft.replace(token.index, token.index, found)
    return draft.finish(word=token.text, replacement=found, tag=token.tag)


def _in_compound(doc: Doc, token: Token) -> bool:
    """Whether another noun stands beside a noun: `tennis shoes`."""
    around = doc.tokens[max(0, token.index - 1) : token.index] + doc.tokens[token.index + 1 : token.index + 2]
    return any(t.tag in ("NN", "NNS", "NNP", "NNPS") for t in around)


def _another_name(case: Case, rng: random.Random) -> Change | Inapplicable:
    """One person renamed wherever the text names them, or one place."""
    doc, taken = case.doc, {t.lower for t in case.doc.tokens}
    people = case.language.persons(doc)
    sites: list[int | tuple[Entity, str]] = list(dict.fromkeys(p.who for p in people))
    for entity in _named(doc):
        new = _instead(doc, entity, taken, rng)
        if new is not None:
            sites.append((entity, new))
    if not sites:
        return Inapplicable("no name")
    site, draft = rng.choice(sites), Draft(doc)
    if isinstance(site, int):
        return draft.finish(names=_rename(doc, draft, [p for p in people if p.who == site], people, rng))
    entity, new = site
    short = doc.text[entity.start : entity.end].isupper() and not doc.text.isupper()
    draft.replace(entity.first, entity.last, new, cased=not short)  # France for the UK
    before = entity.first - 1
    if before >= 0 and doc.tokens[before].lower == "the" and not modifies(doc, doc.span(entity.first, entity.last)):
        draft.delete(before, before)  # the United States, but France
    return draft.finish(names=[{"name": doc.text[entity.start : entity.end], "replacement": new}])


def _named(doc: Doc) -> list[Entity]:
    """The names in a text; where every letter is large, capitals say nothing, and only lists of names count."""
    return [e for e in entities(doc.tokens, whole=True) if e.label in ("person", "place") or not doc.text.isupper()]


def _in_whole(doc: Doc, entity: Entity) -> Span:
    """A name with all that belongs to it, though not tagged so, and a quotation that it is the end of.

    What hyphens tie to it (`Paris-based`), a number (`Radio 3`, `the 11th Infantry`, `the 2010 Games`), a kind of place
    (`Adams county`), an epithet (`Constantine the Great`), and what it is part of (`Year of No Light`).
    """
    quoted = next(
        (q for q in _QUOTED.finditer(doc.text) if q.start(1) <= entity.start and q.end(1) == entity.end), None
    )
    if quoted is not None:
        inside = [t.index for t in doc.tokens if quoted.start() <= t.start < quoted.end()]
        return doc.span(inside[0], inside[-1])
    first, last = entity.first, entity.last
    tokens, sentence = doc.tokens, doc.sentences[doc.sentence_at[entity.first]]
    while last + 2 < len(tokens) and tokens[last + 1].text in _HYPHENS and doc.touches(last + 1):
        if not doc.touches(last + 2):
            break
        last += 2
    while first > 1 and tokens[first - 1].text in _HYPHENS and doc.touches(first) and doc.touches(first - 1):
        first -= 2
    if doc.in_small_letters[doc.sentence_at[first]]:
        while first - 1 > sentence.first and _goes_along(doc, first - 1):
            first -= 1
        while last < sentence.last and _goes_along(doc, last + 1):
            last += 1
    if last + 2 <= sentence.last and tokens[last + 1].tag == "POS" and _goes_along(doc, last + 2):
        last += 2  # Victoria's Secret
    before = tokens[first - 1].text if first > sentence.first else ""
    opening = doc.tokens[first - 2] if before in ("of", "and") and first - 2 >= sentence.first else None
    if opening is not None and opening.tag == "NN" and opening.text[0].isupper() and doc.starts_sentence(first - 2):
        first -= 2  # Year of No Light
    elif before.istitle() and (
        is_first_name(before) or (doc.starts_sentence(first - 1) and tokens[first - 1].tag == "NN")
    ):
        first -= 1  # Man United, Will Hatton
    elif (
        _ORDINAL.fullmatch(before)
        or (before in _NUMBERS and not doc.starts_sentence(first - 1))
        or (before.isdigit() and len(before) > 2 and doc.low(first - 2) in ("the", "of"))
    ):
        first -= 1
    behind = list(tokens[last + 1 : min(last + 4, sentence.last + 1)])
    tags = [t.tag for t in behind]
    tied = len(behind) > 2 and doc.touches(last + 3) and behind[1].text in (*_HYPHENS, "–", ":", "/")
    if behind and behind[0].text.isdigit() and not tied and tags[1:2] != ["NNS"]:
        return doc.span(first, last + 1)
    if (
        behind
        and behind[0].text.islower()
        and behind[0].text in name_words("place-word")
        and doc.low(first - 1) not in _ARTICLES
    ):
        return doc.span(first, last + 1)
    if len(behind) > 1 and behind[0].text == "the" and behind[1].text in _EPITHETS:
        return doc.span(first, last + 2)
    return doc.span(first, last)


def _goes_along(doc: Doc, index: int) -> bool:
    """Whether a word beside a name has a capital as part of it, whatever its tag: `Let It` before `Breed`."""
    token = doc.tokens[index]
    return (
        token.text.istitle()
        and token.text.isalpha()
        and token.text != "I"
        and token.lower not in name_words("calendar")
    )


def _dangles(doc: Doc, gone: Collection[int]) -> bool:
    """Whether an article, a preposition or a word such as `called` is left before nothing that it could go with."""
    for token in doc.tokens:
        after = token.index + 1
        while after < len(doc.tokens) and doc.tokens[after].text in _OPENING:
            after += 1
        if token.index in gone or after not in gone or token.lower not in _NEEDY:
            continue
        sentence = doc.sentences[doc.sentence_at[token.index]]
        rest = (doc.tokens[i] for i in range(token.index + 1, sentence.last + 1) if i not in gone)
        behind = next(rest, None)
        if behind is None or behind.is_punctuation or behind.tag in _NO_OBJECT or behind.lower == "that":
            return True
    return False


def _instead(doc: Doc, entity: Entity, taken: set[str], rng: random.Random) -> str | None:
    """Another place for a place, and for a first name with one more that is sure to be nothing else, another person."""
    name = doc.text[entity.start : entity.end]
    if entity.label == "place":
        # A land before a noun has another form for nearly every name: US states, French states.
        kind = places().get(name) or places().get(f"The {name}")
        before = doc.tokens[entity.first - 1].tag if entity.first else ""
        adjectival = before in ("WDT", "CD", "PRP$") or modifies(doc, doc.span(entity.first, entity.last))
        return None if adjectival and kind == "country" else another_place(rng, name, taken)
    given = doc.tokens[entity.first].text
    if entity.label == "other" and entity.last == entity.first + 1 and is_first_name(given):
        return f"{another_first_name(rng, gender_of(given), taken)} {another_last_name(rng, taken)}"
    return None


def _rename(
    doc: Doc, draft: Draft, people: Sequence[Person], all_people: Sequence[Person], rng: random.Random
) -> list[dict[str, str | None]]:
    """Other names for some mentions: one new name for one old one; what was changed."""
    taken = {t.lower for t in doc.tokens}
    given_names: dict[tuple[int, str], str] = {}
    family_names: dict[str, str] = {}  # of whoever bears it: brothers stay brothers
    told: dict[tuple[int, str], dict[str, str | None]] = {}
    for person in people:
        given, family = given_span(doc, person), family_span(doc, person)
        if given is None and family is None:
            family = person.first, person.last
        for span, first in ((given, True), (family, False)):
            if span is None:
                continue
            old = doc.between(doc.span(*span))
            if first:
                new = given_names.get((person.who, old.lower())) or another_first_name(rng, person.gender, taken)
                given_names[person.who, old.lower()] = new
            else:
                new = family_names.get(old.lower()) or another_last_name(rng, taken)
                family_names[old.lower()] = new
            taken.add(new.lower())
            draft.replace(*span, new)
            told.setdefault(
                (person.who, old),
                {"name": old, "replacement": new, "gender": person.gender, "basis": basis(doc, person)},
            )
    _rename_others(doc, draft, all_people, {str(t["name"]): str(t["replacement"]) for t in told.values()})
    return list(told.values())


def _rename_others(doc: Doc, draft: Draft, people: Sequence[Person], names: Mapping[str, str]) -> None:
    """The same names where they stand alone and no person was found.

    The finder of people was not sure of such a mention.
    """
    covered = {i for p in people for i in range(p.first, p.last + 1)}
    for token in doc.tokens:
        new = names.get(token.text)
        around = doc.tokens[max(0, token.index - 1) : token.index] + doc.tokens[token.index + 1 : token.index + 2]
        if (
            new is not None
            and token.index not in covered
            and not any(t.tag in ("NNP", "NNPS") and t.text[0].isalpha() for t in around)
        ):
            draft.replace(token.index, token.index, new)
