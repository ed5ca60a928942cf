"""The shipped table, and the sets that are nearest."""

import math

from tests.choosing.made import data

from nlgauge.choosing.candidates import TRIED, UNREFERENCED
from nlgauge.choosing.known import PublicSet, distance, nearest, profile_of, public_evidence, public_sets
from nlgauge.choosing.sample import sampled
from nlgauge.metrics.registry import metric
from nlgauge.perturbations.checklist import TASKS
from nlgauge.runtime.runtime import Runtime


def test_the_table_holds_shares_of_metrics_that_are_tried():
    assert len(public_sets()) > 10
    for one, figures in public_sets().items():
        assert one.task in TASKS
        assert {*figures} <= {*TRIED[one.task], *UNREFERENCED, "summac"}
        assert all(0 <= f.low <= f.value <= f.high <= 1 and f.n > 20 for f in figures.values())


def test_a_set_is_near_by_language_length_and_closeness():
    own = PublicSet("", "mt", "en", 19.0, 50.0)
    assert distance(own, own) == 0
    assert distance(own, PublicSet("x", "mt", "en", 39.0, 50.0)) == 1  # twice as long
    assert distance(own, PublicSet("x", "mt", "en", 19.0, 30.0)) == 1
    assert distance(own, PublicSet("x", "mt", "de", 19.0, 50.0)) == 3
    assert math.isinf(distance(own, PublicSet("x", "as", "en", 19.0, 50.0)))
    assert math.isinf(distance(own, PublicSet("x", "mt", "en", 19.0, math.nan)))  # without references
    assert [one.name for one in nearest(PublicSet("", "as", "en", 60.0, 40.0))] == ["summeval"]
    assert [one.name for one in nearest(PublicSet("", "as", "en", 60.0, math.nan))] == ["qags-cnn"]
    assert [one.task for one in nearest(own)] == ["mt"] * 3
    assert nearest(PublicSet("", "qg", "en", 9.0, 50.0)) == []
    left = nearest(own, leave_out=[nearest(own)[0].name])
    assert nearest(own)[0] not in left


def test_evidence_is_the_mean_of_the_sets_and_none_for_a_metric_of_ones_own():
    sets = nearest(PublicSet("", "mt", "en", 19.0, 50.0))
    found = public_evidence("chrf", sets)
    values = [public_sets()[one]["chrf"].value for one in sets]
    assert found.value == sum(values) / 3
    assert found.low < found.value < found.high
    assert public_evidence("mine", sets) is None
    assert public_evidence("chrf", []) is None


def test_the_profile_of_texts():
    own = profile_of(sampled(data(6)), "mt", Runtime())
    assert own.language == "en"
    assert 5 < own.words < 15
    assert 0 < own.chrf < 100
    assert math.isnan(profile_of(sampled(data(6, references=False)), "mt", Runtime()).chrf)


def test_metrics_that_are_tried_exist():
    for name in {name for names in TRIED.values() for name in names} | {*UNREFERENCED}:
        metric(name)
