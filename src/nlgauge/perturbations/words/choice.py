"""Which words of a text can be exchanged one by one, and which form takes the place of each."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Literal

from nlgauge.perturbations.base import Case
from nlgauge.text.doc import Doc, Token
from nlgauge.text.lexicon import Pos, knows, supersense
from nlgauge.text.scripts import WordList

Part = Literal["adj", "noun", "verb", "adverb"]

POS: Mapping[Part, Pos] = {"adj": "adj", "noun": "noun", "verb": "verb", "adverb": "adv"}
NAMES: Mapping[Part, str] = {"adj": "adjective", "noun": "noun", "verb": "verb", "adverb": "adverb"}
TAGS: Mapping[Part, frozenset[str]] = {
    "adj": frozenset({"JJ", "JJR", "JJS"}),
    "noun": frozenset({"NN", "NNS"}),
    "verb": frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"}),
    "adverb": frozenset({"RB", "RBR", "RBS"}),
}
DEGREES = frozenset(
    {"very", "so", "too", "quite", "rather", "really", "extremely", "highly", "fairly", "pretty", "incredibly", "how"}
)
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_PERSONS = WordList("words", "person pronouns")
_BASE_FORMS = frozenset({"JJ", "NN", "RB", "VB", "VBP"})
_TIES = frozenset({"-", "‑", "/", "&", "@", "_", "+", "."})
_COUNTED = frozenset("person animal artifact plant body location object event group time communication act".split())
LINKING = WordList("words", "linking verbs")
UNCOUNTED = WordList("words", "uncounted")
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
        if (
            fits
            and len(token.text) > 1
            and token.lower.isalpha()
            and stands_alone(doc, token)
            and not in_name(doc, token)
            and not _may_be_verb(doc, token)
        ):
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
    behind = doc.tokens[token.index + 1] if token.index + 1 < len(doc.tokens) else None
    if doc.starts_sentence(token.index) and not (
        behind is not None and behind.tag in ("NNP", "NNPS") and behind.text[0].isupper()
    ):
        return False
    return doc.in_small_letters[doc.sentence_at[token.index]]


def modified_noun(doc: Doc, token: Token) -> Token | None:
    """The noun that an adjective says something of: behind it, or before the verb."""
    tokens, at = doc.tokens, token.index + 1
    sentence = doc.sentences[doc.sentence_at[token.index]]
    first, last = max(sentence.first, token.index - _FARTHEST), min(sentence.last, token.index + _FARTHEST)
    while at <= last and (tokens[at].tag in TAGS["adj"] or tokens[at].tag in ("VBN", "VBG", "HYPH", "CD")):
        at += 1
    if at <= last and tokens[at].tag in _NOUNS:
        while at < last and tokens[at + 1].tag in _NOUNS:
            at += 1
        return tokens[at]
    for before in reversed(tokens[first : token.index]):
        if before.tag in _NOUNS or before.lower in _PERSONS:
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
    singular = token.tag == "NNS" and token.lower == case.language.lemma(token.lower, "NNS") != case.language.inflect(
        token.lower, "NNS"
    )
    form = lemma if participle or singular or token.tag in _BASE_FORMS else case.language.inflect(lemma, token.tag)
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
    tokens, at = doc.tokens, token.index
    before, after = tokens[at - 1] if at else None, tokens[at + 1] if at + 1 < len(tokens) else None
    governed = before is not None and (
        before.tag in ("IN", "TO") or (before.tag == "DT" and token.tag == "JJ" and token.lower not in _PEOPLE)
    )
    if after is not None and after.text == "," and at + 2 < len(tokens):
        after = tokens[at + 2] if tokens[at + 2].tag == "JJ" else after
    if (
        before is not None
        and before.tag == "IN"
        and token.lower in _ADVERBIAL
        and (after is None or after.tag not in _NOUNS)
    ):
        return True
    return governed and not (
        after is not None and (after.tag[:2] in ("NN", "JJ", "CD", "VB", "RB") or after.tag in _GOING_ON)
    )


def after_measure(doc: Doc, token: Token) -> bool:
    """Whether a measure stands before an adjective, as in `six feet tall`, or it is one itself: `a little late`."""
    tokens, at = doc.tokens, token.index
    return _is_degree(doc, token) or (
        at > 1
        and tokens[at - 1].tag in ("NN", "NNS")
        and tokens[at - 2].tag in ("CD", "DT")
        and tokens[at - 1].lower in _MEASURES
    )


_MEASURES = WordList("words", "measures")


def _is_degree(doc: Doc, token: Token) -> bool:
    """Whether `little` says how much, as in `a little late` and `very little time`, and not how large."""
    tokens, at = doc.tokens, token.index
    if token.lower != "little" or not at or doc.starts_sentence(at):
        return False
    behind = at + 1
    while behind < len(tokens) and tokens[behind].tag in (*TAGS["adj"], "VBN", "VBG", "CC", ","):
        behind += 1
    noun = tokens[behind].tag if behind < len(tokens) else ""
    bare = tokens[at - 1].tag[0] in "VIRT" or tokens[at - 1].lower in ("how", "so", "as")
    return noun not in _NOUNS or (bare and noun in ("NN", "NNP"))


def _goes_on(doc: Doc, tie: int) -> bool:
    """Whether the word goes on behind the hyphen or dot, which a full stop at the end of a sentence does not."""
    return tie + 1 < len(doc.tokens) and doc.touches(tie + 1) and not doc.tokens[tie + 1].is_punctuation


def _may_be_verb(doc: Doc, token: Token) -> bool:
    """Whether a noun or adjective behind a name may be the verb of a question: "which films did John Smith direct?"."""
    if token.tag not in ("NN", "JJ") or token.index == 0 or doc.tokens[token.index - 1].tag != "NNP":
        return False
    first = doc.sentences[doc.sentence_at[token.index]].first
    return any(t.lower in ("do", "does", "did") for t in doc.tokens[first : token.index])


def _adjectival(doc: Doc, token: Token) -> bool:
    """Whether a participle is used like an adjective that the lexicon knows: `very inspiring`, `a broken chair`."""
    if token.tag not in ("VBN", "VBG") or not knows(token.lower, "adj"):
        return False
    before = doc.tokens[token.index - 1] if token.index else None
    after = doc.tokens[token.index + 1] if token.index + 1 < len(doc.tokens) else None
    if before is None:
        return False
    attributive = before.tag in ("DT", "PRP$", "JJ") and after is not None and after.tag in ("NN", "NNS")
    predicative = token.lower in _LIKE_ADJECTIVES and (after is None or after.tag not in _OBJECTS)
    return attributive or predicative or before.lower in DEGREES
