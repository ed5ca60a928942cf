"""`nlgauge train infill`: a masked language model on an encoder, from raw sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from nlgauge.cli import options
from nlgauge.cli.terminal import echo
from nlgauge.cli.train import options as shared
from nlgauge.io.files import InputFile
from nlgauge.training.recipe import InfillRecipe, Schedule

Texts = Annotated[list[str], typer.Argument(metavar="TEXTS...", help="Raw sentences, one per line, plain or .gz.")]
Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Where the head goes: a name in .safetensors.")
]
Dev = Annotated[
    list[str] | None, typer.Option("--dev", metavar="FILE", help="Texts whose words are guessed after each pass.")
]


@options.common(without=shared.NO_METRICS | {"phenomena"})
def train_infill(
    *,
    texts: Texts,
    output: Output,
    how: InfillRecipe,
    schedule: Schedule,
    dev: Dev = None,
    named: shared.Named,
    run: shared.Run,
) -> None:
    """Train a filler of gaps on raw sentences, for infill=FILE; a stopped run continues."""
    options.check_outputs({"--output": shared.file_of(output)}, [*texts, *(dev or ())])
    runtime = run.runtime(cached=False)
    with shared.training_installed():
        from nlgauge.training import infill
    recipe = replace(how, schedule=replace(schedule, seed=run.seed))
    about = {"name": named.name, "recipe": named.recipe, "data": named.data}
    train, held_out = ([InputFile(path) for path in paths or ()] for paths in (texts, dev))
    guesses = infill.train_infill(
        train, output, recipe, runtime, dev=held_out, about=about, tell=shared.teller(run.quiet)
    )
    if guesses:
        echo("    n  top-1  top-5   loss")
    for row in guesses:
        echo(f"{row.n:5d}  {row.top1:.3f}  {row.top5:.3f}  {row.loss:5.3f}  {row.name}")
