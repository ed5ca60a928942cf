"""JSON: one object per line, one array of objects, or a table as one object; no object may hold a key twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.segment import RepeatedKey, check_keys
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Lines, refuse

BOM = b"\xef\xbb\xbf"


class JsonRows:
    """The values of a JSON file, as (number, value). Each iteration reads the file again.

    In JSON lines the number is that of the line, and lines that hold only white space are skipped and counted in
    `notes`. A file that begins with `[` is one array, whose entries are numbered from 1. Its bytes are held in memory,
    its values one by one. A file that is one object may be a table, whose rows are numbered likewise; see `rows_of`.

    Raises:
        InputError: a line or an entry is not JSON, or larger than the limits of the file allow. Also what `Lines`
            raises.
    """

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.lines = Lines(file)
        self.ignored: list[str] = []  # which fields are not read, the rows themselves say
        self.refuse: Callable[[str, str], object] = refuse  # what is done with a bad row: its place, and the reason
        self._array = False

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        head = self.file.head()
        self._array = head.removeprefix(BOM).lstrip()[:1] == b"["
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
            value = msgspec.json.decode(text)
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
                value = decode(line)
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
            entries = msgspec.json.decode(joined(self.file), type=list[msgspec.Raw])
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

    def notes(self) -> list[str]:
        """Notes on dropped or skipped input, known after a complete pass."""
        return self.lines.notes()


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
    return (
        "not valid JSON; what is missing is null (NaN and Infinity do not exist), numbers must be finite and surrogates"
        " paired"
    )
