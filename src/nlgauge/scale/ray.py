"""The engine `ray`: actors of Ray Data, on this machine or on a cluster that shares the folder of the run."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.scale.parts import Scorer
from nlgauge.scale.plan import Part, Plan


def import_ray() -> Any:
    """Ray with its data sets.

    Raises:
        MissingExtra: Ray is not installed, or without what its data sets need.
    """
    try:
        import ray  # type: ignore[import-not-found]
        import ray.data  # type: ignore[import-not-found]
    except ImportError:
        raise MissingExtra("the engine ray", "ray") from None
    return ray


def score_parts(
    plan: Plan, folder: Path, parts: Sequence[Part], workers: int, gpus: float = 0.0, address: str | None = None
) -> Iterator[int]:
    """Score parts by actors, and yield the number of segments of each when it is done.

    Each actor reads its own rows. Ray starts an actor that died again and gives it the part that it was at.

    Args:
        plan, folder: of the run; every machine must see the folder and the input under these paths.
        parts: those that are not done.
        workers: how many actors.
        gpus: what each actor takes of a GPU; 0 for none.
        address: of a cluster that runs; None starts Ray on this machine alone, for this run.

    Raises:
        MissingExtra: Ray is not installed.
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
