"""Batches side by side: each core takes a batch and runs it from end to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import torch

Job = TypeVar("Job")
Done = TypeVar("Done")


def side_by_side(
    work: Callable[[Job], Done], jobs: Sequence[Job], device: Any, *, one_core: bool = False
) -> Iterator[Done]:
    """What `work` makes of each job, in order, under inference mode.

    On a processor as many threads as torch may use take jobs in turn, each computing on one core alone. Splitting every
    operation of one batch among all cores instead makes them wait for each other thousands of times a second: slower on
    an idle machine, and many times slower on one with other work. On other devices, and where one thread is left, the
    jobs run here.

    Args:
        work: must not change what other jobs read.
        jobs: in the order of the results.
        device: of the tensors that `work` computes with.
        one_core: a job that is the only one has one core of the processor too, so that its numbers do not hang on how
            many there are.
    """
    threads = torch.get_num_threads()
    if getattr(device, "type", "cpu") != "cpu" or threads == 1 or len(jobs) < (1 if one_core else 2):
        with torch.inference_mode():
            yield from map(work, jobs)
        return

    def on_one_core(job: Job) -> Done:
        with torch.inference_mode():  # holds for one thread
            return work(job)

    # torch keeps the count by thread, and besides one that new threads start from: that one is put back at the end.
    pool = ThreadPoolExecutor(min(threads, len(jobs)), "nlgauge", lambda: torch.set_num_threads(1))
    try:
        yield from pool.map(on_one_core, jobs)
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)
