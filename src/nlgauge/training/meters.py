"""Metrics inside a training loop of torchmetrics or Lightning: texts are collected, also from several processes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

import torch

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.segment import Dataset
from nlgauge.metrics.base import MetricLike
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.accumulate import Accumulator, numbers_of


def as_torchmetrics(metrics: MetricLike | Sequence[MetricLike], runtime: Runtime | None = None) -> Any:
    """Metrics as one `torchmetrics.Metric`: `update(preds, target, sources=None)`, `compute()` and `reset()`.

    Texts are its state, packed as bytes, so that those of all processes of a distributed run are scored together.
    `compute` returns the numbers of `numbers_of`, for `log_dict` of Lightning. A call of the metric itself scores the
    batch and keeps its texts. What takes one number, such as arithmetic or `MinMaxMetric`, is given `meter["chrf"]`.

    Args:
        metrics: specifications or metric objects.
        runtime: device, precision and cache, as in `score`.

    Raises:
        InputError: torchmetrics is not installed.
        SpecError: a metric or option is unknown.
    """
    names = Accumulator(metrics, runtime).names  # refuses what it does not know
    try:
        return _kind("_".join(["Meter", *(re.sub(r"\W+", "_", name) for name in names)]))(metrics, runtime)
    except ImportError:
        raise InputError(
            "as_torchmetrics makes a torchmetrics.Metric, and torchmetrics is not installed; run: pip install"
            " torchmetrics"
        ) from None


@cache
def _kind(name: str) -> Any:
    """The class of a meter, by whose name a `MetricCollection` calls it; torchmetrics is imported when one is made."""
    base: Any = import_module("torchmetrics").Metric
    composed: Any = import_module("torchmetrics.metric").CompositionalMetric

    class Meter(base):  # type: ignore[misc]  # of no known type: torchmetrics may not be installed
        """The metric."""

        full_state_update = False

        def __init__(self, metrics: MetricLike | Sequence[MetricLike], runtime: Runtime | None) -> None:
            super().__init__()
            self._metrics, self._runtime = metrics, runtime or Runtime()
            self.add_state("texts", [], dist_reduce_fx="cat")

        def __reduce__(self) -> tuple[Any, ...]:
            """How a copy or another process makes it again: its class is not found by name."""
            return _unmade, (name,), self.__getstate__()

        def __getitem__(self, key: str) -> Any:
            """One of the numbers, as a metric of torchmetrics."""
            taken = partial(_number, key)
            taken.__name__ = key  # type: ignore[attr-defined]  # which torchmetrics shows
            return composed(taken, self, None)

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
            meter = Accumulator(self._metrics, self._runtime)
            parts = self.texts if isinstance(self.texts, list) else [self.texts]
            for line in b"".join(bytes(part.cpu().numpy()) for part in parts).splitlines():
                row = json.loads(line)
                source = None if row["src"] is None else [row["src"]]
                meter.update([row["hyp"]], [row["refs"]] if row["refs"] else None, source)
            return _Numbers(numbers_of(meter.compute()))

    Meter.__name__ = Meter.__qualname__ = name
    return Meter


def _unmade(name: str) -> Any:
    kind = _kind(name)
    return kind.__new__(kind)


class _Numbers(dict[str, float]):
    """The numbers of a meter; where torch computes with those of one metric, as in `meter * 2`, it takes its score."""

    @classmethod
    def __torch_function__(
        cls, compute: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return compute(*(one._score() if isinstance(one, cls) else one for one in args), **(kwargs or {}))

    def _score(self) -> torch.Tensor:
        first = next(iter(self))
        other = next((name for name in self if name != first and not name.startswith(f"{first}.")), None)
        if other is not None:
            raise InputError(f"the meter has {first!r}, {other!r} and more, expected one; write meter[{first!r}]")
        return _number(first, self)


def _number(name: str, numbers: Mapping[str, float]) -> torch.Tensor:
    if name not in numbers:
        raise InputError(f"the meter has no number {name!r}{nearest(name, numbers)}")
    return torch.tensor(numbers[name], dtype=torch.float64)


def _packed(
    preds: Sequence[str], target: Sequence[str] | Sequence[Sequence[str]] | None, sources: Sequence[str] | None
) -> torch.Tensor:
    """Texts as bytes: one line of JSON each, so that parts may be put one behind the other."""
    rows = [
        {"hyp": s.hypothesis, "refs": s.references, "src": s.source}
        for s in Dataset.from_texts(preds, target, sources).segments
    ]
    return torch.tensor(list("".join(json.dumps(row) + "\n" for row in rows).encode("ascii")), dtype=torch.uint8)
