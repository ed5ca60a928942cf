"""Base of metrics over the plain points of a text: the pieces of an encoder, or words with static vectors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from nlgauge.core.errors import SpecError
from nlgauge.core.options import Range, checked
from nlgauge.metrics.embedding.points import kernel
from nlgauge.metrics.embedding.points.kernel import Side
from nlgauge.metrics.embedding.points.matched import Matched, Read
from nlgauge.metrics.embedding.points.wordvectors import UNKNOWN, load_vectors, vectors_identity
from nlgauge.metrics.references import Policy
from nlgauge.models.encoder import Encoder
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing

_OF_ENCODERS = ("model", "revision", "layer", "long", "max_tokens", "dtype")


@dataclass(frozen=True, kw_only=True)
class Worded(Matched):
    """Base of metrics whose points are the pieces of a text without special tokens, each of weight 1.

    Args:
        layer: the number of blocks to run, 0 for the embeddings; None is the last layer.
        vectors: a file of static word vectors in place of a model.
        references: how to use several references.
    """

    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    vectors: str | None = None
    references: Policy = "best"

    def __post_init__(self) -> None:
        checked(self)
        if self.vectors is None:
            return
        for option in _OF_ENCODERS:
            if getattr(self, option) != type(self).__dataclass_fields__[option].default:
                raise SpecError(f"{self.info.name}:{option} is of encoders and changes nothing beside vectors=FILE")
        object.__setattr__(self, "info", replace(self.info, cached=False))  # no model makes the scores

    @property
    def notes(self) -> tuple[str, ...]:
        """A note if the model reads only what is to the left."""
        return super().notes if self.vectors is None else ()

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        if self.vectors is None:
            return super().facts(runtime)
        return {**dict.fromkeys(_OF_ENCODERS), "vectors": vectors_identity(self.vectors)}

    def vectors_of(self, runtime: Runtime) -> Mapping[Hashable, Sequence[int]]:
        """The vectors of the encoder that are read."""
        return super().vectors_of(runtime) if self.vectors is None else {}

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language, and what to do; None if its languages are not known."""
        return super().unread(writing) if self.vectors is None else None

    def _encoder(self, runtime: Runtime) -> Encoder:
        # A file of vectors reads texts and gives their vectors just as an encoder does.
        if self.vectors is None:
            return super()._encoder(runtime)
        return load_vectors(self.vectors, runtime)  # type: ignore[return-value]

    def _layers(self, depth: int) -> tuple[int, ...]:
        return (self._one_layer(self.layer, depth, depth),)

    def _points(self, read: Read, unit: bool) -> Side:
        """The pieces that have a vector: of length 1, or as they are."""
        vectors = kernel.unit(np.asarray(read.layers[0][read.content], dtype=np.float64))
        if not unit:
            vectors = vectors * read.norms[0][read.content]
        pieces = read.ids[read.content]
        side = Side(vectors, np.ones(len(pieces)), pieces)
        if self.vectors is None or not len(pieces):
            return side
        kept = side.take(pieces != UNKNOWN)
        return replace(kept, missing=1 - len(kept.weights) / len(pieces))

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        return self._points(read, unit=True)
