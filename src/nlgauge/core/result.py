"""The result file, which has the same JSON structure for every command (schema 1); and files written whole or not."""

from __future__ import annotations

import io
import json
import math
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, Any

from nlgauge.core.doors import made
from nlgauge.core.errors import InputError
from nlgauge.core.spec import models_of, version

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Row = Mapping[str, Any]  # one flat object of a result file, as it is read: name of a field -> value
STDOUT = "-"
NewRow = dict[str, Any]  # the same while it is made

SETTINGS = ("test", "draws", "seed", "adjust", "confidence")
FORMS = {  # ending of a file's name -> the form of a result in it
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".tsv": "tsv",
    ".csv": "csv",
    ".md": "markdown",
    ".tex": "latex",
    ".txt": "text",
}
KINDS = ("score", "align", "audit", "choose", "explain", "gate", "meta", "select", "spans", "sweep", "synth")


@dataclass(frozen=True)
class Result:
    """Rows of numbers, with the files and the metrics that they were made from.

    Attributes:
        kind: the command that made the result: one of `KINDS`, or `list`, whose rows hold no numbers of a run.
        inputs: the files that were read, each as `{"path", "sha256"}`.
        metrics: the metrics that were used, each as `{"spec", "signature", "higher_is_better", "flags"}`.
        rows: flat objects. NaN is written as null.
        notes: what a reader must know, such as counts of what was left out, flags and conventions.
        settings: how systems or metrics were compared, and what was drawn; some of `SETTINGS`.
        command: the command as typed, if one made the result.
        statistics: of an audit with a published suite: flat objects with the statistics that its authors report.
        disagreements: the segments that a metric and people rank most differently, where they were asked for.
        verdict: of a gate: PASS, FAIL or INCONCLUSIVE.
        reasons: of a gate: why, in sentences.
        items: of a gate: flat objects with the items that lost most, and their texts.
        people: of a comparison with people: how they rank the systems, and how each metric does beside them.
        raters: of the same: how far the raters agree, all of them, each with the rest, and each two.
        ceiling: of the same: raters who were left out and scored as if they were a metric, and the metrics beside them.
        worst: of scores: the segments with the worst scores by a metric, where they were asked for; see `Worst`.
    """

    kind: str
    rows: Sequence[Mapping[str, Any]]
    inputs: Sequence[Mapping[str, str]] = ()
    metrics: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = field(default_factory=tuple)
    settings: Mapping[str, Any] = field(default_factory=dict)
    command: str | None = None
    statistics: Sequence[Mapping[str, Any]] = ()
    disagreements: Sequence[Mapping[str, Any]] = ()
    verdict: str | None = None
    reasons: Sequence[str] = ()
    items: Sequence[Mapping[str, Any]] = ()
    people: Sequence[Mapping[str, Any]] = ()
    raters: Sequence[Mapping[str, Any]] = ()
    ceiling: Sequence[Mapping[str, Any]] = ()
    worst: Sequence[Mapping[str, Any]] = ()

    def as_json(self) -> dict[str, Any]:
        """The object of the result file, NaN replaced by None."""
        return {
            "schema": 1,
            "kind": self.kind,
            "version": version("nlgauge"),
            "command": self.command,
            **{name: self.settings.get(name) for name in SETTINGS},
            "inputs": list(self.inputs),
            "metrics": [{**one, **({"models": said} if (said := models_of(one)) else {})} for one in self.metrics],
            **({"verdict": self.verdict, "reasons": list(self.reasons)} if self.verdict is not None else {}),
            "rows": _without_nan(self.rows),
            **({"statistics": _without_nan(self.statistics)} if self.statistics else {}),
            "notes": list(self.notes),
            **({"disagreements": _without_nan(self.disagreements)} if self.disagreements else {}),
            **({"items": _without_nan(self.items)} if self.items else {}),
            **({"people": _without_nan(self.people)} if self.people else {}),
            **({"raters": _without_nan(self.raters)} if self.raters else {}),
            **({"ceiling": _without_nan(self.ceiling)} if self.ceiling else {}),
            **({"worst": _without_nan(self.worst)} if self.worst else {}),
        }

    def write(self, path: str | os.PathLike[str], form: str | None = None) -> None:
        """Write the result to a file, completely or not at all.

        Args:
            path: the file. Its ending names the form: `.json`, `.html` (a page), `.tsv` and `.csv` (the rows), `.md`,
                `.tex` and `.txt` (tables).
            form: `json`, `html`, `tsv`, `csv`, `markdown`, `latex` or `text`, whatever the ending.

        Raises:
            InputError: the ending is unknown, this kind of result does not have the form, or the file cannot be
                written.
        """
        form = form or _form_of(path)
        if form != "json":
            made("file", self, path, form)
            return
        with replacing(path) as file:
            json.dump(self.as_json(), file, ensure_ascii=False, indent=1, allow_nan=False)
            file.write("\n")

    def as_columns(self) -> dict[str, list[Any]]:
        """The rows as columns of one length; None where a row lacks a field."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        return {name: [row.get(name) for row in self.rows] for name in names}

    def to_frame(self, library: str | None = None) -> Any:
        """The rows as a frame of `pandas`, `polars`, `pyarrow` or `datasets`; None for pandas, or polars without it."""
        return made("frame", self.as_columns(), library)

    def to_arrow(self) -> Any:
        """The rows as a `pyarrow.Table`; NaN is null."""
        return made("arrow", self.as_columns())

    def plot(self) -> Any:
        """The page of the result with its pictures, in a frame that a notebook shows.

        Raises:
            InputError: results of this kind have no page.
        """
        return made("plot", self)

    def __str__(self) -> str:
        """The tables and notes that the command prints."""
        return str(made("text", self))

    def __repr__(self) -> str:
        specs = ", ".join(str(metric["spec"]) for metric in self.metrics)
        return f"Result({self.kind}: {len(self.rows)} rows{'; ' if specs else ''}{specs})"

    def _repr_html_(self) -> str:
        """The result as a notebook shows it."""
        return str(made("result", self))


class Outcome:
    """The outcome of a study. It is written, shown and turned into a frame as its `result()` is."""

    def result(self) -> Result:
        """The result file."""
        raise NotImplementedError

    def write(self, path: str | os.PathLike[str], form: str | None = None) -> None:
        """Write the result; see `Result.write`."""
        self.result().write(path, form)

    def to_frame(self, library: str | None = None) -> Any:
        """The rows as a frame; see `Result.to_frame`."""
        return self.result().to_frame(library)

    def to_arrow(self) -> Any:
        """The rows as a `pyarrow.Table`; see `Result.to_arrow`."""
        return self.result().to_arrow()

    def plot(self) -> Any:
        """The page with its pictures; see `Result.plot`."""
        return self.result().plot()

    def __str__(self) -> str:
        """The tables and notes that the command prints."""
        return str(self.result())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.rows)} rows)"  # type: ignore[attr-defined]

    def _repr_html_(self) -> str:
        """The result as a notebook shows it."""
        return self.result()._repr_html_()


def _form_of(path: str | os.PathLike[str]) -> str:
    """The form that the ending of a file's name stands for."""
    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower()
    if ending not in FORMS:
        raise InputError(
            f"{name}: cannot tell from the name in which form to write, expected {', '.join(FORMS)}; or name the form,"
            " such as form='json'"
        )
    return FORMS[ending]


def _without_nan(rows: Sequence[Mapping[str, Any]]) -> list[NewRow]:
    return [{k: null_if_nan(v) for k, v in row.items()} for row in rows]


def null_if_nan(value: Any) -> Any:
    """None for a NaN, the value otherwise."""
    return None if isinstance(value, float) and math.isnan(value) else value


_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|-?inf")


def harmless(cell: str) -> str:
    """A cell of a table with `'` before it if a spreadsheet would take it for a formula; numbers stay as they are."""
    return f"'{cell}" if cell[:1] in _FORMULA and not _NUMBER.fullmatch(cell) else cell


_FORMULA = frozenset("=+-@\t\r\n＝＋－＠")  # the signs that OWASP names, also of full width


# --- A file that takes its final name only when everything is written


@contextmanager
def replacing(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open a file that takes its final name only when everything is written. After an error nothing is left of it.

    A path that is not a plain file, such as a pipe or /dev/stdout, cannot be replaced and is written to directly. So is
    standard output, which `-` stands for.
    """
    path = os.fspath(path)
    check_name(path)
    if path == STDOUT:
        with _failing_in_one_line("standard output"), _standard_output(mode) as file:
            yield file
        return
    if is_special(path):
        with _failing_in_one_line(path):
            target = _Target(path, path)
        with _opened(target, mode) as file:
            yield file
        return
    final = os.path.realpath(path)  # a link stays a link: what it points to is replaced
    with _failing_in_one_line(path):
        draft = FileDraft(final)
    try:
        with _opened(_Target(draft.handle, path), mode) as file:
            yield file
        with _failing_in_one_line(path):
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(draft.path, os.stat(final).st_mode & 0o777 if os.path.exists(final) else 0o666 & ~umask)
            os.replace(draft.path, final)
    except BaseException:
        draft.discard()
        raise
    draft.release()


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse a path that cannot be written, as far as this can be known before there is anything to write.

    A file is made beside it and deleted again, so that a missing right or a full disk is known at once.
    """
    path = os.fspath(path)
    check_name(path)
    if is_special(path):
        return
    with _failing_in_one_line(path):
        draft = FileDraft(os.path.realpath(path))
        try:
            os.write(draft.handle, b"\n")
        finally:
            os.close(draft.handle)
            draft.discard()


def check_name(path: str) -> None:
    """Refuse a folder, a file in a folder that is missing, and a file that its owner made read-only."""
    if not path:
        raise InputError("'' is no name of a file, expected a file to write")
    if path == STDOUT:
        return
    if "\0" in path:
        raise InputError(f"cannot write {path!r}: no name of a file holds the character NUL; name another file")
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder, expected a file to write")
    final = os.path.realpath(path)
    folder = os.path.dirname(final)
    if not os.path.isdir(folder):
        raise InputError(f"cannot write {path}: there is no folder {folder}; make it first")
    with _failing_in_one_line(path), suppress(FileNotFoundError):
        mode = os.stat(final).st_mode
        if os.path.isfile(final) and not (mode & 0o222 and os.access(final, os.W_OK)):
            raise InputError(
                f"cannot write {path}: the file is read-only (mode {mode & 0o777:03o}); make it writable, or name"
                " another file"
            )


def is_special(path: str) -> bool:
    """Whether it is standard output, a pipe, a terminal or the like, which cannot be replaced."""
    return path == STDOUT or (os.path.exists(path) and not os.path.isfile(path))


@contextmanager
def _standard_output(mode: str) -> Iterator[IO[Any]]:
    """Standard output as a file: the same bytes as on disk, whatever the terminal's encoding is."""
    sys.stdout.flush()
    raw = getattr(sys.stdout, "buffer", None)  # a notebook has none
    if "b" in mode or raw is None:
        yield raw or sys.stdout
    else:
        text = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", newline="\n", write_through=True)
        try:
            yield text
        finally:
            text.detach()
    sys.stdout.flush()


class _Target(io.FileIO):
    """A file to write. A failure, such as a full disk, becomes a one-line error wherever and whenever it occurs."""

    def __init__(self, file: int | str, called: str) -> None:
        super().__init__(file, "w")
        self._called = called

    def write(self, data: Any) -> int:
        with _failing_in_one_line(self._called):
            return super().write(data)


def _opened(target: _Target, mode: str) -> IO[Any]:
    buffered = io.BufferedWriter(target)
    # A file name that is no UTF-8 reaches us with lone surrogates; "\\udcff" is what JSON writes for one.
    return (
        buffered
        if "b" in mode
        else io.TextIOWrapper(buffered, encoding="utf-8", errors="backslashreplace", newline="\n")
    )


@contextmanager
def _failing_in_one_line(path: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:  # the reader went away, which is its right
        raise
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


# --- Drafts: what is written beside its final name, locked while its run lives; the next run removes what was killed

_SUFFIX = ".part"
_TRIES = 10


class FileDraft:
    """A new file or folder with a name of its own beside the final one, locked until it is released.

    Drafts of the same final name that no run has locked any more are removed first: their runs were killed.

    Attributes:
        path: the path of the draft.
        handle: an open descriptor of it, which the caller closes if it is a file.
    """

    def __init__(self, final: str, is_folder: bool = False) -> None:
        clear(final)
        folder, name = os.path.split(final)

        prefix = f".{name[:40]}."
        for left in reversed(range(_TRIES)):
            if is_folder:
                self.path = tempfile.mkdtemp(prefix=prefix, suffix=_SUFFIX, dir=folder)
                self.handle = -1 if fcntl is None else os.open(self.path, os.O_RDONLY)
            else:
                self.handle, self.path = tempfile.mkstemp(prefix=prefix, suffix=_SUFFIX, dir=folder)
            if not left or fcntl is None or (_lock(self.handle) is not False and _is_there(self.handle, self.path)):
                break
            os.close(self.handle)  # another run took it for what a killed run left, before it was locked
        # The lock belongs to all copies of a descriptor: it outlives the closing of the first.
        self._held: int | None = None if fcntl is None else self.handle if is_folder else os.dup(self.handle)

    def release(self) -> None:
        """Give the lock back, after the draft was closed and has got its final name."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def discard(self) -> None:
        """Remove what was written."""
        with suppress(OSError):
            _remove(self.path)
        self.release()


def clear(final: str) -> None:
    """Remove the drafts of a final name whose runs were killed. What cannot be told or removed is left."""
    folder, name = os.path.split(final)
    pattern = re.compile(re.escape(f".{name[:40]}.") + r"[a-z0-9_]{8}" + re.escape(_SUFFIX))
    with suppress(OSError):
        for entry in filter(pattern.fullmatch, os.listdir(folder)):
            with suppress(OSError):
                path = os.path.join(folder, entry)
                handle = os.open(path, os.O_RDONLY if os.path.isdir(path) else os.O_RDWR)
                try:
                    if _lock(handle):
                        _remove(path)
                finally:
                    os.close(handle)


@contextmanager
def claimed(path: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other runs from making the same output while the block runs; they are refused."""
    folder, name = os.path.split(os.path.realpath(path))
    lock = os.path.join(folder, f".{name}.lock")
    handle = -1
    try:
        for left in reversed(range(_TRIES)):
            handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
            if _lock(handle) is False:
                os.close(handle)
                raise InputError(f"another run is making {os.fspath(path)}; wait for it, or name another output")
            if not left or _is_there(handle, lock):
                break
            os.close(handle)  # the run that had it ended meanwhile, and removed it
    except OSError:  # whoever writes there says why
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(lock)
        os.close(handle)


def _is_there(handle: int, path: str) -> bool:
    """Whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except OSError:
        return False


def _lock(handle: int) -> bool | None:
    """True if the lock is ours now, False if it is another's, None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
