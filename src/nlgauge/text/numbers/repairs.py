"""Repairs around a new number: a and an, the capital of a sentence, hyphens of a compound."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from nlgauge.text.lexicon.articles import article_before
from nlgauge.text.numbers.tables import MONTH, neighbours
from nlgauge.text.sentences import sentence_spans
from nlgauge.text.wordlists import WordList

Edit = tuple[int, int, str]

_NEAR = 40  # characters looked back; a bound keeps the work linear in the text
_ARTICLE = re.compile(r"(?<![\w'’.-])(?P<article>an?|An?|AN)[ \u00a0][\"“‘'(]?$")
_TRAILING_OFF = re.compile(r"(?:\.\.|…)\s*$")
_QUOTED = re.compile(r"[,:][ \u00a0][\"“‘]$")
_DETERMINER = re.compile(
    r"(?i)(?:(?<!\w)(?:an?|the|this|that|its|his|her|their|our|my|your|each|every|another|some|any)|['’]s)(?P<between>"
    r" [a-z]+){0,2} $"
)
_NEXT = re.compile(r"[ \u00a0](?P<word>[^\W\d_][\w'’-]*)")
_AFTER_AMOUNT = WordList("numbers", "behind amounts")
_DAY = re.compile(rf"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|{MONTH}")
_MODIFIER = ("JJ", "JJR", "JJS", "VBG", "VBN", "CD", "HYPH")


def with_article(text: str, edit: Edit, start: int) -> list[Edit]:
    """An edit of a number whose expression begins at `start`.

    An edit of "a" or "an" goes before it if the article must change.
    """
    match = _ARTICLE.search(text, max(0, start - 5), start)
    if not match:
        return [edit]
    old, article = match["article"], article_before(text[start : edit[0]] + edit[2])
    if article == old.lower():
        return [edit]
    return [(match.start(), match.end("article"), article.capitalize() if old[0].isupper() else article), edit]


def with_capital(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """The same edits, with a capital where one begins a sentence."""
    if not edits:
        return []
    sentences = iter(sentence_spans(text))
    first, last = next(sentences, (0, 0))
    out = []
    for start, end, new in edits:
        while last <= start and (following := next(sentences, None)):
            first, last = following
        begins = start - first <= _NEAR and not any(c.isalnum() for c in text[first:start])
        if (begins and not _TRAILING_OFF.search(text, max(0, first - 4), first)) or _QUOTED.search(
            text, max(0, start - 4), start
        ):
            new = new[:1].upper() + new[1:]
        out.append((start, end, new))
    return out


def is_attributive(text: str, start: int, end: int, tags: Mapping[int, str]) -> bool:
    """Whether an amount stands before a noun that it describes: "the $800 billion gap", not "spent $5 yesterday".

    Args:
        text: the text.
        start, end: of the amount.
        tags: Penn Treebank tags by the offset at which a word starts; without them the words around decide.
    """
    match = _NEXT.match(text, end)
    if not match:
        return False
    word, determined = match["word"], _determined(text, start)
    if len(word) == 1 or word.lower() in _AFTER_AMOUNT or _DAY.fullmatch(word):
        return False
    tag = tags.get(match.start("word"))
    if _ARTICLE.search(text, max(0, start - 5), start):  # "a $100" can only describe
        return word not in neighbours("function")
    if tag is None:
        return determined and word not in neighbours("function") and not word.endswith(("ed", "ly"))
    if tag.startswith("NN") or (determined and tag in ("VB", "VBP")):  # no verb can follow there: the 5 km ride
        return True
    steps = 0
    while determined and tag in _MODIFIER and steps < 3:
        match = _NEXT.match(text, match.end())
        if not match:
            return False
        tag, steps = tags.get(match.start("word"), ""), steps + 1
        if tag.startswith("NN"):
            return True
    return False


def _determined(text: str, start: int) -> bool:
    """Whether a determiner stands before an amount, with at most two adjectives between."""
    match = _DETERMINER.search(text, max(0, start - _NEAR), start)
    return match is not None and not any(
        word in neighbours("function") for word in text[match.start() : start].split()[1:]
    )


def is_hyphenated(text: str, end: int) -> bool:
    """Whether a hyphen binds a number to the word behind it: 8-year-old."""
    return text[end : end + 1] in ("-", "‑") and text[end + 1 : end + 2].isalpha()
