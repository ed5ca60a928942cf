"""SentSim: the cosine of whole texts and a match of their tokens, each scaled over the call, then joined."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import e
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.metric import BaseMetric, signature_of, spec_of
from nlgauge.core.options import checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import Metric, check_needs
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.metrics.embedding.cosine import Cosine
from nlgauge.metrics.embedding.sharing import merged, vectors_of
from nlgauge.metrics.embedding.wmd import Wmd
from nlgauge.metrics.scales import moments, zero_and_width
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.runtime.pool import Moments
from nlgauge.runtime.runtime import DType, Runtime
from nlgauge.text.scripts import Writing


@dataclass(frozen=True, kw_only=True)
class SentSim(BaseMetric):
    """exp(cosine of mean vectors) + exp(BERTScore's F or 1 - word mover's distance), each scaled to 0..1 over the call.

    Args:
        model: `embedded`, a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        words: how tokens are matched: `bertscore` or `wmd`.
        references: with several references, the `mean` of the parts or the `best`.
        max_tokens: a lower limit than the model's own; longer texts are cut.
        dtype: the precision of the encoder; None takes the runtime's.

    References:
        Song et al. (2021), "SentSim: Crosslingual Semantic Evaluation of Machine Translation", section 3. There, the
        sentence model and the token model are two, and the hypothesis is compared with the source.
    """

    model: str = "embedded"
    revision: str | None = None
    words: Literal["bertscore", "wmd"] = "bertscore"
    references: Literal["mean", "best"] = "mean"
    max_tokens: int | None = None
    dtype: DType | None = None
    pooled: ClassVar = True
    rounds: ClassVar = 1
    info: ClassVar = MetricInfo(
        "sentsim",
        range=(2.0, 2 * e),
        flags={"unknown", "nonfinite"},
        tasks={"mt"},
        paper='Song et al. (2021), "SentSim: Crosslingual Semantic Evaluation of Machine Translation"',
        summary="cosine of texts joined with a match of tokens, scaled over the call (Song et al. 2021)",
    )

    def __post_init__(self) -> None:
        checked(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """A note if the model reads only what is to the left."""
        return self._parts()["words"].notes

    @property
    def limit(self) -> int | None:
        """That of the words, which read the same model."""
        return self._parts()["words"].limit

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to: the facts of both parts."""
        facts = {name: dict(part.facts(runtime)) for name, part in self._parts().items()}
        return {**facts["words"], "layer": f"{facts['sentence']['layer']}, {facts['words']['layer']}"}

    def vectors_of(self, runtime: Runtime) -> Mapping[Hashable, Sequence[int]]:
        """The vectors that both parts read."""
        return merged([vectors_of(part, runtime) for part in self._parts().values()])

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language, and what to do; None if its languages are not known."""
        return self._parts()["words"].unread(writing)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values from 2 to 2 e; parts `sentence` and `words`, the numbers before they are scaled.

        An empty side gets 2 and sets the flag `empty`; it does not count in the scales.

        Raises:
            InputError: a segment has no reference, or a part is the same for all segments.
        """
        check_needs(self, segments)
        scored = score_segments(self._parts(), segments, runtime)
        empty = scored["sentence"].flags["empty"]
        up = {name: s.values if s.higher_is_better else -s.values for name, s in scored.items()}
        lie = moments(self, {name: values[~empty] for name, values in up.items()}, runtime)
        total = np.zeros(len(segments))
        for name, part in self._parts().items():
            total = total + _scaled(part, up[name], empty, lie[name])
        flags = {
            flag: np.logical_or.reduce([s.flags[flag] for s in scored.values() if flag in s.flags])
            for flag in ("empty", "truncated", "unknown", "nonfinite")
        }
        values = np.where(empty, self.info.range[0], total)
        return Scores(
            signature_of(self, runtime),
            ids(segments),
            values,
            {name: scores.values for name, scores in scored.items()},
            flags=flags,
        )

    def _parts(self) -> dict[str, BaseMetric]:
        shared = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "words"}
        kind = BertScore if self.words == "bertscore" else Wmd
        return {"sentence": Cosine(**shared), "words": kind(**shared)}


def _scaled(part: Metric, values: Array, empty: Mask, lie: Moments) -> Array:
    """exp of the values, scaled to 0..1 over those whose sides are not empty, the best of them at 1; NaN stays."""
    if empty.all():
        return np.ones(len(values))
    low, width = zero_and_width(lie, "minmax", spec_of(part))
    return np.asarray(np.exp(np.clip((values - low) / width, 0.0, 1.0)))
