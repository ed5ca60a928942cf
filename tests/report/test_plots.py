"""Curves as SVG: round axes, nothing drawn where nothing is known, anybody's names."""

import math
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.report.colours import contrast
from nlgauge.report.labels import clean, ems
from nlgauge.report.plots import Curve, axes_of, colour_of, curves_plot, swatch, ticks

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
    assert colour_of(1) in swatch(1)


@pytest.mark.parametrize("values", [[1.0, 0.9999999999999999], [0.3, 0.1 + 0.2]])
def test_numbers_that_differ_in_their_last_bits_have_an_axis(values):
    found = ticks(values, most=5)
    assert found[0] <= min(values) < max(values) <= found[-1]
    assert len({*found}) == len(found) > 1
