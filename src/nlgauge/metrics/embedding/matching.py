"""Every way to match the tokens of two texts as options of one metric: what lies between BERTScore and MoverScore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.errors import SpecError
from nlgauge.core.metric import Documents
from nlgauge.core.options import Range, checked
from nlgauge.core.scores import TASKS
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.bertscore import f1, piece_weights
from nlgauge.metrics.embedding.idf import (
    Table,
    file_identity,
    from_file,
    hypothesis_documents,
    reference_documents,
)
from nlgauge.metrics.embedding.layers import best_layer
from nlgauge.metrics.embedding.points import kernel
from nlgauge.metrics.embedding.points.kernel import Side
from nlgauge.metrics.embedding.points.matched import Matched, Read, points_info
from nlgauge.metrics.references import Policy
from nlgauge.models.encoder import Encoder
from nlgauge.runtime.runtime import Runtime

_LAYERS = 5  # the last ones, whose power means are taken
_NGRAMS = {"wmd1": 1, "wmd2": 2}


@dataclass(frozen=True, kw_only=True)
class Matching(Matched):
    """Tokens matched greedily (F as in BERTScore) or by transport (1 - cost as in MoverScore), with all switches.

    Args:
        match: `greedy` for F of the best cosines; `wmd1` and `wmd2` for 1 minus the squared transport cost of single
            pieces or pairs of neighbours.
        layer: the number of blocks to run, 0 for the embeddings; None is the best known layer of the model.
        pmeans: take minimum, mean and maximum over the last five layers in place of one layer.
        idf: weight pieces by inverse document frequency in the references of the call, for both sides (`references`),
            or hypotheses by their own frequencies (`both`); `none` weighs all alike.
        idf_file: take the frequencies of references from a text file instead, one document per line.
        drop_marks: leave out ASCII punctuation, and pieces that continue a word.
        special_tokens: `match` lets pieces match the special tokens, which weigh nothing; `drop` leaves them out.
        references: how to use several references.

    References:
        Zhang et al. (2020), "BERTScore", appendix C, table 9: +MNLI is `model`, PMEANS `pmeans`, IDF-S
        `idf=references`, IDF-L `idf_file`, SEP `idf=both`, RM `drop_marks`.
    """

    match: Literal["greedy", "wmd1", "wmd2"] = "greedy"
    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    pmeans: bool = False
    idf: Literal["none", "references", "both"] = "none"
    idf_file: str | None = None
    drop_marks: bool = False
    special_tokens: Literal["match", "drop"] = "match"
    references: Policy = "best"
    info: ClassVar = points_info(
        "matching",
        range=(-1.0, 1.0),
        tasks=TASKS,
        paper='Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT"',
        summary="all ways to match tokens between BERTScore and MoverScore, as options",
    )

    def __post_init__(self) -> None:
        checked(self)
        if self.pmeans and self.layer is not None:
            raise SpecError("matching:layer changes nothing beside pmeans=true, which takes the last five layers")
        if self.idf_file and self.idf == "none":
            raise SpecError("matching:idf_file is where idf=references or idf=both takes its frequencies; name one")
        of_match: dict[str, Any] = {"blank": 0.0} if self.match == "greedy" else {"range": (-3.0, 1.0)}
        info = replace(type(self).info, **of_match)
        object.__setattr__(self, "info", replace(info, copy_is_best=self.idf != "both"))

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the other segments of the call."""
        return self.idf == "both" or (self.idf == "references" and self.idf_file is None)

    def documents(self, segments: Sequence[Segment]) -> list[Documents]:
        """The texts that idf is taken from."""
        hypotheses = [hypothesis_documents(segments)] if self.idf == "both" else []
        return hypotheses + ([] if self.idf_file else [reference_documents(segments)])

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        facts = dict(super().facts(runtime))
        return facts | {"idf_file": file_identity(self.idf_file)} if self.idf_file else facts

    def _layers(self, depth: int) -> tuple[int, ...]:
        if self.pmeans:
            return tuple(range(max(depth - _LAYERS, 0) + 1, depth + 1))
        return (self._one_layer(self.layer, best_layer(self.model, depth), depth),)

    def _tables(self, pool: Sequence[Segment], encoder: Encoder, runtime: Runtime) -> tuple[Table | None, Table | None]:
        if self.idf == "none":
            return None, None
        tables = [from_file(self.idf_file, encoder.tokenizer, self.long)] if self.idf_file else []
        if self.pooled:
            tables = self._idf(self.documents(pool), encoder, runtime) + tables
        return tables[0], tables[-1]

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        weights = piece_weights(encoder, read.ids, tables[0 if is_hypothesis else 1]).astype(np.float64)
        kept = np.ones(len(read.ids), dtype=np.bool_)
        if self.special_tokens == "drop":
            kept[: read.content.start] = kept[read.content.stop :] = False
        if self.drop_marks:
            kept &= ~(encoder.tokenizer.which(kernel.is_mark) | encoder.tokenizer.which(kernel.is_subword))[read.ids]
        points = kernel.as_points(read.layers, self.pmeans, kept)
        side = Side(points, weights[kept], read.ids[kept])
        if self.match == "greedy" or not kept.any():
            return replace(side, vectors=kernel.unit(points))
        return kernel.ngrams(side, _NGRAMS[self.match])

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        if self.match == "greedy":
            precision, recall = (np.array([mean]) for mean in kernel.greedy(hypothesis, reference))
            return (float(f1(precision, recall)[0]),)
        costs = kernel.unit_distances(hypothesis.vectors, reference.vectors, "squared")
        return (1 - kernel.transport(costs, hypothesis.weights, reference.weights)[0],)
