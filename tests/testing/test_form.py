from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from nlgauge.core.metric import signature
from nlgauge.core.scores import MetricInfo
from nlgauge.core.spec import Signature
from nlgauge.testing import check_metric


def returning(overlap, change, **options):
    """The sound metric whose scores are changed by a function."""

    @dataclass(frozen=True, kw_only=True)
    class Broken(overlap):
        info: ClassVar = MetricInfo("broken", **options)

        def score(self, segments, runtime):
            return change(super().score(segments, runtime))

    return Broken()


def test_a_metric_that_can_be_changed_or_is_a_class_is_caught(overlap):
    @dataclass
    class Thawed:
        lowercase: bool = True
        info: ClassVar = MetricInfo("thawed")
        score = overlap.score
        value = overlap.value

    class Plain:
        info = MetricInfo("plain")
        score = overlap.score

    for metric in (Thawed(), Plain(), overlap):
        with pytest.raises(
            AssertionError,
            match=r"^(Thawed|Plain|type): a metric is an object of a frozen dataclass, whose fields are its options$",
        ):
            check_metric(metric, registered=False)


def test_a_range_upside_down_is_caught(overlap, caught):
    caught(
        returning(overlap, lambda s: s, range=(1.0, 0.0)),
        r"info\.range is \(1\.0, 0\.0\), expected the lower end first",
    )


def test_a_pool_that_the_signature_hides_is_caught(overlap, caught):
    @dataclass(frozen=True, kw_only=True)
    class Hidden(overlap):
        pooled: ClassVar = True
        info: ClassVar = MetricInfo("hidden")

        def facts(self, runtime):
            return {"pool": None}

    caught(Hidden(), "the metric is pooled, but no entry 'pool' of its signature says over what")


BROKEN = [
    (
        "direction",
        lambda s: replace(s, higher_is_better=False),
        r"Scores\.higher_is_better is not what info\.higher_is_better says",
    ),
    (
        "signature",
        lambda s: replace(s, signature=Signature("broken", (("metric", "broken"),))),
        r"Scores\.signature is metric:broken, signature_of\(metric, runtime\) is metric:broken\|lowercase:true",
    ),
    (
        "order of ids",
        lambda s: replace(s, ids=s.ids[::-1]),
        "the ids of the scores are not those of the segments, in their order",
    ),
    (
        "part of float32",
        lambda s: replace(s, parts={"p": s.values.astype(np.float32)}),
        "part 'p' is float32, expected float64",
    ),
    (
        "flag of numbers",
        lambda s: replace(s, flags={"empty": s.flags["empty"] * 1}),
        "flag 'empty' is int64, expected bool",
    ),
    (
        "silent NaN",
        lambda s: replace(s, values=np.where((s.values > 0) & (s.values < 1), np.nan, s.values)),
        "segment '.*' scores NaN and no flag says why",
    ),
    (
        "above the range",
        lambda s: replace(s, values=s.values * 1.01),
        r"segment 'copy' scores 1\.01, outside info\.range \(0\.0, 1\.0\)",
    ),
    (
        "below the range",
        lambda s: replace(s, values=s.values - 0.01),
        r"segment '.*' scores -0\.01, outside info\.range",
    ),
    (
        "infinity",
        lambda s: replace(s, values=np.where(s.values == 1, np.inf, s.values)),
        "outside info.range|is not finite",
    ),
    (
        "statistics with NaN",
        lambda s: replace(s, stats=np.stack([np.where(s.values == 0, np.nan, s.values), np.ones(len(s))], axis=1)),
        "a segment statistic is not finite, so that no sum of them is a corpus number",
    ),
    (
        "a finish that forgets axes",
        lambda s: replace(
            s, stats=np.ones((len(s), 2)), finish=lambda t: np.asarray(t[..., 0] / t[..., 1]).ravel()[:1].squeeze()
        ),
        r"finish takes totals of shape \(1, 3, k\) to \(\), expected \(1, 3\)",
    ),
    (
        "a finish that mixes systems",
        lambda s: replace(
            s,
            stats=np.stack([s.values, np.ones(len(s))], axis=1),
            finish=lambda t: np.asarray(t[..., 0] / t[..., 1].max()),
        ),
        "finish gives other numbers over leading axes than one by one",
    ),
    (
        "a finish without statistics",
        lambda s: replace(s, finish=lambda t: np.asarray(t[..., 0] / t[..., 1])),
        "finish is given without the statistics it is for",
    ),
    (
        "a corpus number beyond the range",
        lambda s: replace(s, stats=np.ones((len(s), 1)), finish=lambda t: np.asarray(t[..., 0] + 1)),
        r"the corpus scores \d+\.0, outside info\.range",
    ),
]


@pytest.mark.parametrize(("change", "sentence"), [pytest.param(*row[1:], id=row[0]) for row in BROKEN])
def test_scores_that_are_not_what_they_should_be_are_caught(overlap, caught, change, sentence):
    caught(returning(overlap, change), sentence)


def test_something_else_than_scores_is_caught(overlap, caught):
    caught(returning(overlap, lambda s: s.values), "score returns ndarray, expected Scores")


def test_an_info_that_is_none_is_caught(overlap):
    @dataclass(frozen=True, kw_only=True)
    class Uninformed(overlap):
        info: ClassVar = {"name": "uninformed"}

    with pytest.raises(AssertionError, match=r"^Uninformed: info is dict, expected MetricInfo$"):
        check_metric(Uninformed(), registered=False)


def test_a_signature_that_does_not_know_the_runtime_is_caught(overlap, caught):
    @dataclass(frozen=True, kw_only=True)
    class Unaware(overlap):
        info: ClassVar = MetricInfo("unaware")

        def facts(self, runtime):
            return {"dtype": runtime.dtype}

        def score(self, segments, runtime):
            return replace(super().score(segments, runtime), signature=signature(self))

    caught(Unaware(), r"Scores\.signature is .*, signature_of\(metric, runtime\) is .*dtype:float32")
