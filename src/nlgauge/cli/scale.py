"""`nlgauge score --engine`, which scores large files in parts, and `nlgauge status`, which says how far that is."""

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
from nlgauge.core.options import Argument, Range, Typed
from nlgauge.core.result import Result
from nlgauge.metrics.registry import own_names
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.compare import ByGroup, ComparisonOptions, Intervals
from nlgauge.scoring.looks import Looks

if TYPE_CHECKING:
    from nlgauge.io.spans import Inputs
    from nlgauge.scoring.parts import Plan
    from nlgauge.scoring.workers import Engine

_ROWS = 10_000


@dataclass(frozen=True)
class InParts:
    """How a large input is scored in parts."""

    engine: Annotated[
        str | None, Typed("Score DATA in parts, in many processes; needs --output.", words="pool ray")
    ] = None
    output: Annotated[
        str | None, Typed("Folder of --engine: rows, sums and result of the run.", ("--output", "-o"), "DIR")
    ] = None
    workers: Annotated[
        int | None, Range(least=1), Typed("Processes of --engine.  [default: one per processor, or per GPU]")
    ] = None
    gpus_per_worker: Annotated[
        float | None, Typed("What a worker takes of a GPU, such as 0.5.  [default: 1]", metavar="SHARE")
    ] = None
    part_rows: Annotated[int, Range(least=1), Typed("Rows of a part of --engine, about.", metavar="N")] = _ROWS
    dry_run: Annotated[bool, Typed("With --engine: count rows and parts, and time a sample; write nothing.")] = False
    price: Annotated[
        float | None, Range(least=0), Typed("With --dry-run: what an hour of all workers costs.", metavar="NUMBER")
    ] = None
    address: Annotated[
        str | None,
        Typed(
            "Engine ray: a cluster; say --workers and --gpus-per-worker, too.  [default: this machine]",
            ("--ray-address",),
            "HOST:PORT",
        ),
    ] = None

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
        if self.engine not in ("pool", "ray"):
            raise InputError(f"--engine is {self.engine!r}, expected pool or ray")
        if self.output is None and not self.dry_run:
            raise InputError("--engine writes into a folder, and none is given; add -o FOLDER, or --dry-run")
        if self.address is not None and self.engine != "ray":
            raise InputError("--ray-address names a cluster of Ray; it goes with --engine ray")
        if self.price is not None and not self.dry_run:
            raise InputError("--price says what an hour costs; it goes with --dry-run")
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
        spreadsheet: bool,
    ) -> tuple[Result, options.Parts] | None:
        """The result, and the directions of parts; None after a dry run, which prints what it found."""
        from nlgauge.scoring.parts import make_plan
        from nlgauge.scoring.thresholds import thresholds_for, with_agreement
        from nlgauge.scoring.workers import known_of, rows_of, score_in_parts

        if runtime.compile:
            raise InputError("NLGAUGE_COMPILE does not reach the workers of --engine; leave it out")
        for spec, name in product(metrics, own_names()):
            if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", spec):
                raise InputError(
                    f"{spec}: {name!r} is known in this process alone, and --engine starts others; give it an entry"
                    " point (page 'guides/make' of the documentation), or leave --engine out"
                )
        if self.engine == "ray" and not self.dry_run:  # before hours of reading
            from nlgauge.scoring.workers import import_ray

            import_ray()
        table = thresholds_for(thresholds, metrics, runtime)
        if table is not None:
            with closing(inputs.opened()) as source:
                table = table.over(source.blocks())
        plan = make_plan(inputs, metrics, runtime, rows=self.part_rows, comparison=comparison, looks=looks)
        if self.dry_run:
            for line in self._estimate(plan, metrics, runtime):
                echo(line)
            return None
        folder = Path(self.output or "")  # `check` refuses that there is none
        engine = self._engine(_devices(runtime.device))
        result = as_typed(score_in_parts(plan, folder, engine, runtime, comparison, save_norm))
        with files.writing(spreadsheet) as write:
            for columns in rows_of(plan, folder) if write is not None else ():
                assert write is not None  # as asked just now
                write(columns)
        known = known_of(plan, folder)
        result = with_agreement(result, table, {spec: references for spec, (references, _) in known.items()})
        return result, {spec: part_directions(metrics[spec], names) for spec, (_, names) in known.items()}

    def _engine(self, devices: Sequence[str]) -> Engine:
        workers, gpus = self._shares(devices)
        from nlgauge.scoring.workers import score_in_pool, score_in_ray

        if self.engine == "pool":
            return partial(score_in_pool, workers=workers, devices=devices)
        return partial(score_in_ray, workers=workers, gpus=gpus, address=self.address)

    def _estimate(self, plan: Plan, metrics: Mapping[str, BaseMetric], runtime: Runtime) -> Iterator[str]:
        """The lines that a dry run prints."""
        from nlgauge.scoring.workers import estimate

        found = estimate(plan, metrics, runtime)
        workers, _ = self._shares(_devices(runtime.device))
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
        if self.price is not None:
            yield f"cost       about {seconds / 3600 * self.price:.2g} at {self.price:g} an hour"

    def _shares(self, devices: Sequence[str]) -> tuple[int, float]:
        """How many workers, and what each takes of a GPU: together no more than there is on this machine.

        A cluster may have GPUs where this machine has none.
        """
        asked = self.gpus_per_worker
        if asked is not None and not 0 < asked <= 1:
            raise InputError(f"--gpus-per-worker is {asked:g}, expected a share above 0, up to 1 for a GPU of its own")
        if not devices:
            if asked is not None and self.address is None:
                raise InputError("--gpus-per-worker shares GPUs, and models run on none here; leave it out")
            return self.workers or os.cpu_count() or 1, asked or 0.0
        workers = self.workers or max(1, round(len(devices) / (asked or 1.0)))
        return workers, asked or min(1.0, len(devices) / workers)


@options.verb(without={"segments"})
def status(
    *,
    folders: Annotated[list[Path], Argument("Folders of 'nlgauge score --engine'.", metavar="DIR...")],
    total: Annotated[bool, Typed("Add up runs over different files: their scores as of one run.")] = False,
    by_group: ByGroup = False,
    confidence: Intervals = False,
    files: options.Files,
    shown: options.Shown,
) -> int:
    """Say how far runs in parts are, or add up those that are done.

    A run is a folder that `nlgauge score --engine` writes. Each has a line: parts and segments done, rate (over the
    last 32 parts) and time left; or that it stopped, and its command goes on.

    The folder holds:

    - `rows/`: a row per segment, as `--segments` writes them; `pandas.read_parquet("DIR/rows")` reads all.
    - `result.json`: the result, without the command and what `--thresholds` adds.
    - `plan.json`: files, metrics, and the rows of each part.
    - `sums/`: what the segments of a part add up to. Where they are, the part is done.
    - `stats/`: counts of each segment, for tests and intervals.
    - `pool/`: what metrics that depend on all segments found in them.

    `--total` adds up runs over different files: the chrF of a system is made of summed counts, not the mean of two
    runs. All must be done, by the same metrics in one order with equal signatures. Refused are two runs that count the
    same system of the same files, and metrics that depend on all segments, since each run knows only its own. A note
    says how many segments count twice (of more than four million a share is compared). Systems are not tested, because
    items of two files may have the same name.

    The command of a run checks its whole input in one process before it scores, and holds ids and counts in memory. Cut
    more than some ten million rows into files with a folder each. With Ray all machines need one file system.
    """
    if not total:
        typed = {"by-group": by_group, "confidence": confidence, "json": files.json, "html": files.html}
        options.refuse_idle(typed, "is about what runs add up to; it goes with --total")
        for folder in folders:
            echo(f"{folder}: {_state(folder)}" if len(folders) > 1 else _state(folder))
        return 0
    from nlgauge.scoring.workers import total as added

    shown.check(files)
    files.check()
    result = as_typed(added(folders, ComparisonOptions(intervals=confidence, by_group=by_group)))
    return shown.put_out(result, files, quiet=False)


def _state(folder: Path) -> str:
    """How far a run is, in one line."""
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
    """A duration in its two largest units."""
    minutes, hours, days = seconds / 60, seconds / 3600, seconds / 86400
    if days >= 2:
        return f"{int(days)} days {int(hours % 24)} h"
    if hours >= 1:
        return f"{int(hours)} h {int(minutes % 60)} min"
    return f"{int(minutes)} min {int(seconds % 60)} s" if minutes >= 1 else f"{seconds:.0f} s"
