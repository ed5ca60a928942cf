"""Perturbations that part stop words from the words that carry the content."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, worse
from nlgauge.perturbations.draft import Draft
from nlgauge.text.doc import Doc
from nlgauge.text.english.questions import questions
from nlgauge.text.scripts import data_lines

_CLITICS = frozenset({"n't", "'s", "'re", "'ve", "'ll", "'d", "'m"})
_ALSO_NAMES = frozenset(
    {"may", "will", "us", "it", "who", "i", "a", "no"}
)  # May, Will, US, IT, WHO, Henry I, vitamin A, Dr No
_ALSO_ACRONYMS = frozenset({"us", "it", "who"})


@dataclass(frozen=True, kw_only=True)
class DropStopwords(Checked):
    """Leave the words that carry content alone.

    Args:
        keep_question_word: keep the word that asks, whether or not the question ends in a mark.
    """

    keep_question_word: bool = False
    info: ClassVar = worse("drop all stop words", ("The boats are in the old harbour.", "Boats old harbour."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Every stop word goes, with its clitics and with marks left without words."""
        doc = case.doc
        stopped = stopwords(doc)
        if self.keep_question_word:
            asking = {question.wh for question in questions(doc)}  # with a mark at the end or without
            stopped = [s and word.first not in asking for s, word in zip(stopped, doc.words, strict=True)]
        if not any(stopped):
            return Inapplicable("no stop word")
        if all(stopped):
            return Inapplicable("only stop words")
        draft = Draft(doc)
        for word, stop in zip(doc.words, stopped, strict=True):
            if stop:
                draft.delete(word.first, word.last)
        draft.tidy()
        return draft.finish(dropped=sum(stopped))


@dataclass(frozen=True, kw_only=True)
class KeepOnlyStopwords(Checked):
    """Drop the words that carry content.

    Args:
        keep_punctuation: leave punctuation marks where they are.
    """

    keep_punctuation: bool = False
    info: ClassVar = worse("keep only the stop words", ("The boats are in the old harbour.", "The are in the"))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Every other word goes."""
        doc = case.doc
        stopped = stopwords(doc)
        if not any(stopped):
            return Inapplicable("no stop word")
        if all(stopped):
            return Inapplicable("only stop words")
        draft, places = Draft(doc), doc.word_at
        for token in doc.tokens:
            place = places[token.index]
            if not (self.keep_punctuation if place is None else stopped[place]):
                draft.delete(token.index, token.index)
        return draft.finish(articles=False, stops=False, dropped=len(stopped) - sum(stopped))


def stopwords(doc: Doc) -> list[bool]:
    """For each word of a text whether it is a stop word; a clitic that stands alone goes with the word before it."""
    table, mixed = _table(), not doc.text.isupper()
    flags: list[bool] = []
    for word in doc.words:
        tokens = doc.tokens[word.first : word.last + 1]
        head, lower = tokens[0], doc.between(word).lower().replace("’", "'")
        if lower in _CLITICS:
            stop = bool(flags) and flags[-1]
        elif lower in table:
            named = head.tag in ("NNP", "NNPS") and lower in _ALSO_NAMES and head.text[0].isupper()
            stop = not named and not (mixed and lower in _ALSO_ACRONYMS and head.text.isupper())
        else:  # he'll, couldn't've; and/or
            parts = [t.lower for t in tokens]
            stop = head.lower in table and all(
                p in _CLITICS or p == "/" or (p in table and "/" in parts) for p in parts[1:]
            )
        flags.append(stop)
    return flags


@cache
def _table() -> frozenset[str]:
    return frozenset(word for line in data_lines("stopwords.txt") for word in line.split())
