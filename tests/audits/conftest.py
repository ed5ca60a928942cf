"""A metric that says what it is told, so that audits can be worked by hand."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.scores import MetricInfo, Scores, ids


@dataclass(frozen=True, kw_only=True)
class Told(BaseMetric):
    """The number at the end of the hypothesis."""

    info: ClassVar = MetricInfo("told", range=(0.0, 100.0))
    calls: ClassVar = []

    def score(self, segments, runtime):
        type(self).calls.append([s.hypothesis for s in segments])
        return Scores(signature_of(self), ids(segments), np.array([float(s.hypothesis.split()[-1]) for s in segments]))


@dataclass(frozen=True, kw_only=True)
class ToldError(Told):
    """The same, lower being better."""

    info: ClassVar = MetricInfo("told-error", range=(0.0, 100.0), higher_is_better=False)
    calls: ClassVar = []


@dataclass(frozen=True, kw_only=True)
class ToldSource(Told):
    """The same, against the source."""

    info: ClassVar = MetricInfo("told-source", needs=frozenset({"source"}), range=(0.0, 100.0))
    calls: ClassVar = []


@dataclass(frozen=True, kw_only=True)
class Pooled(Told):
    """How much more than the mean of the call."""

    pooled: ClassVar = True
    info: ClassVar = MetricInfo("pooled", range=(-100.0, 100.0))
    calls: ClassVar = []

    def score(self, segments, runtime):
        scores = super().score(segments, runtime)
        return Scores(scores.signature, scores.ids, scores.values - scores.values.mean())


@pytest.fixture
def told():
    Told.calls.clear()
    return Told()


@pytest.fixture
def told_error():
    return ToldError()


@pytest.fixture
def told_source():
    return ToldSource()


@pytest.fixture
def pooled():
    Pooled.calls.clear()
    return Pooled()
