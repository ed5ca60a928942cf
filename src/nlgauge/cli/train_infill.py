"""`nlgauge train infill`: a masked language model on an encoder, from raw sentences."""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import options
from nlgauge.core.errors import MissingExtra


def train_infill(
    texts: Annotated[list[str], typer.Argument(metavar="TEXTS...", help="Raw sentences, one a line, plain or .gz.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the head goes: a name in .safetensors.")
    ],
    model: Annotated[
        str, typer.Option("--model", help="embedded, a folder, or a hub id of a BERT encoder.")
    ] = "embedded",
    revision: Annotated[str | None, typer.Option("--revision", help="Of a hub model.")] = None,
    rank: Annotated[int, typer.Option("--rank", min=1, help="Of the adapters.")] = 16,
    alpha: Annotated[float, typer.Option("--alpha", help="Scale of the adapters times their rank.")] = 32.0,
    share: Annotated[float, typer.Option("--mask", help="Share of the words that are masked.")] = 0.15,
    shown: Annotated[
        float, typer.Option("--shown", help="Share of these that is shown, as they are or as others; BERT: 0.2.")
    ] = 0.0,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Passes over the texts.")] = 1,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Texts a step.")] = 64,
    rate: Annotated[float, typer.Option("--learning-rate", help="The highest.")] = 1e-3,
    warmup: Annotated[
        float, typer.Option("--warmup", min=0, max=1, help="Share of the steps in which the rate rises.")
    ] = 0.06,
    decay: Annotated[float, typer.Option("--weight-decay", min=0, help="Of AdamW.")] = 0.01,
    dropout: Annotated[float, typer.Option("--dropout", min=0, help="Of the encoder.")] = 0.0,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=8, help="Longest text; what is longer is cut.")] = 128,
    dev: Annotated[
        list[str] | None, typer.Option("--dev", metavar="FILE", help="Texts whose words are guessed after each pass.")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Of the head, for its metadata.")] = "",
    recipe: Annotated[str, typer.Option("--recipe", help="Where its recipe is, for its metadata.")] = "",
    data: Annotated[str, typer.Option("--data", help="What it learns from, for its metadata.")] = "",
    seed: options.Seed = 0,
    device: options.Device = "auto",
    dtype: options.DType = "bfloat16",
    quiet: options.Quiet = False,
) -> None:
    """Train a filler of gaps on raw sentences, for infill=FILE; a run that was stopped goes on where it was."""
    from nlgauge.io.files.files import InputFile

    options.check_outputs({"--output": output}, [*texts, *(dev or ())])
    runtime = options.make_runtime(device, dtype, seed, None, True, quiet)
    try:
        from nlgauge.training.infill import InfillRecipe, train_infill
        from nlgauge.training.loop import Schedule
    except ModuleNotFoundError as error:
        raise MissingExtra(f"training (no {error.name})", "train") from None
    schedule = Schedule(
        epochs=epochs, batch_size=batch_size, learning_rate=rate, warmup=warmup, weight_decay=decay, seed=seed
    )
    how = InfillRecipe(
        model=model,
        revision=revision,
        rank=rank,
        alpha=alpha,
        share=share,
        shown=shown,
        dropout=dropout,
        max_tokens=max_tokens,
        schedule=schedule,
    )
    sets = [[InputFile(path) for path in paths or ()] for paths in (texts, dev)]
    tell = (lambda line: None) if quiet else (lambda line: typer.echo(line, err=True))
    found = train_infill(
        sets[0], output, how, runtime, dev=sets[1], about={"name": name, "recipe": recipe, "data": data}, tell=tell
    )
    if found:
        typer.echo("    n  top-1  top-5   loss")
    for row in found:
        typer.echo(f"{row.n:5d}  {row.top1:.3f}  {row.top5:.3f}  {row.loss:5.3f}  {row.name}")
