"""What is known before anything is chosen: what reads the texts, what a few scores tell, and what people say."""

from dataclasses import replace

import pytest
from tests.choosing.made import Fixed, data

from nlgauge.choosing.known import Known, ask_people, try_out
from nlgauge.core.segment import Dataset
from nlgauge.runtime.runtime import Runtime


def known(dataset, metrics, criterion=None):
    return Known(dataset, dataset, "mt", metrics, criterion, Runtime(), 0)


def rated(good, poor):
    """A good and a poor output of twelve items, with a rating each."""
    rating = {"good": good, "poor": poor}
    return Dataset(tuple(replace(s, human={"x": rating[s.system]}) for s in data(systems=("good", "poor"))))


def test_texts_are_looked_at_and_nothing_is_scored_yet():
    found = known(data(), ["chrf", Fixed(how="fails")])
    assert found.left == ["chrf", "fixed:how=fails"]
    assert (found.n_items, found.has_systems, found.has_references, found.has_outputs) == (12, True, True, True)
    assert (found.about, found.rated) == ([], {})
    assert not known(data(systems=("good",), references=False), ["fluency"]).has_systems


def test_what_fails_on_a_few_outputs_is_ruled_out_with_the_reason():
    found = known(data(), ["chrf", Fixed(how="fails"), Fixed(how="nan")])
    try_out(found, found.left)
    assert found.left == ["chrf"]
    assert found.out["fixed:how=fails"] == "it failed: ZeroDivisionError: division by zero"
    assert [one["spec"] for one in found.about] == ["chrf", "fixed:how=nan"]


def test_people_put_a_metric_ahead_that_orders_as_they_do():
    found = known(rated(good=2.0, poor=1.0), ["chrf", Fixed(how="length")], "x")
    ask_people(found, "fixed:how=length")
    assert found.rated["chrf"]["value"] == pytest.approx(1.0)  # every item in people's order
    assert set(found.ahead) == {"chrf"}


def test_ratings_that_are_all_the_same_decide_nothing_and_say_so():
    found = known(rated(good=2.0, poor=2.0), ["chrf", Fixed(how="length")], "x")
    ask_people(found, "chrf")
    assert (found.rated, found.ahead) == ({}, {})
    assert found.notes[-1].startswith("ratings of x decide nothing: 'x' is 2 for all that is compared")
