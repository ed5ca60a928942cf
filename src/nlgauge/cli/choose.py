"""`nlgauge choose`: which metric for my texts, and why?"""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from nlgauge.choosing.choose import choose as recommend
from nlgauge.choosing.evidence import ASPECTS, Care
from nlgauge.choosing.trials import expected_seconds
from nlgauge.cli import meta, options
from nlgauge.cli import options as specs
from nlgauge.cli.main import as_typed, echo
from nlgauge.metrics.registry import named
from nlgauge.perturbations.checklist import TASKS

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="Outputs with references, sources or both: JSON lines, TSV, CSV, Parquet, or a test set."
    ),
]
Metrics = Annotated[
    list[str] | None,
    specs.option("--metric", "-m", help="Metrics to choose from.  [default: a short list by task]"),
]
Task = Annotated[
    str | None,
    options.choice("--task", among=TASKS, help="Whose checklist makes the errors.  [default: as DATA say]"),
]
CareFor = Annotated[str | None, options.choice("--care", among=ASPECTS, help="The errors that matter most.")]
Limit = Annotated[
    int | None,
    typer.Option("--limit", min=1, metavar="N", help="Look at about N outputs.  [default: 240; 480 that are rated]"),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say how long it would take.")]


@options.common(without={"segments"})
def choose(
    *,
    data: Data,
    columns: options.Columns = None,
    metric: Metrics = None,
    task: Task = None,
    care: CareFor = None,
    criterion: meta.Criterion = None,
    judgements: meta.Judgements = None,
    limit: Limit = None,
    dry_run: DryRun = False,
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> int:
    """Recommend one or two metrics for these texts, with the reasons."""
    shown.check(files)
    files.check([data, *([] if judgements is None else [judgements])])
    if metric:
        named(metric, run.default_encoder)  # a misspelt metric is refused before anything is read
    dataset, inputs = meta.read_data(data, judgements, columns)
    how: dict[str, Any] = {"task": task, "seed": run.seed, "limit": limit, "runtime": run.runtime()}
    if dry_run:
        _tell(expected_seconds(dataset, metric, **how))
        return 0
    found = recommend(dataset, metric, care=cast(Care | None, care), criterion=criterion, data=data, **how)
    result = as_typed(found.result(inputs))
    files.write(result)
    if not files.printed:
        shown.show(result, run.quiet)
    return 0


def _tell(seconds: Any) -> None:
    """Say how long each metric takes, and all of them."""
    for spec, one in sorted(seconds.items(), key=lambda entry: -entry[1]):
        echo(f"{one:8.1f} s  {spec}")
    echo(f"{sum(seconds.values()):8.1f} s  in all at most, besides loading models")
