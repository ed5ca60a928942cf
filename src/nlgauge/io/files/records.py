"""Records of delimited text: lines that are parted into cells, as programs and spreadsheets write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Lines

_MOST = 10_000  # lines of one row; more means that a quote was never closed
_SEPARATOR = re.compile(r'"?sep=([,;\t|])"?')  # how a spreadsheet is told it


class Records:
    """Records of delimited text, as (number of the first line, cells). Each iteration reads the file again.

    Cells between commas may be quoted. So may cells between tabs if `quoted`, or if all names of the header are; else
    a cell is taken as it is, unless it is one that a spreadsheet quoted (see `cells_between_tabs`). Blanks around the
    names of the header are dropped. Lines of white space and rows of separators alone are skipped and counted in
    `notes`; with `keeps_blank`, which is for cells without quotes, an empty line is one empty cell.

    A file for commas may have semicolons, tabs or what a first line `sep=;` says, as spreadsheets write it, and lines
    may end in CR alone; the header tells.

    Raises:
        InputError: a quote is never closed, or text follows a closing quote.
    """

    def __init__(
        self, file: InputFile, delimiter: str = ",", *, quoted: bool = False, keeps_blank: bool = False
    ) -> None:
        self.lines = Lines(file)
        self._keeps_blank = keeps_blank
        self._given = delimiter
        self._quotes = quoted
        self._as(delimiter)

    def _as(self, delimiter: str, padded: bool = False, quoted: bool = False) -> None:
        """Settle how cells are parted: `padded` where a blank follows each separator."""
        self._delimiter, self._quoted = delimiter, quoted or self._quotes or self._given != "\t"
        mark = re.escape(delimiter)
        end = f"{mark} ?" if padded else mark
        self._cell: Callable[..., Any] = re.compile(rf'(?:"((?:[^"]|"")*)"|([^"{mark}][^{mark}]*|))({end}|\Z)').match

    def header(self) -> list[str]:
        """The names in the first record; none in an empty file."""
        return next(iter(self), (0, list[str]()))[1]

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        self._as(self._given)
        records = self._records(self._numbered())
        place, header = next(records, (0, None))
        if header is not None:
            yield place, [name.strip(" \r") for name in header]
            yield from records

    def _numbered(self) -> Iterator[tuple[int, str]]:
        """The lines from the header on, which settles how cells are parted, and whether CR alone ends lines."""
        lines: Iterator[tuple[int, str]] = iter(self.lines)
        number_, first = next(lines, (0, ""))
        parts = first.rstrip("\r").split("\r")
        if len(parts) > 1 and parts[0].count('"') % 2 == 0:
            lines = chain(enumerate(parts, start=1), lines)
            number_, first = next(lines)
        told = _SEPARATOR.fullmatch(first.rstrip("\r")) if self._given == "," else None
        mark = told[1] if told else self._given
        if told is not None:
            number_, first = next(lines, (0, ""))
        elif mark == "," and "," not in first:
            mark = next((other for other in ";\t" if other in first), mark)
        names = first.split(mark)
        padded = len(names) > 1 and all(name.startswith(" ") for name in names[1:])
        quoted = len(names) > 1 and all(len(n) > 2 and n.startswith('"') and n.endswith('"') for n in names)
        self._as(mark, padded, quoted)
        if number_:
            yield number_, first
        yield from lines

    def _records(self, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
        held: list[str] = []  # lines of a row whose end has not come yet
        first = quotes = size = place = 0
        longest = self.lines.file.limits.segment
        for number_, line in lines:
            if not held:
                if not line.strip(f"{self._delimiter} \t\r") and (self._delimiter in line or not self._keeps_blank):
                    self.lines.blank += 1
                    continue
                if not self._quoted:
                    cells = cells_between_tabs(line)
                    yield number_, cells if len(line) <= longest else self._checked(number_, cells, len(line))
                    continue
                first, quotes, size, place = number_, 0, 0, 0
            held.append(line)
            more = line.count('"')
            quotes, size = quotes + more, size + len(line)
            self.lines.file.limits.check("line", size, self.lines.at(first), is_whole=False)
            # Quotes come in pairs in every whole record: around a cell, or twice for one inside it.
            opened = (place if not more else self._open_cell("\n".join(held), place)) if quotes % 2 else None
            if opened is None:
                yield first, self._checked(first, self._cells("\n".join(held), first), size)
                held = []
            elif len(held) > _MOST:
                break
            else:
                place = opened
        if held:
            raise InputError(f"{self.lines.at(first)}: a double quote that begins a cell in this row is never closed")

    def notes(self) -> list[str]:
        """Notes on dropped or skipped input, known after a complete pass."""
        return self.lines.notes()

    def _checked(self, number_: int, cells: list[str], size: int) -> list[str]:
        if size > self.lines.file.limits.segment:
            self.lines.file.limits.check_cells(cells, self.lines.at(number_))
        return cells

    def _open_cell(self, text: str, place: int) -> int | None:
        """Where an unpaired quote opens a cell that continues; None if it merely stands in an unquoted cell.

        Args:
            text: the lines of the row so far.
            place: the beginning of a cell of it; those before are whole.
        """
        while place < len(text):
            match = self._cell(text, place)
            if match is None:
                return place if text[place] == '"' else None
            place = match.end()
        return None

    def _cells(self, text: str, number_: int) -> list[str]:
        cells: list[str] = []
        place = 0
        while True:
            match = self._cell(text, place)
            if match is None:
                where = f"{self.lines.at(number_)}: cell {len(cells) + 1}"
                raise InputError(f"{where}: text after the closing quote; a quote inside a cell is written twice")
            quoted, bare, end = match.groups()
            cells.append(bare if quoted is None else quoted.replace('""', '"'))
            if match.end() == len(text):
                return [*cells, ""] if end else cells
            place = match.end()


def cells_between_tabs(line: str) -> list[str]:
    """The cells of a line of TSV, which is not quoted. What a spreadsheet quoted is undone: a cell that begins and ends
    with a quote and holds others, each written twice."""
    cells = line.split("\t")
    return [_undone(cell) for cell in cells] if '""' in line else cells


def _undone(cell: str) -> str:
    inner = cell[1:-1]
    quoted = cell[:1] == cell[-1:] == '"' and '""' in inner and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if quoted else cell
