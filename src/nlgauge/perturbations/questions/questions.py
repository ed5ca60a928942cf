"""Perturbations of questions: another question word, none, or no question at all."""

from __future__ import annotations

import random
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

from nlgauge.core.options import Checked, checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, apply_edits, worse
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.questions.declaratives import Choose, declare
from nlgauge.perturbations.synthesis.infill import Gap, Infill, check_infill, infill
from nlgauge.text.doc import Doc, Token
from nlgauge.text.english.questions import ADVERBS, NOUNS, VERBS, WH, Question, full_form, questions

_ANY = ("who", "what", "when", "where", "why", "how")
_QUANTITIES = frozenset({"many", "much", "few", "little"})
_GAP = "\ue000"  # of no use in texts: marks where a statement has its gap
_OFFERED = 10
_NO_QUESTION = Inapplicable("not a question")


@dataclass(frozen=True, kw_only=True)
class ChangeQuestionWord:
    """Put another question word in the place of the one that asks: "When" becomes "Where"; relative pronouns stay.

    Of "how many", "how long" and their like both words go. The new word fits the words around it: a pronoun before a
    verb without another subject, a determiner before a noun, else any that the question can be read with.
    """

    info: ClassVar = worse("change the question word", ("When did the shop close?", "Where did the shop close?"))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit at the interrogative of one question."""
        doc = case.doc
        asking = _asking(doc)
        if isinstance(asking, Inapplicable):
            return asking
        question = rng.choice(asking)
        last = _words_end(doc, question)
        old = doc.text[doc.tokens[question.wh].start : doc.tokens[last].end]
        new = rng.choice(_replacements(doc, question, last))
        draft = Draft(doc)
        draft.replace(question.wh, last, new)
        return draft.finish(old=old, new=new)


@dataclass(frozen=True, kw_only=True)
class DropQuestionWord(Checked):
    """Take the question word away from the start of a question: "When was he born?" becomes "Was he born?".

    Args:
        drop_how_many: drop both words of "how many", "how old" and the like; if false, only "how".
    """

    drop_how_many: bool = True
    info: ClassVar = worse("drop the question word", ("When did the shop close?", "Did the shop close?"))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit at the start of one question."""
        doc = case.doc
        asking = _asking(doc)
        if isinstance(asking, Inapplicable):
            return asking
        starting = [q for q in asking if q.at_start]
        if not starting:
            return Inapplicable("question word inside")
        question = rng.choice(starting)
        tokens, last = doc.tokens, _words_end(doc, question)
        if not self.drop_how_many and tokens[question.wh].lower == "how":
            last = question.wh
        first = (
            question.opens if last == question.last else question.wh
        )  # a preposition goes with its pronoun: "to whom"
        if last + 1 >= question.end:
            return Inapplicable("too short")
        draft = Draft(doc)
        clitic = tokens[last + 1]
        if doc.touches(last + 1) and clitic.text[0] in "'’":  # "What's he doing?" -> "Is he doing?"
            draft.replace(first, last + 1, full_form(doc, last + 1))
        else:
            draft.delete(first, last)
            if tokens[first].text[0].isupper() and not doc.starts_sentence(
                first
            ):  # a question that is quoted keeps its capital
                word = clitic.text
                draft.replace(last + 1, last + 1, word[0].upper() + word[1:], cased=False)
        return draft.finish(dropped=doc.text[tokens[first].start : tokens[last].end])


@dataclass(frozen=True, kw_only=True)
class QuestionToAssertion:
    """Turn a question into a statement: "Where did she live?" becomes "She lived in London.".

    The subject stands before the verb, "do" gives way to the form of the verb, and what was asked for is named: a
    person, a place, a date, a number, a thing. Questions to be answered by yes or no become their "yes".

    Args:
        infill: where the answer comes from: `table` draws it from a short list; the other values are those of
            `mask_and_predict`.
    """

    infill: str | Infill = "table"
    info: ClassVar = worse(
        "turn a question into a statement", ("Where did she live?", "She lived in London."), needs=("english", "infill")
    )

    def __post_init__(self) -> None:
        if self.infill != "table":
            check_infill(self.infill)
        checked(self)

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The edits that turn one question of the text round."""
        asked = questions(case.doc)
        if not asked:
            return _NO_QUESTION
        failed: Inapplicable | None = None
        words = {t.lower for t in case.doc.tokens}
        for question in rng.sample(asked, len(asked)):
            change = self._made(case, question, words, rng)
            if isinstance(change, Change):
                return change
            failed = failed or change
        return failed or _NO_QUESTION

    def _made(self, case: Case, question: Question, words: Set[str], rng: random.Random) -> Change | Inapplicable:
        chosen: list[str] = []

        def choose(options: Sequence[str]) -> str:
            absent = [o for o in options if o.split()[-1].lower() not in words]
            chosen.append(rng.choice(absent or list(options)))
            return chosen[-1]

        def finished(chooser: Choose) -> Change | Inapplicable:
            draft = Draft(case.doc)
            failed = declare(draft, question, case.language, chooser)
            return failed or draft.finish(filler=chosen[-1] if chosen else None)

        change = finished(choose)
        if self.infill == "table" or not chosen or isinstance(change, Inapplicable):
            return change
        marked = finished(lambda _: _GAP)
        whole = apply_edits(case.text, marked.edits) if isinstance(marked, Change) else ""
        at = whole.upper().find(_GAP.upper())
        if at < 0:
            return change
        gap = Gap(whole[:at] + chosen[-1] + whole[at + len(_GAP) :], at, at + len(chosen[-1]))
        offered = [f.word for f in infill(self.infill, case.language, rng).fill([gap], _OFFERED)[0]]
        fit = next((w for w in offered if w.strip() and w.lower() not in WH), None)
        if fit is None:
            return change
        chosen.append(fit)
        return finished(lambda _: fit)


def _asking(doc: Doc) -> list[Question] | Inapplicable:
    """The questions of a text that ask with a question word, or why there are none."""
    asked = questions(doc)
    asking = [q for q in asked if q.wh >= 0 and not q.fixed]
    return asking or (Inapplicable("no question word") if asked else _NO_QUESTION)


def _words_end(doc: Doc, question: Question) -> int:
    """The last token of the question words alone, without the noun behind them: who else, how many, how old."""
    tokens, wh = doc.tokens, question.wh
    if question.last == wh:
        return wh
    if tokens[wh].lower == "how" or tokens[wh + 1].tag == "CC":
        return wh + 1 if tokens[wh].lower == "how" else question.last
    return wh + 1 if tokens[wh + 1].lower in ("else", "exactly") else wh


def _replacements(doc: Doc, question: Question, last: int) -> tuple[str, ...]:
    """Question words that can stand where one stands."""
    tokens, old = doc.tokens, doc.tokens[question.wh].lower
    governed = question.opens < question.wh or _stranded(doc, question)
    if last < question.last and tokens[last + 1].lower != "of":  # before a noun
        countable = _head(doc, last + 1, question.last).tag in ("NNS", "NNPS") and all(
            t.tag != "CD" for t in tokens[last : question.last]
        )
        if old in ("what", "which"):
            return ("whose", "how many") if countable else ("whose",)
        return ("what", "which") if old == "whose" else ("which", "whose")
    if last < question.last:  # "which of the two", "how many of them"
        return ("who", "how many") if old == "which" else ("which",)
    if old == "how" and last > question.wh:
        if tokens[last].lower in _QUANTITIES and not question.inverted:
            return ("who", "what")
        return ("when", "where", "why")
    if governed:
        others: tuple[str, ...] = ("who", "what", "which")
    elif question.verb < 0:
        others = _ANY
    elif not question.inverted and old not in ADVERBS:
        others = ("who", "what")
    elif old in ADVERBS:
        others = ("when", "where", "why", "how")
    else:
        others = _ANY
    same = {"whom": "who", "which": "what"}.get(old, old)
    return tuple(w for w in others if w not in (old, same)) or ("what",)


def _stranded(doc: Doc, question: Question) -> bool:
    """Whether the question ends with a preposition that governs its pronoun: "what is he looking at?"."""
    tokens = doc.tokens
    final = question.end - 1
    return (
        final > question.last
        and tokens[final].tag in ("IN", "TO")
        and tokens[final - 1].tag in (*VERBS, *NOUNS, "JJ", "RB", "PRP")
    )


def _head(doc: Doc, first: int, last: int) -> Token:
    """The noun that a phrase is about: the last before what hangs on it by `of`."""
    for place in range(first, last + 1):
        if doc.tokens[place].lower == "of" and place > first:
            return doc.tokens[place - 1]
    return doc.tokens[last]
