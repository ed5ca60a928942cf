"""The segments of a file, a folder or a frame, in any format: ours, and those of installed packages.

Which format a file has is told from its name and, where several share an ending, from the fields of its first row;
`nlgauge list formats` lists them, and `nlgauge.read(path, format=NAME)` names one. A folder with one data file is that
file.

A file is read to its end before the first segment is scored, so that a mistake in its last line costs no time. The
error tells the first bad row in full, how many rows are bad, and where the first five stand.

- Files are UTF-8. For another encoding the error names the command that converts the file, `iconv -f ENCODING -t UTF-8
  FILE`. Only LF ends a line; a CR before it and a byte order mark are dropped, the last LF may be missing,
  and a lone CR, U+2028 or a form feed stays in the text.
- Numbers have a decimal point; `0,5`, `1_000`, `inf` and digits of other scripts are refused. An empty cell, `None`,
  `nan`, `NA`, `N/A`, `#N/A`, `<NA>` and `null`, in upper or lower case, are a missing number: undefined, never 0.
- Segments and scores keep the order of the file.
- Blank lines of tables and of JSON lines are skipped with a note. What else is left out is counted in a note, with the
  reason.
- Texts of unequal number are refused, with the name of the file or system and both numbers. So are an empty file, a
  file that changes while it is read, an id that occurs twice, and an object of JSON with a field twice.
- Pickles are not read, because loading one runs code. Convert them once if you trust them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from importlib import metadata
from pathlib import Path, PurePath
from typing import Any

import msgspec

from nlgauge.core.errors import InputError, NlgaugeError, nearest
from nlgauge.core.options import broken_plugin, find_plugin, load_plugin, plugin_names
from nlgauge.core.segment import Dataset, Frame, is_frame
from nlgauge.io.fields import is_rating
from nlgauge.io.files import BOM, InputFile, Limits, by_content, current, entries, limited, unpacked_name
from nlgauge.io.formats import FORMATS, OURS, named
from nlgauge.io.rows import Records, Rows, columns_in, fields_of_log, first_fields
from nlgauge.io.segments import HeldSource, TableSource

GROUP = "nlgauge.formats"


class NoFormat(InputError):
    """The name of a file says no format of rows; it may have a text on each line."""


def plugin_formats() -> list[str]:
    """The formats that installed packages add."""
    return [name for name in plugin_names(GROUP) if name not in OURS]


def about_plugin(name: str) -> str:
    """The first line of what the reader of an installed package says of itself.

    Raises:
        SpecError: it cannot be loaded, or is no reader.
    """
    return (_reader(name)[1].__doc__ or "no description").strip().splitlines()[0]


def _reader(name: str) -> tuple[metadata.EntryPoint, Callable[[InputFile], Iterable[Any]]]:
    """The entry point of a format, and the function that it names."""
    point = find_plugin(GROUP, name)
    assert point is not None  # its name was found before
    read = load_plugin(point, "format")
    if not callable(read):
        raise broken_plugin(point, "format", f"is {type(read).__name__} {read!r:.60}, expected a function of a file")
    return point, read


def check_format(name: str) -> None:
    """Refuse a name that is neither one of our formats of segments nor one that an installed package adds."""
    if name in OURS or find_plugin(GROUP, name) is not None:
        return
    table = next((one.reads for one in FORMATS.values() if one.reads and one.name == name), "")
    if table:
        raise InputError(f"format {name!r} holds no texts; read it with {table.partition(':')[2]}")
    raise InputError(f"unknown format {name!r}{nearest(name, [*OURS, *plugin_formats()])}")


def by_name(path: str) -> str | None:
    """The format that the name of a file says, also before `.gz`; None if it says none.

    What an installed package adds under some name reads the files with that extension.
    """
    extension = PurePath(unpacked_name(path)).suffix.lower()
    name = next((name for name, ours in OURS.items() if extension in ours.extensions), None)
    if name is None and extension.removeprefix(".") in plugin_names(GROUP):
        return extension.removeprefix(".")
    return name


def by_fields(usual: str, fields: Iterable[str]) -> str:
    """`usual`, or the format of the same extension whose marks are among the fields of the first row."""
    first = frozenset(fields)
    marked = (
        name
        for name, ours in OURS.items()
        if ours.of == usual
        and (any(first == {*alone.split()} for alone in ours.alone) or any(first >= {*m.split()} for m in ours.marks))
    )
    return usual if "hyp" in first else next(marked, usual)


def expected_names() -> str:
    """The extensions that are read, for an error."""
    *others, last = [
        *(ours.extensions[0] for ours in OURS.values() if ours.extensions),
        *(f".{name}" for name in plugin_formats()),
    ]
    return f"{', '.join(others)} or {last}"


class PluginRows(Rows):
    """The rows that a reader of an installed package makes of a file.

    Such a reader is a function, named by an entry point in the group `nlgauge.formats`. The name of the entry point is
    the format, and the ending that its files have, also before `.gz`; `nlgauge.read(path, format=NAME)` reads a file of
    any name. It is given an `nlgauge.io.InputFile`, and yields for each row its line number and its fields, with the
    names of the JSON fields. `nlgauge.io.Lines` reads a text file as numbered lines; `file.chunks()` gives the bytes of
    another. Raise `nlgauge.InputError` for what only the reader can see: checks of fields, duplicate ids, notes and
    `--columns` work as for every format. Our own names and endings take precedence. `examples/plugin` has one.

    Args:
        file: the file.
        name: the name of the format.

    Raises:
        SpecError: the reader cannot be loaded, fails, or gives something else than (line number, fields).
    """

    def __init__(self, file: InputFile, name: str) -> None:
        super().__init__(file)
        self._point, self._read = _reader(name)

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        try:
            for row in self._read(self.file):
                if not (isinstance(row, tuple) and len(row) == 2 and type(row[0]) is int):
                    raise broken_plugin(
                        self._point, "format", f"gives {row!r:.60} for a row, expected (line number, fields)"
                    )
                yield row
        except NlgaugeError:
            raise
        except Exception as error:  # their reader may meet anything
            reason = f"{type(error).__name__}: {error!s:.160}".splitlines()[0]
            raise broken_plugin(self._point, "format", f"cannot read {self.file.name} ({reason})") from None


# --- The segments of a file, a folder or a frame, in any format


def read(
    path: str | os.PathLike[str] | Frame,
    format: str | None = None,  # noqa: A002 - the word everybody looks for
    columns: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> Dataset:
    """Read all segments of a file, a folder or a frame into memory.

    Args:
        path: a file or folder of `nlgauge list formats`; `-` for standard input; or a table in memory (a frame of
            pandas or polars, an Arrow table, a `datasets.Dataset`).
        format: a name of segments that `nlgauge list formats` has. If None, it is found from the name of the file and
            its first line.
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
    with closing(source):
        return source.data if isinstance(source, HeldSource) else source.dataset()


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
        folder: HeldSource = named((ours or OURS[format_of_folder(path)]).held)(path)
        return folder
    file = InputFile(path)
    name = format or _format_of(file)
    ours = OURS.get(name)
    if ours is None:
        return TableSource(PluginRows(file, name), columns)
    if columns is not None and not ours.columns:
        raise InputError(
            f"columns are named for JSON, CSV, TSV, Parquet and logs of some tools, the format of {file.name} is"
            f" {name!r}"
        )
    for_reader = (columns,) if "reader" in ours.columns else ()
    if ours.held:
        held: HeldSource = named(ours.held)(file, *for_reader)
        return held
    table = TableSource(named(ours.rows)(file, *for_reader), columns if "row" in ours.columns else None, columns)
    joined, is_named = is_rating(_first_fields(file, ours.of or name), columns)
    return table.by_rater(is_named) if joined else table


def format_of_folder(folder: str | os.PathLike[str]) -> str:
    """The format of a folder.

    Raises:
        InputError: the folder has no known format.
    """
    inside = entries(Path(folder))
    for name, ours in OURS.items():
        if ours.folder and named(ours.folder)(folder):
            return name
    below = [path.name for path in inside if os.path.isdir(path / "sources")]
    if below:
        raise InputError(f"{folder} holds {len(below)} test sets; name one of them: {', '.join(below)}")
    raise InputError(
        f"{folder} is a folder, expected a file, or a folder with sources/ and system-outputs/ (mt-metrics-eval) "
        "or with SET.source.LP, SET.reference.LP, SET.mt-system.LP and SET.human.LP (WMT15, WMT16), or with"
        " NAME-genmt.jsonl and systems/ (WMT25, WMT26)"
    )


def first_names(path: str | os.PathLike[str]) -> list[str]:
    """The fields of the first row of a table, or the columns of its header; empty for what is no table."""
    file = InputFile(os.fspath(path))
    if not file.is_plain or os.path.isdir(file.path):
        return []
    return _first_fields(file, by_name(file.path) or "")


def _file_in(folder: str) -> str | None:
    """The one data file of a folder of no known format, or the one of several that is named `segments`."""
    if any(named(ours.folder)(folder) for ours in OURS.values() if ours.folder):
        return None
    files = [str(path) for path in entries(folder) if by_name(str(path)) is not None and os.path.isfile(path)]
    called_segments = [path for path in files if os.path.basename(path).partition(".")[0] == "segments"]
    if len(files) > 1 and len(called_segments) != 1:
        parts = " (parts of one table are to be one file)" if {by_name(one) for one in files} == {"parquet"} else ""
        raise InputError(f"{folder} holds {len(files)} data files; name one of them{parts}: {', '.join(files)}")
    return next(iter(called_segments or files), None)


_OF_ARCHIVES = ("", ".zip")  # suffixes; a spreadsheet is a zip archive, too, and no log


def _format_of(file: InputFile) -> str:
    """The format of a file, by its name and the fields of its first row; by its content where it has no name."""
    name = by_name(file.path)
    other = of_other_tool(file, by_lines=name is None and file.is_plain)
    if other:
        raise InputError(f"{file.name} is {other}")
    if not file.is_plain:
        kind = "inspect" if _is_zip(file) else by_content(file)
        return by_fields(kind, _first_fields(file, kind)) if kind in ("jsonl", "parquet") else kind
    if (name == "jsonl" or Path(file.path).suffix.lower() in _OF_ARCHIVES) and _is_zip(file):
        return "inspect"
    if name == "parquet" and unpacked_name(file.path) != file.path:
        end = Path(file.path).suffix
        raise InputError(f"{file.path}: Parquet is compressed inside, expected it without {end}; unpack it first")
    if name is None and unpacked_name(file.path).lower().endswith(".score"):
        raise InputError(f"{file.path} holds scores and no texts; read it with read_scores")
    if name is None:
        raise NoFormat(
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
    head = file.head(1 << 20).removeprefix(BOM)
    line = head.partition(b"\n")[0].decode("utf-8", errors="replace").rstrip("\r")
    if name == "parquet":
        from nlgauge.io.frames import read_names

        return read_names(file)
    if name != "jsonl":
        return []
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        row = None
    text = head.decode("utf-8", errors="replace")
    fields = list(row) if type(row) is dict else first_fields(text)
    return columns_in(text) if fields[:1] == ["columns"] else fields_of_log(text) or fields


# --- Files of other tools, which hold neither texts, one per line, nor rows

_HEAD = 1 << 16  # bytes of a file that are looked at
_DENSE = 8  # subtitles have times in one of so many lines or more
_BEGINNINGS = {  # in lower case -> what it is
    "<!doctype html": "a page of HTML, perhaps an error of a server in place of the file",
    "<html": "a page of HTML, perhaps an error of a server in place of the file",
    "%pdf-": "a PDF",
    "{\\rtf": "RTF of a word processor",
    "webvtt": "subtitles (WebVTT)",
    "[script info]": "subtitles (SubStation)",
    **dict.fromkeys(("<?xml ", "<tmx ", "<xliff "), "XML, of which WMT's alone is read, after --hyp, --ref or --src"),
}
_TIMES = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{3}"
_SUBTITLES = re.compile(rf"\s*(?:{_TIMES}[ \t]+-->[ \t]+{_TIMES}(?:[ \t].*)?|{_TIMES},{_TIMES})\s*")
_MESSAGE = re.compile(r'(?:msgctxt|msgid)[ \t]+"')
_BETWEEN_BARS = re.compile(r".* \|\|\| .*")
_TIMED_WORDS = re.compile(r"\S+ [A-Z0-9] \d+(\.\d+)? \d+(\.\d+)? \S+( \S+)?")  # of recognisers: file, channel, times


def of_other_tool(file: InputFile, *, by_lines: bool = True) -> str:
    """What a file is, if it surely holds no texts or rows, and what to do; empty if it may.

    Args:
        file: the file.
        by_lines: whether the lines are looked at, too, and not only how the file begins.
    """
    text = file.head(_HEAD).removeprefix(BOM).decode("utf-8", "replace")
    first, _, rest = text.lstrip().partition("\n")
    begins = next((what for start, what in _BEGINNINGS.items() if first.lower().startswith(start)), "")
    is_each = (first.rstrip().lower().endswith("</html>") and rest.strip()) or text.count("<?xml ") > 1
    if begins and not is_each:  # else each line is one
        return f"{begins}; expected texts, one per line, or rows"
    lines = [line for line in text.split("\n") if line.strip()] if by_lines else []
    if len(lines) > 1 and len(text) >= _HEAD // 4:
        lines.pop()  # which may be cut
    told = [line for line in lines if not line.startswith("#")]
    if told and _MESSAGE.match(told[0]) and any(line.startswith("msgstr") for line in told):
        return "a catalogue of gettext (msgid, msgstr); write its msgstr alone, one text per line"
    if _DENSE * sum(map(bool, map(_SUBTITLES.fullmatch, lines))) >= max(1, len(lines)):
        return "subtitles with times; write their texts alone, one per line"
    if len(lines) > 1 and all(map(_BETWEEN_BARS.fullmatch, lines)):
        return "a list of fields between '|||', as n-best lists of Moses; write one text per line and no other field"
    if len(lines) > 1 and all(map(_TIMED_WORDS.fullmatch, lines)):
        return "a list of words with times (CTM); write one text per line"
    return ""
