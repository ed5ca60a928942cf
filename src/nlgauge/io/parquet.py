"""Parquet files with one row per segment, read batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.io.fields import advice, fields_by_column, is_known
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import refuse

_BATCH = 2048


class ParquetRows:
    """The rows of a Parquet file, as (row number from 1, field -> value). Each iteration reads the file again.

    Columns have the names of the JSON fields. `human` is a struct, a map, or several columns `human.NAME`.

    Args:
        file: the file.
        columns: which column holds which field, in either direction; see `nlgauge.io.fields.fields_by_column`. Rows
            keep the names of the file.

    Attributes:
        ignored: columns that are not read.

    Raises:
        MissingExtra: pyarrow is not installed.
        InputError: the file is not Parquet, is damaged, or has no column `hyp`.
    """

    def __init__(self, file: InputFile, columns: Mapping[str, str] | None = None) -> None:
        self.file = file
        self._columns = columns or {}
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
                schema = opened.schema_arrow
                named = fields_by_column(self._columns, schema.names)
                columns = [name for name in schema.names if name in named or is_known(name)]
                self.ignored = [name for name in schema.names if name not in columns]
                if "hyp" not in [*columns, *named.values()]:
                    raise InputError(
                        f"{self.file.name}: no column 'hyp'; columns found:"
                        f" {', '.join(map(repr, schema.names)) or 'none'}{advice(schema.names)}"
                    )
                maps = [name for name in columns if pyarrow.types.is_map(schema.field(name).type)]
                number = 0
                for batch in opened.iter_batches(_BATCH, columns=columns):
                    for row in batch.select(columns).to_pylist():
                        for name in maps:
                            row[name] = None if row[name] is None else dict(row[name])
                        number += 1
                        yield number, row
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
