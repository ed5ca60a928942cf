"""Which words are related to a word: synonyms, antonyms, hyponyms and their kin, best first."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
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
    """A related word. Not `sure`: of a later sense, or reached by a detour (an adjective's antonym by way of a near synonym)."""

    word: str
    sure: bool


def related(lemma: str, pos: Pos, relation: Relation, *, unsure: bool = True) -> list[str]:
    """Related words, best first: those of the first sense and those that are frequent before others.

    Args:
        lemma: a base form; capitals are ignored.
        pos: noun, verb, adj or adv.
        relation: synonym; antonym; hyponym (a kind of it); hypernym (what it is a kind of); sibling (another kind of the same);
            similar (of adjectives: near in meaning).
        unsure: whether words of less confidence are given too; they come last.

    Returns:
        Single words in small letters that a reader would know, none of them a slur or crude; [] where none is known.

    Raises:
        InputError: no such part of speech or relation.
    """
    return [n.word for n in neighbours(lemma, pos, relation) if unsure or n.sure]


def neighbours(lemma: str, pos: Pos, relation: Relation) -> list[Neighbour]:
    """`related`, with what is known of each word."""
    if relation not in RELATIONS:
        raise InputError(f"no relation {relation!r}, expected one of {', '.join(RELATIONS)}")
    row = _row(lemma, pos)
    words = row[3 + RELATIONS.index(relation)].split(" ") if row else []
    return [Neighbour(word.lstrip("?"), not word.startswith("?")) for word in words if word]


def knows(lemma: str, pos: Pos) -> bool:
    """Whether the lexicon has the lemma with this part of speech."""
    return bool(_row(lemma, pos))


def supersense(lemma: str, pos: Pos) -> str | None:
    """Field of meaning of the first sense (noun.person, noun.artifact, verb.motion, ...), or None for a word that is not known."""
    row = _row(lemma, pos)
    return f"{pos}.{row[1]}" if row else None


def gender(lemma: str) -> Literal["f", "m"] | None:
    """f for nouns of female persons (actress), m for those of male persons (uncle), else None."""
    row = _row(lemma, "noun")
    return row[2] if row and row[2] != "-" else None  # type: ignore[return-value]


def rank(lemma: str, pos: Pos) -> int | None:
    """0 for the most frequent lemma of the lexicon, then 1 and on, parts of speech counted together; None for a word not known."""
    row = _row(lemma, pos)
    return int(row[0]) if row else None


def lemmas(pos: Pos) -> Iterator[str]:
    """All lemmas of a part of speech, the most frequent first."""
    letter = _LETTERS[pos]
    return (lemma for lemma, p in _table() if p == letter)


def _row(lemma: str, pos: str) -> list[str]:
    """Rank, supersense, gender and the relations' words; [] where not known."""
    if pos not in _LETTERS:
        raise InputError(f"no part of speech {pos!r}, expected one of {', '.join(POSES)}")
    found = _table().get((lemma.lower(), _LETTERS[pos]))
    return [str(found[0]), *found[1].split("\t")] if found else []


@cache
def _table() -> dict[tuple[str, str], tuple[int, str]]:
    """(lemma, letter) -> rank and the rest of its line, taken apart only when asked for."""
    packed = files("nlgauge").joinpath("data/language/lexicon.tsv.xz").read_bytes()
    table = {}
    for place, line in enumerate(lzma.decompress(packed).decode("ascii").splitlines()):
        lemma, letter, rest = line.split("\t", 2)
        table[lemma, letter] = (place, rest)
    return table
