"""Pieces of pictures: valid XML whatever the text, everything inside the frame, numbers readable."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("markupsafe")

from hypothesis import given
from hypothesis import strategies as st

from nlgauge.report.colours import contrast, signed
from nlgauge.report.drawing import Cell, heat_map, room, text
from nlgauge.report.labels import clean, ems

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ('"><script>alert(1)</script>', "a\x00b\ud800", "]]>&amp;", "\u202eback", "W" * 300, "中文" * 40, "", "\n")
anything = st.text(max_size=60) | st.sampled_from(HOSTILE)


def ends(element):
    """The places where a label begins and ends at most, across and down, from its estimated width."""
    shown = "".join(element.itertext()) if element.find(f"{SVG}title") is None else element.find(f"{SVG}title").tail
    wide = float(element.get("font-size")) * ems(shown)
    x, y = float(element.get("x")), float(element.get("y"))
    turn = re.match(r"rotate\((-?\d+)", element.get("transform") or "rotate(0")
    angle = math.radians(float(turn.group(1)))
    back = {"start": 0.0, "middle": 0.5, "end": 1.0}[element.get("text-anchor")]
    return [
        (x - back * wide * math.cos(angle), y),
        (x + (1 - back) * wide * math.cos(angle), y + (1 - back) * wide * math.sin(angle)),
    ]


def assert_inside(picture):
    """Every label, by its estimated width, lies in the frame; the estimate is on the generous side."""
    root = ElementTree.fromstring(picture)
    width, height = float(root.get("width")), float(root.get("height"))
    for label in root.iter(f"{SVG}text"):
        for x, y in ends(label):
            assert -0.5 <= x <= width + 0.5  # coordinates are written with one digit
            assert -0.5 <= y <= height + 0.5
    for rect in root.iter(f"{SVG}rect"):
        assert float(rect.get("x")) + float(rect.get("width")) <= width


@given(
    columns=st.lists(anything, min_size=1, max_size=4),
    rows=st.lists(st.tuples(anything, anything), min_size=1, max_size=4),
)
def test_any_names_make_a_valid_picture_with_all_inside(columns, rows):
    cells = [[Cell("+0.50", signed(0.5), name) for name in columns] for _ in rows]
    picture = heat_map("a map", columns, rows, cells)
    assert_inside(picture)
    assert {e.tag.removeprefix(SVG) for e in ElementTree.fromstring(picture).iter()} <= {
        "svg",
        "text",
        "title",
        "rect",
        "line",
        "g",
    }


@pytest.mark.parametrize("label", HOSTILE)
def test_text_is_text_and_never_markup(label):
    element = ElementTree.fromstring(text(0, 0, label))
    whole = next((child.text for child in element), None) or element.text
    assert whole == clean(label)


def test_long_labels_are_cut_and_whole_in_their_title():
    element = ElementTree.fromstring(text(0, 0, "m" * 100))
    assert element[0].text == "m" * 100
    assert element[0].tail.endswith("…")
    assert room(["m" * 100]) == room(["m" * 200]) < 500


def test_a_block_is_named_once_with_a_line_above():
    picture = heat_map("a map", ["m"], [("one", "a"), ("one", "b"), ("two", "c")], [[Cell("x")]] * 3)
    assert picture.count(">one<") == picture.count(">two<") == 1
    assert picture.count("<line") == 2


def test_numbers_stand_in_their_colours_and_what_is_no_number_has_none():
    root = ElementTree.fromstring(
        heat_map("a map", ["m", "n"], [("", "a")], [[Cell("-0.50", signed(-0.5), "why"), Cell("undefined")]])
    )
    (rect,) = root.iter(f"{SVG}rect")
    assert rect.get("fill") == signed(-0.5)
    assert [t.text for t in root.iter(f"{SVG}title")] == ["why"]
    (number,) = [t for t in root.iter(f"{SVG}text") if t.text == "-0.50"]
    assert contrast(number.get("fill"), rect.get("fill")) >= 4.5  # WCAG 2 for text


def test_no_rows_and_no_columns_make_an_empty_picture():
    ElementTree.fromstring(heat_map("nothing", [], [], []))
