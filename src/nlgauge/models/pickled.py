"""Weights in torch's pickles, written again as safetensors: of a pickle only tensors are read, and nothing can start.

A pickle is a program: its usual readers import whatever it names and call it. The reader here looks nothing up and
calls nothing. It follows the few steps that torch writes for tensors, in which a dozen names stand for themselves, and
refuses every other step and name before anything is made. What comes out says where in the file the numbers of each
tensor are; they are copied from there, block by block, so that a file of any size takes little memory. No torch.
"""

from __future__ import annotations

import json
import math
import os
import pickletools
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import file_digest
from io import BytesIO
from itertools import accumulate, pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError

try:
    import fcntl
except ImportError:  # Windows, where each process works for itself
    fcntl = None  # type: ignore[assignment]

# torch's name of a kind of storage -> safetensors' name of its numbers, and their bytes
_KINDS = {
    "DoubleStorage": ("F64", 8),
    "FloatStorage": ("F32", 4),
    "HalfStorage": ("F16", 2),
    "BFloat16Storage": ("BF16", 2),
    "LongStorage": ("I64", 8),
    "IntStorage": ("I32", 4),
    "ShortStorage": ("I16", 2),
    "CharStorage": ("I8", 1),
    "ByteStorage": ("U8", 1),
    "BoolStorage": ("BOOL", 1),
}
_DTYPES = "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool double float half long int short"
_NAMES = frozenset(
    [
        "collections.OrderedDict",
        "torch.Size",
        "torch._utils._rebuild_parameter",
        "torch._utils._rebuild_tensor",
        "torch._utils._rebuild_tensor_v2",
        *(f"torch.{kind}" for kind in _KINDS),
        *(f"torch.{dtype}" for dtype in _DTYPES.split()),
    ]
)
_MOST_BYTES = 1 << 24  # of a pickle beside its storages, which has some hundred bytes a tensor
_MOST_STEPS = 2_000_000
_MOST_SIDES = 64  # of a tensor, as in torch
_LARGEST_KEY = 1 << 31
_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001  # the first two objects of files before torch 1.6
_ZIP, _OLD = b"PK\x03\x04", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_BROKEN = (
    zipfile.BadZipFile, ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, NotImplementedError,
    RuntimeError, TypeError, ValueError, struct.error,
)  # fmt: skip
_BLOCK = 1 << 22
INDEX = "pytorch_model.bin.index.json"
TIED = "tied"  # in the metadata: name -> name of the tensor that is the same, as JSON


class _Refused(Exception):
    """A pickle that holds more than tensors; the text says what."""


@dataclass(frozen=True)
class _Name:
    """A name of `_NAMES`, which stands for itself."""

    name: str


@dataclass(frozen=True)
class _Storage:
    """Numbers in a row: `numel` of a kind, called `key`."""

    key: str
    kind: str
    numel: int


@dataclass(frozen=True)
class Tensor:
    """Where the numbers of a tensor are.

    Attributes:
        storage: the storage that they are in.
        offset: its first number there.
        shape, stride: as torch has them, in numbers.
    """

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]

    @property
    def dtype(self) -> str:
        """The kind of its numbers, as safetensors calls it."""
        return _KINDS[self.storage.kind][0]

    @property
    def nbytes(self) -> int:
        """Its size, once it is written."""
        return math.prod(self.shape) * _KINDS[self.storage.kind][1]

    @property
    def is_contiguous(self) -> bool:
        """Whether its numbers are one run of the storage."""
        step = 1
        for size, stride in zip(reversed(self.shape), reversed(self.stride), strict=True):
            if size > 1 and stride != step:
                return False
            step *= size
        return True


@dataclass(frozen=True)
class Pickled:
    """The tensors of a file.

    Attributes:
        path: the file.
        tensors: name -> where it is; tied tensors are equal.
        places: storage -> its first byte in the file.
    """

    path: Path
    tensors: Mapping[str, Tensor]
    places: Mapping[str, int]


def read(path: Path) -> Pickled:
    """Find the tensors of a file that `torch.save` wrote: a zip archive, or the older row of pickles.

    Args:
        path: the file: tensors by name, or a checkpoint that has them under `state_dict`.

    Raises:
        InputError: it cannot be read, is damaged, or holds anything but tensors and plain values.
    """
    try:
        with path.open("rb") as file:
            start, size = file.read(len(_OLD)), os.fstat(file.fileno()).st_size
            if start.startswith(_ZIP):
                found, places = _of_archive(file, size)
            elif start == _OLD:
                found, places = _of_row(file, size)
            else:
                raise _Refused("is no file of torch.save")
        tensors = _named(found)
        if sum(tensor.nbytes for tensor in set(tensors.values())) > 2 * size:
            raise _Refused("holds tensors that overlap, of more bytes than the file has twice")
        return Pickled(path, tensors, places)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except _Refused as refused:
        raise InputError(
            f"{path} {refused}; expected tensors by name, which are all that is read of a pickle"
        ) from None
    except _BROKEN as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"{path} is damaged ({reason[:120]}); fetch or copy it again") from None


def _named(found: Any) -> dict[str, Tensor]:
    """The tensors of a state, or of a checkpoint that holds one."""
    for state in (found, found.get("state_dict") if isinstance(found, dict) else None):
        if isinstance(state, dict):
            tensors = {k: v for k, v in state.items() if isinstance(k, str) and isinstance(v, Tensor)}
            if tensors:
                return tensors
    raise _Refused("holds no tensors by name")


# --- The two forms of a file: where the pickle is, and where the storages are


def _of_archive(file: IO[bytes], size: int) -> tuple[Any, dict[str, int]]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
    named = {member.filename: member for member in members}
    if len(named) < len(members):
        raise ValueError("two members of one name")
    top = [name.split("/")[0] for name in named if name.count("/") == 1 and name.endswith("/data.pkl")]
    if len(top) != 1:
        raise _Refused("has no data.pkl, as an archive of torch.save has")

    def place(member: zipfile.ZipInfo) -> int:
        """Where the bytes of a member begin."""
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1 or member.file_size < 0:
            raise _Refused("has packed members, which torch.save never writes")
        file.seek(member.header_offset)
        header = file.read(30)
        if len(header) < 30 or not header.startswith(_ZIP):
            raise ValueError("a member is not where the archive says")
        at = int(member.header_offset + 30 + sum(struct.unpack("<HH", header[26:])))
        if member.file_size != member.compress_size or at + member.file_size > size:
            raise ValueError("a member ends behind the file")
        return at

    def content(name: str, most: int) -> bytes:
        member = named[f"{top[0]}/{name}"]
        if member.file_size > most:
            raise ValueError(f"{name} has {member.file_size} bytes, at most {most} are read")
        file.seek(place(member))
        return file.read(member.file_size)

    if f"{top[0]}/byteorder" in named and content("byteorder", 16) != b"little":
        raise _Refused("has numbers with their first byte last")
    stored: dict[str, _Storage] = {}
    found = _Machine(stored).run(BytesIO(content("data.pkl", _MOST_BYTES)))
    places = {}
    for key, storage in stored.items():
        member = named[f"{top[0]}/data/{key}"]
        if member.file_size != storage.numel * _KINDS[storage.kind][1]:
            raise ValueError(f"storage {key} has {member.file_size} bytes, not {storage.numel} numbers")
        places[key] = place(member)
    return found, places


def _of_row(file: IO[bytes], size: int) -> tuple[Any, dict[str, int]]:
    file.seek(0)
    head = BytesIO(file.read(_MOST_BYTES))
    stored: dict[str, _Storage] = {}
    magic, protocol, machine = (_Machine({}).run(head) for _ in range(3))
    if magic != _MAGIC or protocol != _PROTOCOL or not isinstance(machine, dict):
        raise _Refused("is no file of torch.save")
    if machine.get("little_endian") is not True:
        raise _Refused("has numbers with their first byte last")
    found = _Machine(stored).run(head)
    keys = _Machine({}).run(head)
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys) or sorted(keys) != sorted(stored):
        raise ValueError("its list of storages is not that of its tensors")
    at, places = head.tell(), {}
    for key in keys:
        file.seek(at)
        (numel,) = struct.unpack("<q", file.read(8))
        if numel != stored[key].numel:
            raise ValueError(f"storage {key} has {numel} numbers, not {stored[key].numel}")
        places[key] = at + 8
        at += 8 + numel * _KINDS[stored[key].kind][1]
        if at > size:
            raise ValueError("a storage ends behind the file")
    return found, places


# --- A pickle, followed step by step. Nothing is imported, called or made but plain values and `Tensor`s

# Of the first protocol, whose texts have to be taken apart, only whole numbers: Python 2 wrote long ones so.
_VALUES = frozenset(
    "INT BININT BININT1 BININT2 LONG1 LONG4 BINFLOAT BINSTRING SHORT_BINSTRING BINUNICODE SHORT_BINUNICODE"
    " BINUNICODE8 NONE".split()
)
_KEPT, _RECALLED = frozenset(["BINPUT", "LONG_BINPUT"]), frozenset(["BINGET", "LONG_BINGET"])
_TUPLES = {"EMPTY_TUPLE": 0, "TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class _Machine:
    """A stack, a memory and the steps that change them.

    Args:
        stored: where the storages that the pickle names are put, by key.
    """

    def __init__(self, stored: dict[str, _Storage]) -> None:
        self.stored = stored
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self, file: IO[bytes]) -> Any:
        """The value of one pickle; the file is behind it afterwards."""
        for count, (step, value, _) in enumerate(pickletools.genops(file)):
            if count > _MOST_STEPS:
                raise _Refused(f"has a pickle of over {_MOST_STEPS} steps")
            if step.name == "STOP":
                return self.stack.pop()
            self._take(step.name, value)
        raise EOFError("a pickle without an end")

    def _take(self, step: str, value: Any) -> None:
        push = self.stack.append
        if step in _VALUES:
            push(value)
        elif step in ("NEWTRUE", "NEWFALSE"):
            push(step == "NEWTRUE")
        elif step in _KEPT:
            self.memo[value] = self.stack[-1]
        elif step == "MEMOIZE":
            self.memo[len(self.memo)] = self.stack[-1]
        elif step in _RECALLED:
            push(self.memo[value])
        elif step == "MARK":
            self.marks.append(len(self.stack))
        elif step in _TUPLES:
            push(tuple(self._last(_TUPLES[step])))
        elif step == "TUPLE":
            push(tuple(self._marked()))
        elif step in ("EMPTY_LIST", "EMPTY_DICT"):
            push([] if step == "EMPTY_LIST" else {})
        elif step in ("APPEND", "APPENDS"):
            more = self._last(1) if step == "APPEND" else self._marked()
            if not isinstance(self.stack[-1], list):
                raise TypeError("an entry of what is no list")
            self.stack[-1].extend(more)
        elif step in ("SETITEM", "SETITEMS"):
            more = self._last(2) if step == "SETITEM" else self._marked()
            _put(self.stack[-1], more)
        elif step == "GLOBAL":
            push(_known(value.replace(" ", ".", 1)))
        elif step == "STACK_GLOBAL":
            push(_known(".".join(self._last(2))))
        elif step == "BINPERSID":
            push(self._storage(self.stack.pop()))
        elif step == "REDUCE":
            name, given = self._last(2)
            push(_made(name, given))
        elif step == "BUILD":  # an OrderedDict's own attributes: torch keeps the versions of modules there
            self.stack.pop()
            if not isinstance(self.stack[-1], dict):
                raise _Refused("sets attributes of an object")
        elif step not in ("PROTO", "FRAME"):
            raise _Refused(f"holds a pickle with the step {step}")

    def _last(self, number: int) -> list[Any]:
        low = len(self.stack) - number
        if low < (self.marks[-1] if self.marks else 0):
            raise IndexError("a pickle that takes more than it has")
        taken = self.stack[low:]
        del self.stack[low:]
        return taken

    def _marked(self) -> list[Any]:
        low = self.marks.pop()
        taken = self.stack[low:]
        del self.stack[low:]
        return taken

    def _storage(self, said: Any) -> _Storage:
        """The storage that a persistent id names, as torch writes it."""
        if not isinstance(said, tuple) or len(said) > _MOST_SIDES:
            raise TypeError("a storage that is no short tuple")
        word, kind, key, _, numel, *view = said
        if word != "storage" or not isinstance(kind, _Name) or kind.name.removeprefix("torch.") not in _KINDS:
            raise _Refused("has a storage of a kind that is not read")
        if not isinstance(key, str) or not _is_count(numel):
            raise TypeError("a storage without a name or a size")
        whole = _Storage(key, kind.name.removeprefix("torch."), numel)
        if self.stored.setdefault(key, whole) != whole:
            raise ValueError(f"storage {key} has two sizes or kinds")
        if any(one is not None for one in view):
            raise _Refused("has parts of storages, as torch before 0.4 wrote them")
        return whole


def _known(name: str) -> _Name:
    if name not in _NAMES:
        raise _Refused(f"names {name[:120]!r}, which is no tensor")
    return _Name(name)


def _made(name: Any, given: Any) -> Any:
    """What torch would make by calling a name; only what tensors are made of can be named."""
    if not isinstance(name, _Name) or not isinstance(given, tuple):
        raise _Refused("calls what is not a name")
    match name.name.rpartition(".")[2]:
        case "OrderedDict":
            made: dict[Any, Any] = {}
            if given:
                for key, value in given[0]:
                    _put(made, (key, value))
                given[0].clear()  # a list that were read again and again would take time and memory without end
            return made
        case "Size" if isinstance(given[0], tuple):
            return given[0]
        case "_rebuild_parameter" if isinstance(given[0], Tensor):
            return given[0]
        case "_rebuild_tensor" | "_rebuild_tensor_v2":
            return _tensor(*given[:4])
    raise _Refused(f"calls {name.name}")


def _put(target: Any, pairs: Iterable[Any]) -> None:
    """Put keys and values, in turn, into a dictionary."""
    given = list(pairs)
    if not isinstance(target, dict) or len(given) % 2:
        raise TypeError("entries of what is no dictionary")
    for key, value in zip(given[::2], given[1::2], strict=True):
        # Other keys could be made so that they collide, or are too deep to be hashed.
        if not (isinstance(key, str) or (isinstance(key, int) and abs(key) < _LARGEST_KEY)):
            raise _Refused(f"has a dictionary with a key of type {type(key).__name__}")
        target[key] = value


def _tensor(storage: Any, offset: Any, shape: Any, stride: Any) -> Tensor:
    if not isinstance(storage, _Storage) or not isinstance(shape, tuple) or not isinstance(stride, tuple):
        raise TypeError("a tensor without a storage or a shape")
    if len(shape) != len(stride) or len(shape) > _MOST_SIDES or not all(map(_is_count, (offset, *shape, *stride))):
        raise ValueError("a tensor whose shape is no row of numbers")
    count = math.prod(shape)
    last = offset + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))
    if count and (count > storage.numel or last >= storage.numel):
        raise ValueError(f"a tensor of shape {shape} in {storage.numel} numbers")
    return Tensor(storage, offset, shape, stride)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62


# --- The same tensors as safetensors


def convert(sources: Mapping[str, Path], target: Path, origin: Mapping[str, str]) -> None:
    """Write the tensors of a model's files as safetensors with an index where there are several; the bytes are stable.

    Args:
        sources: name of a file to write -> the file that its tensors are in.
        target: a folder that is there.
        origin: where these files came from, for the metadata of each.

    Raises:
        InputError: a file cannot be read or is not only tensors.
        OSError: nothing can be written.
    """
    where: dict[str, str] = {}
    for name, source in sources.items():
        found = read(source)
        tensors, tied = _untied(found.tensors)
        parts = [part(name, found, tensor) for name, tensor in tensors.items()]
        told = {**origin, "file": source.name, "sha256": digest(source), TIED: json.dumps(tied, sort_keys=True)}
        write(target / name, parts, told)
        where |= dict.fromkeys(found.tensors, name)
    if len(sources) > 1:
        index = {"metadata": dict(origin), "weight_map": dict(sorted(where.items()))}
        (target / "model.safetensors.index.json").write_text(json.dumps(index, indent=1), encoding="utf-8")


def sources_of(folder: Path) -> dict[str, Path]:
    """Name of a file of safetensors -> the pickle in a folder that it is made of; empty if there is none.

    Raises:
        InputError: the index of shards cannot be read, or names what is no file of this folder.
    """
    if (folder / INDEX).is_file():
        try:
            shards = json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].values()
            names = sorted({str(shard) for shard in shards})
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise InputError(f"{folder / INDEX} is no index of shards; fetch or copy it again") from None
        for name in names:
            if name != os.path.basename(name) or not (folder / name).is_file():
                raise InputError(f"{folder / INDEX} names {name[:120]!r}, which is no file beside it; fetch it again")
        total = len(names)
        return {f"model-{n:05}-of-{total:05}.safetensors": folder / name for n, name in enumerate(names, 1)}
    single = folder / "pytorch_model.bin"
    return {"model.safetensors": single} if single.is_file() else {}


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _untied(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors without those that are another one, too, and name -> the other's name of these."""
    first: dict[Tensor, str] = {}
    tied = {name: kept for name, tensor in tensors.items() if (kept := first.setdefault(tensor, name)) != name}
    return {name: tensor for name, tensor in tensors.items() if name not in tied}, tied


class Part(NamedTuple):
    """A tensor to write: its name, its kind as safetensors has it, its shape, the bytes of a number, and its bytes."""

    name: str
    kind: str
    shape: tuple[int, ...]
    width: int
    blocks: Callable[[], Iterable[bytes]]

    @property
    def nbytes(self) -> int:
        """Its size."""
        return math.prod(self.shape) * self.width


def part(name: str, found: Pickled, tensor: Tensor) -> Part:
    """A tensor of a file, to be written under a name."""
    return Part(name, tensor.dtype, tensor.shape, _width(tensor), partial(_blocks, found, tensor))


def part_of(name: str, values: npt.NDArray[np.float32]) -> Part:
    """An array of float32, to be written under a name."""
    return Part(name, "F32", values.shape, 4, lambda: [np.ascontiguousarray(values).tobytes()])


def values(found: Pickled, name: str) -> npt.NDArray[np.float64]:
    """The numbers of a small tensor of float32, for what is computed of them."""
    tensor = found.tensors[name]
    if tensor.dtype != "F32":
        raise InputError(f"{found.path}: {name} holds {tensor.dtype}, expected F32")
    return np.frombuffer(b"".join(_blocks(found, tensor)), "<f4").reshape(tensor.shape).astype(np.float64)


def write(target: Path, parts: Iterable[Part], facts: Mapping[str, str]) -> None:
    """Write a file of safetensors, tensor by tensor; the same parts give the same bytes.

    Raises:
        InputError: a file that parts are in is cut off, or holds tensors that overlap.
    """
    # widest numbers first, so that each tensor begins at a multiple of its numbers' size
    order = sorted(parts, key=lambda one: (-one.width, one.name))
    ends = list(accumulate((one.nbytes for one in order), initial=0))
    header: dict[str, Any] = {
        one.name: {"dtype": one.kind, "shape": one.shape, "data_offsets": span}
        for one, span in zip(order, pairwise(ends), strict=True)
    }
    # transformers reads nothing without the format
    said = json.dumps({"__metadata__": {"format": "pt", **facts}, **header}, separators=(",", ":")).encode()
    said += b" " * (-len(said) % 8)
    with target.open("wb") as file:
        file.write(struct.pack("<Q", len(said)) + said)
        for one in order:
            for block in one.blocks():
                file.write(block)
        file.flush()
        os.fsync(file.fileno())


def _width(tensor: Tensor) -> int:
    return _KINDS[tensor.storage.kind][1]


def _blocks(found: Pickled, tensor: Tensor) -> Iterator[bytes]:
    """The bytes of a tensor, in its order."""
    width, place = _width(tensor), found.places[tensor.storage.key]
    with found.path.open("rb") as source:
        if tensor.is_contiguous:
            source.seek(place + width * tensor.offset)
            left = tensor.nbytes
            while left:
                block = source.read(min(_BLOCK, left))
                if not block:
                    raise InputError(f"{found.path} was cut off while it was read; fetch or copy it again")
                left -= len(block)
                yield block
            return
        whole = np.memmap(source, f"V{width}", "r", place, (tensor.storage.numel,))
        steps = tuple(width * step for step in tensor.stride)
        yield np.lib.stride_tricks.as_strided(whole[tensor.offset :], tensor.shape, steps, writeable=False).tobytes()


# --- A folder with the same model in safetensors, made once

_BESIDE = (".json", ".txt", ".model", ".spm")


def converted(folder: Path, target: Path, origin: Mapping[str, str]) -> Path:
    """The folder of a model whose weights are pickles, with safetensors in their place; it is made once.

    Args:
        folder: the model as its authors wrote it.
        target: where the other folder is, or comes to.
        origin: where the files came from, for the metadata of the weights.

    Raises:
        InputError: the weights cannot be read, or nothing can be written.
    """

    small = [path for path in sorted(folder.iterdir()) if path.suffix in _BESIDE and path.is_file()]
    small = [path for path in small if path.name != INDEX]

    def make(beside: Path) -> None:
        convert(sources_of(folder), beside, origin)
        for path in small:
            shutil.copyfile(path, beside / path.name)

    made_whole(target, [path.name for path in small], make)  # one made before the tokenizer came is made anew
    return target


def made_whole(target: Path, known_by: Iterable[str], make: Callable[[Path], None]) -> None:
    """Make a folder beside and rename it, so that it is whole or not there; once.

    Args:
        target: the folder.
        known_by: files by which one that is there is known.
        make: function that fills a folder.

    Raises:
        InputError: it cannot be written.
    """

    def is_made() -> bool:
        return all((target / name).is_file() for name in known_by)

    if is_made():
        return
    try:
        with alone(target):
            if is_made():  # another process may have made it meanwhile
                return
            with tempfile.TemporaryDirectory(".part", f".{target.name}.", target.parent) as place:
                beside = Path(place, "made")
                beside.mkdir()
                make(beside)
                shutil.rmtree(target, ignore_errors=True)
                os.replace(beside, target)
    except OSError as error:
        raise InputError(
            f"weights are written again as safetensors, but {target} cannot be made ({error}); is there room?"
            " NLGAUGE_MODELS names another folder"
        ) from None


@contextmanager
def alone(target: Path) -> Iterator[None]:
    """One process at a time makes or deletes a folder; one that is killed gives the lock back, and what it left goes.

    Raises:
        OSError: the lock cannot be written.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    # through no link, and without waiting for a pipe
    flags = os.O_CREAT | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(target.parent / f".{target.name}.lock", flags, 0o666), "wb") as lock:
        with suppress(OSError):  # a network drive may have no locks: there each process works for itself
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
                for left in target.parent.glob(f".{target.name}.*.part"):  # of runs that were killed
                    shutil.rmtree(left, ignore_errors=True)
        yield
