"""RUBER: how close a response is to a reference, and how well it goes with what was said before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, check_needs, signature_of
from nlgauge.core.options import Range, checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, said
from nlgauge.metrics.embedding.kernel import Side
from nlgauge.metrics.embedding.sentences import Pooled, cosine
from nlgauge.metrics.learned.regressor import Regressor
from nlgauge.metrics.run import joined_flags, score_segments
from nlgauge.metrics.wrapped import moments, zero_and_width
from nlgauge.runtime.pool import Moments
from nlgauge.runtime.runtime import DType, Runtime

_OF_BOTH = ("weights", "setup")  # facts of the encoder and of the scorer alike
Mix = Literal["min", "max", "mean", "geometric"]
_MIXES: dict[str, Callable[[Array, Array], Array]] = {
    "min": np.minimum,
    "max": np.maximum,
    "mean": lambda first, second: (first + second) / 2,
    "geometric": lambda first, second: np.sqrt(first * second),
}


@dataclass(frozen=True, kw_only=True)
class Ruber(BaseMetric):
    """The cosine of response and reference, mixed with how related response and query are.

    The query is what was said before. Its scorer learns from dialogues: replies that stand behind a query are good
    ones, replies to other queries bad ones. None comes with the package; `nlgauge train ruber dialogues.jsonl -o
    related.safetensors` makes one.

    Under `norm=minmax`, as in the paper, both numbers are scaled over the segments of the call, so that a value depends
    on them and the signature says so; take `norm=none` for values that stay. A blank response, reference or query gives
    0 and does not count in the scales. The parts `referenced` and `unreferenced` are the numbers before they are
    scaled.

    Args:
        model: the scorer of relatedness: a head or folder that `nlgauge train ruber` wrote. It must be given.
        mix: `min`, `max`, `mean` or `geometric` (the root of the product) of both numbers.
        norm: `minmax` first scales each number to 0 and 1 over the call; `none` takes (1 + cosine) / 2, and what the
            scorer says as it is, between the 0 and 1 of its training.
        anchor: the query: the last turns of `context`, or the `source`.
        turns: how many of the last turns are the query.
        pooling: the vector of a text: of each dimension the highest and the lowest number (`max-min`), the `mean`, or
            all three side by side (`all`).
        references: with several references, the `best` cosine or the `mean`.
        encoder: of the cosine: `embedded`, a folder, or an id of the Hugging Face hub.
        layer: the number of blocks to run, 0 for the embeddings; None is the last layer.
        vectors: a file of static word vectors in place of an encoder, as in the paper.
        dtype: the precision of both models; None takes the runtime's.

    References:
        Tao et al. (2018), "RUBER: An Unsupervised Method for Automatic Evaluation of Open-Domain Dialog Systems",
        section 3. There, words have static vectors, and the scorer reads query and response with recurrent networks and
        compares them by a bilinear form; here it reads mean vectors of an encoder, their product and their difference.
        The paper's loss is `--loss pairwise --margin 0.5` of the training.
    """

    model: str
    mix: Mix = "min"
    norm: Literal["minmax", "none"] = "minmax"
    anchor: Literal["context", "source"] = "context"
    turns: Annotated[int, Range(least=1)] = 1
    pooling: Literal["max-min", "mean", "all"] = "max-min"
    references: Literal["best", "mean"] = "best"
    encoder: str = "embedded"
    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    vectors: str | None = None
    dtype: DType | None = None
    info: ClassVar = MetricInfo(
        "ruber",
        needs={"references", "context"},
        copy_is_best=False,
        flags={"unknown", "nonfinite"},
        parts={"referenced": True, "unreferenced": True},
        summary="closeness to a reference and relatedness to the query; a copy need not go best with its query",
        tasks={"dg"},
        paper=(
            'Tao et al. (2018), "RUBER: An Unsupervised Method for Automatic Evaluation of Open-Domain Dialog Systems"'
        ),
    )
    rounds: ClassVar = 1
    lacking: ClassVar = {"context": "; with the query as the source, use anchor=source"}

    def __post_init__(self) -> None:
        checked(self)
        for option in ("encoder", "layer") if self.vectors is not None else ():
            if getattr(self, option) != type(self).__dataclass_fields__[option].default:
                raise SpecError(f"ruber:{option} is of encoders and changes nothing beside vectors=FILE; leave it out")
        object.__setattr__(self, "info", replace(type(self).info, needs={"references", self.anchor}))
        texts = self._scorer().files().texts
        if texts != ("hyp", "src"):
            raise InputError(
                f"ruber: {self.model} reads {', '.join(texts)}, expected hyp, src: a scorer of 'nlgauge train ruber'"
            )

    @property
    def pooled(self) -> bool:
        """Whether the scores depend on the other segments of the call, over which they are scaled."""
        return self.norm == "minmax"

    @property
    def inside(self) -> tuple[BaseMetric, ...]:
        """Both parts."""
        return self._referenced(), self._scorer()

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to: the facts of the scorer, and those of the encoder beside them."""
        referenced = self._referenced().facts(runtime)
        beside = {(f"encoder_{name}" if name in _OF_BOTH else name): value for name, value in referenced.items()}
        return {**beside, **self._scorer().facts(runtime), "encoder": beside.get("model", self.encoder)}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values from 0 to 1; parts `referenced` and `unreferenced`, the numbers before they are scaled.

        A blank response, reference or query gets 0 and sets the flag `empty`; it does not count in the scales.

        Raises:
            InputError: a segment lacks a reference or its query, or under norm=minmax a part is the same for all.
        """
        check_needs(self, segments)
        queries = [" ".join(said(s.context, self.turns)) if self.anchor == "context" else s.source for s in segments]
        asked = [replace(s, source=query) for s, query in zip(segments, queries, strict=True)]
        parts: dict[str, BaseMetric] = {"referenced": self._referenced(), "unreferenced": self._scorer()}
        scored = score_segments(parts, asked, runtime)
        flags = joined_flags(scored, ("empty", "truncated", "unweighted", "unknown", "nonfinite"))
        counted = {name: scores.values[~flags["empty"]] for name, scores in scored.items()}
        lie = moments(self, counted, runtime) if self.pooled else {}
        scaled = [self._scaled(name, scores.values, flags["empty"], lie) for name, scores in scored.items()]
        values = np.where(flags["empty"], 0.0, _MIXES[self.mix](*scaled))
        own = {name: scores.values for name, scores in scored.items()}
        return Scores(signature_of(self, runtime), ids(segments), values, own, flags=flags)

    def _scaled(self, name: str, values: Array, empty: Mask, lie: Mapping[str, Moments]) -> Array:
        """One of both numbers on the scale from 0 to 1."""
        if self.norm == "none":
            low, width = (-1.0, 2.0) if name == "referenced" else (0.0, 1.0)
        elif empty.all():
            return np.zeros(len(values))
        else:
            low, width = zero_and_width(lie[name], "minmax", f"ruber's {name} part")
        return np.asarray(np.clip((values - low) / width, 0.0, 1.0))

    def _referenced(self) -> _Referenced:
        return _Referenced(
            model=self.encoder,
            layer=self.layer,
            vectors=self.vectors,
            references=self.references,
            pooling=self.pooling,
            dtype=None if self.vectors else self.dtype,
        )

    def _scorer(self) -> Regressor:
        return Regressor(model=self.model, dtype=self.dtype)


@dataclass(frozen=True, kw_only=True)
class _Referenced(Pooled):
    """The cosine of the pooled token vectors of response and reference."""

    pooling: Literal["max-min", "mean", "all"] = "max-min"
    info: ClassVar = MetricInfo("ruber-referenced", range=(-1.0, 1.0), cached=True, flags={"unknown", "nonfinite"})

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        return (cosine(self._pool(hypothesis.vectors), self._pool(reference.vectors)),)

    def _pool(self, vectors: Array) -> Array:
        """One vector of the vectors of a text, shape (T, d) to (d,), (2 d,) or (3 d,)."""
        extremes = [vectors.max(axis=0), vectors.min(axis=0)] if self.pooling != "mean" else []
        means = [vectors.mean(axis=0)] if self.pooling != "max-min" else []
        return np.concatenate([*extremes, *means])
