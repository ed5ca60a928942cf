"""Run batches in parallel: each core takes a batch and runs it from beginning to end."""

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
    """The results of `work` for each job, in order, computed in inference mode.

    On a CPU, jobs are taken in turn by as many threads as torch may use, and each thread computes on one core. To split
    every operation of one batch among all cores would make them wait for each other thousands of times per second. That
    is slower on an idle machine, and many times slower on a busy one. On other devices, and if there is only one
    thread, the jobs run in the calling thread.

    Args:
        work: function of a job. It must not change what other jobs read.
        jobs: the jobs, in the order of the results.
        device: the device of the tensors that `work` computes with.
        one_core: run a single job on one core too, so that its numbers do not depend on the number of cores.
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
