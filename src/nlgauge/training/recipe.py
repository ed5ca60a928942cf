"""Recipes: what is trained, how long and with which loss; and the facts that identify a run. torch is not loaded."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.core.options import Range, Typed, check_option, checked
from nlgauge.io.files import InputFile
from nlgauge.models import locate
from nlgauge.models.encoder import BOTH, KINDS, MATCH, feature_names
from nlgauge.models.heads import HEADS
from nlgauge.models.locate import ModelFiles
from nlgauge.models.regressor import MIX
from nlgauge.models.repository import split
from nlgauge.runtime.runtime import Runtime

if TYPE_CHECKING:
    import torch  # recipes are read before it is loaded

Method = Literal["frozen", "lora", "full", "ridge"]
METHODS: tuple[Method, ...] = get_args(Method)
RATES = {"frozen": 1e-3, "lora": 5e-4, "full": 3e-5}  # of a regressor: the highest rate, where none is asked for
LossName = Literal["mse", "pairwise", "mse+pairwise"]
SHARE = Range(least=0, below=1, meaning="a share")
Model = Annotated[str, Typed("embedded, base, a folder, or a hub id[@REVISION].", ("--model", "--encoder"), "MODEL")]
PairLength = Annotated[int, Range(least=8), Typed("Longest pair; of a longer one the longer side is cut.")]


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long and how fast a network is trained, and in which order.

    Attributes:
        learning_rate: the highest rate. It is reached after the warm-up and then falls linearly to 0.
        warmup: the share of the steps in which the rate rises.
        constant: keep the highest rate after the warm-up.
        weight_decay: the weight decay of AdamW.
        seed: the seed of the order of the data, of dropout and of new weights.
    """

    epochs: Annotated[int, Range(least=1), Typed("Passes over the data.")] = 1
    batch_size: Annotated[int, Range(least=1), Typed("Examples per step.")] = 64
    learning_rate: Annotated[float, Range(above=0), Typed("The highest learning rate.")] = 1e-3
    warmup: Annotated[float, Range(least=0, most=1, meaning="a share of the steps")] = 0.06
    constant: bool = False
    weight_decay: Annotated[float, Range(least=0)] = 0.01
    seed: Annotated[int, Range(least=0, below=1 << 32)] = 0

    def __post_init__(self) -> None:
        checked(self, name="", error=InputError)

    def steps_per_pass(self, n: int) -> int:
        """Steps of one pass over n pairs; the last batch may be smaller."""
        return -(-n // self.batch_size)

    def steps(self, n: int) -> int:
        """Steps of a whole run over n pairs."""
        return self.steps_per_pass(n) * self.epochs

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step, counted from 0."""
        rising = max(1, round(self.warmup * steps))
        falling = 1.0 if self.constant else (steps - step) / max(1, steps - rising + 1)
        return self.learning_rate * min((step + 1) / rising, falling)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The encoder, the weights that are trained, and the length of training.

    Attributes:
        revision: branch, tag or commit of a hub model, which may be part of its name, too.
        max_tokens: the largest number of pieces of a text, or of a pair; what is longer is cut.
    """

    model: Model = locate.NAME
    revision: str | None = None
    rank: Annotated[int, Range(least=1), Typed("Rank of the adapters.")] = 16
    alpha: Annotated[float, Typed("Scale of the adapters times their rank.")] = 32.0
    max_tokens: int = 256
    schedule: Schedule = field(default_factory=Schedule)

    def __post_init__(self) -> None:
        checked(self, name="", error=InputError)
        name, revision = split(self.model)
        is_folder = os.path.exists(os.path.expanduser(self.model))
        if revision and self.revision is None and not is_folder:  # as if it were typed beside it
            object.__setattr__(self, "model", name)
            object.__setattr__(self, "revision", revision)

    @property
    def has_adapters(self) -> bool:
        """Whether the encoder learns through adapters; a head then records their rank."""
        return True


@dataclass(frozen=True, kw_only=True)
class NliRecipe(Recipe):
    """How an NLI model is trained; see `Recipe` for what all recipes share. `dropout` is that of the encoder."""

    method: Annotated[
        Literal["lora", "full"],
        Typed("lora: adapters on all linear layers; full: everything, at a rate of about 2e-5."),
    ] = "lora"
    dropout: Annotated[float, SHARE] = 0.0
    max_tokens: PairLength = 256
    init: Annotated[str | None, Typed("A head to begin from.", metavar="FILE")] = None


@dataclass(frozen=True, kw_only=True)
class InfillRecipe(Recipe):
    """How words are masked, and what learns to predict them; the encoder is BERT's. See also `Recipe`."""

    share: Annotated[
        float,
        Range(above=0, most=1, meaning="the masked share of the words"),
        Typed("Share of the words that are masked.", ("--mask",)),
    ] = 0.15
    shown: Annotated[float, SHARE, Typed("Share of these that is shown, as they are or as others; BERT: 0.2.")] = 0.0
    dropout: Annotated[float, SHARE] = 0.0
    max_tokens: Annotated[int, Range(least=8)] = 128


@dataclass(frozen=True, kw_only=True)
class Loss:
    """The loss that is minimised.

    Attributes:
        name: `mse` is the squared error. `pairwise` asks that of two hypotheses for one reference the one with the
            better score comes out better. The third is the sum of both.
        margin: the difference that `pairwise` asks for, in units of the scores (a hinge); None asks for as much as
            possible (a logistic loss). The output of `pairwise` alone has the right order and no scale.
    """

    name: LossName = "mse"
    margin: Annotated[float, Range(above=0)] | None = None

    def __post_init__(self) -> None:
        # Under the names that a user of recipes and commands knows.
        check_option("loss", self.name, LossName, error=InputError)
        checked(self, name="", error=InputError)

    def of(self, scores: torch.Tensor, targets: torch.Tensor, groups: torch.Tensor, unit: float = 1.0) -> torch.Tensor:
        """The mean loss of n scores, all in units of the targets; `groups` number what each is compared with.

        `unit` is one unit of the scores in units of the targets.
        """
        import torch

        squared = torch.nn.functional.mse_loss(scores, targets) if "mse" in self.name else scores.new_zeros(())
        if self.name == "mse":
            return squared
        better, worse = torch.nonzero((groups[:, None] == groups) & (targets[:, None] > targets), as_tuple=True)
        lead = scores[better] - scores[worse]
        lost = torch.nn.functional.softplus(-lead) if self.margin is None else torch.relu(self.margin * unit - lead)
        # If no two examples of a batch share a reference, there is nothing to compare, and the gradient is 0.
        pairwise = lost.mean() if len(lost) else 0 * scores.sum()
        return squared + pairwise


@dataclass(frozen=True, kw_only=True)
class RegressorRecipe(Recipe):
    """How a regressor is trained, and from which texts; see `Recipe` for what all recipes share.

    Both texts go through one encoder, and the token vectors of each, special tokens included, are averaged. The mean
    vectors and their comparison go into a feed-forward network: linear, tanh and dropout for each width, then a linear
    layer to one number, whose bias starts at the mean of the scores. `source` with references is COMET, `source`
    without is COMET-QE, and method `frozen` is RUSE.

    Features `both` read reference and hypothesis in one sequence, the reference first. One linear layer on the first
    vector and the mean vector gives the score. It learns by adapters on a BERT or MPNet, reads references alone, and is
    written as a head; every text is read again with each that it stands beside, so it costs more. With two thousand
    ratings method `ridge` learns more than a network, in seconds.

    Attributes:
        layers: the layers whose mean vectors are read, side by side; empty is the last layer; `mix` is all layers under
            learnt weights.
        features: see `nlgauge.models.encoder`; `both` has one linear layer and none of `layers`, `widths` and
            `dropout`.
        init: with features `both`, a head to begin from: an NLI head, whose adapters are taken, or an earlier regressor
            of these features, whose last layer is taken, too; both must then have learnt with `standardise`, or both
            without. A higher rank is brought to `rank` by the largest singular values. The new head says in its
            metadata which perturbations and whose ratings the earlier one was shown.
        reference: whether references are read.
        source: whether sources are read.
        side: the only side that is read, for a sentinel; None compares texts.
        dropout: the dropout after each hidden layer.
        encoder_dropout: that of the encoder in training; its passes then run one after the other, on all cores
            together.
        evaluate_every: the number of steps between two evaluations; None is twice per pass.
    """

    method: Annotated[
        Method,
        Typed("lora: adapters on all layers; frozen: none, encoded once; full: everything; ridge: weights in one go."),
    ] = "lora"
    layers: tuple[int, ...] | Literal["mix"] = ()
    features: Annotated[
        str,
        Typed(
            "4h: vectors, product, difference; 2h: these two; match: how tokens match; both: both texts in one"
            " sequence.",
            words=KINDS,
        ),
    ] = "4h"
    init: Annotated[
        str | None,
        Typed("With --features both: a head to begin from, nli-robust, another NLI head or a file.", metavar="FILE"),
    ] = None
    reference: bool = True
    source: bool = False
    side: Literal["source", "hypothesis", "reference"] | None = None
    widths: Annotated[
        tuple[Annotated[int, Range(least=1)], ...],
        Typed("Widths of the hidden layers; the paper has 2048,1024.", metavar="N,N"),
    ] = (512, 256)
    dropout: Annotated[float, SHARE] = 0.15
    encoder_dropout: Annotated[float, SHARE, Typed("Dropout of the encoder while it learns.")] = 0.0
    loss: Loss = field(default_factory=Loss)
    standardise: Annotated[bool, Typed("Learn scores less their mean over their deviation; undone in use.")] = False
    max_tokens: Annotated[
        int, Range(least=3), Typed("Longest text, or pair with --features both; a longer one is cut.")
    ] = 256
    held_out: Annotated[
        float, SHARE, Typed("Without --dev: share of references held back instead; 0 keeps the last weights.")
    ] = 0.05
    evaluate_every: Annotated[int | None, Range(least=1)] = None
    schedule: Schedule = field(default_factory=lambda: Schedule(epochs=2, learning_rate=RATES["lora"]))

    def __post_init__(self) -> None:
        super().__post_init__()
        if MATCH in self.blocks and self.method != "ridge":
            raise InputError(f"features is {self.features!r}, which only method ridge learns from")
        if self.blocks == (MATCH,) and self.layers:
            raise InputError(f"layers is {self.layers}, whose vectors features {MATCH!r} does not read; leave it out")
        if self.side is not None and self.features != "4h":
            raise InputError(
                f"features is {self.features!r}, which compares texts, and side {self.side!r} is one alone"
            )
        if self.method == "ridge" and self.layers == MIX:
            raise InputError("layers is 'mix', whose weights are learnt; method ridge reads one layer or several")
        if self.is_crossed:
            self._check_crossed()
        elif self.init is not None:
            raise InputError(
                f"init is {self.init!r}, a head that features {BOTH!r} alone begin from; leave it out, or ask for them"
            )

    def _check_crossed(self) -> None:
        if self.method != "lora":
            raise InputError(
                f"method is {self.method!r}, and features {BOTH!r} learn by adapters; leave it out, or name method lora"
            )
        if self.layers:
            raise InputError(f"layers is {self.layers!r}, and features {BOTH!r} read the last one; leave it out")
        for name in ("widths", "dropout"):
            if getattr(self, name) != type(self).__dataclass_fields__[name].default:
                raise InputError(
                    f"{name} is {getattr(self, name)!r}, of hidden layers, and features {BOTH!r} have none; leave it"
                    " out (encoder_dropout is that of the encoder)"
                )

    @property
    def blocks(self) -> tuple[str, ...]:
        """The names of the blocks of features."""
        if self.side is not None:
            return ({"source": "src", "hypothesis": "hyp", "reference": "ref"}[self.side],)
        return feature_names(self.features, self.reference, self.source)

    @property
    def is_crossed(self) -> bool:
        """Whether both texts are read in one sequence, as `nlgauge.training.regressor` does."""
        return self.features == BOTH

    @property
    def has_adapters(self) -> bool:
        """Whether the encoder learns by adapters."""
        return self.method == "lora"

    def chosen_layers(self, depth: int) -> tuple[int, ...]:
        """The numbers of the layers that are read; one that the encoder does not have is refused."""
        if self.layers == MIX:
            return tuple(range(depth + 1))
        for layer in self.layers:
            if not 0 <= int(layer) <= depth:
                raise InputError(f"layer is {layer}, but model {self.model!r} has layers 0 to {depth}")
        return tuple(int(layer) for layer in self.layers) or (depth,)


def check_precision(runtime: Runtime) -> None:
    """Refuse a precision in which nothing can be trained: neither bfloat16 nor float32."""
    if runtime.dtype not in ("bfloat16", "float32"):
        raise InputError(
            f"dtype is {runtime.dtype}, expected bfloat16 or float32: training in other precisions is not offered"
        )


def trainable(files: ModelFiles, runtime: Runtime, method: str) -> ModelFiles:
    """The files of an encoder, unless it cannot be trained so: known before any text is encoded.

    Raises:
        InputError: the first DeBERTa, as a whole, in bfloat16: its masks are beyond the range.
        MissingExtra: the method is `lora`, and peft is not installed.
    """
    if method == "lora" and find_spec("peft") is None:
        raise MissingExtra("training with adapters (method full needs none, nor does frozen of a regressor)", "train")
    if (method, runtime.dtype, files.config.get("model_type")) == ("full", "bfloat16", "deberta"):
        raise InputError(
            f"model {files.name!r} is of type 'deberta', which transformers cannot train as a whole in bfloat16; use"
            " dtype float32, or method lora"
        )
    return files


def run_line(train: Sequence[InputFile], recipe: Recipe, runtime: Runtime, files: ModelFiles) -> str:
    """Everything that determines the weights, as one line; it identifies the run of a checkpoint.

    Of the head that a recipe starts from (`init`), the content counts.
    """
    facts = recipe_facts(recipe, runtime, files)
    if facts.get("init") is not None:
        facts["init"] = beginning(str(facts["init"]))
    return json.dumps(facts | {"train": [file.entry["sha256"] for file in train]}, sort_keys=True)


def beginning(init: str | None) -> str | None:
    """What identifies the head that a run begins from: the name of one that ships, or the digest of a file."""
    return init if init is None or init in HEADS else InputFile(init).entry["sha256"]


def recipe_facts(recipe: Recipe, runtime: Runtime, files: ModelFiles) -> dict[str, object]:
    """Recipe, schedule, precision and encoder of a run, in one flat mapping."""
    facts = {**asdict(recipe), **asdict(recipe.schedule)}
    del facts["schedule"]
    if facts.get("constant") is False:
        del facts["constant"]  # runs from before there was a choice go on
    return facts | {"encoder": files.identity, "setup": files.setup, "dtype": runtime.dtype}
