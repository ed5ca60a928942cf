"""Metrics inside a training loop of torchmetrics or Lightning: texts are collected, also from several processes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import torch

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset
from nlgauge.metrics.base import MetricLike
from nlgauge.metrics.scoring.accumulate import Accumulator, numbers_of
from nlgauge.runtime.runtime import Runtime


def as_torchmetrics(metrics: MetricLike | Sequence[MetricLike], runtime: Runtime | None = None) -> Any:
    """Metrics as one `torchmetrics.Metric`: `update(preds, target, sources=None)`, `compute()` and `reset()`.

    Texts are its state, packed as bytes, so that those of all processes of a distributed run are scored together.
    `compute` returns the numbers of `numbers_of`, for `log_dict` of Lightning. A call of the metric itself scores the
    batch and keeps its texts.

    Args:
        metrics: specifications or metric objects.
        runtime: device, precision and cache, as in `score`.

    Raises:
        InputError: torchmetrics is not installed.
        SpecError: a metric or option is unknown.
    """
    try:
        base: Any = import_module("torchmetrics").Metric
    except ImportError:
        raise InputError(
            "as_torchmetrics makes a torchmetrics.Metric, and torchmetrics is not installed; run: pip install"
            " torchmetrics"
        ) from None
    Accumulator(metrics)  # refuses what it does not know

    class Meter(base):  # type: ignore[misc]  # of no known type: torchmetrics may not be installed
        """The metric; a class of its own kind, for torchmetrics is imported when one is made."""

        full_state_update = False

        def __init__(self) -> None:
            super().__init__()
            self.add_state("texts", [], dist_reduce_fx="cat")

        def update(
            self,
            preds: Sequence[str],
            target: Sequence[str] | Sequence[Sequence[str]] | None = None,
            sources: Sequence[str] | None = None,
        ) -> None:
            """Add a batch of texts."""
            self.texts.append(_packed(preds, target, sources))

        def compute(self) -> dict[str, float]:
            """The corpus-level scores of all texts."""
            meter = Accumulator(metrics, runtime)
            parts = self.texts if isinstance(self.texts, list) else [self.texts]
            for line in b"".join(bytes(part.cpu().numpy()) for part in parts).splitlines():
                row = json.loads(line)
                source = None if row["src"] is None else [row["src"]]
                meter.update([row["hyp"]], [row["refs"]] if row["refs"] else None, source)
            return numbers_of(meter.compute())

    return Meter()


def _packed(
    preds: Sequence[str], target: Sequence[str] | Sequence[Sequence[str]] | None, sources: Sequence[str] | None
) -> torch.Tensor:
    """Texts as bytes: one line of JSON each, so that parts may be put one behind the other."""
    rows = [
        {"hyp": s.hypothesis, "refs": s.references, "src": s.source}
        for s in Dataset.from_texts(preds, target, sources).segments
    ]
    return torch.tensor(list("".join(json.dumps(row) + "\n" for row in rows).encode("ascii")), dtype=torch.uint8)
