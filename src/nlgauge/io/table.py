"""Files with one row per segment. The rows of every format are checked as they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.io.fields import FieldError, Fields
from nlgauge.io.files.files import InputFile
from nlgauge.io.source import BLOCK, BLOCK_CHARACTERS, Summary, Tally, in_blocks

_SHOWN = 8  # names of ignored fields in a note


class Rows(Protocol):
    """What a format provides: each row's place (a line or row number) and its fields, without `ignored` columns."""

    file: InputFile
    ignored: list[str]

    def __iter__(self) -> Iterator[tuple[int, Any]]: ...

    def at(self, number: int) -> str:
        """The place of a row, for an error message."""
        ...

    def notes(self) -> list[str]:
        """What was dropped or skipped, known after a complete pass."""
        ...


class TableSource:
    """A `Source` over the rows of one file.

    Args:
        rows: the rows of a file in any format.
        columns: which field of a row holds which of ours; see `Fields`.
    """

    def __init__(self, rows: Rows, columns: Mapping[str, str] | None = None) -> None:
        self.rows = rows
        self._columns = columns
        self._summary: Summary | None = None

    def check(self) -> Summary:
        """Read everything once; see `Source.check`."""
        if self._summary is None:
            for _ in self.checked():
                pass
        assert self._summary is not None  # set at the end of the pass
        return self._summary

    def blocks(self, size: int = BLOCK, characters: int = BLOCK_CHARACTERS) -> Iterator[list[Segment]]:
        """The segments in order, after a check; see `Source.blocks`."""
        self.check()
        return in_blocks((segment for _, segment in self._segments(Fields(self._columns))), size, characters)

    def close(self) -> None:
        """Delete the temporary copy of standard input, if there is one."""
        self.rows.file.close()

    def checked(self) -> Iterator[Segment]:
        """The segments of one pass. It ends with an error if anything was wrong; otherwise it keeps the summary."""
        fields, tally = Fields(self._columns), Tally()
        for _, segment in self._segments(fields):
            tally.add(segment)
            yield segment
        if not tally.n:
            raise InputError(f"{self.rows.file.name} is empty: no row in it, expected at least one segment")
        repeated = tally.repeated()
        if repeated:
            self._name_duplicate(repeated)
        self._summary = tally.summary([self.rows.file.entry], [*self.rows.notes(), *self._told(fields)])

    def _segments(self, fields: Fields) -> Iterator[tuple[int, Segment]]:
        for number, (place, row) in enumerate(self.rows, start=1):
            try:
                segment = fields.segment(row, number)
            except FieldError as error:
                raise InputError(f"{self.rows.at(place)}: {error}") from None
            yield place, segment

    def _name_duplicate(self, repeated: set[int]) -> None:
        """Refuse the first id that really occurs twice. Equal hashes alone do not prove that ids are equal."""
        first: dict[str, int] = {}
        fields, had = Fields(self._columns), 0
        for place, segment in self._segments(fields):
            made = " (made from system and seg, or from the row number)" if fields.made > had else ""
            had = fields.made
            if hash(segment.id) not in repeated:
                continue
            if segment.id in first:
                raise InputError(
                    f"{self.rows.at(place)}: duplicate id {segment.id!r}{made}, first at"
                    f" {self.rows.at(first[segment.id])}; ids must be unique"
                )
            first[segment.id] = place

    def _told(self, fields: Fields) -> Iterator[str]:
        name = self.rows.file.name
        if fields.made:
            yield (
                f"{name}: {fields.made} {'row has' if fields.made == 1 else 'rows have'} no id; made from system and"
                " seg, or from the row number"
            )
        ignored = list(dict.fromkeys([*self.rows.ignored, *fields.ignored]))
        if ignored:
            more = f" and {len(ignored) - _SHOWN} more" if len(ignored) > _SHOWN else ""
            yield f"{name}: fields ignored: {', '.join(map(repr, ignored[:_SHOWN]))}{more}"
