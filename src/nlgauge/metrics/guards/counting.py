"""How many texts of each system should not be trusted? Counted block by block, noted, or refused."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Mask
from nlgauge.core.errors import InputError
from nlgauge.core.scores import FIRST, MEANINGS, count_notes
from nlgauge.core.segment import Segment
from nlgauge.metrics.guards.rules import OUTPUTS, REFERENCES, Rules
from nlgauge.metrics.guards.signs import Signs
from nlgauge.metrics.guards.ways import Ways

GuardCheck = Literal["note", "refuse", "off"]
OVER_ALL = ("repeated", "repeated_reference", "unfinished")  # guards that look at all segments together
GUARDS = (*OUTPUTS, "repeated", *REFERENCES, "repeated_reference")
N_FLAGGED, GUARD = "n_flagged", "guards."
FIELDS = N_FLAGGED, *(GUARD + name for name in GUARDS)  # of rows

_SILENT = frozenset(("empty",))  # every metric says so itself
_NOTHING = (hash(""), hash(()))  # of a text that is not there
_APART = 0x1E3779B97F4A7C15  # odd, so that hashes of systems differ
_INPUTS, _SHARE = 5, 0.1  # for how many inputs one text is given, at least, and for which share of them
_SURE, _CUT = 1, 2  # bits of a text: distrusted by a guard, and by `unfinished`
UNFINISHED = "unfinished"  # the guard that says nothing of a system that writes no final marks

Key = tuple[str | None, str | None]  # group, system


@dataclass
class GuardCounts:
    """Counts texts that guards distrust. It keeps 33 bytes per segment."""

    n: int = 0
    _earliest: dict[str, tuple[int, str]] = field(default_factory=dict)  # guard -> place and id of its first text
    _first: dict[str, list[str]] = field(default_factory=dict)
    _keys: dict[Key, int] = field(default_factory=dict)
    _counts: list[Counter[str]] = field(default_factory=list)  # of each key
    _places: array[int] = field(default_factory=lambda: array("q"))  # the key of each segment
    _flagged: bytearray = field(default_factory=bytearray)  # bits of each segment
    _texts: array[int] = field(default_factory=lambda: array("q"))  # hashes
    _references: array[int] = field(default_factory=lambda: array("q"))
    _inputs: array[int] = field(default_factory=lambda: array("q"))
    _rules: Rules = field(default_factory=Rules)
    _ways: Ways = field(default_factory=Ways)
    _signs: Signs = field(default_factory=Signs)

    def add(self, segments: Sequence[Segment]) -> None:
        """Count more segments."""
        self.n += len(segments)
        # what a reference says is right, however often it is said
        self._texts.extend(hash("" if s.hypothesis in s.references else s.hypothesis) for s in segments)
        self._references.extend(map(hash, map(attrgetter("references"), segments)))
        self._inputs.extend(map(hash, map(attrgetter("item", "source"), segments)))
        flags = self._rules.flags
        for s in segments:
            key = s.group, s.system
            place = self._keys.setdefault(key, len(self._keys))
            if place == len(self._counts):
                self._counts.append(Counter())
            self._places.append(place)
            found = list(flags(s))
            cut = UNFINISHED in found
            if cut:
                found.remove(UNFINISHED)
            self._ways.add(s, cut)
            self._signs.add(s)
            self._flagged.append(_CUT * cut | _SURE * any(name in OUTPUTS for name in found))
            for name in found:
                self._counts[place][name] += 1
                self._earliest.setdefault(name, (len(self._flagged), f" {s.id!r}"))
                first = self._first.setdefault(name, [])
                if len(first) < FIRST:
                    first.append(s.id)

    def notes(self) -> list[str]:
        """One note per guard that distrusts a text, per way of writing that systems keep to, and per broken step."""
        counts = self.by_system()
        total = {name: sum(one[GUARD + name] for one in counts.values()) for name in GUARDS if name not in _SILENT}
        first = {**self._first, UNFINISHED: self._ways.first()}
        noted = count_notes("input", {k: v for k, v in total.items() if v}, self.n, first=first)
        return [*noted, *self._ways.notes(), *self._signs.notes(self.n)]

    def by_system(self, by_group: bool = False) -> dict[Key, Counter[str]]:
        """Group and system -> how many outputs any guard distrusts, and how many texts each guard does.

        The names are those of fields of a result's rows. The group is None unless groups are counted apart.
        """
        over_all = self.over_all()
        places = np.array(self._places, dtype=np.int64)
        flagged = self._distrusted(over_all)
        found: dict[Key, Counter[str]] = {}
        for key, place in self._keys.items():
            mine = places == place
            found[key] = Counter({N_FLAGGED: int(flagged[mine].sum())})
            found[key].update({GUARD + name: number for name, number in self._counts[place].items()})
            found[key].update(
                {GUARD + name: int(mask[mine].sum()) for name, mask in over_all.items() if mask[mine].any()}
            )
        return summed(found, by_group)

    def over_all(self) -> dict[str, Mask]:
        """Guard of `OVER_ALL` -> whether it distrusts each segment, shape (n,)."""
        # copies are made one after the other, since a run in parts counts millions of segments
        found = (
            self._given_often(self._own_texts(), self._told_apart()),
            self._given_often(np.array(self._references, dtype=np.int64), np.array(self._inputs, dtype=np.int64)),
            self._cut_off(),
        )
        return dict(zip(OVER_ALL, found, strict=True))

    def refuse(self) -> None:
        """Refuse texts that a guard distrusts; a reference that stands twice beside one output is no reason.

        Raises:
            InputError: there is such a text; the error names the first.
        """
        earliest = {name: first for name, first in self._earliest.items() if name != "doubled_reference"}
        for name, mask in self.over_all().items():
            if mask.any():
                earliest[name] = int(mask.argmax()) + 1, ""
        if not earliest:
            return
        name = min(earliest, key=lambda name: earliest[name][0])
        place, known_as = earliest[name]
        system = list(self._keys)[self._places[place - 1]][1]
        raise InputError(
            f"{'' if system is None else f'system {system!r}, '}segment{known_as} (number {place} of {self.n}) has"
            f" {MEANINGS[name]} (guard {name}); mend it or leave it out, let guarded(...) score it as an empty"
            " text, or take note in place of refuse"
        )

    def _distrusted(self, over_all: Mapping[str, Mask]) -> Mask:
        return over_all["repeated"] | over_all[UNFINISHED] | (self._bits() & _SURE > 0)

    def _bits(self) -> npt.NDArray[np.uint8]:
        return np.frombuffer(bytes(self._flagged), dtype=np.uint8)

    def _cut_off(self) -> Mask:
        """Whether each text seems to be cut off, where its system writes final marks, shape (n,)."""
        cut: Mask = self._bits() & _CUT > 0
        if cut.any():
            usual = np.array([self._ways.is_usual(system) for _, system in self._keys], dtype=np.bool_)
            cut &= ~usual[np.array(self._places, dtype=np.int64)]
        return cut

    def _told_apart(self) -> npt.NDArray[np.int64]:
        """The right answer to each text, shape (n,): the references, since inputs may share one."""
        inputs, references = (np.array(hashes, dtype=np.int64) for hashes in (self._inputs, self._references))
        return np.where(references == _NOTHING[1], inputs, references)

    def _own_texts(self) -> npt.NDArray[np.int64]:
        """A hash of each output and its system, shape (n,): one text of two systems is two."""
        texts = np.array(self._texts, dtype=np.int64)
        numbers: dict[str | None, int] = {}
        of_key = np.array([numbers.setdefault(system, len(numbers)) for _, system in self._keys], dtype=np.int64)
        if len(numbers) > 1:
            said = ~np.isin(texts, _NOTHING)
            texts[said] += of_key[np.array(self._places, dtype=np.int64)[said]] * _APART
        return texts

    def _given_often(self, hashes: npt.NDArray[np.int64], inputs: npt.NDArray[np.int64]) -> Mask:
        """True where the same text answers many different inputs; hashes of both, shape (n,)."""
        ordered = np.sort(hashes)
        if not (ordered[_INPUTS - 1 :] == ordered[: 1 - _INPUTS]).any():  # no text is there so often
            return np.zeros(len(hashes), dtype=np.bool_)
        known, place = _numbered(hashes)
        each, number = _numbered(inputs)
        pairs = np.unique(place * len(each) + number)
        given_for = np.bincount(pairs // len(each), minlength=len(known))
        many: Mask = (given_for >= max(_INPUTS, _SHARE * len(each))) & ~np.isin(known, _NOTHING)
        return many[place]


def summed(counts: Mapping[Key, Mapping[str, int]], by_group: bool) -> dict[Key, Counter[str]]:
    """The counts of each system, with its groups together unless they are kept apart."""
    found: dict[Key, Counter[str]] = {}
    for (group, system), one in counts.items():
        found.setdefault((group if by_group else None, system), Counter()).update(one)
    return found


def _numbered(hashes: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The distinct numbers, and the place of each number among them."""
    known, place = np.unique(hashes, return_inverse=True)
    return known, place.reshape(-1)
