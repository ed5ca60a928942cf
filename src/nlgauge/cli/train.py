"""`nlgauge train`: what is learnt from data, from the simplest on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import options, train_infill, train_scores
from nlgauge.core.errors import MissingExtra

app = typer.Typer(help="Make what a metric needs from data.", no_args_is_help=True, rich_markup_mode=None)


app.command("infill")(train_infill.train_infill)
app.command("sescore")(train_scores.train_sescore)
app.command("regressor")(train_scores.train_regressor)


@app.callback()
def _root() -> None:
    pass


@app.command("baseline")
def train_baseline(
    texts: Annotated[
        str, typer.Argument(metavar="TEXTS", help="Raw sentences, one a line, plain or .gz; - for standard input.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the baseline goes: rows LAYER,P,R,F.")
    ],
    model: Annotated[str, typer.Option("--model", help="embedded, a folder, or a hub id.")] = "embedded",
    revision: Annotated[str | None, typer.Option("--revision", help="Of a hub model.")] = None,
    pairs: Annotated[int, typer.Option("--pairs", min=1, help="Random pairs of sentences.")] = 10_000,
    seed: options.Seed = 0,
    device: options.Device = "auto",
    dtype: options.DType = "float32",
    quiet: options.Quiet = False,
) -> None:
    """Measure what unrelated sentences score at every layer, for bertscore:rescale=true,baseline=FILE."""
    from nlgauge.core.result import replacing
    from nlgauge.io.files.files import InputFile
    from nlgauge.io.files.lines import Lines
    from nlgauge.metrics.embedding import baseline
    from nlgauge.metrics.embedding.unrelated import measure_unrelated

    options.check_outputs({"--output": output}, [texts])
    runtime = options.make_runtime(device, dtype, seed, None, True, quiet)
    lines = Lines(InputFile(texts))
    try:
        sentences = [text for _, text in lines]
    finally:
        lines.file.close()
    rows = measure_unrelated(sentences, model, runtime, pairs=pairs, seed=seed, revision=revision)
    with replacing(output) as file:
        file.write(baseline.as_text(rows))
    if not quiet:
        typer.echo(baseline.as_text(rows), nl=False)


@app.command("layers")
def train_layers(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="Texts with references and ratings; see 'nlgauge list formats'.")
    ],
    model: Annotated[str, typer.Option("--model", help="embedded, a folder, or a hub id.")] = "embedded",
    revision: Annotated[str | None, typer.Option("--revision", help="Of a hub model.")] = None,
    criterion: Annotated[str | None, typer.Option("--criterion", "-c", metavar="NAME", help="What was rated.")] = None,
    level: Annotated[str, typer.Option("--level", metavar="LEVEL", help="segment, item or system.")] = "segment",
    stat: Annotated[
        str, typer.Option("--stat", metavar="STAT", help="What is measured; see 'nlgauge list statistics'.")
    ] = "pearson",
    idf: Annotated[bool, typer.Option("--idf", help="Weigh pieces by idf.")] = False,
    json: options.Json = None,
    device: options.Device = "auto",
    dtype: options.DType = "float32",
    cache: options.CacheFolder = None,
    no_cache: options.NoCache = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the layer whose BERTScore agrees best with people, for bertscore:model=...,layer=N."""
    from nlgauge.cli.meta import read_data
    from nlgauge.metaeval.layers import layer_study

    options.check_outputs({"--json": json}, [data])
    dataset, inputs = read_data(data)
    runtime = options.make_runtime(device, dtype, 0, cache, no_cache, quiet)
    typer.echo(f"layer  {stat}")
    study = layer_study(
        dataset, model, criterion, level, stat, revision=revision, idf=idf, runtime=runtime, advance=_show_layer
    )
    if json is not None:
        study.result(inputs).write(json)
    name = "" if model == "embedded" else f"model={model},"
    typer.echo(f"best: bertscore:{name}layer={study.best}")


@app.command("nli")
def train_nli(
    pairs: Annotated[
        list[str],
        typer.Argument(
            metavar="PAIRS...", help="JSON lines: premise, hypothesis, label; named twice, a file counts twice."
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="PATH", help="FILE.safetensors: a head; else a folder for transformers."
        ),
    ],
    model: Annotated[str, typer.Option("--model", help="embedded, a folder, or a hub id.")] = "embedded",
    revision: Annotated[str | None, typer.Option("--revision", help="Of a hub model.")] = None,
    method: Annotated[
        str, typer.Option("--method", help="lora: adapters on all linear layers; full: everything.")
    ] = "lora",
    rank: Annotated[int, typer.Option("--rank", min=1, help="Of the adapters.")] = 16,
    alpha: Annotated[float, typer.Option("--alpha", help="Scale of the adapters times their rank.")] = 32.0,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Passes over the data.")] = 1,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Pairs a step.")] = 64,
    rate: Annotated[float, typer.Option("--learning-rate", help="The highest; 2e-5 suits full fine-tuning.")] = 1e-3,
    warmup: Annotated[
        float, typer.Option("--warmup", min=0, max=1, help="Share of the steps in which the rate rises.")
    ] = 0.06,
    decay: Annotated[float, typer.Option("--weight-decay", min=0, help="Of AdamW.")] = 0.01,
    dropout: Annotated[float, typer.Option("--dropout", min=0, help="Of the encoder.")] = 0.0,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=8, help="Longest pair; of a longer one the longer side is cut.")
    ] = 256,
    init: Annotated[str | None, typer.Option("--init", metavar="FILE", help="A head to begin from.")] = None,
    dev: Annotated[
        list[str] | None, typer.Option("--dev", metavar="FILE", help="Pairs to evaluate on after each pass.")
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option("--test", metavar="FILE", help="Pairs to evaluate on at the end.")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Of the head, for its metadata.")] = "",
    recipe: Annotated[str, typer.Option("--recipe", help="Where its recipe is, for its metadata.")] = "",
    data: Annotated[str, typer.Option("--data", help="What it learns from, for its metadata.")] = "",
    phenomena: Annotated[
        str,
        typer.Option(
            "--phenomena", metavar="IDS", help="Perturbations it is shown, for its metadata: ids with commas."
        ),
    ] = "",
    seed: options.Seed = 0,
    device: options.Device = "auto",
    dtype: options.DType = "bfloat16",
    quiet: options.Quiet = False,
) -> None:
    """Train an NLI model on labelled pairs, for nli:model=...; a run that was stopped goes on where it was."""
    from nlgauge.io.files.files import InputFile

    options.check_outputs(
        {"--output": None if Path(output).is_dir() else output}, [*pairs, *(dev or ()), *(test or ())]
    )
    runtime = options.make_runtime(device, dtype, seed, None, True, quiet)
    try:
        from nlgauge.training.loop import Schedule
        from nlgauge.training.nli import NliRecipe, train_nli
    except ModuleNotFoundError as error:
        raise MissingExtra(f"training (no {error.name})", "train") from None
    schedule = Schedule(
        epochs=epochs, batch_size=batch_size, learning_rate=rate, warmup=warmup, weight_decay=decay, seed=seed
    )
    how = NliRecipe(
        model=model,
        revision=revision,
        method=method,
        rank=rank,
        alpha=alpha,
        dropout=dropout,
        max_tokens=max_tokens,
        init=init,
        schedule=schedule,
    )
    about = {
        "name": name,
        "recipe": recipe,
        "data": data,
        "trained_on_phenomena": train_scores.checked_phenomena(phenomena),
    }
    sets = [[InputFile(path) for path in paths or ()] for paths in (pairs, dev, test)]
    tell = (lambda line: None) if quiet else (lambda line: typer.echo(line, err=True))
    found = train_nli(sets[0], output, how, runtime, dev=sets[1], test=sets[2], about=about, tell=tell)
    if found:
        typer.echo("    n  accuracy  two-way  entail  neutral  contra")
    for row in found:
        shares = (row.accuracy, row.two_way, *row.recall)
        widths = (8, 7, 6, 7, 6)
        typer.echo(f"{row.n:5d}  {'  '.join(f'{x:{w}.3f}' for x, w in zip(shares, widths, strict=True))}  {row.name}")


def _show_layer(layer: int, value: float) -> None:
    typer.echo(f"{layer:5d}  {value:.4f}")
