"""`nlgauge train sescore` and `nlgauge train regressor`: metrics learnt from synthetic errors, or from people's ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import options
from nlgauge.core.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from nlgauge.runtime.runtime import Runtime
    from nlgauge.training.dev import Dev
    from nlgauge.training.examples import Example
    from nlgauge.training.regressor import RegressorRecipe

Output = Annotated[
    str,
    typer.Option(
        "--output", "-o", metavar="PATH", help="FILE.safetensors: a head; else a folder with the encoder in it."
    ),
]
Model = Annotated[str, typer.Option("--model", help="embedded, a folder, or a hub id.")]
Revision = Annotated[str | None, typer.Option("--revision", help="Of a hub model.")]
Method = Annotated[
    str,
    typer.Option("--method", help="lora: adapters on all linear layers; frozen: none, encoded once; full: everything."),
]
Rank = Annotated[int, typer.Option("--rank", min=1, help="Of the adapters.")]
Alpha = Annotated[float, typer.Option("--alpha", help="Scale of the adapters times their rank.")]
Layer = Annotated[
    str,
    typer.Option(
        "--layer", metavar="N[,N...]|mix", help="Whose mean vectors are read; mix: all, weighed.  [default: the last]"
    ),
]
Features = Annotated[str, typer.Option("--features", help="4h: vectors, product, difference; 2h: product, difference.")]
Widths = Annotated[str, typer.Option("--widths", metavar="N,N", help="Of the hidden layers; the paper has 2048,1024.")]
Dropout = Annotated[float, typer.Option("--dropout", min=0, help="Behind each hidden layer.")]
EncoderDropout = Annotated[float, typer.Option("--encoder-dropout", min=0, help="Of the encoder while it learns.")]
LossName = Annotated[
    str, typer.Option("--loss", help="mse, pairwise (hypotheses of one reference in their order) or mse+pairwise.")
]
Margin = Annotated[
    float | None,
    typer.Option("--margin", help="Of the pairwise loss, in score units.  [default: none, a logistic loss]"),
]
PairWeight = Annotated[float, typer.Option("--pairwise-weight", help="Of the pairwise loss beside the other.")]
Standardise = Annotated[
    bool, typer.Option("--standardise", help="Learn scores less their mean over their deviation; undone in use.")
]
Epochs = Annotated[int, typer.Option("--epochs", min=1, help="Passes over the data.")]
BatchSize = Annotated[int, typer.Option("--batch-size", min=1, help="Examples a step.")]
Rate = Annotated[
    float | None, typer.Option("--learning-rate", help="The highest.  [default: lora 5e-4, frozen 1e-3, full 3e-5]")
]
Warmup = Annotated[float, typer.Option("--warmup", min=0, max=1, help="Share of the steps in which the rate rises.")]
Decay = Annotated[float, typer.Option("--weight-decay", min=0, help="Of AdamW; 0 is Adam.")]
MaxTokens = Annotated[int, typer.Option("--max-tokens", min=3, help="Longest text; a longer one is cut.")]
DevFile = Annotated[str | None, typer.Option("--dev", metavar="DATA", help="Rated texts that choose the best weights.")]
Stat = Annotated[str, typer.Option("--stat", metavar="STAT", help="Their agreement; see 'nlgauge list statistics'.")]
HeldOut = Annotated[
    float,
    typer.Option(
        "--held-out", min=0, help="Without --dev: share of references held back instead; 0 keeps the last weights."
    ),
]
Every = Annotated[
    int | None,
    typer.Option("--evaluate-every", min=1, metavar="STEPS", help="Between evaluations.  [default: twice a pass]"),
]
Curve = Annotated[
    str | None, typer.Option("--curve", metavar="FILE", help="Loss and evaluations of every step, as TSV.")
]
Name = Annotated[str, typer.Option("--name", help="Of the head, for its metadata.")]
Recipe = Annotated[str, typer.Option("--recipe", help="Where its recipe is, for its metadata.")]
Data = Annotated[str, typer.Option("--data", help="What it learns from, for its metadata.")]
Phenomena = Annotated[
    str,
    typer.Option("--phenomena", metavar="IDS", help="Perturbations it is shown, for its metadata: ids with commas."),
]
Criterion = Annotated[str | None, typer.Option("--criterion", "-c", metavar="NAME", help="What was rated.")]
DType = Annotated[str, typer.Option("--dtype", help="Of training: bfloat16 or float32.")]
_WORST = -25.0  # what five severe errors come to, and what MQM gives text that is no translation
_STAT = "kendall_b"  # as in training.dev, which loads numbers


def train_sescore(
    triples: Annotated[
        list[str], typer.Argument(metavar="TRIPLES...", help="JSON lines of 'nlgauge synth': hyp, refs, score.")
    ],
    output: Output,
    model: Model = "embedded",
    revision: Revision = None,
    method: Method = "lora",
    rank: Rank = 16,
    alpha: Alpha = 32.0,
    layer: Layer = "",
    features: Features = "4h",
    widths: Widths = "512,256",
    dropout: Dropout = 0.15,
    encoder_dropout: EncoderDropout = 0.0,
    loss: LossName = "mse",
    margin: Margin = None,
    pairwise_weight: PairWeight = 1.0,
    standardise: Standardise = False,
    copies: Annotated[
        float,
        typer.Option("--copies", min=0, max=1, help="Share of references learnt as their own hypothesis, at score 0."),
    ] = 0.0,
    unrelated: Annotated[
        float,
        typer.Option("--unrelated", min=0, max=1, help="Share of references with another one as hypothesis, at -25."),
    ] = 0.0,
    epochs: Epochs = 2,
    batch_size: BatchSize = 64,
    rate: Rate = None,
    warmup: Warmup = 0.06,
    decay: Decay = 0.01,
    max_tokens: MaxTokens = 256,
    dev: DevFile = None,
    criterion: Criterion = None,
    stat: Stat = _STAT,
    held_out: HeldOut = 0.05,
    evaluate_every: Every = None,
    curve: Curve = None,
    name: Name = "",
    recipe: Recipe = "",
    data: Data = "",
    phenomena: Phenomena = "",
    severities: Annotated[str, typer.Option("--severities", help="How the scores were made, for its metadata.")] = "",
    seed: options.Seed = 0,
    device: options.Device = "auto",
    dtype: DType = "bfloat16",
    quiet: options.Quiet = False,
) -> None:
    """Train SEScore on synthetic errors, for sescore:model=...; a run that was stopped goes on where it was."""
    given = dict(locals())
    if criterion is not None and dev is None:
        raise InputError("--criterion says what the texts of --dev were rated for, and there is no --dev")
    runtime, how = _prepared(given, triples)
    from nlgauge.io.files.files import InputFile
    from nlgauge.training.examples import read_triples, renumbered, with_copies, with_unrelated

    made = renumbered([read_triples(InputFile(path)) for path in triples])
    bounded = [
        example._replace(score=max(example.score, _WORST)) for example in made
    ]  # more than five errors, and an unrelated text is no better
    examples = with_unrelated(with_copies(bounded, copies, 0.0, seed), unrelated, _WORST, seed)
    about = {
        "severities": severities,
        "copies": f"{copies:g}",
        "unrelated": f"{unrelated:g}",
        "low": f"{_WORST:g}",
        "high": "0",
    }
    _train(examples, given, how, runtime, about, None if dev is None else _dev(dev, criterion, stat, how))


def train_regressor(
    rated: Annotated[list[str], typer.Argument(metavar="DATA...", help="Rated texts; see 'nlgauge list formats'.")],
    output: Output,
    criterion: Criterion = None,
    source: Annotated[bool, typer.Option("--source", help="Read the source, too.")] = False,
    no_reference: Annotated[bool, typer.Option("--no-reference", help="Do not read references.")] = False,
    model: Model = "embedded",
    revision: Revision = None,
    method: Method = "lora",
    rank: Rank = 16,
    alpha: Alpha = 32.0,
    layer: Layer = "",
    features: Features = "4h",
    widths: Widths = "512,256",
    dropout: Dropout = 0.15,
    encoder_dropout: EncoderDropout = 0.0,
    loss: LossName = "mse",
    margin: Margin = None,
    pairwise_weight: PairWeight = 1.0,
    standardise: Standardise = False,
    epochs: Epochs = 2,
    batch_size: BatchSize = 64,
    rate: Rate = None,
    warmup: Warmup = 0.06,
    decay: Decay = 0.01,
    max_tokens: MaxTokens = 256,
    dev: DevFile = None,
    stat: Stat = _STAT,
    held_out: HeldOut = 0.05,
    evaluate_every: Every = None,
    curve: Curve = None,
    name: Name = "",
    recipe: Recipe = "",
    data: Data = "",
    phenomena: Phenomena = "",
    seed: options.Seed = 0,
    device: options.Device = "auto",
    dtype: DType = "bfloat16",
    quiet: options.Quiet = False,
) -> None:
    """Train a metric on people's ratings, for regressor:model=...; a run that was stopped goes on where it was."""
    given = dict(locals())
    runtime, how = _prepared(given, rated)
    from nlgauge.training.examples import rated_examples, renumbered

    parts = []
    for path in rated:
        segments, ratings, chosen = _rated(path, criterion)
        parts.append(rated_examples(segments, ratings, how.reference, how.source))
    about = {"criterion": chosen}
    _train(renumbered(parts), given, how, runtime, about, None if dev is None else _dev(dev, criterion, stat, how))


def _prepared(given: dict[str, Any], inputs: list[str]) -> tuple[Runtime, RegressorRecipe]:
    """The runtime and the recipe that the options describe; refuses before anything is read what could not be written."""
    output = given["output"]
    checked_phenomena(given["phenomena"])
    if given["stat"] != _STAT and given["dev"] is None:
        raise InputError(
            "--stat says how the texts of --dev are measured, and there is no --dev; what is held back is measured by"
            f" {_STAT}"
        )
    options.check_outputs(
        {"--output": None if Path(output).is_dir() else output, "--curve": given["curve"]},
        [*inputs, *_dev_file(given["dev"])],
    )
    runtime = options.make_runtime(given["device"], given["dtype"], given["seed"], None, True, given["quiet"])
    try:
        from nlgauge.training.learner import Loss
        from nlgauge.training.loop import Schedule
        from nlgauge.training.regressor import METHODS, RATES, RegressorRecipe
    except ModuleNotFoundError as error:
        raise MissingExtra(f"training (no {error.name})", "train") from None
    method = given["method"]
    if method not in METHODS:
        raise InputError(f"--method is {method!r}, expected {', '.join(METHODS[:-1])} or {METHODS[-1]}")
    plain = (
        "model",
        "revision",
        "method",
        "rank",
        "alpha",
        "features",
        "dropout",
        "encoder_dropout",
        "standardise",
        "max_tokens",
        "held_out",
    )
    recipe = RegressorRecipe(
        **{key: given[key] for key in (*plain, "evaluate_every")},
        layers="mix" if given["layer"] == "mix" else _numbers(given["layer"], "--layer"),
        reference=not given.get("no_reference", False),
        source=given.get("source", False),
        widths=_numbers(given["widths"], "--widths"),
        loss=Loss(name=given["loss"], margin=given["margin"], weight=given["pairwise_weight"]),
        schedule=Schedule(
            epochs=given["epochs"],
            batch_size=given["batch_size"],
            learning_rate=RATES[method] if given["rate"] is None else given["rate"],
            warmup=given["warmup"],
            weight_decay=given["decay"],
            seed=given["seed"],
        ),
    )
    return runtime, recipe


def checked_phenomena(listed: str) -> str:
    """Ids of perturbations as metadata have them; an unknown one is refused with the nearest known."""
    from nlgauge.perturbations.registry import PERTURBATIONS

    names = [name.strip() for name in listed.split(",") if name.strip()]
    for name in names:
        PERTURBATIONS.lookup(name)
    return ",".join(names)


def _dev_file(dev: str | None) -> list[str]:
    return [] if dev is None or Path(dev).is_dir() else [dev]


def _numbers(listed: str, option: str) -> tuple[int, ...]:
    names = [name.strip() for name in listed.split(",") if name.strip()]
    for name in names:
        if not name.isdigit():
            raise InputError(
                f"{option} is {listed!r}, expected whole numbers with commas{' or mix' if option == '--layer' else ''}"
            )
    return tuple(map(int, names))


def _rated(path: str, criterion: str | None) -> tuple[Any, Any, str]:
    """Segments that were rated, their ratings, and for what."""
    from nlgauge.io.read import read
    from nlgauge.metaeval.align import chosen_criteria, judged

    dataset = read(path)
    chosen = chosen_criteria(dataset, criterion)
    if len(chosen) != 1:
        raise InputError(f"{path} has {len(chosen)} criteria ({', '.join(chosen)}), expected the name of one")
    segments, human, _ = judged(dataset, chosen)
    return segments, human[chosen[0]], chosen[0]


def _dev(path: str, criterion: str | None, stat: str, recipe: RegressorRecipe) -> Dev:
    from nlgauge.training.dev import Dev
    from nlgauge.training.examples import rated_examples

    try:
        segments, ratings, chosen = _rated(path, criterion)
    except InputError as error:
        raise InputError(f"--dev: {error}") from None
    examples = rated_examples(segments, ratings, recipe.reference, recipe.source)
    return Dev(f"{stat} on {Path(path).name}, {chosen}", examples, stat, lambda owner: segments[owner].group)


def _train(
    examples: list[Example],
    given: dict[str, Any],
    recipe: RegressorRecipe,
    runtime: Runtime,
    about: dict[str, str],
    dev: Dev | None,
) -> None:
    from nlgauge.training.regressor import train_regressor as train

    quiet = given["quiet"]
    about = (
        {key: given[key] for key in ("name", "recipe", "data")}
        | {"trained_on_phenomena": checked_phenomena(given["phenomena"])}
        | about
    )
    tell = (lambda line: None) if quiet else (lambda line: typer.echo(line, err=True))
    found = train(examples, given["output"], recipe, runtime, dev=dev, about=about, curve=given["curve"], tell=tell)
    if quiet:
        return
    if found.best is None:
        why = "" if not found.evaluated else f"; {found.dev} was never defined"
        typer.echo(f"kept the weights of the last step, {found.steps}{why}")
    else:
        typer.echo(f"kept the weights of step {found.best[0]} of {found.steps}: {found.dev} {found.best[1]:.4f}")
