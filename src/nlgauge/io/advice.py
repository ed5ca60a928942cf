"""What an error offers of columns with other names: which may be texts, by their names and first rows, as an option.

A column of numbers, of one value, of labels, paths or addresses is no text; and what is offered reads the rows.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.fields import (
    CRITERION,
    GOLD,
    HYPOTHESES,
    SOURCES,
    Fields,
    fields_by_column,
    guessed,
    is_known,
    reference_columns,
)
from nlgauge.io.files import number_in

LOOKED = 20  # rows that are looked at
_OFFERED, _RATED = 4, 2  # columns that are offered as hypotheses, and as ratings
_FEW = 4  # rows from which on labels can be told from texts
Row = Mapping[str, Any]
_HYPOTHESIS = re.compile(
    r"(?i)(.*[\W_])?(pred|hyp|output|generat|respon|repl(y|ies)|answer|completion|candidate|translat|decoded|summary|asr).*"
)
_REFERENCE = re.compile(r"(?i)ref.*|.*(reference|truth|expected|gold|target|correct).*")
_PLAIN_REFERENCE = re.compile(r"(?i)(.*[\W_])?(text|transcript|label|answer|completion|summary|translation)s?")
_SOURCE = re.compile(
    r"(?i)(.*[\W_])?(source|input|document|article|prompt|question|query|instruction|context)(_?text)?"
)
_RATING = re.compile(r"(?i)([\w .-]*[ _.-])?(correct|scores?|ratings?|label|grade|quality|adequacy|fluency)")
_NO_TEXT = re.compile(
    r"(?i)(.*[\W_])?(u?u?id|ids|index|idx|n|no|num|number|key|system|model|lp|lang|language|score|label|split|status"
    r"|len|length|count|tokens|url|path|file|filepath|name|date|time|type|category|domain|rank|start|end|winner|role)"
)
_NO_PROSE = re.compile(
    r"(?i)[a-z][a-z0-9+.-]*://\S+|(?:[a-z]:\\|~?/|\.{1,2}/)\S+|[^\s/]*(?:/[^\s/]+)*\.[a-z][a-z0-9]{1,4}"
    r"|[0-9a-f]{8}-?[0-9a-f-]{8,}|\d{4}-\d\d-\d\d\S*|true|false|pass(?:ed)?|fail(?:ed)?|(?:in)?correct|yes|no"
)


class _Columns:
    """The columns of first rows; of an object in a row its fields, as OBJECT.FIELD.

    Attributes:
        rows: the rows.
        given: the columns that were named -> field.
        cells: column -> its cells, but for null.
        texts: columns that hold texts, and may be asked for. A text called `context` is no list of turns.
        written: those that hold what somebody wrote, and lists of texts.
    """

    def __init__(self, rows: Iterable[Row], columns: Mapping[str, str] | None = None) -> None:
        self.rows: list[Row] = []
        with suppress(InputError):
            self.rows.extend(row for row in islice(rows, LOOKED) if isinstance(row, Mapping))
        self.cells: dict[str, list[Any]] = {}
        for name, value in (cell for row in self.rows for cell in row.items()):
            inner = [(f"{name}.{key}", one) for key, one in value.items()] if isinstance(value, Mapping) else []
            for own, cell in inner or [(name, value)]:
                self.cells.setdefault(own, []).extend(() if cell is None else [cell])
        self.given = fields_by_column(columns or {}, self.cells)
        taken = {*self.given}
        if columns is not None and "hyp" not in self.given.values():
            taken |= {*guessed(self.cells).values()}
        free = [n for n in self.cells if n.strip() and n.isprintable() and not is_known(n) and n not in taken]
        context = ["context"] if "context" in self.cells else []
        self.texts = [name for name in [*free, *context] if self.all_of(name, lambda cell: type(cell) is str)]
        self.written = [n for n in free if (self._is_prose(n) if n in self.texts else self.all_of(n, _is_list))]

    def gold_and_source(self) -> tuple[str | None, str | None]:
        """The columns of references and of sources, by their names."""
        source = "context" if "context" in self.texts else _first(self.texts, SOURCES, _SOURCE)
        source = source if source is not None and self.differ(source) else None
        return _first([*self.texts, *self.written], GOLD, _REFERENCE), source

    def all_of(self, name: str, holds: Callable[[Any], bool]) -> bool:
        """Whether a column has cells, and all are so."""
        return bool(self.cells[name]) and all(map(holds, self.cells[name]))

    def differ(self, name: str) -> bool:
        """Whether a column has more than one value."""
        return len(self.rows) < 2 or len({*map(str, self.cells[name])}) > 1

    def _is_prose(self, name: str) -> bool:
        """Whether texts are no numbers, labels, paths or addresses, and more than one text."""
        cells = self.cells[name]
        alike = len(cells) >= _FEW and 2 * len({*cells}) <= len(cells) and not any(" " in text for text in cells)
        no_text = alike or self.all_of(name, _is_number) or all(map(_NO_PROSE.fullmatch, cells))
        return self.differ(name) and not no_text and not _NO_TEXT.fullmatch(name)


def advice(rows: Iterable[Row], python: bool = False) -> str:
    """The option that names the texts of columns with other names, for the end of an error; empty where none fits.

    Args:
        rows: the first rows; of a table of text its cells, each a text.
        python: write it as the argument of a function.
    """
    seen = _Columns(rows)
    gold, source = seen.gold_and_source()
    others = [name for name in seen.texts if name not in (gold, source) and len(seen.cells[name]) == len(seen.rows)]
    prose = [name for name in seen.written if name in others]
    # Under a name that says so short answers stand, too: numbers and labels, but no addresses.
    called = [n for n in others if _HYPOTHESIS.fullmatch(n) and not _NO_TEXT.fullmatch(n) and seen.differ(n)]
    called = [name for name in called if name in prose or not any("/" in text for text in seen.cells[name])]
    known = [name for name in HYPOTHESES if name in others][:1] or called[:_OFFERED]
    systems = known or prose[:_OFFERED]
    if gold is None and known:
        gold = _left([name for name in seen.written if name not in (*systems, source)])
    there = {"ref": {"refs", *reference_columns(seen.cells)}, "src": {"src"}}
    texts = [(name, field) for field, name in (("ref", gold), ("src", source)) if not there[field] & {*seen.cells}]
    named = dict.fromkeys(systems, "hyp") | {name: field for name, field in texts if name is not None}
    rated = [n for n in seen.cells if _RATING.fullmatch(n) and not is_known(n) and seen.all_of(n, _is_number)]
    for columns in ({name: f"{CRITERION}{name}" for name in rated[:_RATED]} | named, named):
        if systems and _reads(columns, seen.rows):
            several = " (each hyp is a system)" if len(systems) > 1 else ""
            return f"; if these are the texts, give {_option(named | columns, python)}{several}"
    return ""


def lacks(rows: Iterable[Row], columns: Mapping[str, str]) -> dict[str, str]:
    """What segments may lack -> an advice which column may hold it, for the end of an error; none where none may.

    Args:
        rows: the first rows, as for `advice`.
        columns: which column was named for which field, in either direction.
    """
    seen = _Columns(rows, columns)
    gold, source = seen.gold_and_source()
    gold = gold or _left([name for name in seen.written if name != source])
    return {
        need: f"; if {name!r} holds them, give {_option({**seen.given, name: field})}"
        for need, field, name in (("references", "ref", gold), ("source", "src", source))
        if name is not None
    }


def _first(names: Sequence[str], known: Sequence[str], like: re.Pattern[str]) -> str | None:
    """The name that is known, or else the first that looks so."""
    folded = {name.lower(): name for name in reversed(names)}
    exact = next((folded[name] for name in known if name in folded), None)
    return exact or next((name for name in names if like.fullmatch(name) and not _NO_TEXT.fullmatch(name)), None)


def _left(names: Sequence[str]) -> str | None:
    """The column that may be the references, of those that nothing else is."""
    return names[0] if len(names) == 1 else _first(names, (), _PLAIN_REFERENCE)


def _is_number(value: Any) -> bool:
    with suppress(ValueError):
        return type(value) in (int, float) or (type(value) is str and number_in(value) is not None)
    return False


def _is_list(value: Any) -> bool:
    return type(value) is list and all(type(one) is str for one in value)


def _reads(columns: Mapping[str, str], rows: Sequence[Row]) -> bool:
    """Whether rows are read so."""
    fields = Fields(columns)
    rated = [name for name, field in columns.items() if field.startswith(CRITERION)]
    try:
        for number, row in enumerate(rows, start=1):
            numbers = {name: number_in(row[name]) for name in rated if type(row.get(name)) is str}
            own = {n: v for n, v in row.items() if n in columns or n == "context" or type(v) is not str}
            fields.segments({**own, **numbers}, number)
    except (InputError, ValueError):
        return False
    return True


def _option(columns: Mapping[str, str], python: bool = False) -> str:
    """The option that says which column is which field, as a shell takes it, or Python."""
    pairs = ",".join(f"{field}={_quoted(name)}" for name, field in columns.items())
    return f"columns={dict(columns)}" if python else f"--columns {shlex.quote(pairs)}"


def _quoted(name: str) -> str:
    """A name in a list with commas."""
    is_plain = name == name.strip() and not {",", '"'} & {*name}
    return name if is_plain else '"' + name.replace('"', '""') + '"'
