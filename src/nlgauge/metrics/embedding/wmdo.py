"""WMDo: word mover's distance with penalties for another word order and for words without a vector."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.options import Range
from nlgauge.metrics.embedding.points import kernel
from nlgauge.metrics.embedding.points.kernel import Side
from nlgauge.metrics.embedding.points.matched import points_info
from nlgauge.metrics.embedding.points.worded import Worded

_EQUAL = 1e-9  # flows that differ by rounding are equal
Penalty = Annotated[float, Range(least=0)]


@dataclass(frozen=True, kw_only=True)
class Wmdo(Worded):
    """The word mover's distance, plus penalties for fragments and for words without a vector; lower is better.

    Args:
        delta: the weight of the share of fragments among the matched words.
        alpha: the weight of the share of hypothesis words without a vector; no piece of an encoder is without.
        references: how to use several references; `best` takes the nearest.

    References:
        Chow et al. (2019), "WMDO: Fluency-based Word Mover's Distance for Machine Translation Evaluation"; the numbers
        0.18 and 0.1 and the way fragments are counted are the released code's. There, a word without a vector takes
        part in the transport as a vector of zeros; here it is left out.
    """

    delta: Penalty = 0.18
    alpha: Penalty = 0.1
    info: ClassVar = points_info(
        "wmdo",
        range=(0.0, np.inf),
        higher_is_better=False,
        tasks={"mt"},
        paper='Chow et al. (2019), "WMDO: Fluency-based Word Mover\'s Distance for Machine Translation Evaluation"',
        summary="word mover's distance with a penalty for word order (Chow et al. 2019)",
    )
    columns: ClassVar = ("value", "distance", "fragments")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "info", replace(self.info, range=(0.0, 2.0 + self.delta + self.alpha)))

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        # Equal words with static vectors are one point, since their flow could be split between them in any way.
        first, hyp_places = self._merged(hypothesis)
        second, ref_places = self._merged(reference)
        costs = kernel.distances(first.vectors, second.vectors, "cosine")
        distance, flow = kernel.transport(costs, first.weights, second.weights)
        order = sorted((place, point) for point, places in enumerate(ref_places) for place in places)
        fragments = fragmentation(flow, [point for _, point in order], hyp_places)
        return distance + self.delta * fragments + self.alpha * hypothesis.missing, distance, fragments

    def _merged(self, side: Side) -> tuple[Side, list[list[int]]]:
        """The points, and the places of each in its text."""
        if self.vectors is None:
            return side, [[place] for place in range(len(side.weights))]
        marks, first, point = np.unique(side.marks, return_index=True, return_inverse=True)
        places = [np.flatnonzero(point == number).tolist() for number in range(len(marks))]
        return Side(side.vectors[first], np.array([float(len(p)) for p in places]), marks), places

    def _worst(self) -> tuple[float, ...]:
        return self.info.range[1], 2.0, 1.0


def fragmentation(flow: Array, order: Sequence[int], places: Sequence[Sequence[int]]) -> float:
    """The number of fragments per matched word, at most 1.

    Each word of the reference is matched to the hypothesis word that it exchanges most weight with; of equals, and of a
    word's places, the one nearest to the last match. A fragment ends where the next match is not the next word.

    Args:
        flow: the weight moved, shape (hypothesis points, reference points).
        order: the point of each reference word, in the order of the text.
        places: the places of each hypothesis point in its text, in order.
    """
    fragments, current = 1, -1
    for point in order:
        column = flow[:, point]
        best = np.flatnonzero(column >= column.max() - _EQUAL)
        place = _nearest(sorted(_nearest(places[i], current) for i in best.tolist()), current)
        fragments += place != current + 1
        current = place
    return min(fragments / len(order), 1.0)


def _nearest(places: Sequence[int], current: int) -> int:
    """The place nearest to the current one; of two, the earlier."""
    after = bisect_left(places, current)
    near = places[max(after - 1, 0) : after + 1]
    return min(near, key=lambda place: (abs(place - current), place))
