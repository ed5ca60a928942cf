"""Shaded cells: more is darker, what is beyond the scale has its end, and nothing is shaded without a number."""

import math

import pytest

from nlgauge.report.colours import contrast, luminance, signed
from nlgauge.report.maps import amount, ramp


def test_more_is_darker_on_a_scale_that_is_given():
    light, dark = (luminance(amount(value, 0.0, 1.0).colour) for value in (0.1, 0.9))
    assert light > dark
    assert amount(-0.5).colour == amount(0.0).colour
    assert amount(7.0).colour == amount(1.0).colour


@pytest.mark.parametrize("value", [0.0, 0.3, 0.6, 1.0])
def test_numbers_can_be_read(value):
    assert contrast(amount(value).ink, amount(value).colour) >= 4.5  # WCAG 2 for text
    assert amount(value).ink == ("#ffffff" if value >= 0.6 else "#000000")


@pytest.mark.parametrize("value", [None, math.nan])
def test_no_number_has_no_colour(value):
    assert (amount(value).text, amount(value).colour) == ("undefined", "")


def test_a_scale_without_width_is_light():
    assert amount(0.4, 0.4, 0.4).colour == amount(0.0).colour


def test_a_ramp_goes_from_end_to_end():
    colours = ramp(signed, -1.0, 1.0)
    assert (colours[0], colours[-1]) == (signed(-1.0), signed(1.0))
    assert colours[len(colours) // 2] == signed(0.0)
