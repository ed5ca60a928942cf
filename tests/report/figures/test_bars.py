"""Bars begin at 0, intervals stand where they belong, and names are text."""

import re
import xml.etree.ElementTree as ET

from nlgauge.core.result import Result
from nlgauge.report.figures.bars import Bar, bar_figures, bars

METRICS = [{"spec": s, "signature": s, "higher_is_better": s != "ter", "range": [0.0, 100.0]} for s in ("m", "ter")]


def result(*rows):
    return Result("score", [{"metric": "m", "low": None, "high": None, "n": 3, **row} for row in rows], (), METRICS)


def test_bars_begin_at_zero_and_end_at_their_value():
    # the axis goes from 0 to 40 over 220 pixels: 10 is 55 wide and 40 is 220
    (figure,) = bar_figures(
        result({"system": "a", "value": 10.0, "low": 5.0, "high": 20.0}, {"system": "b", "value": 40.0})
    )
    assert re.findall(r'<rect [^>]*width="([\d.]+)"', figure.picture) == ["55.0", "220.0"]
    (start, low, high) = re.search(r'<rect x="([\d.]+)".*?<path d="M([\d.]+) [\d.]+H([\d.]+)', figure.picture).groups()
    assert (float(low) - float(start), float(high) - float(start)) == (27.5, 110.0)
    assert figure.title == "m"
    assert [row["value"] for row in figure.numbers] == [10.0, 40.0]


def test_negative_scores_go_the_other_way():
    (figure,) = bar_figures(result({"system": "a", "value": -10.0}, {"system": "b", "value": 30.0}))
    assert re.findall(r'<rect [^>]*width="([\d.]+)"', figure.picture) == ["55.0", "165.0"]


def test_what_is_undefined_or_alone_has_no_bar():
    assert bar_figures(result({"system": "a", "value": float("nan")}, {"system": "b", "value": 1.0})) == []


def test_groups_and_odd_names_are_text():
    rows = [{"system": s, "group": "<g>", "value": 1.0} for s in ("</svg><script>", None)]
    (figure,) = bar_figures(result(*rows))
    shown = ["".join(part.itertext()) for part in ET.fromstring(figure.picture).iter() if part.tag.endswith("}text")]
    assert "<g>: </svg><script>" in shown
    assert "<g>: -" in shown


def test_no_line_of_the_grid_goes_through_a_heading():
    found = [Bar("a", 1.0, heading="up to 8 words"), Bar("b", 2.0), Bar("a", 1.0, heading="9 words or more")]
    picture = bars("m", found, 2)
    (first, second) = (float(y) for y in re.findall(r'y="([\d.]+)"[^>]*>(?:up to|9 words)', picture))
    spans = {
        (float(a), float(b)) for a, b in re.findall(r'<line [^>]*y1="([\d.]+)" x2="[\d.]+" y2="([\d.]+)"', picture)
    }
    (upper, lower) = sorted(spans)
    assert first < upper[0] < upper[1] < second < lower[0] < lower[1]
