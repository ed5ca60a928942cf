"""Token F1: the words that hypothesis and reference share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import nlgauge as ng
from nlgauge.core import checked, ids, signature_of, version
from nlgauge.metrics import check_needs


@dataclass(frozen=True, kw_only=True)
class TokenF1:
    """Words that hypothesis and reference share; the best reference counts."""

    lowercase: bool = True
    info: ClassVar = ng.MetricInfo("token-f1", needs={"references"}, range=(0.0, 1.0), summary="F1 of words")

    def __post_init__(self) -> None:
        checked(self)  # refuses what the type of an option does not allow

    def facts(self, runtime: ng.Runtime) -> dict[str, str]:
        """The version of this package for the signature: under one signature a score stays the same."""
        return {"mypackage": version("mypackage")}

    def score(self, segments: Sequence[ng.Segment], runtime: ng.Runtime) -> ng.Scores:
        """One value per segment, in the order of the segments."""
        check_needs(self, segments)
        values = [max(self._f1(s.hypothesis, r) for r in s.references) for s in segments]
        empty = [not s.hypothesis.split() or not any(r.split() for r in s.references) for s in segments]
        flags = {"empty": np.array(empty, dtype=bool)}
        return ng.Scores(signature_of(self, runtime), ids(segments), np.array(values, dtype=float), flags=flags)

    def _f1(self, hypothesis: str, reference: str) -> float:
        fold = str.lower if self.lowercase else str
        hyp, ref = Counter(fold(hypothesis).split()), Counter(fold(reference).split())
        return 2 * (hyp & ref).total() / (hyp.total() + ref.total()) if hyp and ref else 0.0
