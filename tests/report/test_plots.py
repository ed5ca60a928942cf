"""Curves as SVG: round axes, nothing drawn where nothing is known, anybody's names."""

import math
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.report.plots import Curve, colour_of, curves_plot, ticks

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
def test_axes_hold_all_values_with_few_ticks(values):
    found = ticks(values)
    room = 1e-6 * (found[-1] - found[0])  # a value a hair beyond a round number does not need another tick
    assert found[0] <= min(values) + room
    assert found[-1] >= max(values) - room
    assert 2 <= len(found) <= 9
    assert found == sorted(set(found))


def elements(picture, tag):
    return ET.fromstring(picture).iter(f"{{http://www.w3.org/2000/svg}}{tag}")


def texts(picture):
    return ["".join(e.itertext()) for e in elements(picture, "text")]


def test_a_point_stands_where_its_numbers_say():
    picture = curves_plot("c", [Curve("a", [(0.0, 0.0), (0.5, 1.0), (1.0, 0.0)])], "x", "y")
    [line] = [e.get("points") for e in elements(picture, "polyline") if e.get("points").count(" ") == 2]
    (x0, y0), (x1, y1), (x2, y2) = (tuple(map(float, p.split(","))) for p in line.split())
    assert x1 == pytest.approx((x0 + x2) / 2, abs=0.1)  # coordinates have one digit
    assert y0 == y2
    assert y1 < y0  # up is more


def test_what_is_undefined_is_not_drawn():
    nan = math.nan
    picture = curves_plot(
        "c", [Curve("a", [(0.0, nan), (1.0, 2.0)], band=[(nan, nan), (nan, nan)]), Curve("b", [])], "x", "y"
    )
    assert "nan" not in picture
    assert len(list(elements(picture, "circle"))) == 1


def test_marks_say_what_is_an_end_and_what_is_best():
    picture = curves_plot(
        "c", [Curve("a", [(0, 0), (1, 1), (2, 0)], ["0", "0.5", "1"], ends=True, bold=1, dotted=True)], "x", "y"
    )
    assert len(list(elements(picture, "polygon"))) == 1  # the star
    assert len(list(elements(picture, "path"))) == 1  # the cross
    assert len([e for e in elements(picture, "circle") if e.get("fill") == "none"]) == 1  # the ring
    assert picture.count("stroke-dasharray") == 2  # the line and its legend


def test_labels_do_not_cover_each_other():
    close = Curve("a", [(0, 0), (0.001, 0.001), (1, 1)], ["first", "second", "third"], bold=1)
    assert {"second", "third"} <= set(texts(curves_plot("c", [close], "x", "y")))
    assert "first" not in texts(curves_plot("c", [close], "x", "y"))


def test_shares_are_shown_in_per_cent_with_zero_among_them():
    assert "0 %" in texts(
        curves_plot(
            "c", [Curve("a", [(0, 0.05), (1, 0.1)], band=[(0.04, 0.06), (0.05, 0.3)])], "x", "gain", percent=True
        )
    )


@given(st.text(max_size=20))
def test_any_name_makes_xml(name):
    ET.fromstring(curves_plot(name, [Curve(name, [(0, 0), (1, 1)], [name, ""], titles=[name, name])], name, name))


def test_there_is_a_colour_for_any_number_of_curves():
    assert all(re.fullmatch("#[0-9a-f]{6}", colour_of(k)) for k in range(30))
