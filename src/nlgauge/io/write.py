"""Write rows as they come, in a format chosen by extension: TSV, CSV, JSON lines or Parquet. Whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import PurePath
from typing import IO, Any, TypeGuard

import msgspec
import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError
from nlgauge.core.result import STDOUT, check_name, check_target, harmless, is_special
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Segment
from nlgauge.io.files import writing_bytes
from nlgauge.io.frames import import_pyarrow

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Column = Sequence[str | None] | npt.NDArray[np.float64]
Columns = Mapping[str, Column]


def segment_columns(segments: Sequence[Segment], scores: Mapping[str, Scores]) -> dict[str, Column]:
    """The columns of segment rows: `id`, `seg`, `system`, then each metric as typed, and its parts as `spec.part`.

    Scores of other segments, and two columns of one name, are refused.
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
    """A function that appends rows to a table.

    What `--segments FILE` writes has one row per segment: `id`, `seg`, `system`, then for each metric its specification
    as typed, and its parts as `SPEC.PART` (`bertscore.precision`). `audit --segments` has one row per pair: the pair,
    whose tabs and line breaks are blanks in TSV, and `SPEC.better`, `SPEC.worse` and `SPEC.won`: both scores, and 1,
    0.5 for a tie or 0. Beside FILE lies `FILE.meta.json`, with the SHA-256 of the file and, for each metric, its
    signature and whether higher is better. Cells are written as they are. A spreadsheet takes one that begins with `=`,
    `+`, `-`, `@`, a tab or a line break for a formula and runs it: with the variable `NLGAUGE_SPREADSHEET=1` a `'`
    stands before names and ids like that.

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
    kind = kind_of(path)
    with writing_bytes(path) as file, ExitStack() as opened:
        append: Callable[[Columns], None] | None = None
        names: list[str] = []

        def write(columns: Columns) -> None:
            nonlocal append, names
            try:
                if spreadsheet and kind in _CELLS:
                    columns = {harmless(name): _harmless(column) for name, column in columns.items()}
                if append is None:
                    names = list(columns)
                    append = _appending(kind, file, path, columns, opened)
                if list(columns) != names:
                    raise InputError(f"{path}: columns are {list(columns)}, expected {names} as before")
                append(columns)
            except OSError as error:
                raise InputError(f"cannot write {path}: {error.strerror or error}") from None

        yield write


_KINDS = {".tsv": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_CELLS = ("csv", "tsv")  # which spreadsheets open


def kind_of(path: str) -> str:
    """What a table of that name is written as: `tsv`, `csv`, `jsonl` or `parquet`; raises as `writing` does."""
    check_name(path)
    kind = "tsv" if path == STDOUT else _KINDS.get(PurePath(path.removesuffix(".gz")).suffix.lower())
    if kind is None or (kind == "parquet" and path.endswith(".gz")):
        raise InputError(
            f"{path}: cannot tell what to write from the name, expected .tsv, .csv, .jsonl (or with .gz) or .parquet"
        )
    if kind == "parquet":
        import_pyarrow()
    return kind


def _appending(kind: str, file: IO[bytes], path: str, columns: Columns, opened: ExitStack) -> Callable[[Columns], None]:
    """A function that appends rows to a file of these columns, whose header is written; `opened` ends it."""
    if kind == "parquet":
        return _parquet_rows(file, columns, opened)
    if kind == "jsonl":
        return partial(_json_rows, file, msgspec.json.Encoder())
    rows, texts = (_tsv, partial(_tsv_texts, path)) if kind == "tsv" else (_csv, _texts)
    file.write(rows([texts(list(columns), "column name")]))

    def append(columns: Columns) -> None:
        cells = [_shown(column) if _is_numbers(column) else texts(column, name) for name, column in columns.items()]
        file.write(rows(zip(*cells, strict=True)))

    return append


def _csv(rows: Iterable[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8")


def _tsv(rows: Iterable[Sequence[str]]) -> bytes:
    return "".join(["\t".join(row) + "\n" for row in rows]).encode("utf-8")


def _texts(column: Any, name: str) -> list[str]:
    return ["" if text is None else text for text in column]


def _tsv_texts(path: str, column: Any, name: str) -> list[str]:
    texts = _texts(column, name)
    for text in texts:
        if "\t" in text or "\n" in text or "\r" in text:
            raise InputError(
                f"{path}: {name} {text!r} holds a tab or a line break, which TSV cannot hold; write .jsonl or .parquet"
            )
    return texts


def _json_rows(file: IO[bytes], encoder: msgspec.json.Encoder, columns: Columns) -> None:
    # msgspec writes what JSON cannot hold, NaN, as null
    lists = [column.tolist() if _is_numbers(column) else column for column in columns.values()]
    file.write(encoder.encode_lines([dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]))


def _parquet_rows(file: IO[bytes], columns: Columns, opened: ExitStack) -> Callable[[Columns], None]:
    arrow, parquet = import_pyarrow()
    schema = arrow.schema(
        [(name, arrow.float64() if _is_numbers(column) else arrow.string()) for name, column in columns.items()]
    )
    writer = opened.enter_context(closing(parquet.ParquetWriter(file, schema)))

    def append(columns: Columns) -> None:
        arrays = [
            arrow.array(c, mask=np.isnan(c)) if _is_numbers(c) else arrow.array(c, arrow.string())
            for c in columns.values()
        ]
        writer.write_batch(arrow.record_batch(arrays, schema=schema))

    return append


def _is_numbers(column: Any) -> TypeGuard[npt.NDArray[np.float64]]:
    return isinstance(column, np.ndarray) and column.dtype == np.float64


def _harmless(column: Column) -> Column:
    return column if _is_numbers(column) else [None if text is None else harmless(text) for text in column]


def _shown(column: npt.NDArray[np.float64]) -> list[str]:
    return ["" if value != value else repr(value) for value in column.tolist()]


# --- The rows of a long run, kept beside the final file until all are done. A killed run continues where it stopped

SUFFIX = ".part"


class _Portion(msgspec.Struct):
    """The line of one portion."""

    taken: int
    state: dict[str, Any]
    rows: list[dict[str, Any]]


class Journal:
    """Portions of rows, each of which is kept completely or not at all.

    They are kept in `PATH.part`: the first line holds the settings of the run, and each portion takes one line after
    it. A later run with the same settings continues from them. A run with other settings starts again. If the rows do
    not go to a file (None, a pipe, `-`), they are kept in a temporary file, and a run that was killed starts again.

    Args:
        path: the final file of the rows, as JSON lines, also `.gz`.
        settings: everything that determines the rows.

    Attributes:
        taken: how many inputs earlier runs have finished; likewise `state`, what they recorded about these inputs.
        put_aside: whether there was a part of a run with other settings. That part is deleted.

    Raises:
        InputError: the path cannot be written, another run is writing it, or `PATH.part` is not a part of a run.
    """

    def __init__(self, path: str | os.PathLike[str] | None, settings: Mapping[str, Any]) -> None:
        self.path = None if path is None else os.fspath(path)
        self.taken, self.put_aside = 0, False
        self.state: dict[str, Any] = {}
        if self.path is not None:
            check_target(self.path)
        self._part = None if self.path is None or is_special(self.path) else self.path + SUFFIX
        head = msgspec.json.encode(well_formed(settings))
        self._file: IO[bytes]
        if self._part is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the run
        else:
            try:
                self._file = open(self._part, "a+b")  # noqa: SIM115
            except OSError as error:
                raise InputError(f"cannot write {self._part}: {error.strerror or error}") from None
            self._claim(head)
        self._take_up(head)

    def add(self, taken: int, rows: Sequence[Mapping[str, Any]], state: Mapping[str, Any]) -> None:
        """Keep the rows of a portion, how many inputs are finished after it, and what the run needs to continue."""
        line = msgspec.json.encode({"taken": taken, "state": well_formed(state), "rows": well_formed(rows)})
        self._write(line)
        self.taken, self.state = taken, dict(state)

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows that have been kept so far."""
        self._file.seek(0)
        self._file.readline()
        for line in self._file:
            yield from msgspec.json.decode(line)["rows"]

    def finish(self) -> None:
        """Write the rows to their final file and delete the part."""
        if self.path is not None:
            lines = (msgspec.json.encode(row) + b"\n" for row in self.rows())
            with writing_bytes(self.path) as file:
                file.writelines(lines)
        self._file.close()
        if self._part is not None:
            with suppress(OSError):
                os.unlink(self._part)

    def _claim(self, head: bytes) -> None:
        """Lock out other runs while the file is open, and refuse a file that no run has written."""
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._file.close()
                raise InputError(f"another run is writing {self.path}; wait for it, or name another file") from None
            except OSError:  # a file system without locks
                pass
        self._file.seek(0)
        first, begins = self._file.readline(), head[: head.index(b":")]
        if not (first.startswith(begins) or begins.startswith(first)):  # the latter: torn at once, or empty
            self._file.close()
            raise InputError(
                f"{self._part} is no part of a run, and would be written over; move it away, or name another output"
            )

    def _take_up(self, head: bytes) -> None:
        """Move to the end of the last complete portion of a run with the same settings, or else to the beginning."""
        self._file.seek(0)
        first = self._file.readline()
        end = len(first) if first == head + b"\n" else 0
        self.put_aside = bool(first) and not end
        while end and (line := self._file.readline()).endswith(b"\n"):
            try:
                portion = msgspec.json.decode(line, type=_Portion)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                break  # what follows is done anew
            self.taken, self.state = portion.taken, portion.state
            end += len(line)
        self._file.seek(end)
        self._file.truncate()
        if not end:
            self._write(head)

    def _write(self, line: bytes) -> None:
        try:
            self._file.write(line + b"\n")
            self._file.flush()
        except OSError as error:
            raise InputError(f"cannot write {self._part}: {error.strerror or error}") from None


def well_formed(value: Any) -> Any:
    """The values in a form that JSON can hold: lone surrogates are escaped, as elsewhere."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping):
        return {well_formed(k): well_formed(v) for k, v in value.items()}
    return [well_formed(v) for v in value] if isinstance(value, list | tuple) else value
