"""How does each system end its texts? What many of them show is told in one note, not held against each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nlgauge.core.scores import FIRST, Note
from nlgauge.core.segment import Segment
from nlgauge.metrics.guards.endings import habits

USUAL = 0.5  # the share of its texts from which on a system's way of writing is no fault of one of them
TEXTS, SHARE = 5, 0.1  # texts that show a way of writing, at least, and the share of the system's texts, to be told

_TOLD: Mapping[str, str] = {
    "unmarked": "have no final mark where the references have one",
    "spaced": "end in ' .' where the references end in '.', or the other way round",
}


@dataclass
class _System:
    n: int = 0
    shown: Counter[str] = field(default_factory=Counter)  # of `HABITS`, and "unfinished"
    first: list[str] = field(default_factory=list)  # ids of unfinished texts


@dataclass
class Ways:
    """Counts how systems end their texts. What five texts show, and a tenth of a system's texts, is told."""

    _systems: dict[str | None, _System] = field(default_factory=dict)

    def add(self, segment: Segment, unfinished: bool) -> None:
        """Count one text, and whether it seems to be cut off."""
        one = self._systems.setdefault(segment.system, _System())
        one.n += 1
        for name in habits(segment):
            one.shown[name] += 1
        if unfinished:
            one.shown["unfinished"] += 1
            if len(one.first) < FIRST:
                one.first.append(segment.id)

    def is_usual(self, system: str | None) -> bool:
        """Whether more than half of a system's texts lack a final mark, so that none of them is `unfinished`."""
        one = self._systems[system]
        return one.n >= TEXTS and one.shown["unmarked"] > USUAL * one.n

    def first(self) -> list[str]:
        """The ids of the first texts that are unfinished."""
        return [i for system, one in self._systems.items() if not self.is_usual(system) for i in one.first][:FIRST]

    def notes(self) -> Iterator[Note]:
        """One note for each way of writing that some systems keep to."""
        for name, told in _TOLD.items():
            found = dict(self._open(name))
            if not found:
                continue
            ends = f"{told}, and none is distrusted for it"
            who = [
                f"{system}: " * (system is not None) + f"{n} of {self._systems[system].n}"
                for system, n in found.items()
            ]
            more = [f"and {len(who) - FIRST} systems more"] if len(who) > FIRST else []
            brief = who[0] if len(who) == 1 else f"{len(who)} systems"
            whole = f"input: texts ({', '.join([*who[:FIRST], *more])}) {ends}"
            yield Note.of(whole, "input", f"texts ({brief}) {ends}")

    def _open(self, name: str) -> Iterator[tuple[str | None, int]]:
        """Systems, and how many of their texts show a way of writing and are not distrusted for it, if many do."""
        for system, one in self._systems.items():
            distrusted = one.shown["unfinished"] if name == "unmarked" and not self.is_usual(system) else 0
            n = one.shown[name] - distrusted
            if n >= max(TEXTS, SHARE * one.n):
                yield system, n
