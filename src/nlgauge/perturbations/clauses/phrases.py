"""Perturbations of phrases: some words left out, a phrase said twice."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from nlgauge.core.errors import SpecError
from nlgauge.core.options import Checked, checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, attack, worse
from nlgauge.perturbations.draft import Draft
from nlgauge.text.doc import Doc, Span
from nlgauge.text.english.verbs import is_english, noun_phrases, prepositional_phrases
from nlgauge.text.tagging import is_name_like

_FEWEST = 4  # words of a text from which some can be left out
_LONGEST = 0.2  # share of the words that a span has at most
_TRIES = 50  # runs looked at for one with whole brackets and quotes, before a single word is taken
_QUOTES = frozenset('"“‘«`')
_TWINS = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»"}


@dataclass(frozen=True, kw_only=True)
class DropPhrases(Checked):
    """Leave out one run of words inside a sentence.

    Args:
        mode: `span` leaves out a run of words; `phrase` leaves out a noun phrase or a prepositional phrase of up to a
            fifth of the words, if there is one.
        length: of a run: a `fifth` of the words, as the code of the paper does, by which people's penalty was
            recovered; or `any` number of words up to a fifth.
    """

    mode: Literal["span", "phrase"] = "span"
    length: Literal["fifth", "any"] = "fifth"
    info: ClassVar = worse(
        "leave out a run of words",
        (
            "We stood in the rain at the door of the inn until it was opened at last.",
            "We stood at the door of the inn until it was opened at last.",
        ),
        needs=(),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One run goes, with a comma that would be left dangling."""
        doc = case.doc
        n = len(doc.words)
        if n < _FEWEST:
            return Inapplicable("too short")
        if self.mode == "phrase" and not is_english(doc):
            return Inapplicable("language")
        most = max(1, int(_LONGEST * n))
        count = max(1, round(_LONGEST * n)) if self.length == "fifth" else rng.randint(1, most)
        picked = _run(doc, count, rng) if self.mode == "span" else _phrase(doc, most, rng)
        if picked is None:
            return Inapplicable("too short" if self.mode == "span" else "no phrase")
        draft = Draft(doc)
        draft.delete(picked.first, picked.last, pauses=True)
        draft.tidy()
        return draft.finish(dropped=doc.between(picked))


@dataclass(frozen=True, kw_only=True)
class Omission:
    """Leave out a share of the words.

    Args:
        fraction: the smallest and the largest share of the words: `(0.01, 0.20)`, `0.01-0.20` or `0.1`.
        mode: `contiguous` leaves out one run of words inside a sentence; `scattered` leaves out single words.

    Raises:
        SpecError: shares that are none, or in the wrong order.
    """

    fraction: tuple[float, float] | float | str = (0.01, 0.20)
    mode: Literal["contiguous", "scattered"] = "contiguous"
    info: ClassVar = attack(
        "leave out 1 to 20 % of the words",
        ("We waited in the rain for the last bus.", "We waited in the rain for the bus."),
        needs=(),
    )

    def __post_init__(self) -> None:
        """Read the share as a pair."""
        object.__setattr__(self, "fraction", _shares(self.fraction))
        checked(self)

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Words go, with marks that would be left without any."""
        doc = case.doc
        n = len(doc.words)
        low, high = _shares(self.fraction)
        most = math.floor(high * n + 1e-9)  # a share such as 0.2 of 5 is no less than 1
        if most < 1 or n < 2:
            return Inapplicable("too short")
        count = rng.randint(min(max(1, math.ceil(low * n - 1e-9)), most), most)
        if self.mode == "contiguous":
            run = _run(doc, count, rng)
            gone = [run] if run is not None else []
        else:
            gone = _scattered(doc, count, rng)
        if not gone:
            return Inapplicable("too short")
        draft = Draft(doc)
        for span in gone:
            draft.delete(span.first, span.last, pauses=self.mode == "contiguous")
        draft.tidy()
        return draft.finish(dropped=[doc.between(span) for span in gone])


@dataclass(frozen=True, kw_only=True)
class RepeatPhrases(Checked):
    """Say one phrase of a sentence again at its end.

    Args:
        joint: what joins the repeated phrase: a `comma`, `and`, or `any` of the two at random.
    """

    joint: Literal["comma", "and", "any"] = "comma"
    info: ClassVar = worse(
        "repeat a phrase at the end of its sentence",
        ("The bus stops at the mill.", "The bus stops at the mill, the bus."),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One insertion before the final mark of a sentence."""
        doc = case.doc
        phrases = _repeatable(doc)
        if not phrases:
            return Inapplicable("no phrase")
        phrase = rng.choice(phrases)
        joint = rng.choice(("comma", "and")) if self.joint == "any" else self.joint
        text = _inside_a_sentence(doc, phrase)
        draft = Draft(doc)
        draft.append(doc.sentences[doc.sentence_at[phrase.first]], text, joint=", " if joint == "comma" else " and ")
        return draft.finish(articles=False, repeated=text)


def _run(doc: Doc, length: int, rng: random.Random) -> Span | None:
    """A run of at most `length` words inside a sentence that has more, with brackets and quotes whole.

    None if no sentence has two words.
    """
    words, sizes = doc.words, _sizes(doc)
    for count in (min(length, max(sizes, default=0) - 1), 1):
        places = [doc.sentence_at[w.first] for w in words]
        starts = [
            i
            for i in range(len(words) - count + 1)
            if 0 < count < sizes[places[i]] and places[i] == places[i + count - 1]
        ]
        for i in rng.sample(starts, min(len(starts), _TRIES)):
            span = doc.span(words[i].first, words[i + count - 1].last)
            if count == 1 or _is_balanced(doc, span):
                return span
    return None


def _phrase(doc: Doc, most: int, rng: random.Random) -> Span | None:
    """A phrase that is not all of its sentence: of at most so many words, or else one of the shortest."""
    sizes, words = _sizes(doc), dict[Span, int]()
    behind_prepositions = prepositional_phrases(doc)
    covered = {i for p in behind_prepositions for i in range(p.first, p.last + 1)}
    for phrase in [*behind_prepositions, *(p for p in noun_phrases(doc) if p.first not in covered)]:
        count = len({*doc.word_at[phrase.first : phrase.last + 1]} - {None})
        if count < sizes[doc.sentence_at[phrase.first]] and _is_whole(doc, phrase) and _is_balanced(doc, phrase):
            words[phrase] = count
    if not words:
        return None
    limit = max(most, min(words.values()))
    return rng.choice([phrase for phrase, count in words.items() if count <= limit])


def _scattered(doc: Doc, count: int, rng: random.Random) -> list[Span]:
    """Words here and there, of no sentence all."""
    left = _sizes(doc)
    gone: list[Span] = []
    for word in rng.sample(doc.words, len(doc.words)):
        place = doc.sentence_at[word.first]
        if len(gone) < count and left[place] > 1:
            gone.append(word)
            left[place] -= 1
    return sorted(gone, key=lambda w: w.first)


def _sizes(doc: Doc) -> list[int]:
    """How many words each sentence has."""
    sizes = [0] * len(doc.sentences)
    for word in doc.words:
        sizes[doc.sentence_at[word.first]] += 1
    return sizes


def _is_balanced(doc: Doc, span: Span) -> bool:
    """Whether no bracket or quote in a span lacks its twin."""
    marks = [t.text for t in doc.tokens[span.first : span.last + 1]]
    paired = all(marks.count(a) == marks.count(b) for a, b in _TWINS.items())
    return paired and marks.count('"') % 2 == 0


def _is_whole(doc: Doc, span: Span) -> bool:
    """Whether a span begins and ends with a word."""
    first, last = doc.word_at[span.first], doc.word_at[span.last]
    if first is None or last is None:
        return False
    return doc.words[first].first == span.first and doc.words[last].last == span.last


def _repeatable(doc: Doc) -> Sequence[Span]:
    """Noun phrases that can be said again.

    Those of several words that do not end their sentence go first. Without any noun phrase, a subject with its verb is
    taken (`I am`).
    """
    phrases = [p for p in noun_phrases(doc) if _is_whole(doc, p)]
    last_words = {doc.sentence_at[w.first]: w.last for w in doc.words}
    early = [p for p in phrases if p.last < last_words.get(doc.sentence_at[p.first], -1)]
    several = [p for p in early if len({*doc.word_at[p.first : p.last + 1]} - {None}) > 1]
    if phrases:
        return several or early or phrases
    pairs = zip(doc.tokens, doc.tokens[1:], strict=False)
    return [doc.span(a.index, b.index) for a, b in pairs if a.tag == "PRP" and b.tag in ("MD", "VBP", "VBD", "VBZ")]


def _inside_a_sentence(doc: Doc, phrase: Span) -> str:
    """The phrase without the capital that only the head of a sentence gave it."""
    text, first = doc.between(phrase), doc.tokens[phrase.first]
    quoted = first.index > 0 and doc.tokens[first.index - 1].text in _QUOTES
    keeps = is_name_like(first) or (text.isupper() and len(text) > 1)
    return text if keeps or not (quoted or doc.starts_sentence(first.index)) else text[0].lower() + text[1:]


def _shares(fraction: tuple[float, float] | float | str) -> tuple[float, float]:
    try:
        parts = (
            fraction.split("-")
            if isinstance(fraction, str)
            else fraction
            if isinstance(fraction, Sequence)
            else [fraction]
        )
        shares = [float(part) for part in parts]
    except (TypeError, ValueError):
        shares = []
    if not 1 <= len(shares) <= 2 or not 0 <= shares[0] <= shares[-1] < 1:
        raise SpecError(
            f"omission:fraction is {fraction!r}, expected one or two shares of the words below 1, as in 0.01-0.20"
        )
    return shares[0], shares[-1]
