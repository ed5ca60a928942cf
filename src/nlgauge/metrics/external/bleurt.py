"""BLEURT as the PyTorch port of its checkpoints computes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nlgauge.core.scores import TASKS
from nlgauge.metrics.external.adapter import Checkpoint, adapted


@dataclass(frozen=True, kw_only=True)
class Bleurt(Checkpoint):
    """The rating that a BLEURT checkpoint predicts from a reference and a hypothesis.

    Args:
        model: a folder with a checkpoint, or the name of a model on the hub, such as `lucadiliello/BLEURT-20-D12`.
        references: of several references the `mean` of the scores, or the `best`.
        blank: the value of a blank text, for which a checkpoint has no lowest score.

    References:
        Sellam et al. (2020), "BLEURT: Learning Robust Metrics for Text Generation".
    """

    environment: ClassVar = "bleurt"
    kind: ClassVar = "bleurt"
    reads: ClassVar = ("hyp", "ref")
    counts_cut: ClassVar = True
    info: ClassVar = adapted(
        "bleurt",
        summary="BLEURT on PyTorch, with a checkpoint of yours; a copy need not be best: it is a model",
        tasks=TASKS,
        paper='Sellam et al. (2020), "BLEURT: Learning Robust Metrics for Text Generation"',
    )
