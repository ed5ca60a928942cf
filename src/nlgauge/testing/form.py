"""Whether a metric is declared as it should be, and its scores are what `Scores` says they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from nlgauge.core.metric import signature_of
from nlgauge.core.scores import Scores, join, mean_of_defined
from nlgauge.metrics.base import is_pooled
from nlgauge.testing.subject import ROUNDING, Subject


def kind(given: Any, noun: str, declares: type) -> None:
    """A frozen dataclass that declares itself in an `info`: what everything else here relies on."""
    name, info = type(given).__name__, getattr(given, "info", None)
    if not getattr(getattr(type(given), "__dataclass_params__", None), "frozen", False):
        raise AssertionError(f"{name}: a {noun} is an object of a frozen dataclass, whose fields are its options")
    if not isinstance(info, declares):
        raise AssertionError(f"{name}: info is {type(info).__name__}, expected {declares.__name__}")


def declaration(subject: Subject) -> None:
    """A sound `info`; a pooled metric says in its signature over what."""
    metric, info = subject.metric, subject.metric.info
    subject.require(info.range[0] < info.range[1], f"info.range is {info.range}, expected the lower end first")
    if is_pooled(metric):
        entries = dict(signature_of(metric, subject.runtime).entries)
        subject.require("pool" in entries, "the metric is pooled, but no entry 'pool' of its signature says over what")


def scores(subject: Subject) -> None:
    """Types, direction, signature, range; a NaN has a flag."""
    found, info = subject.base, subject.metric.info
    subject.require(
        found.higher_is_better == info.higher_is_better,
        "Scores.higher_is_better is not what info.higher_is_better says",
    )
    expected = signature_of(subject.metric, subject.runtime)
    subject.require(
        str(found.signature) == str(expected),
        f"Scores.signature is {found.signature}, signature_of(metric, runtime) is {expected}",
    )
    for name, column in found.parts.items():
        subject.require(column.dtype == np.float64, f"part {name!r} is {column.dtype}, expected float64")
    for name, flag in found.flags.items():
        subject.require(flag.dtype == np.bool_, f"flag {name!r} is {flag.dtype}, expected bool")
    flagged = np.logical_or.reduce([np.zeros(len(found), dtype=np.bool_), *found.flags.values()])
    for i in np.flatnonzero(np.isnan(found.values) & ~flagged):
        subject.require(False, f"segment {found.ids[i]!r} scores NaN and no flag says why")
    subject.within_range(found.values, [f"segment {name!r}" for name in found.ids])
    _statistics(subject, found)


def _statistics(subject: Subject, found: Scores) -> None:
    """The statistics sum to the corpus number, over any leading axes and in blocks."""
    stats, half = found.segment_stats, len(found) // 2
    subject.require(
        np.isfinite(stats).all(), "a segment statistic is not finite, so that no sum of them is a corpus number"
    )
    totals = np.stack([stats[:half].sum(axis=0), stats[half:].sum(axis=0), stats.sum(axis=0)])  # (3, k)
    at_once, one_by_one = found.finish(totals[np.newaxis]), [float(found.finish(total)) for total in totals]
    subject.require(
        np.shape(at_once) == (1, 3), f"finish takes totals of shape (1, 3, k) to {np.shape(at_once)}, expected (1, 3)"
    )
    subject.require(
        subject.near(at_once[0], one_by_one, ROUNDING).all(),
        "finish gives other numbers over leading axes than one by one",
    )
    joined = join([found.take(np.arange(half)), found.take(np.arange(half, len(found)))])
    subject.require(
        subject.near(joined.system, one_by_one[2], ROUNDING),
        "the corpus number of two blocks joined is not that of the whole",
    )
    subject.within_range(np.array([found.system]), ["the corpus"])
    if found.stats is None:
        subject.require(found.finish is mean_of_defined, "finish is given without the statistics it is for")
