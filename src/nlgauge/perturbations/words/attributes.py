"""Attributes that exclude each other: colours for colours, sizes for sizes, chosen by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from nlgauge.text.scripts import data_lines

_ANY = "*"


class Other(NamedTuple):
    """A word that may take the place of another.

    Attributes:
        word: in its base form.
        fields: fields of meaning of nouns; empty for any.
        barred: the nouns must not be of these fields, rather than be of one of them.
    """

    word: str
    fields: frozenset[str]
    barred: bool = False

    def fits(self, field: str | None) -> bool:
        """Whether it can be said of a noun of a field of meaning."""
        return not self.fields or (field in self.fields) != self.barred


class Attribute(NamedTuple):
    """A word for what can be seen of a thing.

    Attributes:
        kind: colour, size, age, material, pattern, shape, number, state, look or place.
        others: what may take its place, each as good as the next.
    """

    kind: str
    others: Sequence[Other]

    def fitting(self, field: str | None) -> list[str]:
        """The other words that can be said of a noun of a field of meaning."""
        return [o.word for o in self.others if o.fits(field)]


def attribute(word: str) -> Attribute | None:
    """The entry of a base form in small letters; None where it is no attribute of ours."""
    return _table().get(word)


@cache
def _table() -> Mapping[str, Attribute]:
    table: dict[str, Attribute] = {}
    sets: dict[str, list[str]] = {}
    for line in data_lines("attributes.tsv"):
        kind, word, cell = line.split("\t")
        words = cell.split(" ")
        if word == _ANY:
            sets[kind] = words
            table.update((w, Attribute(kind, [Other(o, frozenset()) for o in words if o != w])) for w in words)
            continue
        if words[0] == _ANY:
            less = {w[1:] for w in words[1:]}
            words = [w for w in sets[kind] if w not in less and w != word]
        table[word] = Attribute(kind, [_other(w) for w in words])
    return table


def _other(written: str) -> Other:
    word, _, fields = written.partition("@")
    barred = fields.startswith("!")
    return Other(word, frozenset(fields.lstrip("!").split("+")) if fields else frozenset(), barred)
