"""A run in parts, from its plan to its result; a run that was killed goes on with the parts that are not done."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.core.signature import signature_of
from nlgauge.io.spans import read_span
from nlgauge.metrics.base import Metric
from nlgauge.metrics.guards.counting import GuardCounts, beside, summed
from nlgauge.metrics.job import ComparisonOptions, SourceScores
from nlgauge.metrics.languages import UnreadScripts
from nlgauge.metrics.run import score_segments
from nlgauge.metrics.totals import Totals
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale.parts import Scorer, kept, sums_of, sums_path
from nlgauge.scale.plan import PLAN, ROWS, STATS, SUMS, Part, Plan, read_plan

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Engine = Callable[[Plan, Path, Sequence[Part]], Iterator[int]]
RESULT, _LOCK = "result.json", "lock"
_SAMPLE, _PLACES = 64, 3  # segments that a dry run scores at each of so many places


@dataclass(frozen=True)
class Progress:
    """How far a run is: its parts and segments, those that are done, and whether a process works on it."""

    parts: int
    parts_done: int
    n: int
    n_done: int
    running: bool


def score_in_parts(
    plan: Plan, folder: Path, engine: Engine, runtime: Runtime, comparison: ComparisonOptions | None = None
) -> Result:
    """Score all parts of a plan that are not done, then sum up.

    In the folder, `rows/` holds a Parquet file for each part, `plan.json` the plan and `result.json` the result.

    Args:
        plan: what is scored.
        folder: where everything goes; it is made if there is none.
        engine: scores parts, and yields the number of segments of each when it is done.
        runtime: its progress shows how far the run is.
        comparison: how systems are compared, from statistics that the parts keep; None for scores alone.

    Raises:
        InputError: systems cannot be compared, the folder holds another run or other files, another process works on
            it, or a part has an error.
    """
    comparison = comparison or ComparisonOptions()
    comparison.check(plan.summary)
    if comparison.test is not None and "item" in plan.summary.lacking:
        raise InputError(f"systems are compared item by item; segment {plan.summary.lacking['item']!r} names no item")
    with _claimed(folder):
        _take_up(plan, folder)
        sums = {part.number: sums_of(folder, part) for part in plan.parts}
        left = [part for part in plan.parts if sums[part.number] is None]
        with runtime.progress(plan.summary.n, "segments") as advance:
            advance(sum(found["n"] for found in sums.values() if found is not None))
            for n in engine(plan, folder, left) if left else ():
                advance(n)
        result = _summed(plan, folder, runtime, comparison)
        result.write(folder / RESULT, "json")
    return result


def progress_of(folder: Path) -> Progress:
    """How far the run in a folder is.

    Raises:
        InputError: there is none.
    """
    plan = read_plan(folder)
    done = [part for part in plan.parts if sums_path(folder, part).exists()]
    systems = plan.summary.n // max(1, sum(part.span.rows for part in plan.parts))
    n_done = systems * sum(part.span.rows for part in done)
    return Progress(len(plan.parts), len(done), plan.summary.n, n_done, _is_claimed(folder))


@dataclass(frozen=True)
class Estimate:
    """What a dry run found: segments scored, seconds for them and for loading, and how many texts were cut."""

    n: int
    seconds: float
    loading: float
    truncated: int

    def of(self, plan: Plan, workers: int) -> float:
        """About how many seconds the whole plan takes."""
        return self.loading + plan.summary.n * self.seconds / self.n / workers


def estimate(plan: Plan, metrics: Mapping[str, Metric], runtime: Runtime) -> Estimate:
    """Score a few segments from the beginning, the middle and the end, and write nothing."""
    few = [
        segment
        for place in sorted({len(plan.parts) * k // _PLACES for k in range(_PLACES)})
        for segment in read_span(plan.inputs, plan.parts[place].span)[:_SAMPLE]
    ]
    began = time.monotonic()
    score_segments(metrics, few[:1], runtime)
    loaded = time.monotonic()
    scores = score_segments(metrics, few, runtime)
    cut = [found.flags["truncated"] for found in scores.values() if "truncated" in found.flags]
    truncated = max((int(flag.sum()) for flag in cut), default=0)
    return Estimate(len(few), time.monotonic() - loaded, loaded - began, truncated)


def _summed(plan: Plan, folder: Path, runtime: Runtime, comparison: ComparisonOptions) -> Result:
    """The result of a run all of whose parts are done."""
    scorer = Scorer(plan, folder)
    runtime = replace(runtime, cache=None)
    totals = {spec: Totals(comparison.by_group) for spec in plan.signatures}
    like = score_segments(scorer.metrics, [], runtime)
    for part in plan.parts:
        sums = sums_of(folder, part)
        if sums is None:
            raise InputError(f"{part.name} is not done, or was changed meanwhile; run the same command again")
        for spec, total in totals.items():
            total.take(sums["metrics"][spec], like[spec])
        if comparison.resamples:
            for spec, rows in kept(folder, part, sums, like, paired=comparison.test is not None):
                totals[spec].keep_rows(*rows)
    signatures = {spec: signature_of(metric, runtime) for spec, metric in scorer.metrics.items()}
    nothing = UnreadScripts({}), GuardCounts()  # the plan's notes say what these find
    found = SourceScores(scorer.metrics, signatures, totals, plan.summary, comparison, *nothing).result()
    counts = {(group, system): counted for group, system, counted in plan.guards}
    return replace(found, rows=beside(found.rows, summed(counts, comparison.by_group)))


def _take_up(plan: Plan, folder: Path) -> None:
    """Begin a run in an empty folder, or go on with the same run."""
    if not (folder / PLAN).exists():
        others = sorted(path.name for path in folder.iterdir() if path.name != _LOCK and not path.name.startswith("."))
        if others:
            raise InputError(f"{folder} holds {others[0]!r} and no run; name an empty folder, or one that is not there")
        plan.write(folder)
    elif [part.digest for part in read_plan(folder).parts] != [part.digest for part in plan.parts]:
        raise InputError(
            f"{folder} holds a run of other files, metrics, sizes of parts or another version; name another folder"
        )
    for inside in (ROWS, STATS, SUMS):
        (folder / inside).mkdir(exist_ok=True)


@contextmanager
def _claimed(folder: Path) -> Iterator[None]:
    """Make the folder, and lock out other processes while this one works on it."""
    try:
        folder.mkdir(exist_ok=True)
        lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror or error}") from None
    try:
        if fcntl is not None and not _lock(lock):
            raise InputError(f"another process works on {folder}; wait for it (nlgauge status {folder})")
        yield
    finally:
        os.close(lock)


def _is_claimed(folder: Path) -> bool:
    """Whether a process works on a run."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        return fcntl is not None and not _lock(lock)
    finally:
        os.close(lock)


def _lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
