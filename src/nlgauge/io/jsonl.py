"""JSON lines: one object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Lines


class JsonRows:
    """The values of a JSON lines file, as (line number, value). Each iteration reads the file again.

    Lines that hold only white space are skipped and counted in `notes`.

    Raises:
        InputError: a line is not JSON. Also what `Lines` raises.
    """

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.lines = Lines(file)
        self.ignored: list[str] = []  # which fields are not read, the rows themselves say

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        decode = msgspec.json.Decoder().decode
        for number, line in self.lines:
            try:
                yield number, decode(line)
            except (msgspec.DecodeError, RecursionError):
                if line.strip(" \t\r"):
                    raise InputError(f"{self.at(number)}: {_fault(line, number)}") from None
                self.lines.blank += 1

    def at(self, number: int) -> str:
        """The place of a row, for an error message."""
        return self.lines.at(number)

    def notes(self) -> list[str]:
        """What was dropped or skipped, known after a complete pass."""
        return self.lines.notes()


def _fault(line: str, number: int) -> str:
    """Why a line is refused. The standard library's parser gives the position, and accepts some values outside JSON."""
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        whole = number == 1 and (line.strip() == "{" or line.lstrip().startswith("["))
        advice = "; expected one whole object on each line (jq -c '.[]' converts a list)" if whole else ""
        return f"not valid JSON ({error.msg.removesuffix(' at')}, character {error.pos + 1}){advice}"
    except RecursionError:
        return "nested too deeply, expected an object with the field 'hyp'"
    except ValueError:  # a number with too many digits
        pass
    return (
        "not valid JSON; what is missing is null (NaN and Infinity do not exist), numbers must be finite and surrogates"
        " paired"
    )
