"""Strips: a value stands where its number says, in per cent of whatever width there is."""

import math
from xml.etree import ElementTree

import pytest

pytest.importorskip("markupsafe")

from nlgauge.report.strips import axis_of, bar, strip


def test_an_axis_ends_at_round_numbers_and_holds_the_base():
    axis = axis_of([0.31, 0.52, None, math.nan], base=0.1)
    assert (axis.first, axis.last, axis.base) == ("0", "0.6", 0.1)
    assert axis.at(0.3) == "50.0%"


def test_an_axis_of_nothing_goes_from_0_to_1():
    assert (axis_of([]).first, axis_of([None, math.nan]).last) == ("0", "1")


def test_a_strip_is_a_dot_over_its_interval():
    axis = axis_of([0.0, 1.0])
    root = ElementTree.fromstring(strip({"value": 0.5, "low": 0.25, "high": 0.75}, axis))
    assert root.get("aria-label") == "0.500, 0.250 to 0.750"
    assert root.find("circle").get("cx") == "50.0%"
    (interval,) = [line for line in root.iter("line") if line.get("class") is None]
    assert (interval.get("x1"), interval.get("x2")) == ("25.0%", "75.0%")


@pytest.mark.parametrize("value", [None, math.nan])
def test_no_value_has_no_strip(value):
    assert strip({"value": value, "low": None, "high": None}, axis_of([0.0, 1.0])) == ""


def test_a_bar_is_as_long_as_its_value_and_hollow_where_the_model_knew_the_test():
    axis = axis_of([0.0, 1.0], base=0.5)
    blind, seen = (ElementTree.fromstring(bar(0.8, 0.6, 0.9, axis, seen=s)) for s in (False, True))
    assert blind.find("rect").get("width") == "80.0%"
    assert blind.find("rect").get("class") is None
    assert seen.find("rect").get("class") == "seen"
    assert [line.get("x1") for line in blind.iter("line") if line.get("class") == "base"] == ["50.0%"]
