"""Answers that fit a question phrase: a name, a place, a date, a number, a thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from nlgauge.text.doc import Doc, Token
from nlgauge.text.english.questions import BE, Question
from nlgauge.text.lexicon import lemma, supersense
from nlgauge.text.scripts import data_lines

PERSONS = ("Mary Jones", "Peter Brown", "Anna Clark", "David Miller")
PLACES = ("London", "Canada", "Boston", "Vienna")
YEARS = ("1950", "1987", "2004", "1912")
THINGS = ("something new", "something else", "something small")
MANY_THINGS = ("two new things", "a few small things")
NUMBERS = ("two", "three", "twelve", "twenty")
REASONS = ("for a good reason", "because of the weather", "for two reasons")
MANNERS = ("in the usual way", "with great care", "in a new way")
STATES = ("fine", "well")

_KINDS = frozenset({"kind", "type", "sort", "class", "form"})


def head(doc: Doc, first: int, last: int) -> Token:
    """The noun that a phrase is about: the last before what hangs on it by `of`, or by another preposition."""
    for place in range(first + 1, last + 1):
        if doc.tokens[place].tag in ("IN", "TO", ",") and doc.tokens[place - 1].tag[0] in "NPC":
            return doc.tokens[place - 1]
    return doc.tokens[last]


def asked(noun: Token) -> tuple[str, tuple[str, ...]] | None:
    """The preposition and the answers that go with a noun: "in" and years for "year".

    None if only the noun itself can be said again.
    """
    base = lemma(noun.lower, noun.tag)
    entry = _asked().get(base)
    return ("", PERSONS) if entry is None and noun.tag == "NN" and supersense(base, "noun") == "noun.person" else entry


def of_kind(noun: Token) -> Sequence[str]:
    """The kinds of answer to a noun: a place for "capital", a person for "director"."""
    base = lemma(noun.lower, noun.tag)
    if noun.tag in ("NNS", "NNPS"):
        return MANY_THINGS
    if base in _asked():
        return _asked()[base][1]
    if noun.tag == "NNP":
        return THINGS
    return _asked().get(supersense(base, "noun") or "", ("", THINGS))[1]


def nominal(doc: Doc, question: Question, plural: bool) -> tuple[str, Sequence[str], str]:
    """For a question phrase that asks for a thing: what stands before the answer, the answers, what stands behind."""
    tokens, wh, last = doc.tokens, question.wh, question.last
    word, behind = tokens[wh].lower, doc.text[tokens[wh].end : tokens[last].end].strip()
    if word == "how":
        noun = doc.text[tokens[wh + 1].end : tokens[last].end].strip() if last > wh + 1 else ""
        if tokens[wh + 1].lower in ("many", "few"):
            return "", NUMBERS[1:], f" {noun}" if noun else ""
        sums = (
            ("ten dollars", "two dollars")
            if question.verb >= 0 and tokens[question.verb].lower in BE
            else ("a lot", "a little")
        )
        return "", ("a lot of", "a little") if noun else sums, f" {noun}" if noun else ""
    if last > wh and tokens[wh + 1].lower == "of":
        return "", ("one",), f" {behind}"
    if word == "whose":
        return "", ("Mary's", "Peter's"), f" {behind}" if behind else ""
    if word in ("who", "whom"):
        return "", (f"{PERSONS[0]} and {PERSONS[1]}", f"{PERSONS[2]} and {PERSONS[3]}") if plural else PERSONS, ""
    if last == wh or tokens[wh + 1].lower in ("else", "exactly"):
        return "", MANY_THINGS if plural else THINGS, ""
    noun_token = head(doc, wh + 1, last)
    answers = None if noun_token.lower == "number" and noun_token.index > wh + 1 else asked(noun_token)
    if answers is not None and noun_token.tag in ("NN", "NNP"):
        return "", answers[1], ""
    if noun_token.tag in ("NNS", "NNPS"):
        return "", ("these", "the same", "two"), f" {behind}"
    return "", ("another", "a certain") if noun_token.lower not in _KINDS else ("another", "the same"), f" {behind}"


@cache
def _asked() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Nouns, and fields of meaning of nouns, with the preposition and the answers that go with them."""
    rows = (line.split("\t") for line in data_lines("answers.tsv"))
    return {noun: (preposition, tuple(answers.split("|"))) for noun, preposition, answers in rows}
