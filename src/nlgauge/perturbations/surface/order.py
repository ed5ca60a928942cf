"""Perturbations of the surface: punctuation and the order of words."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import ClassVar, Literal

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, worse
from nlgauge.perturbations.draft import Draft
from nlgauge.text.doc import Doc
from nlgauge.text.tagging import is_name_like

_MARKS = (",", ";", ":")
_NEVER_BEFORE_COMMA = frozenset({"DT", "PRP$", "IN", "TO", "MD"})


@dataclass(frozen=True, kw_only=True)
class RemovePunctuation(Checked):
    """Take punctuation away, or put a comma where none belongs.

    Args:
        mode: `remove` removes every mark outside words and numbers; `misplace` puts a comma behind a word where none
            belongs, and takes one of the text away, if it has any.
    """

    mode: Literal["remove", "misplace"] = "remove"
    info: ClassVar = worse("remove punctuation, or misplace a mark", ("Well, I can try.", "Well I can try"), needs=())

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Edits at marks outside words and numbers."""
        doc = case.doc
        marks = [t.index for t in doc.tokens if t.is_punctuation and doc.word_at[t.index] is None]
        if self.mode == "remove":
            draft = Draft(doc)
            for index in marks:
                draft.delete(index, index)
            return draft.finish(removed=len(marks)) if marks else Inapplicable("no punctuation")
        return self._misplaced(doc, marks, rng)

    def _misplaced(self, doc: Doc, marks: list[int], rng: random.Random) -> Change | Inapplicable:
        movable = [i for i in marks if doc.tokens[i].text in _MARKS]
        mark = rng.choice(movable) if movable else None
        behind = [w.last for w in doc.words if w.last + 1 < len(doc.tokens) and doc.word_at[w.last + 1] is not None]
        behind = [i for i in behind if mark is None or not mark - 2 <= i <= mark]
        if not behind:
            return Inapplicable("too short")
        wrong = [i for i in behind if doc.tokens[i].tag in _NEVER_BEFORE_COMMA]
        draft, place = Draft(doc), rng.choice(wrong or behind)
        if mark is not None:
            draft.delete(mark, mark)
        draft.insert_after(place, ",", blank=False)
        return draft.finish(mark=None if mark is None else doc.tokens[mark].text, behind=doc.tokens[place].text)


@dataclass(frozen=True, kw_only=True)
class JumbleWords(Checked):
    """Shuffle the words; punctuation stays where it stands.

    Args:
        recase: give the new first word of a sentence a capital, and take it from the old one.
        keep_punctuation: leave punctuation marks where they are; if false, they are shuffled with the words.
    """

    recase: bool = True
    keep_punctuation: bool = True
    info: ClassVar = worse("shuffle the order of the words", ("The bus came late.", "Late bus the came."), needs=())

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Another order of the words, one edit per place that changes."""
        doc = case.doc
        slots = list(doc.words)
        if not self.keep_punctuation:
            slots += [doc.span(t.index, t.index) for t in doc.tokens if doc.word_at[t.index] is None]
            slots.sort(key=lambda s: s.first)
        words = [doc.between(s) for s in slots]
        folded = [w.casefold() for w in words]
        if len(set(folded)) < 2:
            return Inapplicable("too short")
        order = list(range(len(words)))
        while [folded[i] for i in order] == folded:
            rng.shuffle(order)
        if self.recase:
            words = [self._plain(doc, slot.first, word) for slot, word in zip(slots, words, strict=True)]
        draft = Draft(doc)
        for slot, i in zip(slots, order, strict=True):
            if words[i] != doc.between(slot):
                draft.replace(slot.first, slot.last, words[i], cased=False)
        return draft.finish(capitals=self.recase, articles=False)

    @staticmethod
    def _plain(doc: Doc, index: int, word: str) -> str:
        """The word without the capital that only its place at the head of a sentence gave it."""
        head = doc.starts_sentence(index) and not is_name_like(doc.tokens[index]) and not word[1:].isupper()
        return word[:1].lower() + word[1:] if head else word
