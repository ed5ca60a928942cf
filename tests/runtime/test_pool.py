"""Statistics of parts: merged they are those of all, and a part that asks too early gathers its own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nlgauge.runtime.pool import Counts, Incidence, Moments, Pool, Unsettled


def test_moments_of_parts_are_those_of_all():
    values = np.array([1.0, np.nan, 4.0, 2.0, 9.0, np.nan])
    found = Moments.merged(map(Moments.of, (values[:2], values[2:5], values[5:])))
    assert (found.n, found.defined, found.low, found.high) == (6, 4, 1.0, 9.0)
    assert (found.mean, found.variance) == pytest.approx((4.0, (9 + 0 + 4 + 25) / 4))
    assert found.deviation == pytest.approx(math.sqrt(9.5))


def test_moments_of_nothing():
    for found in (Moments.of(np.array([np.nan])), Moments.merged([Moments.of(np.array([np.nan]))])):
        assert (found.n, found.defined, found.low > found.high, math.isnan(found.mean)) == (1, 0, True, True)


def test_an_incidence_counts_the_documents_that_are_new():
    found = Incidence.of("texts", [b"x", b"y", b""], [["a", "b"], [], ["b", "c"]])
    assert found.counts([True, True, True]) == Counts(3, {"a": 1, "b": 2, "c": 1})
    assert found.counts([False, True, True]) == Counts(2, {"b": 1, "c": 1})


def test_what_is_not_settled_is_gathered_once_and_all_of_it():
    asked = []

    def gather(name):
        return lambda: asked.append(name) or Counts(1, {name: 1})

    pool = Pool()
    for _ in range(2):
        with pytest.raises(Unsettled):
            pool.counts({"a": gather("a"), "b": gather("b")})
    assert asked == ["a", "b"]
    assert pool.gathered == {"a": Counts(1, {"a": 1}), "b": Counts(1, {"b": 1})}
    known = Pool(1, {"a": Counts(3, {})})
    assert known.counts({"a": gather("a")}) == [Counts(3, {})]
    assert known.gathered == {}
