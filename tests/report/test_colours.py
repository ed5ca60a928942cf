import numpy as np
import pytest

from nlgauge.report.colours import contrast, ink, luminance, shade, signed

STEPS = [k / 20 for k in range(-20, 21)]
SHADES = [shade(k / 20) for k in range(21)]


def test_more_is_darker_in_steps_that_look_equal_in_grey():
    lightness = np.array(
        [116 * luminance(colour) ** (1 / 3) - 16 for colour in SHADES]
    )  # CIE L*, what a grey copy keeps
    steps = -np.diff(lightness)
    # Equal steps in OKLab are nearly, not exactly, equal in L*; colours are rounded to 1/255, about 0.4 in L*.
    assert steps.min() > 0
    assert np.abs(steps - steps.mean()).max() < 1.0


def test_ink_can_be_read_on_every_shade():
    assert all(contrast(ink(colour), colour) >= 4.5 for colour in SHADES)
    assert ink(SHADES[0]) == "#000000"
    assert ink(SHADES[-1]) == "#ffffff"


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)  # (1 + .05) / (0 + .05)
    assert contrast("#777777", "#777777") == 1


def test_shares_outside_the_unit_interval_get_the_end_colours():
    assert (shade(-3), shade(7)) == (SHADES[0], SHADES[-1])


def lightness(colour):
    return 116 * luminance(colour) ** (1 / 3) - 16  # CIE L*


def test_farther_from_nothing_is_darker_on_either_side():
    shades = np.array([lightness(signed(v)) for v in STEPS])
    assert np.all(np.diff(shades[:21]) > 0)
    assert np.all(np.diff(shades[20:]) < 0)


def test_equal_distances_are_about_equally_dark():
    # OKLCH's lightness is not CIE's: at the ends blue and brown differ by a few of 100
    assert max(abs(lightness(signed(v)) - lightness(signed(-v))) for v in STEPS) < 6


def test_below_is_blue_and_above_is_brown():
    for share in (0.1, 0.5, 1.0):
        below, above = (tuple(int(signed(v)[i : i + 2], 16) for i in (1, 3, 5)) for v in (-share, share))
        assert below[2] > below[0]
        assert above[0] > above[2]


def test_nothing_is_almost_white():
    assert lightness(signed(0.0)) > 97
    assert signed(0.0) == signed(-0.0)


def test_ink_can_be_read_on_every_signed_shade():
    assert all(contrast(ink(signed(v)), signed(v)) >= 4.5 for v in STEPS)
    assert all(ink(signed(v)) == ("#ffffff" if abs(v) >= 0.6 else "#000000") for v in STEPS)


@pytest.mark.parametrize("value", [1.0, 1.5, 40.0, float("inf")])
def test_what_lies_beyond_has_the_colour_of_the_end(value):
    assert signed(value) == signed(1.0)
    assert signed(-value) == signed(-1.0)
