"""Perturbation by leaving out adjectives: what a noun is said to be like."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import ClassVar, Literal, NamedTuple

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, attack, worse
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.words import (
    LINKING,
    after_measure,
    draw,
    in_name,
    is_grammar,
    room_for_noun,
    single_words,
    words_of,
)
from nlgauge.text.doc import Doc, Token
from nlgauge.text.lexicon import supersense
from nlgauge.text.scripts import WordList, data_lines
from nlgauge.text.tagging import known_tags

_ADJECTIVES = frozenset({"JJ", "JJR", "JJS"})
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_PARTICIPLES = frozenset({"VBN", "VBG"})
_OPENERS = frozenset({"DT", "PRP$", "POS", "PDT", "WP$", "CD"})  # what a noun phrase begins with
_HYPHENS = frozenset({"-", "‑"})
# Tagged as adjectives, but they say which and how many; without them the sentence says nothing or is none.
_KEPT = WordList("words", "kept adjectives")
_PRONOUNS = WordList("words", "modified pronouns")
_SET = frozenset(
    {
        ("great", "deal"),
        ("good", "deal"),
        ("long", "time"),
        ("short", "time"),
        ("long", "way"),
        ("good", "bit"),
        ("little", "bit"),
    }
)
_CLAUSAL = WordList("words", "clausal adjectives")
_BEINGS = frozenset(
    {"noun.person", "noun.animal", "noun.artifact", "noun.plant", "noun.body", "noun.location", "noun.group"}
)


@dataclass(frozen=True, slots=True)
class _Chain:
    """Adjectives before one noun.

    Each is a run of tokens with the adverb that grades it and the comma or "and" that goes with it.
    """

    runs: tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True)
class DropAdjectives(Checked):
    """Leave out adjectives that stand before a noun, with what grades them: `a very old red car` becomes `a car`.

    Adjectives behind a verb stay (`the car is old`), so do names (`the White House`) and words that say which or how
    many (`other`, `many`, `first`).

    Args:
        which: drop `all` adjectives of the text, those before one noun (`chain`), or `one`.
    """

    which: Literal["all", "chain", "one"] = "all"
    info: ClassVar = worse("drop adjectives before nouns", ("She owns an old red car.", "She owns a car."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One deletion per adjective; "a" and "an" fit what follows."""
        chains = list(_chains(case))
        if not chains:
            return Inapplicable("no adjective before a noun")
        if self.which == "chain":
            chains = [rng.choice(chains)]
        runs = [run for chain in chains for run in chain.runs]
        if self.which == "one":
            runs = [rng.choice(runs)]
        draft = Draft(case.doc)
        for first, last in runs:
            draft.delete(first, last)
        return draft.finish(dropped=[case.doc.between(case.doc.span(*run)) for run in runs])


def _chains(case: Case) -> Iterator[_Chain]:
    """The adjectives before each noun that can be left out."""
    doc, at = case.doc, 0
    while at < len(doc.tokens):
        chain, at = _chain(case, at)
        if chain.runs:
            yield chain


def _chain(case: Case, start: int) -> tuple[_Chain, int]:
    """The words that can go between the first adjective and its noun, and the place where the next may begin.

    Where no such noun comes, none comes from any place up to the one that parts them either.
    """
    doc = case.doc
    tokens, end = doc.tokens, doc.sentences[doc.sentence_at[start]].last
    parts: list[tuple[int, int, str]] = []  # first and last token, kind: adjective, participle, grade, link
    at = start
    while at <= end and (tokens[at].tag not in _NOUNS or _compound_end(doc, at, end) is not None):
        part = _part(doc, at, end)
        if part is None:
            return _Chain(()), at + 1
        parts.append(part)
        at = part[1] + 1
    if at > end or not parts or at == start or tokens[at].lower in _PRONOUNS:
        return _Chain(()), at + 1
    return _Chain(tuple(_droppable(case, start, parts, tokens[at]))), at + 1


def _part(doc: Doc, at: int, end: int) -> tuple[int, int, str] | None:
    token = doc.tokens[at]
    last = _compound_end(doc, at, end)
    if last is not None:
        return at, last, "adjective"
    if _in_compound(doc, at, end):
        return None
    if token.tag in _ADJECTIVES and any(map(str.isalpha, token.text)):
        return at, at, "adjective"
    if token.tag in _PARTICIPLES:
        return at, at, "participle"
    if token.tag in ("RB", "RBR", "RBS") and token.lower not in ("not", "n't", "n’t"):
        return at, at, "grade"
    if token.text == "," or token.lower in ("and", "but", "or"):
        return at, at, "link"
    return None


def _in_compound(doc: Doc, at: int, end: int) -> bool:
    """Whether a hyphen ties the word to the one before or behind it."""
    tied_before = doc.touches(at) and doc.tokens[at - 1].text in _HYPHENS
    return tied_before or (at < end and doc.tokens[at + 1].text in _HYPHENS and doc.touches(at + 1))


def _compound_end(doc: Doc, at: int, end: int) -> int | None:
    """The last token of a compound adjective that begins here, None if none does.

    Examples are `well-known`, `long-term` and `18-year-old`.
    """
    tokens, last = doc.tokens, at
    if doc.touches(at) and tokens[at - 1].text in _HYPHENS:
        return None
    while last + 2 <= end and tokens[last + 1].text in _HYPHENS and doc.touches(last + 1) and doc.touches(last + 2):
        last += 2
    if last == at:
        return None
    describes = tokens[at].tag in ("JJ", "RB", "JJR", "RBR") or tokens[last].tag in ("JJ", "VBN", "VBD")
    return last if describes and tokens[at].lower not in _KEPT and not tokens[at].text[:1].isupper() else None


def _droppable(case: Case, start: int, parts: list[tuple[int, int, str]], noun: Token) -> Iterator[tuple[int, int]]:
    """Runs of tokens that can go: adjectives with their grades and links, none before a word that says which."""
    doc = case.doc
    before = doc.tokens[start - 1] if start and not doc.touches(start) else None
    opened = before is not None and before.tag in _OPENERS
    linked = not opened and _follows_link(doc, start, parts)
    if linked and noun.tag in ("NNP", "NNPS"):
        return  # "I am glad John came"
    if linked:
        # "The sky was blue, white clouds came": what stands before a comma belongs to the verb.
        cut = max((i for i, p in enumerate(parts) if p[2] == "link"), default=-1)
        parts = parts[cut + 1 :]
        behind = doc.tokens[noun.index + 1] if noun.index + 1 < len(doc.tokens) else None
        if behind is not None and behind.tag[0] in "VM" and any(doc.tokens[p[0]].lower in _CLAUSAL for p in parts):
            return
    last_kept = max(
        (i for i, p in enumerate(parts) if p[2] == "adjective" and _is_kept(case, p, noun, before)), default=-1
    )
    if any(p[2] == "link" for p in parts[: last_kept + 2]) and last_kept >= 0:
        return  # "the first and best": one half alone would not stand
    opened = opened or last_kept >= 0
    segment: list[tuple[int, int, str]] = []
    for part in parts[last_kept + 1 :]:
        if part[2] != "participle":
            segment.append(part)
            continue
        if opened:
            yield from _whole(doc, segment, opened, go_on=True)
        segment = []
    yield from _whole(doc, segment, opened, go_on=False)


def _whole(doc: Doc, parts: list[tuple[int, int, str]], opened: bool, *, go_on: bool) -> Iterator[tuple[int, int]]:
    """Runs of adjectives; those joined by a comma or "and" go together.

    `go_on` says that a participle follows, which another link may join.
    """
    at = next((i for i, part in enumerate(parts) if part[2] != "link"), len(parts))
    while (
        at + 1 < len(parts) and parts[at][2] == "grade" and not opened and doc.tokens[parts[at][0]].lower not in _GRADES
    ):
        at += 1  # "He always wears old coats": the adverb belongs to the verb
    parts = parts[at:]
    tail = parts[-1] if go_on and parts and parts[-1][2] == "link" else None
    parts = parts[:-1] if tail else parts
    if not parts or parts[-1][2] != "adjective" or any(a[2] == b[2] == "link" for a, b in pairwise(parts)):
        return
    first = 0
    for i, part in enumerate(parts):
        joined = i + 1 < len(parts) and parts[i + 1][2] == "link"
        if part[2] == "adjective" and not joined:
            yield parts[first][0], tail[1] if tail and i + 1 == len(parts) else part[1]
            first = i + 1


_GRADES = WordList("words", "grading adverbs")


def _is_kept(case: Case, part: tuple[int, int, str], noun: Token, before: Token | None) -> bool:
    """Whether a word before a noun says which or how many, belongs to a name or makes one expression with its noun."""
    doc, token = case.doc, case.doc.tokens[part[0]]
    lower = token.lower
    if lower in _KEPT or (lower[0].isdigit() and part[0] == part[1]) or (lower, noun.lower) in _SET:
        return True
    if lower == "little":  # "a little girl", but "a little water"
        return supersense(case.language.lemma(noun.lower, noun.tag), "noun") not in _BEINGS
    if before is not None and before.tag == "CD" and part[0] != part[1] and part[0] == before.index + 1:
        return True  # "a 5 metre-long boat"
    if after_measure(doc, token):
        return True
    if not token.text[0].isupper() or noun.text[:1].islower():
        return False  # "American people" say where from
    return in_name(doc, token) or (in_name(doc, noun) and not noun.text.isupper())


def _follows_link(doc: Doc, start: int, parts: list[tuple[int, int, str]]) -> bool:
    """Whether a verb that takes adjectives stands before: they may belong to it and not to a noun."""
    at = start - 1
    while at >= 0 and doc.tokens[at].tag in ("RB", "RBR", "RBS"):
        at -= 1
    return at >= 0 and doc.tokens[at].lower.replace("’", "'") in LINKING


# --- Attributes that exclude each other: colours for colours, sizes for sizes, chosen by hand

_ANY = "*"


class Other(NamedTuple):
    """A word that may take the place of another.

    Attributes:
        word: in its base form.
        fields: fields of meaning of nouns; empty for any.
        barred: the nouns must not be of these fields, rather than be of one of them.
    """

    word: str
    fields: frozenset[str]
    barred: bool = False

    def fits(self, field: str | None) -> bool:
        """Whether it can be said of a noun of a field of meaning."""
        return not self.fields or (field in self.fields) != self.barred


class Attribute(NamedTuple):
    """A word for what can be seen of a thing.

    Attributes:
        kind: colour, size, age, material, pattern, shape, number, state, look or place.
        others: what may take its place, each as good as the next.
    """

    kind: str
    others: Sequence[Other]

    def fitting(self, field: str | None) -> list[str]:
        """The other words that can be said of a noun of a field of meaning."""
        return [o.word for o in self.others if o.fits(field)]


def attribute(word: str) -> Attribute | None:
    """The entry of a base form in small letters; None where it is no attribute of ours."""
    return _table().get(word)


@cache
def _table() -> Mapping[str, Attribute]:
    table: dict[str, Attribute] = {}
    sets: dict[str, list[str]] = {}
    for line in data_lines("attributes.tsv"):
        kind, word, cell = line.split("\t")
        words = cell.split(" ")
        if word == _ANY:
            sets[kind] = words
            table.update((w, Attribute(kind, [Other(o, frozenset()) for o in words if o != w])) for w in words)
            continue
        if words[0] == _ANY:
            less = {w[1:] for w in words[1:]}
            words = [w for w in sets[kind] if w not in less and w != word]
        table[word] = Attribute(kind, [_other(w) for w in words])
    return table


def _other(written: str) -> Other:
    word, _, fields = written.partition("@")
    barred = fields.startswith("!")
    return Other(word, frozenset(fields.lstrip("!").split("+")) if fields else frozenset(), barred)


# --- Perturbation by adding a noun to another: what was said of one thing is said of two

# Behind a noun these tags show that its phrase goes on.
_BELONGS = _NOUNS | frozenset("POS CD HYPH FW SYM $ JJ VBG RP JJR".split())
_WHEN = frozenset({"today", "tomorrow", "yesterday", "tonight"})
_SMOOTH = frozenset({".", ",", ":", "VBZ", "VBP", "VBD", "MD", "IN", "RB", "''", "-RRB-"})


@dataclass(frozen=True, kw_only=True)
class Addition:
    """Add "and" with a random noun behind a noun: `The dog barked` becomes `The dog and piano barked`."""

    info: ClassVar = attack(
        'add "and" with a random noun behind a noun', ("The dog barked.", "The dog and table barked.")
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One insertion of two words."""
        doc = case.doc
        nouns = single_words(doc, "noun")
        verbs = _misread_verbs(doc)
        heads = [
            t for t in nouns if t.index not in verbs and _ends_phrase(doc, t, verbs) and not is_grammar(t.lower, "noun")
        ]
        if not heads:
            return Inapplicable("no place behind a noun" if nouns else "no noun")
        head = rng.choice(_better(case, heads))
        noun = draw(case, head, "noun", room_for_noun(doc, head), rng, avoid=words_of(case))
        if noun is None:
            return Inapplicable("no noun to add")
        draft = Draft(doc)
        added = f"and {noun}"
        draft.insert_after(head.index, added.upper() if _shouted(head) else added)
        return draft.finish(articles=False, behind=head.text, added=noun)


def _misread_verbs(doc: Doc) -> frozenset[int]:
    """Words tagged as nouns that are the past tense that their sentence lacks: `The price of gold rose.`"""
    with_verb = {doc.sentence_at[t.index] for t in doc.tokens if t.tag[0] == "V" or t.tag == "MD"}
    found = set()
    for before, token in pairwise(doc.tokens):
        place = doc.sentence_at[token.index]
        first = doc.tokens[doc.sentences[place].first]
        if (
            token.tag == "NN"
            and before.tag in _NOUNS
            and place not in with_verb
            and first.lower not in ("a", "an")
            and "VBD" in known_tags(token.lower)
        ):
            found.add(token.index)
    return frozenset(found)


def _ends_phrase(doc: Doc, token: Token, verbs: Set[int] = frozenset()) -> bool:
    """Whether the noun is the last word of its phrase, so that another can be joined to it."""
    if token.index + 1 == len(doc.tokens) or token.index + 1 in verbs:
        return True
    after = doc.tokens[token.index + 1]
    clitic = doc.touches(after.index) and (after.text[0] in "'’-‑/&" or after.lower in ("n't", "n’t"))
    return (after.tag not in _BELONGS or after.lower in _WHEN) and not clitic


def _better(case: Case, heads: Sequence[Token]) -> Sequence[Token]:
    """The heads that another noun can be joined to smoothly, or else all of them.

    Dates, measures and the `front` of `in front of` are left out.
    """
    verbs = _misread_verbs(case.doc)
    good = [t for t in heads if t.index + 1 in verbs or _takes_another(case, t)]
    return good or heads


def _takes_another(case: Case, token: Token) -> bool:
    doc, at = case.doc, token.index
    before = doc.tokens[at - 1] if at else None
    after = doc.tokens[at + 1] if at + 1 < len(doc.tokens) else None
    field = supersense(case.language.lemma(token.lower, token.tag), "noun")
    if field is None or field in ("noun.time", "noun.quantity"):
        return False
    bare = (
        token.tag == "NN"
        and before is not None
        and before.tag in ("IN", "TO", "VB", "VBD", "VBZ", "VBP", "VBG", "RB", "MD", "PRP")
    )
    return not bare and (after is None or (after.tag in _SMOOTH and after.lower not in ("of", "ago", "than", "that")))


def _shouted(token: Token) -> bool:
    return len(token.text) > 1 and token.text.isupper()
