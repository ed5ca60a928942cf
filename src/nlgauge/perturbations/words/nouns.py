"""Perturbation by adding a noun to another: what was said of one thing is said of two."""

from __future__ import annotations

import random
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from nlgauge.perturbations.base import Case, Change, Inapplicable, attack
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.words.choice import is_grammar, single_words, words_of
from nlgauge.perturbations.words.vocabulary import draw, room_for_noun
from nlgauge.text.doc import Doc, Token
from nlgauge.text.lexicon import supersense
from nlgauge.text.tagging import known_tags

_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
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
