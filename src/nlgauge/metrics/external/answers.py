"""The answers of a worker, checked: one line of JSON that fits its request, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from nlgauge.metrics.external.worker import PROTOCOL

LONGEST = 1 << 22  # bytes of an answer: 256 rows with a number for each of many columns take a hundredth of it
_SAID = 600  # characters of an error that are repeated

Word = Annotated[str, msgspec.Meta(pattern=r"\A[\x21-\x7e]{1,200}\Z")]  # it enters signatures
Column = list[float | None]


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    id: str


class Failed(_Answer):
    """It went wrong, in words."""

    error: str


class Hello(_Answer):
    """Versions of Python and of packages."""

    protocol: int
    python: Word
    versions: dict[Word, Word]


class Imported(_Answer):
    """A digest of a module, and the versions of the packages that it names."""

    identity: Word
    versions: dict[Word, Word]


class Located(_Answer):
    """The identity of a model."""

    identity: Word


class Loaded(_Answer):
    """The answer that the scorer is loaded."""


class Scored(_Answer):
    """Numbers of rows.

    Attributes:
        values: a number for each row; None where it is not finite.
        parts: the same of each part.
        truncated: which rows were cut; empty where nobody counts them.
    """

    values: Column
    parts: dict[str, Column] = {}
    truncated: list[bool] = []


_KINDS: Mapping[str, type[_Answer]] = {
    "hello": Hello,
    "import": Imported,
    "locate": Located,
    "load": Loaded,
    "score": Scored,
}


class WorkerFailedError(Exception):
    """The worker is well, and says what went wrong."""


class MisfitError(Exception):
    """An answer that does not fit its request: no later one can be believed."""


def read_answer(line: bytes, request: Mapping[str, Any]) -> dict[str, Any]:
    """The content of an answer, as plain values.

    Args:
        line: the answer as it came.
        request: what was asked, with its `id`, `op` and, of `score`, `rows`.

    Raises:
        WorkerFailedError: it is an error.
        MisfitError: it is anything but an answer to this request.
    """
    if len(line) > LONGEST:
        raise MisfitError(f"a line of more than {LONGEST} bytes")
    try:
        keys = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        if request["op"] == "hello" and bytes(keys.get("protocol", b"")) != b"%d" % PROTOCOL and "error" not in keys:
            spoken = bytes(keys.get("protocol", b"none"))[:20].decode("ascii", "replace")
            raise MisfitError(f"protocol {spoken}, expected {PROTOCOL}")
        found = msgspec.json.decode(line, type=Failed if "error" in keys else _KINDS[request["op"]])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MisfitError(" ".join(f"{error}".split())[:_SAID]) from None
    if found.id != request["id"]:
        raise MisfitError("an answer to another request")
    if isinstance(found, Failed):
        raise WorkerFailedError(" ".join(found.error.split())[:_SAID])
    if isinstance(found, Scored):
        _check_lengths(found, len(request["rows"]))
    answer: dict[str, Any] = msgspec.structs.asdict(found)
    return answer


def _check_lengths(found: Scored, n: int) -> None:
    lengths = {"values": len(found.values), "truncated": len(found.truncated) or n}
    lengths |= {f"parts.{name}": len(column) for name, column in found.parts.items()}
    for name, length in lengths.items():
        if length != n:
            raise MisfitError(f"{length} {name} for {n} rows")
