"""Related words chosen by hand for frequent words, and set phrases of adjective and noun. They precede the lexicon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from nlgauge.text.wordlists import data_lines

_NONE = "-"


class OwnWord(NamedTuple):
    """A related word, and the supersenses of the nouns with which it may be used; empty for any noun."""

    word: str
    fields: frozenset[str]


def own_words(lemma: str, pos: str, relation: str) -> Sequence[OwnWord] | None:
    """Words chosen by hand, best first. [] if no word is suitable; None if the lexicon is to be used."""
    return _table().get((lemma, pos, relation))


def in_set_phrase(adjective: str, noun: str) -> bool:
    """Whether adjective and noun are one expression, in which another adjective would mean something else.

    Examples: `high school`, `real estate`.
    """
    nouns = _set_phrases().get(adjective)
    return nouns is not None and (
        noun in nouns or noun.removesuffix("s") in nouns or (noun.endswith("ies") and f"{noun[:-3]}y" in nouns)
    )


@cache
def _table() -> Mapping[tuple[str, str, str], Sequence[OwnWord]]:
    table: dict[tuple[str, str, str], Sequence[OwnWord]] = {}
    pos = relation = ""
    for line in data_lines("thesaurus.txt"):
        if line.startswith("["):
            pos, relation = line.strip("[]").split(" ")
            continue
        for entry in line.split("; "):
            lemma, words = entry.split(": ")
            table[lemma, pos, relation] = () if words == _NONE else tuple(map(_own_word, words.split(" ")))
    return table


def _own_word(written: str) -> OwnWord:
    word, _, fields = written.partition("@")
    return OwnWord(word, frozenset(fields.split("+")) if fields else frozenset())


@cache
def _set_phrases() -> Mapping[str, frozenset[str]]:
    return {
        adjective: frozenset(nouns.split(" "))
        for adjective, nouns in (line.split("\t") for line in data_lines("set_phrases.tsv"))
    }
