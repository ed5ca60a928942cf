"""The interface of every input: one pass that checks it, and any number of passes that stream it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from nlgauge.core.segment import Segment

BLOCK = 65_536
BLOCK_CHARACTERS = 1 << 25  # long documents end a block early, so that memory does not depend on how long texts are
OPTIONAL = ("references", "source", "system", "item", "group", "human", "context", "table")


@dataclass(frozen=True)
class Summary:
    """What a complete pass over an input found.

    Attributes:
        n: the number of segments.
        systems: system -> number of its segments, in order of first appearance. None stands for segments that do not
            name a system.
        groups: group -> number of its segments, likewise.
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


class Source(Protocol):
    """Segments in files, read in passes that hold one block at a time."""

    def check(self) -> Summary:
        """Read everything once and say what was found. A second call reads nothing.

        Raises:
            InputError: there is an error in the input. The message names the file and line of the first one.
        """
        ...

    def blocks(self, size: int = BLOCK, characters: int = BLOCK_CHARACTERS) -> Iterator[list[Segment]]:
        """The segments in order, in lists of at most `size` segments and about `characters` of text.

        An input that has not been checked is checked first, so that nothing is scored before everything is known to be
        correct.
        """
        ...

    def close(self) -> None:
        """Delete temporary copies. After this the source cannot be read."""
        ...


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
        for criterion in segment.human:
            if criterion not in self.criteria:
                self.criteria[criterion] = None
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
