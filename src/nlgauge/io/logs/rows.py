"""What logs of all tools share: their samples as segments, their values, and the members of an archive."""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import msgspec
import zstandard

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, RepeatedKey, Segment, check_keys, unique
from nlgauge.io.files import RATIO_FROM, Faults, InputFile, Lines, counted
from nlgauge.io.rows import is_array, joined, mended
from nlgauge.io.segments import HeldSource

Item = str | int  # 1 and "1" are two items
_Own = tuple[str | None, str | None, Item]  # group, system, item


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One answer in a log.

    Attributes:
        item: the input that it answers, by a name or number that other runs of the tool give it, too.
        hypothesis: the answer; None if there is none, because the run failed.
        references: what it is compared with. An empty one is none: tools store it where an item has no target.
        source: what it was made from.
        system: the model, or the tool's own label.
        group: the task.
        repeat: which run of the item it is, from 1; None where the log does not count them.
        scores: name -> score of the tool; NaN where it failed or is missing.
    """

    item: Item
    hypothesis: str | None = None
    references: tuple[str, ...] = ()
    source: str | None = None
    system: str | None = None
    group: str | None = None
    repeat: int | None = None
    scores: Mapping[str, float] = field(default_factory=dict)


class Log:
    """The samples of one log, in order."""

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self._kept: dict[tuple[_Own, int], Sample] = {}
        self._runs: Counter[_Own] = Counter()
        self._again = self._silent = 0
        self._notes: list[str] = []
        self._counts: Counter[str] = Counter()

    def add_all(self, sample: Sample, answers: Sequence[str]) -> None:
        """Keep the answers to one item, of which the log has one set of scores."""
        for answer in answers or (None,):
            self.add(replace(sample, hypothesis=answer))

    def add(self, sample: Sample) -> None:
        """Keep a sample. One without an answer is counted; of two with the same repeat the last is kept."""
        if sample.hypothesis is None:
            self._silent += 1
            return
        own = (sample.group, sample.system, sample.item)
        self._runs[own] += 1
        repeat = self._runs[own] if sample.repeat is None else sample.repeat
        self._again += (own, repeat) in self._kept
        self._kept[own, repeat] = replace(sample, repeat=repeat)

    def scores(self, found: Iterable[tuple[str, float]]) -> dict[str, float]:
        """The scores of a sample by name; of several with one name the second is `NAME#2`, and the notes say so."""
        named: dict[str, float] = {}
        times: Counter[str] = Counter()
        for name, value in found:
            times[name] += 1
            if times[name] > 1:
                self.note(f"several scores are called {name!r}; the second is {name + '#2'!r}, and so on")
            named[name if times[name] == 1 else f"{name}#{times[name]}"] = value
        return named

    def note(self, words: str) -> None:
        """Say something of the file once."""
        if words not in self._notes:
            self._notes.append(words)

    def count(self, words: str, n: int = 1) -> None:
        """Count something, which the notes give as `N words`."""
        self._counts[words] += n

    def source(self, notes: Sequence[str] = ()) -> HeldSource:
        """The segments of all samples; a log without a sample with an answer is refused."""
        if not self._kept:
            why = f"all {counted(self._silent, 'sample')} failed" if self._silent else "no sample in it"
            raise InputError(f"{self.file.name}: {why}, expected at least one answer")
        samples = list(self._kept.values())
        several = len({sample.group for sample in samples}) > 1
        alike = {str(s.item) for s in samples if type(s.item) is int} & {s.item for s in samples if type(s.item) is str}
        if alike:
            self.count("items have a number that is also the name of another item, which stands in quotes", len(alike))
        runs = {f"{s.item}#{s.repeat}" for s in samples if (s.repeat or 1) > 1} & {s.item for s in samples}
        if runs:
            self.count("items are called as a run of another item is, and stand in quotes", len(runs))
        segments = tuple(
            _segment(sample, f'"{sample.item}"' if sample.item in alike | runs else str(sample.item), several)
            for sample in samples
        )
        told = [*notes, *self._notes, *(f"{n} {words}" for words, n in self._counts.items()), *self._told(samples)]
        return HeldSource(
            Dataset(segments, self.file.name, tuple(_named(note, self.file.name) for note in told)), [self.file]
        )

    def _told(self, samples: Sequence[Sample]) -> list[str]:
        told = []
        if self._silent:
            n = self._silent + len(samples)
            told.append(f"{self._silent} of {counted(n, 'sample')} have no answer and are left out")
        if self._again:
            told.append(f"{counted(self._again, 'sample')} stored again after a retry, the last is kept")
        repeats = max(sample.repeat or 1 for sample in samples)
        if repeats > 1:
            told.append(f"up to {repeats} runs of an item; they are repeats, never items")
        for name in dict.fromkeys(name for sample in samples for name in sample.scores):
            undefined = sum(math.isnan(sample.scores.get(name, math.nan)) for sample in samples)
            if undefined:
                told.append(f"{undefined} of {counted(len(samples), 'score')} {name!r} undefined")
        return told


def _named(note: str, file: str) -> str:
    return note if note.startswith(f"{file}:") else f"{file}: {note}"


def _segment(sample: Sample, item: str, several: bool) -> Segment:
    parts = [sample.group if several else None, sample.system, item]
    run = f"#{sample.repeat}" if sample.repeat is not None and sample.repeat != 1 else ""
    return Segment(
        ":".join(part for part in parts if part is not None) + run,
        sample.hypothesis or "",
        tuple(reference for reference in sample.references if reference),
        sample.source,
        sample.system,
        item,
        sample.group,
        {name: value for name, value in sample.scores.items() if not math.isnan(value)},
    )


# --- Values of a log: JSON as Python writes it, fields that may be missing, and scores that may be undefined

_ITEM = 40  # characters of an item that is named by its text


def parsed(text: str, file: InputFile, where: str) -> Any:
    """A value of JSON, in which NaN and Infinity may stand, as Python writes them; no object may hold a key twice."""
    text = mended(text)
    try:
        try:
            value = msgspec.json.decode(text)
        except msgspec.DecodeError:  # NaN, or no JSON at all
            value = json.loads(text, object_pairs_hook=unique)
        else:
            check_keys(text, value)
    except RepeatedKey as error:
        raise InputError(f"{where}: {error}") from None
    except RecursionError:
        raise InputError(f"{where}: nested too deeply, expected a log") from None
    except ValueError as error:
        reason = error.msg.removesuffix(" at") if isinstance(error, json.JSONDecodeError) else "a number is too long"
        raise InputError(f"{where}: not valid JSON ({reason}); is the file complete?") from None
    file.limits.check_json(text, value, where)
    return value


def text_of_bytes(content: bytes, where: str) -> str:
    """Bytes as text; what is not UTF-8 is refused."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 (offset {error.start}), expected JSON") from None


def document(file: InputFile) -> Any:
    """The one value of a file of JSON, which is no larger than an array in memory may be."""
    return parsed(text_of_bytes(joined(file), file.name), file, file.name)


class LogLines:
    """The objects of a log of JSON lines, as (line number, object); a list in place of lines is read, too.

    A last line that breaks off is what a killed run leaves: it is skipped, and `notes` says so.
    """

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.lines = Lines(file)
        self._broken = 0

    def __iter__(self) -> Iterator[tuple[str, dict[str, Any]]]:
        if is_array(self.file):
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
    """The objects of a list, each with its place; `key` is the field of the list in an error, if any."""
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


def listed(value: Any, *path: str) -> list[Any]:
    """The list that lies at a path of fields; an empty one where there is none."""
    found = inner(value, *path)
    return found if type(found) is list else []


def fields(value: Any, *path: str) -> dict[str, Any]:
    """The object that lies at a path of fields; an empty one where there is none."""
    found = inner(value, *path)
    return found if type(found) is dict else {}


def item_in(row: Mapping[str, Any], name: str, where: str, expected: str) -> Item:
    """The field of a row that names its item, by a name or a number; an error says what was expected."""
    found = identity(row.get(name))
    if found is None:
        raise InputError(f"{where}: field {name!r} is missing, expected {expected}")
    return found


def text(value: Any) -> str | None:
    """A string as it is; None for everything else."""
    return value if type(value) is str else None


def texts(value: Any) -> tuple[str, ...]:
    """A string, or the strings of a list."""
    return tuple(one for one in (value if type(value) is list else [value]) if type(one) is str)


def identity(value: Any) -> Item | None:
    """A name or number as it is, so that 1 and "1" stay two; None for everything else."""
    return value if type(value) is int and abs(value) < 1 << 63 else text(value)


def name_of(value: Any) -> str | None:
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


def verdict(value: Any) -> float:
    """True as 1 and false as 0; NaN for everything else."""
    return float(value) if type(value) is bool else math.nan


def message(content: Any) -> str | None:
    """The text of a message: a string, or the parts with `text` of a list of parts, joined by line breaks."""
    if type(content) is not list:
        return text(content)
    parts = [found for part in content if (found := text(inner(part, "text"))) is not None]
    return "\n".join(parts) if parts else None


def item_of(*parts: str | None, shown: str = "") -> str:
    """The name of an item that has none but its texts: the text where it is short, else its beginning and a digest.

    `shown` begins the name of a long one, where that is not the text itself.
    """
    told = "\n".join(part or "" for part in parts).strip()
    if len(told) <= _ITEM and "\n" not in told:
        return told or "-"
    digest = sha256("\n".join(part or "" for part in parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{' '.join((shown.strip() or told)[:_ITEM].split())}... {digest}"


def asked(columns: Mapping[str, str] | None, known: tuple[str, ...], file: str) -> dict[str, str]:
    """Field of ours -> place in the log, from `columns` in either direction; no other than the known ones."""
    found = {(a if a in known else b): (b if a in known else a) for a, b in (columns or {}).items()}
    wrong = next((field for field in found if field not in known), None)
    if wrong is not None:
        raise InputError(f"{file}: columns name the field {wrong!r}, expected one of {', '.join(known)}")
    return found


def check_named(columns: Mapping[str, str], field: str, is_there: bool, there: Iterable[str], file: str) -> None:
    """Refuse a place that columns name for a field, if no row has it; the error lists the places that are there."""
    if field in columns and not is_there:
        found = ", ".join(dict.fromkeys(map(repr, there))) or "none"
        raise InputError(f"{file}: no row has {columns[field]!r}, which columns name as {field}; found: {found:.400}")


# --- Members of a zip archive, also those packed with Zstandard, unpacked under the limits of a file

_CHUNK = 1 << 20
_ZSTANDARD = 93
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, _ZSTANDARD)
_OTHERS = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "lzma"}
_WINDOW = 1 << 27  # bytes that the unpacker may look back, as in the tool `zstd`
_LOCAL = struct.Struct("<4s22xHH")  # of a member's own header: its mark, and the lengths of its name and its extra


class Archive:
    """A zip archive, which is held open until `close`."""

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
        """The bytes of a member; one that is damaged, encrypted, packed otherwise or beyond the limits is refused."""
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
