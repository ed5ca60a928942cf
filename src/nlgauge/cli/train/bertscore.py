"""`nlgauge train baseline` and `nlgauge train layers`: what BERTScore needs of an encoder."""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import judged, options
from nlgauge.cli.terminal import as_typed, echo
from nlgauge.cli.train import options as shared
from nlgauge.core.errors import InputError
from nlgauge.core.result import STDOUT, Row, replacing
from nlgauge.core.spec import quote
from nlgauge.io.files import InputFile, Lines
from nlgauge.metaeval.pooling import layer_study, layers_result
from nlgauge.metrics.embedding import vectors
from nlgauge.metrics.embedding.bertscore import measure_unrelated
from nlgauge.training.recipe import Model, Revision

Texts = Annotated[
    str, typer.Argument(metavar="TEXTS", help="Raw sentences, one per line, plain or .gz; - for standard input.")
]
Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Where the baseline goes: rows LAYER,P,R,F.")
]
Pairs = Annotated[int, typer.Option("--pairs", min=1, help="Random pairs of sentences.")]
Data = Annotated[
    str, typer.Argument(metavar="DATA", help="Texts with references and ratings; see 'nlgauge list formats'.")
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        "--encoder",
        metavar="MODEL",
        help="embedded, base, a folder, or a hub id; repeat it for curves of several in one.",
    ),
]
RevisionOfOne = Annotated[str | None, typer.Option("--revision", help="Revision of a hub model; of one alone.")]
Level = Annotated[str, typer.Option("--level", metavar="LEVEL", help="segment, item or system.")]
Stat = Annotated[str, typer.Option("--stat", metavar="STAT", help="What is measured; see 'nlgauge list statistics'.")]
Idf = Annotated[bool, typer.Option("--idf", help="Weigh pieces by idf.")]


@options.common(without=shared.NO_METRICS)
def train_baseline(
    *,
    texts: Texts,
    output: Output,
    model: Model = "embedded",
    revision: Revision = None,
    pairs: Pairs = 10_000,
    run: options.Common,
) -> None:
    """Measure what unrelated sentences score at every layer, for bertscore:rescale=true,baseline=FILE."""
    options.check_outputs({"--output": output}, [texts])
    runtime = run.runtime(cached=False)
    lines = Lines(InputFile(texts))
    try:
        sentences = [text for _, text in lines]
    finally:
        lines.file.close()
    if not sentences:
        raise InputError(f"{lines.file.name} is empty, expected one sentence per line")
    rows = measure_unrelated(sentences, model, runtime, pairs=pairs, seed=run.seed, revision=revision)
    with replacing(output) as file:
        file.write(vectors.as_text(rows))
    if not run.quiet and output != STDOUT:
        echo(vectors.as_text(rows), nl=False)


@options.common(without={"typed_seed", "segments", "encoder"})
def train_layers(
    *,
    data: Data,
    columns: options.Columns = None,
    model: Models = None,
    revision: RevisionOfOne = None,
    criterion: judged.Criterion = None,
    level: Level = "segment",
    stat: Stat = "pearson",
    idf: Idf = False,
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> None:
    """Find the layer whose BERTScore agrees best with people, for bertscore:model=...,layer=N."""
    shown.check(files)
    files.check([data])
    models = list(dict.fromkeys(model or ["embedded"]))
    if revision is not None and len(models) > 1:
        raise InputError("--revision is of one model, and several are named; study them one by one")
    dataset, inputs = judged.read_data(data, columns=columns)
    runtime = run.runtime()
    tell = shared.teller(quiet=files.printed or shown.form != "text", err=False)

    def advance(layer: int, row: Row) -> None:
        if not layer:
            tell(f"layer  {stat}")
        tell(f"{layer:5d}  {_with_interval(row, shown.width)}")

    studies, of_data = [], (criterion, level, stat)
    for name in models:
        if len(models) > 1:
            tell(name)
        studies.append(
            layer_study(dataset, name, *of_data, revision=revision, idf=idf, runtime=runtime, advance=advance)
        )
    result = as_typed(layers_result(studies, inputs))
    files.write(result)
    if shown.form != "text" and not files.printed:
        shown.show(result, run.quiet)
    for study in studies:
        named = "" if study.model == "embedded" else f"model={quote(study.model)},"
        tell(f"best: bertscore:{named}layer={study.best}")


def _with_interval(row: Row, width: int | None) -> str:
    """The value of a layer, with its interval where there is one."""
    value, low, high = (f"{row[name]:.{4 if width is None else width}f}" for name in ("value", "low", "high"))
    return value if "nan" in (low, high) else f"{value} [{low}, {high}]"
