"""Texts and metrics that tests of choosing share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nlgauge.core.metric import signature_of
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Dataset, Segment

PLACES = ("Leeds", "Cardiff", "Dover", "Exeter", "Oxford", "Perth", "Luton", "Derby")
WHEN = ("on Monday", "on Tuesday morning", "before the long weekend", "during the night")
WHAT = ("The trains from {} do not run {}", "Heavy rain fell in {} {}", "The old bridge near {} was closed {}")


def texts(n):
    """N sentences of an item each, and a good, a fair and a poor output for each."""
    refs = [f"{WHAT[i % 3].format(PLACES[i % 8], WHEN[i // 3 % 4])} and {i + 2} people waited." for i in range(n)]
    good = [ref.replace("people waited", "persons had to wait") for ref in refs]
    fair = [" ".join(ref.split()[:-3]) + " and some waited." for ref in refs]
    poor = [" ".join(ref.split()[2:7]) + " it is." for ref in refs]
    return refs, {"good": good, "fair": fair, "poor": poor}


def data(n=12, systems=("good", "fair", "poor"), references=True, group="cs-en", **more):
    """A data set of N items."""
    refs, outputs = texts(n)
    return Dataset(
        tuple(
            Segment(
                f"{name}-{i}", outputs[name][i], (refs[i],) if references else (), None, name, str(i), group, **more
            )
            for name in systems
            for i in range(n)
        ),
        "made.jsonl",
    )


@dataclass(frozen=True, kw_only=True)
class Fixed:
    """A metric that is not what it should be, as `how` says."""

    how: str = "constant"
    info: ClassVar = MetricInfo("fixed", range=(0.0, 1.0))

    def score(self, segments, runtime):
        made = {
            "constant": lambda: np.full(len(segments), 0.5),
            "nan": lambda: np.full(len(segments), np.nan),
            "length": lambda: np.array([float(len(s.hypothesis)) for s in segments]),
            "fails": lambda: 1 / 0,
            "cut": lambda: np.array([float(len(set(s.hypothesis) & set(s.references[0]))) for s in segments]),
        }
        flags = {"truncated": np.ones(len(segments), dtype=bool)} if self.how == "cut" else {}
        return Scores(signature_of(self), ids(segments), made[self.how](), flags=flags)

    def unread(self, writing):
        return None


@dataclass(frozen=True, kw_only=True)
class OnlyEnglish(Fixed):
    """A metric that reads Latin script alone."""

    info: ClassVar = MetricInfo("only-english", range=(0.0, 1.0))
    how: str = "length"

    def unread(self, writing):
        return None if writing.may_be_english else "it reads English"


@dataclass(frozen=True, kw_only=True)
class ReferenceFree:
    """The share of capital letters and digits: of use here alone."""

    info: ClassVar = MetricInfo("reference-free", needs=frozenset(), range=(0.0, 1.0))

    def score(self, segments, runtime):
        values = [len(set(s.hypothesis.split())) / 20 for s in segments]
        return Scores(signature_of(self), ids(segments), np.array(values))


@dataclass(frozen=True, kw_only=True)
class Shortness:
    """Minus the number of characters."""

    info: ClassVar = MetricInfo("shortness", range=(-1e6, 0.0))

    def score(self, segments, runtime):
        return Scores(signature_of(self), ids(segments), np.array([-float(len(s.hypothesis)) for s in segments]))
