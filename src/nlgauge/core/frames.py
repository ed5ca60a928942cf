"""Tables of other libraries (pandas, polars, Arrow, datasets): told apart from texts, and read column by column.

None of these libraries is imported. A table is known by its named columns, and a column turns itself into a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nlgauge.core.errors import InputError

Frame = Any  # a table with named columns: pandas.DataFrame, polars.DataFrame, pyarrow.Table, datasets.Dataset ...
_TO_LIST = ("to_pylist", "to_list", "tolist")  # Arrow; polars and pandas; numpy
_MISSING = ("NAType", "NaTType")  # pandas.NA and pandas.NaT
_SHOWN = 8  # names of columns in an error


def is_frame(value: object) -> bool:
    """Whether a value is a table with named columns, and not a list or a column of texts."""
    return hasattr(type(value), "columns") or hasattr(type(value), "column_names")


def column_names(frame: Frame) -> list[str]:
    """The names of the columns of a frame, in order.

    Raises:
        InputError: the frame holds several tables, does not know its columns yet, or has two columns of one name.
    """
    kind = type(frame).__name__
    if isinstance(frame, Mapping):  # the splits of a data set of the hub
        raise InputError(f"{kind} holds several tables ({_listed(frame)}), expected one; take one of them")
    names = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
    if names is None:
        raise InputError(f"{kind} does not know its columns; load it whole first")
    names = list(map(str, names))
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{kind} has two columns {twice[0]!r}, expected one; rename or drop the other")
    return names


def column(frame: Frame, name: str) -> list[Any]:
    """The cells of one column as plain Python values; None where a value is missing.

    Raises:
        InputError: the frame is not in memory, so that its cells cannot be read.
    """
    try:
        values = cells(frame[name])
    except TypeError:
        kind = type(frame).__name__
        raise InputError(f"{kind} gives no cells of column {name!r}; collect it into a table in memory first") from None
    return [plain(value) for value in values]


def cells(values: Iterable[Any]) -> list[Any]:
    """A list, an array or a column of another library as a list; its values as they come."""
    for name in _TO_LIST:
        convert = getattr(values, name, None)
        if callable(convert):
            listed = convert()
            return listed if isinstance(listed, list) else [listed]
    return list(values)


def texts(values: Any, what: str) -> list[str]:
    """A list, an array or a column of texts as a list.

    Raises:
        InputError: a whole frame, one string, something that cannot be listed, or an entry that is no text.
    """
    check_no_frame(values, what)
    if isinstance(values, str):
        raise InputError(
            f"{what} is one string, expected a list of strings; write [{what.split()[0]}] for a single text"
        )
    if not isinstance(values, Iterable):
        raise InputError(f"{what} is {type(values).__name__}, expected a list of strings")
    listed = cells(values)
    for i, value in enumerate(listed):
        if not isinstance(value, str):
            raise InputError(f"{what}[{i}] is {kind_of(value)}, expected a string")
    return listed


def check_no_frame(values: object, what: str) -> None:
    """Refuse a frame where a list is expected: as a list, it would be the names of its columns.

    Raises:
        InputError: the values are a frame.
    """
    if is_frame(values):
        names = column_names(values)
        example = names[0] if names else "..."
        raise InputError(
            f"{what} is a {type(values).__name__} with columns {_listed(names)}, expected a list of texts; take one"
            f" column, such as frame[{example!r}] (nlgauge.read takes a whole frame)"
        )


def plain(value: Any) -> Any:
    """A cell as JSON would hold it: numbers and lists of Python, and None for a missing value (NaN, NaT, NA)."""
    if type(value) is str:  # most cells
        return value
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(cell) for key, cell in value.items()}
    if isinstance(value, list | tuple):
        return [plain(cell) for cell in value]
    return None if _is_missing(value) else value


def kind_of(value: object) -> str:
    """The kind of a value, for an error."""
    return "missing (None or NaN)" if _is_missing(value) else type(value).__name__


def _is_missing(value: object) -> bool:
    return value is None or type(value).__name__ in _MISSING or (isinstance(value, float) and value != value)


def _listed(names: Iterable[object]) -> str:
    shown = [repr(str(name)) for name in names]
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "") or "none"
