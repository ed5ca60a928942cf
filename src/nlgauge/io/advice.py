"""What an error offers of columns with other names: which may be texts, by their names and first rows, as an option.

A column of numbers, of one value, of labels, paths or addresses is no text; and what is offered reads the rows.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
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
    r"(?i)(.*[\W_])?(pred|hyp|output|generat|respon|repl(y|ies)|answer|completion|candidate|translat|decoded|summary).*"
)
_REFERENCE = re.compile(r"(?i)ref.*|.*(reference|truth|expected|gold|target|correct).*")
_PLAIN_REFERENCE = re.compile(r"(?i)(.*[\W_])?(text|transcript|label|answer|completion|summary|translation)s?")
_SOURCE = re.compile(
    r"(?i)(.*[\W_])?(source|input|document|article|prompt|question|query|instruction|context)(_?text)?"
)
_RATING = re.compile(r"(?i)([\w .-]*[ _.-])?(correct|scores?|ratings?|label|grade|quality|adequacy|fluency)")
_NO_TEXT = re.compile(
    r"(?i)(.*[\W_])?(u?u?id|ids|index|idx|n|no|num|number|key|system|model|lp|lang|language|score|label|split|status"
    r"|len|length|count|tokens|url|path|file|filepath|name|date|time|type|category|domain|rank|start|end|winner)"
)
_NO_PROSE = re.compile(
    r"(?i)[a-z][a-z0-9+.-]*://\S+|(?:[a-z]:\\|~?/|\.{1,2}/)\S+|[^\s/]*(?:/[^\s/]+)*\.[a-z][a-z0-9]{1,4}"
    r"|[0-9a-f]{8}-?[0-9a-f-]{8,}|\d{4}-\d\d-\d\d\S*|true|false|pass(?:ed)?|fail(?:ed)?|(?:in)?correct|yes|no"
)


class _Columns:
    """The columns of first rows; of an object in a row its fields, as OBJECT.FIELD.

    Attributes:
        rows: the rows.
        filled: column -> its cells, but for null.
        free: the columns that are not read by their own names. A text called `context` is no list of turns.
        texts: those of them that hold texts.
        written: those that hold what somebody wrote: texts and lists of texts.
    """

    def __init__(self, rows: Iterable[Row], taken: Iterable[str] = ()) -> None:
        self.rows: list[Row] = []
        with suppress(InputError):
            self.rows.extend(row for row in islice(rows, LOOKED) if isinstance(row, Mapping))
        self.filled: dict[str, list[Any]] = {}
        for name, value in (cell for row in self.rows for cell in row.items()):
            inner = value.items() if isinstance(value, Mapping) else ()
            for key, cell in [(f"{name}.{part}", one) for part, one in inner] or [(name, value)]:
                self.filled.setdefault(key, []).extend(() if cell is None else [cell])
        taken = {*taken, "", *(name for name in self.filled if not (name.strip() and name.isprintable()))}
        free = [name for name in self.filled if name not in taken]
        self.texts = [n for n in free if (n == "context" or not is_known(n)) and self._all(n, lambda v: type(v) is str)]
        lists = [n for n in free if not is_known(n) and self._all(n, _is_list)]
        self.free = [name for name in free if not is_known(name)]
        self.prose = [name for name in self.texts if self._is_prose(name)]
        self.written = [*self.prose, *lists]

    def first(self, names: Sequence[str], known: Sequence[str], like: re.Pattern[str]) -> str | None:
        """The name that is known, or else the first that looks so."""
        exact = next((name for name in known if name in names), None)
        return exact or next((name for name in names if like.fullmatch(name) and not _NO_TEXT.fullmatch(name)), None)

    def gold(self) -> str | None:
        """The column of references, by its name."""
        return self.first([*self.texts, *self.written], GOLD, _REFERENCE)

    def source(self) -> str | None:
        """The column of sources, by its name."""
        found = "context" if "context" in self.texts else self.first(self.texts, SOURCES, _SOURCE)
        return found if found is not None and self.differ(found) else None

    def differ(self, name: str) -> bool:
        """Whether a column has more than one value."""
        return len(self.rows) < 2 or len({*map(str, self.filled[name])}) > 1

    def are_numbers(self, name: str) -> bool:
        """Whether a column holds numbers."""
        try:
            return self._all(name, lambda v: type(v) in (int, float) or (type(v) is str and number_in(v) is not None))
        except ValueError:
            return False

    def _all(self, name: str, holds: Any) -> bool:
        return bool(self.filled[name]) and all(map(holds, self.filled[name]))

    def _is_prose(self, name: str) -> bool:
        """Whether texts are no numbers, labels, paths or addresses, and more than one text."""
        cells = self.filled[name]
        alike = len(cells) >= _FEW and 2 * len({*cells}) <= len(cells) and not any(" " in text for text in cells)
        no_text = alike or self.are_numbers(name) or all(map(_NO_PROSE.fullmatch, cells)) or _NO_TEXT.fullmatch(name)
        return not no_text and self.differ(name)


def advice(rows: Iterable[Row], python: bool = False) -> str:
    """The option that names the texts of columns with other names, for the end of an error; empty where none fits.

    Args:
        rows: the first rows; of a table of text its cells, each a text.
        python: write it as the argument of a function.
    """
    seen = _Columns(rows)
    gold, source = seen.gold(), seen.source()
    others = [name for name in seen.texts if name not in (gold, source) and len(seen.filled[name]) == len(seen.rows)]
    prose = [name for name in seen.prose if name in others]
    # Under a name that says so short answers stand, too: numbers and labels, but no addresses.
    named_so = [n for n in others if _HYPOTHESIS.fullmatch(n) and not _NO_TEXT.fullmatch(n) and seen.differ(n)]
    named_so = [name for name in named_so if name in prose or not any("/" in text for text in seen.filled[name])]
    known = [name for name in HYPOTHESES if name in others][:1] or named_so[:_OFFERED]
    systems = known or prose[:_OFFERED]
    if gold is None and known:
        left = [name for name in seen.written if name not in (*systems, source)]
        gold = left[0] if len(left) == 1 else seen.first(left, (), _PLAIN_REFERENCE)
    there = {"ref": {"refs", *reference_columns(seen.filled)}, "src": {"src"}}
    texts = [(name, field) for field, name in (("ref", gold), ("src", source)) if not there[field] & {*seen.filled}]
    named = dict.fromkeys(systems, "hyp") | {name: field for name, field in texts if name is not None}
    rated = [name for name in seen.free if _RATING.fullmatch(name) and name not in named and seen.are_numbers(name)]
    for columns in (named | {name: f"{CRITERION}{name}" for name in rated[:_RATED]}, named):
        if systems and _reads(columns, seen.rows):
            several = " (each hyp is a system)" if len(systems) > 1 else ""
            return f"; if these are the texts, give {_option(columns, python)}{several}"
    return ""


def lacks(rows: Iterable[Row], columns: Mapping[str, str]) -> dict[str, str]:
    """What segments may lack -> an advice which column may hold it, for the end of an error; none where none may.

    Args:
        rows: the first rows, as for `advice`.
        columns: which column was named for which field, in either direction.
    """
    names = list(_Columns(rows := [*islice(rows, LOOKED)]).filled)
    given = fields_by_column(columns, names)
    seen = _Columns(rows, {*given, *({} if "hyp" in given.values() else guessed(names)).values()})
    source = seen.source()
    gold = seen.gold() or seen.first([name for name in seen.written if name != source], (), _PLAIN_REFERENCE)
    return {
        need: f"; if {name!r} holds them, give {_option({**given, name: field})}"
        for need, field, name in (("references", "ref", gold), ("source", "src", source))
        if name is not None
    }


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
