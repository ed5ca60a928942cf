"""Parts of large files, each of which is read alone: rows of Parquet, bytes of JSON lines and of parallel texts."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.io.fields import Fields
from nlgauge.io.files import BOM, InputFile, Lines, is_packed
from nlgauge.io.frames import ParquetRows, import_pyarrow
from nlgauge.io.parallel import ParallelSource, open_parallel
from nlgauge.io.read import open_data
from nlgauge.io.rows import JsonRows, is_array
from nlgauge.io.segments import SelectedSource, Source, TableSource

_SHARES = 16  # parts of a row group, at most: each reads the group from its beginning
_WAY_OUT = "write Parquet, JSON lines or one text per line, not compressed"


@dataclass(frozen=True)
class Inputs:
    """The files of one input, as typed: a data file, or parallel texts; without the systems in `exclude`."""

    data: str | None = None
    columns: Mapping[str, str] | None = None
    hypotheses: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    source: str | None = None
    exclude: tuple[str, ...] = ()

    @property
    def paths(self) -> list[str]:
        """All files, in the order in which spans list them."""
        return [path for path in (self.data, *self.hypotheses, *self.references, self.source) if path is not None]

    def opened(self) -> Source:
        """All segments but those of systems that are left out."""
        source: Source = (
            open_parallel(self.hypotheses, self.references, self.source)
            if self.data is None
            else open_data(self.data, columns=self.columns)
        )
        return SelectedSource(source, self.exclude) if self.exclude else source


@dataclass(frozen=True)
class InputPart:
    """A part of an input: how many rows are before it, how many it has, and the bytes [start, stop) of each file.

    A row of parallel texts is an item with all its systems. Rows of Parquet are found by their number, without bytes.
    """

    first: int
    rows: int
    ranges: tuple[tuple[int, int], ...] = ()


def cut(inputs: Inputs, rows: int) -> list[InputPart]:
    """Parts of an input, about `rows` rows each. The same files give the same parts.

    `--engine` reads Parquet (by row groups), JSON lines, and texts with one segment per line, plain and not compressed:
    each worker reads its own rows from the middle of the file. Anything else is refused. The whole input is read and
    checked once before anything is scored; ids, order and notes are those of a run in one piece.

    Raises:
        InputError: a file cannot be read from the middle: it is compressed, a pipe, an array of JSON or another format.
    """
    files = [_plain(path) for path in inputs.paths]
    if inputs.data is None:
        spans = _lines(files, max(1, rows // max(1, len(inputs.hypotheses))), blank=False)
        texts = open_parallel(inputs.hypotheses, inputs.references, inputs.source)
        if not texts.by_line:
            raise InputError(f"{', '.join(inputs.paths)} cannot be read in parts; {_WAY_OUT}")
        return spans
    source = open_data(inputs.data, columns=inputs.columns)
    table = source.rows if isinstance(source, TableSource) else None
    if isinstance(table, ParquetRows):
        return _groups(table.file, rows)
    if isinstance(table, JsonRows) and not is_array(table.file):
        return _lines(files, rows, blank=True)
    raise InputError(f"{inputs.data} cannot be read in parts; {_WAY_OUT}")


def read_span(inputs: Inputs, span: InputPart) -> list[Segment]:
    """The segments of a span, as the whole input has them: the same ids, the same order."""
    return [segment for segment in _read(inputs, span) if segment.system not in inputs.exclude]


def _read(inputs: Inputs, span: InputPart) -> list[Segment]:
    if inputs.data is None:
        return list(_parallel(inputs, span))
    if span.ranges:
        rows: Any = JsonRows(_Range(inputs.data, *span.ranges[0]))
    else:
        rows = ParquetRows(InputFile(inputs.data), inputs.columns, range(span.first, span.first + span.rows))
    fields = Fields(inputs.columns)
    if span.ranges and span.first:
        fields.settle(next(iter(JsonRows(InputFile(inputs.data))))[1])  # the first row of the file says what is what
    numbered = enumerate(rows, start=span.first + 1)
    return [segment for number, (_, row) in numbered for segment in fields.segments(row, number)]


def _parallel(inputs: Inputs, span: InputPart) -> Iterator[Segment]:
    whole = open_parallel(inputs.hypotheses, inputs.references, inputs.source)
    lines = [Lines(_Range(path, *place), texts=True) for path, place in zip(inputs.paths, span.ranges, strict=True)]
    n, end = len(inputs.hypotheses), len(inputs.hypotheses) + len(inputs.references)
    source = lines[end] if inputs.source is not None else None
    part = ParallelSource(whole.systems, lines[:n], lines[n:end], source, before=span.first)
    for block in part.blocks():
        yield from block


class _Range(InputFile):
    """A file of which only the bytes [start, stop) are seen."""

    def __init__(self, path: str, start: int, stop: int) -> None:
        super().__init__(path)
        self.start, self._size = start, stop - start

    def open(self) -> io.BufferedReader:
        """Open the bytes of the range; see `InputFile.open`."""
        with super().open() as file:
            file.seek(self.start)
            return io.BufferedReader(io.BytesIO(file.read(self._size)))


def _plain(path: str) -> InputFile:
    """A file that can be read from the middle."""
    file = InputFile(path)
    if not file.is_plain:
        raise InputError(f"{file.name} is no plain file and cannot be read in parts; {_WAY_OUT}")
    with file.open() as raw:
        if is_packed(raw):
            raise InputError(f"{file.name} is compressed and cannot be read in parts; {_WAY_OUT}")
    return file


def _lines(files: Sequence[InputFile], rows: int, blank: bool) -> list[InputPart]:
    """Spans of so many lines of every file; with `blank`, lines of white space are no rows."""
    spans: list[InputPart] = []
    with ExitStack() as stack:
        opened = [stack.enter_context(file.open()) for file in files]
        starts, first, count = [0] * len(opened), 0, 0
        stops = list(starts)
        for lines in zip(*opened, strict=False):  # files that differ in length are refused when the input is checked
            text = lines[0] if stops[0] else lines[0].removeprefix(BOM)
            stops = [stop + len(line) for stop, line in zip(stops, lines, strict=True)]
            count += not (blank and not text.strip(b" \t\r\n"))
            if count == rows:
                spans.append(InputPart(first, count, tuple(zip(starts, stops, strict=True))))
                starts, first, count = stops, first + count, 0
        if count:
            spans.append(InputPart(first, count, tuple(zip(starts, stops, strict=True))))
    return spans


def _groups(file: InputFile, rows: int) -> list[InputPart]:
    """Spans of rows of a Parquet file: a row group, or a share of a large one."""
    _, parquet = import_pyarrow()
    with file.open() as raw:
        metadata = parquet.ParquetFile(raw).metadata
    sizes = [int(metadata.row_group(place).num_rows) for place in range(metadata.num_row_groups)]
    spans: list[InputPart] = []
    first = waiting = 0
    for size in sizes:
        if waiting and waiting + size > rows:
            spans.append(InputPart(first, waiting))
            first, waiting = first + waiting, 0
        if size <= rows:
            waiting += size
            continue
        step = max(rows, -(-size // _SHARES))
        for start in range(0, size, step):
            spans.append(InputPart(first + start, min(step, size - start)))
        first += size
    return [*spans, InputPart(first, waiting)] if waiting else spans


def stamp(path: str) -> tuple[int, int]:
    """Size and time of change of a file, by which a file that has changed is known.

    Raises:
        FileNotFoundError: it is no longer there.
    """
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns
