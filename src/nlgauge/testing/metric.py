"""The contract of a metric as one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from nlgauge.core.scores import MetricInfo
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import Metric, is_pooled
from nlgauge.metrics.registry import METRICS, own_function
from nlgauge.metrics.registry import metric as named_metric
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import extremes, form, invariance, options
from nlgauge.testing.segments import SEGMENTS
from nlgauge.testing.subject import Subject

POOL_TOLERANCE = 1e-9  # a mean over the pool adds float64 numbers in another order
# float32 keeps 24 bits (6e-8), and a matrix product of another shape adds in another order: some ten roundings
MODEL_TOLERANCE = 1e-6


def check_metric(
    metric: Metric | Callable[..., Any],
    segments: Sequence[Segment] | None = None,
    runtime: Runtime | None = None,
    *,
    alternatives: Mapping[str, Any] | None = None,
    tolerance: float | None = None,
    registered: bool = True,
) -> None:
    """Check what nlgauge promises of every metric.

    - Order, batch size, repetition, duplicates and company (the other segments of the call) change no value, part,
      flag or statistic; an empty list gives empty scores. The values of a `pooled` metric depend on their company by
      definition, so duplicates, company and the empty list are not checked for it.
    - Scores depend on the hypothesis and on what `info.needs` declares, and on nothing else in a segment, since the
      score cache relies on that.
    - Values lie in `info.range`; a NaN is flagged; statistics sum to the corpus number under `finish`.
    - A blank hypothesis or reference raises the flag `empty`, and scores no better than unrelated text, unless
      `info.blank` fixes its value. What two blank
      texts score is up to the metric, but it must not fail.
    - A copy of the reference scores no worse than any other hypothesis, and better than unrelated text, unless
      `info.copy_is_best` is False.
    - A segment without what the metric needs is refused by an `InputError` that names it.
    - An option whose type is a `Literal` refuses any other value with a `SpecError`, also when it is given in Python.
    - The signature rebuilds an equal metric, and shows every option (see `check_options`).
    - Scores that come back from the score cache equal those that were stored. The segments given are not changed.

    Args:
        metric: an object or a function, not a specification.
        segments: the segments to score; None takes `SEGMENTS`. There must be at least two, one with a reference that
            is not blank.
        runtime: None is the default runtime.
        alternatives: option -> another valid value, for options whose type does not tell one (see `check_options`).
        tolerance: how much two scores of one segment may differ, relative to values above 1. None is 0 where no model
            makes the scores (`info.cached` is False: counting gives the same number every time), `MODEL_TOLERANCE`
            where one does, and `POOL_TOLERANCE` where the metric is pooled. For a sum that includes a metric with a
            model, the tolerance must be given.
        registered: False rebuilds from the metric's class, for a metric that no installed entry point names yet.

    Raises:
        AssertionError: a sentence that names the metric, the promise and the segment.
    """
    if inspect.isroutine(metric):
        with _known(metric) as own:
            return check_metric(own, segments, runtime, alternatives=alternatives, tolerance=tolerance)
    metric = cast(Metric, metric)  # which the next line finds out
    subject = _subject(metric, segments, runtime, tolerance)
    form.declaration(subject)
    form.scores(subject)
    options.refused(metric, subject.require)
    invariance.calls(subject)
    if not is_pooled(metric):
        invariance.company(subject)
        invariance.undeclared(subject)
        if metric.info.cached:
            invariance.cache(subject)
    extremes.needs(subject)
    extremes.blanks(subject)
    if metric.info.copy_is_best and subject.reads_references:
        extremes.copies(subject)
    options.rebuilds(subject, metric, registered)
    options.signed(subject, alternatives or {}, registered)


@contextmanager
def _known(function: Callable[..., Any]) -> Iterator[Metric]:
    """A function as a metric whose name specifications know meanwhile."""
    name = own_function(function, str(function))
    try:
        yield named_metric(name)
    finally:
        del METRICS.entries[name]


def check_options(
    metric: Metric,
    segments: Sequence[Segment] | None = None,
    runtime: Runtime | None = None,
    *,
    alternatives: Mapping[str, Any] | None = None,
    tolerance: float | None = None,
    registered: bool = True,
) -> list[str]:
    """Check that the signature shows every option: another value changes the signature, unless it means the same.

    The other value is derived from the type of the option: the other boolean, the other values of a `Literal`, a
    number one up, one down or halved. A value that the metric refuses is passed over. For text and other types,
    `alternatives` gives the value.

    Returns:
        The options for which no other valid value was found: give these in `alternatives`, or try them on a metric
        that takes them.

    Raises:
        AssertionError: names the option and the value.
    """
    return options.signed(_subject(metric, segments, runtime, tolerance), alternatives or {}, registered)


def _subject(
    metric: Metric, segments: Sequence[Segment] | None, runtime: Runtime | None, tolerance: float | None
) -> Subject:
    form.kind(metric, "metric", MetricInfo)
    if tolerance is None:
        tolerance = MODEL_TOLERANCE if metric.info.cached else POOL_TOLERANCE if is_pooled(metric) else 0.0
    return Subject(metric, list(SEGMENTS if segments is None else segments), runtime or Runtime(), tolerance)
