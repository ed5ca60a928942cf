"""Bytes of files: from where they come, how large they may be, how they are written, and their lines and numbers."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import math
import os
import re
import shlex
import stat
import sys
import tempfile
import unicodedata
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePath
from typing import IO, Any, NoReturn, cast
from weakref import WeakKeyDictionary

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.result import replacing

UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"([0-9]{1,15})([kMGT]?)")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The largest inputs that are read. The defaults leave room for books, and for files of a hundred million rows.

    What is larger is refused in one line; the error says how to raise the limit. The variable
    `NLGAUGE_LIMITS=segment=20M,line=1G` changes some of them, `limits=` in `nlgauge.read`, and `nlgauge.io.limited` for
    every reader; `k`, `M`, `G` and `T` are thousands, millions and so on.

    Attributes:
        segment: characters of one text.
        line: characters of one line, of a row of CSV that runs over several lines, or of an entry of a JSON array.
        file: bytes of one file, after it was unpacked.
        ratio: how many times larger a file may become when it is unpacked. Text becomes 3 to 10 times larger. It counts
            from 100 MB on.
        array: bytes of a file that is one JSON array, which is held in memory; `jq -c '.[]'` makes JSON lines of it,
            which are not.
        columns: columns of a table.
        depth: how deeply JSON may be nested.
    """

    segment: int = 10_000_000
    line: int = 50_000_000
    file: int = 10**12
    ratio: int = 200
    array: int = 1 << 30
    columns: int = 100_000
    depth: int = 100

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if type(value) is not int or value < 1:
                raise InputError(f"limit {name!r} is {value!r}, expected a whole number from 1")

    def check(self, name: str, size: int, where: str, *, is_whole: bool = True) -> None:
        """Refuse what is larger than a limit.

        Args:
            name: the limit.
            size: what came.
            where: file and line.
            is_whole: whether `size` is all of it, and not what has been read so far.

        Raises:
            InputError: the size is above the limit; the message says both and how to raise the limit.
        """
        if size > getattr(self, name):
            self._refuse(name, size, where, is_whole)

    def check_cells(self, cells: Sequence[str], where: str) -> None:
        """Refuse a row with a text that is longer than a segment may be."""
        self.check("segment", max(map(len, cells), default=0), where)

    def check_json(self, text: str, value: Any, where: str) -> None:
        """Refuse a value of JSON that is nested too deeply or holds too long a text."""
        if len(text) <= self.segment and text.count("[") + text.count("{") <= self.depth:
            return  # nearly always
        level, depth = [value], 0
        while level:
            depth += isinstance(level[0], list | dict) or any(isinstance(one, list | dict) for one in level)
            self.check("depth", depth, where, is_whole=False)
            self.check_cells([one for one in level if isinstance(one, str)], where)
            level = [
                inner
                for one in level
                if isinstance(one, list | dict)
                for inner in (one.values() if isinstance(one, dict) else one)
            ]

    def _refuse(self, name: str, size: int, where: str, is_whole: bool) -> NoReturn:
        most = getattr(self, name)
        more = "" if is_whole else "at least "
        enough = 2 * size if is_whole else max(2 * size, 10 * most)
        raise InputError(
            f"{where}: {_WHAT[name].format(size=f'{more}{size:,}')}, expected at most {most:,}; if that is meant, raise"
            f" the limit with NLGAUGE_LIMITS={name}={enough} before the command (in Python Limits({name}={enough}))"
        )


_WHAT: Mapping[str, str] = {
    "segment": "a text of {size} characters",
    "line": "a line of {size} characters",
    "file": "{size} bytes unpacked",
    "ratio": "unpacked it is {size} times larger",
    "array": "one JSON array of {size} bytes (jq -c '.[]' makes JSON lines of it)",
    "columns": "{size} columns",
    "depth": "JSON that is {size} levels deep",
}
_LIMITS = "NLGAUGE_LIMITS"
_current: ContextVar[Limits | None] = ContextVar("limits of what is read", default=None)


def current() -> Limits:
    """The limits of files that are opened now: of the block, else of the variable, else the usual ones."""
    return _current.get() or parse_limits(os.environ.get(_LIMITS, ""))


@contextmanager
def limited(limits: Limits) -> Iterator[None]:
    """Read files that are opened inside the block with other limits.

    Example:
        with limited(Limits(segment=50_000_000)):
            scores = read_scores("long.jsonl")
    """
    token = _current.set(limits)
    try:
        yield
    finally:
        _current.reset(token)


@cache
def parse_limits(typed: str) -> Limits:
    """The limits of the variable NLGAUGE_LIMITS: `segment=20M,line=1G`; what is not named keeps its default."""
    known, given = [field.name for field in fields(Limits)], dict[str, int]()
    for pair in (pair.strip() for pair in typed.split(",") if typed.strip()):
        name, _, size = (part.strip() for part in pair.partition("="))
        match = _SIZE.fullmatch(size)
        if name not in known:
            raise InputError(f"{_LIMITS}={typed}: unknown limit {name!r}{nearest(name, known)}")
        if match is None or int(match[1]) < 1:
            raise InputError(f"{_LIMITS}={typed}: expected {name}=SIZE with a whole number from 1, as in 500k, 20M, 1G")
        if name in given:
            raise InputError(f"{_LIMITS}={typed} names {name!r} twice, expected once")
        given[name] = int(match[1]) * UNITS[match[2]]
    return replace(Limits(), **given)


# --- Write a file in one step: it gets its name only when it is complete, and is packed if the name ends in `.gz`


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder and its parents. A folder that exists is left as it is; one that cannot be made is refused."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {os.fspath(path)}: {error.strerror or error}") from None


def check_file_name(name: str, what: str, *, may_hold_blanks: bool = False) -> None:
    """Refuse a name from the data that cannot become the name of a file inside its folder, such as `../../x`.

    Args:
        name: the name.
        what: what bears it, for the error, such as "metric name".
        may_hold_blanks: whether blanks are allowed; other white space and control characters never are.
    """
    within = bool(name) and name not in (".", "..") and PurePath(name).name == name and "\\" not in name
    shown = not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in name)
    if not (within and shown and (may_hold_blanks or not any(map(str.isspace, name)))):
        without = "'/' and '\\'" if may_hold_blanks else "blanks, '/' and '\\'"
        raise InputError(f"{what} {name!r}, expected one without {without}; it becomes the name of a file")


@contextmanager
def writing_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for bytes that are packed if it ends in `.gz`, and takes its name when all are written.

    Packed data hold no name and no time: equal content, equal bytes.
    """
    with replacing(path, "wb") as file:
        if not os.fspath(path).endswith(".gz"):
            yield file
            return
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
            yield cast(IO[bytes], packed)


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file completely or not at all, packed if it ends in `.gz`; the same content gives the same bytes."""
    path = os.fspath(path)
    with replacing(path, "wb") as file:
        file.write(gzip.compress(content, mtime=0) if path.endswith(".gz") else content)


# --- Bytes that can be read more than once: a file, plain or packed, or standard input kept in a temporary file

STDIN = "-"
BOM = b"\xef\xbb\xbf"  # the byte order mark, as UTF-8 has it
_CHUNK = 1 << 20
_LISTED, _LIKE = 2000, 0.8  # names in a folder that are compared with one that is not there; how alike they are
RATIO_FROM = 100_000_000  # bytes from which on the ratio of packed and unpacked data is looked at
_copies: WeakKeyDictionary[Any, IO[bytes]] = WeakKeyDictionary()  # standard input -> the copy of all that it held
_digests: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # standard input -> the digest of all that it held
_of_pipes: dict[tuple[int, int], str] = {}  # device and number of a pipe -> digest of what was read from it last
_GZIP = b"\x1f\x8b"  # no UTF-8 text begins so: 8b only continues a character
_PACKED = {"bzcat": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), "xzcat": re.compile(rb"\xfd7zXZ\x00")}
# What Git LFS and git-annex keep in the place of a large file that was not fetched.
_POINTER = re.compile(rb"(version https?://\S+/spec/v1\r?\n(?:ext-.*\n)*oid sha256:)|/annex/objects/\S+\s*\Z")


class InputFile:
    """A file to read: a name, a pipe, or `-` for standard input.

    What gzip packed is unpacked, whatever its name; several packed parts in one file are read one after the other.
    Parquet is compressed inside and must not be packed again. Standard input and pipes may stand in place of one file,
    also of scores, ratings and suites; JSON lines, TSV and Parquet are told apart by how they begin.

    An input that cannot be read twice is copied into a temporary file without a name, so nothing stays behind even if
    the process is killed.

    Args:
        path: the path as typed; `-` is standard input.

    Attributes:
        path: the path as typed.
        name: the name of the file in errors and notes.
        start: the byte of the file at which what is read begins.
        limits: how large it may be, as of when it was opened.
        sha256: the hexadecimal digest of the bytes on disk; None until they have been read to the end once.

    Raises:
        InputError: the file is missing, is a folder or cannot be read.
    """

    start = 0

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.name = "<stdin>" if self.path == STDIN else self.path
        self.limits = current()
        self.sha256: str | None = None
        self._kept: IO[bytes] | None = None
        self._stamp: tuple[int, int, int] | None = None
        self._pipe: tuple[int, int] | None = None
        self.is_plain = False
        if self.path != STDIN:
            try:
                status = os.stat(self.path)
            except (FileNotFoundError, NotADirectoryError):
                raise InputError(f"{self.path or repr(self.path)}: no such file{_nearest_file(self.path)}") from None
            except (OSError, ValueError) as error:
                raise InputError(f"{self.path!r}: cannot be read ({_reason(error)})") from None
            if stat.S_ISDIR(status.st_mode):
                raise InputError(f"{self.path} is a folder, expected a file")
            self.is_plain = stat.S_ISREG(status.st_mode)
            self._pipe = None if self.is_plain else (status.st_dev, status.st_ino)

    @property
    def entry(self) -> dict[str, str]:
        """The entry of this file in the result file: `path` as typed, and `sha256`."""
        if self.sha256 is None and self._kept is None:
            self.sha256 = self._known_digest()
        if self.sha256 is None:
            digest = hashlib.sha256()
            with self.open() as raw:
                try:
                    while chunk := raw.read(_CHUNK):
                        digest.update(chunk)
                except OSError as error:
                    raise InputError(f"{self.name}: cannot be read ({_reason(error)})") from None
            self.sha256 = digest.hexdigest()
        return {"path": self.path, "sha256": self.sha256}

    def chunks(self) -> Iterator[bytes]:
        """The content in pieces, from its beginning. Data of gzip are unpacked.

        Raises:
            InputError: packed data are damaged or end too early, a file named `.gz` is not packed, or one is packed in
                another way; or more comes than the limits allow.
        """
        digest = None if self.sha256 else hashlib.sha256()
        with self.open() as raw:
            try:
                head = raw.read(10)
                raw.seek(0)
                packed = head.startswith(_GZIP)
                if not packed and head and self.path.endswith(".gz"):
                    raise InputError(f"{self.path} is named .gz but holds no gzip data")
                way = next((tool for tool, begins in _PACKED.items() if begins.match(head)), None)
                if way is not None:
                    raise InputError(f"{self.name} is packed, and not by gzip; unpack it: {way} FILE > PLAIN")
                hashed = _Hashed(raw, digest)
                stream: Any = gzip.GzipFile(fileobj=cast(IO[bytes], hashed), mode="rb") if packed else hashed
                size = 0
                while chunk := stream.read(_CHUNK):
                    size += len(chunk)
                    self.limits.check("file", size, self.name, is_whole=False)
                    if packed and size > RATIO_FROM:
                        self.limits.check("ratio", size // hashed.size, self.name)
                    yield chunk
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise InputError(f"{self.name}: damaged gzip data ({_reason(error)})") from None
            except OSError as error:
                raise InputError(f"{self.name}: cannot be read ({_reason(error)})") from None
        if digest is not None:
            self.sha256 = digest.hexdigest()

    def head(self, size: int = 1024) -> bytes:
        """The first bytes of the unpacked content, at most `size` of them."""
        return next(self.chunks(), b"")[:size]

    def open(self) -> io.BufferedReader:
        """Open the bytes on disk as a seekable file. Each call has its own position.

        Raises:
            InputError: the file cannot be opened, has changed since it was first opened, or is a pointer of Git LFS.
        """
        if not self.is_plain:
            if self._kept is None:
                self._kept = self._keep()
            return self._content(io.BufferedReader(_View(self._kept)))
        try:
            file = open(self.path, "rb")  # noqa: SIM115 - the caller closes it
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({_reason(error)})") from None
        status = os.fstat(file.fileno())
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
        if self._stamp is not None and stamp != self._stamp:
            file.close()
            raise InputError(f"{self.path} changed while it was being read; run again when it is complete")
        self._stamp = stamp
        return self._content(file)

    def _content(self, file: io.BufferedReader) -> io.BufferedReader:
        """The opened file, unless it holds no more than where the content is kept."""
        with suppress(OSError):  # which the first who reads is told
            pointer = _POINTER.match(file.peek(1024))  # none is longer
            if pointer is not None:
                file.close()
                tool, get = ("Git LFS", "git lfs pull") if pointer[1] else ("git-annex", "git annex get")
                raise InputError(f"{self.name} is a pointer of {tool} in place of the file; '{get}' fetches that")
        return file

    def close(self) -> None:
        """Delete the temporary file, if there is one."""
        if self._kept is not None:
            self._kept.close()
        if self.path == STDIN and sys.stdin is not None:
            _copies.pop(sys.stdin.buffer, None)

    def _known_digest(self) -> str | None:
        """The digest of standard input or a pipe, which cannot be read again, if something read it before."""
        if self.path == STDIN:
            return None if sys.stdin is None else _digests.get(sys.stdin.buffer)
        return None if self._pipe is None else _of_pipes.get(self._pipe)

    def _keep(self) -> IO[bytes]:
        stream = getattr(sys.stdin, "buffer", None)  # standard input may be closed
        if self.path == STDIN and stream in _copies:
            return _copies[stream]
        kept = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as we do
        try:
            if self.path == STDIN:
                if stream is None:
                    raise InputError("standard input is closed, expected data on it")
                self._copy(stream, kept)
                _copies[stream], _digests[stream] = kept, str(self.sha256)
            else:
                with open(self.path, "rb") as pipe:
                    self._copy(pipe, kept)
        except OSError as error:
            kept.close()
            raise InputError(f"{self.name}: cannot be copied to {tempfile.gettempdir()} ({_reason(error)})") from None
        return kept

    def _copy(self, pipe: IO[bytes], kept: IO[bytes]) -> None:
        size, digest = 0, hashlib.sha256()
        while chunk := pipe.read(_CHUNK):
            size += len(chunk)
            self.limits.check("file", size, self.name, is_whole=False)
            kept.write(chunk)
            digest.update(chunk)
        self.sha256 = digest.hexdigest()
        if self._pipe is not None:
            _of_pipes[self._pipe] = self.sha256


def is_packed(raw: IO[bytes]) -> bool:
    """Whether an opened file is packed, by how it begins."""
    head = raw.read(10)
    raw.seek(0)
    return head.startswith(_GZIP) or any(begins.match(head) for begins in _PACKED.values())


def unpacked_name(path: str) -> str:
    """A path without the end that says that gzip packed the file."""
    return path.removesuffix(".gz")


def by_content(file: InputFile) -> str:
    """`parquet`, `jsonl` or `tsv`, by how a file without a name that says it begins."""
    head = file.head()
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.removeprefix(BOM).lstrip(b" \t\r\n")[:1] in (b"{", b"["):
        return "jsonl"
    return "tsv"


def entries(folder: str | os.PathLike[str], pattern: str = "*") -> list[Path]:
    """The entries of a folder whose names match, sorted; none if it is not there. What may not be read is refused."""
    try:
        return sorted(Path(folder, name) for name in os.listdir(folder) if fnmatchcase(name, pattern))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise InputError(f"{os.fspath(folder)}: cannot be read ({_reason(error)})") from None


def found_in(folder: str | os.PathLike[str], patterns: Sequence[str]) -> list[str]:
    """The files below a folder that fit a pattern, sorted, without hidden ones and what archives of a Mac add."""
    found = {file for pattern in patterns for file in Path(folder).rglob(pattern)}
    return sorted(
        str(file)
        for file in found
        if not any(part.startswith(".") or part == "__MACOSX" for part in file.relative_to(folder).parts)
    )


def _nearest_file(path: str) -> str:
    """Files with a name like the missing one, for the end of an error; empty where there are none."""
    if path.startswith("hf://"):
        return "; fetch it: hf download --repo-type dataset OWNER/NAME PATH --local-dir FOLDER"
    if os.path.islink(path):
        return f"; it is a link to {os.readlink(path)}, which is not there"
    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        return f"; there is no folder {folder}"
    try:
        names = sorted(os.listdir(folder or "."))[:_LISTED]
    except OSError:
        return ""
    close = get_close_matches(name, names, cutoff=_LIKE)
    return f"; did you mean {' or '.join(map(repr, (os.path.join(folder, one) for one in close)))}?" if close else ""


class _Hashed:
    """A reader that counts the bytes that pass through it, and computes their digest."""

    def __init__(self, raw: IO[bytes], digest: Any) -> None:
        self._raw, self._digest = raw, digest
        self.size = 0

    def read(self, size: int = -1) -> bytes:
        chunk = self._raw.read(size)
        self.size += len(chunk)
        if self._digest is not None:
            self._digest.update(chunk)
        return chunk


class _View(io.RawIOBase):
    """A view of a shared file with its own position. Closing the view leaves the file open."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._position = file, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position}.get(whence)
        self._position = offset + (self._file.seek(0, io.SEEK_END) if base is None else base)
        return self._position

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._position)
        chunk = self._file.read(len(buffer))
        buffer[: len(chunk)] = chunk
        self._position += len(chunk)
        return len(chunk)


def _reason(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error)).splitlines()[0]


# --- Text files as numbered lines, split only at LF, and the numbers in the cells of a line

_SCRIPTS = {  # encoding -> first and last of its commonest letters; of equal shares the first counts
    "WINDOWS-1251": ("а", "я"),
    "KOI8-R": ("а", "я"),
    "SHIFT_JIS": ("\u3040", "\u9fff"),
    "EUC-KR": ("가", "힣"),
    "GB18030": ("一", "龥"),
}
_PLACES, MANY = 5, 1000  # bad rows that are named, and that are counted
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
        elif b"\xed\xa0" <= chunk[at : at + 2] <= b"\xed\xbf":
            encoding, said = "UTF-8 -c", "it is half a surrogate pair, which is no text and can be left out"
        else:
            encoding = _guessed(chunk[at : at + 4096])
            said = f"it may be {encoding}"
        name = shlex.quote(os.path.basename(unpacked_name(self.file.path)))
        source = f"zcat {shlex.quote(self.file.path)} | " if self.file.path.endswith(".gz") else ""
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


def words_of(lines: Lines, expected: str, is_header: Callable[[list[str]], bool]) -> Iterator[tuple[int, list[str]]]:
    """The words of the filled lines of a table, its header first, which is refused if it is none."""
    for place, (number, line) in enumerate(lines.filled()):
        words = line.split()
        if not place and not is_header(words):
            raise InputError(f"{lines.at(number)}: header {line!r}, expected {expected!r}")
        yield number, words


class Faults:
    """The bad rows of one file. All are counted: the first is told in full, and of the first five the places.

    Readers get `add` for a bad row where they otherwise raise: see `refuse`.
    """

    def __init__(self, name: str) -> None:
        self.n = 0
        self._name = name
        self._first = ""
        self._places: list[str] = []

    def add(self, place: str, reason: str) -> None:
        """Count a row; so many bad ones are refused that the file must be of another kind."""
        if not self.n:
            self._first = f"{place}: {reason}"
        self.n += 1
        if self.n <= _PLACES:
            self._places.append(place.removeprefix(self._name).lstrip(":, "))
        if self.n >= MANY:
            self.check()

    @contextmanager
    def row(self, place: str) -> Iterator[None]:
        """Count a row that is refused inside the block, by an error that may begin with its place."""
        try:
            yield
        except InputError as error:
            self.add(place, str(error).removeprefix(f"{place}: "))

    def check(self) -> None:
        """Raise the error of all rows counted, if there are any."""
        if self.n > 1:
            n = f"{self.n} rows are bad" if self.n < MANY else f"{MANY} rows and perhaps more are bad"
            more = ", ..." if self.n > len(self._places) else ""
            raise InputError(f"{self._first}; {n}: {', '.join(self._places)}{more}")
        if self.n:
            raise InputError(self._first)


def refuse(place: str, reason: str) -> None:
    """The treatment of a bad row where nobody counts them: an error."""
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


def number_in(cell: str) -> float:
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
    """The position in a cell, counted from 1; a `ValueError` says what came where it holds none."""
    if not re.fullmatch(r"[0-9]{1,12}", cell) or int(cell) < 1:
        raise ValueError(f"{cell!r}, expected a whole number from 1")
    return int(cell)


def counted(n: int, one: str, several: str | None = None) -> str:
    """ "1 line", "2 lines"."""
    return f"{n} {one if n == 1 else several or one + 's'}"
