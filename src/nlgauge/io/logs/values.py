"""Values of a log: JSON as Python writes it, fields that may be missing, and scores that may be undefined."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.segment import RepeatedKey, check_keys, unique
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Faults, Lines
from nlgauge.io.jsonl import joined

_ITEM = 40  # characters of an item that is named by its text


def parsed(text: str, file: InputFile, where: str) -> Any:
    """A value of JSON, in which NaN and Infinity may stand, as Python writes them.

    Raises:
        InputError: it is no JSON, is nested too deeply, or an object holds a key twice.
    """
    try:
        try:
            value = msgspec.json.decode(text)
        except msgspec.DecodeError:  # NaN, or no JSON at all
            value = json.loads(text, object_pairs_hook=unique)
            if "\\u" in text:  # half of a surrogate pair is no text
                json.dumps(value, ensure_ascii=False).encode("utf-8")
        else:
            check_keys(text, value)
    except RepeatedKey as error:
        raise InputError(f"{where}: {error}") from None
    except RecursionError:
        raise InputError(f"{where}: nested too deeply, expected a log") from None
    except UnicodeEncodeError:
        raise InputError(f"{where}: not valid JSON (half of a surrogate pair), expected whole characters") from None
    except ValueError as error:
        reason = error.msg.removesuffix(" at") if isinstance(error, json.JSONDecodeError) else "a number is too long"
        raise InputError(f"{where}: not valid JSON ({reason}); is the file complete?") from None
    file.limits.check_json(text, value, where)
    return value


def text_of_bytes(content: bytes, where: str) -> str:
    """Bytes as text.

    Raises:
        InputError: they are not UTF-8.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 (offset {error.start}), expected JSON") from None


def document(file: InputFile) -> Any:
    """The one value of a file of JSON.

    Raises:
        InputError: as `parsed`, or the file is larger than an array in memory may be.
    """
    return parsed(text_of_bytes(joined(file), file.name), file, file.name)


class LogLines:
    """The objects of a log of JSON lines, as (line number, object); a list in place of lines is read, too.

    A last line that breaks off is what a killed run leaves: it is skipped, and `notes` says so.

    Args:
        file: the file.

    Raises:
        InputError: a line is no JSON object.
    """

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.lines = Lines(file)
        self._broken = 0

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        if self.file.head().removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"[":
            yield from entries(document(self.file), self.file.name, "")
            return
        faults, waiting = Faults(self.file.name), ""
        for number, line in self.lines:
            if waiting:
                faults.add(*waiting.split("\n", 1))
                waiting = ""
            if not line.strip():
                self.lines.blank += 1
                continue
            where = self.lines.at(number)
            try:
                value = parsed(line, self.file, where)
            except InputError as error:
                self._broken, waiting = number, f"{where}\n{str(error).removeprefix(f'{where}: ')}"
                if not line.lstrip().startswith("{") or "stands twice" in str(error):
                    raise
                continue
            if type(value) is not dict:
                faults.add(where, "not an object, expected one row of a log")
                continue
            yield where, value
        faults.check()
        self._broken = self._broken if waiting else 0

    def notes(self) -> list[str]:
        """Notes on skipped input, known after a complete pass."""
        half = f"{self.file.name}: line {self._broken}, the last, breaks off and is skipped" if self._broken else ""
        return [*self.lines.notes(), *([half] if half else [])]


def entries(value: Any, name: str, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a list, each with its place.

    Raises:
        InputError: it is no list, or an entry is no object. `key` is the field of the list in the error, if any.
    """
    what = f"{key!r} is" if key else "the file is"
    if type(value) is not list:
        raise InputError(f"{name}: {what} {'missing' if value is None else 'no list'}, expected a list of objects")
    for number, entry in enumerate(value, start=1):
        where = f"{name}, {key or 'entry'} {number}"
        if type(entry) is not dict:
            raise InputError(f"{where}: not an object, expected one row of a log")
        yield where, entry


def inner(value: Any, *path: str) -> Any:
    """What lies at a path of fields; None where something on the way is no object or lacks the field."""
    for name in path:
        value = value.get(name) if type(value) is dict else None
    return value


def text(value: Any) -> str | None:
    """A string as it is; None for everything else."""
    return value if type(value) is str else None


def texts(value: Any) -> tuple[str, ...]:
    """A string, or the strings of a list."""
    listed = value if type(value) is list else [value]
    return tuple(one for one in listed if type(one) is str)


def identity(value: Any) -> str | int | None:
    """A name or number as it is, so that 1 and "1" stay two; None for everything else."""
    return value if type(value) is int and abs(value) < 1 << 63 else text(value)


def name(value: Any) -> str | None:
    """A name or number that identifies something; None for everything else."""
    found = identity(value)
    return None if found is None else str(found)


def score(value: Any) -> float:
    """A number, with true as 1 and false as 0; NaN for what is missing, infinite or something else."""
    if type(value) not in (bool, int, float):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def message(content: Any) -> str | None:
    """The text of a message: a string, or the parts with `text` of a list of parts, joined by line breaks."""
    if type(content) is not list:
        return text(content)
    parts = [found for part in content if (found := text(inner(part, "text"))) is not None]
    return "\n".join(parts) if parts else None


def item_of(*parts: str | None, shown: str = "") -> str:
    """The name of an item that has none but its texts: the text where it is short, else its beginning and a digest.

    Args:
        parts: the texts.
        shown: what begins the name of a long one, where that is not the text itself.
    """
    told = "\n".join(part or "" for part in parts).strip()
    if len(told) <= _ITEM and "\n" not in told:
        return told or "-"
    digest = sha256("\n".join(part or "" for part in parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{' '.join((shown.strip() or told)[:_ITEM].split())}... {digest}"


def asked(columns: Mapping[str, str] | None, known: tuple[str, ...], file: str) -> dict[str, str]:
    """Field of ours -> place in the log, from `columns` in either direction.

    Raises:
        InputError: a field is named that this log cannot give.
    """
    found = {(a if a in known else b): (b if a in known else a) for a, b in (columns or {}).items()}
    wrong = next((field for field in found if field not in known), None)
    if wrong is not None:
        raise InputError(f"{file}: columns name the field {wrong!r}, expected one of {', '.join(known)}")
    return found


def check_named(columns: Mapping[str, str], field: str, is_there: bool, there: Iterable[str], file: str) -> None:
    """Refuse a place that columns name for a field, if no row has it.

    Args:
        columns: field of ours -> place, as `asked` gives them.
        field: the field.
        is_there: whether some row has the place.
        there: the places that rows have, for the error.

    Raises:
        InputError: the place is named, and no row has it.
    """
    if field in columns and not is_there:
        found = ", ".join(dict.fromkeys(map(repr, there))) or "none"
        raise InputError(f"{file}: no row has {columns[field]!r}, which columns name as {field}; found: {found:.400}")
