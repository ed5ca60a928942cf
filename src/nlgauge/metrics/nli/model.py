"""The common part of the NLI metrics: the options that name a model, and texts that are judged in many pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import SpecError
from nlgauge.core.metric import BaseMetric
from nlgauge.core.options import Range
from nlgauge.core.segment import Segment
from nlgauge.metrics.languages import unread_by_model
from nlgauge.models.entailment import NliFiles, NliModel, load_nli, locate_nli
from nlgauge.models.tokens import Ids, token_limit
from nlgauge.runtime.runtime import DType, Runtime
from nlgauge.text.scripts import Writing

_LEAST_TOKENS = 8  # a frame of special tokens, and a piece or two of each text


@dataclass(frozen=True, kw_only=True)
class NliMetric(BaseMetric):
    """Options of a metric that asks an NLI model.

    Args:
        model: `nli` or `nli-robust` (heads over the embedded encoder, which come with the package), the file of a
            head, a folder with a sequence classifier, or its id on the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        labels: the labels of the model's outputs, in order ("contradiction,neutral,entailment"), where the model does
            not name them itself.
        max_tokens: the largest number of pieces of a pair; None takes the limit that the model was trained with, else
            the limit of what it can read.
        dtype: the precision of the model; None takes the runtime's.
    """

    model: str = "nli"
    revision: str | None = None
    labels: str | None = None
    max_tokens: Annotated[int, Range(least=_LEAST_TOKENS)] | None = None
    dtype: DType | None = None

    def _check_references(self) -> None:
        """Refuse a way to use several references where none is read."""
        anchor, references = (getattr(self, name) for name in ("anchor", "references"))
        if anchor == "source" and references != "mean":
            name = type(self).info.name  # type: ignore[attr-defined]
            raise SpecError(f"{name}:references={references} changes nothing under anchor=source; leave it out")

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        files = self._found()
        limit = files.max_tokens(self.max_tokens)
        return {"dtype": runtime.precision(self.dtype), "max_tokens": limit, **files.facts()}

    @property
    def trained_on(self) -> tuple[str, ...]:
        """Ids of the perturbations that the model saw in training, as far as its file says."""
        return self._found().trained_on

    @property
    def limit(self) -> int | None:
        """The limit that was asked for, else that of training, else the model's own."""
        files = self._found()
        return token_limit(files.files, files.max_tokens(self.max_tokens))

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language, and what to do; None if its languages are not known."""
        return unread_by_model(self._found().languages, writing)

    def _found(self) -> NliFiles:
        return locate_nli(self.model, self.revision, self.labels)

    def loaded(self, runtime: Runtime) -> NliModel:
        """The loaded model; a runtime holds one copy."""
        return load_nli(self.model, self.revision, self.labels, runtime.precision(self.dtype), runtime, self.max_tokens)


def anchors(segments: Sequence[Segment], anchor: str) -> list[str]:
    """The anchor of each hypothesis: its only reference, or its source."""
    return [s.references[0] if anchor == "reference" else s.source or "" for s in segments]


def unknown_in(pairs: Sequence[tuple[str, str]], contents: Mapping[str, Ids], model: NliModel) -> Array:
    """The highest share of unknown pieces in a text of each pair, shape (n,)."""
    shares = dict(zip(contents, model.tokenizer.unknown_shares(contents.values()), strict=True))
    return np.array([max(shares[text] for text in pair) for pair in pairs], dtype=np.float64)


def empty_in(pairs: Sequence[tuple[str, str]], contents: Mapping[str, Ids]) -> Mask:
    """Whether the tokenizer keeps nothing of a text of each pair, as BERT's of U+FFFD alone, shape (n,)."""
    return np.array([not all(len(contents[text]) for text in pair) for pair in pairs], dtype=np.bool_)


@dataclass
class Questions:
    """Pairs collected from many segments and judged in one batch.

    Attributes:
        pairs: (premise, hypothesis).
        owners: the question that each pair belongs to.
    """

    pairs: list[tuple[str, str]] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)

    def ask(self, owner: int, pairs: Sequence[tuple[str, str]]) -> None:
        """Add pairs of one question."""
        self.pairs += pairs
        self.owners += [owner] * len(pairs)

    def judged(
        self, model: NliModel, contents: Mapping[str, Ids], runtime: Runtime, name: str
    ) -> tuple[Array, npt.NDArray[np.bool_]]:
        """The model's answers to each pair.

        Returns:
            Probabilities of entailment, neutrality and contradiction, shape (n, 3); whether the pair was cut, (n,).
        """
        with runtime.progress(len(self.pairs), name) as advance:
            entailment = model.judge(self.pairs, contents, advance)
        return entailment.probabilities, entailment.truncated
