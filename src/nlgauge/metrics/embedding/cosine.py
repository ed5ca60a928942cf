"""Cosine of mean vectors: what an encoder says of two texts before anything is trained on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.errors import SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.options import Range, checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.embedding.encoding import ByEncoder
from nlgauge.metrics.references import over_references
from nlgauge.metrics.unknown import known, nonfinite, unknown
from nlgauge.models.encoder import load_encoder
from nlgauge.models.locate import locate
from nlgauge.models.tokens import TextTokenizer
from nlgauge.runtime.runtime import DType, Runtime


@dataclass(frozen=True, kw_only=True)
class Cosine(ByEncoder):
    """Cosine of the mean token vectors of hypothesis and reference.

    Args:
        model: `embedded`, a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        layer: the number of blocks to run, 0 for the embeddings; None is the last layer.
        references: with several references, the `mean` of the cosines or the `best`.
        special_tokens: whether special tokens are in the mean (`keep`, as in SEScore) or not (`drop`).
        max_tokens: a lower limit than the model's own; longer texts are cut.
        dtype: the precision of the encoder; None takes the runtime's.

    References:
        Xu et al. (2022), "Not All Errors are Equal", table 5, the row without synthesis.
    """

    model: str = "embedded"
    revision: str | None = None
    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    references: Literal["mean", "best"] = "mean"
    special_tokens: Literal["keep", "drop"] = "keep"
    max_tokens: int | None = None
    dtype: DType | None = None
    info: ClassVar = MetricInfo(
        "cosine",
        range=(-1.0, 1.0),
        cached=True,
        flags={"unknown", "nonfinite"},
        summary="cosine of mean token vectors: SEScore before it has learnt",
        tasks=TASKS,
        paper='Xu et al. (2022), "Not All Errors are Equal: Learning Text Generation Metrics using Stratified Error'
        ' Synthesis"',
    )

    def __post_init__(self) -> None:
        checked(self)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        files = locate(self.model, self.revision)
        return {"layer": self._layer(files.depth), "dtype": runtime.precision(self.dtype), **files.facts()}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values from -1 to 1; flags `empty`, `truncated`, `unknown` and `nonfinite`.

        An empty side gets -1, the lowest value, and sets the flag `empty`. A segment with a text of which no piece is
        known is NaN, and one for which the model computes no finite number.

        Raises:
            InputError: a segment has no reference, or the model cannot be read.
        """
        check_needs(self, segments)
        return over_references(segments, self.references, lambda single: self._score_single(single, runtime))

    def _layers(self, depth: int) -> tuple[int, ...]:
        return (self._layer(depth),)

    def _layer(self, depth: int) -> int:
        if self.layer is not None and self.layer > depth:
            raise SpecError(f"cosine:layer is {self.layer}, but model {self.model!r} has layers 0 to {depth}")
        return depth if self.layer is None else self.layer

    def _score_single(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        files = locate(self.model, self.revision)
        layer = self._layer(files.depth)
        tokenizer = runtime.once(
            ("plain tokenizer", files, self.max_tokens), lambda: TextTokenizer(files, self.max_tokens, space=False)
        )
        numbers: dict[str, int] = {}
        pairs = [(s.hypothesis.strip(), s.references[0].strip()) for s in segments]
        places = np.array(
            [[numbers.setdefault(text, len(numbers)) for text in pair] for pair in pairs], dtype=np.int64
        ).reshape(-1, 2)
        tokens = tokenizer.tokens(list(numbers))
        seen = np.array([(t.n_content == 0, t.truncated) for t in tokens], dtype=np.bool_).reshape(-1, 2)
        empty, truncated = seen[places].any(axis=1).reshape(-1, 2).T  # each (n,)
        unread = tokenizer.unknown_shares(tokenizer.content(t) for t in tokens)
        shares = unread[places].max(axis=1)
        values = np.full(len(segments), -1.0)
        asked = np.flatnonzero(~empty)
        if len(asked):
            wanted, rows = np.unique(places[asked], return_inverse=True)
            outer = (len(tokenizer.prefix), len(tokenizer.suffix)) if self.special_tokens == "drop" else (0, 0)
            encoder = load_encoder(self.model, self.revision, runtime.precision(self.dtype), runtime)
            from nlgauge.models.matching import cosines, encoder_means  # behind what says that torch is missing

            with runtime.progress(len(wanted), "cosine") as advance:
                sequences = [tokens[i].ids for i in wanted]
                means = encoder_means(encoder, sequences, [layer], outer=outer, advance=advance)[:, 0]
            values[asked] = cosines(means, rows.reshape(-1, 2))
        flags = {
            "empty": empty,
            "truncated": truncated,
            "unknown": unknown(shares),
            "nonfinite": nonfinite(values),
        }
        return Scores(signature_of(self, runtime), ids(segments), known(values, shares), flags=flags)
