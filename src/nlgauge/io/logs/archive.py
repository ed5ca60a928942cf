"""Members of a zip archive, also those packed with Zstandard, unpacked under the limits of a file."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator

import zstandard

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import RATIO_FROM, InputFile

_CHUNK = 1 << 20
_ZSTANDARD = 93
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD)
_OTHERS = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "lzma"}
_WINDOW = 1 << 27  # bytes that the unpacker may look back, as in the tool `zstd`
_LOCAL = struct.Struct("<4s22xHH")  # of a member's own header: its mark, and the lengths of its name and its extra


class Archive:
    """A zip archive.

    Args:
        file: the file; it is held open until `close`.

    Raises:
        InputError: it is no zip archive, or a damaged one.
    """

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self._raw = file.open()
        self._packed = self._raw.seek(0, io.SEEK_END)
        self._unpacked = 0
        try:
            self._zip = zipfile.ZipFile(self._raw)
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError) as error:
            self._raw.close()
            raise InputError(f"{file.name}: damaged zip archive ({error}); is the log complete?") from None
        self._members = {member.filename: member for member in self._zip.infolist()}  # of two with one name the last

    @property
    def names(self) -> list[str]:
        """The names of all members, in order."""
        return list(self._members)

    def at(self, name: str) -> str:
        """The place of a member in an error, which is one line whatever its name holds."""
        return f"{self.file.name}, {name if name.isprintable() else repr(name)}"

    def read(self, name: str) -> bytes:
        """The bytes of a member.

        Raises:
            InputError: it is damaged, encrypted, packed in another way, or larger than the limits allow.
        """
        member, where = self._members[name], self.at(name)
        if member.flag_bits & 1:
            raise InputError(f"{where}: is encrypted, expected a log as it was written")
        if member.compress_type not in _PACKED:  # Python unpacks LZMA and Bzip2 without a bound
            how = _OTHERS.get(member.compress_type, f"method {member.compress_type}")
            raise InputError(
                f"{where}: is packed with {how}, expected Deflate or Zstandard; unpack it and zip it again"
            )
        self.file.limits.check("array", member.file_size, where)
        parts, size = [], 0
        try:
            for chunk in self._chunks(member):
                size += len(chunk)
                self._unpacked += len(chunk)
                self.file.limits.check("array", size, where, is_whole=False)
                self.file.limits.check("file", self._unpacked, self.file.name, is_whole=False)
                if self._unpacked > RATIO_FROM:
                    self.file.limits.check("ratio", self._unpacked // max(self._packed, 1), self.file.name)
                parts.append(chunk)
        except InputError:
            raise
        except (zipfile.BadZipFile, OSError, EOFError, ValueError, struct.error, zlib.error, RuntimeError) as error:
            raise InputError(f"{where}: damaged ({error}); is the log complete?") from None
        return b"".join(parts)

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
        self._raw.close()

    def _chunks(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        if member.compress_type != _ZSTANDARD:
            with self._zip.open(member) as stream:
                while chunk := stream.read(_CHUNK):
                    yield chunk
            return
        self._raw.seek(member.header_offset)
        mark, name, extra = _LOCAL.unpack(self._raw.read(_LOCAL.size))
        if mark != b"PK\x03\x04":
            raise ValueError("no header where its entry says")
        self._raw.seek(name + extra, io.SEEK_CUR)
        if member.compress_size > self._packed:
            raise ValueError("larger than the archive")
        sum_of, size = 0, 0
        packed = io.BytesIO(self._raw.read(member.compress_size))
        unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
        unpacked = unpacker.stream_reader(packed, read_across_frames=True)
        try:
            while chunk := unpacked.read(_CHUNK):
                sum_of = zlib.crc32(chunk, sum_of)
                size += len(chunk)
                yield chunk
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from None
        if size != member.file_size or sum_of != member.CRC:
            raise ValueError("its size or checksum is another than its entry says")
