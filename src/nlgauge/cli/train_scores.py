"""`nlgauge train` of metrics: what is learnt from synthetic errors, from ratings, or from dialogues."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import options
from nlgauge.cli import train as shared
from nlgauge.cli.main import echo
from nlgauge.core.errors import InputError
from nlgauge.core.options import Argument, Range, Typed
from nlgauge.core.result import STDOUT
from nlgauge.core.segment import Segment
from nlgauge.io.files import InputFile
from nlgauge.io.read import read
from nlgauge.metaeval.joined import chosen_criteria
from nlgauge.metaeval.joined import judged as rated_only
from nlgauge.metrics.registry import named as metrics_named
from nlgauge.metrics.registry import on_encoder
from nlgauge.report.tables import Table
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.linear import Fitted, Within
from nlgauge.training.linear import train_beer as fit_beer
from nlgauge.training.linear import train_blend as fit_blend
from nlgauge.training.recipe import RATES, Loss, RegressorRecipe, Schedule

if TYPE_CHECKING:
    from nlgauge.training.examples import Example
    from nlgauge.training.loop import Dev


_WORST = -25.0  # what five severe errors come to, and what MQM gives text that is no translation
_FEW = 50  # segments: by chance alone, tau-b of 50 reaches 0.19 in one of twenty sets
# Of a schedule: what the method says, and what is another than in other recipes.
BY_METHOD, DEFAULTS = frozenset({"learning_rate"}), {"epochs": RegressorRecipe().schedule.epochs}
_STAT = "kendall_b"  # as in training.dev, which loads numbers

Rated = Annotated[list[str], Argument("Rated texts; see 'nlgauge list formats'.", metavar="DATA...")]
DevFile = Annotated[str | None, Typed("Rated texts that choose the best weights.", metavar="DATA")]
# The paper's training where it is not the default.
_RECIPE = {"model": "FacebookAI/roberta-large", "method": "full", "features": "2h", "widths": (2048, 1024)}
_SCHEDULE = {"epochs": 1, "batch_size": 8, "rate": 3e-5, "warmup": 0.0, "constant": True, "weight_decay": 0.0}
_CHOSEN = {"stat": "wmt_kendall_like", "threshold": 0.0}  # with --dev: Kendall by source, human ties left out


@dataclass(frozen=True)
class Learnt:
    """Options: the layers that are read, the loss, and the rate: what a recipe has in another form."""

    layer: Annotated[
        str,
        Typed("Layers whose mean vectors are read; mix: all, weighed.  [default: the last]", metavar="N[,N...]|mix"),
    ] = ""
    loss: Annotated[
        str, Typed("pairwise: hypotheses of one reference in their order.", words="mse pairwise mse+pairwise")
    ] = "mse"
    margin: float | None = None  # an option where a paper has one
    rate: Annotated[
        float | None,
        Typed("The highest learning rate.  [default: lora 5e-4, frozen 1e-3, full 3e-5]", ("--learning-rate",)),
    ] = None

    strength: Annotated[
        float | None,
        Range(least=1e-9),
        Typed("Penalty of --method ridge.  [default: the best on examples left out one at a time]"),
    ] = None

    untrained: Annotated[
        float,
        Range(least=0),
        Typed("Of --method ridge with match: BERTScore's F beside what is learnt, in deviations."),
    ] = 0.0

    def check(self, recipe: RegressorRecipe) -> None:
        """Refuse options that change nothing beside others."""
        if recipe.method != "ridge":
            options.refuse_idle(options.changed(self, "strength", "untrained"), "is about --method ridge")
        if self.loss == "mse":
            idle = {"margin": self.margin is not None}
            options.refuse_idle(idle, "is about the pairwise loss; --loss pairwise or mse+pairwise has one")
        if recipe.method == "frozen":
            idle = options.changed(recipe, "encoder_dropout")
            options.refuse_idle(idle, "is about an encoder that learns, and --method frozen keeps it as it is")

    def of(self, recipe: RegressorRecipe, schedule: Schedule) -> RegressorRecipe:
        """The recipe with these."""
        recipe = replace(recipe, layers="mix" if self.layer == "mix" else _layers(self.layer))
        if recipe.method == "ridge":  # it takes no steps
            return recipe
        rate = RATES[recipe.method] if self.rate is None else self.rate
        return replace(
            recipe,
            loss=Loss(name=self.loss, margin=self.margin),  # type: ignore[arg-type]
            schedule=replace(schedule, learning_rate=rate),
        )


@dataclass(frozen=True)
class KeptWeights:
    """Which weights are kept."""

    stat: Annotated[str, Typed("Their agreement; see 'nlgauge list statistics'.", metavar="STAT")] = _STAT
    threshold: float | None = None  # of wmt_kendall_like in the paper's training
    curve: Annotated[str | None, Typed("Loss and evaluations of every step, as TSV.", metavar="FILE")] = None

    def check(self, dev: str | None, recipe: RegressorRecipe) -> None:
        """Refuse options that change nothing with or without texts of --dev."""
        if dev is not None:
            options.refuse_idle(options.changed(recipe, "held_out"), "holds texts back, and --dev brings them")
        elif self.stat != _STAT:
            raise InputError(
                "--stat says how the texts of --dev are measured, and there is no --dev; what is held back is measured"
                f" by {_STAT}"
            )


@dataclass(frozen=True)
class Setup:
    """All that is the same for both verbs."""

    output: str
    recipe: RegressorRecipe
    learnt: Learnt
    schedule: Schedule
    kept: KeptWeights
    about: Mapping[str, str]
    run: shared.TrainRun
    dev: str | None = None
    columns: list[str] | None = None

    def prepared(self, inputs: list[str]) -> tuple[Runtime, RegressorRecipe]:
        """The runtime and the recipe; refuses what could not be written before anything is read."""
        if self.recipe.method == "ridge":
            self._check_idle()
        self.kept.check(self.dev, self.recipe)
        shared.check_adapters(self.recipe, self.recipe.method)
        self.learnt.check(self.recipe)
        dev = None if self.dev is None or os.path.isdir(self.dev) else self.dev
        options.check_outputs({"--output": shared.file_of(self.output), "--curve": self.kept.curve}, inputs, dev)
        runtime = self.run.runtime(cached=False)
        with shared.training_installed():
            import nlgauge.training.regressor  # noqa: F401  # what it needs is missed before anything is read
        return runtime, self.learnt.of(self.recipe, replace(self.schedule, seed=self.run.seed))

    def rated_dev(self, criterion: str | None, recipe: RegressorRecipe) -> Dev | None:
        """The texts of --dev; None where there are none."""
        if self.dev is None:
            return None
        from nlgauge.training.examples import rated_examples
        from nlgauge.training.loop import Dev

        try:
            segments, ratings, rated_for = read_rated(self.dev, criterion, self.columns)
        except InputError as error:
            raise InputError(f"--dev: {error}") from None
        examples = rated_examples(segments, ratings, recipe.reference, recipe.source)
        name = f"{self.kept.stat} on {Path(self.dev).name}, {rated_for}"
        items = None if any(segment.item is None for segment in segments) else lambda owner: segments[owner].item
        try:
            return Dev(name, examples, self.kept.stat, lambda owner: segments[owner].group, items, self.kept.threshold)
        except InputError as error:
            raise InputError(f"--dev: {error}") from None

    def train(
        self, examples: list[Example], recipe: RegressorRecipe, runtime: Runtime, about: dict[str, str], dev: Dev | None
    ) -> None:
        """Train, and say which weights were kept."""
        if recipe.method == "ridge":
            return self._fit(examples, recipe, runtime, about)
        from nlgauge.training.regressor import train_regressor as train

        outcome = train(
            examples,
            self.output,
            recipe,
            runtime,
            dev=dev,
            about={**self.about, **about},
            curve=self.kept.curve,
            tell=shared.teller(self.run.quiet),
        )
        if self.run.quiet:
            return
        if outcome.best is None:
            why = "" if not outcome.evaluated else f"; {outcome.dev} was never defined"
            echo(f"kept the weights of the last step, {outcome.steps}{why}")
        else:
            step, value = outcome.best
            echo(f"kept the weights of step {step} of {outcome.steps}: {outcome.dev} {value:.4f}")
            if outcome.n_dev < _FEW:
                echo(
                    f"note: the weights were chosen by {outcome.n_dev} segments, too few for this number to mean much;"
                    " give rated texts (--dev), or hold back more (--held-out)"
                )

    def _fit(self, examples: list[Example], recipe: RegressorRecipe, runtime: Runtime, about: dict[str, str]) -> None:
        from nlgauge.training.regressor import train_ridge

        tell = shared.teller(self.run.quiet)
        strength, agreement = train_ridge(
            examples,
            self.output,
            recipe,
            runtime,
            strength=self.learnt.strength,
            untrained=self.learnt.untrained,
            about={**self.about, **about},
            tell=tell,
        )
        if not self.run.quiet:
            left_out = f"pearson {agreement:.4f} with examples left out one at a time"
            echo(f"{len(examples)} examples; strength {strength:g}; {left_out}")

    def _check_idle(self) -> None:
        """Refuse options of networks and of steps where neither is."""
        names = ("widths", "encoder_dropout", "held_out", "standardise")
        idle = options.changed(self.recipe, *names) | options.changed(self.learnt, "loss", "rate")
        idle |= {"margin": self.learnt.margin is not None}
        steps = options.flags_of(self.schedule).keys() - BY_METHOD
        idle |= options.changed(self.schedule, *sorted(steps), usual=RegressorRecipe().schedule)
        idle |= {"dev": self.dev is not None, "curve": self.kept.curve is not None}
        options.refuse_idle(idle, "is about networks that learn in steps, and --method ridge has none")


@options.verb(without=shared.NO_METRICS | BY_METHOD, defaults=DEFAULTS)
def train_sescore(
    *,
    context: typer.Context,
    triples: Annotated[list[str], Argument("JSON lines of 'nlgauge synth': hyp, refs, score.", metavar="TRIPLES...")],
    output: shared.Output,
    preset: Annotated[
        str | None, Typed("paper: SEScore's training, in place of what is not typed.", words="paper")
    ] = None,
    how: RegressorRecipe,
    learnt: Learnt,
    copies: Annotated[
        float, Range(least=0, most=1), Typed("Share of references learnt as their own hypothesis, at score 0.")
    ] = 0.0,
    unrelated: Annotated[
        float, Range(least=0, most=1), Typed("Share of references with another one as hypothesis, at -25.")
    ] = 0.0,
    schedule: Schedule,
    dev: DevFile = None,
    criterion: options.Criterion = None,
    kept: KeptWeights,
    about: Annotated[
        list[str] | None,
        Typed("What metadata say: name, recipe, data, phenomena (ids with commas), severities.", metavar="WHAT=TEXT"),
    ] = None,
    run: shared.TrainRun,
) -> None:
    """Train SEScore on synthetic errors, for sescore:model=...; a stopped run continues.

    TRIPLES are JSON lines of `nlgauge synth`: `hyp` (the damaged sentence), `refs` and `score`, the sum of severities
    from -25 to 0 (a lower one is set to -25). There is an example for each reference. Adapters need the extra `train`;
    `--method frozen` and `ridge` do not.

    A name in `.safetensors` gives a head on the encoder that it was made for; any other name a folder with encoder,
    tokenizer and network. `--dev` with ratings keeps the weights that agree best with people, by `--stat` within each
    group; else a share of the references (`--held-out`) decides by its own scores. `--held-out 0` keeps the last
    weights. Do not test on the set that chose.

    `--method ridge` fits a weighted sum, in seconds; triples need a `--strength`. `--copies` and `--unrelated` add
    references as hypotheses, with scores 0 and -25: edits never show what texts with nothing in common should get.

    `--source`, `--no-reference` and `--side` choose what is read. A stopped run goes on from `OUTPUT.checkpoint` and
    ends with the same weights and curve on the same machine; other data or settings are refused. `--preset paper` wants
    a GPU and the hub.
    """
    if criterion is not None and dev is None:
        raise InputError("--criterion says what the texts of --dev were rated for, and there is no --dev")
    told = shared.metadata(about, (*shared.ABOUT, "severities"))
    setup = Setup(output, how, learnt, schedule, kept, told, run, dev)
    if preset is not None:
        setup = _as_published(context, preset, setup)
    runtime, recipe = setup.prepared(triples)
    from nlgauge.training.examples import read_triples, renumbered, with_extremes

    read_all = renumbered([read_triples(InputFile(path)) for path in triples])
    # however many errors: an unrelated text is no better
    bounded = [example._replace(score=max(example.score, _WORST)) for example in read_all]
    examples = with_extremes(bounded, copies, unrelated, _WORST, run.seed)
    made = {"copies": f"{copies:g}", "unrelated": f"{unrelated:g}", "low": f"{_WORST:g}", "high": "0"}
    setup.train(examples, recipe, runtime, made, setup.rated_dev(criterion, recipe))


def _as_published(context: typer.Context, preset: str, setup: Setup) -> Setup:
    if preset != "paper":
        raise InputError(f"--preset is {preset!r}, expected paper")
    own = options.untyped(context, _RECIPE | _SCHEDULE | ({} if setup.dev is None else _CHOSEN))
    if "stat" not in own:
        own.pop("threshold", None)
    groups = {name: getattr(setup, name) for name in ("recipe", "learnt", "schedule", "kept")}
    return replace(setup, **{name: options.with_values(group, own) for name, group in groups.items()})


@options.verb(without=shared.NO_METRICS | BY_METHOD, defaults=DEFAULTS)
def train_regressor(
    *,
    rated: Rated,
    columns: options.Columns = None,
    output: shared.Output,
    criterion: options.Criterion = None,
    sides: shared.SideFields,
    how: RegressorRecipe,
    learnt: Learnt,
    schedule: Schedule,
    dev: DevFile = None,
    kept: KeptWeights,
    about: shared.About = None,
    run: shared.TrainRun,
) -> None:
    """Train a metric on people's ratings, for regressor:model=...; a stopped run continues.

    DATA is rated data as `nlgauge score` reads it, also several files. Where several people rated a segment the mean
    counts; segments without ratings are left out. There is an example for each reference. Weights are chosen, written
    and taken up again as by `nlgauge train sescore`.

    With some thousand ratings take `--method ridge --features 4h+match`: a weighted sum of features, fitted in seconds,
    learns more from so few than a network. It prints Pearson's r of examples left out one at a time; `--untrained N`
    adds BERTScore's F in deviations.

    `--features both` reads reference and hypothesis in one sequence. It learns by adapters on a BERT or MPNet, reads
    references alone (`--source`, `--side`, `--layer` and `--widths` are refused), and costs more. `--init nli-robust`
    begins from an NLI head; from an earlier head of these features only where both have `--standardise`, or neither.

    `--loss pairwise` gives an order without a scale; `--standardise` keeps scores on the scale of the ratings. Below a
    result notes say whose ratings (`--about data=TEXT`) and which errors (`--about phenomena=IDS`) the head learnt.
    """
    if how.method == "ridge":
        options.refuse_idle({"seed": run.typed_seed is not None}, "is about draws, and --method ridge draws nothing")
    told = shared.metadata(about)
    setup = Setup(output, replace(how, **sides.arguments()), learnt, schedule, kept, told, run, dev, columns)
    runtime, recipe = setup.prepared(rated)
    from nlgauge.training.examples import rated_examples, renumbered

    parts, criteria = [], []
    for path in rated:
        segments, ratings, rated_for = read_rated(path, criterion, setup.columns)
        parts.append(rated_examples(segments, ratings, recipe.reference, recipe.source))
        criteria.append(rated_for)
    criteria_of = {"criterion": ", ".join(dict.fromkeys(criteria))}
    setup.train(renumbered(parts), recipe, runtime, criteria_of, setup.rated_dev(criterion, recipe))


def _layers(names: str) -> tuple[int, ...]:
    for name in shared.listed(names):
        if not name.isdigit():
            raise InputError(f"--layer is {names!r}, expected whole numbers with commas or mix")
    return tuple(map(int, shared.listed(names)))


def read_rated(path: str, criterion: str | None, columns: list[str] | None) -> tuple[Any, Any, str]:
    """Segments that were rated, their ratings, and for what."""
    dataset = read(path, columns=options.columns_of(columns))
    criteria = chosen_criteria(dataset, criterion)
    if len(criteria) != 1:
        raise InputError(f"{path} has {len(criteria)} criteria ({', '.join(criteria)}), expected the name of one")
    segments, human, _ = rated_only(dataset, criteria)
    return segments, human[criteria[0]], criteria[0]


# --- `nlgauge train blend` and `nlgauge train beer`: linear models of ratings, from scores of metrics or from n-grams

Output = Annotated[str, Typed("Where the model goes: a JSON file.", ("--output", "-o"), "FILE")]
_NO_MODELS = frozenset({"device", "dtype", "cache", "no_cache", "encoder"})


@options.verb(without={"typed_seed"})
def train_blend(
    *,
    rated: Rated,
    columns: options.Columns = None,
    metric: Annotated[list[str], options.specs("A metric whose scores are blended; several.", "--metric", "-m")],
    output: Output,
    criterion: options.Criterion = None,
    about: shared.About = None,
    run: options.Common,
) -> None:
    """Fit ratings by a weighted sum of metrics, for blend:model=FILE; scores of models are kept in the cache.

    DATA is rated data as `nlgauge score` reads it, also several files. Several ratings of a segment count by their
    mean; segments without a rating are left out, and so, counted, are those without a score. A ridge regression
    predicts the ratings from the standardised scores of the metrics of `-m`, also sums.

    The last line has the number of segments, the penalty, and Pearson's r of ratings with predictions of segments left
    out one at a time. Expect less on new data.

    It needs no extra. Scores of models stay in the cache, so the same command goes on after a stop.
    """
    options.check_outputs({"--output": output}, rated)
    metrics = metrics_named([on_encoder(spec, run.default_encoder) for spec in metric])  # the file says their models
    segments, ratings, told = _read(rated, criterion, columns, about)
    fitted = fit_blend(segments, ratings, metrics, output, run.runtime(), about=told)
    if run.quiet or output == STDOUT:
        return
    rows = tuple((term.name, f"{term.weight:.4f}") for term in fitted.model.terms)
    echo(Table("", ("metric", "weight"), rows, left=1).text())
    left_out = f"; {fitted.n_left_out} without a score left out" if fitted.n_left_out else ""
    found = f"pearson {fitted.agreement:.4f} with segments left out one at a time"
    echo(f"{fitted.n} segments{left_out}; strength {fitted.strength:g}; {found}")


@options.verb(without=_NO_MODELS)
def train_beer(
    *,
    rated: Rated,
    columns: options.Columns = None,
    output: Output,
    criterion: options.Criterion = None,
    within: Annotated[
        Within, Typed("Pairs of hypotheses for one input, or any two of a group.", words="item group")
    ] = "item",
    about: shared.About = None,
    run: options.Common,
) -> None:
    """Learn to rank hypotheses by their n-grams from ratings, for beer:model=FILE.

    DATA is rated data as `nlgauge score` reads it, also several files. Two hypotheses that are rated apart make a pair,
    and the better one must get the higher score: a logistic regression on the difference of their features. Several
    ratings of a segment count by their mean; segments without a rating are left out.

    Data with one hypothesis for each input, such as direct assessments of WMT, need `--within group`: any two of one
    language pair or task. Of more than 100,000 pairs so many are drawn with the seed.

    The last line says how many of the pairs stand in the right order; it is about the data that were learnt. It needs
    no model and no extra.
    """
    options.check_outputs({"--output": output}, rated)
    segments, ratings, told = _read(rated, criterion, columns, about)
    fitted: Fitted = fit_beer(segments, ratings, output, run.runtime(cached=False), within=within, about=told)
    if not run.quiet and output != STDOUT:
        echo(f"{fitted.n} pairs; {100 * fitted.agreement:.1f} % of them in the right order")


def _read(
    paths: list[str], criterion: str | None, columns: list[str] | None, about: list[str] | None
) -> tuple[list[Segment], list[float], dict[str, str]]:
    """Rated segments of several files, their ratings, and what the model's file says of them.

    Inputs of different files stay apart, whatever they are called.
    """
    told = shared.metadata(about, ("data", "recipe"))
    segments: list[Segment] = []
    ratings: list[float] = []
    criteria: list[str] = []
    for number, path in enumerate(paths):
        found, values, of_file = read_rated(path, criterion, columns)
        segments += [replace(s, item=f"{number} {s.item or s.id}") if number else s for s in found]
        ratings += values.tolist()
        criteria.append(of_file)
    rated_for = ", ".join(dict.fromkeys(criteria))
    return segments, ratings, {"criterion": rated_for, **told}


# --- `nlgauge train ruber`: how well a reply goes with its query, learnt from dialogues and replies to other queries


# No reference is matched here; and what else trains replies by other numbers than the usual ones does so in Python.
_NOT_OF_REPLIES = frozenset(
    {"init", "untrained", "rank", "alpha", "max_tokens", "encoder_dropout", "standardise", "strength"}
)


@dataclass(frozen=True)
class LearntReplies(Learnt):
    """As for ratings, with the loss of the paper beside the squared error."""

    loss: Annotated[
        str, Typed("pairwise: a query's own reply before other replies.", words="mse pairwise mse+pairwise")
    ] = "mse+pairwise"
    margin: Annotated[float | None, Typed("Margin of the pairwise loss; the paper has 0.5.")] = None


@options.verb(without=shared.NO_METRICS | BY_METHOD | _NOT_OF_REPLIES, defaults={**DEFAULTS, "method": "frozen"})
def train_ruber(
    *,
    dialogues: Annotated[list[str], Argument("Dialogues; see 'nlgauge list formats'.", metavar="DATA...")],
    columns: options.Columns = None,
    output: shared.Output,
    how: RegressorRecipe,
    learnt: LearntReplies,
    schedule: Schedule,
    about: shared.About = None,
    run: shared.TrainRun,
) -> None:
    """Train a scorer of replies on dialogues, for ruber:model=...; a stopped run continues.

    DATA are dialogues: the query is the last turn of `context`, or `src` where there is none; the replies are the
    references, or `hyp` in a row without references. Each stands beside its own query, and a reply to another query
    beside it: the scorer learns how well a reply goes with its query, 0 to 1, without any rating. `ruber:model=FILE`
    combines it with how near the reply is to a reference.

    The default leaves the encoder as it is and trains the network alone (`--method frozen`), by the loss of the paper
    beside the squared error.

    Weights are chosen, written and taken up again as by `nlgauge train sescore`.
    """
    recipe = replace(how, reference=False, source=True)
    setup = Setup(output, recipe, learnt, schedule, KeptWeights(), shared.metadata(about), run, columns=columns)
    runtime, recipe = setup.prepared(dialogues)
    from nlgauge.training.examples import related_examples

    segments = [s for path in dialogues for s in read(path, columns=options.columns_of(columns))]
    setup.train(related_examples(segments, run.seed), recipe, runtime, {"low": "0", "high": "1"}, None)
