"""`gauge`: a sum of metrics on scales that are part of it, so that a segment scores the same in any company."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.metric import BaseMetric, signature_of, whole
from nlgauge.core.options import Checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import weight_text
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.references import over_references
from nlgauge.metrics.registry import metric, on_encoder
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.metrics.wrapped import Composed
from nlgauge.runtime.runtime import Runtime

F, RECALL, COSINE, CHRF = "bertscore", "bertscore:value=recall", "cosine", "chrf"
SESCORE, RATED = "sescore", "rated"
NLI = "nli-robust:direction=both"
# What a term gives on the mean for a sentence and another one that has nothing to do with it, for a sentence and its
# copy, and the deviation over translations, by encoder. `python recipes/tools/gauge.py DATA --limit 500` measures them;
# with base F, SEScore, entailment and `rated` are from 120 sentences of each kind, in float32.
SCALES: Mapping[str, Mapping[str, tuple[float, float, float]]] = MappingProxyType(
    {
        "embedded": {
            F: (0.393, 1.0, 0.095),
            RECALL: (0.395, 1.0, 0.0946),
            COSINE: (0.0507, 1.0, 0.156),
            SESCORE: (-7.12, 1.59, 1.6),
            NLI: (0.0341, 0.77, 0.199),
            CHRF: (14.5, 100.0, 16.1),
            RATED: (-1.28, 1.05, 0.458),
        },
        "base": {
            F: (0.301, 1.0, 0.121),
            RECALL: (0.301, 1.0, 0.118),
            COSINE: (0.0533, 1.0, 0.159),
            SESCORE: (-6.14, 1.61, 1.66),
            NLI: (0.0246, 0.963, 0.267),
            CHRF: (14.5, 100.0, 16.1),
            RATED: (-1.1, 1.05, 0.497),
        },
    }
)
# Weights in deviations, chosen by recipes/studies/gauge.py.
WEIGHTS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "mt": {F: 0.5, RECALL: 0.5, COSINE: 0.5, SESCORE: 1.0, NLI: 0.5},
        "as": {RECALL: 1.0, COSINE: 1.0, CHRF: 0.5},  # `sescore` and an NLI head read sentences, no summaries
    }
)
RATED_WEIGHT = 1.0


@dataclass(frozen=True, kw_only=True)
class Gauge(Checked, Composed):
    """BERTScore with cosine, SEScore and entailment: a metric for English that needs no ratings.

    Each term is brought to a scale that is fixed: 0 is what unrelated sentences have on the mean, and 1 what a copy of
    the reference has. So is the sum.

    Args:
        task: what the texts are: `mt` for translations and other texts as long as their reference, `as` for summaries.
        references: with several references, the `best` of the sums, or their `mean`.
        encoder: `embedded` or `base`: the encoder of all terms.

    References:
        Chen and Eger (2023), "MENLI", section 5.1.3, for the sum of a metric of entailment and one of similarity; Zhang
        et al. (2020), "BERTScore"; Xu et al. (2022), "Not All Errors are Equal", for SEScore.
    """

    task: Literal["mt", "as"] = "mt"
    references: Literal["best", "mean"] = "best"
    encoder: Literal["embedded", "base"] = "embedded"
    info: ClassVar = MetricInfo(
        "gauge",
        range=(-math.inf, math.inf),
        copy_is_best=False,
        flags={"unknown", "nonfinite"},
        summary="BERTScore, cosine, SEScore and entailment on fixed scales",
        tasks={"mt", "as", "d2t", "ic"},
        paper='Chen and Eger (2023), "MENLI: Robust Evaluation Metrics from Natural Language Inference"',
    )
    more: ClassVar[Mapping[str, float]] = MappingProxyType({})  # terms beside those of `mt`

    @property
    def weights(self) -> Mapping[str, float]:
        """Term as it is named on the embedded encoder -> weight in deviations."""
        return {**WEIGHTS[self.task], **(self.more if self.task == "mt" else {})}

    @cached_property
    def slopes(self) -> Mapping[str, float]:
        """Term as on the embedded encoder -> what a unit of it adds: together they bring a copy from 0 to 1."""
        scales = SCALES[self.encoder]
        raw = {term: weight / scales[term][2] for term, weight in self.weights.items()}
        width = sum(slope * (scales[term][1] - scales[term][0]) for term, slope in raw.items())
        return {term: slope / width for term, slope in raw.items()}

    @cached_property
    def inside(self) -> tuple[BaseMetric, ...]:
        """The terms."""
        return tuple(whole(metric(on_encoder(term, self.encoder))) for term in self.weights)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The signatures of the terms, with what a unit of each adds, and its value that counts as 0."""
        scales = SCALES[self.encoder]
        terms = (
            f"{slope:.6g}*({signature_of(term, runtime)} - {weight_text(scales[name][0])})"
            for (name, slope), term in zip(self.slopes.items(), self.inside, strict=True)
        )
        return {"terms": " + ".join(terms)}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of the sum, about 0 to 1, without bounds; the parts are the values of the terms.

        A flag is set where any term sets it. A segment is NaN where a term is.

        Raises:
            InputError: a segment has no reference.
        """
        check_needs(self, segments)
        return over_references(segments, self.references, lambda single: self._score_single(single, runtime))

    def _score_single(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        scored = score_segments(dict(zip(self.weights, self.inside, strict=True)), segments, runtime)
        values = np.zeros(len(segments))
        for (name, slope), scores in zip(self.slopes.items(), scored.values(), strict=True):
            values = values + slope * (scores.values - SCALES[self.encoder][name][0])
        raised = dict.fromkeys(flag for scores in scored.values() for flag in scores.flags)
        flags = {
            flag: np.logical_or.reduce([scores.flags[flag] for scores in scored.values() if flag in scores.flags])
            for flag in raised
        }
        parts = {name: scores.values for name, scores in scored.items()}
        return Scores(signature_of(self, runtime), ids(segments), values, parts, flags=flags)


@dataclass(frozen=True, kw_only=True)
class GaugeRated(Gauge):
    """`gauge` with `rated` as one more term, which has learnt from human ratings of translations.

    Args:
        task: see `Gauge`.
        references: see `Gauge`.
        encoder: see `Gauge`.

    References:
        As `Gauge`; Shimanaka et al. (2018), "RUSE", for `rated`.
    """

    info: ClassVar = MetricInfo(
        "gauge-rated",
        range=(-math.inf, math.inf),
        copy_is_best=False,
        flags={"unknown", "nonfinite"},
        summary="gauge with a term that has learnt from human ratings of WMT15",
        tasks={"mt"},
        paper='Chen and Eger (2023), "MENLI: Robust Evaluation Metrics from Natural Language Inference"',
    )
    more: ClassVar = MappingProxyType({RATED: RATED_WEIGHT})
