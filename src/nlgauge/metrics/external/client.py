"""A worker under another Python: started, asked by lines of JSON, and its answers checked."""

from __future__ import annotations

import json
import os
import queue
import secrets
import signal
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Annotated, Any

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.metrics.external.worker import PROTOCOL

LONGEST = 1 << 22  # bytes of an answer: 256 rows with a number for each of many columns take a hundredth of it
_SAID = 600  # characters of an error that are repeated

Word = Annotated[str, msgspec.Meta(pattern=r"\A[\x21-\x7e]{1,200}\Z")]  # it enters signatures
Column = list[float | None]


# Operation -> what its answer holds besides the id of the request. `hello` and `import` tell versions of packages,
# `import` and `locate` the identity of a module or model; of `score` a number is None where it is not finite, and
# `truncated` is empty where nobody counts which rows were cut.
_VERSIONS = ("versions", dict[Word, Word])
_FIELDS: Mapping[str, list[Any]] = {
    "hello": [("protocol", int), ("python", Word), _VERSIONS],
    "import": [("identity", Word), _VERSIONS],
    "locate": [("identity", Word)],
    "load": [],
    "score": [("values", Column), ("parts", dict[str, Column], {}), ("truncated", list[bool], [])],
    "error": [("error", str)],
}
_KINDS = {
    op: msgspec.defstruct(op, [("id", str), *fields], forbid_unknown_fields=True) for op, fields in _FIELDS.items()
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
        found = msgspec.json.decode(line, type=_KINDS["error" if "error" in keys else request["op"]])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MisfitError(" ".join(f"{error}".split())[:_SAID]) from None
    answer: dict[str, Any] = msgspec.structs.asdict(found)
    if answer["id"] != request["id"]:
        raise MisfitError("an answer to another request")
    if "error" in answer:
        raise WorkerFailedError(" ".join(answer["error"].split())[:_SAID])
    if request["op"] == "score":
        n = len(request["rows"])
        lengths = {"values": len(answer["values"]), "truncated": len(answer["truncated"]) or n}
        lengths |= {f"parts.{name}": len(column) for name, column in answer["parts"].items()}
        for name, length in lengths.items():
            if length != n:
                raise MisfitError(f"{length} {name} for {n} rows")
    return answer


# --- A process of another Python that answers over JSON lines: started, timed, started again once, ended with ours

_WORKER = Path(__file__).with_name("worker.py")
_SECONDS, _SECONDS_BY = 1800.0, "NLGAUGE_WORKER_SECONDS"
_CLIENT_SAID = 300  # characters of what the process wrote to its standard error
_NAMED = 5  # segments in an error
_LAST = 2.0  # seconds in which a process that closed its output ends

_Requests = queue.SimpleQueue[bytes | None]


def program(typed: str) -> Path:
    """The program that a shell would start: a name with a folder is that file, and one without is sought in the PATH.

    A path itself cannot tell them apart: that of `./w` is `w`.
    """
    return Path(os.path.abspath(os.path.expanduser(typed)) if os.path.dirname(typed) else typed)


class Client:
    """Asks a worker, which is started when it is first asked.

    Args:
        name: what errors call it: the name of the metric.
        python: the Python that runs it.
        packages: packages whose versions are asked for.
    """

    def __init__(self, name: str, python: Path, packages: Sequence[str] = ()) -> None:
        self.name, self.python, self.packages = name, python, tuple(packages)
        self.opened: list[Mapping[str, Any]] = []  # what a worker that is started again is told first
        self._process: _Process | None = None
        self._lock = threading.RLock()

    def hello(self) -> dict[str, Any]:
        """The versions of its Python and packages, as `python` and `versions`.

        Raises:
            InputError: it is no Python, or a worker of another release answers.
        """
        return self.ask({"op": "hello", "packages": self.packages})

    def open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Ask for what a worker that is started again must be asked first: to load a model."""
        found = self.ask(request)
        self.opened.append(request)
        return found

    def ask(self, request: Mapping[str, Any], about: Sequence[str] = ()) -> dict[str, Any]:
        """The answer to a request.

        A worker that ends in the middle is started again once, and asked again.

        Args:
            request: an object for JSON with `op`.
            about: ids of the segments that it is about, for errors.

        Raises:
            InputError: the worker says what is wrong, ends twice, or does not answer in time.
        """
        with self._lock:
            try:
                return self._answered(request, about)
            except _EndedError:
                try:
                    return self._answered(request, about)
                except _EndedError as error:
                    raise InputError(f"{self.name}: the worker ended twice{_on(about)}; {error}") from None

    def close(self) -> None:
        """End the worker; the next request starts another."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _answered(self, request: Mapping[str, Any], about: Sequence[str]) -> dict[str, Any]:
        if self._process is None:
            self._process = _Process(self.name, self.python)
            for before in self.opened:
                self._answered(before, ())
        seconds = _seconds()
        # Nobody can answer before it is asked: the id of a request is drawn when it goes out.
        asked = {**request, "id": secrets.token_hex(8)}
        try:
            return read_answer(self._process.ask(json.dumps(asked), seconds), asked)
        except WorkerFailedError as error:
            raise InputError(f"{self.name}: the worker failed{_on(about)}: {error}") from None
        except BaseException as error:  # also when somebody interrupts: the next answer would be of this request
            said = self._process.said()
            self.close()
            if isinstance(error, TimeoutError):
                raise InputError(
                    f"{self.name}: the worker gave no answer in {seconds:g} s{_on(about)}, and was ended;"
                    f" {_SECONDS_BY}=N gives it N seconds; {said}"
                ) from None
            if isinstance(error, MisfitError):
                raise InputError(
                    f"{self.name}: the worker wrote what is no answer{_on(about)}, and was ended: {error}; {said}"
                ) from None
            if isinstance(error, _EndedError):
                raise _EndedError(f"{error}; {said}") from None
            raise


class _EndedError(Exception):
    """The worker is gone."""


class _Process:
    """A worker that runs."""

    def __init__(self, name: str, python: Path) -> None:
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the process)
        try:
            self.process = subprocess.Popen(
                [python, "-I", _WORKER],  # nothing of our own environment or folder
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                start_new_session=True,  # so that what it starts ends with it
            )
        except OSError as error:
            raise InputError(f"{name}: {python} cannot be run: {error.strerror}; expected a Python") from None
        self.requests: _Requests = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        exchange = (self.process, self.requests, self.answers)
        threading.Thread(target=_exchange, args=exchange, daemon=True).start()
        self.end = weakref.finalize(self, _end, self.process, self.requests)

    def ask(self, line: str, seconds: float) -> bytes:
        """One line for one line, of at most one byte more than an answer may have."""
        self.requests.put(line.encode("ascii") + b"\n")
        try:
            answer = self.answers.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None
        if not answer.endswith(b"\n") and len(answer) <= LONGEST:
            raise _EndedError(self._how())
        return answer

    def _how(self) -> str:
        try:
            code = self.process.wait(_LAST)
        except subprocess.TimeoutExpired:
            return "its standard output was closed"
        return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"

    def said(self) -> str:
        """The end of what it wrote to its standard error."""
        size = self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, size - 4 * _CLIENT_SAID))
        text = " ".join(self.errors.read().decode("utf-8", "replace").split())
        return f"it said: {text[-_CLIENT_SAID:] or 'nothing'}"


def _exchange(process: subprocess.Popen[bytes], requests: _Requests, answers: queue.SimpleQueue[bytes]) -> None:
    """Write a request and read one line, again and again; what comes unasked is left where it is, and fits no id."""
    assert process.stdin is not None  # pipes
    assert process.stdout is not None
    with suppress(OSError), process.stdin, process.stdout:
        while (request := requests.get()) is not None:
            with suppress(OSError):  # it is gone, as its answer says
                process.stdin.write(request)
                process.stdin.flush()
            answers.put(process.stdout.readline(LONGEST + 1))


def _end(process: subprocess.Popen[bytes], requests: _Requests) -> None:
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    requests.put(None)


def _seconds() -> float:
    """How long a worker may take for one answer."""
    given = os.environ.get(_SECONDS_BY, "")
    try:
        seconds = float(given or _SECONDS)
        if not 0 < seconds <= threading.TIMEOUT_MAX:
            raise ValueError
    except ValueError:
        raise InputError(f"{_SECONDS_BY} is {given!r}, expected a number of seconds above 0") from None
    return seconds


def _on(about: Sequence[str]) -> str:
    """Which segments an error is about."""
    if not about:
        return ""
    more = f" and {len(about) - _NAMED} more" if len(about) > _NAMED else ""
    return f" on segment{'s' if len(about) > 1 else ''} {', '.join(map(repr, about[:_NAMED]))}{more}"
