"""BEER: a linear ranker over the precision, recall and F of character and word n-grams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.options import Checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import version
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.learned.linear import LinearModel, read_linear
from nlgauge.metrics.learned.model import from_ratings
from nlgauge.metrics.lexical.chrf import ChrF
from nlgauge.metrics.references import over_references
from nlgauge.runtime.runtime import Runtime

CHAR_ORDER, WORD_ORDER = 6, 4
FEATURES = tuple(
    f"{unit}{n}.{name}"
    for unit, order in (("char", CHAR_ORDER), ("word", WORD_ORDER))
    for n in range(1, order + 1)
    for name in ("precision", "recall", "f1")
)


@dataclass(frozen=True, kw_only=True)
class Beer(Checked, BaseMetric):
    """How well a hypothesis ranks by its n-grams, with weights that were learnt from pairs of rated hypotheses.

    Args:
        model: a file that `nlgauge train beer` wrote.
        references: of several references the `best` or the `mean` of the scores.

    References:
        Stanojević and Sima'an (2014), "Fitting Sentence Level Translation Evaluation with Many Dense Features": the
        n-gram features and the training on pairs. Its features of function words and of permutation trees are left
        out.
    """

    model: str
    references: Literal["best", "mean"] = "best"
    info: ClassVar = MetricInfo(
        "beer",
        copy_is_best=False,
        summary="ranker on n-grams, learned from your ratings; a copy need not be best: weights may be negative",
        tasks={"mt"},
        paper="Stanojević and Sima'an (2014), \"Fitting Sentence Level Translation Evaluation with Many Dense"
        ' Features"',
    )
    without: ClassVar = {"model": "; 'nlgauge train beer' makes one"}
    learnt: LinearModel = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        learnt = read_linear(self.model, "beer")
        names = tuple(term.name for term in learnt.terms)
        if names != FEATURES or not learnt.slopes.any():
            raise InputError(
                f"beer: {self.model}: expected a weight for each of {FEATURES[0]} to {FEATURES[-1]}, not all of them 0;"
                " train the model again"
            )
        object.__setattr__(self, "learnt", learnt)

    @property
    def notes(self) -> tuple[str, ...]:
        """That the weights have learnt from people's ratings."""
        about = self.learnt.about
        return (from_ratings(about.get("data") or f"rated for {about.get('criterion')}"),)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The identity of the weights, and sacrebleu's version, whose n-grams they weigh."""
        return {**self.learnt.facts(), "sacrebleu": version("sacrebleu")}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1: the weighted sum, from its lowest possible value to its highest.

        A blank side scores 0 and raises the flag `empty`.
        """
        check_needs(self, segments)
        slopes = self.learnt.slopes
        low, high = slopes[slopes < 0].sum(), slopes[slopes > 0].sum()

        def single(segments: Sequence[Segment]) -> Scores:
            features, empty = ngram_features(segments, runtime)
            # One row at a time: in a matrix product the last bits would depend on the number of rows.
            totals = np.array([float((row * slopes).sum()) for row in features])
            values = np.where(empty, 0.0, np.clip((totals - low) / (high - low), 0.0, 1.0))
            return Scores(signature_of(self, runtime), ids(segments), values, flags={"empty": empty})

        return over_references(segments, self.references, single)


def ngram_features(segments: Sequence[Segment], runtime: Runtime) -> tuple[Array, Mask]:
    """The features of n segments against their first reference, in [0, 1], and which of them are empty.

    An order that neither text is long enough for takes the values of the order below, so that short texts are no
    worse than long ones.

    Returns:
        Features in the order of `FEATURES`, shape (n, k); and whether a side is blank, shape (n,).
    """
    single = [s if len(s.references) == 1 else Segment(s.id, s.hypothesis, s.references[:1]) for s in segments]
    found = ChrF(char_order=CHAR_ORDER, word_order=WORD_ORDER).score(single, runtime)
    assert found.stats is not None
    counts = found.stats.reshape(len(segments), CHAR_ORDER + WORD_ORDER, 3)
    features = np.zeros(counts.shape)
    for order in range(counts.shape[1]):
        produced, wanted, matched = counts[:, order].T
        precision = np.divide(matched, produced, out=np.zeros(len(counts)), where=produced > 0)
        recall = np.divide(matched, wanted, out=np.zeros(len(counts)), where=wanted > 0)
        total = produced + wanted
        f1 = np.divide(2 * matched, total, out=np.zeros(len(counts)), where=total > 0)
        here = np.stack([precision, recall, f1], axis=1)
        below = features[:, order - 1] if order not in (0, CHAR_ORDER) else here
        features[:, order] = np.where((total > 0)[:, None], here, below)
    return features.reshape(len(segments), len(FEATURES)), found.flags["empty"]
