"""The common part of metrics over one encoder: the vectors they read, the languages and the limit of the model."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from nlgauge.core.metric import BaseMetric
from nlgauge.metrics.languages import unread_by_model
from nlgauge.models.encoder import load_encoder, source_of
from nlgauge.models.locate import locate
from nlgauge.models.tokens import token_limit
from nlgauge.runtime.runtime import DType, Runtime
from nlgauge.text.scripts import Writing


class ByEncoder(BaseMetric):
    """Base of a metric with the options `model`, `revision` and `dtype`, that knows the layers it reads (`_layers`)."""

    model: str
    revision: str | None
    max_tokens: int | None
    dtype: DType | None

    @property
    def notes(self) -> tuple[str, ...]:
        """A note if the model reads only what is to the left."""
        return locate(self.model, self.revision).notes

    @property
    def limit(self) -> int | None:
        """The model's own limit, or the lower one that was asked for."""
        return token_limit(locate(self.model, self.revision), self.max_tokens)

    def vectors_of(self, runtime: Runtime) -> Mapping[Hashable, Sequence[int]]:
        """The vectors that are read, so that metrics of one call share them."""
        source = source_of(self.model, self.revision, runtime.precision(self.dtype), runtime)
        return {source: self._layers(locate(self.model, self.revision).depth)}

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language, and what to do; None if its languages are not known."""
        return unread_by_model(locate(self.model, self.revision).languages, writing)

    def pieces(self, texts: Sequence[str], runtime: Runtime) -> int:
        """How many pieces the model reads of some texts."""
        encoder = load_encoder(self.model, self.revision, runtime.precision(self.dtype), runtime, self.max_tokens)
        return sum(len(read.ids) for read in encoder.tokenizer.tokens(texts))

    def _layers(self, depth: int) -> tuple[int, ...]:
        """The layers that are read, of a model with so many."""
        raise NotImplementedError
