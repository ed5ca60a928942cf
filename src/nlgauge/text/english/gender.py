"""Nouns of one gender and their counterparts, in the number and case of the text; he and she alike."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal, NamedTuple

from nlgauge.text.doc import Doc, Token
from nlgauge.text.lexicon.inflection import inflect
from nlgauge.text.wordlists import WordList, data_lines

TITLES = frozenset({"mr", "mrs", "ms", "miss", "mr.", "mrs.", "ms."})
ADDRESS = WordList("grammar", "address")
_PRONOUNS = {"he": "she", "she": "he", "him": "her", "himself": "herself", "herself": "himself", "hers": "his"}


class Counterpart(NamedTuple):
    """The noun of the other gender.

    Attributes:
        word: in the same number.
        was: the gender of the noun that it replaces.
        plural: the number of both.
        field: person or animal.
    """

    word: str
    was: Literal["f", "m"]
    plural: bool
    field: str


def counterpart(word: str) -> Counterpart | None:
    """The noun of the other gender for a noun in small letters, singular or plural; None where it has none."""
    return _table().get(word)


def pronoun_of_other_gender(doc: Doc, token: Token) -> str | None:
    """she for he, and so on; None for any other word. `his` and `her` go by whether a noun follows them."""
    if token.lower == "his":
        return "her" if _owns(doc, token) else "hers"
    if token.lower == "her":
        return "his" if _owns(doc, token) else "him"
    return _PRONOUNS.get(token.lower)


def possessive_mark(word: str, plural: bool, mark: str) -> str:
    """The mark of a noun in the genitive, in the apostrophe of the mark that stood there."""
    return mark[0] if plural and word.endswith("s") else f"{mark[0]}s"


def _owns(doc: Doc, token: Token) -> bool:
    """Whether what is owned stands behind the pronoun.

    The tag decides, and where it does not, the word behind.
    """
    if token.tag in ("PRP", "PRP$"):
        return token.tag == "PRP$"
    after = doc.tokens[token.index + 1] if token.index + 1 < len(doc.tokens) else None
    return after is not None and after.tag[:2] in ("NN", "JJ", "CD")


@cache
def _table() -> Mapping[str, Counterpart]:
    table: dict[str, Counterpart] = {}
    for line in data_lines("gender.tsv"):
        female, male, way, field = line.split("\t")
        for one, other, was, closed in ((female, male, "f", "<"), (male, female, "m", ">")):
            if way != closed:
                table.setdefault(one, Counterpart(other, was, False, field))  # type: ignore[arg-type]
                many, others = inflect(one, "NNS"), inflect(other, "NNS")
                if many and others and not one.endswith("."):
                    table.setdefault(many, Counterpart(others, was, True, field))  # type: ignore[arg-type]
    return table
