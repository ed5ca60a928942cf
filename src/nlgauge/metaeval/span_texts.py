"""Texts with the marks of people and of methods, joined: by id, or else by system and item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.marks import Explanations
from nlgauge.io.marked import MarkedText

Missing = Literal["refuse", "drop"]
Marks = Iterable[MarkedText] | Explanations
_SHOWN = 3  # texts in an error
_TEXT = 40  # characters of a text in an error


def as_texts(marks: Marks) -> Iterator[MarkedText]:
    """Marks of any origin as marked texts."""
    if not isinstance(marks, Explanations):
        yield from marks
        return
    for one in marks:
        yield MarkedText(one.item or one.id, one.system, one.spans, one.hypothesis, id=one.id)


def judged_texts(people: list[MarkedText], exclude: Sequence[str]) -> tuple[list[MarkedText], list[str]]:
    """The texts in which people looked for errors, without systems that are left out, and notes.

    Raises:
        InputError: a system that is to be left out is not there, or nothing remains.
    """
    systems = list(dict.fromkeys(text.system for text in people if text.system is not None))
    for name in exclude:
        if name not in systems:
            raise InputError(f"exclude names {name!r}, which is not among the systems{nearest(name, systems)}")
    kept = [text for text in people if text.system not in exclude]
    seen = [text for text in kept if text.spans is not None]
    notes = []
    if exclude:
        left = len(systems) - len(set(exclude))
        notes.append(f"{left} of {len(systems)} systems (left out: {', '.join(exclude)})")
    if len(seen) < len(kept):
        notes.append(f"{len(kept) - len(seen)} texts in which nobody looked for errors are left out")
    if not seen:
        raise InputError("there is no text in which people looked for errors")
    return seen, notes


class Index:
    """The marks of a method, to be found by id, or by system and item.

    Args:
        name: of the method, for errors.
        marks: its marks.

    Raises:
        InputError: two texts have one id.
    """

    def __init__(self, name: str, marks: Sequence[MarkedText]) -> None:
        self.name = name
        self.ids: dict[str, MarkedText] = {}
        self.pairs: dict[tuple[str | None, str], MarkedText | None] = {}
        for text in marks:
            if text.id is not None and self.ids.setdefault(text.id, text) is not text:
                raise InputError(
                    f"{name} marks the text with id {text.id!r} twice, expected each once; several raters?"
                )
            pair = (text.system, text.item)
            self.pairs[pair] = None if pair in self.pairs else text

    def of(self, people: Sequence[MarkedText]) -> list[MarkedText | None]:
        """The marks of each of these texts; None where the method did not look.

        Raises:
            InputError: the method has another text there, or several, or marks a place outside of it.
        """
        return [self._checked(text) for text in people]

    def _checked(self, text: MarkedText) -> MarkedText | None:
        found = None if text.id is None else self.ids.get(text.id)
        pair = (text.system, text.item)
        if found is None and pair in self.pairs:
            found = self.pairs[pair]
            if found is None:
                raise InputError(
                    f"{self.name} marks {_named(text)} twice, expected each text once; several raters or languages?"
                )
        if found is None or found.spans is None:
            return None
        if text.hypothesis is not None and found.hypothesis not in (None, text.hypothesis):
            raise InputError(
                f"{self.name} marks another text than people at {_named(text)}: {found.hypothesis!r:.{_TEXT}} and"
                f" {text.hypothesis!r:.{_TEXT}}"
            )
        end = max((span.end for span in found.spans if span.side == "hyp"), default=0)
        if text.hypothesis is not None and end > len(text.hypothesis):
            raise InputError(
                f"{self.name} marks character {end} of {_named(text)}, whose text has {len(text.hypothesis)}; do its"
                " ends count bytes?"
            )
        return found


def _named(text: MarkedText) -> str:
    if text.id is not None:
        return f"segment {text.id!r}"
    return f"item {text.item!r}" + ("" if text.system is None else f" of system {text.system!r}")


def known_to_all(
    people: list[MarkedText], found: Mapping[str, list[MarkedText | None]], missing: Missing
) -> tuple[list[MarkedText], dict[str, list[MarkedText]], list[str]]:
    """The texts that every method looked at, its marks of them, and notes.

    Args:
        people: the texts.
        found: method -> its marks of each of them; None where it did not look.
        missing: as in `evaluate_spans`.

    Raises:
        InputError: a method did not look at a text, and such texts are not dropped; or nothing remains.
    """
    known = np.ones(len(people), dtype=np.bool_)
    notes = []
    for name, own in found.items():
        lacking = [text for text, one in zip(people, own, strict=True) if one is None]
        if not lacking:
            continue
        shown = ", ".join(map(_named, lacking[:_SHOWN])) + (" ..." if len(lacking) > _SHOWN else "")
        told = f"{name} did not look at {len(lacking)} of {len(people)} texts ({shown})"
        if missing == "refuse" or len(lacking) == len(people):
            way = "" if len(lacking) == len(people) else "; missing='drop' (--missing drop) leaves them out for all"
            raise InputError(f"{told}; texts are joined by id, or else by system and item{way}")
        notes.append(f"{told}, which are left out for all")
        known &= np.array([one is not None for one in own])
    if not known.any():
        raise InputError("no text was looked at by all methods")
    places = np.flatnonzero(known).tolist()
    kept = {name: [text for i in places if (text := own[i]) is not None] for name, own in found.items()}
    return [people[i] for i in places], kept, notes


def item_numbers(people: Sequence[MarkedText]) -> npt.NDArray[np.intp]:
    """The number of the item of each text, from 0; texts for one input depend on each other."""
    numbers: dict[tuple[str | None, str], int] = {}
    return np.array([numbers.setdefault((text.group, text.item), len(numbers)) for text in people], dtype=np.intp)
