"""Metrics whose networks others published, run by name: BLEURT and other raters of pairs, HHEM, MetricX."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.metric import BaseMetric, check_needs, known, nonfinite, over_references, signature_of, unknown
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import TASKS, TRAINED, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.models.locate import ModelFiles
from nlgauge.models.rating import (
    Version,
    input_of,
    load_metricx,
    load_rater,
    locate_rater,
    located,
    metricx_tokenizer,
    version_of,
)
from nlgauge.models.regressor import Ratings
from nlgauge.runtime.runtime import Advance, DType, Runtime

_LEAST_TOKENS = 5  # special tokens, and a piece of each text


@dataclass(frozen=True, kw_only=True)
class PublishedMetric(Checked, BaseMetric):
    """Options of a metric that asks a published network.

    Args:
        revision: branch, tag or commit of a hub model.
        references: of several references the `mean` of the scores, or the `best`, if references are read.
        dtype: the precision of the network; None takes the runtime's.
    """

    revision: str | None = None
    references: Literal["mean", "best"] = "mean"
    dtype: DType | None = None
    info: ClassVar[MetricInfo]

    @property
    def notes(self) -> tuple[str, ...]:
        """That the network has learnt from people's ratings."""
        return (f"{TRAINED} (see the model's card); agreement with the same ratings says nothing about the metric",)

    @property
    def blank(self) -> float:
        """The value of a segment with an empty side."""
        raise NotImplementedError

    def reads(self, segment: Segment) -> tuple[str, ...]:
        """The texts that the network is given of a segment with at most one reference."""
        raise NotImplementedError

    def rated(self, rows: Sequence[tuple[str, ...]], runtime: Runtime, advance: Advance) -> Ratings:
        """What the network says of n rows of texts, as `reads` gives them."""
        raise NotImplementedError

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """What the network says; the flags are `empty`, `truncated`, `unknown` and `nonfinite`.

        An empty side gets the worst value. A segment of which no piece is known is NaN, and one for which the network
        computes no finite number.

        Raises:
            InputError: a segment lacks what the network reads.
        """
        check_needs(self, segments)
        info = self.info

        def single(segments: Sequence[Segment]) -> Scores:
            rows = [self.reads(segment) for segment in segments]
            empty = np.array([any(map(is_blank, row)) for row in rows], dtype=np.bool_)
            values, shares = np.full(len(rows), self.blank), np.zeros(len(rows))
            truncated, broken = np.zeros((2, len(rows)), dtype=np.bool_)
            asked = np.flatnonzero(~empty)
            if len(asked):
                with runtime.progress(len({text for i in asked for text in rows[i]}), info.name) as advance:
                    found = self.rated([rows[i] for i in asked], runtime, advance)
                empty[asked] = found.empty
                read = asked[~found.empty]
                shares[read], truncated[read] = found.unknown[~found.empty], found.truncated[~found.empty]
                broken[read] = nonfinite(found.values[~found.empty])
                values[read] = known(found.values[~found.empty], shares[read])
            return Scores(
                signature_of(self, runtime),
                ids(segments),
                values,
                flags={"empty": empty, "truncated": truncated, "unknown": unknown(shares), "nonfinite": broken},
                higher_is_better=info.higher_is_better,
            )

        return over_references(segments, self.references, single) if "references" in info.needs else single(segments)


def published(name: str, **about: Any) -> MetricInfo:
    """Declare a metric whose network others published."""
    settled: dict[str, Any] = {"range": (-math.inf, math.inf), "copy_is_best": False, "cached": True}
    return MetricInfo(name, flags={"unknown", "nonfinite"}, **{**settled, **about})


# --- Classifiers with one output, which read two texts in one sequence


@dataclass(frozen=True, kw_only=True)
class Bleurt(PublishedMetric):
    """The rating that BLEURT predicts from a reference and a hypothesis, or any classifier with one output.

    The network reads both texts in one sequence, the reference first. Published checkpoints of BLEURT in PyTorch are
    `Elron/bleurt-{tiny,base,large}-{128,512}`: they read English and give about -2 to 1. BLEURT-20 is not computed
    here. A copy of the reference need not be best. What is longer than the network reads is cut, the longer text first,
    with the flag `truncated`.

    Other classifiers with one output are run alike: rankers of similarity (`cross-encoder/stsb-roberta-large`,
    `activation=sigmoid`), or a checker of facts that reads the source first, as `hhem` is.

    Args:
        model: an id of the Hugging Face hub, or a folder.
        anchor: the text that stands first: the `reference` or the `source`.
        activation: what follows the output: `none`, or `sigmoid`, as sentence-transformers' models of one output have.
        max_tokens: the largest number of pieces of a pair; None takes what the network reads.

    References:
        Sellam et al. (2020), "BLEURT: Learning Robust Metrics for Text Generation".
    """

    model: str = "Elron/bleurt-large-512"
    anchor: Literal["reference", "source"] = "reference"
    activation: Literal["none", "sigmoid"] = "none"
    max_tokens: Annotated[int, Range(least=_LEAST_TOKENS)] | None = None
    info: ClassVar = published(
        "bleurt",
        summary="a rating by BLEURT, or by any classifier with one output; a copy need not be best: it is a model",
        tasks=TASKS,
        paper='Sellam et al. (2020), "BLEURT: Learning Robust Metrics for Text Generation"',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        needs = {"references"} if self.anchor == "reference" else {"source"}
        object.__setattr__(self, "info", replace(type(self).info, needs=needs, blank=self.blank))

    @property
    def blank(self) -> float:
        """About the lowest value that a network gives: -2, or 0 behind a sigmoid."""
        return -2.0 if self.activation == "none" else 0.0

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        return {"dtype": runtime.precision(self.dtype), **self._files().facts()}

    def reads(self, segment: Segment) -> tuple[str, ...]:
        """The text that stands first, and the hypothesis."""
        first = segment.references[0] if self.anchor == "reference" else segment.source or ""
        return first.strip(), segment.hypothesis.strip()

    def rated(self, rows: Sequence[tuple[str, ...]], runtime: Runtime, advance: Advance) -> Ratings:
        """The output for each pair."""
        model = load_rater(self._files(), runtime.precision(self.dtype), runtime, self.max_tokens)
        found = model.rate([(first, second) for first, second in rows], advance)
        if self.activation == "none":
            return found
        with np.errstate(over="ignore"):
            return replace(found, values=1 / (1 + np.exp(-found.values)))

    def _files(self) -> ModelFiles:
        return locate_rater(self.model, self.revision)


@dataclass(frozen=True, kw_only=True)
class Hhem(Bleurt):
    """How far a source supports a text, from 0 to 1, by Vectara's first model for hallucinations (HHEM 1.0).

    A DeBERTa v3 with one output, of 0.7 GB and the licence Apache-2.0, which reads English, 512 pieces of both texts;
    Vectara calls less than 0.5 a hallucination. Models since version 2 have code of their own, which is never run.

    References:
        Hughes and Bae (2023), "Vectara Hallucination Leaderboard", and the model's card.
    """

    model: str = "vectara/hallucination_evaluation_model@hhem-1.0-open"
    anchor: Literal["reference", "source"] = "source"
    activation: Literal["none", "sigmoid"] = "sigmoid"
    info: ClassVar = replace(
        Bleurt.info,
        name="hhem",
        needs={"source"},
        range=(0.0, 1.0),
        summary="whether the source supports the text, by Vectara's HHEM 1.0; a copy need not be best: it is a model",
        tasks={"as", "d2t", "dg"},
        paper='Hughes and Bae (2023), "Vectara Hallucination Leaderboard"',
    )


# --- MetricX


@dataclass(frozen=True, kw_only=True)
class MetricX(PublishedMetric):
    """The number of errors that MetricX predicts, from 0 to 25: lower is better.

    MetricX is an mT5 that learnt to answer with a rating: the logit of one piece at its first step, cut off at 0 and
    25. Version 24 reads source, hypothesis and reference, version 23 hypothesis and reference. It reads about a hundred
    languages. Texts of over 1,536 pieces together (1,024 for version 23) are cut at the end, where the reference
    stands, with the flag `truncated`.

    Sizes are `google/metricx-24-hybrid-{large,xl,xxl}-v2p6` (5, 15 and 52 GB as float32; Apache-2.0) and
    `google/metricx-23-{large,xl,xxl}-v2p0`. The tokenizer is mT5's, which is fetched beside it.

    Args:
        model: an id of the Hugging Face hub, or a folder.
        version: 23 or 24, which decides what the network is given; None takes what the model's name says, else 24.

    References:
        Juraska et al. (2023), "MetricX-23: The Google Submission to the WMT 2023 Metrics Shared Task"; Juraska et al.
        (2024), "MetricX-24: The Google Submission to the WMT 2024 Metrics Shared Task".
    """

    model: str = "google/metricx-24-hybrid-large-v2p6"
    version: Literal["23", "24"] | None = None
    reads_reference: ClassVar[bool] = True
    info: ClassVar = published(
        "metricx",
        needs={"references", "source"},
        range=(0.0, 25.0),
        higher_is_better=False,
        summary="the number of errors that MetricX predicts; a copy need not be best: it is a model",
        tasks={"mt"},
        paper='Juraska et al. (2024), "MetricX-24: The Google Submission to the WMT 2024 Metrics Shared Task"',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reads_reference and self.chosen == "23":
            object.__setattr__(self, "info", replace(type(self).info, needs={"references"}))

    @property
    def chosen(self) -> Version:
        """The version."""
        return self.version or version_of(self.model)

    @property
    def blank(self) -> float:
        """The worst rating."""
        return 25.0

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        files = located(self.model, self.revision)
        read_by = metricx_tokenizer(files)
        tokenizer = {} if read_by is files else {"tokenizer": f"{read_by.name}@{read_by.folder.name[:12]}"}
        return {"version": self.chosen, "dtype": runtime.precision(self.dtype), **files.facts(), **tokenizer}

    def reads(self, segment: Segment) -> tuple[str, ...]:
        """The hypothesis, and of source and reference what the network is given."""
        texts = [segment.hypothesis]
        if self.reads_reference:
            texts.append(segment.references[0])
        if "source" in self.info.needs:
            texts.append(segment.source or "")
        return tuple(texts)

    def rated(self, rows: Sequence[tuple[str, ...]], runtime: Runtime, advance: Advance) -> Ratings:
        """The rating of each row."""
        model = load_metricx(located(self.model, self.revision), self.chosen, runtime.precision(self.dtype), runtime)
        inputs = []
        for hyp, *others in rows:
            ref = others.pop(0) if self.reads_reference else None
            inputs.append(input_of(self.chosen, hyp, ref, others[0] if others else None))
        return model.rate(inputs, advance)


@dataclass(frozen=True, kw_only=True)
class MetricXQE(MetricX):
    """The number of errors that MetricX predicts from source and hypothesis alone, from 0 to 25: lower is better.

    As `metricx`, without references: version 24 has one network for both, version 23 has networks of its own
    (`google/metricx-23-qe-{large,xl,xxl}-v2p0`).

    Args:
        model: an id of the Hugging Face hub, or a folder.
        version: 23 or 24, which decides what the network is given; None takes what the model's name says, else 24.

    References:
        Juraska et al. (2024), "MetricX-24: The Google Submission to the WMT 2024 Metrics Shared Task".
    """

    reads_reference: ClassVar[bool] = False
    info: ClassVar = replace(
        MetricX.info,
        name="metricx-qe",
        needs={"source"},
        summary="the number of errors that MetricX predicts without references; it is a model",
    )
