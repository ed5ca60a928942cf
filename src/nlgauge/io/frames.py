"""Tables in memory (pandas, polars, Arrow, datasets): segments from their rows, and rows of numbers as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from nlgauge.core.errors import InputError, MissingExtra, nearest
from nlgauge.core.segment import Dataset, Frame, Segment, column, column_names, is_frame
from nlgauge.io.fields import Fields, columns_read, with_references
from nlgauge.io.parquet import import_pyarrow
from nlgauge.io.raters import RATER, Raters


def dataset_of(data: Dataset | Frame, columns: Mapping[str, str] | None = None) -> Dataset:
    """A data set as it is, or the segments of a frame; `columns` as for `read_frame`.

    Raises:
        InputError: it is neither, columns are named for a data set, or the frame has an error in some row.
    """
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
    """The segments of a frame.

    Columns have the names of the JSON fields; others are ignored with a note. A row without an id is numbered from 1.

    Args:
        frame: one row per segment.
        columns: which column holds which field, for columns with other names: `{"hyp": "prediction"}`, or the other
            way round.

    Raises:
        InputError: there is no row, a column is missing, or a row has an error. The error then names row and field.
    """
    kind, names = type(frame).__name__, column_names(frame)
    kept = columns_read(columns, names, kind, python=True)
    made, raters, segments = Fields(columns), Raters(), list[Segment]()
    by_rater = RATER in {*names, *(columns or {}), *(columns or {}).values()}
    for number, (place, row) in enumerate(rows_of(frame, kept), start=1):
        try:
            for segment in made.segments(row if columns else with_references(row), number):
                if by_rater:
                    raters.add(place, segment, made.rater)
                else:
                    segments.append(segment)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
    made.check(kind)
    segments.extend(raters.segments())
    if not segments:
        raise InputError(f"{kind} is empty: no row in it, expected at least one segment")
    told = made.notes(kind, [name for name in names if name not in kept])
    return Dataset(tuple(segments), notes=(*told, *(raters.notes(kind) if by_rater else ())))


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
    """Columns of one length as a `pyarrow.Table`; NaN is null.

    Raises:
        MissingExtra: pyarrow is not installed.
    """
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
