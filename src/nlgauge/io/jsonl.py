"""JSON: one object per line, or one array of objects; a key that an object holds twice is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.keys import RepeatedKey, check_keys
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Lines, refuse

BOM = b"\xef\xbb\xbf"


class JsonRows:
    """The values of a JSON file, as (number, value). Each iteration reads the file again.

    In JSON lines the number is that of the line, and lines that hold only white space are skipped and counted in
    `notes`. A file that begins with `[` is one array, whose entries are numbered from 1. Its bytes are held in memory,
    its values one by one.

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
        return self._entries() if self._array else self._objects()

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
