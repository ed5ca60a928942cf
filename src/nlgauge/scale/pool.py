"""The engine `pool`: processes of this machine, each with its own models."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.scale.parts import Scorer
from nlgauge.scale.plan import Part, Plan

_LIVES = 3  # how often workers may be killed while no part gets done
_scorer: Scorer  # of this worker


def score_parts(
    plan: Plan, folder: Path, parts: Sequence[Part], workers: int, devices: Sequence[str] = ()
) -> Iterator[int]:
    """Score parts in processes, and yield the number of segments of each when it is done.

    A worker that is killed costs the part that it was at. If this process is killed, its workers end, too.

    Args:
        plan, folder: of the run.
        parts: those that are not done.
        workers: how many processes.
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
                    " take fewer --workers or smaller --part-rows; what is done is kept"
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
