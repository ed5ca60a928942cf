"""What an error offers about columns with other names: which may be texts, by their names and first rows, as an option.

A column of numbers, of one value, of labels, paths or addresses is no text; and what is offered reads the rows.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    r"(?i)(.*[\W_])?(pred|hyp|output|generat|respon|repl(y|ies)|answer|completion|candidate|translation|decoded|summary)"
    r".*"
)
_REFERENCE = re.compile(r"(?i)ref.*|.*(reference|truth|expected|gold|target|correct).*")
_PLAIN_REFERENCE = re.compile(r"(?i)(.*[\W_])?(text|transcript|label|answer|completion|summary|translation)s?")
_SOURCE = re.compile(
    r"(?i)(.*[\W_])?(source|input|document|article|prompt|question|query|instruction|context)(_?text)?"
)
_RATING = re.compile(
    r"(?i)([\w .-]*[ _.-])?(correct|scores?|ratings?|label|grade|quality|adequacy|fluency|coherence|relevance)"
)
_NO_TEXT = re.compile(
    r"(?i)(.*[\W_])?(u?u?id|ids|index|idx|n|no|num|number|key|system|model|lp|lang|language|score|label|split|status"
    r"|len|length|count|tokens|url|path|file|filepath|name|date|time|type|category|domain|rank|start|end|cost|latency|winner|verdict)"
)
_NO_PROSE = re.compile(
    r"(?i)[a-z][a-z0-9+.-]*://\S+|(?:[a-z]:\\|~?/|\.{1,2}/)\S+|[^\s/]*(?:/[^\s/]+)*\.[a-z][a-z0-9]{1,4}"
    r"|[0-9a-f]{8}-?[0-9a-f-]{8,}|\d{4}-\d\d-\d\d\S*|true|false|pass(?:ed)?|fail(?:ed)?|(?:in)?correct|yes|no"
)


def advice(rows: Iterable[Row], python: bool = False) -> str:
    """The option that names the texts of columns with other names, for the end of an error; empty where none fits.

    Args:
        rows: the first rows; of a table of text its cells, of which an empty one is absent.
        python: write it as the argument of a function.
    """
    shown = _head(rows)
    cells = _cells(shown)
    there = [*cells]
    texts = [name for name in there if _is_text(cells[name]) and not (is_known(name) and name != "context")]
    given = {"ref": bool({"refs", *reference_columns(there)} & {*there}), "src": "src" in there}
    lists = [name for name in there if not is_known(name) and _are_lists(cells[name])]
    gold = _first([*texts, *lists], GOLD, _REFERENCE)
    source = "context" if "context" in texts else _first(texts, SOURCES, _SOURCE)
    source = source if source is not None and _differ(cells[source]) else None
    others = [name for name in texts if name not in (gold, source)]
    known = [name for name in HYPOTHESES if name in others][:1]
    prose = [n for n in others if not _NO_TEXT.fullmatch(n) and not is_known(n) and _is_prose(cells[n])]
    systems = known or [n for n in others if _HYPOTHESIS.fullmatch(n) and (n in prose or _are_words(n, cells[n]))]
    systems = (systems or prose)[:_OFFERED]
    systems = [name for name in systems if None not in cells[name]]
    if gold is None and systems and systems != prose[:_OFFERED]:
        left = [name for name in [*prose, *lists] if name not in systems]
        gold = left[0] if len(left) == 1 else _first(left, (), _PLAIN_REFERENCE)
    named = dict.fromkeys(systems, "hyp")
    named |= {name: field for field, name in (("ref", gold), ("src", source)) if name is not None and not given[field]}
    rated = [n for n in there if _RATING.fullmatch(n) and n not in named and not is_known(n) and _are_numbers(cells[n])]
    for columns in (named | {name: f"{CRITERION}{name}" for name in rated[:_RATED]}, named):
        if systems and _reads(columns, shown):
            several = " (each hyp is a system)" if len(systems) > 1 else ""
            return f"; if these are the texts, give {_option(columns, python)}{several}"
    return ""


def lacks(rows: Iterable[Row], columns: Mapping[str, str]) -> dict[str, str]:
    """What segments may lack -> an advice which column may hold it, for the end of an error; none where none may.

    Args:
        rows: the first rows, as for `advice`.
        columns: which column was named for which field, in either direction.
    """
    cells = _cells(_head(rows))
    given = fields_by_column(columns, cells)
    taken = {*given, *({} if "hyp" in given.values() else guessed(cells)).values()}
    free = [name for name in cells if name not in taken and not is_known(name)]
    texts = [name for name in free if _is_text(cells[name])]
    source = _first(texts, SOURCES, _SOURCE)
    written = [*(name for name in free if _are_lists(cells[name])), *(n for n in texts if _is_prose(cells[n]))]
    gold = _first([*texts, *written], GOLD, _REFERENCE) or _first(
        [name for name in written if name != source], (), _PLAIN_REFERENCE
    )
    return {
        need: f"; if {name!r} holds them, give {_option({**given, name: field})}"
        for need, field, name in (("references", "ref", gold), ("source", "src", source))
        if name is not None
    }


def _head(rows: Iterable[Row]) -> list[Row]:
    """The first rows, as far as they can be read."""
    shown: list[Row] = []
    with suppress(InputError):
        shown.extend(row for row in islice(rows, LOOKED) if isinstance(row, Mapping))
    return shown


def _cells(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Column -> its cells, None where a row has none; of an object in a row its fields, as `OBJECT.FIELD`."""
    cells: dict[str, list[Any]] = {}
    for place, row in enumerate(rows):
        for name, value in _flat(row):
            if name.strip() and name.isprintable():
                cells.setdefault(name, [None] * len(rows))[place] = None if value == "" else value
    return cells


def _flat(row: Row) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", one) for inner, one in value.items())
        else:
            yield name, value


def _filled(cells: Iterable[Any]) -> list[Any]:
    return [value for value in cells if value is not None]


def _are_lists(cells: Sequence[Any]) -> bool:
    filled = _filled(cells)
    return bool(filled) and all(type(value) is list and all(type(one) is str for one in value) for value in filled)


def _is_text(cells: Sequence[Any]) -> bool:
    """Whether a column holds texts and no list or number; whether of prose is another question."""
    filled = _filled(cells)
    return bool(filled) and all(type(value) is str for value in filled)


def _differ(cells: Sequence[Any]) -> bool:
    return len(cells) < 2 or len({*map(str, cells)}) > 1


def _is_prose(cells: Sequence[Any]) -> bool:
    """Whether texts are what somebody wrote: no numbers, labels, paths or addresses, and more than one text."""
    filled = _filled(cells)
    alike = len(filled) >= _FEW and 2 * len({*filled}) <= len(filled) and not any(" " in text for text in filled)
    return not (alike or _are_numbers(cells) or all(map(_NO_PROSE.fullmatch, filled))) and _differ(cells)


def _are_words(name: str, cells: Sequence[Any]) -> bool:
    """Whether short answers stand under a name that says so: numbers and labels are answers, too, and no addresses."""
    return not _NO_TEXT.fullmatch(name) and _differ(cells) and not any("/" in text for text in _filled(cells))


def _are_numbers(cells: Sequence[Any]) -> bool:
    filled = _filled(cells)
    try:
        return bool(filled) and all(
            type(value) in (int, float) or (type(value) is str and number_in(value) is not None) for value in filled
        )
    except ValueError:
        return False


def _first(names: Sequence[str], known: Sequence[str], like: re.Pattern[str]) -> str | None:
    """The name that is known, or else the first that looks so."""
    exact = next((name for name in known if name in names), None)
    return exact or next((name for name in names if like.fullmatch(name) and not _NO_TEXT.fullmatch(name)), None)


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
    if python:
        return f"columns={dict(columns)}"
    pairs = ",".join(f"{field}={_quoted(name)}" for name, field in columns.items())
    return f"--columns {shlex.quote(pairs)}"


def _quoted(name: str) -> str:
    """A name in a list with commas."""
    is_plain = name == name.strip() and not {",", '"'} & {*name}
    return name if is_plain else '"' + name.replace('"', '""') + '"'
