"""Words exchanged one by one, for related or random ones in the same form, or added; and which words can be."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import ClassVar, Literal, NamedTuple

from nlgauge.core.options import Checked
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.perturb import Case, Change, Inapplicable, as_good, attack, worse
from nlgauge.text.doc import ADJECTIVES, ADVERBS, COMMON, NOUNS, PROPER, VERBS, Doc, Token
from nlgauge.text.english.verbs import INTRANSITIVE
from nlgauge.text.lexicon import (
    POSES,
    Pos,
    Relation,
    in_set_phrase,
    inflect,
    knows,
    lemmas,
    neighbours,
    own_words,
    rank,
    supersense,
)
from nlgauge.text.scripts import WordList
from nlgauge.text.tagging import known_tags

Part = Literal["adj", "noun", "verb", "adverb"]

POS: Mapping[Part, Pos] = {"adj": "adj", "noun": "noun", "verb": "verb", "adverb": "adv"}
NAMES: Mapping[Part, str] = {"adj": "adjective", "noun": "noun", "verb": "verb", "adverb": "adverb"}
TAGS: Mapping[Part, frozenset[str]] = {
    "adj": ADJECTIVES,
    "noun": COMMON,
    "verb": VERBS,
    "adverb": ADVERBS,
}
DEGREES = frozenset(
    {"very", "so", "too", "quite", "rather", "really", "extremely", "highly", "fairly", "pretty", "incredibly", "how"}
)
_PERSONS = WordList("words", "person pronouns")
_BASE_FORMS = frozenset({"JJ", "NN", "RB", "VB", "VBP"})
_TIES = frozenset({"-", "‑", "/", "&", "@", "_", "+", "."})
_COUNTED = frozenset("person animal artifact plant body location object event group time communication act".split())
LINKING = WordList("words", "linking verbs")
UNCOUNTED = WordList("words", "uncounted")
_MEASURES = WordList("words", "measures")
_GOING_ON = frozenset({"CC", "HYPH", "IN", "DT", "$", "``", "POS"})
# Participles that say behind a verb, too, what something is like; unless an object follows: "the movie was inspiring".
_LIKE_ADJECTIVES = WordList("words", "participles like adjectives")
_FARTHEST = 100  # tokens between an adjective and its noun
_OBJECTS = frozenset({"DT", "PRP", "PRP$", "NN", "NNS", "NNP", "NNPS", "JJ", "CD"})
_ADVERBIAL = WordList("words", "adverbial")
# What may stand for people without a noun: "the rich".
_PEOPLE = WordList("words", "people")
# Tagged like other words, but part of the grammar rather than of what is said.
_GRAMMAR: Mapping[Part, Set[str]] = {part: WordList("words", f"grammar {part}") for part in TAGS}


def single_words(doc: Doc, part: Part) -> list[Token]:
    """Words of a part of speech that can be exchanged: not part of a compound, an address or a name."""
    tags = TAGS[part]
    single = []
    for token in doc.tokens:
        fits = token.tag in tags or (part == "adj" and _adjectival(doc, token))
        if not fits or len(token.text) < 2 or not token.lower.isalpha() or not stands_alone(doc, token):
            continue
        if not in_name(doc, token) and not _may_be_verb(doc, token):
            single.append(token)
    return single


def is_grammar(lemma: str, part: Part) -> bool:
    """Whether a word belongs to the grammar rather than to what is said: `other`, `someone`, `have`, `not`."""
    return lemma in _GRAMMAR[part]


def stands_alone(doc: Doc, token: Token) -> bool:
    """Whether blanks, punctuation or clitics part the word from its neighbours: not so in `well-known`."""
    before, after = token.index, token.index + 1
    if doc.touches(before) and doc.tokens[before - 1].text in _TIES:
        return False
    return not (
        after < len(doc.tokens) and doc.touches(after) and doc.tokens[after].text in _TIES and _goes_on(doc, after)
    )


def in_name(doc: Doc, token: Token) -> bool:
    """Whether a capital inside a sentence says that the word belongs to a name, whatever its tag.

    `White` does in `the White House`, `Old` in `Old Trafford is`, and any word in a quoted title.
    """
    text = token.text
    if token.index in doc.in_titles:
        return True
    if text[1:] != text[1:].lower() and not text.isupper():
        return True  # iPhone
    if not text[0].isupper():
        return False
    behind = token.index + 1
    if doc.starts_sentence(token.index) and not (doc.tag(behind) in PROPER and doc.tokens[behind].text[0].isupper()):
        return False
    return doc.in_small_letters[doc.sentence_at[token.index]]


def modified_noun(doc: Doc, token: Token) -> Token | None:
    """The noun that an adjective says something of: behind it, or before the verb."""
    tokens, at = doc.tokens, token.index + 1
    sentence = doc.sentences[doc.sentence_at[token.index]]
    first, last = max(sentence.first, token.index - _FARTHEST), min(sentence.last, token.index + _FARTHEST)
    while at <= last and (tokens[at].tag in TAGS["adj"] or tokens[at].tag in ("VBN", "VBG", "HYPH", "CD")):
        at += 1
    if at <= last and tokens[at].tag in NOUNS:
        while at < last and tokens[at + 1].tag in NOUNS:
            at += 1
        return tokens[at]
    for before in reversed(tokens[first : token.index]):
        if before.tag in NOUNS or before.lower in _PERSONS:
            return before
    return None


def field_of(case: Case, token: Token | None) -> str | None:
    """The field of meaning of a noun or pronoun, as in `person`, `artifact`; None where it is not known."""
    if token is None:
        return None
    if token.lower in _PERSONS:
        return "person"
    sense = supersense(case.language.lemma(token.lower, token.tag), "noun")
    return sense.partition(".")[2] if sense else None


def form_for(case: Case, token: Token, lemma: str, part: Part) -> str | None:
    """The form of a lemma that bears the tag of a token, maybe with "more" or "most".

    None if there is no form, or only the one that stands there.
    """
    participle = part == "adj" and token.tag in TAGS["verb"]
    # A tagger may call a singular a plural: what has no plural ending is none, unless its plural has none either
    # (sheep, people).
    known = case.language
    singular = token.tag == "NNS" and token.lower == known.lemma(token.lower, "NNS") != known.inflect(
        token.lower, "NNS"
    )
    form = lemma if participle or singular or token.tag in _BASE_FORMS else known.inflect(lemma, token.tag)
    return form if form and form.lower() != token.lower else None


def is_counted(lemma: str) -> bool:
    """Whether a noun can stand behind "a" and in the plural, as far as its field of meaning tells.

    `freight` and `intelligence` cannot.
    """
    sense = supersense(lemma, "noun")
    return sense is not None and sense.partition(".")[2] in _COUNTED and lemma not in UNCOUNTED


def words_of(case: Case) -> frozenset[str]:
    """Every word of the text in small letters."""
    return frozenset(t.lower for t in case.doc.tokens)


def is_nominal(doc: Doc, token: Token) -> bool:
    """Whether an adjective stands for a noun or in a phrase of its own: `in general`, `at the ready`."""
    at = token.index
    before, after = doc.tag(at - 1), doc.tag(at + 1)
    if doc.low(at + 1) == "," and doc.tag(at + 2) == "JJ":
        after = "JJ"
    if before == "IN" and token.lower in _ADVERBIAL and after not in NOUNS:
        return True
    governed = before in ("IN", "TO") or (before == "DT" and token.tag == "JJ" and token.lower not in _PEOPLE)
    return governed and after[:2] not in ("NN", "JJ", "CD", "VB", "RB") and after not in _GOING_ON


def after_measure(doc: Doc, token: Token) -> bool:
    """Whether a measure stands before an adjective, as in `six feet tall`, or it is one itself: `a little late`."""
    at = token.index
    measured = doc.tag(at - 1) in COMMON and doc.tag(at - 2) in ("CD", "DT") and doc.low(at - 1) in _MEASURES
    return measured or _is_degree(doc, token)


def _is_degree(doc: Doc, token: Token) -> bool:
    """Whether `little` says how much, as in `a little late` and `very little time`, and not how large."""
    at = token.index
    if token.lower != "little" or not at or doc.starts_sentence(at):
        return False
    behind = at + 1
    while doc.tag(behind) in (*ADJECTIVES, "VBN", "VBG", "CC", ","):
        behind += 1
    noun = doc.tag(behind)
    bare = doc.tag(at - 1)[0] in "VIRT" or doc.low(at - 1) in ("how", "so", "as")
    return noun not in NOUNS or (bare and noun in ("NN", "NNP"))


def _goes_on(doc: Doc, tie: int) -> bool:
    """Whether the word goes on behind the hyphen or dot, which a full stop at the end of a sentence does not."""
    return tie + 1 < len(doc.tokens) and doc.touches(tie + 1) and not doc.tokens[tie + 1].is_punctuation


def _may_be_verb(doc: Doc, token: Token) -> bool:
    """Whether a noun or adjective behind a name may be the verb of a question: "which films did John Smith direct?"."""
    if token.tag not in ("NN", "JJ") or doc.tag(token.index - 1) != "NNP":
        return False
    first = doc.sentences[doc.sentence_at[token.index]].first
    return any(t.lower in ("do", "does", "did") for t in doc.tokens[first : token.index])


def _adjectival(doc: Doc, token: Token) -> bool:
    """Whether a participle is used like an adjective that the lexicon knows: `very inspiring`, `a broken chair`."""
    at = token.index
    if token.tag not in ("VBN", "VBG") or not at or not knows(token.lower, "adj"):
        return False
    attributive = doc.tag(at - 1) in ("DT", "PRP$", "JJ") and doc.tag(at + 1) in COMMON
    predicative = token.lower in _LIKE_ADJECTIVES and doc.tag(at + 1) not in _OBJECTS
    return attributive or predicative or doc.low(at - 1) in DEGREES


# --- Frequent words to draw at random: those that are hardly ever another part of speech

Kind = Literal["counted", "mass", "transitive", "intransitive", "any"]

_SIZES = {"noun": 2500, "verb": 800, "adj": 1000, "adverb": 300}
_BASE_TAGS = {"noun": "NN", "verb": "VB", "adj": "JJ", "adverb": "RB"}
_NEAR: Sequence[Relation] = ("synonym", "similar")  # a word that is drawn must stand in none of these relations
_TRIES = 300  # draws before giving up: nearly every word fits, so that hundreds in vain mean that none does
_DETERMINERS = frozenset({"DT", "PRP$", "POS", "WDT", "WP$", "PDT"})
_OPENS_OBJECT = frozenset("DT PRP$ PRP NN NNS NNP NNPS JJ JJR JJS CD PDT $ `` WP".split())
_WITHIN = ADJECTIVES | NOUNS | ADVERBS | {"VBN", "VBG", "CD", "HYPH"}
# Words that need what follows them, or what stands before; terms of one science; words that nobody wants to meet by
# chance.
_UNFIT = WordList("words", "never drawn")
MASS_NOUNS = WordList("words", "mass nouns")
_HAVE = frozenset("have has had having 've 'd".split())


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
    near = {lemma, token.lower}.union(*(case.language.related(lemma, POS[part], relation) for relation in _NEAR))
    for _ in range(_TRIES):
        word = rng.choice(words)
        form = form_for(case, token, word, part) if word not in near else None
        if form is None or (token.tag == "NNS" and form == word):
            continue
        if _bears(form, token.tag) and avoid.isdisjoint((form.lower(), word)):
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
    while doc.tag(at) in _WITHIN and doc.sentence_at[at] == doc.sentence_at[token.index]:
        at -= 1
    return "counted" if doc.tag(at) in _DETERMINERS else "mass"


def room_for_verb(doc: Doc, token: Token) -> Kind:
    """Whether an object follows a verb, or it is passive."""
    at, after = token.index - 1, doc.tag(token.index + 1)
    while doc.tag(at) in ADVERBS:
        at -= 1
    passive = token.tag == "VBN" and doc.low(at) not in _HAVE
    attributive = token.tag in ("VBN", "VBG") and after in COMMON and doc.tag(at) in _DETERMINERS
    return "transitive" if passive or attributive or after in _OPENS_OBJECT else "intransitive"


@cache
def _words(part: Part, kind: Kind) -> Sequence[str]:
    if kind == "mass":
        return tuple(MASS_NOUNS)
    if kind == "counted":
        plurals = {word: inflect(word, "NNS") or word for word in _common(part) if is_counted(word)}  # no `dinings`
        return tuple(word for word, plural in plurals.items() if known_tags(plural)[:1] == ("NNS",))
    return tuple(word for word in _common(part) if kind == "any" or (word in INTRANSITIVE) == (kind == "intransitive"))


@cache
def _common(part: Part) -> Sequence[str]:
    return tuple(islice(_candidates(part), _SIZES[part]))


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


# --- Perturbations by related words: synonyms, antonyms, kinds of a thing; the new word bears the form of the old one

_CONCRETE = frozenset({"person", "animal", "plant", "food", "artifact", "body", "object", "location", "group"})
_GOVERNED = ("RP", "IN", "TO", "WRB", "VB", "VBG")
_PARTICLES = ("up", "out", "off", "down", "away", "on", "back", "apart", "together")
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
        if in_set_phrase(token.lower, doc.low(token.index + 1)):
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
        meant = [o.word for o in ours if field in o.fields] or [o.word for o in ours if not o.fields]
        candidates = [(word, OWN) for word in meant]
    before = case.doc.low(token.index - 1) if token.tag == "JJ" else ""
    for word, trust in candidates:
        if word == "little" and token.tag != "JJ":
            continue  # less and least say how much, not how large
        degree = {"more": "JJR", "most": "JJS"}.get(before)
        graded = case.language.inflect(word, degree) if degree else None
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
    sure = neighbours(lemma, pos, relation)
    candidates = [(word, sure.get(word, False)) for word in case.language.related(lemma, pos, relation)]
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
    one = case.doc.low(token.index - 1) in ("a", "an")
    return not (one or token.tag == "NNS") or is_counted(word)


def _lemma(case: Case, token: Token, part: Part) -> str:
    """The base form; a participle used as an adjective is its own."""
    return token.lower if part == "adj" and token.tag[0] == "V" else case.language.lemma(token.lower, token.tag)


def _compounded(case: Case, token: Token) -> bool:
    """Whether a noun stands beside another, as in `bus stop`, or where a verb would.

    There its kinds mean something else.
    """
    doc, at = case.doc, token.index
    before, after = doc.tag(at - 1), doc.tag(at + 1)
    if before in NOUNS or before in ("VBG", "MD", "TO", "RB", "PRP"):
        return True
    if after == "JJ" and doc.tag(at + 2) in NOUNS:
        return True  # "city electoral commission"
    return after in NOUNS or after in ("VBG", "CD", "RP") or (doc.low(at + 1) == "-" and doc.touches(at + 1))


def _set(case: Case, token: Token) -> bool:
    """Whether a noun means what it does only with the word before it: `real estate`, `at hand`, `by bus`."""
    doc, at = case.doc, token.index
    bare = doc.tag(at - 1) in ("IN", "TO") and token.tag == "NN"
    counted = is_counted(case.language.lemma(token.lower, token.tag))
    return in_set_phrase(doc.low(at - 1), token.lower) or (bare and counted)


def _describes(doc: Doc, token: Token) -> bool:
    """Whether an adjective stands before its noun, or behind a linking verb: not so in `pay extra` and `go wrong`."""
    at = token.index
    noun = modified_noun(doc, token)
    if noun is not None and noun.index > at:
        return noun.tag not in PROPER
    if doc.low(doc.sentences[doc.sentence_at[at]].first) in LINKING:
        return True  # "Is the water warm?"
    before = at - 1
    while doc.tag(before) in (*ADVERBS, "CC", "JJ", ","):
        before -= 1
    return doc.low(before) in LINKING


def _is_attributive(doc: Doc, token: Token) -> bool:
    """Whether a participle stands before its noun, like an adjective: `the remaining girls`."""
    framed = doc.tag(token.index - 1) in ("DT", "PRP$", "JJ", "CD") and doc.tag(token.index + 1) in NOUNS
    return token.tag in ("VBG", "VBN") and framed


def _governs(case: Case, token: Token) -> bool:
    """Whether a particle, a preposition or an infinitive hangs on a verb: another verb would need another one."""
    after = token.index + 1
    return case.doc.tag(after) in _GOVERNED or case.doc.low(after) in _PARTICLES


# --- A random word for another, or beside it: what is said of one thing is said of something else

_KINDRED: Sequence[Relation] = ("sibling", "antonym")  # in the order in which they are tried


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
    doc, at = case.doc, token.index
    lemma, after = case.language.lemma(token.lower, token.tag), doc.tag(at + 1)
    if token.tag == "VBG" or after in ("RP", "VB", "VBG", "VBN", "WRB") or token.lower == "used":
        return False  # going to, according to, used to
    if "let" in (doc.low(at - 2), doc.low(at - 1)):
        return False
    owns = after in ("DT", "CD", "PRP$", "NN", "NNS", "JJ")
    return owns if lemma in ("have", "do", "get", "need", "use") else lemma in ("go", "follow", "include")


def _stands_free(case: Case, token: Token, part: Part) -> bool:
    """Whether no other word depends on this one in a way that a random word would break.

    Dependents are particles, infinitives, and nouns it makes a compound with.
    """
    before, after = case.doc.tag(token.index - 1), case.doc.tag(token.index + 1)
    if part == "verb":
        return after not in ("RP", "TO", "VB", "VBG", "WRB")
    if part == "adj":
        return before not in ("RBR", "RBS", "IN") and after not in ("TO", "IN")
    return before not in NOUNS and after not in NOUNS and not _is_bare(case.doc, token)


def _is_bare(doc: Doc, token: Token) -> bool:
    """Whether a singular has neither article nor adjective, as behind a preposition or a verb."""
    return token.tag == "NN" and doc.tag(token.index - 1) in _BEFORE_BARE


_BEFORE_BARE = ("IN", "TO", "VB", "VBD", "VBZ", "VBP", "VBG", "MD", "RB", "PRP")
# Behind a noun these tags show that its phrase goes on.
_BELONGS = NOUNS | frozenset("POS CD HYPH FW SYM $ JJ VBG RP JJR".split())
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
        heads = [t for t in nouns if t.index not in verbs and _ends_phrase(doc, t, verbs)]
        heads = [t for t in heads if not is_grammar(t.lower, "noun")]
        if not heads:
            return Inapplicable("no place behind a noun" if nouns else "no noun")
        head = rng.choice([t for t in heads if t.index + 1 in verbs or _takes_another(case, t)] or heads)
        noun = draw(case, head, "noun", room_for_noun(doc, head), rng, avoid=words_of(case))
        if noun is None:
            return Inapplicable("no noun to add")
        draft = Draft(doc)
        added, shouted = f"and {noun}", len(head.text) > 1 and head.text.isupper()
        draft.insert_after(head.index, added.upper() if shouted else added)
        return draft.finish(articles=False, behind=head.text, added=noun)


def _misread_verbs(doc: Doc) -> frozenset[int]:
    """Words tagged as nouns that are the past tense that their sentence lacks: `The price of gold rose.`"""
    with_verb = {doc.sentence_at[t.index] for t in doc.tokens if t.tag[0] == "V" or t.tag == "MD"}
    found = set()
    for token in doc.tokens:
        place = doc.sentence_at[token.index]
        if token.tag == "NN" and doc.tag(token.index - 1) in NOUNS and place not in with_verb:
            opened = doc.low(doc.sentences[place].first) in ("a", "an")
            if not opened and "VBD" in known_tags(token.lower):
                found.add(token.index)
    return frozenset(found)


def _ends_phrase(doc: Doc, token: Token, verbs: Set[int]) -> bool:
    """Whether the noun is the last word of its phrase, so that another can be joined to it."""
    if token.index + 1 == len(doc.tokens) or token.index + 1 in verbs:
        return True
    after = doc.tokens[token.index + 1]
    clitic = doc.touches(after.index) and (after.text[0] in "'’-‑/&" or after.lower in ("n't", "n’t"))
    return (after.tag not in _BELONGS or after.lower in _WHEN) and not clitic


def _takes_another(case: Case, token: Token) -> bool:
    """Whether another noun can be joined smoothly: not to dates, measures and the `front` of `in front of`."""
    doc, after = case.doc, token.index + 1
    field = supersense(case.language.lemma(token.lower, token.tag), "noun")
    if field in (None, "noun.time", "noun.quantity") or _is_bare(doc, token):
        return False
    smooth = doc.tag(after) in _SMOOTH and doc.low(after) not in ("of", "ago", "than", "that")
    return smooth or after == len(doc.tokens)
