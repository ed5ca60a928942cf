"""The rows of a long run, kept beside the final file until all are done. A killed run continues where it stopped."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.result import check_target, is_special
from nlgauge.io.files import writing_bytes

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".part"


class _Portion(msgspec.Struct):
    """The line of one portion."""

    taken: int
    state: dict[str, Any]
    rows: list[dict[str, Any]]


class Journal:
    """Portions of rows, each of which is kept completely or not at all.

    They are kept in `PATH.part`: the first line holds the settings of the run, and each portion takes one line after
    it. A later run with the same settings continues from them. A run with other settings starts again. If the rows do
    not go to a file (None, a pipe, `-`), they are kept in a temporary file, and a run that was killed starts again.

    Args:
        path: the final file of the rows, as JSON lines, also `.gz`.
        settings: everything that determines the rows.

    Attributes:
        taken: how many inputs earlier runs have finished; likewise `state`, what they recorded about these inputs.
        put_aside: whether there was a part of a run with other settings. That part is deleted.

    Raises:
        InputError: the path cannot be written, another run is writing it, or `PATH.part` is not a part of a run.
    """

    def __init__(self, path: str | os.PathLike[str] | None, settings: Mapping[str, Any]) -> None:
        self.path = None if path is None else os.fspath(path)
        self.taken, self.put_aside = 0, False
        self.state: dict[str, Any] = {}
        if self.path is not None:
            check_target(self.path)
        self._part = None if self.path is None or is_special(self.path) else self.path + SUFFIX
        head = msgspec.json.encode(well_formed(settings))
        self._file: IO[bytes]
        if self._part is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the run
        else:
            try:
                self._file = open(self._part, "a+b")  # noqa: SIM115
            except OSError as error:
                raise InputError(f"cannot write {self._part}: {error.strerror or error}") from None
            self._claim(head)
        self._take_up(head)

    def add(self, taken: int, rows: Sequence[Mapping[str, Any]], state: Mapping[str, Any]) -> None:
        """Keep the rows of a portion.

        Args:
            taken: how many inputs are finished after this portion, including those before it.
            rows: the rows of the portion, in order.
            state: what the run needs to know when it continues.

        Raises:
            InputError: the disk is full.
        """
        line = msgspec.json.encode({"taken": taken, "state": well_formed(state), "rows": well_formed(rows)})
        self._write(line)
        self.taken, self.state = taken, dict(state)

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows that have been kept so far."""
        self._file.seek(0)
        self._file.readline()
        for line in self._file:
            yield from msgspec.json.decode(line)["rows"]

    def finish(self) -> None:
        """Write the rows to their final file and delete the part.

        Raises:
            InputError: the file cannot be written.
        """
        if self.path is not None:
            lines = (msgspec.json.encode(row) + b"\n" for row in self.rows())
            with writing_bytes(self.path) as file:
                file.writelines(lines)
        self._file.close()
        if self._part is not None:
            with suppress(OSError):
                os.unlink(self._part)

    def _claim(self, head: bytes) -> None:
        """Lock out other runs while the file is open, and refuse a file that no run has written."""
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._file.close()
                raise InputError(f"another run is writing {self.path}; wait for it, or name another file") from None
            except OSError:  # a file system without locks
                pass
        self._file.seek(0)
        first, begins = self._file.readline(), head[: head.index(b":")]
        if not (first.startswith(begins) or begins.startswith(first)):  # the latter: torn at once, or empty
            self._file.close()
            raise InputError(
                f"{self._part} is no part of a run, and would be written over; move it away, or name another output"
            )

    def _take_up(self, head: bytes) -> None:
        """Move to the end of the last complete portion of a run with the same settings, or else to the beginning."""
        self._file.seek(0)
        first = self._file.readline()
        end = len(first) if first == head + b"\n" else 0
        self.put_aside = bool(first) and not end
        while end and (line := self._file.readline()).endswith(b"\n"):
            try:
                portion = msgspec.json.decode(line, type=_Portion)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                break  # what follows is done anew
            self.taken, self.state = portion.taken, portion.state
            end += len(line)
        self._file.seek(end)
        self._file.truncate()
        if not end:
            self._write(head)

    def _write(self, line: bytes) -> None:
        try:
            self._file.write(line + b"\n")
            self._file.flush()
        except OSError as error:
            raise InputError(f"cannot write {self._part}: {error.strerror or error}") from None


def well_formed(value: Any) -> Any:
    """The values in a form that JSON can hold: lone surrogates are escaped, as elsewhere."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping):
        return {well_formed(k): well_formed(v) for k, v in value.items()}
    return [well_formed(v) for v in value] if isinstance(value, list | tuple) else value
