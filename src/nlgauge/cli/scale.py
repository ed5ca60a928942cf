"""`nlgauge score --engine`, which scores large files in parts, and `nlgauge status`, which says how far that is."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import options
from nlgauge.cli.terminal import echo
from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.io.spans import Inputs
from nlgauge.metrics.base import Metric
from nlgauge.metrics.job import ComparisonOptions
from nlgauge.runtime.runtime import Runtime

_ROWS = 10_000


@dataclass(frozen=True)
class InParts:
    """How a large input is scored in parts."""

    engine: Annotated[
        str | None,
        options.choice("--engine", among="pool ray", help="Score DATA in parts, in many processes; needs --output."),
    ] = None
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="DIR", help="Folder of --engine: rows, sums and result of the run."),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Processes of --engine.  [default: one a processor, or a GPU]"),
    ] = None
    gpus_per_worker: Annotated[
        float | None,
        typer.Option(
            "--gpus-per-worker", metavar="SHARE", help="What a worker takes of a GPU, such as 0.5.  [default: 1]"
        ),
    ] = None
    part_rows: Annotated[
        int, typer.Option("--part-rows", min=1, metavar="N", help="Rows of a part of --engine, about.")
    ] = _ROWS
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --engine: count rows and parts, and time a sample; write nothing.")
    ] = False
    address: Annotated[
        str | None,
        typer.Option("--ray-address", metavar="HOST:PORT", help="Engine ray: a cluster.  [default: this machine]"),
    ] = None

    def check(self, leaves_out: bool, **others: object) -> bool:
        """Whether the input is scored in parts.

        Args:
            leaves_out: whether metrics are to be left out where the data lack what they need.
            others: options that need all segments at once, if typed.
        """
        if self.engine is None:
            own = options.changed(self, "output", "workers", "gpus_per_worker", "part_rows", "dry_run", "address")
            own["ray-address"] = own.pop("address")
            options.refuse_idle(own, "is about scoring in parts; it goes with --engine pool or ray")
            return False
        if self.engine not in ("pool", "ray"):
            raise InputError(f"--engine is {self.engine!r}, expected pool or ray")
        if self.output is None and not self.dry_run:
            raise InputError("--engine writes into a folder, and none is given; add -o FOLDER, or --dry-run")
        if self.address is not None and self.engine != "ray":
            raise InputError("--ray-address names a cluster of Ray; it goes with --engine ray")
        if self.gpus_per_worker is not None and not 0 < self.gpus_per_worker <= 1:
            raise InputError(
                f"--gpus-per-worker is {self.gpus_per_worker:g}, expected a share above 0, up to 1 for a GPU of its own"
            )
        if leaves_out:
            raise InputError("-m embedded leaves out what the data lack, and parts do not know that; name the metrics")
        options.refuse_idle(others, "needs all segments in one process; leave it out, or leave --engine out")
        return True

    def result(
        self,
        inputs: Inputs,
        metrics: Mapping[str, Metric],
        runtime: Runtime,
        language: str,
        comparison: ComparisonOptions,
        save_norm: str | None,
    ) -> Result | None:
        """The result; None after a dry run, which prints what it found."""
        from nlgauge.scale.plan import make_plan
        from nlgauge.scale.run import score_in_parts

        if runtime.compile:
            raise InputError("--compile does not reach the workers of --engine; leave it out")
        plan = make_plan(inputs, metrics, runtime, rows=self.part_rows, language=language)
        devices = _devices(runtime.device)
        workers, gpus = self._shares(devices)
        if self.dry_run:
            from nlgauge.scale.run import estimate

            found = estimate(plan, metrics, runtime)
            n, systems = plan.summary.n, len(plan.summary.systems)
            echo(f"segments   {n:,} of {_counted(systems, 'system')}, {plan.distinct:,} distinct")
            echo(f"parts      {len(plan.parts):,}")
            echo(f"sample     {found.n} segments in {found.seconds:.2f} s, after {found.loading:.1f} s of loading")
            echo(f"truncated  {found.truncated} of the sample")
            echo(f"time       about {_time(found.of(plan, workers))} with {_counted(workers, 'worker')}")
            return None
        if self.engine == "pool":
            from nlgauge.scale import pool

            engine = partial(pool.score_parts, workers=workers, devices=devices)
        else:
            from nlgauge.scale import ray

            engine = partial(ray.score_parts, workers=workers, gpus=gpus, address=self.address)
        assert self.output is not None  # `check` refuses that
        return score_in_parts(plan, Path(self.output), engine, runtime, comparison, save_norm)

    def _shares(self, devices: Sequence[str]) -> tuple[int, float]:
        """How many workers, and what each takes of a GPU: together no more than there is on this machine.

        A cluster may have GPUs where this machine has none.
        """
        asked = self.gpus_per_worker
        if not devices:
            if asked is not None and self.address is None:
                raise InputError("--gpus-per-worker shares GPUs, and models run on none here; leave it out")
            return self.workers or os.cpu_count() or 1, asked or 0.0
        workers = self.workers or max(1, round(len(devices) / (asked or 1.0)))
        return workers, asked or min(1.0, len(devices) / workers)


def status(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of 'nlgauge score --engine'.")],
) -> int:
    """Say how far a run in parts is."""
    from nlgauge.scale.run import RESULT, progress_of

    found = progress_of(folder)
    state = "running" if found.running else "done" if (folder / RESULT).exists() else "stopped; run its command again"
    echo(f"{found.parts_done:,} of {_counted(found.parts, 'part')}, {found.n_done:,} of {found.n:,} segments: {state}")
    return 0


def _devices(device: str) -> Sequence[str]:
    """The GPUs of this machine, if that is where models run and none is named."""
    if device not in ("auto", "cuda"):
        return [device] if device.startswith("cuda") else []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        count = len([name for name in visible.split(",") if name.strip() and name.strip() != "-1"])
    else:
        count = len([path for path in Path("/dev").glob("nvidia[0-9]*") if path.name[6:].isdigit()])
    return [f"cuda:{place}" for place in range(count)]


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _time(seconds: float) -> str:
    """A duration in its two largest units."""
    minutes, hours, days = seconds / 60, seconds / 3600, seconds / 86400
    if days >= 2:
        return f"{int(days)} days {int(hours % 24)} h"
    if hours >= 1:
        return f"{int(hours)} h {int(minutes % 60)} min"
    return f"{int(minutes)} min {int(seconds % 60)} s" if minutes >= 1 else f"{seconds:.0f} s"
