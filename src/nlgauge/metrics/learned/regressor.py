"""A regressor of one's own as a metric: against references, the source or both, as it was trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from nlgauge.metrics.learned.model import RegressorMetric, learned

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
    info: ClassVar = learned("regressor", "your ratings")

    def __post_init__(self) -> None:
        super().__post_init__()
        needs = {_NEEDS[text] for text in self.files().texts if text != "hyp"}
        object.__setattr__(self, "info", replace(type(self).info, needs=needs))

    @property
    def _model(self) -> str:
        return self.model
