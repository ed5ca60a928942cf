"""Were outputs for one item written for the same input? One check, for every verb that holds systems side by side."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from nlgauge.core.errors import InputError
from nlgauge.core.scores import first_few
from nlgauge.core.segment import Segment

INPUTS = ("references", "source", "context", "table")  # fields of a segment that are not its system's own
Item = tuple[str | None, str]  # group, item
Systems = tuple[str | None, str | None]  # the first that has an item, and another
_Texts = tuple[tuple[int, ...], ...]  # hashes of the texts of each field
_SAMPLE = 5_000  # items that are looked at where none are paired, so that memory does not grow with the data
_MOVED = "the inputs are the same in another order; give each an id (seg), or sort them alike"
_PARTS = "parts of one set are one system: put them into one file"


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
    _unlike: dict[Systems, dict[Item, tuple[_Texts, dict[str, bool]]]] = field(default_factory=dict)

    def add(self, segments: Iterable[Segment]) -> None:
        """Look at more segments; those without an item are passed over."""
        for segment in segments:
            key = (segment.group, segment.item or "")
            if segment.item is None or (key not in self._held and not self.is_paired and len(self._held) >= _SAMPLE):
                continue
            first, kept = self._held.setdefault(key, (segment.system, own := _texts(segment)))
            if first == segment.system and first is not None:
                continue  # an item that one system has twice is refused elsewhere
            self._n[first, segment.system] += 1
            both = zip(INPUTS, kept, own, strict=True) if kept != own else ()
            same = {name: not set(one).isdisjoint(other) for name, one, other in both if one and other}
            if not all(same.values()):
                self._unlike.setdefault((first, segment.system), {})[key] = own, same

    def refused(self) -> dict[Item, str]:
        """Item -> what is wrong, of items that are another input for some system."""
        places = {texts for _, texts in self._held.values()}
        found: dict[Item, str] = {}
        for (first, other), unlike in self._unlike.items():
            items = {key: same for key, (own, same) in unlike.items() if own in places or _is_other(same)}
            parts = f"; {_PARTS}" if len(items) == self._n[first, other] else ""
            known, own = (self._held[key][1] for key in unlike), (own for own, _ in unlike.values())
            what = what_to_do(known, own, f"compare outputs for the same inputs (nlgauge score has --common){parts}")
            where = "one output than in another" if other is None else f"system {other!r} than in system {first!r}"
            more = f", and {len(items) - 1} more" if len(items) > 1 else ""
            for key, same in items.items():
                found.setdefault(key, f"item {key[1]!r} has {_fields(same)} in {where}{more}: {what}")
        return found

    def refuse(self) -> None:
        """Refuse outputs for one item that were written for different inputs; the error names the first item."""
        for why in self.refused().values():
            raise InputError(why)

    def check(self, segments: Iterable[Segment]) -> None:
        """Look at segments that are all there is, as `refuse` does."""
        self.add(segments)
        self.refuse()

    def notes(self) -> list[str]:
        """What differs where it may be meant; or systems that share no input, where nothing is paired."""
        known = {texts for _, texts in self._held.values()}
        told = []
        for (first, other), unlike in self._unlike.items():
            n, (item, (_, same)) = self._n[first, other], next(iter(unlike.items()))
            if self.is_paired:
                told.append(
                    f"{other} has {_fields(same)} than {first} for {len(unlike)} of {n} items (first {item[1]!r})"
                )
            elif first != other and 1 < n == sum(own not in known and _is_other(s) for own, s in unlike.values()):
                told.append(f"{other} and {first}")
        end = (
            "; are they the same inputs?" if self.is_paired else f" share no input, so scores do not compare; {_PARTS}"
        )
        return [f"input: {first_few(told)}{end}"] if told else []

    def by_system(self, by_group: bool = False) -> Mapping[tuple[str | None, str | None], Counter[str]]:
        """Nothing: rows count texts."""
        return {}


def what_to_do(one: Iterable[Hashable], other: Iterable[Hashable], else_: str) -> str:
    """What to do where the inputs of items differ from one side to the other: most may be the same in another order."""
    inputs = Counter(one)
    return _MOVED if 2 * (inputs & Counter(other)).total() > inputs.total() else else_


def _is_other(same: Mapping[str, bool]) -> bool:
    """Whether references differ, and nothing else is the same."""
    return "references" in same and not any(same.values())


def _fields(same: Mapping[str, bool]) -> str:
    """The fields that differ, in words."""
    return " and ".join(f"{'an' * (name[-1] != 's')}other {name}" for name, is_same in same.items() if not is_same)


def _texts(segment: Segment) -> _Texts:
    """What a hypothesis is held against, in a form in which case, blanks and compatibility forms do not count."""
    given = (segment.references, (segment.source or "",), map(str, segment.context), map(str, segment.table))
    plain = (["".join(unicodedata.normalize("NFKC", text).casefold().split()) for text in texts] for texts in given)
    return tuple(tuple(hash(text) for text in texts if text) for texts in plain)
