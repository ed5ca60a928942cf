import numpy as np
import pytest

from nlgauge.report.colours import contrast, ink, luminance, shade

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
