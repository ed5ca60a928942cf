"""Perturbations by a wrong word: a noun, verb or adjective is replaced by a random one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, attack
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.words.choice import (
    NAMES,
    Part,
    after_measure,
    is_grammar,
    is_nominal,
    single_words,
    words_of,
)
from nlgauge.perturbations.words.related import sites
from nlgauge.perturbations.words.vocabulary import Kind, draw, room_for_noun, room_for_verb
from nlgauge.text.doc import Token
from nlgauge.text.lexicon import Relation, knows

_KINDRED: Sequence[Relation] = ("sibling", "antonym")  # in the order in which they are tried
_NOUNS = ("NN", "NNS", "NNP", "NNPS")


@dataclass(frozen=True, kw_only=True)
class _Mismatch(Checked):
    """A random word of the same part of speech takes the place of one word.

    Args:
        semantic: draw from words with a related meaning (another animal for an animal). Such errors are harder to
            notice.
    """

    semantic: bool = False
    part: ClassVar[Part]

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One word exchanged."""
        words = single_words(case.doc, self.part)
        tokens = [t for t in words if not _is_grammar(case, t, self.part)]
        if not tokens and self.part == "verb":
            tokens = [t for t in words if _is_full_verb(case, t)]
        if not tokens:
            return Inapplicable(f"no {NAMES[self.part]}")
        exchange = _kindred(case, rng, self.part) if self.semantic else _random(case, rng, self.part, tokens)
        if exchange is None:
            return Inapplicable("no word of a kindred meaning" if self.semantic else "no word that fits")
        token, form = exchange
        draft = Draft(case.doc)
        draft.replace(token.index, token.index, form)
        return draft.finish(word=token.text, replacement=form, tag=token.tag, semantic=self.semantic)


@dataclass(frozen=True, kw_only=True)
class MismatchNoun(_Mismatch):
    """Put a random noun in the place of another, in the same form."""

    part: ClassVar[Part] = "noun"
    info: ClassVar = attack("replace a noun by a random one", ("The dog barked.", "The table barked."))


@dataclass(frozen=True, kw_only=True)
class MismatchVerb(_Mismatch):
    """Put a random verb in the place of another, in the same form; auxiliaries stay."""

    part: ClassVar[Part] = "verb"
    info: ClassVar = attack("replace a verb by a random one", ("She painted the door.", "She swallowed the door."))


@dataclass(frozen=True, kw_only=True)
class MismatchAdj(_Mismatch):
    """Put a random adjective in the place of another, in the same form."""

    part: ClassVar[Part] = "adj"
    info: ClassVar = attack("replace an adjective by a random one", ("The soup was hot.", "The soup was legal."))


def _random(case: Case, rng: random.Random, part: Part, tokens: Sequence[Token]) -> tuple[Token, str] | None:
    """A word of the text, and any frequent word in its form."""
    token = rng.choice([t for t in tokens if _stands_free(case, t, part)] or list(tokens))
    form = draw(case, token, part, _room(case, token, part), rng, avoid=words_of(case))
    return None if form is None else (token, form)


def _kindred(case: Case, rng: random.Random, part: Part) -> tuple[Token, str] | None:
    """A word of the text, and another kind of the same, or its opposite where no such is known."""
    for relation in _KINDRED:
        candidates = [
            site for site in sites(case, part, relation) if not any(s.graded or " " in s.form for s in site.swaps)
        ]
        if candidates:
            site = rng.choice(candidates)
            return site.token, rng.choice(site.swaps).form
    return None


def _room(case: Case, token: Token, part: Part) -> Kind:
    if part == "noun":
        return room_for_noun(case.doc, token)
    return room_for_verb(case.doc, token) if part == "verb" else "any"


def _is_grammar(case: Case, token: Token, part: Part) -> bool:
    lemma = case.language.lemma(token.lower, token.tag)
    if part == "adj" and (
        after_measure(case.doc, token)
        or is_nominal(case.doc, token)
        or not (knows(lemma, "adj") or knows(token.lower, "adj"))
    ):
        return True
    return is_grammar(lemma, part) or is_grammar(token.lower, part)


def _is_full_verb(case: Case, token: Token) -> bool:
    """Whether a verb that often belongs to the grammar has a meaning of its own here.

    It has in `goes to school` and `has a dog`, but not in `has gone` or `used to`.
    """
    lemma, after = case.language.lemma(token.lower, token.tag), case.doc.tokens[token.index + 1 : token.index + 2]
    if token.tag == "VBG" or (after and after[0].tag in ("RP", "VB", "VBG", "VBN", "WRB")) or token.lower == "used":
        return False  # going to, according to, used to
    if any(t.lower == "let" for t in case.doc.tokens[max(token.index - 2, 0) : token.index]):
        return False
    owns = bool(after) and after[0].tag in ("DT", "CD", "PRP$", "NN", "NNS", "JJ")
    return owns if lemma in ("have", "do", "get", "need", "use") else lemma in ("go", "follow", "include")


def _stands_free(case: Case, token: Token, part: Part) -> bool:
    """Whether no other word depends on this one in a way that a random word would break.

    Dependents are particles, infinitives, and nouns it makes a compound with.
    """
    tokens, at = case.doc.tokens, token.index
    before, after = tokens[at - 1] if at else None, tokens[at + 1] if at + 1 < len(tokens) else None
    if part == "verb":
        return after is None or after.tag not in ("RP", "TO", "VB", "VBG", "WRB")
    if part == "adj":
        return (before is None or before.tag not in ("RBR", "RBS", "IN")) and (
            after is None or after.tag not in ("TO", "IN")
        )
    compound = (before is not None and before.tag in _NOUNS) or (after is not None and after.tag in _NOUNS)
    bare = (
        token.tag == "NN"
        and before is not None
        and before.tag in ("IN", "TO", "VB", "VBD", "VBZ", "VBP", "VBG", "MD", "RB", "PRP")
    )
    return not compound and not bare
