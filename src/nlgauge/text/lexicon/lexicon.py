"""Words related to a word: synonyms, antonyms, hyponyms and others, best first."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Literal

from nlgauge.core.errors import InputError

Pos = Literal["noun", "verb", "adj", "adv"]
Relation = Literal["synonym", "antonym", "hyponym", "hypernym", "sibling", "similar"]

POSES: tuple[Pos, ...] = ("noun", "verb", "adj", "adv")
RELATIONS: tuple[Relation, ...] = ("synonym", "antonym", "hyponym", "hypernym", "sibling", "similar")
_LETTERS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}


@dataclass(frozen=True)
class Neighbour:
    """A related word.

    It is not `sure` if it belongs to a later sense, or is related only through a near synonym of an adjective.
    """

    word: str
    sure: bool


def related(lemma: str, pos: Pos, relation: Relation, *, unsure: bool = True, phrases: bool = False) -> list[str]:
    """Related words, best first. Words of the first sense and frequent words come before others.

    Args:
        lemma: a base form. Capitals are ignored.
        pos: noun, verb, adj or adv.
        relation: synonym, antonym, hyponym (a kind of it), hypernym (what it is a kind of), sibling (another kind of
            the same) or similar (for adjectives: near in meaning).
        unsure: also return less certain words; they come last.
        phrases: also return words that are written with a blank (fire engine).

    Returns:
        Single words in small letters that a reader would know, without slurs and crude words; [] if none is known.

    Raises:
        InputError: there is no such part of speech or relation.
    """
    return [n.word for n in neighbours(lemma, pos, relation) if (unsure or n.sure) and (phrases or " " not in n.word)]


def neighbours(lemma: str, pos: Pos, relation: Relation) -> list[Neighbour]:
    """Like `related`, with what is known about each word."""
    if relation not in RELATIONS:
        raise InputError(f"no relation {relation!r}, expected one of {', '.join(RELATIONS)}")
    row = _row(lemma, pos)
    words = row[3 + RELATIONS.index(relation)].split(" ") if row else []
    return [Neighbour(word.lstrip("?").replace("_", " "), not word.startswith("?")) for word in words if word]


def knows(lemma: str, pos: Pos) -> bool:
    """Whether the lexicon has the lemma with this part of speech."""
    return bool(_row(lemma, pos))


def supersense(lemma: str, pos: Pos) -> str | None:
    """The supersense of the first sense, such as noun.person or verb.motion; None for an unknown word."""
    row = _row(lemma, pos)
    return f"{pos}.{row[1]}" if row else None


def gender(lemma: str) -> Literal["f", "m"] | None:
    """f for nouns for women (actress), m for nouns for men (uncle), else None."""
    flag = _flags(lemma)[0]
    return "f" if flag == "f" else "m" if flag == "m" else None


def countable(lemma: str) -> bool | None:
    """Whether a noun has a plural and takes "a": true of chair, false of furniture.

    None if too little is known, and for words that are not nouns.
    """
    return {"c": True, "u": False}.get(_flags(lemma)[1])


def rank(lemma: str, pos: Pos) -> int | None:
    """The frequency rank of a lemma, from 0, over all parts of speech together; None for an unknown word."""
    row = _row(lemma, pos)
    return int(row[0]) if row else None


def lemmas(pos: Pos) -> Iterator[str]:
    """All lemmas of a part of speech, the most frequent first."""
    letter = _LETTERS[pos]
    return (lemma for lemma, p in _table() if p == letter)


def is_blocked(word: str) -> bool:
    """Whether a word, or a part of it, must not be inserted into texts.

    This holds for slurs, crude words, and terms of race or sex.
    """
    parts = {word.lower().replace(" ", "_"), *re.split(r"[-_ ]", word.lower())}
    return any(blake2b(part.encode("utf-8", "replace"), digest_size=6).hexdigest() in _blocked() for part in parts)


@cache
def _blocked() -> frozenset[str]:
    return frozenset(files("nlgauge").joinpath("data/language/blocked.txt").read_text("ascii").split())


def _flags(lemma: str) -> str:
    """Gender and countability of a noun."""
    row = _row(lemma, "noun")
    return row[2] if row else "--"


def _row(lemma: str, pos: str) -> list[str]:
    """Rank, supersense, flags and the words of each relation; [] if the lemma is not known."""
    if pos not in _LETTERS:
        raise InputError(f"no part of speech {pos!r}, expected one of {', '.join(POSES)}")
    entry = _table().get((lemma.lower(), _LETTERS[pos]))
    return [str(entry[0]), *entry[1].split("\t")] if entry else []


@cache
def _table() -> dict[tuple[str, str], tuple[int, str]]:
    """(lemma, letter) -> rank and the rest of its line, which is parsed only when it is needed."""
    packed = files("nlgauge").joinpath("data/language/lexicon.tsv.xz").read_bytes()
    table = {}
    for place, line in enumerate(lzma.decompress(packed).decode("ascii").splitlines()):
        lemma, letter, rest = line.split("\t", 2)
        table[lemma, letter] = (place, rest)
    return table
