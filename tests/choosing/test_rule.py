"""Standings by public figures, worked by hand."""

import math

import pytest

from nlgauge.choosing.public import Figure
from nlgauge.choosing.rule import standings


def figures(**values):
    return {name: Figure(name, value, 0.01, 9) for name, value in values.items()}


def test_what_is_lacking_counts_as_the_lowest_of_the_others():
    found = standings(figures(a=0.6, b=0.8), ["a", "b", "c"])
    assert [(one.metric, one.value, one.lacking) for one in found] == [
        ("b", 0.8, False),
        ("a", 0.6, False),
        ("c", 0.6, True),
    ]
    # the figures of metrics that are ruled out count for nothing
    assert [one.value for one in standings(figures(a=0.6, b=0.8, c=0.1), ["a", "d"])] == [0.6, 0.6]


def test_without_figures_metrics_stand_as_named_and_none_is_ahead():
    found = standings({}, ["b", "a"])
    assert [one.metric for one in found] == ["b", "a"]
    assert all(math.isnan(one.value) and one.lacking for one in found)
    assert not found[0].is_ahead(found[1])


def test_an_interval_stays_in_range():
    ends = Figure("a", 0.99, 0.02, 9).ends
    assert (ends["low"], ends["high"]) == (pytest.approx(0.9508, abs=1e-4), 1.0)  # 1.96 errors
