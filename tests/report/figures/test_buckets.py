"""Means by bucket and systems in quarters, worked by hand."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from nlgauge.report.buckets import Buckets
from nlgauge.report.figures.buckets import bucket_figures, quarter_figures

SHORT = Buckets("length", ["short", "long"], np.array([0, 0, 0, 1, 1, -1]))


def test_every_bucket_has_the_mean_of_each_system_with_its_interval():
    columns = {"m": np.array([1.0, 3.0, 8.0, 4.0, np.nan, 99.0])}
    (figure,) = bucket_figures(columns, ["a", "a", "b", "a", "b", "a"], SHORT)
    rows = [(row["bucket"], row["system"], row["value"], row["n"]) for row in figure.numbers]
    assert rows == [("short", "a", 2.0, 2), ("short", "b", 8.0, 1), ("long", "a", 4.0, 1)]
    # mean 2, deviation sqrt(2), Student's 12.706 at one degree of freedom: 2 - 12.706 * sqrt(2) / sqrt(2)
    assert figure.numbers[0]["low"] == pytest.approx(2 - 12.706, abs=1e-3)
    assert np.isnan(figure.numbers[1]["low"])
    assert figure.title == "m by length"
    shown = [e.text for e in ET.fromstring(figure.picture).iter() if e.tag.endswith("}text")]
    assert [text for text in shown if text.startswith(("short", "long"))] == ["short (n 3)", "long (n 1)"]


def test_many_systems_are_taken_together_and_one_bucket_is_no_figure():
    columns = {"m": np.arange(6.0)}
    (figure,) = bucket_figures(columns, list("abcdef"), SHORT)
    assert [(row["system"], row["value"]) for row in figure.numbers] == [("all systems", 1.0), ("all systems", 3.5)]
    assert bucket_figures(columns, ["a"] * 6, Buckets("length", ["one", "two"], np.zeros(6, dtype=np.int64))) == []


def test_quarters_count_the_segments_of_each_system():
    columns = {"ter": np.array([8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0])}
    systems = ["a", "a", "b", "a", "b", "b", "b", None]
    (figure,) = quarter_figures(columns, systems, frozenset({"ter"}))
    counts = {}
    for row in figure.numbers:
        counts.setdefault(row["system"], []).append(row["n"])
    assert counts == {"a": [2, 1, 0, 0], "b": [0, 1, 2, 1], "-": [0, 0, 0, 1]}  # lower is better: 8 is the worst
    assert figure.numbers[0]["quarter"] == "worst quarter"
    assert quarter_figures(columns, ["a"] * 8, frozenset()) == []
    assert quarter_figures({"m": np.array([1.0, 2, 1, 2])}, ["a", "a", "b", "b"], frozenset()) == []  # no quarters


def test_names_are_text():
    columns = {"</svg><script>": np.arange(6.0)}
    figures = bucket_figures(columns, ["<i>", "b"] * 3, SHORT) + quarter_figures(columns, ["<i>", "b"] * 3, frozenset())
    for figure in figures:
        tags = {e.tag.rpartition("}")[2] for e in ET.fromstring(figure.picture).iter()}
        assert tags <= {"svg", "g", "line", "text", "path", "title", "rect"}
