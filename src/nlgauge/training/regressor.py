"""Your own regressor, trained on synthesised errors or on people's ratings: by steps, or by ridge regression."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.metrics.embedding.vectors import best_layer
from nlgauge.models.encoder import BOTH, MATCH, MATCHED, Encoder, combined, load_encoder
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.heads import HEADS, HERE, SUFFIX, Head, find_head
from nlgauge.models.locate import ModelFiles, is_disentangled, is_read, locate
from nlgauge.models.matching import encoder_means, mean_vectors, read_pairs
from nlgauge.models.regressor import KIND, MIX, WEIGHTS, RegressorFiles, text_vectors
from nlgauge.models.tokens import Ids, TextTokenizer
from nlgauge.runtime.runtime import Advance, Runtime, torch_device
from nlgauge.stats.correlate import correlation
from nlgauge.training.examples import Encoded, Example, ExampleTexts, grouped_batches
from nlgauge.training.heads import (
    FEATURES,
    HeadNetwork,
    adapter_tensors,
    add_adapters,
    arithmetic,
    begin_adapters,
    check_output,
    encoder_below,
    head_metadata,
    head_network,
    narrow_frozen,
    new_folder,
    own_tensors,
    pad_of,
    padded,
    save_encoder,
    with_dropout,
    write_head,
)
from nlgauge.training.linear import ridge
from nlgauge.training.loop import BestWeights, Checkpoint, Cores, Dev, alone, cores, fit_network, held_out, learning
from nlgauge.training.recipe import Loss, Recipe, RegressorRecipe, beginning, check_precision, recipe_facts, trainable


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

    All hypotheses of one reference are in one batch, so each distinct text of a batch is encoded once. A run that was
    stopped goes on, see `Checkpoint`.

    Args:
        examples: see `nlgauge.training.examples`: `read_triples` or `rated_examples`.
        output: a `.safetensors` name for a head: the network, and adapters in float16, on a BERT or MPNet, or with
            method `frozen` on any family. Any other name is a folder with the whole encoder, its tokenizer, the network
            and `regressor.json`, the metadata for people to read; features `both` make a head.
        recipe: what is trained, and how.
        runtime: device, precision (bfloat16 or float32) and progress.
        dev: the set by which the best weights are chosen; None holds out `RegressorRecipe.held_out` of the examples.
        about: more metadata: name, recipe, data, low and high (the ends of the scale), ...; all values are strings.
        curve: a TSV file for the loss of each step and the evaluations.
        tell: called with lines about the progress.
    """
    _check(recipe, runtime, output)
    files = trainable(locate(recipe.model, recipe.revision), runtime, recipe.method)
    layers = recipe.chosen_layers(files.depth)
    run = _run(examples, dev, recipe, runtime, files)
    own = dict(about or {}) if recipe.init is None else inherited(recipe.init, about or {})
    learnt_from = list(examples)
    if dev is None and recipe.held_out:
        learnt_from, dev = held_out(examples, recipe.held_out, recipe.schedule.seed)
    texts = (
        PairTexts(PairTokenizer(files, recipe.max_tokens))
        if recipe.is_crossed
        else ExampleTexts(TextTokenizer(files, recipe.max_tokens, space=False))
    )
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
        learner_on = partial(Learner, network, texts, means=means)
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
    texts: ExampleTexts,
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
            # What stands above the highest layer is never run.
            encoder.encoder.layer = encoder.encoder.layer[: max(layers)]
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


# --- The regressor while it learns: an encoder, means of its layers, and a feed-forward network on them


class RegressorNetwork(torch.nn.Module):
    """See `nlgauge.models.regressor`, whose numbers these are.

    Args:
        encoder: of transformers; None where the means are known beforehand.
        layers: whose means are read.
        mixed: whether they are mixed under learnt weights, as COMET does, instead of standing side by side.
        features: see `nlgauge.models.encoder`.
        size: of a token's vector.
        widths: of the hidden layers.
        dropout: behind each of them.
    """

    def __init__(
        self,
        encoder: Any,
        layers: Sequence[int],
        mixed: bool,
        features: Sequence[str],
        size: int,
        widths: Sequence[int],
        dropout: float,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.layers, self.features, self.dropout = tuple(layers), tuple(features), dropout
        # learnt weights of layers, in equal parts at first
        parts = {"weights": torch.zeros(len(layers)), "scale": torch.ones(1)}
        self.mix = torch.nn.ParameterDict(parts) if mixed else None
        sizes = [size * (1 if mixed else len(layers)) * len(features), *widths]
        self.hidden = torch.nn.ModuleList(torch.nn.Linear(i, o) for i, o in pairwise(sizes))
        self.out = torch.nn.Linear(sizes[-1], 1)

    def means(self, **inputs: torch.Tensor) -> torch.Tensor:
        """Mean vectors of n texts, special tokens included, float32, shape (n, layers, d).

        Texts that are read alone have no types, as when the regressor is used: XLM and GPT-2 add a word for type 0.
        """
        inputs.pop("token_type_ids", None)
        if len(self.layers) == 1:
            states = [self.encoder(**inputs)[0]]
        else:
            layers_of = self.encoder(**inputs, output_hidden_states=True).hidden_states
            states = [layers_of[layer] for layer in self.layers]
        mask = inputs["attention_mask"]
        shares = (mask / mask.sum(1, keepdim=True))[:, None]  # (n, 1, T)
        with torch.autocast(mask.device.type, enabled=False):
            return torch.cat([shares @ layer.float() for layer in states], dim=1)

    def forward(self, means: torch.Tensor, rows: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Scores in units of the targets, float32, shape (n,).

        `means` are those of the distinct texts, shape (texts, layers, d); `rows` says for `hyp`, `ref` and `src` in
        which row of them that text of each segment is, shape (n,).
        """
        mix = None if self.mix is None else (torch.softmax(self.mix["weights"], dim=0), self.mix["scale"])
        vectors = text_vectors(means, mix)
        states = combined(self.features, {name: vectors[row] for name, row in rows.items()})
        for layer in self.hidden:
            states = torch.nn.functional.dropout(torch.tanh(layer(states)), self.dropout, self.training)
        scores: torch.Tensor = self.out(states)[:, 0]
        return scores


_TEXTS = 256  # or pairs, encoded together in evaluation
_ROWS = 1024


class _Learner:
    """A network and its examples; the network learns target = (score - mean) / sd.

    `cores` compute the parts of a batch. None is the calling thread, which an encoder with dropout needs: only there
    are random numbers drawn in order.
    """

    def __init__(
        self,
        network: torch.nn.Module,
        texts: ExampleTexts | PairTexts,
        loss: Loss,
        mean: float,
        sd: float,
        pad: int,
        dtype: str,
        cores: Cores | None = None,
    ) -> None:
        self.network = network
        self.loss_of, self.mean, self.sd, self.pad, self.dtype = loss, mean, sd, pad, dtype
        self.device = next(network.parameters()).device
        self._cores = cores or Cores(None)
        self._learnt = [p for p in network.parameters() if p.requires_grad]
        self._lengths = np.array([len(ids) for ids in texts.ids], dtype=np.int64)

    def loss(self, batch: Encoded) -> torch.Tensor:
        """The mean loss of a batch, of which each distinct text or pair is encoded once."""
        scores = self._scores(batch.places, None)
        targets = torch.from_numpy((batch.scores - self.mean) / self.sd).to(scores)
        return self.loss_of.of(scores, targets, torch.from_numpy(batch.groups).to(self.device), 1 / self.sd)

    def predict(self, examples: Encoded) -> npt.NDArray[np.float64]:
        """Scores of examples in their own units, shape (n,), without dropout."""
        training = self.network.training
        self.network.eval()
        with torch.inference_mode():
            scores: npt.NDArray[np.float64] = self._scores(examples.places, _TEXTS).double().cpu().numpy()
        self.network.train(training)
        return scores * self.sd + self.mean

    def _scores(self, places: Mapping[str, Ids], most: int | None) -> torch.Tensor:
        """In units of the targets, float32, shape (n,); so many texts or pairs are encoded at once, or all."""
        raise NotImplementedError

    def _distinct(self, places: Mapping[str, Ids]) -> tuple[Ids, dict[str, torch.Tensor]]:
        """The distinct texts of some examples, and the row of each text among these."""
        wanted, rows = np.unique(np.concatenate(list(places.values())), return_inverse=True)
        each = np.split(rows.reshape(-1), len(places))
        return wanted, {name: torch.from_numpy(row).to(self.device) for name, row in zip(places, each, strict=True)}

    def _encoded(self, work: Callable[[Ids], torch.Tensor], wanted: Ids, most: int | None) -> torch.Tensor:
        """What `work` gives of texts or pairs, a row for each."""
        learnt = self._learnt if torch.is_grad_enabled() else []  # threads of their own keep no graph for a prediction
        size, found = most or len(wanted), []
        for start in range(0, len(wanted), size):
            own = wanted[start : start + size]

            def some(where: Ids, own: Ids = own) -> torch.Tensor:
                return work(own[where])

            found.append(self._cores.of_sequences(some, self._lengths[own], learnt, self.device))
        return torch.cat(found)


class Learner(_Learner):
    """A network on the mean vectors of texts; `means` are those of all texts where the encoder is frozen."""

    network: RegressorNetwork

    def __init__(
        self, network: RegressorNetwork, texts: ExampleTexts, *how: Any, means: torch.Tensor | None = None
    ) -> None:
        super().__init__(network, texts, *how)
        self.texts, self.known = texts, means  # the latter of shape (texts, layers, d)

    def _scores(self, places: Mapping[str, Ids], most: int | None) -> torch.Tensor:
        wanted, rows = self._distinct(places)
        if self.known is None:
            means = self._encoded(self._means, wanted, most)
        else:
            means = self.known[torch.from_numpy(wanted).to(self.known.device)]
        n = len(next(iter(places.values())))
        size = n if most is None else _ROWS
        each = [{name: row[i : i + size] for name, row in rows.items()} for i in range(0, n, size)]
        return torch.cat([self.network(means, some) for some in each])

    def _means(self, wanted: Ids) -> torch.Tensor:
        with arithmetic(self.device, self.dtype):
            return self.network.means(**padded([self.texts.ids[i] for i in wanted], None, self.pad, self.device))


# --- One that reads hypothesis and reference in one sequence; see `nlgauge.models.regressor`


class PairTexts:
    """Distinct pairs (reference, hypothesis) of many examples, each with its pieces and their types."""

    def __init__(self, tokenizer: PairTokenizer) -> None:
        self.tokenizer = tokenizer
        self._numbers: dict[tuple[str, str], int] = {}
        self.ids: list[Ids] = []
        self.types: list[Ids] = []
        self.n_cut = 0

    @property
    def summary(self) -> str:
        """How many pairs there are, how long they are, and how many were cut."""
        tokens = np.mean([len(ids) for ids in self.ids])
        return f"{len(self.ids)} distinct pairs, {tokens:.1f} tokens each, {self.n_cut} cut"

    def encode(self, examples: Sequence[Example]) -> Encoded:
        """The examples with their pairs as numbers; `places` has one entry, `both`. Groups share a reference."""
        pairs = [(example.texts["ref"].strip(), example.texts["hyp"].strip()) for example in examples]
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._numbers]
        read = self.tokenizer.pairs(new, self.tokenizer.read(text for pair in new for text in pair))
        for place, pair in enumerate(new):
            ids, types = read.ids(place)
            self._numbers[pair] = len(self.ids)
            self.ids.append(ids)
            self.types.append(types)
        self.n_cut += int(read.truncated.sum())
        places = np.array([self._numbers[pair] for pair in pairs], dtype=np.int64)
        _, groups = np.unique([ref for ref, _ in pairs], return_inverse=True)
        return Encoded.of(examples, {BOTH: places}, groups, self.ids)


class CrossedLearner(_Learner):
    """A network with one output for each pair."""

    network: HeadNetwork

    def __init__(self, network: HeadNetwork, texts: PairTexts, *how: Any) -> None:
        super().__init__(network, texts, *how)
        self.texts = texts

    def _scores(self, places: Mapping[str, Ids], most: int | None) -> torch.Tensor:
        wanted, rows = self._distinct(places)
        return self._encoded(self._outputs, wanted, most)[rows[BOTH]]

    def _outputs(self, wanted: Ids) -> torch.Tensor:
        ids, types = [self.texts.ids[i] for i in wanted], [self.texts.types[i] for i in wanted]
        with arithmetic(self.device, self.dtype):
            outputs: torch.Tensor = self.network(**padded(ids, types, self.pad, self.device))
        return outputs[:, 0]


def crossed_network(recipe: RegressorRecipe, files: ModelFiles, first: float, runtime: Runtime) -> HeadNetwork:
    """The network on its device, ready to learn; its last bias is `first`, unless an earlier regressor brings one.

    An encoder that is neither BERT nor MPNet is refused, and a head to begin from of another kind, on another encoder,
    or that learnt scores in other units.
    """
    network = head_network(
        files,
        recipe.rank,
        recipe.alpha,
        recipe.encoder_dropout,
        recipe.schedule.seed,
        runtime.dtype == "bfloat16",
        outputs=1,
    )
    with torch.no_grad():
        network.classifier.bias.fill_(first)
    if recipe.init is not None:
        _begin(network, recipe.init, files, recipe.standardise)
    return network.to(torch_device(torch, runtime.device)).train()


def inherited(init: str, about: Mapping[str, str]) -> dict[str, str]:
    """The metadata of a head that began from another: what that one was shown, the new one has been shown, too."""
    head = _head(init)
    keys = {"trained_on_phenomena": ","}
    if head.get("criterion") is not None:  # ratings that people gave, of which every result has a note
        keys |= {"criterion": ", ", "data": "; "}
    found = {}
    for key, separator in keys.items():
        parts = [part for text in (about.get(key), head.get(key)) for part in (text or "").split(separator)]
        found[key] = separator.join(dict.fromkeys(part.strip() for part in parts if part.strip()))
    return {**about, **found, "init": str(beginning(init))}


def _begin(network: HeadNetwork, init: str, files: ModelFiles, standardise: bool) -> None:
    head = _head(init)
    if head.get("kind") == KIND:
        _begin_layer(network, head, standardise)
    begin_adapters(network.encoder, head, files)


def _head(init: str) -> Head:
    try:
        return find_head(init, "nli")
    except InputError:
        if HEADS.get(init) == "nli":
            raise
        return find_head(init, KIND)


def _begin_layer(network: HeadNetwork, head: Head, standardise: bool) -> None:
    """Take the last layer of an earlier regressor, which goes on in the units of its outputs."""
    found = RegressorFiles(head)
    if found.features != (BOTH,):
        raise InputError(
            f"head {head.path} has features {','.join(found.features)}, expected {BOTH}; begin from a head with these,"
            " or from an NLI head"
        )
    was = (found.number("target_mean", 0.0), found.number("target_sd", 1.0)) != (0.0, 1.0)
    if was != standardise:
        raise InputError(
            f"head {head.path} learnt {'standardised scores' if was else 'scores as they are'}; begin from it with"
            f" standardise {'on' if was else 'off'}"
        )
    own, _ = head.tensors()
    with torch.no_grad():
        for name, parameter in network.classifier.named_parameters():
            tensor = own.get(f"classifier.{name}")
            if tensor is None or tensor.shape != parameter.shape:
                what = "nothing" if tensor is None else f"shape {tuple(tensor.shape)}"
                raise InputError(
                    f"head {head.path} has {what} for classifier.{name}, expected shape {tuple(parameter.shape)}"
                )
            parameter.copy_(tensor)


# --- A trained regressor as files: a head beside its encoder, or a folder with both


CONFIG = "regressor.json"


def whole_encoder(files: ModelFiles, dropout: float, layers: Sequence[int]) -> Any:
    """An encoder of any family to be written as a folder, without what stands above the highest of some layers.

    Raises:
        InputError: an encoder-decoder; or another layer than the last of a family that is not BERT's, of which some
            norm the last one alone.
    """
    layer = max(layers)
    from transformers import AutoModel

    files.check()
    is_bert = is_read(files.config)
    if files.config.get("is_encoder_decoder"):
        raise InputError(
            f"model {files.name!r} is an encoder-decoder, expected an encoder; use method frozen, or name another"
        )
    if min(layers) != files.depth and not is_bert:
        raise InputError(
            f"layer is {min(layers)}: of {files.name!r}, which is not of BERT's family, only the last layer"
            f" ({files.depth}) can be trained; use method frozen for others"
        )
    unpooled = {"add_pooling_layer": False} if is_bert and not is_disentangled(files.config) else {}
    encoder = with_dropout(AutoModel, files, dropout, **unpooled)
    if layer != files.depth:
        encoder.encoder.layer = encoder.encoder.layer[:layer]
        encoder.config.num_hidden_layers = layer
    return encoder


def save_regressor(
    path: str,
    network: RegressorNetwork | HeadNetwork,
    files: ModelFiles,
    recipe: Recipe,
    dtype: str,
    about: Mapping[str, str],
) -> None:
    """Write a head (`.safetensors`) or a folder, whole or not at all; `about` wins over what the recipe says."""
    metadata = {**head_metadata(KIND, recipe, files, dtype), **about}
    if path.endswith(".safetensors"):
        adapters = {} if network.encoder is None else adapter_tensors(network.encoder)
        write_head(path, adapters | own_tensors(network), metadata)
        return
    metadata.pop("encoder_revision", None)
    with new_folder(path) as folder:
        save_encoder(folder, network.encoder, files)
        metadata |= {
            "encoder": HERE,
            "encoder_sha256": locate(str(folder)).weights_digest,
            "encoder_from": f"{recipe.model}@{recipe.revision}" if recipe.revision else recipe.model,
        }
        write_head(folder / WEIGHTS, own_tensors(network), metadata)
        (folder / CONFIG).write_text(json.dumps(metadata, indent=2, sort_keys=True) + "\n", encoding="utf-8")


# --- By ridge regression: features of a frozen encoder, and weights from one system of equations


# How much larger features of matching are made, of which there are few: the penalty on their weights is a hundredth of
# that on the weights of vectors, of which there are many.
_FREE = 10.0


def train_ridge(
    examples: Sequence[Example],
    output: str,
    recipe: RegressorRecipe,
    runtime: Runtime,
    *,
    strength: float | None = None,
    untrained: float = 0.0,
    about: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[float, float]:
    """Fit scores by a weighted sum of features, and write the head; whole or not at all.

    Nothing is drawn at random. Features `match` are those of `regressor`, at the layer of `bertscore`. Triples of
    errors made on purpose need a `strength`: left to themselves they choose one that fits the errors too well.

    Args:
        examples: see `nlgauge.training.examples`.
        output: a `.safetensors` file.
        recipe: encoder, layers and features; of its other fields none counts.
        runtime: where the encoder runs, in which precision, and progress.
        strength: the penalty; None takes the best of a fixed list by the squared error on examples that are left out,
            one at a time.
        untrained: how much of BERTScore's F, which learns nothing, is added to the prediction, each over its standard
            deviation in the training data: so a head of errors made on purpose stays near what holds for outputs.
        about: more metadata; all values are strings.
        tell: called with lines about the progress.

    Returns:
        The penalty, for one example and standardised features; and Pearson's r of scores and predictions, each from a
        fit to all other examples.

    References:
        Hastie, Tibshirani and Friedman (2009), "The Elements of Statistical Learning", section 3.4.1; the features of
        vectors: Shimanaka et al. (2018), "RUSE".
    """
    check_output(output, recipe.method)
    if not output.endswith(SUFFIX):
        raise InputError(f"{output}: the encoder stays as it is and is not written again; name a head, {SUFFIX}")
    files = locate(recipe.model, recipe.revision)
    matched = MATCH in recipe.blocks
    if untrained and not matched:
        raise InputError(f"untrained is {untrained:g}, and features are {','.join(recipe.blocks)}; F is one of 'match'")
    layer = best_layer(files.taken_as[0], files.depth)
    layers = () if recipe.blocks == (MATCH,) else recipe.chosen_layers(files.depth)
    tokenizer = TextTokenizer(files, recipe.max_tokens, space=False)
    texts = ExampleTexts(tokenizer)
    train = texts.encode(examples)
    tell(f"{len(train)} examples, {texts.summary}, in {runtime.dtype}")
    if len(train) < 3 or train.scores.min() == train.scores.max():
        raise InputError(f"{len(train)} examples with equal scores or too few, expected three that differ, or more")
    network = load_encoder(recipe.model, recipe.revision, runtime.dtype, runtime).network
    encoder = Encoder(files, tokenizer, network, runtime.token_budget)
    with runtime.progress(len(texts.ids), "encoding") as advance:
        features = _features(train, texts, recipe, layers, layer, encoder, advance)
    mean, sd = features.mean(axis=0), features.std(axis=0)
    scale = np.where(sd > 0, 1 / np.where(sd > 0, sd, 1), 0.0)
    if matched:
        scale[-len(MATCHED) :] *= _FREE  # the block stands last
    weights, strength, predicted = ridge((features - mean) * scale, train.scores, strength)
    weights = weights * scale
    if untrained:
        weights = _with_f(weights, untrained, features, train.scores)
    tensors = {
        "out.weight": torch.from_numpy(weights[None]).float(),
        "out.bias": torch.tensor([train.scores.mean() - mean @ weights], dtype=torch.float32),
    }
    metadata = {
        "method": recipe.method,
        "features": ",".join(recipe.blocks),
        "layers": ",".join(map(str, layers)),
        "pooling": "mean of all tokens",
        "widths": "",
        "strength": f"{strength:g}",
        **({"untrained": f"{untrained:g}"} if untrained else {}),
        "low": f"{train.scores.min():g}",
        "high": f"{train.scores.max():g}",
        **({"match_layer": str(layer)} if matched else {}),
        **(about or {}),
    }
    write_head(output, tensors, {**head_metadata(KIND, recipe, files, runtime.dtype), **metadata})
    return strength, correlation("pearson", predicted, train.scores).value


def _with_f(weights: Array, share: float, features: Array, scores: Array) -> Array:
    """Weights of a prediction to which a share of F is added, on the scale of the scores again."""
    place = len(weights) - len(MATCHED) + MATCHED.index("F")
    mixed = weights.copy()
    mixed[place] += share * (features @ weights).std() / features[:, place].std()
    predicted = features @ mixed
    slope: float = np.cov(predicted, scores, bias=True)[0, 1] / predicted.var()
    return np.asarray(slope * mixed)


def _features(
    train: Encoded,
    texts: ExampleTexts,
    recipe: RegressorRecipe,
    layers: Sequence[int],
    layer: int,
    encoder: Encoder,
    advance: Advance,
) -> Array:
    """The features of all examples, float64, shape (n, k)."""
    rows = train.places
    if MATCH in recipe.blocks:
        outer = len(encoder.tokenizer.prefix) + len(encoder.tokenizer.suffix)
        bare = np.array([len(ids) <= outer for ids in texts.ids], dtype=np.bool_)
        pairs = rows["hyp"], rows["ref"]
        means, matched = read_pairs(encoder, texts.ids, layers, layer, pairs, bare, advance)
    else:
        means, matched = encoder_means(encoder, texts.ids, layers, advance=advance), None
    vectors = means.flatten(1).cpu().double()
    found = combined(recipe.blocks, {name: vectors[torch.from_numpy(row)] for name, row in rows.items()}, matched)
    return np.asarray(found.numpy())
