"""`nlgauge train spans`: a head that marks the words at fault, from texts whose errors are known by their place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import options
from nlgauge.cli.terminal import echo
from nlgauge.cli.train import options as shared
from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile
from nlgauge.report.tables import number
from nlgauge.training.recipe import Schedule, SpanRecipe

if TYPE_CHECKING:
    from nlgauge.training.span_thresholds import SpanScore

Examples = Annotated[
    list[str],
    typer.Argument(
        metavar="EXAMPLES...",
        help="JSON lines: texts with spans, pairs of nlgauge perturb, triples of nlgauge synth; named twice, a file"
        " counts twice.",
    ),
]
Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Where the head goes: a name in .safetensors.")
]
_HEADER = "    n  one to one  precision  recall  left clean"


@dataclass(frozen=True)
class Sets:
    """Options: the data that thresholds are fixed on, and that the head is measured on."""

    dev: Annotated[
        list[str] | None,
        typer.Option("--dev", metavar="FILE", help="Examples to fix the thresholds on.  [default: 0.5 for all]"),
    ] = None
    most_marked: Annotated[
        float | None,
        typer.Option(
            "--most-marked",
            metavar="SHARE",
            help="Largest share of texts without errors that may get a mark; fixed on --dev.  [default: any]",
        ),
    ] = None
    test: Annotated[
        list[str] | None, typer.Option("--test", metavar="FILE", help="Examples to evaluate on at the end.")
    ] = None


@options.common(without=shared.NO_METRICS)
def train_spans(
    *,
    examples: Examples,
    output: Output,
    how: SpanRecipe,
    schedule: Schedule,
    sets: Sets,
    named: shared.Named,
    run: shared.Run,
) -> None:
    """Train a head that marks the words at fault, for explain --model FILE; a stopped run continues."""
    options.check_outputs({"--output": shared.file_of(output)}, [*examples, *(sets.dev or ()), *(sets.test or ())])
    if sets.most_marked is not None and not sets.dev:
        raise InputError("--most-marked is fixed on texts without errors; name some by --dev FILE")
    if sets.most_marked is not None and not 0 < sets.most_marked < 1:
        raise InputError(f"--most-marked is {sets.most_marked:g}, expected a share between 0 and 1")
    runtime, about = run.runtime(cached=False), named.about()
    with shared.training_installed():
        from nlgauge.training import span_examples, span_thresholds, spans
    recipe = replace(how, schedule=replace(schedule, seed=run.seed))
    train, dev, test = (
        [(path, span_examples.read_span_examples(InputFile(path))) for path in paths or ()]
        for paths in (examples, sets.dev, sets.test)
    )
    tell = shared.teller(run.quiet)
    pairs = [one.labelled() for _, own in train for one in own]
    clean = sum(pair.has_error() == 0 for pair in pairs)
    tell(f"{len(pairs)} examples, {clean / len(pairs):.2f} of them without an error")
    spans.train_spans(pairs, output, recipe, runtime, about=about, dropout=recipe.dropout, init=recipe.init, tell=tell)
    if dev:
        known = [one for _, own in dev for one in own]
        limits = span_thresholds.fix_thresholds(output, known, runtime, most_marked=sets.most_marked)
        texts = f", {limits.text:g} for whole texts" if limits.text else ""
        tell(f"thresholds {limits.words:g} for words, {limits.missing:g} for what is missing{texts}")
    else:
        tell("no --dev: thresholds are 0.5; explain --mark-from sets another")
    if dev or test:
        echo(_HEADER)
    for path, own in (*dev, *test):
        echo(_line(span_thresholds.score_spans(output, own, runtime, path)))


def _line(score: SpanScore) -> str:
    cells = zip((score.f1, score.precision, score.recall, score.left_clean), (10, 9, 6, 10), strict=True)
    shown = "  ".join(f"{number(value, 3, missing='-'):>{width}}" for value, width in cells)
    return f"{score.n:5d}  {shown}  {score.name}"
