"""SEScore: a regressor that was trained on synthesised errors, each with its severity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.learned.model import RegressorMetric, learned
from nlgauge.runtime.runtime import Runtime


@dataclass(frozen=True, kw_only=True)
class SEScore(RegressorMetric):
    """Minus the severity of a text's errors.

    In training a text without errors gets 0; a minor error costs 1, a severe one 5, and scores end at -25. The network
    keeps this order but not the scale, which a head has if it was calibrated.

    Args:
        model: `sescore` (comes with the package), or a head or folder that `nlgauge train sescore` wrote.

    References:
        Xu et al. (2022), "Not All Errors are Equal: Learning Text Generation Metrics using Stratified Error
        Synthesis", section 3.4. The paper names the product and the difference of the vectors as features; its
        released code also reads the vectors themselves. The metadata of a head say which of the two it reads.
    """

    model: str = "sescore"
    info: ClassVar = learned(
        "sescore",
        "synthetic errors",
        frozenset({"mt", "d2t", "ic"}),
        'Xu et al. (2022), "Not All Errors are Equal: Learning Text Generation Metrics using Stratified Error'
        ' Synthesis"',
    )

    @property
    def _model(self) -> str:
        return self.model

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of about -25 to 0 (or 0 to 1 with `rescale`), without bounds.

        The part is `raw`, what the network says before it is calibrated; the flags are `empty`, `truncated` and
        `unknown`. An empty side gets the lowest score of training and sets the flag `empty`. A segment with a text of
        which no piece is known is NaN.

        Raises:
            InputError: a segment has no reference, or the model is not a regressor or reads other texts.
        """
        check_needs(self, segments)
        texts = self.files().texts
        if texts != ("hyp", "ref"):
            raise InputError(
                f"sescore: {self.model} reads {', '.join(texts)}, expected hyp, ref; use regressor:model={self.model}"
            )
        return super().score(segments, runtime)
