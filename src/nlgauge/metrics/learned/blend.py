"""BLEND: the rating that a linear model of the scores of other metrics predicts."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.errors import InputError, NlgaugeError, SpecError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.options import Checked
from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.core.segment import Segment
from nlgauge.metrics.combine import Combination
from nlgauge.metrics.learned.linear import LinearModel, read_linear
from nlgauge.metrics.learned.model import from_ratings
from nlgauge.metrics.registry import metric
from nlgauge.metrics.shipped import metric_of_file
from nlgauge.metrics.wrapped import Composed
from nlgauge.runtime.runtime import Runtime

_INFO = MetricInfo(
    "blend",
    range=(-math.inf, math.inf),
    copy_is_best=False,
    summary="a blend of metrics, learned from your ratings; a copy need not be best: weights may be negative",
    tasks={"mt"},
    paper='Ma et al. (2017), "Blend: a Novel Combined MT Metric Based on Direct Assessment"',
)

_LARGEST = sys.float_info.max
_DEEPEST = 10  # files of blends that name each other
_OPEN: ContextVar[tuple[str, ...]] = ContextVar("files of blends that are being read", default=())


@contextmanager
def _opened(path: str) -> Iterator[None]:
    """Refuse a file that names itself, directly or through others, and a chain of files without an end."""
    file = os.path.realpath(path)
    if file in _OPEN.get():
        raise SpecError("it names itself as one of its metrics")
    if len(_OPEN.get()) == _DEEPEST:
        raise SpecError(f"more than {_DEEPEST} files of blends name one another")
    token = _OPEN.set((*_OPEN.get(), file))
    try:
        yield
    finally:
        _OPEN.reset(token)


@dataclass(frozen=True, kw_only=True)
class Blend(Checked, Composed):
    """A weighted sum of standardised scores, fitted to ratings by ridge regression.

    Args:
        model: a file that `nlgauge train blend` wrote. It names the metrics, of which only those that run on what ships
            are taken.
        trust: take any metric that the file names, also one that runs a program or reads a model of its own. Say so
            only of a file that you made.

    References:
        Ma et al. (2017), "Blend: a Novel Combined MT Metric Based on Direct Assessment". They fit a support vector
        machine with a radial kernel to 57 metrics; ours is linear, over metrics of the user's choice.
    """

    model: str
    trust: bool = False
    info: ClassVar[MetricInfo] = _INFO
    without: ClassVar = {"model": "; 'nlgauge train blend' makes one"}
    learnt: LinearModel = field(init=False, compare=False, repr=False)
    total: Combination = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        learnt = read_linear(self.model, "blend")
        try:
            weights = learnt.slopes.tolist()
            specs = [term.name for term in learnt.terms]
            with _opened(self.model):
                build = metric if self.trust else metric_of_file
                total = Combination(tuple((w, build(spec)) for w, spec in zip(weights, specs, strict=True)), "none")
        except NlgaugeError as error:
            way_out = "" if self.trust else "; of a file that you made yourself, trust=true takes them all"
            raise InputError(f"blend: {self.model}: {error}{way_out}") from None
        low = learnt.about.get("low")
        if not isinstance(low, int | float) or isinstance(low, bool) or not -_LARGEST <= low <= _LARGEST:
            raise InputError(f"blend: {self.model}: low is {low!r:.40}, expected the lowest rating of training")
        for name, value in {"learnt": learnt, "total": total}.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "info", replace(_INFO, needs=total.info.needs, parts=total.info.parts))

    @property
    def inside(self) -> tuple[BaseMetric, ...]:
        """The sum of the terms."""
        return (self.total,)

    @property
    def notes(self) -> tuple[str, ...]:
        """That the weights have learnt from people's ratings; and the notes of the terms."""
        about = self.learnt.about
        return (from_ratings(about.get("data") or f"rated for {about.get('criterion')}"), *self.total.notes)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The identity of the weights, and the signatures of the terms."""
        return {**self.total.facts(runtime), **self.learnt.facts()}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values on the scale of the ratings, without bounds; the parts are the values of the terms.

        A flag is set where any term sets it. A segment with the flag `empty` gets the lowest rating of training.
        """
        found = self.total.score(segments, runtime)
        values = self.learnt.origin + found.values
        if "empty" in found.flags:
            values = np.where(found.flags["empty"], float(self.learnt.about["low"]), values)
        return replace(found, signature=signature_of(self, runtime), values=values)
