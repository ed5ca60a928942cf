"""TSV: a header, then one row per line. Cells are separated by tabs, and there is no quoting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.segment import repeated
from nlgauge.io.csvtable import CsvRows
from nlgauge.io.fields import CRITERION, NAMES, FieldError, advice, is_known, reference_columns
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Lines, refuse


class TsvRows:
    """The rows of a TSV file, as (line number, field -> value). Each iteration reads the file again.

    An empty cell is an absent value, with two exceptions. In `hyp` it is an empty hypothesis. If all reference columns
    of a row are empty, the row has one empty reference.

    Attributes:
        ignored: columns that are not read.

    Raises:
        InputError: there is no column `hyp`, a column occurs twice, a row has another number of cells, or a cell cannot
            be read as its column requires. Also what `Lines` raises.
    """

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.lines = Lines(file)
        self.ignored: list[str] = []
        self.refuse: Callable[[str, str], object] = refuse

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        lines = iter(self.lines)
        _, header = next(lines, (0, None))
        if header is None:
            return
        columns = self._columns(header)
        width = len(columns)
        places = {name: place for place, name in enumerate(columns)}
        references = [places[name] for name in reference_columns(columns)]
        ratings = [(place, name) for place, name in enumerate(columns) if name.startswith(CRITERION)]
        others = [(place, name, _reader(name)) for place, name in enumerate(columns) if name in NAMES and name != "ref"]
        longest = self.file.limits.segment
        for number, line in lines:
            cells = line.split("\t")
            if len(line) > longest:
                self.file.limits.check_cells(cells, self.at(number))
            if len(cells) != width:
                if not line:
                    self.lines.blank += 1
                    continue
                self.refuse(
                    self.at(number),
                    f"{_count(len(cells))}, expected {width} as in the header; a text must hold no tab and no line"
                    " break",
                )
                continue
            try:
                row = {name: read(cells[place], name) for place, name, read in others}
                if references:
                    texts = [cells[place] for place in references if cells[place]]
                    if row.get("refs") is None:
                        row["refs"] = texts or [""]
                    elif texts:
                        raise FieldError(
                            f"fields 'refs' and {columns[references[0]]!r} are both given, expected one of them"
                        )
                if ratings and isinstance(
                    whole := row.get("human") or {}, dict
                ):  # what is no object is refused by its type, with the rest
                    row["human"] = whole | {
                        name.removeprefix(CRITERION): _rating(cells[place], name) for place, name in ratings
                    }
            except FieldError as error:
                self.refuse(self.at(number), str(error))
                continue
            yield number, row

    def at(self, number: int) -> str:
        """The place of a row, for an error message."""
        return self.lines.at(number)

    def notes(self) -> list[str]:
        """Notes on dropped or skipped input, known after a complete pass."""
        return self.lines.notes()

    def _columns(self, header: str) -> list[str]:
        columns = header.split("\t")
        self.file.limits.check("columns", len(columns), self.at(1))
        shown = ", ".join(map(repr, columns))
        if "hyp" not in columns:
            raise InputError(f"{self.at(1)}: the header has no column 'hyp'; columns found: {shown}{advice(columns)}")
        twice = repeated(filter(is_known, columns))
        if twice is not None:
            raise InputError(f"{self.at(1)}: the header names column {twice!r} twice")
        self.ignored = [name for name in columns if not is_known(name)]
        return columns


def tsv_rows(file: InputFile, columns: Mapping[str, str] | None = None) -> TsvRows | CsvRows:
    """The rows of a TSV file; those whose columns have other names are read as CSV between tabs."""
    return TsvRows(file) if columns is None else CsvRows(file, columns, "\t")


def _reader(name: str) -> Callable[[str, str], Any]:
    if name == "hyp":
        return lambda cell, name: cell
    if name in ("refs", "context", "table", "human"):
        return lambda cell, name: _json(cell, name) if cell else None
    return lambda cell, name: cell or None


def _rating(cell: str, name: str) -> Any:
    if cell.startswith("["):
        return _json(cell, name)
    try:
        number = float(cell) if cell else math.nan
    except ValueError:
        raise FieldError(f"field {name!r} is {cell!r}, expected a number") from None
    return None if math.isnan(number) else number


def _json(cell: str, name: str) -> Any:
    try:
        return msgspec.json.decode(cell)
    except (msgspec.DecodeError, RecursionError):
        expected = _JSON.get(name, "a number or a list of numbers")
        advice = "; write a single reference into a column 'ref'" if name == "refs" else ""
        raise FieldError(f"field {name!r} is not valid JSON, expected {expected} in the cell{advice}") from None


_JSON = {"refs": "a list of strings", "context": "a list of turns", "table": "a list of records", "human": "an object"}


def _count(cells: int) -> str:
    return f"{cells} {'cell' if cells == 1 else 'cells'}"
