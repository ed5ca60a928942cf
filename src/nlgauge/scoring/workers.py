"""A run in parts from its plan to its result: its engines, and what the parts add up to."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from lzma import LZMAError
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from nlgauge.core.arrays import Counts
from nlgauge.core.errors import InputError, MissingExtra, NlgaugeError
from nlgauge.core.metric import BaseMetric, said, signature_of
from nlgauge.core.result import Result
from nlgauge.core.scores import add, mean_of_defined
from nlgauge.core.spec import with_digest
from nlgauge.io.frames import import_pyarrow, read_columns
from nlgauge.io.parallel import system_names
from nlgauge.io.segments import Summary
from nlgauge.io.spans import read_span
from nlgauge.metrics.guards import summed
from nlgauge.metrics.run import grouped_notes, score_segments
from nlgauge.metrics.wrapped import save_bounds
from nlgauge.runtime.pool import Unsettled
from nlgauge.runtime.runtime import Runtime, silent
from nlgauge.scoring.compare import ComparisonOptions, Totals
from nlgauge.scoring.job import SourceScores
from nlgauge.scoring.looks import Looking, beside
from nlgauge.scoring.parts import (
    PLAN,
    POOL,
    ROWS,
    STATS,
    SUMS,
    Gathered,
    Part,
    Plan,
    Recorded,
    Scorer,
    digests_of_documents,
    gathered_path,
    keep_rows,
    merge,
    metrics_of,
    read_gathered,
    read_plan,
    read_settled,
    rows_path,
    score_alone,
    sealed_by,
    segment_digests,
    settled_path,
    sums_of,
    sums_path,
    write_sealed,
)

# --- The result of runs in parts: what their parts add up to, of one run or of several over different files


Runs = Mapping[Path, Plan]
# What reading and adding up may meet in arrays, tables and numbers that no run writes.
_ODD = (
    ArithmeticError, AttributeError, BadZipFile, EOFError, LookupError, LZMAError, MemoryError, OSError, RuntimeError,
    TypeError, Unsettled, ValueError, zlib.error,
)  # fmt: skip
_HELD = 4_000_000  # segments of all runs that are compared; of more, those whose digests a number divides


def result_of(
    runs: Runs,
    metrics: Mapping[str, BaseMetric | Recorded],
    runtime: Runtime,
    comparison: ComparisonOptions | None = None,
    save_norm: str | None = None,
) -> Result:
    """The result of runs all of whose parts are done.

    Args:
        runs: folder -> plan, with the same metrics in the same order.
        metrics: specification -> metric as it was typed, or what stands for it where only a folder names it.
        comparison: how systems are compared; None for scores alone.

    Raises:
        InputError: a part is not done, or its files are not those that were written.
    """
    comparison = comparison or ComparisonOptions()
    folder, plan = next(iter(runs.items()))
    scorer = Scorer(plan, folder)
    runtime = replace(runtime, cache=None, pool=scorer.pool(None))
    totals = {spec: Totals(comparison.by_group) for spec in plan.signatures}
    made = {spec: metric for spec, metric in metrics.items() if not isinstance(metric, Recorded)}
    recorded = {spec: metric.score([], runtime) for spec, metric in metrics.items() if isinstance(metric, Recorded)}
    like = {**score_segments(made, [], runtime), **recorded}
    if save_norm is not None:
        save_bounds(save_norm, like.values())
    for folder, part in ((folder, part) for folder, plan in runs.items() for part in plan.parts):
        sums = sums_of(folder, part)
        if sums is None:
            raise InputError(
                f"{part.name} is not done, or was changed meanwhile; run the same command again (folder {folder})"
            )
        for spec, total in totals.items():
            own = sums.metrics[spec]
            if spec in recorded and not own.is_mean and like[spec].finish is mean_of_defined:
                raise InputError(
                    f"{spec} adds up by a rule of its own, which a folder cannot name; run the command that scored"
                    f" {folder} again, which scores nothing twice"
                )
            own.add_to(total, like[spec])
        if comparison.resamples:
            keep_rows(folder, part, sums, like, totals, paired=comparison.test is not None)
    signatures = {
        spec: metric.signature if isinstance(metric, Recorded) else signature_of(metric, runtime)
        for spec, metric in metrics.items()
    }
    documents = scorer.settled.documents.items()
    signatures |= {spec: with_digest(signatures[spec], digest) for spec, digest in documents}
    nothing = Looking()  # the plans' notes say what looks found
    summary = _summary(runs)
    together = "groups are counted together in parts, and each by itself without --engine"
    left = grouped_notes(metrics, len(summary.groups), together) if comparison.by_group else []
    found = SourceScores(metrics, signatures, totals, summary, comparison, nothing, left).result()
    counts: dict[tuple[str | None, str | None], Mapping[str, int]] = {}
    for group, system, counted in chain.from_iterable(plan.guards for plan in runs.values()):
        counts[group, system] = add(counts.get((group, system), {}), counted)
    return replace(found, rows=beside(found.rows, summed(counts, comparison.by_group)))


def total(folders: Sequence[Path], comparison: ComparisonOptions | None = None) -> Result:
    """The result of several runs over different files, as of one run over all of them.

    Args:
        folders: of the runs, all of which are done.
        comparison: intervals and groups. Systems are not tested: items of two runs may have one name.

    Raises:
        InputError: a folder holds no run, a run is not done, two runs have other metrics or count a system of the
            same files, or a metric depends on all segments of a run.
    """
    with _as_written(folders):
        return _total(folders, comparison)


@contextmanager
def _as_written(folders: Sequence[Path]) -> Iterator[None]:
    """Where digests fit and the content does not, a file is damaged, or made by somebody: one line says so."""
    try:
        with np.errstate(over="raise", divide="raise"):  # sums of scores are no such numbers
            yield
    except NlgaugeError:
        raise
    except _ODD as error:
        where = ", ".join(map(str, folders))
        reason = (str(error).strip() or "no reason given").splitlines()[0]
        raise InputError(
            f"{where}: a file is not what a run writes ({type(error).__name__}: {reason:.120}); score into another"
            " folder"
        ) from None


def _total(folders: Sequence[Path], comparison: ComparisonOptions | None) -> Result:
    """The same, of folders that are what a run writes."""
    runs: dict[Path, Plan] = {}
    known: dict[tuple[object, ...], Path] = {}  # files of a system -> the folder of their run
    for folder in folders:
        plan = runs[folder] = read_plan(folder)
        first = next(iter(runs))
        if [*plan.signatures.items()] != [*runs[first].signatures.items()]:
            raise InputError(f"{folder} and {first} have other metrics or signatures; runs of the same ones add up")
        if plan.passes and len(folders) > 1:
            raise InputError(f"a metric of {folder} depends on all segments of a run; score all files in one run")
        for system, files in _files_of(plan):
            if files in known:
                raise InputError(
                    f"{folder} and {known[files]} are about the same files: both count {system}; name each run once, or"
                    " leave the system out of one (--exclude)"
                )
            known[files] = folder
    runtime = Runtime(device=runs[first].device, dtype=runs[first].dtype, encoder=runs[first].encoder, progress=silent)
    metrics = metrics_of(runs[first])
    found = result_of(runs, metrics, runtime, comparison)
    for metric in found.metrics:
        if isinstance(metrics[metric["spec"]], Recorded):
            continue  # its signature is that of the plan
        signed = runs[first].signatures[metric["spec"]]
        if not runs[first].passes and metric["signature"] != signed:
            raise InputError(
                f"{first} was scored with {' '.join(signed.split())}, and this nlgauge has"
                f" {metric['signature']}; add up with the version that scored"
            )
    return replace(found, notes=[*found.notes, *_counted_twice(runs)])


def _files_of(plan: Plan) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Each system of a run: how a message names it, and what tells the files and columns that its rows are from."""
    digests = [entry["sha256"] for entry in plan.summary.inputs]
    hypotheses, columns = plan.inputs.hypotheses, sorted((plan.inputs.columns or {}).items())
    own = dict(zip(system_names(hypotheses), digests, strict=False)) if hypotheses else {}
    for system in plan.summary.systems:
        named = "segments without a system" if system is None else f"system {system!r}"
        yield named, (system, own.get(system or ""), *digests[len(hypotheses) :], *columns)


def _counted_twice(runs: Runs) -> Iterator[str]:
    """Notes on segments that are in two runs over different files."""
    step = 1 + sum(plan.summary.n for plan in runs.values()) // _HELD
    held: dict[Path, Counts] = {}
    for folder, plan in runs.items():
        digests = np.unique(np.concatenate([segment_digests(folder, part) for part in plan.parts]))
        digests = digests[digests % step == 0]
        for other, known in held.items():
            shared = step * len(np.intersect1d(digests, known, assume_unique=True))
            if shared:
                about = "" if step == 1 else "about "
                yield (
                    f"{about}{shared} of {plan.summary.n} segments of {folder} have the id, system and texts of"
                    f" segments of {other}; they count twice"
                )
        held[folder] = digests


def _summary(runs: Runs) -> Summary:
    each = [plan.summary for plan in runs.values()]
    lacking: dict[str, str] = {}
    for one in each:
        lacking = {**one.lacking, **lacking}
    return Summary(
        sum(one.n for one in each),
        add(*(one.systems for one in each)),
        add(*(one.groups for one in each)),
        tuple(dict.fromkeys(chain.from_iterable(one.criteria for one in each))),
        lacking,
        frozenset().union(*(one.present for one in each)),
        tuple(chain.from_iterable(one.inputs for one in each)),
        tuple(f"{folder}: {note}" if len(runs) > 1 else note for folder in runs for note in runs[folder].summary.notes),
    )


# --- The engine `ray`: actors of Ray Data, on this machine or on a cluster that shares the folder of the run


def import_ray() -> Any:
    """Ray with its data sets."""
    try:
        import ray  # type: ignore[import-not-found]
        import ray.data  # type: ignore[import-not-found]
    except ImportError:
        raise MissingExtra("the engine ray", "ray") from None
    return ray


def score_in_ray(
    plan: Plan, folder: Path, parts: Sequence[Part], workers: int, gpus: float = 0.0, address: str | None = None
) -> Iterator[int]:
    """Score parts by actors, and yield the number of segments of each when it is done.

    Each actor reads its own rows. Ray starts an actor that died again and gives it the part that it was at.

    Args:
        plan, folder: of the run; every machine must see the folder and the input under these paths.
        gpus: what each actor takes of a GPU; 0 for none.
        address: of a cluster that runs; None starts Ray on this machine alone, for this run.

    Raises:
        InputError: a part cannot be scored.
    """
    ray = import_ray()
    _begin(ray, workers, address)
    # as in a pool; what a machine of a cluster has for an actor, Ray knows
    threads = None if address is not None else max(1, (os.cpu_count() or 1) // workers)
    here = os.getcwd()

    class Actor:
        """Scores parts; Ray makes one in each worker."""

        def __init__(self) -> None:
            if threads is not None:
                os.environ["OMP_NUM_THREADS"] = str(threads)  # read when the first model is loaded
            with suppress(OSError):  # a machine that lacks the folder can have absolute paths alone
                os.chdir(here)  # paths are as typed, and an actor of a cluster starts elsewhere
            self.scorer = Scorer(plan, folder, "cuda" if gpus else None)  # Ray shows an actor its own GPU alone

        def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
            return {"n": [self.scorer.score(plan.parts[int(number)]) for number in batch["number"]]}

    try:
        numbers = ray.data.from_items([{"number": part.number} for part in parts], override_num_blocks=len(parts))
        scored = numbers.map_batches(
            Actor,
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(size=min(workers, len(parts))),
            num_cpus=1,
            num_gpus=gpus or None,
        )
        for row in scored.iter_rows():
            yield int(row["n"])
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, InputError):
            raise InputError(str(error.cause)) from None
        raise
    finally:
        if address is None:
            ray.shutdown()


def _begin(ray: Any, workers: int, address: str | None) -> None:
    """Join a cluster, or start Ray here: no dashboard, no usage statistics, nothing that others can reach."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    how: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False, "ignore_reinit_error": True}
    if address is not None:
        ray.init(address=address, **how)
    else:  # a processor for the reader and one for each actor, so that none waits for another
        ray.init(num_cpus=workers + 1, include_dashboard=False, _node_ip_address="127.0.0.1", **how)
    for name in ("ray.data", "ray"):
        logging.getLogger(name).setLevel(logging.ERROR)


# --- The engine `pool`: processes of this machine, each with its own models

_LIVES = 3  # how often workers may be killed while no part gets done
_scorer: Scorer  # of this worker


def score_in_pool(
    plan: Plan, folder: Path, parts: Sequence[Part], workers: int, devices: Sequence[str] = ()
) -> Iterator[int]:
    """Score parts in processes, and yield the number of segments of each when it is done.

    A worker that is killed costs the part that it was at. If this process is killed, its workers end, too.

    Args:
        devices: for each worker its own; empty to take the plan's for all.

    Raises:
        InputError: a part cannot be scored, or workers are killed again and again.
    """
    left, lives = deque(parts), _LIVES
    # of all workers that were asked for, also where few parts are left: sums in other threads differ in their last bits
    threads = max(1, (os.cpu_count() or 1) // workers)
    while left:
        done: set[int] = set()
        try:
            for part, n in _run(plan, folder, list(left), min(workers, len(left)), devices, threads):
                done.add(part.number)
                lives = _LIVES
                yield n
        except BrokenProcessPool:
            lives -= 1
            if not lives:
                raise InputError(
                    f"a worker was killed {_LIVES} times before it had scored a part (is there too little memory?);"
                    " take fewer workers or smaller parts; what is done is kept"
                ) from None
        left = deque(part for part in left if part.number not in done)


def _run(
    plan: Plan, folder: Path, parts: Sequence[Part], workers: int, devices: Sequence[str], threads: int
) -> Iterator[tuple[Part, int]]:
    """Parts as they get done, until all are, or the pool breaks."""
    context = multiprocessing.get_context("spawn")
    places: Any = context.SimpleQueue()
    for place in range(workers):
        places.put(place)
    with ProcessPoolExecutor(workers, context, _start, (plan, folder, list(devices), places, threads)) as pool:
        waiting, running = iter(parts), dict[Future[int], Part]()
        try:
            for part in waiting:
                running[pool.submit(_score, part)] = part
                if len(running) < 2 * workers:
                    continue
                yield from _done(running)
            while running:
                yield from _done(running)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _done(running: dict[Future[int], Part]) -> Iterator[tuple[Part, int]]:
    """Wait for parts, and take them out of those that run. What is done counts although another worker was killed."""
    finished, _ = wait(running, return_when=FIRST_COMPLETED)
    fault: BaseException | None = None
    for future in finished:
        part = running.pop(future)
        fault = fault or future.exception()
        if future.exception() is None:
            yield part, future.result()
    if fault is not None:
        raise fault


def _start(plan: Plan, folder: Path, devices: Sequence[str], places: Any, threads: int) -> None:
    """Begin the life of a worker."""
    global _scorer
    parent = multiprocessing.parent_process()
    assert parent is not None  # a worker has one

    def end_with(parent: Any) -> None:
        wait_for([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end_with, args=(parent,), daemon=True).start()  # before anything that takes time
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read when the first model is loaded
    place = places.get()
    _scorer = Scorer(plan, folder, devices[place % len(devices)] if devices else None)


def _score(part: Part) -> int:
    return _scorer.score(part)


# --- A run in parts, from its plan to its result; a run that was killed goes on with the parts that are not done

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
class DryRun:
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


def estimate(plan: Plan, metrics: Mapping[str, BaseMetric], runtime: Runtime) -> DryRun:
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
    # of a sum, those of its first term with an encoder
    pieces = next((own(texts, runtime) for m in metrics.values() for own in said(m, "pieces")), None)
    words = sum(len(text.split()) for text in texts) / len(texts)
    loading = max(loaded - began - (seconds if plan.passes else 0.0), 0.0)
    return DryRun(len(few), seconds, loading, truncated, None if pieces is None else pieces / len(texts), words)


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
            raise InputError(f"another process works on {folder}; wait for it (nlgauge list runs {folder})")
        with suppress(OSError):  # of another owner
            os.utime(folder / _LOCK)  # when this process began, see `progress_of`
        yield
    finally:
        os.close(lock)


def _is_claimed(folder: Path) -> bool:
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
