"""Frequent words to draw at random: those that are hardly ever another part of speech."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from nlgauge.perturbations.base import Case
from nlgauge.perturbations.words.choice import POS, Part, form_for, is_counted, is_grammar
from nlgauge.text.doc import Doc, Token
from nlgauge.text.english.verbs import INTRANSITIVE
from nlgauge.text.lexicon import POSES, Relation, inflect, lemmas, rank
from nlgauge.text.scripts import WordList
from nlgauge.text.tagging import known_tags

Kind = Literal["counted", "mass", "transitive", "intransitive", "any"]

_SIZES = {"noun": 2500, "verb": 800, "adj": 1000, "adverb": 300}
_BASE_TAGS = {"noun": "NN", "verb": "VB", "adj": "JJ", "adverb": "RB"}
_NEAR: Sequence[Relation] = ("synonym", "similar")  # a word that is drawn must stand in none of these relations
_TRIES = 300  # draws before giving up: nearly every word fits, so that hundreds in vain mean that none does
_DETERMINERS = frozenset({"DT", "PRP$", "POS", "WDT", "WP$", "PDT"})
_OPENS_OBJECT = frozenset("DT PRP$ PRP NN NNS NNP NNPS JJ JJR JJS CD PDT $ `` WP".split())
_WITHIN = frozenset({"JJ", "JJR", "JJS", "VBN", "VBG", "NN", "NNS", "NNP", "NNPS", "CD", "HYPH", "RB", "RBR", "RBS"})
# Words that need what follows them, or what stands before; terms of one science; words that nobody wants to meet by
# chance.
_UNFIT = WordList("words", "never drawn")
MASS_NOUNS = WordList("words", "mass nouns")


def draw(
    case: Case, token: Token, part: Part, kind: Kind, rng: random.Random, *, avoid: frozenset[str] = frozenset()
) -> str | None:
    """A random word in the form of a token, of another lemma and nothing like a synonym.

    Args:
        case: the text; its language inflects.
        token: whose form the word is to have.
        part: of speech.
        kind: what the sentence has room for.
        rng: for the draws.
        avoid: words not to be drawn, in small letters.
    """
    words = _words(part, kind)
    lemma = case.language.lemma(token.lower, token.tag)
    near = {
        lemma,
        token.lower,
        *(w for relation in _NEAR for w in case.language.related(lemma, POS[part], relation)),
    }
    for _ in range(_TRIES):
        word = rng.choice(words)
        form = form_for(case, token, word, part) if word not in near else None
        if (
            form is not None
            and _bears(form, token.tag)
            and not (token.tag == "NNS" and form == word)
            and not {form.lower(), word} & avoid
        ):
            return form
    return None


def _bears(form: str, tag: str) -> bool:
    """Whether a word is at home under a tag.

    Comparatives and superlatives must be on record, as `sheerest` is not.
    """
    tags = known_tags(form)
    if " " in form or (tag in ("JJR", "JJS") and not tags):
        return False
    return tag[0] == "V" or tags[:1] in ((), (tag,))


def room_for_noun(doc: Doc, token: Token) -> Kind:
    """Which nouns may stand in the place of one.

    Behind "a" and in the plural they must be countable; without an article they must not be.
    """
    if token.tag == "NNS":
        return "counted"
    at = token.index - 1
    while at >= 0 and doc.tokens[at].tag in _WITHIN and doc.sentence_at[at] == doc.sentence_at[token.index]:
        at -= 1
    return "counted" if at >= 0 and doc.tokens[at].tag in _DETERMINERS else "mass"


def room_for_verb(doc: Doc, token: Token) -> Kind:
    """Whether an object follows a verb, or it is passive."""
    after = doc.tokens[token.index + 1] if token.index + 1 < len(doc.tokens) else None
    at = token.index - 1
    while at >= 0 and doc.tokens[at].tag in ("RB", "RBR", "RBS"):
        at -= 1
    passive = token.tag == "VBN" and at >= 0 and doc.tokens[at].lower in _BE
    followed = after is not None and after.tag in _OPENS_OBJECT
    attributive = (
        token.tag in ("VBN", "VBG")
        and after is not None
        and after.tag in ("NN", "NNS")
        and at >= 0
        and doc.tokens[at].tag in _DETERMINERS
    )
    return (
        "transitive"
        if passive or followed or attributive or (token.tag == "VBN" and not _has(doc, at))
        else "intransitive"
    )


_BE = WordList("words", "passive auxiliaries")
_HAVE = frozenset("have has had having 've 'd".split())


def _has(doc: Doc, at: int) -> bool:
    return at >= 0 and doc.tokens[at].lower in _HAVE


@cache
def _words(part: Part, kind: Kind) -> Sequence[str]:
    if kind == "mass":
        return tuple(MASS_NOUNS)
    if kind == "counted":
        return tuple(
            word
            for word in _common(part)
            if is_counted(word) and known_tags(inflect(word, "NNS") or word)[:1] == ("NNS",)
        )  # no `dinings`
    return tuple(word for word in _common(part) if kind == "any" or (word in INTRANSITIVE) == (kind == "intransitive"))


@cache
def _common(part: Part) -> Sequence[str]:
    words: list[str] = []
    for word in _candidates(part):
        words.append(word)
        if len(words) == _SIZES[part]:
            break
    return tuple(words)


def _candidates(part: Part) -> Iterator[str]:
    """Lemmas by frequency that are this part of speech before any other, by the lexicon's counts and by Brill's."""
    pos = POS[part]
    for word in lemmas(pos):
        place = rank(word, pos)
        if place is None or not word.isalpha() or len(word) < 3 or word in _UNFIT or is_grammar(word, part):
            continue
        others = [rank(word, other) for other in POSES if other != pos]
        if all(r is None or r > place for r in others) and known_tags(word)[:1] == (_BASE_TAGS[part],):
            yield word
