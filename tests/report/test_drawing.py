import base64
import math
import re
import xml.etree.ElementTree as ET
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nlgauge.report.drawing import (
    Curve,
    Figure,
    amount,
    axes_of,
    axis_of,
    bar,
    colour_of,
    contrast,
    csv_file,
    curves_plot,
    data_url,
    ink,
    luminance,
    plot_of,
    ramp,
    shade,
    signed,
    strip,
    ticks,
)
from nlgauge.report.labels import clean, ems

pytest.importorskip("markupsafe")


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


def test_ink_can_be_read_on_every_signed_shade():
    assert all(contrast(ink(signed(v)), signed(v)) >= 4.5 for v in STEPS)
    assert all(ink(signed(v)) == ("#ffffff" if abs(v) >= 0.6 else "#000000") for v in STEPS)


@pytest.mark.parametrize("value", [1.0, 1.5, 40.0, float("inf")])
def test_what_lies_beyond_has_the_colour_of_the_end(value):
    assert signed(value) == signed(1.0)
    assert signed(-value) == signed(-1.0)


# --- Curves as SVG: round axes, nothing drawn where nothing is known, anybody's names

HOSTILE = ('"><script>alert(1)</script>', "a\x00b\ud800", "]]>&amp;", "\u202eback", "W" * 300, "中文" * 40, "", "\n")
finite = st.floats(-1e6, 1e6, allow_nan=False)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0, 1.0], [0, 0.2, 0.4, 0.6, 0.8, 1]),
        ([0.383, 0.495], [0.38, 0.4, 0.42, 0.44, 0.46, 0.48, 0.5]),
        ([-0.6, 0.1], [-0.6, -0.4, -0.2, 0, 0.2]),
        ([], [0, 1]),
    ],
)
def test_axes_end_at_round_numbers(values, expected):
    assert ticks(values) == expected


@given(st.lists(finite, min_size=1, max_size=8))
@example([5e-324])
@example([0.0, 5e-324])
def test_axes_hold_all_values_with_few_ticks(values):
    found = ticks(values)
    room = 1e-6 * (found[-1] - found[0])  # a value a hair beyond a round number does not need another tick
    assert found[0] <= min(values) + room
    assert found[-1] >= max(values) - room
    assert 2 <= len(found) <= 9
    assert found == sorted(set(found))


def test_axes_stay_inside_the_scale():
    assert ticks([1.0, 1.0], within=(0.0, 1.0))[-1] == 1.0
    assert ticks([0.93, 1.0], most=3, within=(0.0, 1.0)) == [0.9, 0.95, 1.0]


def plot(*curves, x="x", y="y", behind=(), **how):
    return curves_plot("c", curves, axes_of([*curves, *behind], x, y, **how), behind)


def elements(picture, tag):
    return ET.fromstring(picture).iter(f"{{http://www.w3.org/2000/svg}}{tag}")


def texts(picture):
    return ["".join(e.itertext()) for e in elements(picture, "text")]


def test_a_point_stands_where_its_numbers_say():
    [line] = [e.get("points") for e in elements(plot(Curve("a", [(0.0, 0.0), (0.5, 1.0), (1.0, 0.0)])), "polyline")]
    (x0, y0), (x1, y1), (x2, y2) = (tuple(map(float, p.split(","))) for p in line.split())
    assert x1 == pytest.approx((x0 + x2) / 2, abs=0.1)  # coordinates have one digit
    assert y0 == y2
    assert y1 < y0  # up is more


def test_what_is_undefined_is_not_drawn():
    nan = math.nan
    picture = plot(Curve("a", [(0.0, nan), (1.0, 2.0)], band=[(nan, nan), (nan, nan)]), Curve("b", []))
    assert "nan" not in picture
    assert len(list(elements(picture, "circle"))) == 1


def test_marks_say_what_is_an_end_and_what_is_best():
    picture = plot(Curve("a", [(0, 0), (1, 1), (2, 0)], ["0", "0.5", "1"], ends=True, bold=1))
    assert len(list(elements(picture, "polygon"))) == 1  # the star
    assert len(list(elements(picture, "path"))) == 1  # the cross
    assert len([e for e in elements(picture, "circle") if e.get("fill") == "none"]) == 1  # the ring


def test_equal_curves_are_both_seen():
    points = [(0, 0), (1, 1)]
    widths = [float(e.get("stroke-width")) for e in elements(plot(Curve("a", points), Curve("b", points)), "polyline")]
    assert widths == [5, 2]  # the first is an edge around the second


def test_labels_cover_neither_each_other_nor_a_mark():
    close = [(k / 40, k / 40) for k in range(20)]
    picture = plot(Curve("a", close, [f"{k:02}" for k in range(20)], bold=9))
    marks = [(float(e.get("cx")), float(e.get("cy")), float(e.get("r"))) for e in elements(picture, "circle")]
    boxes = []
    for label in elements(picture, "text"):
        if label.get("font-size") == "10":
            x, y = float(label.get("x")), float(label.get("y"))
            boxes.append((x, y - 10, x + 10 * ems(label.text), y))
    assert len(boxes) >= 5
    for k, (left, top, right, bottom) in enumerate(boxes):
        assert not any(
            x1 < right - 0.2 and left < x2 - 0.2 and y1 < bottom - 0.2 and top < y2 - 0.2
            for x1, y1, x2, y2 in boxes[:k]
        )
        assert not any(
            left < x + r - 0.2 and x - r < right - 0.2 and top < y + r - 0.2 and y - r < bottom - 0.2
            for x, y, r in marks
        )
    assert "09" in texts(picture)


def test_shares_are_shown_in_per_cent_with_zero_among_them():
    band = [(0.04, 0.06), (0.05, 0.3)]
    assert "0 %" in texts(plot(Curve("a", [(0, 0.05), (1, 0.1)], band=band), y="gain", percent=True))


@given(st.text(max_size=60) | st.sampled_from(HOSTILE))
def test_any_name_makes_xml_and_all_is_inside(name):
    curve = Curve(name, [(0, 0), (1, 1)], [name, ""], titles=[name, name])
    root = ET.fromstring(curves_plot(name, [curve], axes_of([curve], name, name)))
    width, height = float(root.get("width")), float(root.get("height"))
    for label in root.iter("{http://www.w3.org/2000/svg}text"):
        title = label.find("{http://www.w3.org/2000/svg}title")
        shown = label.text if title is None else title.tail
        assert title is None or title.text == clean(name)
        wide, x, y = (
            float(label.get("font-size", root.get("font-size"))) * ems(shown),
            float(label.get("x")),
            float(label.get("y")),
        )
        back = {"start": 0.0, "middle": 0.5, "end": 1.0}[label.get("text-anchor", "start")]
        assert 0 <= y <= height
        assert label.get("transform") or 0 <= x - back * wide <= x + (1 - back) * wide <= width + 0.5


def test_every_colour_stands_out_from_white_and_from_dark():
    for k in range(30):
        assert re.fullmatch("#[0-9a-f]{6}", colour_of(k))
        assert (
            min(contrast(colour_of(k), "#ffffff"), contrast(colour_of(k), "#15191e")) >= 3
        )  # WCAG 2 for what is drawn
    curves = [Curve("one", [(0.0, 0.0), (1.0, 1.0)]), Curve("two", [(0.0, 1.0), (1.0, 0.0)])]
    (_, first), (sample, second) = plot_of("two", curves, axes_of(curves, "x", "y"))["legend"]
    assert (first, second) == ("one", "two")
    assert colour_of(1) in sample


@pytest.mark.parametrize("values", [[1.0, 0.9999999999999999], [0.3, 0.1 + 0.2]])
def test_numbers_that_differ_in_their_last_bits_have_an_axis(values):
    found = ticks(values, most=5)
    assert found[0] <= min(values) < max(values) <= found[-1]
    assert len({*found}) == len(found) > 1


# --- What a figure gives away: its numbers for a spreadsheet


def test_the_csv_holds_every_number_and_no_formula():
    numbers = [{"system": "=HYPERLINK()", "value": -0.5}, {"system": "a,b", "value": math.nan}, {"a": "c", "b": 1 / 3}]
    name, url = csv_file("BLEU & <b>", numbers)
    assert name == "bleu-b.csv"
    held = base64.b64decode(url.removeprefix("data:text/csv;base64,")).decode()
    assert held == 'system,value\n\'=HYPERLINK(),-0.5\n"a,b",\nc,0.3333333333333333\n'
    assert Figure("BLEU & <b>", numbers).csv == (name, url)
    assert data_url("text/plain", "\ud800").isascii()  # half of a pair is no text that UTF-8 can hold


# --- Shaded cells: more is darker, what is beyond the scale has its end, and nothing is shaded without a number


@pytest.mark.parametrize("value", [None, math.nan])
def test_no_number_has_no_colour(value):
    assert (amount(value).text, amount(value).colour) == ("undefined", "")


def test_a_scale_without_width_is_light():
    assert amount(0.4, 0.4, 0.4).colour == amount(0.0).colour


def test_a_ramp_goes_from_end_to_end():
    colours = ramp(signed, -1.0, 1.0)
    assert (colours[0], colours[-1]) == (signed(-1.0), signed(1.0))
    assert colours[len(colours) // 2] == signed(0.0)


# --- Strips: a value stands where its number says, in per cent of whatever width there is


def test_an_axis_ends_at_round_numbers_and_holds_the_base():
    axis = axis_of([0.31, 0.52, None, math.nan], base=0.1)
    assert (axis.ticks[0], axis.ticks[-1], axis.base) == (0, 0.6, 0.1)
    assert axis.at(0.3) == "50.0%"


def test_an_axis_of_nothing_goes_from_0_to_1():
    assert axis_of([]).ticks == axis_of([None, math.nan]).ticks == [0.0, 1.0]


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
