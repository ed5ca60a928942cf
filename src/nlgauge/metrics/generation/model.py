"""The common part of the metrics of this package: the options that name a model that writes text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.metric import BaseMetric
from nlgauge.core.options import Checked, Range
from nlgauge.metrics.languages import unread_by_model
from nlgauge.metrics.unknown import known, nonfinite, unknown
from nlgauge.models.generation import Generator, GeneratorFiles, locate_generator
from nlgauge.models.tokens import token_limit
from nlgauge.runtime.runtime import DType, Runtime
from nlgauge.text.scripts import Writing

_LEAST_TOKENS = 4  # special tokens, and a piece of each text
FLAGS = frozenset({"unknown", "nonfinite"})


@dataclass(frozen=True, kw_only=True)
class GeneratorMetric(Checked, BaseMetric):
    """Options of a metric that asks a model that writes text.

    Args:
        model: a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        max_tokens: a lower limit than the model's own; longer texts are cut.
        dtype: the precision of the model; None takes the runtime's.
    """

    model: str
    revision: str | None = None
    max_tokens: Annotated[int, Range(least=_LEAST_TOKENS)] | None = None
    dtype: DType | None = None

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        return {"dtype": runtime.precision(self.dtype), **self.found().files.facts()}

    @property
    def limit(self) -> int | None:
        """The model's own limit, or the lower one that was asked for."""
        found = self.found()
        limits = (found.max_tokens, token_limit(found.files, self.max_tokens))
        return min((limit for limit in limits if limit is not None), default=None)

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language, and what to do; None if its languages are not known."""
        return unread_by_model(self.found().files.languages, writing)

    def found(self) -> GeneratorFiles:
        """The files of the model."""
        return locate_generator(self.model, self.revision)

    def generator(self, runtime: Runtime, **told: Any) -> Generator:
        """The model, which a runtime holds once; `told` are further fields of a `Generator`."""
        return Generator(self.found(), runtime, runtime.precision(self.dtype), self.max_tokens, **told)


def judged(
    sums: Array, counts: Array, empty: Mask, truncated: Mask, shares: Array, worst: float
) -> tuple[Array, dict[str, Mask]]:
    """The mean log-probability of a piece, and the flags of its text.

    Args:
        sums: the sum of the log-probabilities of the pieces of n texts, shape (n,).
        counts: the number of pieces, shape (n,).
        empty: whether a text has no piece, shape (n,).
        truncated: whether it was cut, shape (n,).
        shares: its share of unknown pieces, shape (n,).
        worst: the value of an empty text.

    Returns:
        Shape (n,), NaN where no piece of a text is known and where the model computed no finite number; and the flags
        `empty`, `truncated`, `unknown` and `nonfinite`.
    """
    means = np.divide(sums, counts, out=np.zeros(len(sums)), where=~empty)
    flags = {
        "empty": empty,
        "truncated": truncated & ~empty,
        "unknown": unknown(shares) & ~empty,
        "nonfinite": nonfinite(sums) & ~empty,
    }
    return np.where(empty, worst, known(means, np.where(empty, 0.0, shares))), flags
