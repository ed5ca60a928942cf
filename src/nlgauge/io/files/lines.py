"""Text files as numbered lines, split only at LF, and the numbers in the cells of a line."""

from __future__ import annotations

import codecs
import math
import os
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import STDIN, InputFile, unpacked_name

_SCRIPTS = {  # encoding -> first and last of its commonest letters; of equal shares the first counts
    "WINDOWS-1251": ("а", "я"),
    "KOI8-R": ("а", "я"),
    "SHIFT_JIS": ("\u3040", "\u9fff"),
    "EUC-KR": ("가", "힣"),
    "GB18030": ("一", "龥"),
}
_PLACES, _MANY = 5, 1000  # bad rows that are named, and that are counted
_ZIP = b"PK\x03\x04"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Lines:
    """The lines of a file, as (number from 1, text). Each iteration reads the file again.

    Only LF ends a line. A lone CR, U+2028, U+0085 or a form feed stays in the text. The last LF may be missing. A byte
    order mark at the beginning and one CR before an LF are dropped.

    Args:
        file: the file that the lines come from.
        texts: whether each line is a text, which may be as long as a segment; else as long as a line.

    Attributes:
        file: the file that the lines come from.
        count: the number of lines, known after a complete pass.
        blank: how many of them the reader skipped as blank; the reader counts them, since formats differ in what is.

    Raises:
        InputError: the file is not UTF-8; the error names the line and the byte. A line is too long. Also what
            `InputFile` raises.
    """

    def __init__(self, file: InputFile, *, texts: bool = False) -> None:
        self.file = file
        self._limit = "segment" if texts and file.limits.segment < file.limits.line else "line"
        self._most: int = getattr(file.limits, self._limit)
        self.count = self.blank = 0

    def __iter__(self) -> Iterator[tuple[int, str]]:
        self.blank = 0
        number, open_line = 0, False
        pending: list[str] = []  # pieces of a line whose end has not come yet
        waiting = 0  # characters of them
        for text in self._texts():
            first, *rest = text.split("\n")
            pending.append(first)
            waiting += len(first)
            open_line = True
            if not rest:
                if waiting > self._most:
                    self.file.limits.check(self._limit, waiting, self.at(number + 1), is_whole=False)
                continue
            rest.insert(0, "".join(pending))
            pending = [rest.pop()]
            waiting = len(pending[0])
            open_line = waiting > 0
            for line in rest:
                number += 1
                if len(line) > self._most:
                    self.file.limits.check(self._limit, len(line), self.at(number))
                yield number, line[:-1] if line.endswith("\r") else line
        if open_line:
            number += 1
            self.file.limits.check(self._limit, waiting, self.at(number))
            yield number, "".join(pending)
        self.count = number

    def filled(self) -> Iterator[tuple[int, str]]:
        """The lines that hold more than white space. The others are counted as `blank`."""
        for number, line in self:
            if line.strip():
                yield number, line
            else:
                self.blank += 1

    def at(self, number: int) -> str:
        """The place of a line, for an error message."""
        return f"{self.file.name}:{number}"

    def notes(self) -> list[str]:
        """Notes on skipped input, known after a complete pass."""
        return [f"{self.file.name}: {counted(self.blank, 'blank line')} skipped"] if self.blank else []

    def _way_to_utf8(self, chunk: bytes, at: int, is_first: bool) -> str:
        """A guess at the encoding, and the command that converts the file."""
        if is_first and (chunk.startswith(_UTF16) or _is_utf16(chunk)):
            encoding, said = "UTF-16", "it begins as UTF-16 does"
        else:
            encoding = _guessed(chunk[at : at + 4096])
            said = f"it may be {encoding}"
        name = shlex.quote(os.path.basename(unpacked_name(self.file.path)))
        reader = {".gz": "zcat", ".bz2": "bzcat", ".xz": "xzcat"}.get(os.path.splitext(self.file.path)[1])
        source = f"{reader} {shlex.quote(self.file.path)} | " if reader else ""
        files = (
            "" if self.file.path == STDIN else f" {'' if source else shlex.quote(self.file.path) + ' '}> utf8-{name}"
        )
        return f"{said}: convert it with {source}iconv -f {encoding} -t UTF-8{files}"

    def _texts(self) -> Iterator[str]:
        """Decoded pieces of text, none of them empty, without a byte order mark."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        # bytes before what is decoded next, and LF already decoded
        before, newlines, at_start = self.file.start, 0, not self.file.start
        chunks = self.file.chunks()
        while True:
            chunk = next(chunks, b"")
            if before == 0 and chunk.startswith(_ZIP):
                raise InputError(f"{self.file.name} is a zip archive, as .xlsx is; unpack it, or save it as CSV or TSV")
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                waiting = len(error.object) - len(chunk)  # bytes of a character begun in the chunk before
                line = newlines + error.object.count(b"\n", 0, error.start) + 1
                raise InputError(
                    f"{self.at(line)}: not UTF-8 (byte 0x{error.object[error.start]:02x} at offset"
                    f" {before - waiting + error.start}); {self._way_to_utf8(error.object, error.start, before == 0)}"
                ) from None
            if before == 0 and _is_utf16(chunk):  # of English text each byte is UTF-8, and every second is 0
                raise InputError(f"{self.at(1)}: not UTF-8; {self._way_to_utf8(chunk, 0, True)}")
            before += len(chunk)
            newlines += chunk.count(b"\n")
            if at_start and text:
                at_start = False
                text = text.removeprefix("\ufeff")
            if text:
                yield text
            if not chunk:
                return


class Faults:
    """The bad rows of one file. All are counted: the first is told in full, and of the first five the places.

    Readers get `add` for a bad row where they otherwise raise: see `refuse`.

    Args:
        name: the name of the file.
    """

    def __init__(self, name: str) -> None:
        self.n = 0
        self._name = name
        self._first = ""
        self._places: list[str] = []

    def add(self, place: str, reason: str) -> None:
        """Count a row.

        Raises:
            InputError: there are so many bad rows that the file must be of another kind.
        """
        if not self.n:
            self._first = f"{place}: {reason}"
        self.n += 1
        if self.n <= _PLACES:
            self._places.append(place.removeprefix(self._name).lstrip(":, "))
        if self.n >= _MANY:
            self.check()

    @contextmanager
    def row(self, place: str) -> Iterator[None]:
        """Count a row that is refused inside the block, by an error that may begin with its place."""
        try:
            yield
        except InputError as error:
            self.add(place, str(error).removeprefix(f"{place}: "))

    def check(self) -> None:
        """Raise the error of all rows counted, if there are any.

        Raises:
            InputError: some row is bad.
        """
        if self.n > 1:
            n = f"{self.n} rows are bad" if self.n < _MANY else f"{_MANY} rows and perhaps more are bad"
            more = ", ..." if self.n > len(self._places) else ""
            raise InputError(f"{self._first}; {n}: {', '.join(self._places)}{more}")
        if self.n:
            raise InputError(self._first)


def refuse(place: str, reason: str) -> None:
    """The treatment of a bad row where nobody counts them.

    Raises:
        InputError: always.
    """
    raise InputError(f"{place}: {reason}")


def _is_utf16(chunk: bytes) -> bool:
    """Whether every second byte is 0, as in UTF-16 of English without a byte order mark."""
    head = chunk[:64]
    return len(head) >= 16 and any(not any(head[i::2]) and all(head[1 - i :: 2]) for i in (0, 1))


def _guessed(sample: bytes) -> str:
    """The likeliest encoding of bytes that are not UTF-8: that of a script they spell, else of western Europe."""
    best, most = "WINDOWS-1252", 0.5  # the share of the other bytes that must be letters of the script
    other = sum(byte > 0x7F for byte in sample)
    for encoding, (low, high) in _SCRIPTS.items() if other > max(len(sample) / 3, 8) else ():
        text = sample.decode(encoding, "replace")
        foreign = [char for char in text if char > "\x7f"]
        share = sum(low <= char <= high for char in foreign) / max(len(foreign), 1)
        if share > most:
            best, most = encoding, share
    return best


MISSING = frozenset({"", "none", "nan", "na", "null", "n/a", "#n/a", "<na>"})
# Python's float() takes more: 1_000, digits of other scripts, "infinity"; none of these is a score somebody meant.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def number(cell: str) -> float:
    """The number in a cell; NaN if the cell stands for none (`None`, `nan`, `NA`, `null` in any case, or empty).

    Raises:
        ValueError: the cell is neither. The message says what came and what was expected.
    """
    cell = cell.strip(" \t\r")
    if _NUMBER.fullmatch(cell) is None:
        if cell.lower() in MISSING:
            return math.nan
        if cell.lower().lstrip("+-") in ("inf", "infinity"):
            raise ValueError(f"{cell}, expected a finite number")
        advice = "; write the decimal mark as a dot" if re.fullmatch(r"[+-]?[0-9]*,[0-9]+", cell) else ""
        raise ValueError(f"{cell!r}, expected a number or None{advice}")
    value = float(cell)
    if math.isinf(value):
        raise ValueError(f"{cell!r}, too large for a number of 64 bits")
    return value


def ordinal(cell: str) -> int:
    """The position in a cell, counted from 1.

    Raises:
        ValueError: the cell holds no position. The message says what came and what was expected.
    """
    if not re.fullmatch(r"[0-9]{1,12}", cell) or int(cell) < 1:
        raise ValueError(f"{cell!r}, expected a whole number from 1")
    return int(cell)


def counted(n: int, one: str, several: str | None = None) -> str:
    """ "1 line", "2 lines"."""
    return f"{n} {one if n == 1 else several or one + 's'}"
