"""Texts that come in batches, as in a training loop, and are scored together at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nlgauge.core.counts import warning
from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Dataset, Segment
from nlgauge.metrics.base import Metric
from nlgauge.metrics.registry import named
from nlgauge.metrics.scoring import score
from nlgauge.runtime.runtime import Runtime


class Accumulator:
    """Collects texts batch by batch and scores them all at once, so that no score depends on the batches.

        meter = nlgauge.Accumulator("chrf")
        for batch in loader:
            meter.update(model(batch), batch["references"])
        meter.compute()["chrf"].system

    Args:
        metrics: specifications or metric objects.
        runtime: device, precision and cache, as in `score`.

    Raises:
        SpecError: a metric or option is unknown.
    """

    def __init__(self, metrics: str | Metric | Sequence[str | Metric], runtime: Runtime | None = None) -> None:
        self._metrics, self._runtime = named(metrics), runtime or Runtime()
        self._specs = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Sequence) else list(metrics)
        self._segments: list[Segment] = []

    def __len__(self) -> int:
        return len(self._segments)

    def __repr__(self) -> str:
        return f"Accumulator({', '.join(self._metrics)}; {len(self)} segments)"

    def update(
        self,
        hyps: Sequence[str],
        refs: Sequence[str] | Sequence[Sequence[str]] | None = None,
        srcs: Sequence[str] | None = None,
    ) -> None:
        """Add a batch; the arguments are those of `score`. Nothing is scored yet.

        Raises:
            InputError: lengths are unequal, or an entry is not text. Nothing of the batch is kept.
        """
        self._segments += Dataset.from_texts(hyps, refs, srcs).segments

    @warning
    def compute(self) -> dict[str, Scores]:
        """Score everything that was added, in order, with ids from 1; more can be added later.

        Raises:
            InputError: nothing was added, or a segment lacks what a metric needs.
        """
        if not self._segments:
            raise InputError("nothing was added yet; call update with a batch of texts first")
        numbered = (replace(s, id=str(i), item=str(i)) for i, s in enumerate(self._segments, start=1))
        return score(Dataset(tuple(numbered)), metrics=self._specs, runtime=self._runtime)

    def reset(self) -> None:
        """Forget all texts."""
        self._segments = []
