import numpy as np
import pytest

from nlgauge.report.colours import contrast, ink, luminance
from nlgauge.report.signed import signed

STEPS = [k / 20 for k in range(-20, 21)]


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


def test_ink_can_be_read_on_every_shade():
    assert all(contrast(ink(signed(v)), signed(v)) >= 4.5 for v in STEPS)


@pytest.mark.parametrize("value", [1.0, 1.5, 40.0, float("inf")])
def test_what_lies_beyond_has_the_colour_of_the_end(value):
    assert signed(value) == signed(1.0)
    assert signed(-value) == signed(-1.0)
