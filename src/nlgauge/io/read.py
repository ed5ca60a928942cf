"""The segments of a file, a folder or a frame, in any format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Frame, is_frame
from nlgauge.io.files.files import InputFile, by_content, entries, unpacked_name
from nlgauge.io.files.limits import Limits, current, limited
from nlgauge.io.files.records import Records
from nlgauge.io.formats import OURS, PluginRows, by_fields, by_name, check_format, expected_names, named
from nlgauge.io.heads import columns_in, first_fields
from nlgauge.io.raters import RATER
from nlgauge.io.source import HeldSource, TableSource


def read(
    path: str | os.PathLike[str] | Frame,
    format: str | None = None,  # noqa: A002 - the word everybody looks for
    columns: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> Dataset:
    """Read all segments of a file, a folder or a frame into memory.

    Args:
        path: JSON lines or one array of objects (`.jsonl`, `.ndjson`, `.json`), TSV (`.tsv`) or CSV (`.csv`), plain or
            packed; Parquet (`.parquet`); `-` for standard input; the folder of a test set or of one data file; or a
            table in memory (a frame of pandas or polars, an Arrow table, a `datasets.Dataset`).
        format: one of `nlgauge.io.FORMATS`, or one that an installed package adds. If None, it is found from the name
            and the first line.
        columns: which column holds which field, for frames and for files with one row per segment whose columns have
            other names. Example: `{"hyp": "output", "human.score": "score"}`; the other direction is read, too.
        limits: the largest inputs that are read, if other than the defaults; see `nlgauge.io.Limits`.

    Raises:
        InputError: the file is missing, is empty, has an unknown format, is larger than a limit, or has an error in
            some row. The error then names the line and the field.
        MissingExtra: the file is Parquet, and pyarrow is not installed.
    """
    if not isinstance(path, str | os.PathLike) and is_frame(path):
        if format is not None:
            raise InputError(f"format {format!r} is that of a file; a {type(path).__name__} has none")
        from nlgauge.io.frames import read_frame

        return read_frame(path, columns)
    with limited(limits or current()):
        source = open_data(path, format, columns)
    if isinstance(source, HeldSource):
        source.close()
        return source.data
    try:
        segments = tuple(source.checked())
        return Dataset(segments, source.rows.file.name, source.check().notes)
    finally:
        source.close()


def open_data(
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002
    columns: Mapping[str, str] | None = None,
) -> TableSource | HeldSource:
    """Open the segments of a file or folder as a stream. Call `check()` once, then iterate over `blocks()`.

    The format is found from the extension and, if several formats share it, from the first line. For input without a
    name, such as standard input or a pipe, it is found from the first byte. Formats that need the whole file to make
    one segment are read into memory.

    Args:
        path, format, columns: as for `read`.

    Raises:
        InputError: the file is missing, or its format is unknown.
        MissingExtra: the file is Parquet, and pyarrow is not installed.
        SpecError: the package that adds the format is broken.
    """
    path = os.fspath(path)
    if format is not None:
        check_format(format)
    if format is None and os.path.isdir(path):
        path = _file_in(path) or path
    ours = OURS.get(format or "")
    if ours.folder if ours is not None else format is None and os.path.isdir(path):
        if columns is not None:
            raise InputError(f"columns are named for files with one row per segment; {path} is a folder")
        of_folder: HeldSource = named((ours or OURS[format_of_folder(path)]).held)(path)
        return of_folder
    file = InputFile(path)
    name = format or _format(file)
    ours = OURS.get(name)
    if ours is None:
        return TableSource(PluginRows(file, name), columns)
    if columns is not None and not ours.columns:
        raise InputError(
            f"columns are named for JSON, CSV, TSV, Parquet and logs of some tools, the format of {file.name} is"
            f" {name!r}"
        )
    told = (columns,) if "reader" in ours.columns else ()
    if ours.held:
        held: HeldSource = named(ours.held)(file, *told)
        return held
    table = TableSource(named(ours.rows)(file, *told), columns if "row" in ours.columns else None)
    named_rater = columns is not None and RATER in {*columns, *columns.values()}
    return table.by_rater() if named_rater or RATER in _first_fields(file, ours.of or name) else table


def format_of_folder(folder: str | os.PathLike[str]) -> str:
    """The format of a folder.

    Raises:
        InputError: the folder has no known format.
    """
    inside = entries(Path(folder))
    for name, one in OURS.items():
        if one.folder and named(one.folder)(folder):
            return name
    below = [path.name for path in inside if os.path.isdir(path / "sources")]
    if below:
        raise InputError(f"{folder} holds {len(below)} test sets; name one of them: {', '.join(below)}")
    raise InputError(
        f"{folder} is a folder, expected a file, or a folder with sources/ and system-outputs/ (mt-metrics-eval) "
        "or with SET.source.LP, SET.reference.LP, SET.mt-system.LP and SET.human.LP (WMT15, WMT16)"
    )


def first_names(path: str | os.PathLike[str]) -> list[str]:
    """The fields of the first row of a table, or the columns of its header; empty for what is no table."""
    file = InputFile(os.fspath(path))
    if not file.is_plain or os.path.isdir(file.path):
        return []
    return _first_fields(file, by_name(file.path) or "")


def _file_in(folder: str) -> str | None:
    """The one data file of a folder of no known format, or the one of several that is named `segments`."""
    if any(named(one.folder)(folder) for one in OURS.values() if one.folder):
        return None
    files = [str(path) for path in entries(folder) if by_name(str(path)) is not None and os.path.isfile(path)]
    main = [path for path in files if os.path.basename(path).partition(".")[0] == "segments"]
    if len(files) > 1 and len(main) != 1:
        raise InputError(f"{folder} holds {len(files)} data files; name one of them: {', '.join(files)}")
    return next(iter(main or files), None)


_OF_ARCHIVES = ("", ".zip")  # suffixes; a spreadsheet is a zip archive, too, and no log


def _format(file: InputFile) -> str:
    if not file.is_plain:
        kind = "inspect" if _is_zip(file) else by_content(file)
        return by_fields(kind, _first_fields(file, kind)) if kind in ("jsonl", "parquet") else kind
    name = by_name(file.path)
    if (name == "jsonl" or Path(file.path).suffix.lower() in _OF_ARCHIVES) and _is_zip(file):
        return "inspect"
    if name == "parquet" and unpacked_name(file.path) != file.path:
        end = Path(file.path).suffix
        raise InputError(f"{file.path}: Parquet is compressed inside, expected it without {end}; unpack it first")
    if name is None and unpacked_name(file.path).lower().endswith(".score"):
        raise InputError(f"{file.path} holds scores and no texts; read it with read_scores")
    if name is None:
        raise InputError(
            f"{file.path}: the format cannot be told from the name, expected {expected_names()} "
            "(parallel text files are given one by one, as hypotheses and references)"
        )
    return by_fields(name, _first_fields(file, name))


def _is_zip(file: InputFile) -> bool:
    """Whether a file is a zip archive, of which formats only logs of inspect_ai are."""
    with file.open() as raw:
        return raw.read(4) == b"PK\x03\x04"


def _first_fields(file: InputFile, name: str) -> list[str]:
    """The fields of the first row, or the columns of the header, where formats are told apart by them."""
    if name in ("tsv", "csv"):
        return Records(file, "\t" if name == "tsv" else ",", keeps_blank=name == "tsv").header()
    head = file.head(1 << 20).removeprefix(b"\xef\xbb\xbf")
    line = head.partition(b"\n")[0].decode("utf-8", errors="replace").rstrip("\r")
    if name == "parquet":
        from nlgauge.io.parquet import read_names

        return read_names(file)
    if name != "jsonl":
        return []
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        row = None
    text = head.decode("utf-8", errors="replace")
    fields = list(row) if type(row) is dict else first_fields(text)
    return columns_in(text) if fields[:1] == ["columns"] else fields
