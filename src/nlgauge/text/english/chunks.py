"""Simple phrases of English by tags: noun phrases with their heads, prepositional phrases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nlgauge.text.doc import Doc, Span, Token
from nlgauge.text.wordlists import data_lines

# One letter per token; phrases are regular expressions over these letters.
_CODES = {
    "DT": "D", "PRP$": "D", "PDT": "P", "JJ": "A", "JJR": "A", "JJS": "A", "VBN": "V", "VBG": "V", "CD": "C", "$": "$",
    "NN": "N", "NNS": "L", "NNP": "M", "NNPS": "M", "POS": "S", "IN": "I", "TO": "I", "CC": "K", ",": ",", "PRP": "p",
    "RB": "r",
}  # fmt: skip
_DEGREES = frozenset("very so too quite rather really most more less least extremely highly fairly pretty".split())
_OTHER, _DEGREE, _OF, _NOUN_CODES = "x", "R", "O", "NML"
_JOINING = ("-", "‑", "&")
# Runs of words that only look like phrases.
_CONJUNCTIONS = frozenset("because although though if while whereas that whether unless lest when so".split())
_ASIDES = {
    tuple(words.split())
    for words in ("of course", "for example", "for instance", "in fact", "at last", "at least", "at first")
}

# Bounds keep the work linear in the text; participles are modifiers only behind a determiner, a number or an adjective.
_ADJECTIVES = r"R?A(?>(?:[,K]?R?A){0,6})"
_MODIFIERS = rf"(?>(?:{_ADJECTIVES}|R?V|\$?C{{1,4}}+){{0,4}})"
_NOUNS = (  # a plural and a name are two phrases
    r"(?:M{1,20}(?:C(?:,C)?)?(?![NML])|(?:[NM]|L(?!M)){0,20}L(?=M)|[NML]{1,20})"
)
_PLAIN = rf"(?:P?Dr?{_MODIFIERS}|{_ADJECTIVES}{_MODIFIERS}|\$?C{{1,4}}{_MODIFIERS}|){_NOUNS}"
_OWNED = rf"{_MODIFIERS}{_NOUNS}"
_NP = rf"(?:{_PLAIN}(?:S{_OWNED}){{0,3}}|\$C{{1,4}})"
_NOUN_PHRASE = re.compile(_NP)
_PREPOSITIONAL = re.compile(rf"(?:I{{1,4}}|O)(?:{_NP}|C{{1,4}}|p)(?:O{_NP}){{0,4}}")


@dataclass(frozen=True, slots=True)
class Phrase(Span):
    """A run of tokens about one of them.

    Attributes:
        head: place of its main token: of a noun phrase the last noun, of a prepositional phrase the preposition.
    """

    head: int


def noun_phrases(doc: Doc) -> list[Phrase]:
    """Noun phrases that hold no other but as owners (`the committee's old chairman`), in order and not overlapping.

    A phrase runs from its determiner, number or adjective to its last noun; compounds joined by hyphens count as one
    word. Pronouns and numbers alone are none; sums of money are.
    """
    return list(_found(doc, _NOUN_PHRASE))


def prepositional_phrases(doc: Doc) -> list[Phrase]:
    """A preposition with the noun phrase, number or pronoun behind it and whatever hangs on that by `of`, in order."""
    return [Phrase(p.first, p.last, p.start, p.end, p.first) for p in _found(doc, _PREPOSITIONAL)]


def _found(doc: Doc, pattern: re.Pattern[str]) -> Iterator[Phrase]:
    for sentence in doc.sentences:
        tokens = doc.tokens[sentence.first : sentence.last + 1]
        codes = _codes(doc, tokens)
        for match in pattern.finditer(codes):
            first, last = sentence.first + match.start(), sentence.first + match.end() - 1
            nouns = [i for i in range(match.start(), match.end()) if codes[i] in _NOUN_CODES]
            span = doc.span(first, last)
            yield Phrase(first, last, span.start, span.end, sentence.first + nouns[-1] if nouns else last)


def _codes(doc: Doc, tokens: tuple[Token, ...]) -> str:
    codes = [_code(t) for t in tokens]
    at = 0
    while at < len(tokens):  # the parts of a compound all count as its last: well-known, co-worker
        end = at
        while (
            end + 2 < len(tokens)
            and tokens[end + 1].text in _JOINING
            and all(doc.touches(t.index) for t in tokens[end + 1 : end + 3])
        ):
            end += 2
        if end > at:
            kind = codes[end] if codes[end] in _NOUN_CODES else "A" if codes[end] in "AVC" else _OTHER
            codes[at : end + 1] = [kind] * (end + 1 - at)
        elif tokens[at].text == "&" and 0 < at < len(tokens) - 1 and codes[at - 1] == _code(tokens[at + 1]) == "M":
            codes[at] = "M"
        at = end + 1
    lower, prepositions = [t.lower for t in tokens], _prepositions()
    for i, word in enumerate(codes):
        if word in "IO" and tuple(lower[i : i + 2]) in _ASIDES:
            codes[i : i + 2] = [_OTHER] * 2
        for words in prepositions.get(lower[i], ()):
            if lower[i : i + len(words)] == words:
                codes[i : i + len(words)] = ["I"] * len(words)
    return "".join(codes)


def _code(token: Token) -> str:
    if token.lower == "of":
        return _OF
    if token.lower in _CONJUNCTIONS:
        return _OTHER
    if token.lower in _DEGREES:
        return _DEGREE
    return _CODES.get(token.tag, _OTHER)


@cache
def _prepositions() -> Mapping[str, Sequence[list[str]]]:
    """Prepositions of several words, by their first word."""
    by_first: dict[str, list[list[str]]] = {}
    for words in map(str.split, data_lines("prepositions.txt")):
        by_first.setdefault(words[0], []).append(words)
    return by_first
