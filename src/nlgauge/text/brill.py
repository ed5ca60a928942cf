"""The likeliest part of speech of each of 80,000 English words: the lexicon of Brill's tagger."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType


def known_tags(word: str) -> tuple[str, ...]:
    """Penn Treebank tags on record for a word; none for a word not on record.

    The word counts as written, in lower case and with a capital, in this order: "May" is a name and a modal verb, "london" a name.
    """
    table = _table()
    word = word.replace("’", "'")
    lower = word.lower()
    return tuple(dict.fromkeys(table[form] for form in (word, lower, lower.capitalize()) if form in table))


def keeps_capital(word: str) -> bool:
    """Whether a word is on record with its capital and not in small letters: `German`, `Monday`."""
    table = _table()
    return word[:1].isupper() and word in table and word.lower() not in table


@cache
def words_by_tag() -> Mapping[str, tuple[str, ...]]:
    """Words on record under each Penn Treebank tag, in order of spelling; a word stands under its likeliest tag alone."""
    packed = resources.files("nlgauge.data").joinpath("language", "brill.txt.gz").read_bytes()
    lines = gzip.decompress(packed).decode().splitlines()
    return MappingProxyType({tag: tuple(words) for tag, *words in map(str.split, lines)})


@cache
def _table() -> dict[str, str]:
    return {word: tag for tag, words in words_by_tag().items() for word in words}
