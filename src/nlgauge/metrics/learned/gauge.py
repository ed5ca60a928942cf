"""`gauge`, a sum of metrics on fixed scales, and sentinels, controls that see one side alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, check_needs, over_references, signature_of, whole
from nlgauge.core.options import Checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.core.spec import weight_text
from nlgauge.metrics.learned.regressor import Regressor
from nlgauge.metrics.registry import metric, on_encoder
from nlgauge.metrics.run import joined_flags, score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing

_TEXTS = {"source": "src", "hypothesis": "hyp", "reference": "ref"}
_NEEDS: dict[str, frozenset[str]] = {
    "source": frozenset({"source"}),
    "hypothesis": frozenset(),
    "reference": frozenset({"references"}),
}


@dataclass(frozen=True, kw_only=True)
class Sentinel(Checked, BaseMetric):
    """A score of one side alone: how short it is, or the rating that a network predicts from it.

    It compares nothing: a metric that agrees with people no better than a sentinel of the source earns its number by
    knowing which inputs are hard.

    Without a model it needs no training and no extra. No head comes with the package: `nlgauge train regressor
    ratings.jsonl -c adequacy --side source --method frozen -o source.safetensors` makes one from any rated data. What
    stands on the other sides changes nothing, even if it is blank.

    In tables of WMT (`nlgauge meta --preset`) three controls stand below the metrics: the lengths of source and
    hypothesis, and `sentinel:item-mean`, which gives every output of an item the mean over all metrics and outputs of
    that item. A note names the metrics that have a control within their interval, or above it.

    Args:
        side: the only side that is read: `source`, `hypothesis` or `reference`.
        model: a head that `nlgauge train regressor --side` wrote for this side. None takes the length: minus the number
            of characters, since long texts have room for more errors.

    References:
        Perrella et al. (2024), "Guardians of the Machine Translation Meta-Evaluation: Sentinel Metrics Fall In!"; the
        network is ours. Length alone is not theirs.
    """

    side: Literal["source", "hypothesis", "reference"] = "source"
    model: str | None = None
    info: ClassVar = MetricInfo(
        "sentinel",
        needs={"source"},
        range=(-float("inf"), float("inf")),
        judges=False,
        copy_is_best=False,
        flags={"unknown", "nonfinite"},
        summary="one side alone, as a control: how short it is, or a rating predicted from it",
        tasks=TASKS,
        paper=(
            'Perrella et al. (2024), "Guardians of the Machine Translation Meta-Evaluation: Sentinel Metrics Fall In!"'
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        info = replace(type(self).info, needs=_NEEDS[self.side], cached=self.model is not None)
        object.__setattr__(self, "info", info)

    @cached_property
    def _regressor(self) -> Regressor | None:
        """The metric that the model is; its own errors speak of the file."""
        if self.model is None:
            return None
        found = Regressor(model=self.model)
        if found.files().texts != (_TEXTS[self.side],):
            raise InputError(
                f"sentinel: {self.model} reads {', '.join(found.files().texts)}, expected {_TEXTS[self.side]} alone;"
                f" 'nlgauge train regressor --side {self.side}' makes such a model"
            )
        return found

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language; a length reads all."""
        return None if self._regressor is None else self._regressor.unread(writing)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The facts of the model, found without loading it; nothing for lengths."""
        return {} if self._regressor is None else self._regressor.facts(runtime)

    @property
    def notes(self) -> tuple[str, ...]:
        """That it is a control, and what its model has learnt from."""
        learnt = () if self._regressor is None else self._regressor.notes
        return (f"a control, not a metric: it reads the {self.side} alone", *learnt)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Minus the number of characters (of several references, their mean); or what the model predicts.

        A blank text of this side sets the flag `empty`. A blank text of another side changes nothing: unlike a metric,
        a sentinel does not see it.

        Raises:
            InputError: a segment lacks the side that is read.
        """
        check_needs(self, segments)
        if self._regressor is not None:
            found = self._regressor.score(segments, runtime)
            return replace(found, signature=signature_of(self, runtime))
        values = np.array([-float(np.mean([len(text) for text in self._texts(s)])) for s in segments], dtype=np.float64)
        empty = np.array([any(map(is_blank, self._texts(s))) for s in segments], dtype=np.bool_)
        return Scores(signature_of(self, runtime), ids(segments), values, flags={"empty": empty})

    def _texts(self, segment: Segment) -> Sequence[str]:
        if self.side == "reference":
            return segment.references
        return (segment.source or "" if self.side == "source" else segment.hypothesis,)


# --- `gauge`: a sum of metrics on scales that are part of it, so that a segment scores the same in any company

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
# Weights in deviations. recipes/studies/gauge.py and recipes/rated/by_item.py hold them against others.
WEIGHTS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "mt": {F: 0.5, RECALL: 0.5, COSINE: 0.5, CHRF: 0.5, SESCORE: 1.0, NLI: 0.5},
        "as": {RECALL: 1.0, CHRF: 0.5},  # `sescore` and an NLI head read sentences, no summaries
    }
)
WEIGHTS_RATED: Mapping[str, float] = MappingProxyType({RATED: 4.0, RECALL: 1.0, COSINE: 1.0, CHRF: 1.0})


@dataclass(frozen=True, kw_only=True)
class Gauge(Checked, BaseMetric):
    """BERTScore with cosine, chrF, SEScore and entailment: a metric for English that needs no ratings.

    The weights of its terms, in standard deviations over translations, are 0.5 for F and for recall of `bertscore`, for
    `cosine`, for `chrf` and for `nli-robust:direction=both`, and 1 for `sescore`. With `task=as` they are 1 for recall
    and 0.5 for `chrf`, since `sescore` and entailment read sentences.

    Each term is brought to a scale that is fixed: 0 is what unrelated sentences have on the mean, and 1 what a copy of
    the reference has. So is the sum. The scales were measured once on texts of WMT15 and are part of the metric: a text
    scores the same alone and beside any other systems.

    With several references each has its own sum. The parts are the terms for the reference that counts, and its number
    `reference`. A copy need not be best. A blank text gets the worst value of each term, about -1 in all; a segment is
    NaN where a term is.

    Take it for very poor outputs, as of early checkpoints, where `rated` is behind. On ordinary translations `rated` or
    `gauge-rated` is ahead of it, and for whole systems it does no better than `bertscore`. Of attacks on the meaning of
    news sentences it resists less than half. For summaries `bertscore:value=recall` does as well as `task=as`.

    Args:
        task: what the texts are: `mt` for translations and other texts as long as their reference, `as` for summaries.
        references: with several references, the `best` of the sums, or their `mean`.
        encoder: `embedded` or `base`: the encoder of all terms. `--encoder base` sets it, too.

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
        summary="BERTScore, cosine, chrF, SEScore and entailment on fixed scales",
        tasks={"mt", "as", "d2t", "ic"},
        paper='Chen and Eger (2023), "MENLI: Robust Evaluation Metrics from Natural Language Inference"',
    )

    @property
    def weights(self) -> Mapping[str, float]:
        """Term as it is named on the embedded encoder -> weight in deviations."""
        return WEIGHTS[self.task]

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
        flags = joined_flags(scored)
        parts = {name: scores.values for name, scores in scored.items()}
        return Scores(signature_of(self, runtime), ids(segments), values, parts, flags=flags)


@dataclass(frozen=True, kw_only=True)
class GaugeRated(Gauge):
    """`rated` with recall, cosine and chrF: which of several translations of one text is better?

    On the scales of `gauge` the weights are 4 standard deviations for `rated`, and 1 each for recall of `bertscore`,
    `cosine` and `chrf`; with `task=as` they are those of `gauge`. Between translations of one text it is ahead of
    `bertscore`, with which `rated` alone is level. Where translations of many texts are compared it is a little behind
    `rated`; on very poor outputs it is ahead of it and behind `gauge`. An attack fools it more often than `rated`.

    `rated` has learnt from human ratings of WMT15: do not quote its agreement with people there; a note under every
    result says so.

    References:
        Shimanaka et al. (2018), "RUSE", for the first head of `rated`, and the papers of the other terms. The sum is
        ours.
    """

    info: ClassVar = MetricInfo(
        "gauge-rated",
        range=(-math.inf, math.inf),
        copy_is_best=False,
        flags={"unknown", "nonfinite"},
        summary="rated with BERTScore's recall, cosine and chrF, for translations of one text",
        tasks={"mt"},
        paper=(
            'Shimanaka et al. (2018), "RUSE: Regressor Using Sentence Embeddings for Automatic Machine Translation'
            ' Evaluation"'
        ),
    )

    @property
    def weights(self) -> Mapping[str, float]:
        """Term as it is named on the embedded encoder -> weight in deviations."""
        return WEIGHTS_RATED if self.task == "mt" else super().weights
