"""`nlgauge train`: what is learnt from data, and the options that all kinds of training share beside their recipes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from nlgauge.cli import options
from nlgauge.cli.main import TRAIN, VERBS, as_typed, echo, group_of
from nlgauge.core.errors import InputError, MissingExtra, nearest
from nlgauge.core.options import Argument, Range, Typed
from nlgauge.core.result import STDOUT, Row, replacing
from nlgauge.core.spec import quote
from nlgauge.io.evalset import read_set
from nlgauge.io.files import InputFile, Lines
from nlgauge.metaeval.pooling import layer_study, layers_result
from nlgauge.metrics.embedding import vectors
from nlgauge.metrics.embedding.bertscore import measure_unrelated
from nlgauge.perturbations.perturb import PERTURBATIONS
from nlgauge.training.recipe import InfillRecipe, Model, NliRecipe, Recipe, Schedule

if TYPE_CHECKING:
    from nlgauge.training.nli import Accuracy


_WITHOUT_ADAPTERS = ("frozen", "full", "ridge")  # methods
Side = Literal["source", "hypothesis", "reference"]
NO_METRICS = frozenset({"cache", "no_cache", "encoder"})  # training names its encoder itself
Output = Annotated[
    str, Typed("FILE.safetensors: a head; else a folder with the encoder in it.", ("--output", "-o"), "PATH")
]


def check_adapters(recipe: Recipe, method: str) -> None:
    """Refuse options of adapters where there are none."""
    if method in _WITHOUT_ADAPTERS:
        idle = options.changed(recipe, "rank", "alpha")
        options.refuse_idle(idle, f"is about adapters, and --method {method} trains none")


ABOUT = ("name", "recipe", "data", "phenomena")  # of a head
About = Annotated[
    list[str] | None,
    Typed("What metadata say: name, recipe, data or phenomena (ids with commas).", ("--about",), "WHAT=TEXT"),
]


def metadata(about: list[str] | None, known: Sequence[str] = ABOUT) -> dict[str, str]:
    """What was typed about a model, as its metadata hold it; empty where nothing was.

    Raises:
        InputError: something else is told than is known, or a perturbation is unknown.
    """
    found = dict.fromkeys(known, "")
    for pair in about or ():
        what, sign, text = pair.partition("=")
        if not sign or what not in found:
            raise InputError(f"--about {pair!r:.60}{nearest(what, known)}; expected WHAT=TEXT, as in data=TEXT")
        found[what] = text
    if ids := listed(found.get("phenomena", "")):
        for name in ids:
            PERTURBATIONS.lookup(name)
        found["phenomena"] = ",".join(ids)
    return {"trained_on_phenomena" if what == "phenomena" else what: text for what, text in found.items()}


@dataclass(frozen=True)
class TrainRun(options.Common):
    """As for other verbs, with a precision that suits training on this device."""

    # bfloat16 takes ten times as long as float32 on a processor that does not multiply it.
    dtype: Annotated[
        str, Typed("Precision of training; auto: as nlgauge doctor says.", words="auto bfloat16 float32")
    ] = "auto"


def listed(names: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in names.split(",") if name.strip()]


@contextmanager
def training_installed() -> Iterator[None]:
    """Imports of what only training needs.

    Raises:
        MissingExtra: something that the extra `train` installs is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(f"training (no {error.name})", "train") from None


def file_of(output: str) -> str | None:
    """The output where it is a file; None for a folder that is there, which takes files of its own.

    Raises:
        InputError: it is standard output, which takes no model.
    """
    if output == STDOUT:
        raise InputError("--output - is standard output, expected a file or a folder for the model")
    return None if os.path.isdir(output) else output


def teller(quiet: bool, err: bool = True) -> Callable[[str], None]:
    """A function that reports the progress of training on stderr, or on standard output."""
    return (lambda line: None) if quiet else (lambda line: echo(line, err=err))


@dataclass(frozen=True)
class SideFields:
    """The fields that are read beside the hypothesis."""

    source: Annotated[bool, Typed("Read the source, too.")] = False
    no_reference: Annotated[bool, Typed("Do not read references.")] = False
    side: Annotated[
        Side | None, Typed("Read this side alone, for sentinel:model=.", words="source hypothesis reference")
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Which texts are read, as a recipe names them."""
        if self.side is None:
            return {"reference": not self.no_reference, "source": self.source}
        options.refuse_idle(
            options.changed(self, "source", "no_reference"), "is about comparisons, and --side has none"
        )
        return {"reference": self.side == "reference", "source": self.side == "source", "side": self.side}


# --- `nlgauge train`: what is learnt from data, from the simplest on

app = group_of(TRAIN, help=VERBS["train"].summary)


# --- `nlgauge train baseline` and `nlgauge train layers`: what BERTScore needs of an encoder


@options.verb(without=NO_METRICS)
def train_baseline(
    *,
    texts: Annotated[
        str, Argument("Raw sentences, one per line, plain or .gz; - for standard input.", metavar="TEXTS")
    ],
    output: Annotated[str, Typed("Where the baseline goes: rows LAYER,P,R,F.", ("--output", "-o"), "FILE")],
    model: Model = "embedded",
    pairs: Annotated[int, Range(least=1), Typed("Random pairs of sentences.")] = 10_000,
    run: options.Common,
) -> None:
    """Measure what unrelated sentences score at every layer, for bertscore:rescale=true,baseline=FILE.

    TEXTS are raw sentences, one per line. Random pairs of them are scored by BERTScore at every layer, and the mean
    precision, recall and F of each layer are written as `LAYER,P,R,F`. `bertscore:rescale=true,baseline=FILE` then maps
    these means to 0.

    A baseline belongs to one encoder and to texts of one kind and language: take sentences like those that you score.
    """
    options.check_outputs({"--output": output}, texts)
    runtime = run.runtime(cached=False)
    lines = Lines(InputFile(texts))
    try:
        sentences = [text for _, text in lines]
    finally:
        lines.file.close()
    if not sentences:
        raise InputError(f"{lines.file.name} is empty, expected one sentence per line")
    rows = measure_unrelated(sentences, model, runtime, pairs=pairs, seed=run.seed)
    with replacing(output) as file:
        file.write(vectors.as_text(rows))
    if not run.quiet and output != STDOUT:
        echo(vectors.as_text(rows), nl=False)


@options.verb(without={"typed_seed", "segments", "encoder"})
def train_layers(
    *,
    data: Annotated[str, Argument("Texts with references and ratings; see 'nlgauge list formats'.", metavar="DATA")],
    columns: options.Columns = None,
    model: Annotated[
        list[str] | None,
        Typed(
            "embedded, base, a folder, or a hub id[@REVISION]; repeat it for curves of several in one.",
            ("--model", "--encoder"),
            "MODEL",
        ),
    ] = None,
    criterion: options.Criterion = None,
    level: Annotated[str, Typed("segment, item or system.", metavar="LEVEL")] = "segment",
    stat: Annotated[str, Typed("What is measured; see 'nlgauge list statistics'.", metavar="STAT")] = "pearson",
    idf: Annotated[bool, Typed("Weigh pieces by idf.")] = False,
    files: options.Files,
    run: options.Common,
) -> None:
    """Find the layer whose BERTScore agrees best with people, for bertscore:model=...,layer=N.

    DATA has references and ratings. Every layer of the encoder is scored by BERTScore and compared with people, as
    `nlgauge meta` does at `--level` and by `--stat`. The last line is the specification of the best layer. Several
    `--model` give a curve each, and `--html` draws them. The result file is of kind `meta`; rows of the group `mean`
    are the curve.

    For models of bert_score's table the best layer is known; for others nlgauge takes floor(0.75 × depth) unless you
    say `layer=N`.

    The best of several layers on the data that you report is a little too good: check the choice on other data. Each
    layer is kept in the score cache, so the same command goes on after a stop.
    """
    files.check(data)
    models = list(dict.fromkeys(model or ["embedded"]))
    dataset, inputs = read_set([data], options.columns_of(columns))
    runtime = run.runtime()
    tell = teller(quiet=files.printed, err=False)

    def advance(layer: int, row: Row) -> None:
        if not layer:
            tell(f"layer  {stat}")
        value, low, high = (f"{row[name]:.4f}" for name in ("value", "low", "high"))
        tell(f"{layer:5d}  {value}{'' if 'nan' in (low, high) else f' [{low}, {high}]'}")

    studies, of_data = [], (criterion, level, stat)
    for name in models:
        if len(models) > 1:
            tell(name)
        studies.append(layer_study(dataset, name, *of_data, idf=idf, runtime=runtime, advance=advance))
    result = as_typed(layers_result(studies, inputs))
    files.write(result)
    for study in studies:
        named = "" if study.model == "embedded" else f"model={quote(study.model)},"
        tell(f"best: bertscore:{named}layer={study.best}")


# --- `nlgauge train infill`: a masked language model on an encoder, from raw sentences

HeadOutput = Annotated[str, Typed("Where the head goes: a name in .safetensors.", ("--output", "-o"), "FILE")]


@options.verb(without=NO_METRICS)
def train_infill(
    *,
    texts: Annotated[list[str], Argument("Raw sentences, one per line, plain or .gz.", metavar="TEXTS...")],
    output: HeadOutput,
    how: InfillRecipe,
    schedule: Schedule,
    dev: Annotated[list[str] | None, Typed("Texts whose words are guessed after each pass.", metavar="FILE")] = None,
    about: About = None,
    run: TrainRun,
) -> None:
    """Train a filler of gaps on raw sentences, for infill=FILE; a stopped run continues.

    TEXTS are raw sentences, one per line; those of fewer than three known words are left out. The head fills one gap
    with one word, wherever an option `infill=` or `--infill` takes a model; it is made for the encoder that it was
    trained on (any BERT), whose SHA-256 it holds. It needs the extra `train`.

    Files of `--dev` are evaluated after each pass and at the end, on 15 % of their words: `top-1` is the share of words
    that are the best guess of the whole vocabulary, `top-5` the share among the best five.

    A stopped run goes on with the same command, from `OUTPUT.checkpoint`, and ends with the same weights; a checkpoint
    of other data or settings is refused.
    """
    options.check_outputs({"--output": file_of(output)}, texts, dev)
    told = metadata(about, ("name", "recipe", "data"))
    runtime = run.runtime(cached=False)
    with training_installed():
        from nlgauge.training import infill
    recipe = replace(how, schedule=replace(schedule, seed=run.seed))
    train, held_out = ([InputFile(path) for path in paths or ()] for paths in (texts, dev))
    guesses = infill.train_infill(train, output, recipe, runtime, dev=held_out, about=told, tell=teller(run.quiet))
    if guesses:
        echo("    n  top-1  top-5   loss")
    for row in guesses:
        echo(f"{row.n:5d}  {row.top1:.3f}  {row.top5:.3f}  {row.loss:5.3f}  {row.name}")


# --- `nlgauge train nli`: an NLI model from labelled pairs

_WIDTHS = (8, 7, 6, 7, 6)


@options.verb(without=NO_METRICS)
def train_nli(
    *,
    pairs: Annotated[
        list[str],
        Argument("JSON lines: premise, hypothesis, label; named twice, a file counts twice.", metavar="PAIRS..."),
    ],
    output: Annotated[
        str, Typed("FILE.safetensors: a head; else a folder for transformers.", ("--output", "-o"), "PATH")
    ],
    how: NliRecipe,
    schedule: Schedule,
    dev: Annotated[list[str] | None, Typed("Pairs to evaluate on after each pass.", metavar="FILE")] = None,
    test: Annotated[list[str] | None, Typed("Pairs to evaluate on at the end.", metavar="FILE")] = None,
    about: About = None,
    run: TrainRun,
) -> None:
    """Train an NLI model on labelled pairs, for nli:model=...; a stopped run continues.

    PAIRS are JSON lines with `premise`, `hypothesis` and `label`: entailment, neutral or contradiction, in any case;
    another label is refused with its line. Several files are read one after another, and one that is named twice counts
    twice. It needs the extra `train`.

    A name in `.safetensors` gives a head: adapters in float16 and a classifier, for the encoder that they were made for
    (a BERT or an MPNet). Any other name gives a folder for transformers, with the adapters merged and the tokenizer
    beside them, for every family that it can classify with. `--method full` trains all weights and wants a learning
    rate of about 2e-5.

    Each `--dev` (after each pass) and `--test` file has a line: accuracy of three classes, `two-way` accuracy of
    entailment against the rest, and the share found of each class.

    `--about phenomena=IDS` records which perturbations were among the examples, and an audit marks such rows. A stopped
    run goes on with the same command.
    """
    options.check_outputs({"--output": file_of(output)}, pairs, dev, test)
    check_adapters(how, how.method)
    told = metadata(about)
    runtime = run.runtime(cached=False)
    with training_installed():
        from nlgauge.training import nli
    recipe = replace(how, schedule=replace(schedule, seed=run.seed))
    train, dev_files, test_files = ([InputFile(path) for path in paths or ()] for paths in (pairs, dev, test))
    accuracies = nli.train_nli(
        train, output, recipe, runtime, dev=dev_files, test=test_files, about=told, tell=teller(run.quiet)
    )
    if accuracies:
        echo("    n  accuracy  two-way  entail  neutral  contra")
    for accuracy in accuracies:
        echo(_line(accuracy))


def _line(accuracy: Accuracy) -> str:
    shares = (accuracy.accuracy, accuracy.two_way, *accuracy.recall)
    cells = "  ".join(f"{x:{width}.3f}" for x, width in zip(shares, _WIDTHS, strict=True))
    return f"{accuracy.n:5d}  {cells}  {accuracy.name}"
