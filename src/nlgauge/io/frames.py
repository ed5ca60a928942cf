"""Tables of other libraries: Parquet files, read batch by batch, and frames in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import IO, Any

from nlgauge.core.errors import InputError, MissingExtra, nearest
from nlgauge.core.segment import Dataset, Frame, Segment, column, column_names, is_frame, plain
from nlgauge.io.advice import advice
from nlgauge.io.fields import Fields, NoHypothesis, Raters, columns_read, is_rating, with_items, with_references
from nlgauge.io.files import RATIO_FROM, InputFile
from nlgauge.io.rows import Rows

_BATCH = 2048
_AT_ONCE = 1 << 25  # characters of rows that are made at once


class ParquetRows(Rows):
    """The rows of a Parquet file, numbered from 1.

    It needs the extra `parquet`, or `hf`. Columns have the names of the JSON fields. `human` is a struct, a map, or
    several columns `human.NAME`.

    Args:
        file: the file.
        columns: which column holds which field, in either direction; see `nlgauge.io.fields.fields_by_column`. Rows
            keep the names of the file.
        span: the numbers of the rows to read, from 0; None for all.

    Raises:
        MissingExtra: pyarrow is not installed.
        InputError: the file is not Parquet, is damaged, or has no column `hyp`.
    """

    def __init__(self, file: InputFile, columns: Mapping[str, str] | None = None, span: range | None = None) -> None:
        super().__init__(file)
        self._columns = columns
        self._span = span
        import_pyarrow()

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        pyarrow, _ = import_pyarrow()
        with _reading(self.file) as (raw, parquet):
            if not raw.read(1):
                return
            raw.seek(0)
            opened = parquet()
            check_size(self.file, raw, opened.metadata)
            schema = opened.schema_arrow
            try:
                columns = columns_read(self._columns, schema.names, self.file.name)
            except NoHypothesis as error:
                raise InputError(f"{error}{advice(self.whole())}") from None
            self.ignored = [name for name in schema.names if name not in columns]
            maps = [name for name in columns if pyarrow.types.is_map(schema.field(name).type)]
            number, groups = _groups(opened.metadata, self._span)
            texts = [name for name in columns if pyarrow.types.is_string(schema.field(name).type)]
            # A text that stands once in a dictionary may stand in every row, and is held once until then.
            opened = parquet(texts)
            unpack = _unpacking(self.file, raw)
            for batch in _batches(opened, groups, columns):
                within = _within(self._span, number, len(batch))
                number += within.start
                for row in unpack(batch.select(columns).slice(within.start, len(within)), number):
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

    def whole(self) -> Iterator[dict[str, Any]]:
        """The rows with all their columns."""
        return (row for _, row in nested_rows(self.file))

    def at(self, number: int) -> str:
        """The place of a row, for an error message."""
        return f"{self.file.name}: row {number}"


def _unpacking(file: InputFile, raw: IO[bytes]) -> Callable[[Any, int], Iterator[dict[str, Any]]]:
    """A function that gives the rows of a batch of a file that has some rows before it, and measures what they become.

    As many rows are made at once as memory takes. A dictionary of a small file may stand for texts without end, of
    which the file itself says nothing: a text that is too long is refused, and so is too much of all that was made.
    """
    place = raw.tell()
    packed, unpacked = max(1, raw.seek(0, os.SEEK_END)), 0
    raw.seek(place)

    def rows(batch: Any, before: int) -> Iterator[dict[str, Any]]:
        nonlocal unpacked
        longest = {name: _longest(column) for name, column in zip(batch.schema.names, batch.columns, strict=True)}
        where = f"{file.name}: row {before + 1} or one of the {len(batch) - 1} after it"
        for name, size in longest.items():
            file.limits.check("segment", size, f"{where}, column {name!r}")
        step = max(1, _AT_ONCE // max(1, sum(longest.values())))
        for start in range(0, len(batch), step):
            part = batch.slice(start, step)
            columns = [c.dictionary_decode() if hasattr(c, "dictionary") else c for c in part.columns]
            unpacked += sum(column.nbytes for column in columns)
            file.limits.check("file", unpacked, file.name, is_whole=False)
            if unpacked > RATIO_FROM:
                file.limits.check("ratio", unpacked // packed, file.name, is_whole=False)
            exact = [name for name, c in zip(batch.schema.names, columns, strict=True) if "decimal" in str(c.type)]
            for row in type(batch).from_arrays(columns, names=batch.schema.names).to_pylist():
                yield {**row, **{name: plain(row[name]) for name in exact}} if exact else row

    return rows


def nested_rows(file: InputFile, fields: Sequence[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Some fields of the rows of a Parquet file, as (place, row). Other fields are never decoded.

    Fields are columns, or fields within them such as `doc.query`; those that the file lacks are left out. Empty for
    all.
    """
    pyarrow, _ = import_pyarrow()
    number = 0
    with _reading(file) as (raw, parquet):
        opened = parquet()
        check_size(file, raw, opened.metadata)
        schema = opened.schema_arrow
        there = [one for one in fields or schema.names if one in schema.names or one.partition(".")[0] in schema.names]
        texts = [one for one in there if one in schema.names and pyarrow.types.is_string(schema.field(one).type)]
        unpack = _unpacking(file, raw)
        for batch in parquet(texts).iter_batches(_BATCH, columns=there) if there else ():
            for row in unpack(batch, number):
                number += 1
                yield f"{file.name}: row {number}", row


@contextmanager
def _reading(file: InputFile) -> Iterator[tuple[IO[bytes], Callable[..., Any]]]:
    """A file, and what opens it as Parquet: without its texts, or with those of some columns as dictionaries.

    What is read inside the block and is not Parquet, or is damaged, is refused.
    """
    pyarrow, parquet = import_pyarrow()
    with file.open() as raw:

        def opened(texts: Sequence[str] | None = None) -> Any:
            # without a buffer of its own pyarrow keeps all that it has read
            return parquet.ParquetFile(raw, pre_buffer=False, buffer_size=1 << 20, read_dictionary=texts)

        try:
            yield raw, opened
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
    """The modules pyarrow and pyarrow.parquet, or the error that names their extra."""
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


# --- Tables in memory (pandas, polars, Arrow, datasets): segments from their rows, and rows of numbers as tables


def dataset_of(data: Dataset | Frame, columns: Mapping[str, str] | None = None) -> Dataset:
    """A data set as it is, or the segments of a frame; `columns` as for `read_frame`. What is neither is refused."""
    if is_frame(data):
        return read_frame(data, columns)
    if not isinstance(data, Dataset):
        kind = type(data).__name__
        raise InputError(
            f"expected a Dataset or a frame, got {kind}; nlgauge.read reads a file into a"
            " Dataset, and nlgauge.Dataset.from_texts(hyps, refs) takes lists of texts"
        )
    if columns is not None:
        raise InputError("columns are named for a frame; a Dataset has none")
    return data


def datasets_of(
    data: Dataset | Frame | Sequence[Dataset | Frame], columns: Mapping[str, str] | None = None
) -> list[Dataset]:
    """One data set or frame, or several, as a list of data sets; `columns` as for `read_frame`, for every frame."""
    one = isinstance(data, Dataset) or is_frame(data)
    return [dataset_of(each, columns) for each in ([data] if one else data)]


def read_frame(frame: Frame, columns: Mapping[str, str] | None = None) -> Dataset:
    """The segments of a frame, one a row.

    Columns have the names of the JSON fields, or `columns` say which is which, in either direction; others are ignored
    with a note. A row without an id is numbered from 1. An error names row and field.
    """
    kind, names = type(frame).__name__, column_names(frame)
    try:
        kept = columns_read(columns, names, kind)
    except NoHypothesis as error:
        raise InputError(f"{error}{advice((row for _, row in rows_of(frame)), python=True)}") from None
    by_rater, is_named = is_rating(names, columns)
    made, raters, segments = Fields(columns), Raters(is_named), list[Segment]()
    for number, (place, row) in enumerate(rows_of(frame, kept), start=1):
        try:
            for segment in made.segments(row if columns else with_references(row), number):
                if by_rater:
                    raters.add(place, segment, made.rater, made.criterion)
                else:
                    segments.append(segment)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
    made.check(kind)
    segments.extend(raters.segments())
    whole, of_items = with_items(segments, kind)
    if not segments:
        raise InputError(f"{kind} is empty: no row in it, expected at least one segment")
    told = made.notes(kind, [name for name in names if name not in kept])
    return Dataset(tuple(whole), notes=(*told, *(raters.notes(kind) if by_rater else ()), *of_items))


def rows_of(frame: Frame, names: Sequence[str] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a frame as (place in words, column -> value); of some columns, or of all."""
    cells = {name: column(frame, name) for name in (column_names(frame) if names is None else names)}
    for number, row in enumerate(zip(*cells.values(), strict=True), start=1):
        yield f"{type(frame).__name__}, row {number}", dict(zip(cells, row, strict=True))


def to_frame(columns: Mapping[str, Any], library: str | None = None) -> Frame:
    """Columns of one length as a frame.

    Args:
        columns: name -> list or array.
        library: `pandas` or `polars`, `pyarrow` for an Arrow table, or `datasets` for a `datasets.Dataset`; None for
            the first of pandas and polars that is installed.

    Raises:
        InputError: the library is another one, or it is not installed, or it cannot hold a column.
        MissingExtra: neither pandas nor polars is installed.
    """
    if library is not None and library not in _MAKERS:
        raise InputError(f"library is {library!r}{nearest(library, _MAKERS)}")
    for name in _ANY if library is None else (library,):
        try:
            frames = import_module(name)
        except ImportError:
            continue
        return _MAKERS[name](frames, columns)
    if library is not None:
        raise InputError(f"{library} is not installed; install it, or ask for another library")
    raise MissingExtra("a frame", "frames")


def to_arrow(columns: Mapping[str, Any]) -> Frame:
    """Columns of one length as a `pyarrow.Table`; NaN is null."""
    arrow, _ = import_pyarrow()
    return _arrow(arrow, columns)


def _arrow(arrow: Any, columns: Mapping[str, Any]) -> Frame:
    made = {}
    for name, cells in columns.items():
        try:
            made[name] = arrow.array(cells, from_pandas=True)
        except arrow.ArrowException as error:
            raise _mixed("an Arrow table", name, str(error).splitlines()[0]) from None
        except UnicodeEncodeError:
            raise _no_utf8(name) from None
    return arrow.table(made)


def _pandas(pandas: Any, columns: Mapping[str, Any]) -> Frame:
    made = {}
    for name, cells in columns.items():
        try:
            made[name] = pandas.Series(cells)
        except UnicodeEncodeError:  # texts are kept as Arrow keeps them
            made[name] = pandas.Series(cells, dtype=object)
    return pandas.DataFrame(made)


def _polars(polars: Any, columns: Mapping[str, Any]) -> Frame:
    made = []
    for name, cells in columns.items():
        try:
            column = polars.Series(name, cells, strict=False)  # a strict one drops the keys that a first record lacks
        except UnicodeEncodeError:
            raise _no_utf8(name) from None
        nested = any(isinstance(cell, list | tuple | Mapping) for cell in cells)
        if nested and not _is_kept(list(cells), column.to_list()):
            raise _mixed("a frame of polars", name, "it would make texts of them")
        made.append(column)
    return polars.DataFrame(made)


def _is_kept(before: Any, after: Any) -> bool:
    """Whether nested values are what they were, but for keys with None."""
    if isinstance(before, Mapping):
        return isinstance(after, Mapping) and all(_is_kept(value, after.get(key)) for key, value in before.items())
    if isinstance(before, list | tuple):
        same = isinstance(after, list) and len(before) == len(after)
        return same and all(map(_is_kept, before, after))
    return bool(before == after)


def _mixed(what: str, name: str, reason: str) -> InputError:
    return InputError(
        f"{what} cannot hold column {name!r}, whose cells are of several types ({reason}); a frame of pandas can"
    )


def _no_utf8(name: str) -> InputError:
    return InputError(
        f"column {name!r} holds a text with half a surrogate pair, which UTF-8 cannot write; a frame of pandas can hold"
        " it"
    )


# How a library makes a frame of columns.
_MAKERS: Mapping[str, Callable[[Any, Mapping[str, Any]], Frame]] = {
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _arrow,
    "datasets": lambda datasets, columns: datasets.Dataset(to_arrow(columns)),
}
_ANY = ("pandas", "polars")
