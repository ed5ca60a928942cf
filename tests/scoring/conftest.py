"""A table of thresholds that is worked by hand: at a difference of 1 the odds are 3 to 1."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nlgauge.scoring.thresholds import AgreementCurve, MetricThresholds, Thresholds

CHRF = "metric:chrf|char_order:6|word_order:0|sacrebleu:2.6.0|nlgauge:0.1.0"
SETS = ({"group": "he-en", "criterion": "mqm", "systems": ["a", "b", "c"], "items": 200},)


def made(spec="chrf", signature=CHRF, references=(1, 1), **more):
    """At a difference of 1 the odds are 3 to 1; half of the draws say 2 to 1, half 5 to 1."""
    own = {"largest": 2.0, "n": (100, 1000), **more}
    draws = np.log(np.array([[2.0], [5.0]])).repeat(50, axis=0)
    curve = AgreementCurve("logistic", np.array([math.log(3)]), np.empty(0))
    resampled = AgreementCurve("logistic", draws, np.empty(0))
    return MetricThresholds(spec, signature, references, curve, resampled, **own)


@pytest.fixture
def chrf():
    """The signature that the table was fitted for."""
    return CHRF


@pytest.fixture
def sets():
    return SETS


@pytest.fixture
def entry():
    """What makes the thresholds of a metric."""
    return made


@pytest.fixture
def table():
    return Thresholds((made(),), SETS, name="t.json")
