"""Perturbations of which things a caption names: swapped, dropped, named again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, worse
from nlgauge.perturbations.draft import Draft
from nlgauge.text.doc import Doc
from nlgauge.text.english.clauses import PARTITIVES, PLACES, Thing, plain, things
from nlgauge.text.english.verbs import is_loud
from nlgauge.text.lexicon import article_before
from nlgauge.text.scripts import WordList

_IN_LISTS = frozenset({"NN", "NNS", "NNP", "NNPS", "DT", "JJ", "CD", "PRP$", "CC", ",", "VBN"})
_SYMMETRIC = frozenset({"and", "or", ",", "&", "next", "to", "beside", "besides", "near", "with", "alongside"})
_FINITE = frozenset({"VBZ", "VBP", "VBD", "MD"})
_CLAUSES = WordList("scenes", "opening clauses")
_FIRST_HALVES = WordList("scenes", "first halves")
_CLITICS = frozenset({"'s", "'ll", "'d", "'re", "'ve"})
_NEAR = 12  # a thing is swapped with one of so many behind it, which keeps the work linear in the text
_NO_PLURAL_THE = frozenset({"", "a", "an", "some", "any", "many", "several", "few", "no"})


@dataclass(frozen=True, kw_only=True)
class SwapObjects(Checked):
    """Swap two things: a man in front of a tree becomes a tree in front of a man.

    Things of the same number go first, so that verbs still agree; where none are, a noun takes the number of the place
    it comes to (`number: adapted` in the meta). Things that `a` cannot stand before (water) take their whole phrase
    along.

    Args:
        unit: `head` swaps two nouns (a compound as a whole), and leaves determiners and adjectives where they are;
            `phrase` swaps determiners and adjectives, too.
    """

    unit: Literal["head", "phrase"] = "head"
    info: ClassVar = worse("swap two objects", ("a man in front of a tree", "a tree in front of a man"))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Two edits, and articles where they must fit."""
        doc = case.doc
        objects = things(case.doc, case.language)
        if len(objects) < 2:
            return Inapplicable("fewer than two objects")
        near = [(a, b) for i, a in enumerate(objects) for b in objects[i + 1 : i + 1 + _NEAR]]
        pairs = [(a, b) for a, b in near if a.base.lower() != b.base.lower() and a.text.lower() != b.text.lower()]
        pairs = [(a, b) for a, b in pairs if not _listed(doc, a, b)]
        if not pairs:
            return Inapplicable("no two distinct objects")
        strains = [_strain(doc, a, b) for a, b in pairs]
        least = min(strains)
        a, b = rng.choice([pair for pair, strain in zip(pairs, strains, strict=True) if strain == least])
        whole = self.unit == "phrase" or not _can_stand_for(doc, a, b)
        draft = Draft(doc)
        for old, new in ((a, b), (b, a)):
            text = plain(doc, new.start, new.end) if whole else _in_number(case, new, old.plural)
            draft.replace(old.start if whole else old.first, old.last, _stopped(doc, old, text), cased=False)
        number = "same" if a.plural == b.plural else "differs" if whole else "adapted"
        return draft.finish(objects=[a.text, b.text], unit="phrase" if whole else "head", number=number)


@dataclass(frozen=True, kw_only=True)
class DropObjects(Checked):
    """Drop the things that a caption names.

    Args:
        which: `nouns` drops the nouns alone, as the paper does: what is said of them stays. `all` drops every object
            with its determiner and adjectives; verbs, prepositions and pronouns stay. One object stays if nothing else
            would be left. `one` drops a single object with the preposition before it, and leaves a sentence that can be
            read.
    """

    which: Literal["nouns", "all", "one"] = "nouns"
    info: ClassVar = worse("drop objects", ("A small child playing with a red ball.", "A small playing with a red."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Deletions, with what they leave dangling."""
        doc, objects = case.doc, things(case.doc, case.language)
        if not objects:
            return Inapplicable("no object")
        if self.which == "one":
            picked = [rng.choice(_droppable(doc, objects))]
            gone = _with_bonds(doc, picked[0])
        else:
            picked = objects
            gone = self._tokens(doc, picked)
        if _nothing_left(doc, gone) and len(objects) > 1:
            kept = rng.choice(objects)
            picked = [t for t in objects if t is not kept]
            gone = self._tokens(doc, picked)
        gone |= {t.last + 1 for t in picked if _has_clitic(doc, t)}
        if _nothing_left(doc, gone):
            return Inapplicable("nothing would be left")
        draft = Draft(doc)
        for index in sorted(gone):
            draft.delete(index, index)
        draft.tidy()
        return draft.finish(articles=self.which != "nouns", objects=[t.text for t in picked])

    def _tokens(self, doc: Doc, picked: Sequence[Thing]) -> set[int]:
        """The tokens of things: their nouns, or their phrases with the words that only join or count them."""
        if self.which == "nouns":
            return {i for t in picked for i in range(t.first, t.last + 1)}
        return _with_joints(doc, {i for t in picked for i in range(t.start, t.end + 1)})


@dataclass(frozen=True, kw_only=True)
class RepeatObject:
    """Name one of the things again at the end: a lady riding a horse and a lady."""

    info: ClassVar = worse("mention an object twice", ("A lady riding a horse.", "A lady riding a horse and a lady."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One insertion before the final mark of the sentence."""
        doc, objects = case.doc, things(case.doc, case.language)
        if not objects:
            return Inapplicable("no object")
        objects = [t for t in objects if not t.named] or objects
        early = [
            t
            for t in objects
            if any(
                doc.word_at[i] is not None for i in range(t.last + 1, doc.sentences[doc.sentence_at[t.last]].last + 1)
            )
        ]
        solid = [t for t in early if not t.bare or doc.starts_sentence(t.start)] or [t for t in objects if not t.bare]
        thing = rng.choice(solid or early or objects)
        words = _again(doc, thing)
        shouted = is_loud(doc.text)
        draft = Draft(doc)
        draft.append(
            doc.sentences[doc.sentence_at[thing.last]],
            words.upper() if shouted else words,
            joint=" AND " if shouted else " and ",
        )
        return draft.finish(object=thing.text)


def _again(doc: Doc, thing: Thing) -> str:
    """The thing as it is named once more: a lady, dogs, the dogs, Anna."""
    if thing.named:
        return thing.text
    if thing.plural:
        definite = (
            thing.determiner not in _NO_PLURAL_THE
            and not thing.determiner[0].isdigit()
            and doc.tokens[thing.start].tag != "CD"
        )
        return f"the {thing.text}" if definite else thing.text
    if thing.bare and not doc.starts_sentence(thing.start):
        return thing.text  # water, and whatever else goes without an article here
    return f"{article_before(thing.text)} {thing.text}"


def _listed(doc: Doc, a: Thing, b: Thing) -> bool:
    """Whether two things stand in one list, where their order says nothing."""
    between = doc.tokens[a.last + 1 : b.first]
    return any(t.tag == "CC" or t.text == "," for t in between) and all(t.tag in _IN_LISTS for t in between)


def _strain(doc: Doc, a: Thing, b: Thing) -> int:
    """How much a swap asks of the reader's grammar, and how little it may say: 0 is best."""
    idle = all(t.lower in _SYMMETRIC for t in doc.tokens[a.last + 1 : b.start])
    return (
        2 * (a.plural != b.plural)
        + 3 * (a.named != b.named)
        + 2 * (not _can_stand_for(doc, a, b))
        + (doc.sentence_at[a.first] != doc.sentence_at[b.first])
        + idle
    )


def _can_stand_for(doc: Doc, a: Thing, b: Thing) -> bool:
    """Whether either noun fits behind the other's determiner."""
    if a.named or b.named:
        return a.named and b.named and bool(a.determiner) == bool(b.determiner)
    if a.plural and b.plural:
        return True
    loose = [t.bare and not _elided(doc, t) for t in (a, b)]
    return loose[0] == loose[1]


def _elided(doc: Doc, thing: Thing) -> bool:
    """Whether a noun that could have an article goes without one.

    It does at the start of a caption, and behind a noun that has one (`a man and woman`).
    """
    before = doc.tokens[thing.start - 1] if thing.start else None
    return doc.starts_sentence(thing.start) or (before is not None and before.tag == "CC")


def _in_number(case: Case, thing: Thing, plural: bool) -> str:
    """The noun of a thing in the number of the place where it goes."""
    text = plain(case.doc, thing.first, thing.last)
    if thing.plural == plural or thing.named:
        return text
    head = case.doc.tokens[thing.last]
    form = case.language.inflect(thing.base, "NNS" if plural else "NN") or thing.base
    return text[: len(text) - len(head.text)] + (form.upper() if len(head.text) > 1 and head.text.isupper() else form)


def _stopped(doc: Doc, place: Thing, new: str) -> str:
    """`new` with one full stop, or none, as its place has: `U.S.` may go before a full stop, or go from the end."""
    after = place.last + 1
    if new[-1] == "." and after < len(doc.tokens) and doc.touches(after) and doc.tokens[after].text == ".":
        return new[:-1]
    ends = place.last == doc.sentences[doc.sentence_at[place.last]].last and doc.tokens[place.last].text[-1] == "."
    return f"{new}." if ends and new[-1] != "." else new


def _droppable(doc: Doc, objects: Sequence[Thing]) -> Sequence[Thing]:
    """The things that a sentence can best do without.

    Those behind a preposition or in a list go first, then those that no verb needs, then any.
    """
    tokens = doc.tokens

    def followed(thing: Thing) -> str:
        return tokens[thing.end + 1].tag if thing.end + 1 < len(tokens) else ""

    def before(thing: Thing) -> str:
        return tokens[thing.start - 1].tag if thing.start else ""

    calm = [
        t
        for t in objects
        if followed(t) not in _FINITE and followed(t) not in ("POS", "CC") and not _heads_list(doc, t)
    ]
    loose = [t for t in calm if _preposition(doc, t) is not None and not _counted(doc, t)]
    second = [t for t in calm if before(t) == "CC"]
    idle = [t for t in calm if t.start > 0 and before(t) != "CC" and followed(t) not in ("WDT", "WP", "VBG", "VBN")]
    return loose + second or idle or calm or list(objects)


def _heads_list(doc: Doc, thing: Thing) -> bool:
    """Whether more things follow behind a comma."""
    behind = doc.tokens[thing.end + 1 : thing.end + 3]
    return len(behind) == 2 and behind[0].text == "," and behind[1].tag in _IN_LISTS


def _joint(doc: Doc, thing: Thing) -> int | None:
    """The place of a conjunction behind a thing that joins it to another."""
    after = thing.end + 1
    return after if after < len(doc.tokens) and doc.tokens[after].tag == "CC" else None


def _preposition(doc: Doc, thing: Thing) -> int | None:
    """The place where the preposition before a thing begins: of `in front of a tree` that of `in`."""
    tokens, at = doc.tokens, thing.start - 1
    if at < 0 or tokens[at].tag not in ("IN", "TO") or tokens[at].lower in _CLAUSES:
        return None
    if at and tokens[at].lower in ("of", "to", "from") and tokens[at - 1].lower in _FIRST_HALVES:
        return at - 1
    place = at - 1
    if tokens[at].lower == "of" and place > 0 and tokens[place].lower in PLACES:
        place -= 1
        while place > 0 and tokens[place].tag in ("DT", "JJ"):
            place -= 1
        if tokens[place].tag == "IN":
            return place
    return at


def _counted(doc: Doc, thing: Thing) -> bool:
    """Whether the noun before `of` counts the thing, as in `a group of people`."""
    at = thing.start - 1
    return at > 0 and doc.tokens[at].lower == "of" and doc.tokens[at - 1].lower in PARTITIVES


def _with_bonds(doc: Doc, thing: Thing) -> set[int]:
    """The tokens of a thing, with its preposition, what counts it, or the conjunction before it."""
    gone = set(range(thing.start, thing.end + 1))
    if _counted(doc, thing):
        return _with_joints(doc, gone)
    start = _preposition(doc, thing)
    if start is not None:
        gone |= set(range(start, thing.start))
    elif thing.start and doc.tokens[thing.start - 1].tag == "CC" and _joint(doc, thing) is None:
        gone.add(thing.start - 1)
    return _with_joints(doc, gone)


def _with_joints(doc: Doc, gone: set[int]) -> set[int]:
    """Tokens to delete, with the words that only join or count them.

    These are `of` with its `a group`, and `and` between two deleted things or at an end.
    """
    tokens, gone = doc.tokens, set(gone)
    for at in sorted(gone, reverse=True):
        if at - 1 in gone or not at or tokens[at - 1].lower != "of":
            continue
        if at > 1 and tokens[at - 2].lower in PARTITIVES:
            gone |= {at - 1, at - 2}
            start = at - 3
            while start >= 0 and tokens[start].tag in ("DT", "JJ", "CD", "CC") and start not in gone:
                gone.add(start)
                start -= 1
        elif at > 1 and at - 2 in gone:
            gone.add(at - 1)
    for sentence in doc.sentences:
        joints = {i for i in range(sentence.first, sentence.last + 1) if tokens[i].tag == "CC" and i not in gone}
        gone |= {i for i in joints if {i - 1, i + 1} <= gone}
        stay = [i for i in range(sentence.first, sentence.last + 1) if i not in gone and not tokens[i].is_punctuation]
        for end, beside in ((stay[:1], -1), (stay[-1:], 1)):
            gone |= {i for i in end if i in joints and i + beside in gone}
    return gone


def _has_clitic(doc: Doc, thing: Thing) -> bool:
    """Whether a short form leans on a thing, and cannot stand without it: `the dog's asleep`."""
    after = thing.last + 1
    return after < len(doc.tokens) and doc.touches(after) and doc.tokens[after].lower in _CLITICS


def _nothing_left(doc: Doc, gone: set[int]) -> bool:
    """Whether no word but conjunctions and articles would remain."""
    return all(t.index in gone or doc.word_at[t.index] is None or t.tag in ("CC", "DT") for t in doc.tokens)
