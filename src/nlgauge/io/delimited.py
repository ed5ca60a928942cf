"""Tables with a header, between commas or tabs: rows with our column names, or with those of published sets."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.segment import RepeatedKey, check_keys, repeated
from nlgauge.io.fields import (
    CRITERION,
    NAMES,
    FieldError,
    Systems,
    advice,
    fields_by_column,
    guessed,
    is_known,
    note_of_guess,
    reference_columns,
    shown,
)
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import counted, number, refuse
from nlgauge.io.files.records import Records

_MARK = re.compile(r"</?v>")


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
        systems = [(header[at], at) for at, name in enumerate(fields) if name == "hyp"]
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
            if len(systems) > 1:
                row["hyp"] = Systems((name, cells[at]) for name, at in systems)
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
        notes = [*self._records.notes(), *note_of_guess(self.file.name, self._guess)]
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
        twice = repeated(field for field in fields if field not in ("", "hyp"))
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
            return f"the header has no column 'hyp'; columns found: {shown(header)}{advice(header)}"
        known = "; ".join(", ".join(sorted(one.needs)) for one in LAYOUTS)
        return f"no layout has these columns: {shown(header)}; expected at least: {known}{advice(header)}"


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
        value = msgspec.json.decode(cell)
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
