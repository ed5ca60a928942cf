"""Ratings of the data as metrics of a gate: pass flags of a log, means of several, and what is missing."""

from __future__ import annotations

import numpy as np
import pytest
from tests.gating.sides import BASE

import nlgauge as ng
from nlgauge.core.segment import Segment
from nlgauge.metrics.ratings import Rated, metrics_of


def dataset(passed, name, runs=1):
    return ng.Dataset(
        tuple(
            Segment(
                f"{i}#{k}", f"{text} {name}", item=str(i), human={"pass": passed[i]} if passed[i] is not None else {}
            )
            for i, text in enumerate(BASE)
            for k in range(runs)
        )
    )


OLD = [float(i % 10 != 0) for i in range(60)]


def test_pass_flags_of_logs_are_a_rate():
    new = [0.0 if i % 3 == 0 else one for i, one in enumerate(OLD)]
    found = ng.gate(dataset(OLD, "a"), dataset(new, "b"), metrics="human.pass", allow=0.05)
    assert (found.verdict, found.rows[0]["method"], found.rows[0]["metric"]) == ("FAIL", "tango", "human.pass")
    assert found.metrics[0]["signature"].startswith("metric:human.pass|criterion:pass")


def test_an_error_is_never_a_zero():
    new = [None if i == 7 else one for i, one in enumerate(OLD)]
    found = ng.gate(dataset(OLD, "a"), dataset(new, "b"), metrics="human.pass", allow=0.3)
    assert found.verdict == "FAIL"
    assert "no score in NEW and had one in BASE (7)" in found.reasons[0]


def test_a_baseline_keeps_them(tmp_path):
    ng.gate(dataset(OLD, "a"), dataset(OLD, "a"), metrics="human.pass").save(tmp_path / "base.json")
    again = ng.gate(tmp_path / "base.json", dataset(OLD, "b"), metrics="human.pass", allow=0.1)
    assert (again.rows[0]["delta"], again.rows[0]["method"]) == (0, "worst-case")


def test_several_ratings_are_averaged():
    segments = [Segment("a", "x", human={"q": [1, 2]}), Segment("b", "y")]
    values = Rated(criterion="q").score(segments, ng.Runtime()).values
    assert np.array_equal(values, [1.5, np.nan], equal_nan=True)


def test_a_column_that_is_not_there_names_those_that_are():
    with pytest.raises(ng.InputError, match="no text has a rating 'pas'; did you mean 'pass'"):
        ng.gate(dataset(OLD, "a"), dataset(OLD, "b"), metrics="human.pas")
    with pytest.raises(ng.InputError, match="there are no ratings"):
        ng.gate(["a"], ["b"], metrics="human.pass")


def test_other_metrics_stay_as_typed():
    assert [*metrics_of(["chrf", "human.pass", ng.metric("ter")], None)] == ["chrf", "human.pass", "ter"]
    with pytest.raises(ng.SpecError, match="named twice"):
        metrics_of(["human.pass", "human.pass"], None)
