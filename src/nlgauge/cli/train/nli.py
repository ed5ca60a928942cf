"""`nlgauge train nli`: an NLI model from labelled pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import options
from nlgauge.cli.terminal import echo
from nlgauge.cli.train import options as shared
from nlgauge.io.files import InputFile
from nlgauge.training.recipe import NliRecipe, Schedule

if TYPE_CHECKING:
    from nlgauge.training.nli import Accuracy

Pairs = Annotated[
    list[str],
    typer.Argument(
        metavar="PAIRS...", help="JSON lines: premise, hypothesis, label; named twice, a file counts twice."
    ),
]
Output = Annotated[
    str,
    typer.Option("--output", "-o", metavar="PATH", help="FILE.safetensors: a head; else a folder for transformers."),
]
_WIDTHS = (8, 7, 6, 7, 6)


@dataclass(frozen=True)
class Sets:
    """Options: the data that training is measured on."""

    dev: Annotated[
        list[str] | None, typer.Option("--dev", metavar="FILE", help="Pairs to evaluate on after each pass.")
    ] = None
    test: Annotated[
        list[str] | None, typer.Option("--test", metavar="FILE", help="Pairs to evaluate on at the end.")
    ] = None


@options.common(without=shared.NO_METRICS)
def train_nli(
    *,
    pairs: Pairs,
    output: Output,
    how: NliRecipe,
    schedule: Schedule,
    sets: Sets,
    named: shared.Named,
    run: shared.Run,
) -> None:
    """Train an NLI model on labelled pairs, for nli:model=...; a stopped run continues."""
    options.check_outputs({"--output": shared.file_of(output)}, [*pairs, *(sets.dev or ()), *(sets.test or ())])
    shared.check_adapters(how, how.method)
    runtime = run.runtime(cached=False)
    with shared.training_installed():
        from nlgauge.training import nli
    recipe = replace(how, schedule=replace(schedule, seed=run.seed))
    train, dev, test = ([InputFile(path) for path in paths or ()] for paths in (pairs, sets.dev, sets.test))
    accuracies = nli.train_nli(
        train, output, recipe, runtime, dev=dev, test=test, about=named.about(), tell=shared.teller(run.quiet)
    )
    if accuracies:
        echo("    n  accuracy  two-way  entail  neutral  contra")
    for accuracy in accuracies:
        echo(_line(accuracy))


def _line(accuracy: Accuracy) -> str:
    shares = (accuracy.accuracy, accuracy.two_way, *accuracy.recall)
    cells = "  ".join(f"{x:{width}.3f}" for x, width in zip(shares, _WIDTHS, strict=True))
    return f"{accuracy.n:5d}  {cells}  {accuracy.name}"
