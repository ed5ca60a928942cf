"""A regressor of one's own as a metric: against references, the source or both, as it was trained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from nlgauge.core.options import checked
from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.learned.model import RegressorMetric
from nlgauge.runtime.runtime import Runtime

_NEEDS = {"ref": "references", "src": "source"}


@dataclass(frozen=True, kw_only=True)
class Regressor(RegressorMetric):
    """The rating that a network predicts after training on ratings: COMET's or BLEURT's idea, on any encoder.

    Args:
        model: a head or folder that `nlgauge train regressor` (or `train sescore`) wrote. It says itself which texts
            it reads.

    References:
        Rei et al. (2020), "COMET: A Neural Framework for MT Evaluation", section 2; Shimanaka et al. (2018), "RUSE".
    """

    model: str
    info: ClassVar = MetricInfo(
        "regressor",
        range=(-math.inf, math.inf),
        copy_is_best=False,
        cached=True,
        flags={"unknown"},
        summary="learned from your ratings; a copy need not be best: no bound holds what a network says",
    )

    def __post_init__(self) -> None:
        checked(self)
        needs = {_NEEDS[text] for text in self.files().texts if text != "hyp"}
        object.__setattr__(self, "info", replace(type(self).info, needs=needs))

    @property
    def _model(self) -> str:
        return self.model

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values on the scale of the ratings (or 0 to 1 with `rescale`), without bounds.

        The part is `raw`; the flags are `empty`, `truncated` and `unknown`. An empty side gets the lowest rating of
        training and sets the flag `empty`. A segment with a text of which no piece is known is NaN.

        Raises:
            InputError: a segment lacks what the regressor reads.
        """
        check_needs(self, segments)
        return self._scored(segments, runtime, "regressor")
