"""A sound metric to be broken in one place by each test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from nlgauge.core.metric import check_needs, signature_of
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.testing import check_metric


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """Share of the words of hypothesis and reference that both have, the best reference; 0 where either is blank."""

    lowercase: bool = True
    info: ClassVar = MetricInfo("overlap")

    def score(self, segments, runtime):
        check_needs(self, segments)
        values = np.array([max(self.value(s.hypothesis, r) for r in s.references) for s in segments], dtype=float)
        blank = [not s.hypothesis.strip() or not any(r.strip() for r in s.references) for s in segments]
        return Scores(
            signature_of(self, runtime),
            ids(segments),
            values,
            {"words": np.array([len(s.hypothesis.split()) for s in segments], dtype=float)},
            flags={"empty": np.array(blank, dtype=bool)},
            higher_is_better=self.info.higher_is_better,
        )

    def value(self, hypothesis, reference):
        one, other = (set((text.lower() if self.lowercase else text).split()) for text in (hypothesis, reference))
        return len(one & other) / len(one | other) if one and other else 0.0


@pytest.fixture
def overlap():
    """The class, to be subclassed."""
    return Overlap


@pytest.fixture
def caught():
    """A function that requires that `check_metric` refuses a metric with a sentence that matches."""

    def check(metric, sentence, **options):
        with pytest.raises(AssertionError, match=sentence) as error:
            check_metric(metric, registered=False, **options)
        assert str(error.value).startswith(metric.info.name)
        assert "\n" not in str(error.value)

    return check
