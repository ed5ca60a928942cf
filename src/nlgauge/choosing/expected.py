"""How long will a choice take? Every metric is timed on a few outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nlgauge.choosing.candidates import tried
from nlgauge.choosing.costs import cost_of
from nlgauge.choosing.reading import unreadable
from nlgauge.choosing.sample import sampled
from nlgauge.choosing.trials import make_trials
from nlgauge.core.errors import NlgaugeError
from nlgauge.core.segment import Dataset
from nlgauge.metrics.base import MetricLike
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime


def expected_seconds(
    dataset: Dataset,
    metrics: MetricLike | Sequence[MetricLike] | None = None,
    *,
    task: str | None = None,
    seed: int = 0,
    limit: int | None = None,
    runtime: Runtime | None = None,
) -> Mapping[str, float]:
    """Metric -> the seconds that `choose` would take with it; the arguments are as there. A metric that fails has none.

    What is in the cache already takes no time, and metrics over one model take less together than alone.
    """
    runtime = runtime or Runtime()
    sample = sampled(dataset, seed=seed) if limit is None else sampled(dataset, limit, seed)
    trials = make_trials(sample, task, seed)
    built = named(tried(trials.task, sample.segments) if metrics is None else metrics, runtime.encoder)
    out, _ = unreadable(built, sample.segments)
    texts = {(pair.references, text) for suite in trials.suites for pair in suite for text in (pair.better, pair.worse)}
    found: dict[str, float] = {}
    for spec, metric in built.items():
        if spec in out:
            continue
        try:
            each = cost_of(metric, sample.segments, runtime).elapsed / 1000
        except NlgaugeError:
            continue
        found[spec] = each * (len(sample.segments) + len(texts))
    return found
