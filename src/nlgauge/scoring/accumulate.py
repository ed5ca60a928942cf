"""Texts that come in batches, as in a training loop, and are scored together at the end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from nlgauge.core.errors import InputError
from nlgauge.core.metric import MetricLike
from nlgauge.core.scores import Scores, warning
from nlgauge.core.segment import Dataset, Segment
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.job import score


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

    def __init__(self, metrics: MetricLike | Sequence[MetricLike], runtime: Runtime | None = None) -> None:
        self._runtime = runtime or Runtime()
        self._metrics = named(metrics, self._runtime.encoder)
        self._specs = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Sequence) else list(metrics)
        self._segments: list[Segment] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the metrics, which are the keys of what `compute` returns."""
        return tuple(self._metrics)

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


def numbers_of(scores: Mapping[str, Scores]) -> dict[str, float]:
    """Corpus-level scores and what they are made of as one flat dictionary, which loggers take as it is.

    Args:
        scores: specification -> its scores, as `score` returns them.

    Returns:
        For example `{"bleu": 30.2, "bleu.precision1": 60.1}`. What Weights & Biases or MLflow would refuse in a name
        becomes `_`: `chrf:word_order=2` is `chrf_word_order_2`. An undefined score is NaN.
    """
    numbers = [
        (name, value)
        for spec, own in scores.items()
        for name, value in {spec: own.system, **{f"{spec}.{part}": x for part, x in own.system_parts.items()}}.items()
    ]
    return dict(zip(loggable([name for name, _ in numbers]), (value for _, value in numbers), strict=True))


def loggable(names: Iterable[str]) -> list[str]:
    """Names that loggers take: what they would refuse becomes `_`, and a name that would occur twice gets a number."""
    taken: dict[str, None] = {}
    for name in names:
        made = key = _REFUSED.sub("_", name)
        again = 2
        while key in taken:
            key, again = f"{made}_{again}", again + 1
        taken[key] = None
    return list(taken)


_REFUSED = re.compile(r"[^A-Za-z0-9_./ -]")


class EvaluateMetric:
    """Metrics with the methods of `evaluate.Metric`; `as_evaluate` makes one.

    Attributes:
        name: what `evaluate.combine` puts before numbers that several metrics call the same.
    """

    name = "nlgauge"

    def __init__(self, metrics: MetricLike | Sequence[MetricLike], runtime: Runtime | None = None) -> None:
        self._meter = Accumulator(metrics, runtime)

    def __repr__(self) -> str:
        return f"EvaluateMetric({self._meter!r})"

    def _feature_names(self) -> list[str]:
        """What `evaluate.combine` hands on."""
        return ["predictions", "references"]

    def add(
        self,
        *,
        prediction: str | None = None,
        reference: str | Sequence[str] | None = None,
        source: str | None = None,
        predictions: str | None = None,
        references: str | Sequence[str] | None = None,
    ) -> None:
        """Add one text with its reference or references; `evaluate.combine` calls them `predictions`, `references`.

        Raises:
            InputError: there is no prediction.
        """
        text = prediction if predictions is None else predictions
        refs = reference if references is None else references
        if text is None:
            raise InputError("add has no prediction, expected a text")
        listed = None if refs is None else [[refs] if isinstance(refs, str) else list(refs)]
        self._meter.update([text], listed, None if source is None else [source])

    def add_batch(
        self,
        *,
        predictions: Sequence[str],
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> None:
        """Add texts, each with its reference or a list of them."""
        self._meter.update(predictions, references, sources)

    def compute(
        self,
        *,
        predictions: Sequence[str] | None = None,
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> dict[str, float]:
        """Score what was added, and these texts, and forget them; the result is that of `numbers_of`.

        Raises:
            InputError: there is no text, a metric needs what the texts lack, or references or sources come alone.
        """
        if predictions is not None:
            self.add_batch(predictions=predictions, references=references, sources=sources)
        elif references is not None or sources is not None:
            raise InputError("references or sources are given without predictions, expected predictions beside them")
        try:
            return numbers_of(self._meter.compute())
        finally:
            self._meter.reset()


def as_evaluate(metrics: MetricLike | Sequence[MetricLike], runtime: Runtime | None = None) -> EvaluateMetric:
    """Metrics for a program written for Hugging Face's `evaluate`, in the place of `evaluate.load(...)`.

        metric = as_evaluate(["bleu", "bertscore"])
        metric.compute(predictions=hypotheses, references=references)   # {"bleu": ..., "bertscore": ...}

    The package `evaluate` is not needed; its `combine` takes such a metric beside its own.

    Args:
        metrics: specifications or metric objects.
        runtime: device, precision and cache, as in `score`.
    """
    return EvaluateMetric(metrics, runtime)
