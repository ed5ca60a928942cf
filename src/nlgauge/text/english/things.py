"""Which things a text names: the nouns that noun phrases are about, with what belongs to them."""

from __future__ import annotations

from dataclasses import dataclass

from nlgauge.text.doc import Doc
from nlgauge.text.english.chunks import noun_phrases
from nlgauge.text.languages import Language
from nlgauge.text.lexicon.lexicon import rank, supersense
from nlgauge.text.tagging.brill import is_name_like
from nlgauge.text.wordlists import WordList

COMMON = frozenset({"NN", "NNS"})
NAMES = frozenset({"NNP", "NNPS"})
NOUNS = COMMON | NAMES
_DETERMINERS = frozenset({"DT", "PRP$", "CD", "PDT"})
_ANIMATE = frozenset({"noun.person", "noun.animal"})
_FINITE = frozenset({"VBZ", "VBP", "VBD", "MD"})
_HYPHENS = frozenset({"-", "‑"})
_APOSTROPHES = ("'", "’")
PLACES = WordList("grammar", "parts and places")
PARTITIVES = WordList("grammar", "partitives")
_NO_THING = WordList("grammar", "no things")


@dataclass(frozen=True)
class Thing:
    """An object of the text.

    Attributes:
        start, end: the first and the last token of its phrase, with determiner and adjectives.
        first, last: the first and the last token of its noun, compounds whole.
        text: the noun, without the capital that only the head of a sentence gave it.
        base: the base form of its last word.
        plural, named: by its tag.
        determiner: the word that opens the phrase in small letters, if it is one, or an owner; else empty.
    """

    start: int
    end: int
    first: int
    last: int
    text: str
    base: str
    plural: bool
    named: bool
    determiner: str

    @property
    def bare(self) -> bool:
        """A singular without determiner, as of water, and of anything in a headline."""
        return not (self.plural or self.named or self.determiner)


def things(doc: Doc, language: Language) -> list[Thing]:
    """The things that the noun phrases of a text name, in order.

    Of `a group of people` these are the people, of `in front of a tree` the tree.
    """
    phrases_named: list[Thing] = []
    finite = {doc.sentence_at[t.index] for t in doc.tokens if t.tag in _FINITE}
    for phrase in noun_phrases(doc):
        for first, last in _parted(doc, language, phrase.first, phrase.head, doc.sentence_at[phrase.first] in finite):
            thing = _thing(doc, language, first, last)
            if thing is not None:
                phrases_named.append(thing)
    return phrases_named


def _thing(doc: Doc, language: Language, start: int, last: int) -> Thing | None:
    head = doc.tokens[last]
    if head.tag not in NOUNS or len(head.text) < 2 or not head.text[0].isalpha() or head.lower in _NO_THING:
        return None
    if is_outline(doc, last) or _modifies(doc, last):
        return None
    beside = NAMES if head.tag in NAMES else NOUNS  # Doctor Foster is Foster, a Berlin bus is a bus
    first = last
    while first > start and (
        doc.tokens[first - 1].tag in beside or (doc.tokens[first - 1].text in _HYPHENS and doc.touches(first))
    ):
        first -= 1
    while doc.tokens[first].text in _HYPHENS:
        first += 1
    whole = _whole_words(doc, first, last)
    if whole is None:
        return None
    first, start = whole, min(start, whole)
    opening = doc.tokens[start]
    owned = first > start and doc.tokens[first - 1].tag == "POS"
    determiner = opening.lower if start < first and (owned or opening.tag in _DETERMINERS) else ""
    base = language.lemma(head.lower, head.tag if head.tag in COMMON else "NN")
    return Thing(
        start,
        last,
        first,
        last,
        plain(doc, first, last),
        base,
        head.tag in ("NNS", "NNPS"),
        head.tag in NAMES,
        determiner,
    )


def _whole_words(doc: Doc, first: int, last: int) -> int | None:
    """The first token of a noun, so that no hyphen or dot is left without its other side.

    `two-day meeting` is a meeting, `ex-wife` and `mother-in-law` are whole. None if the word goes on behind the noun:
    `sugar` in `sugar-free`.
    """
    place, opening = doc.word_at[last], doc.word_at[first]
    if place is None:
        return first
    word = doc.words[place]
    if any(not t.text.startswith(_APOSTROPHES) and t.tag != "POS" for t in doc.tokens[last + 1 : word.last + 1]):
        return None
    if opening is None:  # a mark that the tagger took for a noun
        return first
    begun = doc.words[opening]
    if not any(t.text[0].isalnum() for t in doc.tokens[begun.first : first]):
        return first
    return begun.first if opening == place else begun.last + 1


def is_outline(doc: Doc, at: int) -> bool:
    """Whether a noun counts, frames or places another thing, or stands in `at the top`.

    Examples: `group of`, `photo of`, `in front of`.
    """
    word = doc.tokens[at].lower
    after = doc.tokens[at + 1].lower if at + 1 < len(doc.tokens) else ""
    return word in PLACES or (word in PARTITIVES and after == "of")


def plain(doc: Doc, first: int, last: int) -> str:
    """The text of some tokens, without the capital that only the head of a sentence gave the first."""
    text = doc.text[doc.tokens[first].start : doc.tokens[last].end]
    shouted = len(text) > 1 and text.isupper()
    if doc.starts_sentence(first) and not is_name_like(doc.tokens[first]) and not shouted:
        return text[:1].lower() + text[1:]
    return text


def _modifies(doc: Doc, at: int) -> bool:
    """Whether a noun goes with a participle before another noun: `snow covered slope`."""
    behind = [t.tag for t in doc.tokens[at + 1 : at + 3]]
    return len(behind) == 2 and behind[0] == "VBN" and behind[1] in NOUNS


def _parted(doc: Doc, language: Language, first: int, head: int, finite: bool) -> list[tuple[int, int]]:
    """A phrase, or the two phrases around a verb that the tagger took for a noun.

    Examples: `two dogs chase a cat`, `the horse drinks water`.

    `finite`: whether the sentence has a verb without it.
    """
    lemma = language.lemma
    for at in range(first + 1, head + 1):
        before, token = doc.tokens[at - 1], doc.tokens[at]
        if before.tag not in COMMON or token.tag not in COMMON or not token.text.islower():
            continue
        animate = supersense(lemma(before.lower, before.tag), "noun") in _ANIMATE
        as_verb = rank(lemma(token.lower, "VBZ" if token.tag == "NNS" else "VB"), "verb")
        as_noun = rank(lemma(token.lower, token.tag), "noun")
        if as_verb is None:
            continue
        agrees = (before.tag == "NNS") != (token.tag == "NNS")
        if (agrees and not finite and (animate or before.tag == "NNS")) or (
            animate and (as_noun is None or as_verb < as_noun)
        ):
            return [(first, at - 1), *([(at + 1, head)] if at < head else [])]
    return [(first, head)]
