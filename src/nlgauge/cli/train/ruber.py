"""`nlgauge train ruber`: how well a reply goes with its query, learnt from dialogues and replies to other queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import typer

from nlgauge.cli import options
from nlgauge.cli.train import options as shared
from nlgauge.cli.train import scores
from nlgauge.core.errors import InputError
from nlgauge.io.read import read
from nlgauge.training.recipe import RegressorRecipe, Schedule

Dialogues = Annotated[list[str], typer.Argument(metavar="DATA...", help="Dialogues; see 'nlgauge list formats'.")]


@dataclass(frozen=True)
class Queries:
    """Options: replies to learn from, and wrong ones."""

    anchor: Annotated[
        str, options.choice("--anchor", among="context source", help="The query: the last turns of context, or src.")
    ] = "context"
    turns: Annotated[int, typer.Option("--turns", min=1, help="How many of the last turns are the query.")] = 1
    negatives: Annotated[int, typer.Option("--negatives", min=1, help="Replies to other queries for each reply.")] = 1

    def check(self) -> None:
        """Refuse options that change nothing beside others."""
        if self.anchor not in ("context", "source"):
            raise InputError(f"--anchor is {self.anchor!r}, expected context or source")
        if self.anchor == "source":
            options.refuse_idle(options.changed(self, "turns"), "is about contexts, and --anchor source reads none")


@dataclass(frozen=True)
class Learnt(scores.Learnt):
    """As for ratings, with the loss of the paper beside the squared error."""

    loss: Annotated[
        str,
        options.choice(
            "--loss", among="mse pairwise mse+pairwise", help="pairwise: a query's own reply before other replies."
        ),
    ] = "mse+pairwise"
    margin: Annotated[
        float | None, typer.Option("--margin", help="Margin of the pairwise loss; the paper has 0.5.")
    ] = None


@options.common(
    without=shared.NO_METRICS | scores.BY_METHOD | {"phenomena"}, defaults={**scores.DEFAULTS, "method": "frozen"}
)
def train_ruber(
    *,
    dialogues: Dialogues,
    columns: options.Columns = None,
    output: shared.Output,
    queries: Queries,
    how: RegressorRecipe,
    learnt: Learnt,
    schedule: Schedule,
    kept: scores.Kept,
    named: shared.Named,
    run: shared.Run,
) -> None:
    """Train a scorer of replies on dialogues, for ruber:model=...; a stopped run continues."""
    queries.check()
    recipe = replace(how, reference=False, source=True)
    setup = scores.Setup(output, recipe, learnt, schedule, kept, named, run, columns=columns)
    runtime, recipe = setup.prepared(dialogues)
    from nlgauge.training.examples import related_examples

    segments = [s for path in dialogues for s in read(path, columns=options.columns_of(columns))]
    turns = None if queries.anchor == "source" else queries.turns
    examples = related_examples(segments, turns, queries.negatives, run.seed)
    setup.train(examples, recipe, runtime, {"negatives": str(queries.negatives), "low": "0", "high": "1"}, None)
