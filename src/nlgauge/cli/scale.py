"""`nlgauge score --engine`, which scores large files in parts, and how far such runs are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nlgauge.cli import options
from nlgauge.cli.main import as_typed, echo
from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, part_directions
from nlgauge.core.options import Checked, Range, Typed, construct
from nlgauge.core.result import Result
from nlgauge.core.spec import Spec, parse
from nlgauge.metrics.registry import METRICS, own_names
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.compare import ComparisonOptions
from nlgauge.scoring.looks import Looks

if TYPE_CHECKING:
    from nlgauge.io.spans import Inputs
    from nlgauge.scoring.parts import Plan
    from nlgauge.scoring.workers import Engine


@dataclass(frozen=True)
class Workers(Checked):
    """What scores parts: the options of `--engine`, as in `pool:workers=8,rows=1000`.

    Attributes:
        workers: how many processes; None for one per processor, or per GPU.
        gpus: what a worker takes of a GPU; None for all of it.
        rows: rows of a part, about.
        address: HOST:PORT of a cluster of Ray; None for this machine.
        dry_run: count rows and parts, and time a sample; write nothing.
    """

    workers: Annotated[int, Range(least=1)] | None = None
    gpus: Annotated[float, Range(above=0, most=1, meaning="a share of a GPU")] | None = None
    rows: Annotated[int, Range(least=1)] = 10_000
    address: str | None = None
    dry_run: bool = False

    def shares(self, devices: Sequence[str]) -> tuple[int, float]:
        """How many workers, and what each takes of a GPU: together no more than there is on this machine.

        A cluster may have GPUs where this machine has none.
        """
        if not devices:
            if self.gpus is not None and self.address is None:
                raise InputError("--engine: gpus shares GPUs, and models run on none here; leave it out")
            return self.workers or os.cpu_count() or 1, self.gpus or 0.0
        workers = self.workers or max(1, round(len(devices) / (self.gpus or 1.0)))
        return workers, self.gpus or min(1.0, len(devices) / workers)


@dataclass(frozen=True)
class InParts:
    """How a large input is scored in parts."""

    engine: Annotated[
        str | None,
        Typed(
            "Score DATA in parts, in many processes; needs --output. Options: workers (default: one per processor, or"
            " per GPU), rows of a part (10000), gpus, a worker's share of one (1), dry_run=true to count and to time a"
            " sample alone; of ray: address, HOST:PORT of a cluster.",
            metavar="pool|ray[:NAME=VALUE,...]",
            words="pool ray",
        ),
    ] = None
    output: Annotated[
        str | None, Typed("Folder of --engine: rows, sums and result of the run.", ("--output", "-o"), "DIR")
    ] = None

    @property
    def chosen(self) -> tuple[str, Workers]:
        """The engine, and its options."""
        spec = parse(self.engine or "")
        if not (isinstance(spec, Spec) and spec.name in ("pool", "ray")):
            raise InputError(f"--engine is {self.engine!r}, expected pool or ray, as in pool:workers=8")
        workers: Workers = construct(Workers, dict(spec.options), {}, f"--engine {spec.name}")
        if workers.address is not None and spec.name == "pool":
            raise InputError("--engine pool:address names a cluster of Ray; it goes with ray")
        return spec.name, workers

    def check(self, leaves_out: bool, **others: object) -> bool:
        """Whether the input is scored in parts.

        Args:
            leaves_out: whether metrics are to be left out where the data lack what they need.
            others: options that parts do not know, if typed.
        """
        if self.engine is None:
            own = options.changed(self, *(name for name in options.flags_of(self) if name != "engine"))
            options.refuse_idle(own, "is about scoring in parts; it goes with --engine pool or ray")
            return False
        engine, workers = self.chosen  # refused before anything is read
        if self.output is None and not workers.dry_run:
            dry = f"--engine {engine}:dry_run=true"
            raise InputError(f"--engine writes into a folder, and none is given; add -o FOLDER, or say {dry}")
        if leaves_out:
            raise InputError("-m embedded leaves out what the data lack, and parts do not know that; name the metrics")
        why = "is not known in parts (page 'reference/verbs/score' of the documentation)"
        options.refuse_idle(others, f"{why}; leave it out, or leave --engine out")
        return True

    def score(
        self,
        inputs: Inputs,
        metrics: Mapping[str, BaseMetric],
        runtime: Runtime,
        looks: Looks,
        comparison: ComparisonOptions,
        thresholds: str | None,
        save_norm: str | None,
        files: options.Files,
    ) -> tuple[Result, options.Parts] | None:
        """The result, and the directions of parts; None after a dry run, which prints what it found."""
        from nlgauge.scoring.parts import make_plan
        from nlgauge.scoring.thresholds import thresholds_for, with_agreement
        from nlgauge.scoring.workers import known_of, rows_of, score_in_parts

        for spec, name in product(metrics, own_names()):
            if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", spec):
                way = "give it an entry point (page 'guides/make' of the documentation)"
                way = "give the metric itself" if METRICS.entries[name].preset else way  # it was named as X=chrf
                raise InputError(
                    f"{spec}: {name!r} is known in this process alone, and --engine starts others; {way}, or leave"
                    " --engine out"
                )
        engine, workers = self.chosen
        if engine == "ray" and not workers.dry_run:  # before hours of reading
            from nlgauge.scoring.workers import import_ray

            import_ray()
        table = thresholds_for(thresholds, metrics, runtime)
        if table is not None:
            with closing(inputs.opened()) as source:
                table = table.over(source.blocks())
        plan = make_plan(inputs, metrics, runtime, rows=workers.rows, comparison=comparison, looks=looks)
        if workers.dry_run:
            for line in _estimate(plan, metrics, runtime, workers.shares(_devices(runtime.device))[0]):
                echo(line)
            return None
        folder = Path(self.output or "")  # `check` refuses that there is none
        result = as_typed(
            score_in_parts(plan, folder, _engine(engine, workers, runtime.device), runtime, comparison, save_norm)
        )
        with files.writing() as write:
            for columns in rows_of(plan, folder) if write is not None else ():
                assert write is not None  # as asked just now
                write(columns)
        known = known_of(plan, folder)
        result = with_agreement(result, table, {spec: references for spec, (references, _) in known.items()})
        return result, {spec: part_directions(metrics[spec], names) for spec, (_, names) in known.items()}


def _engine(name: str, asked: Workers, device: str) -> Engine:
    from nlgauge.scoring.workers import score_in_pool, score_in_ray

    devices = _devices(device)
    workers, gpus = asked.shares(devices)
    if name == "pool":
        return partial(score_in_pool, workers=workers, devices=devices)
    return partial(score_in_ray, workers=workers, gpus=gpus, address=asked.address)


def _estimate(plan: Plan, metrics: Mapping[str, BaseMetric], runtime: Runtime, workers: int) -> Iterator[str]:
    from nlgauge.scoring.workers import estimate

    found = estimate(plan, metrics, runtime)
    n, seconds = plan.summary.n, found.of(plan, workers)
    yield f"segments   {n:,} of {_counted(len(plan.summary.systems), 'system')}, {plan.distinct:,} distinct"
    tokens, what = (found.words, "words") if found.pieces is None else (found.pieces, "tokens of the model")
    yield f"texts      {plan.texts:,} distinct, with about {_rounded(plan.texts * tokens):,} {what}"
    passes = f", gone through {plan.passes + 1} times" if plan.passes else ""
    yield f"parts      {len(plan.parts):,}{passes}"
    yield f"sample     {found.n} segments in {found.seconds:.2f} s, after {found.loading:.1f} s of loading"
    about = f": about {_rounded(n * found.truncated / found.n):,} segments" if found.truncated else ""
    yield f"truncated  {found.truncated} of the sample{about}"
    yield f"time       about {_time(seconds)} with {_counted(workers, 'worker')}"


# --- `nlgauge list runs`: how far runs in parts are


def runs_listed(folders: Sequence[str]) -> list[str]:
    """A line for each run: how far it is."""
    return [(f"{folder}: " if len(folders) > 1 else "") + _state(Path(folder)) for folder in folders]


def runs_added(folders: Sequence[str]) -> Result:
    """What runs over different files add up to."""
    from nlgauge.scoring.workers import total

    return as_typed(total(list(map(Path, folders))))


def _state(folder: Path) -> str:
    from nlgauge.scoring.workers import RESULT, progress_of

    found = progress_of(folder)
    is_done = found.parts_done == found.parts and (folder / RESULT).exists()
    state = "running" if found.running else "done" if is_done else "stopped; run its command again"
    if found.running and found.rate is not None and found.seconds_left is not None:
        each = f"{found.rate:,.{1 if found.rate < 10 else 0}f}"
        state += f", {each} segments a second, about {_time(found.seconds_left)} left"
    step = f"pass {found.pass_now} of {found.passes} before the scores: " if found.pass_now else ""
    parts = f"{found.parts_done:,} of {_counted(found.parts, 'part')}"
    return f"{step}{parts}, {found.n_done:,} of {found.n:,} segments: {state}"


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


def _rounded(number: float) -> int:
    """A number with three digits that count."""
    return int(float(f"{number:.3g}"))


def _time(seconds: float) -> str:
    minutes, hours, days = seconds / 60, seconds / 3600, seconds / 86400
    if days >= 2:
        return f"{int(days)} days {int(hours % 24)} h"
    if hours >= 1:
        return f"{int(hours)} h {int(minutes % 60)} min"
    return f"{int(minutes)} min {int(seconds % 60)} s" if minutes >= 1 else f"{seconds:.0f} s"
