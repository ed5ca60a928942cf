"""Write rows as they come, in a format chosen by extension: TSV, CSV, JSON lines or Parquet. Whole or not at all."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO, Any, TypeGuard

import msgspec
import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError
from nlgauge.core.result import STDOUT, check_name, harmless
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Segment
from nlgauge.io.files import writing_bytes
from nlgauge.io.frames import import_pyarrow

Column = Sequence[str | None] | npt.NDArray[np.float64]
Columns = Mapping[str, Column]


def segment_columns(segments: Sequence[Segment], scores: Mapping[str, Scores]) -> dict[str, Column]:
    """The columns of segment rows: `id`, `seg`, `system`, then each metric as typed, and its parts as `spec.part`.

    Args:
        segments: n of them.
        scores: spec as typed -> scores of those segments, in their order.

    Raises:
        InputError: scores of other segments, or two columns of one name.
    """
    columns: dict[str, Column] = {
        "id": [s.id for s in segments],
        "seg": [s.item for s in segments],
        "system": [s.system for s in segments],
    }
    for spec, values in scores.items():
        if list(values.ids) != columns["id"]:
            raise InputError(
                f"scores of {spec} are not those of the segments beside them ({len(values)} scores, {len(segments)}"
                " segments)"
            )
        for name, column in {
            spec: values.values,
            **{f"{spec}.{part}": column for part, column in values.parts.items()},
        }.items():
            if name in columns:
                raise InputError(f"two columns would be named {name!r}; name one metric in another way")
            columns[name] = column
    return columns


@contextmanager
def writing(path: str | os.PathLike[str], *, spreadsheet: bool = False) -> Iterator[Callable[[Columns], None]]:
    """A function that appends rows to a table. It takes columns of equal length, the same ones at every call.

    The file takes its name when the block ends without an error. Until then it has another name in the same folder.
    Numbers are written in full, so that reading them gives the same float64. NaN is an empty cell or null.

    Args:
        path: a name in `.tsv`, `.csv`, `.jsonl` (also with `.gz`) or `.parquet`; `-` is TSV on standard output.
        spreadsheet: put `'` before texts of TSV and CSV that a spreadsheet takes for formulas.

    Raises:
        InputError: the extension is another one, the folder is missing or cannot be written, or a cell of a TSV has a
            tab or a line break.
        MissingExtra: the file is Parquet, and pyarrow is not installed.
    """
    path = os.fspath(path)
    make = kind_of(path)
    with writing_bytes(path) as file:
        sink = make(file, path)
        names: list[str] | None = None

        def write(columns: Columns) -> None:
            nonlocal names
            try:
                if spreadsheet and isinstance(sink, _Csv):
                    columns = {harmless(name): _harmless(column) for name, column in columns.items()}
                if names is None:
                    names = list(columns)
                    sink.start(columns)
                if list(columns) != names:
                    raise InputError(f"{path}: columns are {list(columns)}, expected {names} as before")
                sink.write(columns)
            except OSError as error:
                raise InputError(f"cannot write {path}: {error.strerror or error}") from None

        try:
            yield write
        finally:
            sink.close()


def kind_of(path: str) -> type[_Csv] | type[_JsonLines] | type[_Parquet]:
    """The writer of a table of that name; raises as `writing` does."""
    check_name(path)
    extension = PurePath(path.removesuffix(".gz")).suffix.lower()
    kind = _Tsv if path == STDOUT else _SINKS.get(extension)
    if kind is None or (kind is _Parquet and path.endswith(".gz")):
        raise InputError(
            f"{path}: cannot tell what to write from the name, expected .tsv, .csv, .jsonl (or with .gz) or .parquet"
        )
    if kind is _Parquet:
        import_pyarrow()
    return kind


def is_cells(path: str | None) -> bool:
    """Whether a table of that name is TSV or CSV, which spreadsheets open."""
    return path is not None and issubclass(kind_of(path), _Csv)


class _Csv:
    def __init__(self, file: IO[bytes], path: str) -> None:
        self._file, self._path = file, path

    def start(self, columns: Columns) -> None:
        self._lines([self._texts(list(columns), "column name")])

    def write(self, columns: Columns) -> None:
        cells = [
            _shown(column) if _is_numbers(column) else self._texts(column, name) for name, column in columns.items()
        ]
        self._lines(zip(*cells, strict=True))

    def close(self) -> None:
        pass

    def _texts(self, column: Any, name: str) -> list[str]:
        return ["" if text is None else text for text in column]

    def _lines(self, rows: Any) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        self._file.write(text.getvalue().encode("utf-8"))


class _Tsv(_Csv):
    def _texts(self, column: Any, name: str) -> list[str]:
        texts = super()._texts(column, name)
        for text in texts:
            if "\t" in text or "\n" in text or "\r" in text:
                raise InputError(
                    f"{self._path}: {name} {text!r} holds a tab or a line break, which TSV cannot hold; write .jsonl or"
                    " .parquet"
                )
        return texts

    def _lines(self, rows: Any) -> None:
        self._file.write("".join(["\t".join(row) + "\n" for row in rows]).encode("utf-8"))


class _JsonLines:
    def __init__(self, file: IO[bytes], path: str) -> None:
        self._file, self._encoder = file, msgspec.json.Encoder()

    def start(self, columns: Columns) -> None:
        pass

    def write(self, columns: Columns) -> None:
        # msgspec writes what JSON cannot hold, NaN, as null
        lists = [column.tolist() if _is_numbers(column) else column for column in columns.values()]
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]
        self._file.write(self._encoder.encode_lines(rows))

    def close(self) -> None:
        pass


class _Parquet:
    def __init__(self, file: IO[bytes], path: str) -> None:
        self._file, self._writer = file, None
        self._arrow, self._parquet = import_pyarrow()

    def start(self, columns: Columns) -> None:
        arrow = self._arrow
        self._schema = arrow.schema(
            [(name, arrow.float64() if _is_numbers(column) else arrow.string()) for name, column in columns.items()]
        )
        self._writer = self._parquet.ParquetWriter(self._file, self._schema)

    def write(self, columns: Columns) -> None:
        arrays = [
            self._arrow.array(c, mask=np.isnan(c)) if _is_numbers(c) else self._arrow.array(c, self._arrow.string())
            for c in columns.values()
        ]
        assert self._writer is not None  # start comes first
        self._writer.write_batch(self._arrow.record_batch(arrays, schema=self._schema))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


_SINKS: dict[str, type[_Csv] | type[_JsonLines] | type[_Parquet]] = {
    ".tsv": _Tsv,
    ".csv": _Csv,
    ".jsonl": _JsonLines,
    ".ndjson": _JsonLines,
    ".parquet": _Parquet,
}


def _is_numbers(column: Any) -> TypeGuard[npt.NDArray[np.float64]]:
    return isinstance(column, np.ndarray) and column.dtype == np.float64


def _harmless(column: Column) -> Column:
    return column if _is_numbers(column) else [None if text is None else harmless(text) for text in column]


def _shown(column: npt.NDArray[np.float64]) -> list[str]:
    return ["" if value != value else repr(value) for value in column.tolist()]
