"""Your own regressor: trained on synthesised errors, or on people's ratings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import torch

from nlgauge.core.errors import InputError
from nlgauge.models.encoder import load_encoder, torch_device
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.matching import mean_vectors
from nlgauge.models.regressor import MIX
from nlgauge.models.tokens import TextTokenizer
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.adapters import add_adapters
from nlgauge.training.classifier import FEATURES, encoder_below, narrow_frozen, pad_of
from nlgauge.training.crossed import CrossedLearner, PairTexts, crossed_network, inherited
from nlgauge.training.dev import Dev, held_out
from nlgauge.training.examples import Encoded, Example, Texts, grouped_batches
from nlgauge.training.heads import check_output
from nlgauge.training.learner import Learner
from nlgauge.training.loop import Checkpoint, alone, fit_network, learning
from nlgauge.training.network import RegressorNetwork
from nlgauge.training.parallel import Cores, cores
from nlgauge.training.recipe import RegressorRecipe, beginning, check_precision, recipe_facts, trainable
from nlgauge.training.regressor_files import save_regressor, whole_encoder
from nlgauge.training.watch import BestWeights


@dataclass(frozen=True)
class Trained:
    """How a training run went.

    Attributes:
        n: the number of training examples.
        steps: the number of steps of the whole run.
        losses: the loss of each step.
        evaluated: step -> agreement with the development set.
        best: step and agreement of the weights that were kept; None where the last weights were.
        dev: what was evaluated: a name and a statistic.
        n_dev: the number of segments that it was evaluated on.
    """

    n: int
    steps: int
    losses: tuple[float, ...]
    evaluated: Mapping[int, float]
    best: tuple[int, float] | None
    dev: str
    n_dev: int = 0


@alone
def train_regressor(
    examples: Sequence[Example],
    output: str,
    recipe: RegressorRecipe,
    runtime: Runtime,
    *,
    dev: Dev | None = None,
    about: Mapping[str, str] | None = None,
    curve: str | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Trained:
    """Train on texts with scores, keep the best weights, and write the model.

    Args:
        examples: see `nlgauge.training.examples`: `read_triples` or `rated_examples`.
        output: a `.safetensors` name for a head (feed-forward network and adapters), any other name for a folder with
            the whole encoder; features `both` make a head.
        recipe: what is trained, and how.
        runtime: device, precision (bfloat16 or float32) and progress.
        dev: the set by which the best weights are chosen; None holds out a share of the examples, see
            `RegressorRecipe.held_out`.
        about: more metadata: name, recipe, data, low and high (the ends of the scale), ...; all values are strings.
        curve: a TSV file for the loss of each step and the evaluations.
        tell: called with lines about the progress.

    Raises:
        InputError: examples, options or outputs are not usable; also what `locate` raises.
        MissingExtra: torch or peft is not installed.
    """
    _check(recipe, runtime, output)
    files = trainable(locate(recipe.model, recipe.revision), runtime, recipe.method)
    layers = recipe.chosen_layers(files.depth)
    run = _run(examples, dev, recipe, runtime, files)
    own = dict(about or {}) if recipe.init is None else inherited(recipe.init, about or {})
    learnt_from = list(examples)
    if dev is None and recipe.held_out:
        learnt_from, dev = held_out(examples, recipe.held_out, recipe.schedule.seed)
    texts = _texts(recipe, files)
    train = texts.encode(learnt_from)
    tested = None if dev is None else texts.encode(dev.examples)
    tell(f"{len(train)} examples, {texts.summary}, in {runtime.dtype}")
    mean, sd = (float(train.scores.mean()), float(train.scores.std()) or 1.0) if recipe.standardise else (0.0, 1.0)
    first = (float(train.scores.mean()) - mean) / sd  # of the last bias: no steps are spent on finding the mean
    learner_on: Callable[..., Learner | CrossedLearner]
    if isinstance(texts, PairTexts):
        learner_on = partial(CrossedLearner, crossed_network(recipe, files, first, runtime), texts)
    else:
        network, means = _network(recipe, files, layers, output.endswith(".safetensors"), texts, first, runtime)
        learner_on = partial(Learner, network, texts, means)
    checkpoint = Checkpoint.beside(output, run)
    with cores(torch_device(torch, runtime.device)) as several:
        at_work = Cores(None) if recipe.encoder_dropout else several
        learner = learner_on(recipe.loss, mean, sd, pad_of(files), runtime.dtype, at_work)
        best = _fit(learner, train, recipe, checkpoint, runtime, dev, tested, tell)
    metadata = _metadata(recipe, layers, texts.tokenizer.max_tokens) | _scale(train, mean, sd) | own
    save_regressor(output, learner.network, files, recipe, runtime.dtype, metadata)
    if curve is not None:
        best.write(curve)
    checkpoint.done()
    steps, chosen_by = recipe.schedule.steps(len(train)), "" if dev is None else dev.name
    n_dev = 0 if dev is None else dev.n
    return Trained(len(train), steps, tuple(best.losses), dict(best.evaluated), best.best, chosen_by, n_dev)


def _texts(recipe: RegressorRecipe, files: ModelFiles) -> Texts | PairTexts:
    if recipe.is_crossed:
        return PairTexts(PairTokenizer(files, recipe.max_tokens))
    return Texts(TextTokenizer(files, recipe.max_tokens, space=False))


def _fit(
    learner: Learner | CrossedLearner,
    train: Encoded,
    recipe: RegressorRecipe,
    checkpoint: Checkpoint,
    runtime: Runtime,
    dev: Dev | None,
    tested: Encoded | None,
    tell: Callable[[str], None],
) -> BestWeights:
    """Train the network; the best weights, where a development set chooses them, stand in it afterwards."""
    schedule = recipe.schedule
    steps = schedule.steps(len(train))
    best = BestWeights(
        learning(learner.network),
        None if dev is None or tested is None else lambda: dev.measure(learner.predict(tested), tested.owners),
        recipe.evaluate_every or -(-schedule.steps_per_pass(len(train)) // 2),
        steps,
        lambda step, value: tell(f"step {step} of {steps}: {dev.name if dev else ''} {value:.4f}"),
    )
    fit_network(
        learner.network,
        lambda where: learner.loss(train.take(where)),
        train.lengths,
        schedule,
        checkpoint,
        runtime,
        watch=best,
        batches=partial(grouped_batches, train.groups, train.lengths, schedule.batch_size, schedule.seed),
    )
    best.settle()
    return best


def _network(
    recipe: RegressorRecipe,
    files: ModelFiles,
    layers: Sequence[int],
    is_head: bool,
    texts: Texts,
    first: float,
    runtime: Runtime,
) -> tuple[RegressorNetwork, torch.Tensor | None]:
    """The network on its device, its last bias at `first`; where the encoder is frozen, the means of all texts."""
    mixed = recipe.layers == MIX
    means: torch.Tensor | None = None
    encoder: Any = None
    if recipe.method == "frozen":
        with runtime.progress(len(texts.ids), "encoding") as advance:
            frozen = load_encoder(recipe.model, recipe.revision, "float32", runtime).network
            means = mean_vectors(frozen, texts.ids, layers, budget=runtime.token_budget, advance=advance)
        size = int(means.shape[2])
    else:
        encoder = (
            encoder_below(files, recipe.encoder_dropout)
            if is_head
            else whole_encoder(files, recipe.encoder_dropout, layers)
        )
        if is_head:
            encoder.encoder.layer = encoder.encoder.layer[
                : max(layers)
            ]  # what stands above the highest layer is never run
        size = int(encoder.config.hidden_size)
    with torch.random.fork_rng([]):
        torch.manual_seed(recipe.schedule.seed)
        if recipe.method == "lora":
            encoder = add_adapters(encoder, recipe.rank, recipe.alpha)
        network = RegressorNetwork(encoder, layers, mixed, recipe.blocks, size, recipe.widths, recipe.dropout)
    if recipe.method == "lora" and runtime.dtype == "bfloat16":
        narrow_frozen(network)
    with torch.no_grad():
        network.out.bias.fill_(first)
    network.to(torch_device(torch, runtime.device))
    return network.train(), means


def _check(recipe: RegressorRecipe, runtime: Runtime, output: str) -> None:
    if recipe.method == "ridge":
        raise InputError("method is 'ridge', which train_ridge fits: it takes no steps, and has no network")
    check_precision(runtime)
    if recipe.is_crossed and not output.endswith(".safetensors"):
        raise InputError(
            f"{output}: features {recipe.features!r} make a head, which is a file; end the name in .safetensors"
        )
    check_output(output, recipe.method)
    if recipe.method == "frozen" and not output.endswith(".safetensors"):
        raise InputError(f"{output}: a frozen encoder need not be written again; name a head, ending in .safetensors")


def _scale(train: Encoded, mean: float, sd: float) -> dict[str, str]:
    """The ends of the scale that was learnt, and what turns the network's numbers back to it."""
    low, high = train.scores.min(), train.scores.max()
    return {"low": f"{low:g}", "high": f"{high:g}", "target_mean": repr(mean), "target_sd": repr(sd)}


def _metadata(recipe: RegressorRecipe, layers: Sequence[int], max_tokens: int | None) -> dict[str, str]:
    facts = {
        "method": recipe.method,
        "features": ",".join(recipe.blocks),
        "loss": recipe.loss.name,
        "max_tokens": str(max_tokens),
    }
    if recipe.is_crossed:
        return facts | {"pooling": FEATURES}
    return facts | {
        "layers": MIX if recipe.layers == MIX else ",".join(map(str, layers)),
        "pooling": "mean of all tokens",
        "widths": ",".join(map(str, recipe.widths)),
    }


def _run(
    examples: Sequence[Example], dev: Dev | None, recipe: RegressorRecipe, runtime: Runtime, files: ModelFiles
) -> str:
    """Everything that makes the weights, as one line: what a checkpoint must be of."""
    facts = recipe_facts(recipe, runtime, files) | asdict(recipe.loss)
    del facts["name"]
    if recipe.init is None:
        del facts["init"]  # runs from before there was a choice go on
    else:
        facts["init"] = beginning(recipe.init)
    facts |= {"loss": recipe.loss.name, "train": _digest(examples)}
    if dev is not None and dev.chooses_by:
        facts["dev_choice"] = sha256(json.dumps(dev.chooses_by).encode()).hexdigest()
    return json.dumps(facts | {"dev": None if dev is None else [dev.name, _digest(dev.examples)]}, sort_keys=True)


def _digest(examples: Sequence[Example]) -> str:
    digest = sha256()
    for texts, score, owner in examples:
        digest.update(json.dumps([dict(texts), score, owner], sort_keys=True).encode())
    return digest.hexdigest()
