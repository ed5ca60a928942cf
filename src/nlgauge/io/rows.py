"""The rows of a file: of JSON, of text between commas or tabs, and of tables with a header."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.segment import RepeatedKey, check_keys, repeated
from nlgauge.io.advice import advice
from nlgauge.io.fields import (
    CRITERION,
    NAMES,
    FieldError,
    Several,
    fields_by_column,
    guessed,
    is_known,
    like_criteria,
    may_repeat,
    note_of_guess,
    reference_columns,
    shown,
    truth,
)
from nlgauge.io.files import BOM, InputFile, Lines, counted, number_in, refuse

_COLUMNS = re.compile(r'\s*\{\s*"columns"\s*:\s*(\[[^\]]*\])')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:]')


_LOW = r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF = re.compile(  # it begins with plain characters, which are found fast
    rf"\\u[dD](?:[89abAB][0-9a-fA-F]{{2}}(?!{_LOW})|(?<!\\u[dD][89abAB][0-9a-fA-F]{{2}}\\u[dD])[c-fC-F][0-9a-fA-F]{{2}})"
)


def mended(text: str) -> str:
    """JSON in which half of a surrogate pair, which is no text, is U+FFFD, as decoders write it; guards note it."""
    return _HALF.sub(_replaced, text)


def _replaced(half: re.Match[str]) -> str:
    before = half.string[: half.start()]
    return half[0] if (len(before) - len(before.rstrip("\\"))) % 2 else r"\ufffd"


def first_fields(head: str) -> list[str]:
    """The names of the fields of the object that a text begins with, or of the first object of an array, in order.

    The text may end anywhere: fields after its end are not found. Empty if the text begins with something else.
    """
    start = head.lstrip(" \t\r\n")[:1]
    if start not in ("{", "["):
        return []
    level = 1 if start == "{" else 2  # how deep the first object lies
    depth, found = 0, dict[str, None]()
    last = ""
    for match in _TOKEN.finditer(head):
        token = match[0]
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
            if depth < level and found:
                break
        elif token == ":":
            if depth == level and last:
                found[last] = None
            last = ""
            continue
        last = token[1:-1] if token[0] == '"' else ""
    return list(found)


def columns_in(head: str) -> list[str]:
    """The fields of a table that is one object with `columns` and `data`: its columns where one of them is `hyp`."""
    match = _COLUMNS.match(head.removeprefix("\ufeff"))
    try:
        names = json.loads(match[1]) if match else []
    except ValueError:
        names = []
    return names if "hyp" in names else first_fields(head)


_LOGS = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(?=\[\s*\{\s*"(?:annotation|user_id|item_i)")')


def fields_of_log(head: str) -> list[str]:
    """The fields of the first entry of Pearmut's logs where a text holds them by campaign; none of other texts."""
    logs = _LOGS.match(head)
    return first_fields(head[logs.end() :]) if logs else []


# --- Rows of a file, in whatever format


class Rows:
    """The rows of a file, as (number, field -> value). Each iteration reads the file again.

    Attributes:
        file: the file.
        lines: its lines, of which the number is one.
        ignored: columns that are not read; of JSON the rows themselves say it.
        refuse: what is done with a bad row, told its place and the reason.
    """

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.lines = Lines(file)
        self.ignored: list[str] = []
        self.refuse: Callable[[str, str], object] = refuse

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        raise NotImplementedError

    def whole(self) -> Iterator[Any]:
        """The rows with all that the file has of each, under its own names."""
        return (row for _, row in self)

    def at(self, number: int) -> str:
        """The place of a row, for an error message."""
        return self.lines.at(number)

    def notes(self) -> list[str]:
        """Notes on dropped or skipped input, known after a complete pass."""
        return self.lines.notes()


# --- JSON: one object per line, one array of objects, or a table as one object; no object may hold a key twice


class JsonRows(Rows):
    """The rows of a JSON file: JSON lines, one array of objects, or a table as pandas writes it.

    A field of null is absent, but `hyp` may not be: an empty text is `""`. NaN and Infinity are refused; write null.

    A file that begins with `[` is one array, whose bytes are held in memory. A file that is one object may be a table:
    `to_json` of pandas in any of its orients, columns as lists, or one list of rows in a field.

    Raises:
        InputError: a line or an entry is not JSON, or larger than the limits of the file allow. Also what `Lines`
            raises.
    """

    _array = False

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        self._array = is_array(self.file)
        if self._array:
            return self._entries()
        table = self._table()
        self._array = table is not None
        return self._objects() if table is None else iter(enumerate(table, start=1))

    def _table(self) -> list[Any] | None:
        """The rows of a file that is one object; None if it is JSON lines."""
        lines = ((number, line) for number, line in self.lines if line.strip(" \t\r"))
        number, text = next(lines, (0, ""))
        is_cut = text.rstrip(" \t\r")[-1:] in ("{", "[", ",", ":")  # an object over several lines
        try:
            text = str(joined(self.file), "utf-8") if is_cut else text
            value = msgspec.json.decode(mended(text))
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return None
        rows = rows_of(value)
        if rows is None and is_cut:
            raise InputError(
                f"{self.file.name}: one object over several lines, expected one whole object on each line (jq -c ."
                " joins lines), an array of objects, or a table as pandas writes it"
            )
        if rows is None or (not is_cut and next(lines, None) is not None):
            return None
        self.file.limits.check_json(text, value, self.lines.at(number))
        try:
            check_keys(text, value)
        except RepeatedKey as error:
            raise InputError(f"{self.file.name}: {error}") from None
        return rows

    def _objects(self) -> Iterator[tuple[int, Any]]:
        decode = msgspec.json.Decoder().decode
        for number, line in self.lines:
            try:
                value = decode(mended(line) if "\\u" in line else line)
            except (msgspec.DecodeError, RecursionError):
                if line.strip(" \t\r"):
                    self.refuse(self.at(number), _fault(line, number))
                else:
                    self.lines.blank += 1
                continue
            if self._names_keys_once(number, line, value):
                yield number, value

    def _names_keys_once(self, number: int, text: str, value: Any) -> bool:
        self.file.limits.check_json(text, value, self.at(number))
        try:
            check_keys(text, value)
        except RepeatedKey as error:
            self.refuse(self.at(number), str(error))
            return False
        return True

    def _entries(self) -> Iterator[tuple[int, Any]]:
        try:
            read = joined(self.file)
            content = mended(str(read, "utf-8")) if b"\\u" in read else read
            entries = msgspec.json.decode(content, type=list[msgspec.Raw])
        except RecursionError:
            raise InputError(f"{self.file.name}: nested too deeply, expected an array of objects") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self._refuse_encoding()
            raise InputError(f"{self.file.name}: not valid JSON ({error}), expected an array of objects") from None
        decode = msgspec.json.Decoder().decode
        for number, entry in enumerate(entries, start=1):
            try:
                text = str(memoryview(entry), "utf-8")
                self.file.limits.check("line", len(text), self.at(number))
                value = decode(entry)
            except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
                if isinstance(error, UnicodeDecodeError):
                    self._refuse_encoding()
                self.refuse(self.at(number), f"not valid JSON ({error})")
                continue
            if self._names_keys_once(number, text, value):
                yield number, value

    def _refuse_encoding(self) -> None:
        """Read all lines, which say what is no UTF-8 and how to convert it; nothing if all is UTF-8."""
        for _ in self.lines:
            pass

    def at(self, number: int) -> str:
        """The place of a row, for an error message."""
        return f"{self.file.name}, entry {number}" if self._array else self.lines.at(number)


_ROWS = ("data", "rows", "values", "records", "examples", "instances")  # what a list of rows is called


def rows_of(value: Any) -> list[Any] | None:
    """The rows of a table that is one object; None for any other value.

    pandas writes columns of cells by index, rows by index, or `columns` and `data` (`to_json` with its orients);
    others write columns as lists, or one list of rows in a field.
    """
    if type(value) is not dict or not value or type(value.get("hyp")) is str:
        return None
    names: Any = value.get("columns")
    cells: Any = value.get("data")
    if _all(names, str) and _all(cells, list) and all(len(row) == len(names) for row in cells):
        return [dict(zip(names, row, strict=True)) for row in cells]
    for name, inner in value.items():
        if (name in _ROWS or len(value) == 1) and _all(inner, dict):
            return list(inner)
    parts = list(value.values())
    if _all(parts, list) and parts[0] and len({len(part) for part in parts}) == 1:
        return [dict(zip(value, row, strict=True)) for row in zip(*parts, strict=True)]
    if not _all(parts, dict) or not parts[0] or any(part.keys() != parts[0].keys() for part in parts):
        return None
    if "hyp" in value or all(map(str.isdigit, parts[0])):
        return [_with_id(key, {name: part[key] for name, part in value.items()}) for key in parts[0]]
    if "hyp" in parts[0] or all(map(str.isdigit, value)):
        return [_with_id(key, row) for key, row in value.items()]
    return None


def _all(values: Any, kind: type) -> bool:
    return type(values) is list and bool(values) and all(type(one) is kind for one in values)


def _with_id(key: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row under a key of the index, which is its id unless it is a number that pandas gave."""
    return row if key.isdigit() else {"id": key, **row}


def is_array(file: InputFile) -> bool:
    """Whether a file begins as one array of JSON does."""
    return file.head().removeprefix(BOM).lstrip()[:1] == b"["


def joined(file: InputFile) -> bytes:
    """The bytes of a file that is one value, without a byte order mark."""
    parts, size = [], 0
    for chunk in file.chunks():
        parts.append(chunk)
        size += len(chunk)
        file.limits.check("array", size, file.name, is_whole=False)
    return b"".join(parts).removeprefix(BOM)


def _fault(line: str, number: int) -> str:
    """Why a line is refused. The standard library's parser gives the position, and accepts some values outside JSON."""
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        whole = number == 1 and line.strip() == "{"
        advice = (
            "; expected one whole object on each line, or an array of objects (jq -c . joins lines)" if whole else ""
        )
        return f"not valid JSON ({error.msg.removesuffix(' at')}, character {error.pos + 1}){advice}"
    except RecursionError:
        return "nested too deeply, expected an object with the field 'hyp'"
    except ValueError:  # a number with too many digits
        pass
    return "not valid JSON; what is missing is null (NaN and Infinity do not exist), and numbers must be finite"


# --- Records of delimited text: lines that are parted into cells, as programs and spreadsheets write them

_MOST = 10_000  # lines of one row; more means that a quote was never closed
_SEPARATOR = re.compile(r'"?sep=([,;\t|])"?')  # how a spreadsheet is told it


class Records:
    """Records of delimited text, as (number of the first line, cells). Each iteration reads the file again.

    Cells between commas may be quoted. So may cells between tabs if `quoted`, or if all names of the header are; else
    a cell is taken as it is, unless it is one that a spreadsheet quoted (see `cells_between_tabs`). Blanks around the
    names of the header are dropped. Lines of white space and rows of separators alone are skipped and counted in
    `notes`; with `keeps_blank`, which is for cells without quotes, an empty line is one empty cell.

    A file for commas may have semicolons, tabs, `|` or what a first line `sep=;` says, as spreadsheets write it, and
    lines may end in CR alone; the header tells.

    Raises:
        InputError: a quote is never closed, or text follows a closing quote.
    """

    def __init__(
        self, file: InputFile, delimiter: str = ",", *, quoted: bool = False, keeps_blank: bool = False
    ) -> None:
        self.lines = Lines(file)
        self._keeps_blank = keeps_blank
        self._given = delimiter
        self._quotes = quoted
        self._as(delimiter)

    def _as(self, delimiter: str, padded: bool = False, quoted: bool = False) -> None:
        """Settle how cells are parted: `padded` where a blank follows each separator."""
        self._delimiter, self._quoted = delimiter, quoted or self._quotes or self._given != "\t"
        mark = re.escape(delimiter)
        end = f"{mark} ?" if padded else mark
        self._cell: Callable[..., Any] = re.compile(rf'(?:"((?:[^"]|"")*)"|([^"{mark}][^{mark}]*|))({end}|\Z)').match

    def header(self) -> list[str]:
        """The names in the first record; none in an empty file."""
        return next(iter(self), (0, list[str]()))[1]

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        self._as(self._given)
        records = self._records(self._numbered())
        place, header = next(records, (0, None))
        if header is not None:
            yield place, [name.strip(" \r") for name in header]
            yield from records

    def _numbered(self) -> Iterator[tuple[int, str]]:
        """The lines from the header on, which settles how cells are parted, and whether CR alone ends lines."""
        lines: Iterator[tuple[int, str]] = iter(self.lines)
        number_, first = next(lines, (0, ""))
        parts = first.rstrip("\r").split("\r")
        if len(parts) > 1 and parts[0].count('"') % 2 == 0:
            lines = chain(enumerate(parts, start=1), lines)
            number_, first = next(lines)
        told = _SEPARATOR.fullmatch(first.rstrip("\r")) if self._given == "," else None
        mark = told[1] if told else self._given
        if told is not None:
            number_, first = next(lines, (0, ""))
        elif mark == "," and "," not in first:
            drawn = first.startswith("|") or " |" in first  # a table as it is shown, with blanks around cells
            mark = next((other for other in (";\t" if drawn else ";\t|") if other in first), mark)
        names = first.split(mark)
        padded = len(names) > 1 and all(name.startswith(" ") for name in names[1:])
        quoted = len(names) > 1 and all(len(n) > 2 and n.startswith('"') and n.endswith('"') for n in names)
        self._as(mark, padded, quoted)
        if number_:
            yield number_, first
        yield from lines

    def _records(self, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
        held: list[str] = []  # lines of a row whose end has not come yet
        first = quotes = size = place = 0
        longest = self.lines.file.limits.segment
        for number_, line in lines:
            if not held:
                if not line.strip(f"{self._delimiter} \t\r") and (self._delimiter in line or not self._keeps_blank):
                    self.lines.blank += 1
                    continue
                if not self._quoted:
                    cells = cells_between_tabs(line)
                    yield number_, cells if len(line) <= longest else self._checked(number_, cells, len(line))
                    continue
                first, quotes, size, place = number_, 0, 0, 0
            held.append(line)
            more = line.count('"')
            quotes, size = quotes + more, size + len(line)
            self.lines.file.limits.check("line", size, self.lines.at(first), is_whole=False)
            # Quotes come in pairs in every whole record: around a cell, or twice for one inside it.
            opened = (place if not more else self._open_cell("\n".join(held), place)) if quotes % 2 else None
            if opened is None:
                yield first, self._checked(first, self._cells("\n".join(held), first), size)
                held = []
            elif len(held) > _MOST:
                break
            else:
                place = opened
        if held:
            raise InputError(f"{self.lines.at(first)}: a double quote that begins a cell in this row is never closed")

    def notes(self) -> list[str]:
        """Notes on dropped or skipped input, known after a complete pass."""
        return self.lines.notes()

    def _checked(self, number_: int, cells: list[str], size: int) -> list[str]:
        if size > self.lines.file.limits.segment:
            self.lines.file.limits.check_cells(cells, self.lines.at(number_))
        return cells

    def _open_cell(self, text: str, place: int) -> int | None:
        """Where an unpaired quote opens a cell that continues; None if it merely stands in an unquoted cell.

        Args:
            text: the lines of the row so far.
            place: the beginning of a cell of it; those before are whole.
        """
        while place < len(text):
            match = self._cell(text, place)
            if match is None:
                return place if text[place] == '"' else None
            place = match.end()
        return None

    def _cells(self, text: str, number_: int) -> list[str]:
        cells: list[str] = []
        place = 0
        while True:
            match = self._cell(text, place)
            if match is None:
                where = f"{self.lines.at(number_)}: cell {len(cells) + 1}"
                raise InputError(f"{where}: text after the closing quote; a quote inside a cell is written twice")
            quoted, bare, end = match.groups()
            cells.append(bare if quoted is None else quoted.replace('""', '"'))
            if match.end() == len(text):
                return [*cells, ""] if end else cells
            place = match.end()


def cells_between_tabs(line: str) -> list[str]:
    """The cells of a line of TSV, which is not quoted. What a spreadsheet quoted is undone: a cell that begins and ends
    with a quote and holds others, each written twice."""
    cells = line.split("\t")
    return [_undone(cell) for cell in cells] if '""' in line else cells


def _undone(cell: str) -> str:
    inner = cell[1:-1]
    quoted = cell[:1] == cell[-1:] == '"' and '""' in inner and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if quoted else cell


# --- Tables with a header, between commas or tabs: rows with our column names, or with those of published sets

ERROR_SIGN = re.compile(r"</?v>")  # around an error in a text, as COMET and MQM have it


@dataclass(frozen=True)
class Layout:
    """The columns of one kind of file.

    Attributes:
        needs: the columns by which the layout is recognised.
        columns: column -> field of a segment, named as in JSON lines; `human.NAME` for a criterion.
        marked: whether hypotheses have `<v>` marks around errors. The marks are not part of the text.
    """

    needs: frozenset[str]
    columns: Mapping[str, str]
    marked: bool = False

    def field_of(self, column: str) -> str:
        """The field of a column; empty where it is not read."""
        own = is_known(column) and (not self.columns or column.startswith((CRITERION, "ref")))
        return self.columns.get(column, column if own else "")


_KEYS = {name: name for name in ("id", "system", "seg", "lp", "task", "rater", "criterion")}
PLAIN = Layout(frozenset({"hyp"}), {})
COMET = Layout(
    frozenset({"src", "mt"}),
    {"src": "src", "mt": "hyp", "ref": "ref", "score": "human.score", "raw": "human.raw", **_KEYS},
    marked=True,
)
PAWS = Layout(
    frozenset({"sentence1", "sentence2", "label"}),
    {"sentence1": "ref", "sentence2": "hyp", "label": "human.label", **_KEYS},
)
LAYOUTS = (PLAIN, COMET, PAWS)


class DelimitedRows(Rows):
    """The rows of a table with a header, whose cells stand between commas or tabs.

    Columns have the names of our fields; lists such as `refs` and `context` cannot be columns of CSV, so write `ref1`,
    `ref2`, or JSON lines. Files of spreadsheets with semicolons, tabs, a first line `sep=;` or lines that end in CR
    alone are read as well. Two kinds of other columns are known: COMET's (`src`, `mt`, `ref`, `score`, `raw`), where
    `<v>` marks are taken out of the text and counted, and those of PAWS (`sentence1`). Any other table needs
    `--columns`, as outputs rated for meaning representations do (BAGEL, SFHOT, SFREST): `--columns
    src=mr,hyp=sys_ref,ref=orig_ref,human.quality=quality`.

    Cells between commas may stand in double quotes; cells between tabs are taken as they are, and lists and objects in
    them are JSON. Empty cells are as in TSV.

    Args:
        file: a file with a header.
        columns: which column holds which field, in either direction, for a file whose layout is not known, or to read
            an unknown column.
        delimiter: a comma or a tab.

    Raises:
        InputError: the header has no known layout or a column twice, a row has another number of cells, a quote is
            never closed, or a cell cannot be read as its column requires. Also what `Lines` raises.
    """

    def __init__(self, file: InputFile, columns: Mapping[str, str] | None = None, delimiter: str = ",") -> None:
        super().__init__(file)
        self._between_tabs = delimiter == "\t"
        self._records = Records(file, delimiter, keeps_blank=self._between_tabs)
        self.lines = self._records.lines
        self._columns = dict(columns or {})
        self._guess: dict[str, str] = {}
        self._marks = 0

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        records = iter(self._records)
        place, header = next(records, (0, None))
        if header is None:
            return
        self.file.limits.check("columns", len(header), self.at(place))
        layout, fields = self._fields(header, place)
        places = {name: at for at, name in enumerate(fields)}
        references = [places[name] for name in reference_columns(fields)]
        several = {
            name: [(header[at], at) for at, own in enumerate(fields) if own == name]
            for name in places
            if may_repeat(name)
        }
        systems = several.pop("hyp", [])
        others = [(name, at, _reader(name)) for name, at in places.items() if name in NAMES and name != "ref"]
        aside = [(name, header.index(name)) for name in like_criteria(self.ignored)]
        self._marks = 0
        for place, cells in records:
            if len(cells) != len(header):
                if self._between_tabs and cells == [""]:
                    self.lines.blank += 1
                    continue
                advice = "; a text must hold no tab and no line break" if self._between_tabs else ""
                width = f"{counted(len(cells), 'cell')}, expected {len(header)} as in the header"
                self.refuse(self.at(place), width + advice)
                continue
            try:
                row: dict[str, Any] = {name: cells[at] for name, at in aside}
                row |= {name: read(cells[at], name) for name, at, read in others}
                if references:
                    texts = [cells[at] for at in references if cells[at]]
                    if row.get("refs") is None:
                        row["refs"] = texts or [""]
                    elif texts:
                        first = fields[references[0]]
                        raise FieldError(f"fields 'refs' and {first!r} are both given, expected one of them")
                if several and isinstance(whole := row.get("human") or {}, dict):  # no object is refused by its type
                    row["human"] = whole | {
                        name.removeprefix(CRITERION): _rating(cells[own[0][1]], name)
                        if len(own) == 1
                        else Several((rater, _rating(cells[at], rater)) for rater, at in own)
                        for name, own in several.items()
                    }
            except FieldError as error:
                self.refuse(self.at(place), str(error))
                continue
            if layout.marked:
                row["hyp"] = self._unmarked(row["hyp"])
            if len(systems) > 1:
                row["hyp"] = Several((name, cells[at]) for name, at in systems)
            yield place, row

    def whole(self) -> Iterator[dict[str, str]]:
        """The cells of rows, under the names of the header."""
        records = (cells for _, cells in self._records)
        header = next(records, [])
        return (dict(zip(header, cells, strict=False)) for cells in records)

    def notes(self) -> list[str]:
        """Notes on dropped or skipped input, known after a complete pass."""
        notes = [*super().notes(), *note_of_guess(self.file.name, self._guess)]
        if self._marks:
            notes.append(f"{self.file.name}: <v> marks taken out of {counted(self._marks, 'hypothesis', 'hypotheses')}")
        return notes

    def _unmarked(self, text: str) -> str:
        if "<v>" not in text:
            return text
        self._marks += 1
        return ERROR_SIGN.sub("", text)

    def _fields(self, header: Sequence[str], place: int) -> tuple[Layout, list[str]]:
        """The layout of a header, and the field each column holds; empty where it is not read."""
        layout = layout_of(header)
        columns = fields_by_column(self._columns, header)
        if layout is None and "hyp" not in columns.values():
            self._guess = {field: name for field, name in guessed(header).items() if field not in columns.values()}
            columns |= {name: field for field, name in self._guess.items()}
        twice = repeated(name for name in header if name in columns or is_known(name))
        if twice is not None:
            raise InputError(f"{self.at(place)}: the header names column {twice!r} twice")
        absent = next((name for name in columns if name not in header), None)
        if absent is not None:
            raise InputError(f"{self.at(place)}: the header has no column {absent!r}; columns found: {shown(header)}")
        if layout is None and "hyp" not in columns.values():
            raise InputError(f"{self.at(place)}: {self._unknown(header)}")
        layout = layout or PLAIN
        fields = [columns.get(name, layout.field_of(name)) for name in header]
        own = [*zip(fields, header, strict=True)]
        twice = repeated(field for field, name in own if field and not (may_repeat(field) and name in columns))
        mixed = {field for field, name in own if field.startswith(CRITERION) and name not in columns}
        twice = twice or next((field for field, name in own if field in mixed and name in columns), None)
        if twice is not None:
            raise InputError(f"{self.at(place)}: two columns would be field {twice!r}")
        for name in filter(None, fields):
            if not is_known(name) or (name in _JSON and not self._between_tabs):
                raise InputError(
                    f"{self.at(place)}: field {name!r} cannot be a column of {'TSV' if self._between_tabs else 'CSV'};"
                    " write JSON lines, or 'ref1', 'ref2' for references"
                )
        self.ignored = [name for name, used in zip(header, fields, strict=True) if not used]
        return layout, fields

    def _unknown(self, header: Sequence[str]) -> str:
        """The reason to refuse a header, and what may help."""
        if {"pos", "neg"} <= set(header):
            return (
                "pairs of a better and a worse text, expected one text per row; 'nlgauge audit --suite FILE --columns"
                " better=pos,worse=neg' reads them"
            )
        if header[0].startswith("#"):
            return f"a line that begins with '#' ({header[0]:.40}), expected the names of columns; delete such lines"
        mark = next((mark for mark in ",;|" if mark in header[0]), "") if len(header) == 1 else ""
        if mark:
            way = "give the file a name that ends in .csv" if self._between_tabs else "save the table as CSV"
            return f"the cells stand between {mark!r}, expected {'tabs' if self._between_tabs else 'commas'}; {way}"
        offered = advice(self.whole())
        if self._between_tabs:
            return f"the header has no column 'hyp'; columns found: {shown(header)}{offered}"
        known = "; ".join(", ".join(sorted(one.needs)) for one in LAYOUTS)
        return f"no layout has these columns: {shown(header)}; expected at least: {known}{offered}"


def tab_rows(file: InputFile, columns: Mapping[str, str] | None = None) -> DelimitedRows:
    """The rows of a table between tabs, whose header has the names of our fields.

    A cell is whatever stands between two tabs: there is no quoting and no escaping, so a text can hold no tab and no
    line break. What a spreadsheet quoted is undone. An empty cell is an absent value, with two exceptions: an empty
    `hyp` is an empty text, and a row all of whose reference cells are empty has one empty reference. `refs`, `human`,
    `context`, `table` and the ratings of several people (`[4, 5]`) are JSON in a cell. `NA`, `nan`, `null` and the like
    stand for no rating.

    PAWS, PAWS-X and QQP are read with their own names: `sentence1` is the reference, `sentence2` the hypothesis,
    `label` the rating.
    """
    return DelimitedRows(file, columns, "\t")


def _reader(name: str) -> Callable[[str, str], Any]:
    """The reading of one cell: a text, or JSON."""
    if name == "hyp":
        return lambda cell, name: cell
    return (
        (lambda cell, name: _json(cell, name) if cell else None) if name in _JSON else lambda cell, name: cell or None
    )


def _rating(cell: str, name: str) -> Any:
    if cell.startswith("["):
        return _json(cell, name)
    try:
        value = number_in(cell)
    except ValueError as error:
        if (known := truth(cell)) is not None:
            return known
        raise FieldError(f"field {name!r} is {error}") from None
    return None if math.isnan(value) else value


_JSON = {"refs": "a list of strings", "context": "a list of turns", "table": "a list of records", "human": "an object"}


def _json(cell: str, name: str) -> Any:
    try:
        value = msgspec.json.decode(mended(cell))
        check_keys(cell, value)
    except RepeatedKey as error:
        raise FieldError(f"field {name!r}: {error}") from None
    except (msgspec.DecodeError, RecursionError):
        expected = _JSON.get(name, "a number or a list of numbers")
        hint = "; write a single reference into a column 'ref'" if name == "refs" else ""
        raise FieldError(f"field {name!r} is not valid JSON, expected {expected} in the cell{hint}") from None
    return value


def layout_of(header: Sequence[str]) -> Layout | None:
    """The known layout that a header has; None if it has none."""
    return next((layout for layout in LAYOUTS if layout.needs <= set(header)), None)
