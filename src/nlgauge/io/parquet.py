"""Parquet files with one row per segment, read batch by batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.io.fields import columns_read
from nlgauge.io.files.files import RATIO_FROM, InputFile
from nlgauge.io.files.lines import refuse

_BATCH = 2048
_AT_ONCE = 1 << 25  # characters of rows that are made at once


class ParquetRows:
    """The rows of a Parquet file, as (row number from 1, field -> value). Each iteration reads the file again.

    Columns have the names of the JSON fields. `human` is a struct, a map, or several columns `human.NAME`.

    Args:
        file: the file.
        columns: which column holds which field, in either direction; see `nlgauge.io.fields.fields_by_column`. Rows
            keep the names of the file.
        span: the numbers of the rows to read, from 0; None for all.

    Attributes:
        ignored: columns that are not read.

    Raises:
        MissingExtra: pyarrow is not installed.
        InputError: the file is not Parquet, is damaged, or has no column `hyp`.
    """

    def __init__(self, file: InputFile, columns: Mapping[str, str] | None = None, span: range | None = None) -> None:
        self.file = file
        self._columns = columns
        self._span = span
        self.ignored: list[str] = []
        self.refuse: Callable[[str, str], object] = refuse  # a row of Parquet is bad only by its fields
        import_pyarrow()

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        pyarrow, parquet = import_pyarrow()
        with self.file.open() as raw:
            if not raw.read(1):
                return
            raw.seek(0)
            try:
                opened = parquet.ParquetFile(
                    raw, pre_buffer=False, buffer_size=1 << 20
                )  # or it keeps all that it has read
                check_size(self.file, raw, opened.metadata)
                schema = opened.schema_arrow
                columns = columns_read(self._columns, schema.names, self.file.name)
                self.ignored = [name for name in schema.names if name not in columns]
                maps = [name for name in columns if pyarrow.types.is_map(schema.field(name).type)]
                number, groups = _groups(opened.metadata, self._span)
                texts = [name for name in columns if pyarrow.types.is_string(schema.field(name).type)]
                # A text that stands once in a dictionary may stand in every row, and is held once until then.
                opened = parquet.ParquetFile(raw, pre_buffer=False, buffer_size=1 << 20, read_dictionary=texts)
                unpack = _Unpacked(self.file, raw)
                for batch in _batches(opened, groups, columns):
                    within = _within(self._span, number, len(batch))
                    number += within.start
                    for row in unpack.rows(batch.select(columns).slice(within.start, len(within)), number):
                        for name in maps:
                            row[name] = None if row[name] is None else dict(row[name])
                        number += 1
                        yield number, row
                    if self._span is not None and number >= self._span.stop:
                        break
                wanted = opened.metadata.num_rows if self._span is None else self._span.stop
                if number < wanted:
                    raise InputError(
                        f"{self.at(number + 1)}: pyarrow ends there, and the file says that it has"
                        f" {opened.metadata.num_rows} rows; write the file again, without dictionaries in lists"
                    )
            except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
                raise InputError(
                    f"{self.file.name}: cannot be read as Parquet ({str(error).splitlines()[0]})"
                ) from None

    def at(self, number: int) -> str:
        """The place of a row, for an error message."""
        return f"{self.file.name}: row {number}"

    def notes(self) -> list[str]:
        """Nothing is dropped."""
        return []


class _Unpacked:
    """Makes rows of batches of a file, as many at once as memory takes, and measures what the file becomes.

    A dictionary of a small file may stand for texts without end, of which the file itself says nothing.

    Args:
        file: the file.
        raw: the same, opened.
    """

    def __init__(self, file: InputFile, raw: IO[bytes]) -> None:
        place = raw.tell()
        self._file, self._packed, self._size = file, max(1, raw.seek(0, os.SEEK_END)), 0
        raw.seek(place)

    def rows(self, batch: Any, before: int) -> Iterator[dict[str, Any]]:
        """The rows of a batch that has some rows before it.

        Raises:
            InputError: a text is too long, or all that was made so far is too much.
        """
        longest = {name: _longest(column) for name, column in zip(batch.schema.names, batch.columns, strict=True)}
        where = f"{self._file.name}: row {before + 1} or one of the {len(batch) - 1} after it"
        for name, size in longest.items():
            self._file.limits.check("segment", size, f"{where}, column {name!r}")
        step = max(1, _AT_ONCE // max(1, sum(longest.values())))
        for start in range(0, len(batch), step):
            part = batch.slice(start, step)
            columns = [c.dictionary_decode() if hasattr(c, "dictionary") else c for c in part.columns]
            self._size += sum(column.nbytes for column in columns)
            self._file.limits.check("file", self._size, self._file.name, is_whole=False)
            if self._size > RATIO_FROM:
                self._file.limits.check("ratio", self._size // self._packed, self._file.name, is_whole=False)
            yield from type(batch).from_arrays(columns, names=batch.schema.names).to_pylist()


def nested_rows(file: InputFile, fields: Sequence[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Some fields of the rows of a Parquet file, as (place, row). Other fields are never decoded.

    Args:
        file: the file.
        fields: columns, or fields within them such as `doc.query`; those that the file lacks are left out. Empty for
            all.

    Raises:
        MissingExtra: pyarrow is not installed.
        InputError: the file is not Parquet, is damaged, or holds a text that is too long.
    """
    pyarrow, parquet = import_pyarrow()
    number = 0
    with file.open() as raw:
        try:
            opened = parquet.ParquetFile(raw, pre_buffer=False, buffer_size=1 << 20)
            check_size(file, raw, opened.metadata)
            schema = opened.schema_arrow
            there = [
                one for one in fields or schema.names if one in schema.names or one.partition(".")[0] in schema.names
            ]
            texts = [one for one in there if one in schema.names and pyarrow.types.is_string(schema.field(one).type)]
            opened = parquet.ParquetFile(raw, pre_buffer=False, buffer_size=1 << 20, read_dictionary=texts)
            unpack = _Unpacked(file, raw)
            for batch in opened.iter_batches(_BATCH, columns=there) if there else ():
                for row in unpack.rows(batch, number):
                    number += 1
                    yield f"{file.name}: row {number}", row
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(f"{file.name}: cannot be read as Parquet ({str(error).splitlines()[0]})") from None


def read_names(file: InputFile) -> list[str]:
    """The columns of a Parquet file; none if it cannot be read."""
    pyarrow, parquet = import_pyarrow()
    with file.open() as raw:
        try:
            names: list[str] = parquet.read_schema(raw).names
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError):
            return []
    return names


def read_columns(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The columns of a table that `writing` wrote, as it took them: lists of texts, and arrays of float64."""
    pyarrow, parquet = import_pyarrow()
    table = parquet.ParquetFile(path).read()
    return {
        name: column.to_numpy() if pyarrow.types.is_floating(column.type) else column.to_pylist()
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def check_size(file: InputFile, raw: IO[bytes], metadata: Any) -> None:
    """Refuse a Parquet file that says itself that it is larger than the limits of the file allow.

    Only its row groups are asked: what pyarrow says of a column of a damaged file can end the process.
    """
    file.limits.check("columns", metadata.num_columns, file.name)
    size = sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups))
    if size > RATIO_FROM:
        file.limits.check("ratio", size // max(1, raw.seek(0, os.SEEK_END)), file.name)
    file.limits.check("file", size, file.name)


def _groups(metadata: Any, span: range | None) -> tuple[int, list[int]]:
    """The rows before the first row group that has rows of a span, and all such groups."""
    first = before = 0
    groups: list[int] = []
    for place in range(metadata.num_row_groups):
        end = before + metadata.row_group(place).num_rows
        if span is None or (before < span.stop and end > span.start):
            first = first if groups else before
            groups.append(place)
        before = end
    return first, groups


def _batches(opened: Any, groups: list[int], columns: list[str]) -> Iterator[Any]:
    """The batches of some row groups; one group at a time where lists hold dictionaries, which pyarrow cannot join."""
    pyarrow, _ = import_pyarrow()
    kinds = [opened.schema_arrow.field(name).type for name in columns]
    apart = any(pyarrow.types.is_nested(kind) and "dictionary<" in str(kind) for kind in kinds)
    for some in [[group] for group in groups] if apart else [groups]:
        yield from opened.iter_batches(_BATCH, row_groups=some, columns=columns)


def _within(span: range | None, number: int, size: int) -> range:
    """Which rows of a batch of some size, with some rows before it, lie in a span."""
    if span is None:
        return range(size)
    return range(min(max(span.start - number, 0), size), min(max(span.stop - number, 0), size))


def import_pyarrow() -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtra("Parquet", "parquet") from None
    return pyarrow, pyarrow.parquet


def _longest(column: Any) -> int:
    """Characters of the longest text in a column; 0 if it holds none, or holds them in objects."""
    import pyarrow.compute as compute  # type: ignore[import-untyped]

    pyarrow, _ = import_pyarrow()
    if hasattr(column, "dictionary"):
        return _longest(column.dictionary)
    if pyarrow.types.is_list(column.type) or pyarrow.types.is_large_list(column.type):
        return _longest(column.flatten())
    if pyarrow.types.is_struct(column.type):
        return max((_longest(part) for part in column.flatten()), default=0)
    if not (pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type)):
        return 0
    return int(compute.max(compute.utf8_length(column)).as_py() or 0)
