"""The fields of a row: their names, their types, and the segment they make."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment, printed_list

NAMES = frozenset("id system seg lp task src ref refs hyp human context table rater".split())
_NUMBERED = re.compile(r"ref([0-9]{1,9})")
CRITERION = "human."
_WIDE = 40  # characters of a value in an error


class FieldError(InputError):
    """A required field is missing or has the wrong type. The reader adds file and line."""


def is_known(name: str) -> bool:
    """Whether a field or column of this name is read."""
    return name in NAMES or name.startswith(CRITERION) or _NUMBERED.fullmatch(name) is not None


def reference_columns(names: Iterable[str]) -> list[str]:
    """The names of the columns that hold one reference each: first `ref`, then `ref1`, `ref2`, ... by number."""
    found = [
        (0, -1, name) if name == "ref" else (1, int(name[3:]), name)
        for name in names
        if name == "ref" or _NUMBERED.fullmatch(name)
    ]
    return [name for _, _, name in sorted(found)]


# What other tools call the fields: Hugging Face's evaluate, lm-eval, COMET.
_ELSEWHERE = {
    "hyp": ("prediction", "predictions", "hypothesis", "hypotheses", "output", "generated", "mt", "candidate"),
    "ref": ("reference", "references", "target", "targets", "label"),
    "src": ("source", "input", "inputs", "document", "question"),
}


def advice(names: Iterable[str]) -> str:
    """The columns that look like texts under other names, for the end of an error; empty where none is a hypothesis."""
    found = list(names)
    alike = {field: next((name for name in others if name in found), None) for field, others in _ELSEWHERE.items()}
    if "hyp" in found or alike["hyp"] is None:
        return ""
    pairs = ",".join(f"{field}={name}" for field, name in alike.items() if name is not None and field not in found)
    return f"; if these are the texts, name them as columns: {pairs}"


def fields_by_column(columns: Mapping[str, str], header: Iterable[str]) -> dict[str, str]:
    """Column -> field, from a mapping in either direction: `{"prediction": "hyp"}` or `{"hyp": "prediction"}`.

    Where both can be meant, as in `{"src": "hyp"}`, the first name is a column if the table has all columns of that
    name.

    Raises:
        InputError: two fields are to come from one column.
    """
    from_fields = all(map(is_known, columns))
    if not from_fields or (all(map(is_known, columns.values())) and set(columns) <= set(header)):
        return dict(columns)
    for name in columns.values():
        if list(columns.values()).count(name) > 1:
            both = " and ".join(repr(field) for field in columns if columns[field] == name)
            raise InputError(f"column {name!r} is named for {both}, expected one field for each column")
    return {name: field for field, name in columns.items()}


class Fractions:
    """Tells whether all names of a field are like 1.0 and 2.0: numbers of a tool that has no whole ones.

    Args:
        field: the name of the field.
    """

    def __init__(self, field: str) -> None:
        self._field = field
        self._first, self._is_open = "", True

    def add(self, name: str | None) -> None:
        """Look at one more name."""
        if self._is_open and name is not None:
            self._is_open = name.endswith(".0") and name[:-2].isdecimal()
            self._first = self._first or name

    def check(self, file: str) -> None:
        """Raise if all names are such numbers.

        Raises:
            InputError: they are, so that none is that of the same item in other files.
        """
        if self._is_open and self._first:
            raise InputError(
                f"{file}: field {self._field!r} is {self._first} and the like in every row, expected names or whole"
                f" numbers; write {self._first[:-2]} (pandas: astype('Int64'))"
            )


class Fields:
    """Makes segments from the rows of one file.

    Args:
        columns: which field of a row holds which of ours, in either direction; see `fields_by_column`.

    Attributes:
        ignored: field that is not read -> number of rows that have it, in order of appearance.
        made: the number of rows without an `id`.
        rater: who gave the ratings of the last row; None if it does not say.
    """

    def __init__(self, columns: Mapping[str, str] | None = None) -> None:
        self.ignored: dict[str, int] = {}
        self.made = 0
        self.rater: str | None = None
        self._columns = columns
        self._ids, self._items = Fractions("id"), Fractions("seg")
        self._named: dict[str, str] | None = None

    def segment(self, row: Any, number: int) -> Segment:
        """The segment of a row.

        Args:
            row: field name -> value.
            number: the number of the row in the file, from 1. It becomes the id of a row that has neither `id` nor
                `system` and `seg`.

        Raises:
            FieldError: a field is missing or wrong. The error names the field, what was expected and what came.
        """
        if type(row) is not dict:
            raise FieldError(f"the row is {_kind(row)}{_repeated(row)}, expected an object with the field 'hyp'")
        if self._columns is not None:
            row = self._renamed(row, self._columns)
        if row.keys() - NAMES:
            row = self._gather(row)
        hypothesis = row.get("hyp")
        if type(hypothesis) is not str:
            raise _no_hypothesis(row)
        system, item = _key(row, "system"), _key(row, "seg")
        name = _key(row, "id")
        self.rater = _key(row, "rater")
        self._items.add(item)
        self._ids.add(name)
        if name is None:
            self.made += 1
            name = f"{system}:{item}" if system is not None and item is not None else str(number)
        source = row.get("src")
        if source is not None and type(source) is not str:
            raise _wrong("src", source, "a string or null")
        group = _key(row, "lp")
        return Segment(
            name,
            hypothesis,
            _references(row),
            source,
            system,
            item,
            _key(row, "task") if group is None else group,
            _human(row.get("human")),
            _context(row.get("context")),
            _table(row.get("table")),
        )

    def check(self, file: str) -> None:
        """Refuse the names of all rows so far, where they are whole numbers that became fractions.

        Raises:
            InputError: they all are; the error names the file.
        """
        self._ids.check(file)
        self._items.check(file)

    def _renamed(self, row: dict[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
        """A row under our names. A field whose name a column takes over is left out."""
        if self._named is None:  # the first row settles the direction
            self._named = fields_by_column(columns, row)
            unknown = [field for field in self._named.values() if not is_known(field)]
            if unknown:
                raise FieldError(
                    f"columns name a field {unknown[0]!r}, expected hyp, ref, refs, src, id, system, seg, ..."
                )
        named = self._named
        absent = [name for name, field in named.items() if name not in row and field in ("hyp", "ref", "refs", "src")]
        if absent:
            found = ", ".join(map(repr, row)) or "none"
            raise FieldError(
                f"there is no {absent[0]!r}, which columns name as {named[absent[0]]!r}; fields found: {found}"
            )
        taken = {*named, *named.values()}
        others = {name: value for name, value in row.items() if name not in taken}
        return with_references({**others, **{field: row[name] for name, field in named.items() if name in row}})

    def _gather(self, row: dict[str, Any]) -> dict[str, Any]:
        """Move `human.NAME` into `human` and `ref1`, `ref2`, ... into `refs`. Unknown fields are counted."""
        numbered = False
        ratings: dict[str, Any] = {}
        for name in row:
            if name in NAMES:
                continue
            if name.startswith(CRITERION):
                ratings[name.removeprefix(CRITERION)] = row[name]
            elif is_known(name):
                numbered = True
            else:
                self.ignored[name] = self.ignored.get(name, 0) + 1
        if not numbered and not ratings:
            return row
        row = dict(row)
        if numbered:
            texts = {name: row[name] for name in reference_columns(row) if row[name] is not None}
            for name, text in texts.items():
                if type(text) is not str:
                    raise _wrong(name, text, "a string")
            if texts and row.get("refs") is not None:
                raise FieldError(f"fields 'refs' and {next(iter(texts))!r} are both given, expected one of them")
            if texts:
                row["refs"], row["ref"] = list(texts.values()), None
        if ratings:
            whole = row.get("human")
            if whole is not None and type(whole) is not dict:
                raise _wrong("human", whole, "an object, criterion -> number")
            row["human"] = {**(whole or {}), **ratings}
        return row


def with_references(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose `ref` may be a list, and whose `refs` may be a single text."""
    one, several = row.get("ref"), row.get("refs")
    if type(one) is list and several is None:
        return {**row, "ref": None, "refs": one}
    if type(several) is str and one is None:
        if printed_list(several) is not None:
            raise FieldError(
                f"field 'refs' is a list that was written as a text{_repeated(several)}, expected a list of strings;"
                " undo it with ast.literal_eval, or write columns 'ref1', 'ref2'"
            )
        return {**row, "refs": [several]}
    return row


def _key(row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is None or type(value) is str:
        return value
    if type(value) is int:  # numbered items are common, and the number says the same as its digits
        return str(value)
    raise _wrong(name, value, "a string")


def _references(row: Mapping[str, Any]) -> tuple[str, ...]:
    several, one = row.get("refs"), row.get("ref")
    if one is not None:
        if several is not None:
            raise FieldError("fields 'refs' and 'ref' are both given, expected one of them")
        if type(one) is not str:
            raise _wrong("ref", one, "a string", ("write 'refs' for a list", list))
        return (one,)
    if several is None:
        return ()
    if type(several) is not list:
        raise _wrong("refs", several, "a list of strings", ("write 'ref' for a single one", str))
    for place, text in enumerate(several):
        if type(text) is not str:
            raise _wrong(f"refs[{place}]", text, "a string")
    return tuple(several)


def _human(value: Any) -> dict[str, Any]:
    if not value and (value is None or type(value) is dict):
        return {}
    if type(value) is not dict:
        raise _wrong("human", value, "an object, criterion -> number")
    ratings: dict[str, Any] = {}
    for criterion, rating in value.items():
        if type(rating) is list:
            ratings[criterion] = [_rating(r, f"human.{criterion}[{i}]") for i, r in enumerate(rating)]
        else:
            number = _rating(rating, f"human.{criterion}")
            if not math.isnan(number):
                ratings[criterion] = number
    return ratings


def _rating(value: Any, name: str) -> float:
    """The rating as a number; NaN if it is absent."""
    if value is None:
        return math.nan
    if type(value) is not float and type(value) is not int:
        raise _wrong(name, value, "a number" if name.endswith("]") else "a number or a list of numbers")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise FieldError(
            f"field {name!r} is {value if type(value) is float else 'too large'}, expected a finite number"
        )
    return number


def _context(value: Any) -> tuple[Mapping[str, str], ...]:
    if value is None:
        return ()
    if type(value) is not list:
        raise _wrong("context", value, "a list of turns")
    turns = []
    for place, turn in enumerate(value):
        if type(turn) is not dict:
            raise _wrong(f"context[{place}]", turn, 'a turn, {"speaker": ..., "text": ...}')
        for part in ("speaker", "text"):
            if type(turn.get(part)) is not str:
                raise _wrong(f"context[{place}].{part}", turn.get(part), "a string")
        turns.append({"speaker": turn["speaker"], "text": turn["text"]})
    return tuple(turns)


def _table(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    if type(value) is not list:
        raise _wrong("table", value, "a list of records")
    return tuple(value)


def _no_hypothesis(row: Mapping[str, Any]) -> FieldError:
    if "hyp" not in row:
        found = ", ".join(repr(name) for name in row) or "none"
        return FieldError(f"field 'hyp' is missing, expected a string; fields found: {found}{advice(row)}")
    if row["hyp"] is None:
        return FieldError("field 'hyp' is null, expected a string; write \"\" for an empty hypothesis")
    return _wrong("hyp", row["hyp"], "a string")


def _wrong(name: str, value: Any, expected: str, hint: tuple[str, type] | None = None) -> FieldError:
    advice = f"; {hint[0]}" if hint and type(value) is hint[1] else ""
    return FieldError(f"field {name!r} is {_kind(value)}{_repeated(value)}, expected {expected}{advice}")


def _repeated(value: Any) -> str:
    """The value as it stands in an error, cut to one short line; none where its kind says it all."""
    if value is None or isinstance(value, bool):
        return ""
    try:
        shown = repr(value)
    except ValueError:  # a number of more digits than Python writes
        return ""
    return f" ({shown if len(shown) <= _WIDE else shown[: _WIDE - 3] + '...'})"


def _kind(value: Any) -> str:
    """The type of a value, in the words of JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    for kind, name in (((int, float), "a number"), (str, "a string"), (list, "a list"), (dict, "an object")):
        if isinstance(value, kind):
            return name
    return f"of type {type(value).__name__}"
