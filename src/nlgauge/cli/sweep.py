"""`nlgauge sweep`: how much of another metric makes one better, or which pooling strategy of an NLI model is best."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from nlgauge.cli import judged, options, specs
from nlgauge.cli.terminal import as_typed
from nlgauge.core.errors import InputError
from nlgauge.core.suite import Suite
from nlgauge.io.files import InputFile
from nlgauge.io.suites.suites import read_suite
from nlgauge.metaeval.evaluate import Level, References, Stats
from nlgauge.metaeval.pooling import pooling_study
from nlgauge.metaeval.sweep import WEIGHTS, parse_weights
from nlgauge.metaeval.sweep import sweep as run_sweep
from nlgauge.metrics.registry import named

Data = Annotated[
    list[str],
    typer.Argument(metavar="DATA...", help="Texts with ratings, one set or several: JSON lines, TSV, CSV, Parquet."),
]
Missing = Annotated[
    str, options.choice("--missing", among="refuse drop", help="What happens to rated segments without a score.")
]
Norm = Annotated[
    str | None, options.choice("--norm", among="minmax zscore none", help="Common scale.  [default: minmax]")
]
Ties = Annotated[str, options.choice("--ties", among="loss half exclude zero", help="How ties of preferences count.")]
Choice = Annotated[
    str | None,
    options.choice(
        "--choice",
        among="wins mean",
        help="With --pooling: a strategy for a set is chosen by its wins elsewhere, or by its mean.  [default: wins]",
    ),
]
Intervals = Annotated[
    str, options.choice("--intervals", among="auto fisher bootstrap none", help="How those of correlations are made.")
]


@dataclass(frozen=True)
class Mixed:
    """Options: the metrics to mix, and the suites that the sums must withstand."""

    suite: Annotated[
        list[str] | None,
        typer.Option("--suite", metavar="FILE", help="A suite of pairs, as for audit; may be given several times."),
    ] = None
    metric: Annotated[
        list[str] | None,
        specs.option("--metric", "-m", help="Metrics to be made better: chrf, bertscore ..."),
    ] = None
    partner: Annotated[
        list[str] | None,
        specs.option("--with", help="What they are mixed with: nli, or any other metric."),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights", metavar="FROM:TO:STEP", help="Of --with; or numbers with commas.  [default: 0:1:0.1]"
        ),
    ] = None
    pooling: Annotated[
        bool, typer.Option("--pooling", help="Instead: five formulas and three directions of each nli metric named.")
    ] = False

    def check(self, norm: str | None) -> None:
        """Refuse what cannot be mixed before anything is read."""
        if not self.pooling and not self.metric:
            raise InputError(
                "no metric is named, expected at least one; -m names what is to be made better, --with what it is"
                " mixed with"
            )
        if not self.pooling and not self.partner:
            raise InputError("nothing is named to mix the metrics with, expected --with SPEC, such as --with nli")
        if not self.pooling and not self.suite:
            raise InputError(
                "no suite is given, expected --suite FILE; a sweep holds robustness against agreement with people"
            )
        if self.pooling and (self.weights is not None or norm is not None):
            option = "--weights" if self.weights is not None else "--norm"
            raise InputError(f"{option} is about mixing metrics, and --pooling mixes none")

    def check_metrics(self) -> None:
        """Refuse a misspelt metric before anything is read."""
        several = [named(specs) for specs in (self.metric, self.partner) if specs]
        if self.pooling and not several:
            raise InputError("no metric is named, expected at least one nli metric: --with nli")


@options.common(without={"segments"})
def sweep(
    *,
    data: Data,
    columns: options.Columns = None,
    mixed: Mixed,
    criterion: judged.Criteria = None,
    judgements: judged.Judgements = None,
    level: Level = None,
    stat: Stats = None,
    references: References = None,
    missing: Missing = "refuse",
    norm: Norm = None,
    ties: Ties = "loss",
    choice: Choice = None,
    intervals: Intervals = "auto",
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> int:
    """Mix metrics: robustness against agreement with people, as the weight goes from 0 to 1."""
    shown.check(files)
    paths = mixed.suite or []
    files.check([*data, *paths, *([judgements] if judgements else [])])
    if judgements is not None and len(data) > 1:
        raise InputError(f"--judgements goes with one data set, got {len(data)}; give the rows of each a 'human' field")
    mixed.check(norm)
    if mixed.pooling:
        idle = {"intervals": intervals != "auto", "seed": run.typed_seed is not None}
        options.refuse_idle(idle, "is about intervals, and --pooling shows none")
    elif intervals in ("none", "fisher"):
        options.refuse_idle(
            {"seed": run.typed_seed is not None}, f"is about draws, and --intervals {intervals} has none"
        )
    if choice is not None and not mixed.pooling:
        raise InputError("--choice is about strategies of pooling; add --pooling, or leave it out")
    weights = parse_weights(mixed.weights) if mixed.weights is not None else WEIGHTS
    mixed.check_metrics()
    read = [judged.read_data(path, judgements, columns) for path in data]
    datasets, suites = [dataset for dataset, _ in read], [_suite(path) for path in paths]
    shared: dict[str, Any] = {"criterion": criterion or None, "level": level, "stats": stat or None, "ties": ties}
    shared |= {"references": references, "missing": missing, "runtime": run.runtime()}
    metrics, partners = mixed.metric or [], mixed.partner or []
    outcome: Any
    if mixed.pooling:
        outcome = pooling_study(
            datasets, suites, list(dict.fromkeys([*metrics, *partners])), choice=choice or "wins", **shared
        )
    else:
        shared |= {"norm": norm or "minmax", "intervals": intervals, "seed": run.seed}
        outcome = run_sweep(datasets, suites, metrics, partners, weights, **shared)
    inputs = [entry for _, entries in read for entry in entries]
    result = as_typed(outcome.result([*inputs, *(dict(InputFile(path).entry) for path in paths)]))
    files.write(result)
    if not files.printed:
        shown.show(result, run.quiet)
    return 0


def _suite(path: str) -> Suite:
    """The suite of a file.

    Raises:
        InputError: the name of a recipe, which audit and perturb know.
    """
    if path in ("menli", "checklist") and not os.path.exists(path):
        raise InputError(f"--suite {path} names a recipe, expected a file of pairs; nlgauge perturb makes one")
    return read_suite(path)
