"""BARTScore and PRISM: how likely a model finds the hypothesis given the reference or the source, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Mask
from nlgauge.core.errors import SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.generation.model import FLAGS, GeneratorMetric, judged
from nlgauge.metrics.references import over_references
from nlgauge.models.generation import WHOLE
from nlgauge.runtime.runtime import Runtime

_TO_HYPOTHESIS, _TO_REFERENCE = "hypothesis-given-reference", "reference-given-hypothesis"
_FROM_SOURCE = "hypothesis-given-source"


@dataclass(frozen=True, kw_only=True)
class BartScore(GeneratorMetric):
    """Mean log-probability of the pieces of one text, given another.

    Args:
        direction: `hypothesis-given-reference` (the paper's precision), `reference-given-hypothesis` (recall), `both`
            (their mean, the paper's F score), or `hypothesis-given-source` (faithfulness).
        references: with several references, the `mean` of the scores, the `best`, or the `first` alone.
        prompt: a text in which `{}` stands for what is given.
        frame: whether pieces around the text itself and its end, such as BART's <s> or the tag of a language, `count`
            (as in BARTScore) or not (`skip`, as in PRISM).
        language: the code of the language of hypothesis and references, for models of many languages.
        source_language: the code of the language of the source, likewise.

    References:
        Yuan et al. (2021), "BARTScore: Evaluating Generated Text as Text Generation", section 3, with its released
        code: the pieces of a text's end, and before its beginning, are of the text. Thompson and Post (2020),
        "Automatic Machine Translation Evaluation in Many Languages via Zero-Shot Paraphrasing", section 3.
    """

    direction: Literal[
        "both", "hypothesis-given-reference", "reference-given-hypothesis", "hypothesis-given-source"
    ] = "both"
    references: Literal["mean", "best", "first"] = "mean"
    prompt: str = WHOLE
    frame: Literal["count", "skip"] = "count"
    language: str | None = None
    source_language: str | None = None
    without: ClassVar = {
        "model": "; the paper's: facebook/bart-large-cnn, and for F bart.pth, converted as the page 'generation' says"
    }
    info: ClassVar[MetricInfo] = MetricInfo(
        "bartscore",
        range=(-math.inf, 0.0),
        copy_is_best=False,
        cached=True,
        flags=FLAGS,
        parts={"hypothesis_given_reference": True, "reference_given_hypothesis": True},
        summary="log-likelihood of one text given the other; a copy need not be best: no bound holds what a model says",
        tasks=TASKS,
        paper='Yuan et al. (2021), "BARTScore: Evaluating Generated Text as Text Generation"; Thompson and Post (2020),'
        ' "Automatic Machine Translation Evaluation in Many Languages via Zero-Shot Paraphrasing"',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prompt.count(WHOLE) != 1:
            raise SpecError(f"bartscore:prompt is {self.prompt!r}, expected a text with one {WHOLE}")
        if self.direction == _FROM_SOURCE:
            if self.references != "mean":
                raise SpecError(
                    f"bartscore:references={self.references} changes nothing under direction={_FROM_SOURCE}; leave it"
                    " out"
                )
            object.__setattr__(self, "info", replace(type(self).info, needs={"source"}))
        elif self.source_language is not None:
            raise SpecError(f"bartscore:source_language goes with direction={_FROM_SOURCE}; no source is read")

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of at most 0, without a lower bound; flags `empty`, `truncated`, `unknown` and `nonfinite`.

        Under `both` the parts are the two directions. An empty side gives -2 ln V for a vocabulary of V pieces, which
        is twice what a guess among all pieces costs, and sets the flag `empty`. A segment with a text of which no piece
        is known is NaN, and one for which the model computes no finite number.

        Raises:
            InputError: a segment lacks what is read, or the model cannot be read or writes no text.
        """
        check_needs(self, segments)
        if self.direction == _FROM_SOURCE:
            return self._score_single(segments, runtime)
        return over_references(segments, self.references, lambda single: self._score_single(single, runtime))

    def _score_single(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        against = [(s.source or "") if self.direction == _FROM_SOURCE else s.references[0] for s in segments]
        sides = [(other, s.hypothesis) for other, s in zip(against, segments, strict=True)]
        ways = [_TO_HYPOTHESIS, _TO_REFERENCE] if self.direction == "both" else [self.direction]
        pairs = [pair[::-1] if way == _TO_REFERENCE else pair for way in ways for pair in sides]
        generator = self.generator(
            runtime,
            template=self.prompt,
            counts_frame=self.frame == "count",
            language=self.language,
            given_language=self.source_language,
        )
        with runtime.progress(len(set(pairs)), "bartscore") as advance:
            found = generator.likelihoods(pairs, advance)
        means, flags = judged(
            found.sums, found.counts, found.blank, found.truncated, found.unknown, generator.found.worst
        )
        shape = len(ways), len(segments)
        rows = means.reshape(shape)
        parts = {way.replace("-", "_"): row for way, row in zip(ways, rows, strict=True)} if len(ways) > 1 else {}
        every: dict[str, Mask] = {name: np.any(column.reshape(shape), axis=0) for name, column in flags.items()}
        return Scores(signature_of(self, runtime), ids(segments), rows.mean(axis=0), parts, flags=every)
