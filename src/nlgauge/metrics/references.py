"""How a metric that reads one reference scores several: the reference policy, applied in this one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.scores import Scores, ids, mean_of_defined
from nlgauge.core.segment import Segment

Policy = Literal["best", "best_each", "mean", "first"]


def over_references(
    segments: Sequence[Segment],
    policy: Policy,
    score_single: Callable[[Sequence[Segment]], Scores],
    *,
    sums: bool = False,
) -> Scores:
    """Score each segment against each of its references, then fold the scores.

    Args:
        segments: segments with one reference or more.
        policy: `best` takes value and parts of the reference with the best value (the first among equals). `best_each`
            takes the best of the value and of every part on its own, as bert_score does, so that F need not be the
            harmonic mean of the P and R beside it. `mean` takes the mean of each; `first` takes the first reference
            alone.
        score_single: scores segments that have exactly one reference. It is called once, with all (segment, reference)
            pairs.
        sums: under `best`, keep the statistics of the chosen references, from whose sums the corpus number comes;
            otherwise it is the mean of the values.

    Returns:
        Scores of `segments`. A flag is set where it is set for the chosen reference (`best`, `first`), for all
        references, or for any if the score is undefined. Under `best`, `Scores.parts` gains `reference`, the index of
        the chosen one.
    """
    counts = np.array([len(s.references) for s in segments], dtype=np.int64)
    if policy == "first":
        return score_single(
            [s if len(s.references) == 1 else replace(s, references=s.references[:1]) for s in segments]
        )
    if not len(counts) or counts.max() == 1:
        single = score_single(segments)
        first = {"reference": np.zeros(len(segments))} if policy == "best" else {}
        return replace(single, parts={**single.parts, **first})
    single = score_single([replace(s, references=(r,)) for s in segments for r in s.references])
    fold = _Fold(np.concatenate([[0], np.cumsum(counts)[:-1]]), counts, 1.0 if single.higher_is_better else -1.0)
    if policy == "best":
        chosen = fold.argbest(single.values)
        parts = {name: column[chosen] for name, column in single.parts.items()}
        parts["reference"] = (chosen - fold.starts).astype(np.float64)
        return Scores(
            single.signature,
            ids(segments),
            single.values[chosen],
            parts,
            single.stats[chosen] if sums and single.stats is not None else None,
            single.finish if sums else mean_of_defined,
            {name: column[chosen] for name, column in single.flags.items()},
            single.higher_is_better,
        )
    reduce = fold.best if policy == "best_each" else fold.mean
    values = reduce(single.values)
    return Scores(
        single.signature,
        ids(segments),
        values,
        {name: reduce(column) for name, column in single.parts.items()},
        flags={name: fold.flag(column, np.isnan(values)) for name, column in single.flags.items()},
        higher_is_better=single.higher_is_better,
    )


@dataclass(frozen=True)
class _Fold:
    starts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    sign: float

    def best(self, column: Array) -> Array:
        signed = np.where(np.isnan(column), -np.inf, column * self.sign)
        top = np.maximum.reduceat(signed, self.starts)
        return np.where(np.isneginf(top), np.nan, top * self.sign)

    def argbest(self, column: Array) -> npt.NDArray[np.int64]:
        signed = np.where(np.isnan(column), -np.inf, column * self.sign)
        top = np.repeat(np.maximum.reduceat(signed, self.starts), self.counts)
        places = np.where(signed == top, np.arange(len(column)), len(column))
        return np.minimum.reduceat(places, self.starts)

    def flag(self, column: Mask, undefined: Mask) -> Mask:
        every, any_of = np.logical_and.reduceat(column, self.starts), np.logical_or.reduceat(column, self.starts)
        return np.asarray(every | any_of & undefined, dtype=np.bool_)

    def mean(self, column: Array) -> Array:
        return np.asarray(np.add.reduceat(column, self.starts) / self.counts)
