"""Were outputs for one item written for the same input? One check, for every verb that holds systems side by side."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment

INPUTS = ("references", "source", "context", "table")  # fields of a segment that are not its system's own
Item = tuple[str | None, str]  # group, item
Systems = tuple[str | None, str | None]  # the first that has an item, and another
_Texts = tuple[tuple[int, ...], ...]  # hashes of the texts of each field
_SAMPLE = 5_000  # items that are looked at where none are paired, so that memory does not grow with the data
_SHOWN = 3  # systems in a note


@dataclass
class SameInputs:
    """Tells items that are another input for one system than for another.

    Two outputs are for one input if they share a reference, or their source, context or table is the same. Case, blanks
    and compatibility forms do not count, and what one of the two lacks says nothing. An item is another input if its
    references differ and nothing else is the same, or if all that it has is what another item has. Other differences
    may be meant, as sources that each system looked up for itself, and are noted.

    Attributes:
        is_paired: whether outputs for one item are held side by side, so that another input is refused. Else there is
            a note on systems that share no input, seen from the first 5,000 items.
    """

    is_paired: bool = True
    _held: dict[Item, tuple[str | None, _Texts]] = field(default_factory=dict)
    _n: Counter[Systems] = field(default_factory=Counter)
    _unlike: dict[Systems, dict[Item, _Texts]] = field(default_factory=dict)

    def add(self, segments: Iterable[Segment]) -> None:
        """Look at more segments; those without an item are passed over."""
        for segment in segments:
            key = (segment.group, segment.item or "")
            if segment.item is None or (key not in self._held and not self.is_paired and len(self._held) >= _SAMPLE):
                continue
            first, kept = self._held.setdefault(key, (segment.system, own := _texts(segment)))
            if first != segment.system or first is None:  # an item that one system has twice is refused elsewhere
                self._n[first, segment.system] += 1
                if kept != own and any(map(_differ, kept, own)):
                    self._unlike.setdefault((first, segment.system), {})[key] = own

    def refused(self) -> dict[Item, str]:
        """Item -> what is wrong, of items that are another input for some system."""
        places = {texts for _, texts in self._held.values()}
        found: dict[Item, str] = {}
        for systems, unlike in self._unlike.items():
            moved = [key for key, own in unlike.items() if own in places]
            other = [key for key, own in unlike.items() if own in places or self._is_other(key, own)]
            is_order = 2 * len(moved) > len(other)
            found |= {key: _why(systems, key, self._fields(key, unlike), len(other), is_order) for key in other}
        return found

    def refuse(self) -> None:
        """Refuse outputs for one item that were written for different inputs.

        Raises:
            InputError: there are such outputs; the error names the first item.
        """
        for why in self.refused().values():
            raise InputError(why)

    def check(self, segments: Iterable[Segment]) -> None:
        """Look at segments that are all there is; raises what `refuse` raises."""
        self.add(segments)
        self.refuse()

    def notes(self) -> list[str]:
        """What differs where it may be meant; or systems that share no input, where nothing is paired."""
        if not self.is_paired:
            known = {texts for _, texts in self._held.values()}
            apart = [
                f"{other} and {first}"
                for (first, other), unlike in self._unlike.items()
                if first != other
                and 1 < self._n[first, other] == len(unlike)
                and known.isdisjoint(unlike.values())
                and all(self._is_other(key, own) for key, own in unlike.items())
            ]
            return [f"input: {_some(apart)} share no input, so their scores do not compare; {_PARTS}"] if apart else []
        told = [
            f"{systems[1]} has {self._fields(key, unlike)} than {systems[0]} for {len(unlike)} of"
            f" {self._n[systems]} items (first {key[1]!r})"
            for systems, unlike in self._unlike.items()
            for key in [next(iter(unlike))]
        ]
        return [f"input: {_some(told)}; are they the same inputs?"] if told else []

    def by_system(self, by_group: bool = False) -> Mapping[tuple[str | None, str | None], Counter[str]]:
        """Nothing: rows count texts."""
        return {}

    def _fields(self, key: Item, unlike: Mapping[Item, _Texts]) -> str:
        """The fields of an item that differ, in words."""
        both = zip(INPUTS, self._held[key][1], unlike[key], strict=True)
        return " and ".join(f"{'an' * (name[-1] != 's')}other {name}" for name, *texts in both if _differ(*texts))

    def _is_other(self, key: Item, own: _Texts) -> bool:
        """Whether references differ, and nothing else is the same."""
        kept = self._held[key][1]
        are_same = (bool(a and b) and not _differ(a, b) for a, b in zip(kept, own, strict=True))
        return _differ(kept[0], own[0]) and not any(are_same)


_PARTS = "parts of one set are one system: put them into one file"


def _differ(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether both have texts of a field, and share none."""
    return bool(one and other) and set(one).isdisjoint(other)


def _texts(segment: Segment) -> _Texts:
    """What a hypothesis is held against, in a form in which case, blanks and compatibility forms do not count."""
    given = (segment.references, (segment.source or "",), map(str, segment.context), map(str, segment.table))
    plain = (["".join(unicodedata.normalize("NFKC", text).casefold().split()) for text in texts] for texts in given)
    return tuple(tuple(hash(text) for text in texts if text) for texts in plain)


def _why(systems: Systems, item: Item, fields: str, n: int, is_order: bool) -> str:
    """The error on an item, the first of n that are another input."""
    first, other = systems
    what = (
        "the inputs are the same in another order; give each an id (seg), or sort them alike"
        if is_order
        else f"compare outputs for the same inputs (nlgauge score has --common); {_PARTS}"
    )
    more = f", and so {'has' if n == 2 else 'have'} {n - 1} more" if n > 1 else ""
    return f"item {item[1]!r} has {fields} in {_named(other)} than in {_named(first)}{more}: {what}"


def _named(system: str | None) -> str:
    return "one segment" if system is None else f"system {system!r}"


def _some(told: list[str]) -> str:
    return ", ".join(told[:_SHOWN]) + (f", and {len(told) - _SHOWN} more" if len(told) > _SHOWN else "")
