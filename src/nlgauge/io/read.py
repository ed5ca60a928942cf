"""Which format has a file? The formats by name, and the segments of a file in any of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

import msgspec

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.frames import Frame, is_frame
from nlgauge.core.segment import Dataset
from nlgauge.io.files.files import InputFile, by_content, entries
from nlgauge.io.files.limits import Limits, current, limited
from nlgauge.io.jsonl import JsonRows
from nlgauge.io.source import HeldSource, Rows, TableSource

# Read as segments, by `read` and `open_data`, which tell most of them apart themselves.
FORMATS: Mapping[str, str] = {
    "jsonl": (
        "JSON lines (.jsonl .ndjson .json, .gz), or one array of objects: one row per segment, with the names of our"
        " fields"
    ),
    "tsv": "TSV (.tsv, .gz): the same names as columns of a header",
    "parquet": "Parquet (.parquet): the same names as columns; needs the extra 'parquet'",
    "csv": (
        "CSV (.csv, .gz): our own names; COMET's src, mt, ref, score; rated outputs for meaning representations (BAGEL,"
        " SFHOT)"
    ),
    "summeval": "SummEval's model_annotations.aligned.jsonl, also paired or scored: expert and crowd ratings as lists",
    "paws": (
        "PAWS, PAWS-X and QQP (.tsv, .gz): sentence1 is the reference, sentence2 the hypothesis, label the rating"
    ),
    "mqm": "MQM annotations (.tsv, .gz): one marked error a row, scored with the standard weights",
    "wmt-da": "WMT15 and WMT16 direct assessment: a folder of SET.source.LP, .reference.LP, .mt-system.LP, .human.LP",
    "mtme": "mt-metrics-eval: the folder of one test set, with its human scores of segments",
}
# Read as tables of scores or as pairs, by the function named.
TABLES: Mapping[str, str] = {
    "scores": "read_scores: JSON lines, TSV, CSV or Parquet with id, or system and seg; sacrerouge's JSON lines",
    "wmt-scores": (
        "read_scores, read_submission: METRIC.seg.score and METRIC.sys.score (.gz) of WMT17 to WMT24; written and"
        " checked too"
    ),
    "mtme-scores": "read_scores: NAME-REF.LEVEL.score and LP.NAME.LEVEL.score of mt-metrics-eval; written too",
    "mtme-ratings": (
        "read_ratings: LP.NAME.seg.rating of mt-metrics-eval, marked errors scored with the standard weights"
    ),
    "wmt17-da": "read_da_scores: DA-seglevel.csv, LP DATA SYSTEM SID HUMAN",
    "esa": "read_esa_scores: ratings of an ESA campaign, the CSV of WMT24, 12 columns without a header",
    "mqm-averages": "read_mqm_averages: system mqm_avg_score seg_id",
    "summeval-scores": "read_summeval_scores: the metric scores of SummEval's scored version",
    "relative-ranks": "read_relative_ranks: RR-seglevel.csv and DArr-seglevel.csv, LP DATA SID BETTER WORSE",
    "pairs": "read_pairs: JSON lines with better_id and worse_id",
    "comet-ranking": "read_ranking: CSV with src, ref, pos, neg",
}


def format_of_folder(folder: str | os.PathLike[str]) -> str:
    """The format of a folder.

    Raises:
        InputError: the folder has no known format.
    """
    from nlgauge.io.wmt.da import PARTS

    folder = Path(folder)
    inside = entries(folder)
    if os.path.isdir(folder / "sources"):
        return "mtme"
    if any(f".{part}." in path.name for path in inside for part in PARTS):
        return "wmt-da"
    below = [path.name for path in inside if os.path.isdir(path / "sources")]
    if below:
        raise InputError(f"{folder} holds {len(below)} test sets; name one of them: {', '.join(below)}")
    raise InputError(
        f"{folder} is a folder, expected a file, or a folder with sources/ and system-outputs/ (mt-metrics-eval) "
        "or with SET.source.LP, SET.reference.LP, SET.mt-system.LP and SET.human.LP (WMT15, WMT16)"
    )


def format_within(file: InputFile, usual: str) -> str:
    """`usual`, unless the first line is that of another format of the same extension."""
    head = file.head(1 << 20).removeprefix(b"\xef\xbb\xbf")
    line = head.partition(b"\n")[0].decode("utf-8", errors="replace").rstrip("\r")
    if usual == "tsv":
        from nlgauge.io.csvtable import PAWS, layout_of
        from nlgauge.io.wmt.mqm import is_header

        columns = line.split("\t")
        if layout_of(columns) is PAWS:
            return "paws"
        return "mqm" if "hyp" not in columns and is_header(columns) else usual
    if usual == "jsonl":
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return usual
        return "summeval" if type(row) is dict and "hyp" not in row and {"decoded", "model_id"} <= row.keys() else usual
    return usual


# Format -> what reads it, as module and name: a module is imported with its first file, since all take a while.
_ROWS = {
    "jsonl": "jsonl:JsonRows",
    "tsv": "tsv:TsvRows",
    "parquet": "parquet:ParquetRows",
    "csv": "csvtable:CsvRows",
    "summeval": "summeval:SummEvalRows",
    "paws": "csvtable:CsvRows",
}
_FOLDERS = {"mtme": "wmt.mtme:open_mtme", "wmt-da": "wmt.da:open_da"}
_EXTENSIONS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".csv": "csv",
}


def read(
    path: str | os.PathLike[str] | Frame,
    format: str | None = None,  # noqa: A002 - the word everybody looks for
    columns: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> Dataset:
    """Read all segments of a file, a folder or a frame into memory.

    Args:
        path: JSON lines or one array of objects (`.jsonl`, `.ndjson`, `.json`), TSV (`.tsv`) or CSV (`.csv`), plain or
            `.gz`; Parquet (`.parquet`); `-` for standard input; the folder of a test set; or a table in memory (a
            frame of pandas or polars, an Arrow table, a `datasets.Dataset`).
        format: one of `nlgauge.io.FORMATS`. If None, it is found from the name and the first line.
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
    """
    path = os.fspath(path)
    if format is not None and format not in FORMATS:
        if format in TABLES:
            raise InputError(f"format {format!r} holds no texts; read it with {TABLES[format].partition(':')[0]}")
        raise InputError(f"unknown format {format!r}{nearest(format, FORMATS)}")
    if format in _FOLDERS or (format is None and os.path.isdir(path)):
        if columns is not None:
            raise InputError(f"columns are named for files with one row per segment; {path} is a folder")
        of_folder: HeldSource = _named(_FOLDERS[format or format_of_folder(path)])(path)
        return of_folder
    file = InputFile(path)
    name = format or _format(file)
    if columns is not None:
        return TableSource(*_renamed(file, name, columns))
    if name == "mqm":
        return HeldSource(_named("wmt.mqm:read_mqm")(file).dataset(), [file])
    return TableSource(_rows(file, name))


def _rows(file: InputFile, name: str) -> Rows:
    """The rows of a file of some format."""
    options = {"delimiter": "\t"} if name == "paws" else {}
    found: Rows = _named(_ROWS[name])(file, **options)
    return found


def _named(target: str) -> Callable[..., Any]:
    """A function or class of this package, by module and name."""
    module, _, name = target.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"nlgauge.io.{module}"), name)
    return found


def _renamed(file: InputFile, name: str, columns: Mapping[str, str]) -> tuple[Rows, Mapping[str, str] | None]:
    """The rows of a file whose columns have other names, and the names that are left to be changed in each row."""
    if name in ("csv", "tsv", "paws"):
        return _named(_ROWS["csv"])(file, columns, "," if name == "csv" else "\t"), None
    if name == "parquet":
        return _named(_ROWS[name])(file, columns), columns
    if name == "jsonl":
        return JsonRows(file), columns
    raise InputError(f"columns are named for JSON, CSV, TSV and Parquet, the format of {file.name} is {name!r}")


def _format(file: InputFile) -> str:
    if not file.is_plain:
        return by_content(file)
    plain = file.path.removesuffix(".gz")
    extension = PurePath(plain).suffix.lower()
    if extension == ".parquet" and plain != file.path:
        raise InputError(f"{file.path}: Parquet is compressed inside, expected it without .gz; unpack it with gunzip")
    if extension == ".score":
        raise InputError(f"{file.path} holds scores and no texts; read it with read_scores")
    if extension not in _EXTENSIONS:
        raise InputError(
            f"{file.path}: the format cannot be told from the name, expected .jsonl, .tsv, .csv or .parquet "
            "(parallel text files are given one by one, as hypotheses and references)"
        )
    return format_within(file, _EXTENSIONS[extension])
