"""A run in parts, from its plan to its result; a run that was killed goes on with the parts that are not done."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.io.frames import import_pyarrow, read_columns
from nlgauge.io.spans import read_span
from nlgauge.metrics.base import Metric, pieces_of
from nlgauge.metrics.comparing.plan import ComparisonOptions
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale.gather import (
    Gathered,
    digests_of_documents,
    gathered_path,
    merge,
    read_gathered,
    read_settled,
    score_alone,
    sealed_by,
    settled_path,
    write_sealed,
)
from nlgauge.scale.parts import Scorer, rows_path, sums_of, sums_path
from nlgauge.scale.plan import PLAN, POOL, ROWS, STATS, SUMS, Part, Plan, read_plan
from nlgauge.scale.total import result_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Engine = Callable[[Plan, Path, Sequence[Part]], Iterator[int]]
RESULT, _LOCK = "result.json", "lock"
_SAMPLE, _PLACES = 64, 3  # segments that a dry run scores at each of so many places
_LAST = 32  # parts over which the rate is measured


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        parts, parts_done: all parts, and those that are done.
        n, n_done: the same of segments.
        running: whether a process works on it.
        rate: segments a second, over the last parts; None if too few are done.
        passes: passes before the scores.
        pass_now: the pass that is going on, from 1; all numbers are about it. 0 if parts are scored.
    """

    parts: int
    parts_done: int
    n: int
    n_done: int
    running: bool
    rate: float | None = None
    passes: int = 0
    pass_now: int = 0

    @property
    def seconds_left(self) -> float | None:
        """About how long it will take, as fast as it is now."""
        return None if self.rate is None else (self.n - self.n_done) / self.rate


def score_in_parts(
    plan: Plan,
    folder: Path,
    engine: Engine,
    runtime: Runtime,
    comparison: ComparisonOptions | None = None,
    save_norm: str | None = None,
) -> Result:
    """Score all parts of a plan that are not done, then sum up.

    In the folder, `rows/` holds a Parquet file for each part, `plan.json` the plan and `result.json` the result.

    Args:
        plan: what is scored.
        folder: where everything goes; it is made if there is none.
        engine: scores parts, and yields the number of segments of each when it is done.
        runtime: its progress shows how far the run is.
        comparison: how systems are compared, from statistics that the parts keep; None for scores alone.
        save_norm: a file to write the scales of sums to.

    Raises:
        InputError: systems cannot be compared, the folder holds another run or other files, another process works on
            it, or a part has an error.
        MissingExtra: pyarrow, which writes the rows, is not installed.
    """
    import_pyarrow()  # before a folder is made and workers start
    comparison = comparison or ComparisonOptions()
    comparison.check(plan.summary)
    if comparison.test is not None and "item" in plan.summary.lacking:
        raise InputError(f"systems are compared item by item; segment {plan.summary.lacking['item']!r} names no item")
    with _claimed(folder):
        _take_up(plan, folder)
        sums = {part.number: sums_of(folder, part) for part in plan.parts}
        left = [part for part in plan.parts if sums[part.number] is None]
        plan = _pooled(plan, folder, engine, runtime, left)
        with runtime.progress(plan.summary.n, "segments") as advance:
            advance(sum(found.n for found in sums.values() if found is not None))
            for n in engine(plan, folder, left) if left else ():
                advance(n)
        result = result_of({folder: plan}, Scorer(plan, folder).metrics, runtime, comparison, save_norm)
        result.write(folder / RESULT, "json")
    return result


def _pooled(plan: Plan, folder: Path, engine: Engine, runtime: Runtime, left: Sequence[Part]) -> Plan:
    """The plan with what its pooled metrics take from all parts, gathered in passes.

    Args:
        plan, folder, engine, runtime: of the run.
        left: parts that are not scored yet; they need what an earlier pass kept of them.
    """
    metrics = Scorer(plan, folder).metrics
    plan = replace(plan, pools=())
    for number in range(1, plan.passes + 1):
        known = read_settled(folder, number)
        open_parts = [p for p in (plan.parts if known is None else left) if read_gathered(folder, number, p) is None]
        with runtime.progress(plan.summary.n, f"pass {number} before the scores") as advance:
            advance(plan.n_of(part for part in plan.parts if part not in open_parts))
            for n in engine(plan, folder, open_parts) if open_parts else ():
                advance(n)
        if known is None:
            known = merge(_found(folder, number, plan.parts))
            if number == 1:
                known = replace(known, documents=digests_of_documents(folder, plan.parts, metrics))
            write_sealed(settled_path(folder, number), known)
        plan = replace(plan, pools=(*plan.pools, sealed_by(settled_path(folder, number))))
    if plan.pools:
        plan.write(folder)
    return plan


def _found(folder: Path, number: int, parts: Sequence[Part]) -> Iterator[Gathered]:
    """The findings of a pass in each part."""
    for part in parts:
        found = read_gathered(folder, number, part)
        if found is None:
            raise InputError(
                f"pass {number} of {part.name} is not done, or was changed meanwhile; run the same command again"
            )
        yield found


def progress_of(folder: Path) -> Progress:
    """How far the run in a folder is.

    Raises:
        InputError: there is none.
    """
    plan = read_plan(folder)
    now = next((k for k in range(1, plan.passes + 1) if not settled_path(folder, k).exists()), 0)
    written: dict[Part, float] = {}
    for part in plan.parts:
        with suppress(FileNotFoundError):
            path = gathered_path(folder, now, part) if now else sums_path(folder, part)
            written[part] = path.stat().st_mtime
    is_running = _is_claimed(folder)
    began = (folder / _LOCK).stat().st_mtime if is_running else 0.0  # a run may have stood still before
    last = sorted((part for part in written if written[part] >= began), key=lambda part: written[part])[-_LAST:]
    seconds = written[last[-1]] - written[last[0]] if last else 0.0
    rate = plan.n_of(last[1:]) / seconds if seconds > 0 else 0.0
    told = len(plan.parts), len(written), plan.summary.n, plan.n_of(written), is_running
    return Progress(*told, rate or None, plan.passes, now)


@dataclass(frozen=True)
class Estimate:
    """The outcome of a dry run on a sample.

    Attributes:
        n: segments scored.
        seconds: for them.
        loading: seconds for models, before.
        truncated: segments of the sample with a text that a model cut.
        pieces: pieces that a model reads of each distinct text, on average; None without an encoder.
        words: words between blanks, the same way.
    """

    n: int
    seconds: float
    loading: float
    truncated: int
    pieces: float | None = None
    words: float = 0.0

    def of(self, plan: Plan, workers: int) -> float:
        """About how many seconds the whole plan takes; each pass loads its models."""
        at_once = min(workers, len(plan.parts))
        return self.loading * (1 + plan.passes) + plan.summary.n * self.seconds / self.n / at_once


def estimate(plan: Plan, metrics: Mapping[str, Metric], runtime: Runtime) -> Estimate:
    """Score a few segments from the beginning, the middle and the end, and write nothing."""
    places = sorted({len(plan.parts) * k // _PLACES for k in range(_PLACES)})
    few = [segment for place in places for segment in read_span(plan.inputs, plan.parts[place].span)[:_SAMPLE]]
    if not few:  # all of these are of systems that are left out
        few = next(filter(None, (read_span(plan.inputs, part.span) for part in plan.parts)))[:_SAMPLE]
    few = [replace(segment, system=None) for segment in few]  # some metrics look at each system, and find too few
    began = time.monotonic()
    score_alone(metrics, few if plan.passes else few[:1], runtime)
    loaded = time.monotonic()
    scores = score_alone(metrics, few, runtime)
    seconds = time.monotonic() - loaded
    cut = [found.flags["truncated"] for found in scores.values() if "truncated" in found.flags]
    truncated = max((int(flag.sum()) for flag in cut), default=0)
    texts = list({text for s in few for text in (s.hypothesis, *s.references, s.source or "")})
    pieces = next((n for m in metrics.values() if (n := pieces_of(m, texts, runtime)) is not None), None)
    words = sum(len(text.split()) for text in texts) / len(texts)
    loading = max(loaded - began - (seconds if plan.passes else 0.0), 0.0)
    return Estimate(len(few), seconds, loading, truncated, None if pieces is None else pieces / len(texts), words)


def rows_of(plan: Plan, folder: Path) -> Iterator[dict[str, Any]]:
    """The rows of all segments in order, as columns, part by part; a number that is undefined is NaN."""
    for part in plan.parts:
        yield read_columns(rows_path(folder, part))


def known_of(plan: Plan, folder: Path) -> dict[str, tuple[set[int], list[str]]]:
    """Specification -> numbers of references that segments have, and the parts of their scores."""
    found: dict[str, tuple[set[int], list[str]]] = {spec: (set(), []) for spec in plan.signatures}
    for part in plan.parts:
        sums = sums_of(folder, part)
        for spec, told in (sums.metrics if sums is not None else {}).items():
            found[spec][0].update(told.references)
            found[spec][1][:] = dict.fromkeys([*found[spec][1], *told.parts])
    return found


def _take_up(plan: Plan, folder: Path) -> None:
    """Begin a run in an empty folder, or go on with the same run."""
    if not (folder / PLAN).exists():
        others = sorted(path.name for path in folder.iterdir() if path.name != _LOCK and not path.name.startswith("."))
        if others and not _is_of(plan, folder, others):
            raise InputError(f"{folder} holds {others[0]!r} and no run; name an empty folder, or one that is not there")
        plan.write(folder)
    elif [part.digest for part in read_plan(folder).parts] != [part.digest for part in plan.parts]:
        raise InputError(
            f"{folder} holds a run of other files, metrics, sizes of parts or another version; name another folder"
        )
    for inside in (ROWS, STATS, SUMS):
        (folder / inside).mkdir(exist_ok=True)


def _is_of(plan: Plan, folder: Path, entries: Sequence[str]) -> bool:
    """Whether a folder without a plan holds this run: nothing but its files, and a part of it that is done."""
    ours = {ROWS, STATS, SUMS, POOL, RESULT}
    return {*entries} <= ours and any(sums_of(folder, part) is not None for part in plan.parts)


@contextmanager
def _claimed(folder: Path) -> Iterator[None]:
    """Make the folder, and lock out other processes while this one works on it."""
    try:
        folder.mkdir(exist_ok=True)
        lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror or error}") from None
    try:
        if fcntl is not None and not _lock(lock, fcntl.LOCK_EX):
            raise InputError(f"another process works on {folder}; wait for it (nlgauge status {folder})")
        with suppress(OSError):  # of another owner
            os.utime(folder / _LOCK)  # when this process began, see `progress_of`
        yield
    finally:
        os.close(lock)


def _is_claimed(folder: Path) -> bool:
    """Whether a process works on a run."""
    if fcntl is None:
        return False
    try:
        lock = os.open(folder / _LOCK, os.O_RDONLY)  # who may not write may ask, too
    except OSError:
        return False
    try:
        return not _lock(lock, fcntl.LOCK_SH)  # two who ask at once do not take each other for a run
    finally:
        os.close(lock)


def _lock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
