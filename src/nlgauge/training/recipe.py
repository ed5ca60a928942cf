"""The common part of all recipes: an encoder, its adapters, a schedule; and the facts that identify a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated

from nlgauge.core.errors import InputError
from nlgauge.core.options import Range, checked
from nlgauge.io.files.files import InputFile
from nlgauge.models import embedded
from nlgauge.models.locate import ModelFiles
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.loop import Schedule

Share = Annotated[float, Range(least=0, below=1, meaning="a share")]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The encoder, the weights that are trained, and the length of training.

    Attributes:
        model: `embedded`, a folder, or a hub id.
        revision: branch, tag or commit of a hub model.
        rank: the rank of the adapters.
        alpha: the scale of the adapters times their rank.
        max_tokens: the largest number of pieces of a text, or of a pair; what is longer is cut.
        schedule: how long and how fast.
    """

    model: str = embedded.NAME
    revision: str | None = None
    rank: int = 16
    alpha: float = 32.0
    max_tokens: int = 256
    schedule: Schedule = field(default_factory=Schedule)

    def __post_init__(self) -> None:
        checked(self, name="", error=InputError)

    @property
    def has_adapters(self) -> bool:
        """Whether the encoder learns through adapters; a head then records their rank."""
        return True


def check_precision(runtime: Runtime) -> None:
    """Refuse a precision in which nothing can be trained.

    Raises:
        InputError: it is neither bfloat16 nor float32.
    """
    if runtime.dtype not in ("bfloat16", "float32"):
        raise InputError(
            f"dtype is {runtime.dtype}, expected bfloat16 or float32: training in other precisions is not offered"
        )


def trainable(files: ModelFiles, runtime: Runtime, method: str) -> ModelFiles:
    """The files of an encoder, unless transformers cannot train it in the precision of the run.

    Raises:
        InputError: the first DeBERTa, as a whole, in bfloat16: its masks are beyond the range.
    """
    if (method, runtime.dtype, files.config.get("model_type")) == ("full", "bfloat16", "deberta"):
        raise InputError(
            f"model {files.name!r} is of type 'deberta', which transformers cannot train as a whole in bfloat16; use"
            " dtype float32, or method lora"
        )
    return files


def run_line(train: Sequence[InputFile], recipe: Recipe, runtime: Runtime, files: ModelFiles) -> str:
    """Everything that determines the weights, as one line; it identifies the run of a checkpoint.

    Args:
        train: the training files.
        recipe: its fields and those of its schedule count, and so does the content of the head that it starts from
            (`init`).
        runtime: its precision counts.
        files: the encoder.
    """
    facts = recipe_facts(recipe, runtime, files)
    if facts.get("init") is not None:
        facts["init"] = InputFile(str(facts["init"])).entry["sha256"]
    return json.dumps(facts | {"train": [file.entry["sha256"] for file in train]}, sort_keys=True)


def recipe_facts(recipe: Recipe, runtime: Runtime, files: ModelFiles) -> dict[str, object]:
    """Recipe, schedule, precision and encoder of a run, in one flat mapping."""
    facts = {**asdict(recipe), **asdict(recipe.schedule)}
    del facts["schedule"]
    if not facts["constant"]:
        del facts["constant"]  # runs from before there was a choice go on
    return facts | {"encoder": files.identity, "setup": files.setup, "dtype": runtime.dtype}
