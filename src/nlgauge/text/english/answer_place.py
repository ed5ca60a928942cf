"""Where a statement says what was asked: behind which word of the question the answer belongs."""

from __future__ import annotations

from nlgauge.text.doc import Doc
from nlgauge.text.english.inversion import Clause
from nlgauge.text.english.question_phrases import NOUNS, VERBS, nouns_end
from nlgauge.text.english.questions import Question
from nlgauge.text.lexicon.inflection import lemma
from nlgauge.text.wordlists import WordList

_CATENATIVE = WordList("grammar", "catenative")
_JOINING = frozenset("when if because although though while since until unless before after as whereas".split())


def answer_place(doc: Doc, question: Question, clause: Clause, identity: bool, adverbial: bool) -> int | None:
    """The token behind which the answer is said; None where there is no telling."""
    tokens, end = doc.tokens, question.end
    start = clause.subject_last if clause.main is None else clause.main
    graded = (
        question.last > question.wh
        and tokens[question.wh].lower == "how"
        and tokens[question.wh + 1].tag in ("JJ", "JJR")
    )
    if clause.main is None and (graded or not adverbial):
        if tokens[end - 1].tag in ("IN", "TO") and end - 1 > start:
            return end - 1
        return start if graded or identity or tokens[clause.subject].tag == "EX" else None
    if not adverbial and clause.main is not None:
        return _object_place(doc, clause.main, end)
    return _close(doc, start, end)


def _object_place(doc: Doc, main: int, end: int) -> int:
    tokens = doc.tokens
    for i in range(main + 1, end):  # a preposition without what it governs
        if (
            tokens[i].tag in ("IN", "TO")
            and (i + 1 >= end or tokens[i + 1].tag in ("IN", ",", "WRB"))
            and tokens[i].lower not in _JOINING
        ):
            return i
    verb = main
    while verb + 1 < end:  # "hope to find", "keep doing"
        skip = 2 if tokens[verb + 1].tag == "TO" and verb + 2 < end and tokens[verb + 2].tag == "VB" else 1
        if tokens[verb].tag in VERBS and lemma(tokens[verb].lower, tokens[verb].tag) not in _CATENATIVE:
            break
        passive = tokens[verb].lower in ("be", "been", "being", "have") and tokens[verb + skip].tag == "VBN"
        if tokens[verb + skip].tag not in ("VB", "VBG") and not passive:
            break
        verb += skip
    if verb + 1 < end and tokens[verb + 1].tag == "RP":
        verb += 1
    if verb + 1 < end and _begins_phrase(doc, verb + 1, end):
        return _close(doc, verb, end)
    return verb


def _begins_phrase(doc: Doc, place: int, end: int) -> bool:
    token = doc.tokens[place]
    if token.lower in ("today", "tomorrow", "yesterday", "tonight"):
        return False
    return token.tag in ("DT", "PRP", "PRP$", "CD", "EX", *NOUNS) or (
        token.tag == "JJ" and nouns_end(doc, place, end) is not None
    )


def _close(doc: Doc, start: int, end: int) -> int:
    """The last token of the clause: before a comma or a clause of time, cause or condition."""
    tokens = doc.tokens
    for i in range(start + 1, end):
        if tokens[i].text in (",", ";", ":") or (
            tokens[i].lower in _JOINING and tokens[i].tag in ("IN", "WRB") and _has_verb(doc, i, end)
        ):
            return i - 1
    return end - 1


def _has_verb(doc: Doc, first: int, end: int) -> bool:
    return any(t.tag in ("VBD", "VBP", "VBZ", "MD") for t in doc.tokens[first:end])
