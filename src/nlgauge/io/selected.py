"""Some of the segments of a source: without certain systems, or only the items that all systems have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.segment import Segment
from nlgauge.io.source import BLOCK, BLOCK_CHARACTERS, Source, Summary, Tally, in_blocks

_Item = tuple[str | None, str | None]  # group, item


class SelectedSource:
    """A `Source` over some of the segments of another.

    Args:
        source: all segments.
        exclude: systems to leave out.
        common: keep only the items for which every system that is left has a segment.

    Raises:
        InputError: when it is checked: a name in `exclude` is not that of a system, nothing is left, or a segment names
            no system or item, which `common` needs.
    """

    def __init__(self, source: Source, exclude: Collection[str] = (), common: bool = False) -> None:
        self.source, self.exclude, self.common = source, frozenset(exclude), common
        self._summary: Summary | None = None
        self._keeps: Callable[[Segment], bool] = lambda segment: segment.system not in self.exclude

    def check(self) -> Summary:
        """Read everything, choose, and count what is left; see `Source.check`."""
        if self._summary is None:
            whole = self.source.check()
            systems = [system for system in whole.systems if system is not None]
            for name in self.exclude:
                if name not in systems:
                    raise InputError(f"exclude names {name!r}, which is not among the systems{nearest(name, systems)}")
            notes = [*whole.notes]
            if self.exclude:
                notes.append(f"systems left out: {', '.join(s for s in systems if s in self.exclude)}")
            if self.common:
                notes.append(self._choose_items())
            tally = Tally()
            for segment in self._segments():
                tally.add(segment)
            if not tally.n:
                raise InputError(
                    "no segment is left: " + ("no item is common to all systems" if self.common else "all are left out")
                )
            self._summary = tally.summary(whole.inputs, notes)
        return self._summary

    def blocks(self, size: int = BLOCK, characters: int = BLOCK_CHARACTERS) -> Iterator[list[Segment]]:
        """The chosen segments in order; see `Source.blocks`."""
        self.check()
        return in_blocks(self._segments(), size, characters)

    def close(self) -> None:
        """Close the source."""
        self.source.close()

    def _segments(self) -> Iterator[Segment]:
        return (segment for block in self.source.blocks() for segment in block if self._keeps(segment))

    def _choose_items(self) -> str:
        """Keep the items that all systems have; how many these are."""
        held: dict[str, set[_Item]] = {}
        for segment in self._segments():
            if segment.system is None or segment.item is None:
                lacking = "system" if segment.system is None else "item"
                raise InputError(f"segment {segment.id!r} names no {lacking}; common items need both in every row")
            held.setdefault(segment.system, set()).add((segment.group, segment.item))
        every = set[_Item]().union(*held.values())
        shared = every.intersection(*held.values())
        self._keeps = lambda segment: segment.system not in self.exclude and (segment.group, segment.item) in shared
        return f"{len(shared)} of {len(every)} items are those of all {len(held)} systems; the others are left out"
