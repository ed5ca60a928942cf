"""The lexicon of Brill's tagger: the most likely part of speech of 80,000 English words, and which are names."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cache
from importlib import resources
from itertools import pairwise
from types import MappingProxyType

from nlgauge.text.doc import Token


def known_tags(word: str) -> tuple[str, ...]:
    """The Penn Treebank tags of a word in the lexicon; none for a word that it does not have.

    The word is looked up as written, in lower case and with a capital, in this order. So "May" is a name and a modal
    verb, and "london" is a name.
    """
    table = _table()
    word = word.replace("’", "'")
    lower = word.lower()
    return tuple(dict.fromkeys(table[form] for form in (word, lower, lower.capitalize()) if form in table))


def keeps_capital(word: str) -> bool:
    """Whether the lexicon has a word with a capital but not in small letters: `German`, `Monday`."""
    table = _table()
    return word[:1].isupper() and word in table and word.lower() not in table


def noun_or_verb(word: str) -> str:
    """Other parts of speech of a word in lower case, as far as the lexicon has forms of it: letters of a few kinds.

    v: the base form of a verb (bark, for there is "barked"); n: a singular noun; Z: the -s form of a verb; S: a plural.
    """
    if not word.isalpha() or len(word) < 2:
        return ""
    if word.endswith("s") and len(word) > 3 and not word.endswith("ss"):
        bases = [word[:-1]]
        if word.endswith("es"):
            bases.append(word[:-2])
        if word.endswith("ies"):
            bases.append(word[:-3] + "y")
        kinds = "Z" * any(map(_is_verb, bases)) + "S" * any(map(_is_noun, bases))
        if kinds:
            return kinds
    return "v" * _is_verb(word) + "n" * _is_noun(word)


def _is_verb(base: str) -> bool:
    forms = [base + "ed", base + "ing", base + base[-1] + "ing"]
    if base.endswith("e"):
        forms += [base + "d", base[:-1] + "ing"]
    elif base.endswith("y"):
        forms.append(base[:-1] + "ied")
    return any(_table().get(form, "").startswith("VB") for form in forms)


def _is_noun(base: str) -> bool:
    table = _table()
    plurals = [base + "s", base + "es", base[:-1] + "ies" if base.endswith("y") else base]
    return table.get(base) == "NN" or any(table.get(form) == "NNS" for form in plurals)


@cache
def words_by_tag() -> Mapping[str, tuple[str, ...]]:
    """The words of the lexicon under each Penn Treebank tag, in alphabetical order.

    A word is listed only under its most likely tag.
    """
    packed = resources.files("nlgauge.data").joinpath("language", "brill.txt.gz").read_bytes()
    lines = gzip.decompress(packed).decode().splitlines()
    return MappingProxyType({tag: tuple(words) for tag, *words in map(str.split, lines)})


@cache
def _table() -> dict[str, str]:
    return {word: tag for tag, words in words_by_tag().items() for word in words}


def is_name_like(token: Token) -> bool:
    """Whether a token keeps its capital inside a sentence: a proper noun, `I`, an acronym, `German`, `SpaceX`."""
    text = token.text
    inside = text.isupper() or any(one.isalpha() and other.isupper() for one, other in pairwise(text))
    return token.tag in ("NNP", "NNPS") or text == "I" or (len(text) > 1 and inside) or keeps_capital(text)
