"""Sources of segments: one pass that checks, and any number that stream; over rows, in memory, or several as one."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal, TypeVar

import numpy as np

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.inputs import SameInputs
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io.advice import LOOKED, advice, lacks
from nlgauge.io.fields import (
    OF_ITEMS,
    WHOSE,
    FieldError,
    Fields,
    NoHypothesis,
    Raters,
    item_of_id,
    with_items,
)
from nlgauge.io.files import MANY, Faults, InputFile, counted, refuse
from nlgauge.io.rows import Rows

R = TypeVar("R")
BLOCK = 65_536
BLOCK_CHARACTERS = 1 << 25  # long documents end a block early, so that memory does not depend on how long texts are
_SOME = {
    "references": "; --unreferenced empty takes an empty text for the right answer, and leave-out leaves such segments"
    " out"
}
OPTIONAL = ("references", "source", "system", "item", "group", "human", "context", "table")


@dataclass(frozen=True)
class Summary:
    """The findings of a complete pass over an input.

    Attributes:
        n: the number of segments.
        systems, groups: number of segments of each, in order of first appearance; None stands for segments that name
            none.
        criteria: the criteria with at least one rating, in order of first appearance.
        lacking: optional field -> id of the first segment without it. Fields that every segment has are not listed.
        present: the optional fields that at least one segment has.
        inputs: all files that were read, as `{"path", "sha256"}`, with the path as typed.
        notes: what a reader must know: what was dropped, skipped, ignored or generated.
    """

    n: int
    systems: Mapping[str | None, int]
    groups: Mapping[str | None, int]
    criteria: tuple[str, ...]
    lacking: Mapping[str, str]
    present: frozenset[str]
    inputs: tuple[Mapping[str, str], ...]
    notes: tuple[str, ...]


class Source:
    """Segments in files, read in passes that hold one block at a time."""

    _summary: Summary | None = None
    _together = 1  # so many segments stay in one block

    def check(self) -> Summary:
        """Read everything once and say what was found. A second call reads nothing.

        Raises:
            InputError: there is an error in the input. The message names the file and line of the first one.
        """
        if self._summary is None:
            self._summary = self._check()
        return self._summary

    def blocks(self, size: int = BLOCK, characters: int = BLOCK_CHARACTERS) -> Iterator[list[Segment]]:
        """The segments in order, in lists of at most `size` segments and about `characters` of text.

        An input that has not been checked is checked first.
        """
        self.check()
        return in_blocks(self._segments(), size, characters, self._together)

    def advice(self) -> Mapping[str, str]:
        """What some segments lack -> what to do, for the end of an error."""
        return _SOME if "references" in self.check().present else {}

    def close(self) -> None:
        """Delete temporary copies. After this the source cannot be read."""
        raise NotImplementedError

    def _check(self) -> Summary:
        raise NotImplementedError

    def _segments(self) -> Iterator[Segment]:
        raise NotImplementedError

    def _tally(self) -> Tally:
        tally = Tally()
        for segment in self._segments():
            tally.add(segment)
        return tally


@dataclass
class Tally:
    """Counts segments as they pass. It keeps 8 bytes per segment, however long the texts and ids are."""

    n: int = 0
    systems: dict[str | None, int] = field(default_factory=dict)
    groups: dict[str | None, int] = field(default_factory=dict)
    criteria: dict[str, None] = field(default_factory=dict)
    shapes: dict[tuple[bool, ...], str] = field(
        default_factory=dict
    )  # which of OPTIONAL are there -> first segment like that
    hashes: array[int] = field(default_factory=lambda: array("q"))

    def add(self, segment: Segment) -> None:
        """Count one segment."""
        self.n += 1
        self.systems[segment.system] = self.systems.get(segment.system, 0) + 1
        self.groups[segment.group] = self.groups.get(segment.group, 0) + 1
        self.hashes.append(hash(segment.id))
        self.criteria |= dict.fromkeys(segment.human)
        shape = (
            segment.references != (),
            segment.source is not None,
            segment.system is not None,
            segment.item is not None,
            segment.group is not None,
            bool(segment.human),
            segment.context != (),
            segment.table != (),
        )
        if shape not in self.shapes:
            self.shapes[shape] = segment.id

    def repeated(self) -> set[int]:
        """Hashes that occurred more than once. Only ids with these hashes can be duplicates."""
        ordered = np.sort(np.frombuffer(self.hashes, dtype=np.int64)) if self.hashes else np.empty(0, dtype=np.int64)
        return set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())

    def summary(self, inputs: Iterable[Mapping[str, str]], notes: Iterable[str]) -> Summary:
        """The counts, with the files that they come from."""
        lacking: dict[str, str] = {}
        present: set[str] = set()
        for shape, first in self.shapes.items():
            present.update(name for name, there in zip(OPTIONAL, shape, strict=True) if there)
            for name, there in zip(OPTIONAL, shape, strict=True):
                if not there:
                    lacking.setdefault(name, first)  # shapes are in order of first appearance
        return Summary(
            self.n,
            self.systems,
            self.groups,
            tuple(self.criteria),
            lacking,
            frozenset(present),
            tuple(inputs),
            tuple(notes),
        )


def in_blocks(segments: Iterable[Segment], size: int, characters: int, together: int = 1) -> Iterator[list[Segment]]:
    """Lists of about `size` segments or `characters` of text. Runs of `together` segments stay in one list."""
    block: list[Segment] = []
    used = 0
    for segment in segments:
        block.append(segment)
        used += len(segment.hypothesis) + sum(map(len, segment.references)) + len(segment.source or "")
        if (len(block) >= size or used >= characters) and len(block) % together == 0:
            yield block
            block, used = [], 0
    if block:
        yield block


def drained(source: Source, name: str = "") -> tuple[Dataset, list[dict[str, str]]]:
    """All segments of a source as a data set of a name, and the files that were read; the source is closed."""
    try:
        segments = tuple(segment for block in source.blocks() for segment in block)
        summary = source.check()
    finally:
        source.close()
    return Dataset(segments, name, summary.notes), list(map(dict, summary.inputs))


class TableSource(Source):
    """The segments in the rows of one file.

    Args:
        rows: the rows of a file in any format.
        columns: which field of a row holds which of ours; see `Fields`.
        given: what was typed of columns, also where the reader of rows is told.
    """

    def __init__(
        self, rows: Rows, columns: Mapping[str, str] | None = None, given: Mapping[str, str] | None = None
    ) -> None:
        self.rows = rows
        self._ids_are_items = False
        self._columns, self._given = columns, given or columns or {}

    def close(self) -> None:
        """Delete the temporary copy of standard input, if there is one."""
        self.rows.file.close()

    def _check(self) -> Summary:
        self._passed(deque[Segment](maxlen=0).extend)
        assert self._summary is not None  # set at the end of the pass
        return self._summary

    def _passed(self, use: Callable[[Iterator[Segment]], R]) -> R:
        """What is made of one pass; of another one where ids turn out to be those of items."""
        known = self._ids_are_items
        try:
            return use(self.checked())
        except InputError:
            if self._ids_are_items == known:
                raise
            return use(self.checked())

    def _segments(self) -> Iterator[Segment]:
        return (segment for _, segment in self._placed(Fields(self._columns)))

    def checked(self) -> Iterator[Segment]:
        """The segments of one pass. It ends with an error if anything was wrong; otherwise it keeps the summary."""
        fields, tally, faults = Fields(self._columns), Tally(), Faults(self.rows.file.name)
        self.rows.refuse = faults.add
        for _, segment in self._placed(fields):
            tally.add(segment)
            yield segment
        self.rows.refuse = refuse
        faults.check()
        fields.check(self.rows.file.name)
        if not tally.n:
            raise InputError(f"{self.rows.file.name} is empty: no row in it, expected at least one segment")
        repeated = tally.repeated()
        if repeated:
            of_systems = None not in tally.systems and not any(shape[OPTIONAL.index("item")] for shape in tally.shapes)
            self._name_duplicate(repeated, of_systems)
        notes = [*self.rows.notes(), *fields.notes(self.rows.file.name, self.rows.ignored)]
        if self._ids_are_items:
            notes.append(OF_ITEMS.format(self.rows.file.name, self._id_column))
        self._summary = tally.summary([self.rows.file.entry], notes)

    def dataset(self) -> Dataset:
        """All segments, read in the pass that checks them."""
        segments = self._passed(tuple[Segment, ...])
        return Dataset(segments, self.rows.file.name, self.check().notes)

    def by_rater(self, is_named: bool) -> HeldSource:
        """All segments, of which each has the ratings of all its rows; see `Raters`. Their texts must be the same."""
        fields, raters, faults = Fields(self._columns), Raters(is_named), Faults(self.rows.file.name)
        self.rows.refuse = faults.add
        for place, segment in self._placed(fields):
            with faults.row(self.rows.at(place)):
                raters.add(self.rows.at(place), segment, fields.rater, fields.criterion)
        self.rows.refuse = refuse
        faults.check()
        name = self.rows.file.name
        fields.check(name)
        segments, of_items = with_items([*raters.segments()], name, self._id_column)
        notes = (*self.rows.notes(), *fields.notes(name, self.rows.ignored), *raters.notes(name), *of_items)
        return HeldSource(Dataset(tuple(segments), name, notes), [self.rows.file])

    def _placed(self, fields: Fields) -> Iterator[tuple[int, Segment]]:
        for number, (place, row) in enumerate(self.rows, start=1):
            try:
                segments = fields.segments(row, number)
            except FieldError as error:
                offered = advice(self._head()) if number == 1 and isinstance(error, NoHypothesis) else ""
                self.rows.refuse(self.rows.at(place), f"{error}{offered}")
                continue
            for segment in segments:
                yield place, item_of_id(segment) if self._ids_are_items else segment

    def advice(self) -> Mapping[str, str]:
        """The same, and which column may hold what all segments lack."""
        return {**lacks(self._head(), self._given), **super().advice()}

    def _head(self) -> list[Any]:
        """The first rows that can be read, read anew."""
        counting, self.rows.refuse = self.rows.refuse, lambda place, reason: None
        try:
            return [*islice(self.rows.whole(), LOOKED)]
        finally:
            self.rows.refuse = counting

    @property
    def _id_column(self) -> str:
        columns = self._columns or {}
        return next((name for name, field in columns.items() if field == "id"), columns.get("id", "id"))

    def _name_duplicate(self, repeated: set[int], of_systems: bool) -> None:
        """Refuse the ids that really occur twice. Equal hashes alone do not prove that ids are equal.

        Args:
            repeated: hashes of ids that occur twice.
            of_systems: whether every row names its system, and none an item. If no system has an id twice, ids are
                those of items in the next pass.

        Raises:
            InputError: ids occur twice.
        """
        first: dict[str, tuple[int, Segment]] = {}
        outputs: dict[tuple[str | None, str], int] = {}
        faults, of_one = Faults(self.rows.file.name), Faults(self.rows.file.name)  # all; ids that a system has twice
        told: list[tuple[str, str]] = []  # of `faults`, which may turn out to be none
        fields, had = Fields(self._columns), 0
        for place, segment in self._placed(fields):
            made = " (made from system and seg, or from the row number)" if fields.made > had else ""
            had = fields.made
            if hash(segment.id) not in repeated:
                continue
            before = outputs.setdefault((segment.system, segment.id), place)
            of_systems = of_systems and not made
            if before != place:
                said = f"duplicate id {segment.id!r} of system {segment.system!r}, first at {self.rows.at(before)}"
                of_one.add(self.rows.at(place), f"{said}; each system has an id once")
            if segment.id in first:
                before, one = first[segment.id]
                way = f"; {WHOSE}" if made else ""
                if made and segment.group != one.group:
                    way = "; a group (lp, task) is no part of it, so give each row an id"
                elif not made and segment.system not in (None, one.system):
                    column = self._id_column
                    seg = f"--columns seg={column} (columns={{'seg': {column!r}}})"
                    way = f"; if it names the input that each system had, say {seg}"
                same = f"duplicate id {segment.id!r}{made}, first at {self.rows.at(before)}; ids must be unique{way}"
                told += [(self.rows.at(place), same)] if len(told) < MANY else []
            else:
                first[segment.id] = place, segment
        if of_systems and of_one.n < len(told):  # an id names the input that each system had
            of_one.check()
            self._ids_are_items = True
        for where, same in told:
            faults.add(where, same)
        faults.check()


class HeldSource(Source):
    """The segments of a dataset in memory, at least one, with all files that were read for them.

    Args:
        data: the segments. Their notes say what was left out.
        files: all files that were read for them.
        inputs: files that were read before, as a result names them.
    """

    def __init__(self, data: Dataset, files: Sequence[InputFile], inputs: Sequence[Mapping[str, str]] = ()) -> None:
        if not data.segments:
            raise InputError(f"{data.name} is empty: no segment in it, expected at least one")
        self.data = data
        self._files, self._inputs = list(files), inputs

    def _check(self) -> Summary:
        return self._tally().summary([*self._inputs, *(file.entry for file in self._files)], self.data.notes)

    def _segments(self) -> Iterator[Segment]:
        return iter(self.data)

    def close(self) -> None:
        """Delete temporary copies of what cannot be read twice."""
        for file in self._files:
            file.close()


class JoinedSource(Source):
    """The segments of several sources, one for each system. Segments of one item are those of one `item`, or else `id`.

    Several data files, `nlgauge score bart.jsonl t5.jsonl`, are joined like this. Where no row of a file names a
    system, it is named after the file. Files that have systems in common and no item twice are parts of one set.

    Args:
        named: each source with the name that its system has where its segments name none.

    Raises:
        InputError: when it is checked: a system has an item in two of them.
    """

    def __init__(self, named: Sequence[tuple[str, Source]]) -> None:
        self._named = list(named)
        self._of_parts: set[str] = set()  # systems that two sources have

    def _check(self) -> Summary:
        seen: dict[str, str] = {}
        twice: dict[tuple[str, str, str], None] = {}  # two sources, and a system that both have
        parts = []
        for name, source in self._named:
            parts.append(part := source.check())
            for system in part.systems:
                own = name if system is None else system
                if seen.setdefault(own, name) != name:
                    twice[seen[own], name, own] = None
        inputs = [entry for part in parts for entry in part.inputs]
        self._of_parts = {own for _, _, own in twice}
        tally = Tally()
        held: dict[tuple[str, str], dict[str | None, str]] = {}  # system, item -> group -> the source that has it
        of_ids: dict[str, str] = {}
        for name, segment in self._by_source():
            tally.add(segment)
            if segment.system not in self._of_parts:
                continue
            groups = held.setdefault((str(segment.system), str(segment.item)), {})  # each has both here
            groups.setdefault(segment.group, name)
            same = [other for group, other in groups.items() if segment.group in (group, None) or group is None]
            for other in (other for other in (*same, of_ids.setdefault(segment.id, name)) if other != name):
                raise InputError(
                    f"system {segment.system!r} is in two data files, {other!r} and {name!r}, and has item"
                    f" {segment.item!r} in both; expected each item in one, and a name of its own for each of two runs"
                )
        told = [
            f"data files {one!r} and {other!r} have systems in common, and are taken for parts of one set"
            for one, other in dict.fromkeys((one, other) for one, other, _ in twice)
        ]
        return tally.summary(inputs, [*(note for part in parts for note in part.notes), *told])

    def advice(self) -> Mapping[str, str]:
        """That of the first source."""
        return self._named[0][1].advice()

    def close(self) -> None:
        """Close all."""
        for _, source in self._named:
            source.close()

    def _segments(self) -> Iterator[Segment]:
        return (segment for _, segment in self._by_source())

    def _by_source(self) -> Iterator[tuple[str, Segment]]:
        for name, source in self._named:
            for block in source.blocks():
                for segment in block:
                    system = name if segment.system is None else segment.system
                    own = segment.id if segment.id.startswith(f"{system}:") else f"{system}:{segment.id}"
                    own = own if segment.group is None or system not in self._of_parts else f"{segment.group}:{own}"
                    item = segment.id if segment.item is None else segment.item
                    yield name, replace(segment, id=own, system=system, item=item)


# --- Some of the segments of a source: without certain systems, or only the items that all systems have

_Item = tuple[str | None, str | None]  # group, item
Unreferenced = Literal["leave-out", "empty"]


class SelectedSource(Source):
    """Some of the segments of another source.

    Args:
        source: all segments.
        exclude: systems to leave out.
        common: keep only the items for which every system that is left has a segment.
        unreferenced: what becomes of segments without references where others have some: they are left out, or an empty
            text is their reference, as where the right answer is none.

    Raises:
        InputError: when it is checked: a name in `exclude` is not that of a system, nothing is left, or a segment names
            no system or item, which `common` needs.
    """

    def __init__(
        self,
        source: Source,
        exclude: Collection[str] = (),
        common: bool = False,
        unreferenced: Unreferenced | None = None,
    ) -> None:
        self.source, self.exclude, self.common, self.unreferenced = source, frozenset(exclude), common, unreferenced
        self._shared: set[_Item] | None = None

    def _check(self) -> Summary:
        whole = self.source.check()
        systems = [system for system in whole.systems if system is not None]
        for name in self.exclude:
            if name not in systems:
                raise InputError(f"exclude names {name!r}, which is not among the systems{nearest(name, systems)}")
        notes = [*whole.notes]
        if self.exclude:
            notes.append(f"systems left out: {', '.join(s for s in systems if s in self.exclude)}")
        if self.unreferenced is not None and "references" in whole.present:
            notes.append(self._count_unreferenced())
        if self.common:
            notes.append(self._choose_items())
        tally = self._tally()
        if not tally.n:
            why = "no item is common to all systems" if self.common else "all are left out"
            raise InputError(f"no segment is left: {why}")
        return tally.summary(whole.inputs, notes)

    def advice(self) -> Mapping[str, str]:
        """That of the source."""
        return self.source.advice()

    def close(self) -> None:
        """Close the source."""
        self.source.close()

    def _segments(self) -> Iterator[Segment]:
        for segment in (segment for block in self.source.blocks() for segment in block):
            is_chosen = self._shared is None or (segment.group, segment.item) in self._shared
            if segment.system in self.exclude or not is_chosen:
                continue
            if segment.references or self.unreferenced is None:
                yield segment
            elif self.unreferenced == "empty":
                yield replace(segment, references=("",))

    def _count_unreferenced(self) -> str:
        """How many segments have no reference, and what becomes of them."""
        n = sum(not segment.references for block in self.source.blocks() for segment in block)
        left = "an empty text is taken for theirs" if self.unreferenced == "empty" else "they are left out"
        return f"{counted(n, 'segment')} without references: {left}"

    def _choose_items(self) -> str:
        """Keep the items that all systems have; how many these are."""
        held: dict[str, set[_Item]] = {}
        same = SameInputs()
        for segment in self._segments():
            if segment.system is None or segment.item is None:
                lacking = "system" if segment.system is None else "item"
                raise InputError(f"segment {segment.id!r} names no {lacking}; common items need both in every row")
            held.setdefault(segment.system, set()).add((segment.group, segment.item))
            same.add([segment])
        every = set[_Item]().union(*held.values())
        shared = every.intersection(*held.values()) - same.refused().keys()
        self._shared = shared
        return f"{len(shared)} of {len(every)} items are those of all {len(held)} systems; the others are left out"
