"""Bytes that can be read more than once: a file, plain or packed, or standard input kept in a temporary file."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import re
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import IO, Any, cast
from weakref import WeakKeyDictionary

from nlgauge.core.errors import InputError
from nlgauge.io.files.hub import fetched
from nlgauge.io.files.limits import current

STDIN = "-"
_CHUNK = 1 << 20
_LISTED, _LIKE = 2000, 0.8  # names in a folder that are compared with one that is not there; how alike they are
RATIO_FROM = 100_000_000  # bytes from which on the ratio of packed and unpacked data is looked at
_copies: WeakKeyDictionary[Any, IO[bytes]] = WeakKeyDictionary()  # standard input -> the copy of all that it held
_digests: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # standard input -> the digest of all that it held
_of_pipes: dict[tuple[int, int], str] = {}  # device and number of a pipe -> digest of what was read from it last
PACKED = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}  # end of a name -> what packed it
_BEGINNINGS = {  # of packed data; no UTF-8 text begins as gzip or xz do: 8b only continues a character, fd is none
    "gzip": re.compile(rb"\x1f\x8b"),
    "bzip2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
}
_XZ_MEMORY = 1 << 28  # bytes that xz may take to unpack; its largest preset takes a quarter of it


class InputFile:
    """A file to read.

    An input that cannot be read twice (standard input, a pipe, `<(...)` of a shell) is copied into a temporary file
    when it is first opened. That file has no name, so nothing stays behind even if the process is killed. The copy of
    standard input serves whoever reads it next, until one of them closes it.

    Args:
        path: the path as typed; `-` is standard input, `hf://datasets/OWNER/NAME/PATH` a file of the hub.

    Attributes:
        path: the path as typed; of a file of the hub with its commit.
        name: the name of the file in errors and notes.
        start: the byte of the file at which what is read begins.
        limits: how large it may be, as of when it was opened.
        sha256: the hexadecimal digest of the bytes on disk; None until they have been read to the end once.

    Raises:
        InputError: the file is missing, is a folder or cannot be read.
    """

    start = 0

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path, self._place = fetched(os.fspath(path))
        self.name = "<stdin>" if self.path == STDIN else self.path
        self.limits = current()
        self.sha256: str | None = None
        self._kept: IO[bytes] | None = None
        self._stamp: tuple[int, int, int] | None = None
        self._pipe: tuple[int, int] | None = None
        self.is_plain = False
        if self.path != STDIN:
            try:
                status = os.stat(self._place)
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
        """The content in pieces, from its beginning. Data of gzip, bzip2 and xz are unpacked.

        Raises:
            InputError: packed data are damaged or end too early, or a file named `.gz`, `.bz2` or `.xz` is not packed;
                or more comes than the limits allow.
        """
        digest = None if self.sha256 else hashlib.sha256()
        packing = ""
        with self.open() as raw:
            try:
                packing = packing_of(raw)
                end = PurePath(self.path).suffix
                if not packing and end in PACKED and raw.read(1):
                    raise InputError(f"{self.path} is named {end} but holds no {PACKED[end]} data")
                raw.seek(0)
                hashed = _Hashed(raw, digest)
                size = 0
                for chunk in _unpacked(hashed, packing):
                    size += len(chunk)
                    self.limits.check("file", size, self.name, is_whole=False)
                    if packing and size > RATIO_FROM:
                        self.limits.check("ratio", size // hashed.size, self.name)
                    yield chunk
            except (EOFError, zlib.error, gzip.BadGzipFile, _Damaged) as error:
                raise InputError(f"{self.name}: damaged {packing} data ({_reason(error)})") from None
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
            InputError: the file cannot be opened, or it has changed since it was first opened.
        """
        if not self.is_plain:
            if self._kept is None:
                self._kept = self._keep()
            return io.BufferedReader(_View(self._kept))
        try:
            file = open(self._place, "rb")  # noqa: SIM115 - the caller closes it
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({_reason(error)})") from None
        status = os.fstat(file.fileno())
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
        if self._stamp is not None and stamp != self._stamp:
            file.close()
            raise InputError(f"{self.path} changed while it was being read; run again when it is complete")
        self._stamp = stamp
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


class _Damaged(Exception):
    """Data of bzip2 or xz cannot be unpacked."""


def packing_of(raw: IO[bytes]) -> str:
    """What packed an opened file, by how it begins: `gzip`, `bzip2` or `xz`; empty for none."""
    head = raw.read(10)
    raw.seek(0)
    return next((name for name, begins in _BEGINNINGS.items() if begins.match(head)), "")


def unpacked_name(path: str) -> str:
    """A path without the end that says what packed the file."""
    end = PurePath(path).suffix
    return path.removesuffix(end) if end in PACKED else path


def _unpacked(raw: _Hashed, packing: str) -> Iterator[bytes]:
    """The content of a file in pieces, none of them empty."""
    if packing in ("", "gzip"):
        stream: Any = gzip.GzipFile(fileobj=cast(IO[bytes], raw), mode="rb") if packing else raw
        while chunk := stream.read(_CHUNK):
            yield chunk
        return
    given, machine = raw.read(_CHUNK), _machine(packing)
    while True:
        if machine.eof:  # another stream may follow, after what fills up a block of xz
            given = (machine.unused_data or raw.read(_CHUNK)).lstrip(b"\0")
            if not given:
                return
            machine = _machine(packing)
        elif machine.needs_input and not given:
            given = raw.read(_CHUNK)
            if not given:
                raise EOFError("it ends before its end-of-stream marker")
        try:
            chunk = machine.decompress(given, _CHUNK)
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise _Damaged(str(error)) from None
        given = b""
        if chunk:
            yield chunk


def _machine(packing: str) -> Any:
    return bz2.BZ2Decompressor() if packing == "bzip2" else lzma.LZMADecompressor(memlimit=_XZ_MEMORY)


def by_content(file: InputFile) -> str:
    """`parquet`, `jsonl` or `tsv`, by how a file without a name that says it begins."""
    head = file.head()
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")[:1] in (b"{", b"["):
        return "jsonl"
    return "tsv"


def entries(folder: str | os.PathLike[str], pattern: str = "*") -> list[Path]:
    """The entries of a folder whose names match the pattern, sorted by name; none if there is no such folder.

    Raises:
        InputError: the folder may not be read. (`Path.glob` would treat it as empty.)
    """
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
