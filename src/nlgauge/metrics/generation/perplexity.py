"""Perplexity: how surprising a causal language model finds the hypothesis, without looking at anything else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.generation.model import FLAGS, GeneratorMetric, judged
from nlgauge.metrics.unknown import known
from nlgauge.runtime.runtime import Runtime


@dataclass(frozen=True, kw_only=True)
class Perplexity(GeneratorMetric):
    """The exponential of minus the mean log-probability of a text's pieces, each given those to its left.

    The number of a corpus is taken over all its pieces, and is not the mean over the texts.

    References:
        Jelinek et al. (1977), "Perplexity: A Measure of the Difficulty of Speech Recognition Tasks". As in the package
        evaluate, the first piece is predicted from the model's begin token, and the end of the text is not.
    """

    info: ClassVar[MetricInfo] = MetricInfo(
        "perplexity",
        needs=frozenset(),
        range=(1.0, math.inf),
        higher_is_better=False,
        copy_is_best=False,
        cached=True,
        flags=FLAGS,
        parts={"pieces": None},
        summary="surprise of a causal language model at the hypothesis; it reads nothing else",
        tasks=TASKS,
        paper='Jelinek et al. (1977), "Perplexity: A Measure of the Difficulty of Speech Recognition Tasks"',
    )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of at least 1, lower is better; flags `empty`, `truncated`, `unknown` and `nonfinite`.

        The part `pieces` is the number of pieces of the text. An empty hypothesis gives V² for a vocabulary of V
        pieces, counts as one piece in the number of the corpus, and sets the flag `empty`. A hypothesis of which no
        piece is known is NaN, and one for which the model computes no finite number.

        Raises:
            InputError: the model cannot be read or is no causal language model.
        """
        generator = self.generator(runtime)
        if generator.found.paired:
            raise InputError(
                f"perplexity: model {self.model!r} is an encoder-decoder, expected a causal language model (GPT-2,"
                " Llama, ...); bartscore takes encoder-decoders"
            )
        texts = [s.hypothesis for s in segments]
        with runtime.progress(len(set(texts)), "perplexity") as advance:
            found = generator.likelihoods([(None, text) for text in texts], advance)
        worst = generator.found.worst
        means, flags = judged(found.sums, found.counts, found.blank, found.truncated, found.unknown, worst)
        with np.errstate(over="ignore"):
            values = known(np.exp(-means), np.zeros(len(means)))
        pieces = {"pieces": np.where(found.blank, 1.0, found.counts)}
        named = signature_of(self, runtime)
        return self.counted(Scores(named, ids(segments), values, pieces, flags=flags, higher_is_better=False))

    def counted(self, scores: Scores) -> Scores:
        """The scores with (surprise, pieces) of each text, shape (n, 2), over which a corpus is taken."""
        defined = ~np.isnan(scores.values)
        counts = np.where(defined, scores.parts["pieces"], 0.0)
        surprise = np.log(np.where(defined, scores.values, 1.0)) * counts
        return replace(scores, stats=np.stack([surprise, counts], axis=1), finish=self.corpus)

    @staticmethod
    def corpus(totals: Array) -> Array:
        """The perplexity from summed (surprise, pieces): (..., 2) to (...); NaN without a piece."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return np.asarray(np.where(totals[..., 1] > 0, np.exp(totals[..., 0] / totals[..., 1]), np.nan))
