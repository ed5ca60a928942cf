"""Perturbations by related words: synonyms, antonyms, kinds of a thing; the new word bears the form of the old one."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, as_good, worse
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.words.choice import (
    LINKING,
    NAMES,
    POS,
    Part,
    after_measure,
    field_of,
    form_for,
    is_counted,
    is_grammar,
    is_nominal,
    modified_noun,
    single_words,
    words_of,
)
from nlgauge.perturbations.words.vocabulary import room_for_noun
from nlgauge.text.doc import Doc, Token
from nlgauge.text.lexicon import Pos, Relation, in_set_phrase, neighbours, own_words, rank, supersense

_CONCRETE = frozenset({"person", "animal", "plant", "food", "artifact", "body", "object", "location", "group"})
_GOVERNED = ("RP", "IN", "TO", "WRB", "VB", "VBG")
_NOUNS = ("NN", "NNS", "NNP", "NNPS")
OWN = 2  # the trust in words that we chose
_USUAL = 8000  # ranks in the lexicon, all parts of speech counted together
# Of these only our own words are taken: those of the lexicon belong to one sense of a word, and no text says which.
_OURS: frozenset[Relation] = frozenset({"synonym", "hyponym"})


class Swap(NamedTuple):
    """A word that may take the place of another.

    Attributes:
        form: as it would stand in the text.
        trust: `OWN` for words that we chose, 1 for those of the first sense in the lexicon, 0 for others.
        lemma: its base form.
        graded: the word before goes as well: "more expensive" becomes "cheaper".
    """

    form: str
    trust: int
    lemma: str
    graded: bool = False


class Site(NamedTuple):
    """A word of the text with what may take its place, the most trusted first."""

    token: Token
    swaps: Sequence[Swap]

    def exchange(self, draft: Draft, swap: Swap) -> None:
        """Put the new word in its place."""
        draft.replace(self.token.index - swap.graded, self.token.index, swap.form)


@dataclass(frozen=True, kw_only=True)
class _OfPart(Checked):
    """Related words for words of one part of speech, or of the first of several that has any."""

    pos: Literal["any", "adj", "noun", "verb", "adverb"] = "any"
    which: Literal["one", "all"] = "one"
    relation: ClassVar[Relation]
    any_part: ClassVar[Sequence[Part]]

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit per word."""
        parts = self.any_part if self.pos == "any" else (self.pos,)
        return _exchange(case, rng, self.relation, parts, self.which)


@dataclass(frozen=True, kw_only=True)
class Synonyms(_OfPart):
    """Replace a word by a synonym that can stand nearly wherever it stands, in the same form.

    Args:
        pos: the part of speech. `any` takes an adjective if there is one, else an adverb, a noun or a verb.
        which: replace `one` word, or `all` words of that part of speech that have a synonym.
    """

    relation: ClassVar[Relation] = "synonym"
    any_part: ClassVar[Sequence[Part]] = ("adj", "adverb", "noun", "verb")
    info: ClassVar = as_good("replace a word by a synonym", ("The soup was delicious.", "The soup was tasty."))


@dataclass(frozen=True, kw_only=True)
class _SynonymsInCaptions(Checked):
    """Synonyms for words of one part of speech.

    Args:
        which: replace `one` word, or `all` that have a synonym.
    """

    which: Literal["one", "all"] = "one"
    part: ClassVar[Part]

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit per word."""
        return _exchange(case, rng, "synonym", (self.part,), self.which)


@dataclass(frozen=True, kw_only=True)
class SynonymsAttributes(_SynonymsInCaptions):
    """Replace an attribute of a caption, an adjective, by a synonym."""

    part: ClassVar[Part] = "adj"
    info: ClassVar = as_good(
        "replace an adjective by a synonym", ("a large dog on the grass", "a big dog on the grass")
    )


@dataclass(frozen=True, kw_only=True)
class SynonymsObjects(_SynonymsInCaptions):
    """Replace an object of a caption, a noun, by a synonym."""

    part: ClassVar[Part] = "noun"
    info: ClassVar = as_good("replace a noun by a synonym", ("a bicycle near a wall", "a bike near a wall"))


@dataclass(frozen=True, kw_only=True)
class Antonyms(_OfPart):
    """Replace a word by its opposite.

    Args:
        pos: the part of speech. `any` takes an adjective if there is one, else a verb, an adverb or a noun.
        which: replace `one` word, or `all` words of that part of speech that have an antonym.
    """

    pos: Literal["any", "adj", "noun", "verb", "adverb"] = "adj"
    relation: ClassVar[Relation] = "antonym"
    any_part: ClassVar[Sequence[Part]] = ("adj", "verb", "adverb", "noun")
    info: ClassVar = worse(
        "replace a word by its opposite", ("It was an inspiring talk.", "It was an uninspiring talk.")
    )


@dataclass(frozen=True, kw_only=True)
class Hyponyms(Checked):
    """Replace a noun by a more specific one, by another of the same kind, or by a more general one.

    Args:
        relation: what a dog becomes: `hyponym` makes it a poodle, `sibling` a wolf, `hypernym` an animal.
    """

    relation: Literal["hyponym", "sibling", "hypernym"] = "hyponym"
    info: ClassVar = worse("replace a noun by a more specific one", ("A dog sleeps here.", "A poodle sleeps here."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit."""
        places = list(sites(case, "noun", self.relation))
        if not places:
            return Inapplicable(f"no {self.relation}" if single_words(case.doc, "noun") else "no noun")
        # Things can be seen to be wrong, and abstractions are hard to tell from their kinds.
        concrete = [s for s in places if field_of(case, s.token) in _CONCRETE]
        site = rng.choice(_trusted(concrete or places))
        swap = rng.choice([s for s in site.swaps if s.trust == site.swaps[0].trust])
        draft = Draft(case.doc)
        site.exchange(draft, swap)
        return draft.finish(word=site.token.text, replacement=swap.form, relation=self.relation, sure=swap.trust > 0)


def _exchange(
    case: Case, rng: random.Random, relation: Relation, parts: Sequence[Part], which: str
) -> Change | Inapplicable:
    """One word, or all, of the first part of speech with the most trusted related words."""
    places = {part: list(sites(case, part, relation)) for part in parts}
    if relation == "antonym" and not any(places.values()):
        places = {part: list(sites(case, part, relation, anew=False)) for part in parts}
    best = max((s.swaps[0].trust for some in places.values() for s in some), default=None)
    part = next((part for part, some in places.items() if any(s.swaps[0].trust == best for s in some)), None)
    if part is None:
        candidates = any(single_words(case.doc, part) for part in parts)
        return Inapplicable(
            f"no {relation}" if candidates else f"no {NAMES[parts[0]]}" if len(parts) == 1 else "no word to replace"
        )
    picked = places[part] if which == "all" else [rng.choice(_trusted(places[part]))]
    draft = Draft(case.doc)
    for site in picked:
        site.exchange(draft, site.swaps[0])
    words, new = [s.token.text for s in picked], [s.swaps[0].form for s in picked]
    return draft.finish(words=words, replacements=new, pos=part, sure=all(s.swaps[0].trust > 0 for s in picked))


def _trusted(places: Sequence[Site]) -> Sequence[Site]:
    """The sites whose first word is trusted most."""
    best = max(s.swaps[0].trust for s in places)
    return [s for s in places if s.swaps[0].trust == best]


def sites(case: Case, part: Part, relation: Relation, *, anew: bool = True) -> Iterator[Site]:
    """Words of a part of speech that have related words which fit, in the order of the text.

    Related words that the text already has are left out, unless `anew` is false.
    """
    doc, present = case.doc, words_of(case)
    present |= {case.language.lemma(t.lower, t.tag) for t in doc.tokens if t.tag in ("NNS", "VBZ")}
    for token in single_words(doc, part):
        if part == "adj" and (after_measure(doc, token) or is_nominal(doc, token)):
            continue
        if token.index + 1 < len(doc.tokens) and in_set_phrase(token.lower, doc.tokens[token.index + 1].lower):
            continue
        if part == "noun" and (_set(case, token) or _compounded(case, token)):
            continue
        if part == "noun" and relation == "hyponym" and doc.low(token.index + 1) == "of":
            continue  # a sign of calm is no billboard of calm
        if part == "adj" and not _describes(doc, token):
            continue
        if part == "adverb" and doc.low(token.index - 1) == "as":
            continue  # as well, as soon as
        if part == "verb" and (_governs(case, token) or _is_attributive(doc, token)):
            continue
        swaps = [
            s for s in _swaps(case, token, part, relation) if not anew or {s.form.lower(), s.lemma}.isdisjoint(present)
        ]
        if swaps:
            yield Site(token, swaps)


def _swaps(case: Case, token: Token, part: Part, relation: Relation) -> Iterator[Swap]:
    """Forms that may take the place of a word, the best first.

    Our own words go first, then those of the lexicon. Words of grammar have only our own; see `_OURS`, too.
    """
    lemma, pos = _lemma(case, token, part), POS[part]
    ours = own_words(lemma, pos, relation)
    if ours is None and (relation in _OURS or is_grammar(lemma, part) or is_grammar(token.lower, part)):
        return
    if ours is None:
        candidates = [
            (word, int(sure))
            for word, sure in _listed(case, lemma, pos, relation)
            if _fits(case, token, word, pos, relation)
        ]
    else:
        field = field_of(case, modified_noun(case.doc, token)) if part == "adj" else None
        meant = [word for word, fields in ours if field in fields] or [word for word, fields in ours if not fields]
        candidates = [(word, OWN) for word in meant]
    before = case.doc.tokens[token.index - 1].lower if token.index and token.tag == "JJ" else ""
    for word, trust in candidates:
        if word == "little" and token.tag != "JJ":
            continue  # less and least say how much, not how large
        graded = (
            case.language.inflect(word, "JJR" if before == "more" else "JJS") if before in ("more", "most") else None
        )
        if graded is not None and " " not in graded:
            yield Swap(graded, trust, word, graded=True)
            continue
        form = form_for(case, token, word, part)
        genitive = case.doc.low(token.index + 1) if token.tag == "NNS" else ""
        if genitive in ("'", "'s") and (form or "").endswith("s") != (genitive == "'"):
            continue  # parents', but children's
        singular = part == "noun" and relation != "synonym" and token.tag == "NN" and is_counted(word)
        if singular and room_for_noun(case.doc, token) == "mass":
            continue  # of bread, but of a toast
        if form is not None and (relation == "antonym" or " " not in form):  # "cheapest" has no opposite in one word
            yield Swap(form, trust, word)


def _listed(case: Case, lemma: str, pos: Pos, relation: Relation) -> list[tuple[str, bool]]:
    """The words of the lexicon, and whether each belongs to the first sense.

    Of other senses only siblings of concrete things are taken, since these are different enough.
    """
    sure = {n.word for n in neighbours(lemma, pos, relation) if n.sure}
    candidates = [(word, word in sure) for word in case.language.related(lemma, pos, relation)]
    field = supersense(lemma, pos)
    concrete = field is not None and field.partition(".")[2] in _CONCRETE
    if relation == "sibling" and concrete:
        return [(word, sure_word) for word, sure_word in candidates if supersense(word, pos) == field]
    return [(word, sure_word) for word, sure_word in candidates if sure_word]


def _fits(case: Case, token: Token, word: str, pos: Pos, relation: Relation) -> bool:
    """Whether a word of the lexicon would be used where the other one stands."""
    if relation == "antonym":
        return True
    place = rank(word, pos)
    if place is None or place >= _USUAL or is_grammar(word, "noun"):
        return False
    one = token.index > 0 and case.doc.tokens[token.index - 1].lower in ("a", "an")
    return not (one or token.tag == "NNS") or is_counted(word)


def _lemma(case: Case, token: Token, part: Part) -> str:
    """The base form; a participle used as an adjective is its own."""
    return token.lower if part == "adj" and token.tag[0] == "V" else case.language.lemma(token.lower, token.tag)


def _compounded(case: Case, token: Token) -> bool:
    """Whether a noun stands beside another, as in `bus stop`, or where a verb would.

    There its kinds mean something else.
    """
    tokens, at = case.doc.tokens, token.index
    before, after = tokens[at - 1] if at else None, tokens[at + 1] if at + 1 < len(tokens) else None
    if before is not None and (before.tag in (*_NOUNS, "VBG", "MD", "TO", "RB") or before.tag == "PRP"):
        return True
    if after is not None and after.tag == "JJ" and at + 2 < len(tokens) and tokens[at + 2].tag in _NOUNS:
        return True  # "city electoral commission"
    return after is not None and (
        after.tag in (*_NOUNS, "VBG", "CD", "RP") or (after.text == "-" and case.doc.touches(after.index))
    )


def _set(case: Case, token: Token) -> bool:
    """Whether a noun means what it does only with the word before it: `real estate`, `at hand`, `by bus`."""
    doc, at = case.doc, token.index
    bare = at > 0 and doc.tokens[at - 1].tag in ("IN", "TO") and token.tag == "NN"
    counted = is_counted(case.language.lemma(token.lower, token.tag))
    return in_set_phrase(doc.low(at - 1), token.lower) or (bare and counted)


def _describes(doc: Doc, token: Token) -> bool:
    """Whether an adjective stands before its noun, or behind a linking verb: not so in `pay extra` and `go wrong`."""
    tokens, at = doc.tokens, token.index
    noun = modified_noun(doc, token)
    if noun is not None and noun.index > at:
        return noun.tag not in ("NNP", "NNPS")
    if tokens[doc.sentences[doc.sentence_at[at]].first].lower in LINKING:
        return True  # "Is the water warm?"
    before = at - 1
    while before >= 0 and tokens[before].tag in ("RB", "RBR", "RBS", "CC", "JJ", ","):
        before -= 1
    return before >= 0 and tokens[before].lower in LINKING


def _is_attributive(doc: Doc, token: Token) -> bool:
    """Whether a participle stands before its noun, like an adjective: `the remaining girls`."""
    at, tokens = token.index, doc.tokens
    behind = tokens[at + 1].tag if at + 1 < len(tokens) else ""
    return (
        token.tag in ("VBG", "VBN") and at > 0 and tokens[at - 1].tag in ("DT", "PRP$", "JJ", "CD") and behind in _NOUNS
    )


def _governs(case: Case, token: Token) -> bool:
    """Whether a particle, a preposition or an infinitive hangs on a verb: another verb would need another one."""
    after = case.doc.tokens[token.index + 1] if token.index + 1 < len(case.doc.tokens) else None
    return after is not None and (
        after.tag in _GOVERNED or after.lower in ("up", "out", "off", "down", "away", "on", "back", "apart", "together")
    )
