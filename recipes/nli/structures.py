"""Clauses turned round by their grammar.

The passive, subject and object exchanged, a phrase moved from the front to the end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nlgauge.text import Doc
from nlgauge.text.languages import language
from nlgauge.text.tagging import is_name_like

_BEFORE = {"DT", "JJ", "CD", "PRP$", "NN", "NNP", "VBG"}
_HEAD = {"NN", "NNS", "NNP", "NNPS"}
_NO_PASSIVE = {
    "be",
    "have",
    "become",
    "seem",
    "remain",
    "cost",
    "lack",
    "resemble",
    "equal",
    "mean",
    "get",
    "let",
    "say",
    "go",
    "come",
    "look",
    "stand",
    "sit",
    "walk",
    "run",
    "sleep",
    "lie",
    "live",
    "stay",
    "appear",
    "happen",
    "feel",
    "like",
    "want",
    "need",
    "begin",
    "start",
    "try",
    "sound",
}
_BOTH_WAYS = {
    "be",
    "meet",
    "marry",
    "equal",
    "resemble",
    "become",
    "remain",
    "join",
    "seem",
    "mean",
    "kiss",
    "hug",
    "fight",
    "face",
}
_AUX = {"is", "are", "was", "were"}


@dataclass(frozen=True)
class Clause:
    """Subject, verb and object at the beginning of a sentence."""

    subject: str
    auxiliary: str  # is, are, was or were before a participle; empty before a finite verb
    verb: str
    tag: str
    lemma: str
    object: str
    rest: str
    singular: tuple[bool, bool]  # subject, object
    ends_in_names: tuple[bool, bool]


def _phrase(doc: Doc, start: int) -> int | None:
    """The last token of a noun phrase that begins here."""
    tokens, i = doc.tokens, start
    while i < len(tokens) and tokens[i].tag in _BEFORE | _HEAD:
        i += 1
    if i == start or tokens[i - 1].tag not in _HEAD:
        return None
    if tokens[start].tag not in ("DT", "PRP$", "CD", "NNP", "NNPS", "NNS", "JJ"):
        return None
    return i - 1


def clause(text: str) -> Clause | None:
    """What a sentence with a plain clause at its head is made of."""
    known = language()
    doc = known.analyse(text)
    tokens = doc.tokens
    if len(doc.sentences) != 1 or not tokens:
        return None
    last = _phrase(doc, 0)
    if last is None or last + 2 >= len(tokens):
        return None
    at = last + 1
    auxiliary = ""
    if tokens[at].lower in _AUX and tokens[at + 1].tag == "VBG":
        auxiliary, at = tokens[at].text, at + 1
    verb = tokens[at]
    if verb.tag not in (("VBG",) if auxiliary else ("VBD", "VBZ")) or at + 1 >= len(tokens):
        return None
    end = _phrase(doc, at + 1)
    if end is None or (
        end + 1 < len(tokens) and tokens[end + 1].tag in ("POS", "CC", "VBD", "VBZ", "VBP", "MD", "CD", "WDT", "WP")
    ):
        return None
    if (
        end + 1 < len(tokens)
        and tokens[end + 1].text == ","
        and end + 2 < len(tokens)
        and tokens[end + 2].tag not in ("CC", "IN")
    ):
        return None
    spans = (0, last), (at + 1, end)
    texts = [text[tokens[a].start : tokens[b].end] for a, b in spans]
    rest = text[tokens[end].end :]
    return Clause(
        texts[0],
        auxiliary,
        verb.text,
        verb.tag,
        known.lemma(verb.text, verb.tag),
        texts[1],
        rest,
        (tokens[last].tag in ("NN", "NNP"), tokens[end].tag in ("NN", "NNP")),
        (is_name_like(tokens[0]), is_name_like(tokens[at + 1])),
    )


def _first(text: str, was_capital: bool) -> str:
    return text[0].upper() + text[1:] if was_capital else text


def _inner(text: str, is_name: bool) -> str:
    return text if is_name or (len(text) > 1 and text[1].isupper()) else text[0].lower() + text[1:]


def passive(text: str) -> str | None:
    """The clause in the passive, which says the same."""
    found = clause(text)
    if (
        found is None
        or found.lemma in _NO_PASSIVE
        or re.search(r"\b(each|every|no|any|itself|himself|herself|themselves)\b", text.lower())
    ):
        return None
    participle = language().inflect(found.lemma, "VBN")
    if participle is None:
        return None
    past = found.tag == "VBD" or found.auxiliary.lower() in ("was", "were")
    be = ("was" if past else "is") if found.singular[1] else ("were" if past else "are")
    being = " being" if found.auxiliary else ""
    return (
        f"{_first(found.object, text[0].isupper())} {be}{being} {participle} by"
        f" {_inner(found.subject, found.ends_in_names[0])}{found.rest}"
    )


def swapped(text: str) -> str | None:
    """Subject and object exchanged, which says something else."""
    found = clause(text)
    if found is None or found.lemma in _BOTH_WAYS or found.subject.lower() == found.object.lower():
        return None
    if found.singular[0] != found.singular[1] and (found.tag != "VBD" or found.auxiliary):
        return None
    verb = f"{found.auxiliary} {found.verb}".strip()
    subject = _first(found.object, text[0].isupper())
    return f"{subject} {verb} {_inner(found.subject, found.ends_in_names[0])}{found.rest}"


_FRONT = re.compile(r"^((?:In|On|At|During|After|Since|For|With|Under|From) [\w' -]{2,40}), ((?:[^,;:]+))([.!])$")


def fronted(text: str) -> str | None:
    """A phrase of place or time moved from the front to the end, which says the same."""
    found = _FRONT.match(text)
    if found is None:
        return None
    doc = language().analyse(found[2])
    if not doc.tokens or any(t.tag in ("VBD", "VBZ", "VBP", "MD") for t in language().analyse(found[1]).tokens):
        return None
    head = found[2] if found[2].startswith("I ") else _first(found[2], True)
    return f"{head} {found[1][0].lower()}{found[1][1:]}{found[3]}"
