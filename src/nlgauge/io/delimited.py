"""Tables with a header, between commas or tabs: records, and rows with the column names of published sets."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.segment import repeated
from nlgauge.io.fields import CRITERION, NAMES, FieldError, advice, fields_by_column, is_known, reference_columns
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Lines, counted, number, refuse

_MARK = re.compile(r"</?v>")
_MOST = 10_000  # lines of one row; more means that a quote was never closed


@dataclass(frozen=True)
class Layout:
    """The columns of one kind of file.

    Attributes:
        name: the name of the layout, for notes.
        needs: the columns by which the layout is recognised.
        columns: column -> field of a segment, named as in JSON lines; `human.NAME` for a criterion.
        marked: whether hypotheses have `<v>` marks around errors. The marks are not part of the text.
    """

    name: str
    needs: frozenset[str]
    columns: Mapping[str, str]
    marked: bool = False

    def field_of(self, column: str) -> str:
        """The field of a column; empty where it is not read."""
        own = is_known(column) and (not self.columns or column.startswith((CRITERION, "ref")))
        return self.columns.get(column, column if own else "")


PLAIN = Layout("a table with our own names", frozenset({"hyp"}), {})
COMET = Layout(
    "COMET's training data",
    frozenset({"src", "mt"}),
    {
        "src": "src",
        "mt": "hyp",
        "ref": "ref",
        "score": "human.score",
        "raw": "human.raw",
        **{name: name for name in ("id", "system", "seg", "lp", "task", "rater")},
    },
    marked=True,
)
RATED_OUTPUTS = Layout(
    "rated outputs for meaning representations (BAGEL, SFHOT, SFREST)",
    frozenset({"mr", "sys_ref", "informativeness", "naturalness", "quality"}),
    {
        "mr": "src",
        "sys_ref": "hyp",
        "orig_ref": "ref",
        "dataset": "task",
        "system": "system",
        "informativeness": "human.informativeness",
        "naturalness": "human.naturalness",
        "quality": "human.quality",
    },
)
PAWS = Layout(
    "PAWS, PAWS-X and QQP: two sentences, and whether they say the same (1) or not (0)",
    frozenset({"sentence1", "sentence2", "label"}),
    {
        "sentence1": "ref",
        "sentence2": "hyp",
        "label": "human.label",
        **{name: name for name in ("id", "system", "seg", "lp", "task", "rater")},
    },
)
LAYOUTS = (PLAIN, COMET, RATED_OUTPUTS, PAWS)


class DelimitedRows:
    """The rows of a table, as (line number, field -> value). Each iteration reads the file again.

    Cells between commas may stand in double quotes, and then contain commas, line breaks, and quotes that are written
    twice. Cells between tabs are taken as they are; there lists and objects (`refs`, `context`, `table`, `human`, the
    ratings of several people) are JSON in a cell. An empty cell is an absent value, with two exceptions: in `hyp` it is
    an empty hypothesis, and a row all of whose reference columns are empty has one empty reference.

    Args:
        file: a file with a header.
        columns: which column holds which field, in either direction, for a file whose layout is not known, or to read
            an unknown column.
        delimiter: a comma or a tab.

    Attributes:
        ignored: columns that are not read.

    Raises:
        InputError: the header has no known layout or a column twice, a row has another number of cells, a quote is
            never closed, or a cell cannot be read as its column requires. Also what `Lines` raises.
    """

    def __init__(self, file: InputFile, columns: Mapping[str, str] | None = None, delimiter: str = ",") -> None:
        self.file = file
        self.ignored: list[str] = []
        self.refuse: Callable[[str, str], object] = refuse
        self._between_tabs = delimiter == "\t"
        self._records = Records(file, delimiter, keeps_blank=self._between_tabs)
        self._columns = dict(columns or {})
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
        ratings = [(name, at) for name, at in places.items() if name.startswith(CRITERION)]
        others = [(name, at, _reader(name)) for name, at in places.items() if name in NAMES and name != "ref"]
        self._marks = 0
        for number_, (place, cells) in enumerate(records, start=1):
            if len(cells) != len(header):
                if self._between_tabs and cells == [""]:
                    self._records.lines.blank += 1
                    continue
                advice = "; a text must hold no tab and no line break" if self._between_tabs else ""
                width = f"{counted(len(cells), 'cell')}, expected {len(header)} as in the header"
                self.refuse(self.at(place), width + advice)
                continue
            try:
                row: dict[str, Any] = {name: read(cells[at], name) for name, at, read in others}
                if references:
                    texts = [cells[at] for at in references if cells[at]]
                    if row.get("refs") is None:
                        row["refs"] = texts or [""]
                    elif texts:
                        first = fields[references[0]]
                        raise FieldError(f"fields 'refs' and {first!r} are both given, expected one of them")
                if ratings and isinstance(whole := row.get("human") or {}, dict):  # no object is refused by its type
                    row["human"] = whole | {
                        name.removeprefix(CRITERION): _rating(cells[at], name) for name, at in ratings
                    }
            except FieldError as error:
                self.refuse(self.at(place), str(error))
                continue
            if layout.marked:
                row["hyp"] = self._unmarked(row["hyp"])
            if layout is RATED_OUTPUTS:
                # one meaning representation has several outputs, also of one system: only the row tells them apart
                row.setdefault("id", str(number_))
                row["seg"] = row.get("src")
            yield place, row

    def at(self, number: int) -> str:
        """The place of a row, for an error message."""
        return self._records.lines.at(number)

    def notes(self) -> list[str]:
        """Notes on dropped or skipped input, known after a complete pass."""
        notes = self._records.notes()
        if self._marks:
            notes.append(f"{self.file.name}: <v> marks taken out of {counted(self._marks, 'hypothesis', 'hypotheses')}")
        return notes

    def _unmarked(self, text: str) -> str:
        if "<v>" not in text:
            return text
        self._marks += 1
        return _MARK.sub("", text)

    def _fields(self, header: Sequence[str], place: int) -> tuple[Layout, list[str]]:
        """The layout of a header, and the field each column holds; empty where it is not read."""
        columns = fields_by_column(self._columns, header)
        twice = repeated(name for name in header if name in columns or is_known(name))
        if twice is not None:
            raise InputError(f"{self.at(place)}: the header names column {twice!r} twice")
        absent = [name for name in columns if name not in header]
        if absent:
            raise InputError(
                f"{self.at(place)}: the header has no column {absent[0]!r}; columns found: {_shown(header)}"
            )
        layout = layout_of(header)
        if layout is None and "hyp" not in columns.values():
            raise InputError(f"{self.at(place)}: {self._unknown(header)}")
        layout = layout or PLAIN
        fields = [columns.get(name, layout.field_of(name)) for name in header]
        twice = repeated(filter(None, fields))
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
        """The reason to refuse a header."""
        if {"pos", "neg"} <= set(header):
            return "pairs of a better and a worse text, expected one text per row; read_ranking reads them"
        if self._between_tabs:
            return f"the header has no column 'hyp'; columns found: {_shown(header)}{advice(header)}"
        known = "; ".join(", ".join(sorted(one.needs)) for one in LAYOUTS)
        return f"no layout has these columns: {_shown(header)}; expected at least: {known}{advice(header)}"


def tab_rows(file: InputFile, columns: Mapping[str, str] | None = None) -> DelimitedRows:
    """The rows of a table between tabs."""
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
        value = number(cell)
    except ValueError as error:
        raise FieldError(f"field {name!r} is {error}") from None
    return None if math.isnan(value) else value


_JSON = {"refs": "a list of strings", "context": "a list of turns", "table": "a list of records", "human": "an object"}


def _json(cell: str, name: str) -> Any:
    try:
        return msgspec.json.decode(cell)
    except (msgspec.DecodeError, RecursionError):
        expected = _JSON.get(name, "a number or a list of numbers")
        hint = "; write a single reference into a column 'ref'" if name == "refs" else ""
        raise FieldError(f"field {name!r} is not valid JSON, expected {expected} in the cell{hint}") from None


def layout_of(header: Sequence[str]) -> Layout | None:
    """The known layout that a header has; None if it has none."""
    return next((layout for layout in LAYOUTS if layout.needs <= set(header)), None)


class Records:
    """Records of delimited text, as (number of the first line, cells). Each iteration reads the file again.

    Cells between commas may be quoted. Cells between tabs are taken as they are, unless `quoted`. Blank lines are
    skipped and counted in `notes`; with `keeps_blank`, which is for cells without quotes, each is one empty cell.

    Raises:
        InputError: a quote is never closed, or text follows a closing quote.
    """

    def __init__(
        self, file: InputFile, delimiter: str = ",", *, quoted: bool = False, keeps_blank: bool = False
    ) -> None:
        self.lines = Lines(file)
        self._keeps_blank = keeps_blank
        self._delimiter = delimiter
        self._quoted = quoted or delimiter != "\t"
        mark = re.escape(delimiter)
        self._cell: Callable[..., Any] = re.compile(rf'(?:"((?:[^"]|"")*)"|([^"{mark}][^{mark}]*|))(?:{mark}|\Z)').match

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        if not self._quoted:
            longest = self.lines.file.limits.segment
            for number_, line in self.lines:
                if line or self._keeps_blank:
                    cells = line.split("\t")
                    yield number_, cells if len(line) <= longest else self._checked(number_, cells, len(line))
                else:
                    self.lines.blank += 1
            return
        held: list[str] = []  # lines of a row whose end has not come yet
        first = quotes = size = place = 0
        for number_, line in self.lines:
            if not held:
                if not line.strip(" \t\r"):
                    self.lines.blank += 1
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
            quoted, bare = match.groups()
            cells.append(bare if quoted is None else quoted.replace('""', '"'))
            if match.end() == len(text) and match.group().endswith(self._delimiter):
                return [*cells, ""]
            if match.end() == len(text):
                return cells
            place = match.end()


def _shown(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
