"""Points in shapes that differ, and counts in squares where there are many."""

import numpy as np

from nlgauge.report.figures.points import density, escaped, legend, marks
from nlgauge.report.plots import Axes, Frame

FRAME = Frame.of(Axes("x", "y", [0.0, 1.0], [0.0, 1.0]))


def test_points_of_a_kind_are_one_path_and_kinds_differ_in_shape():
    drawn = [marks(kind, [(1, 2), (3, 4)]) for kind in range(4)]
    assert [one.count("M") for one in drawn] == [2] * 4
    assert len({one.partition("M1.0 2.0")[2].partition("M")[0] for one in drawn}) == 4
    assert marks(0, []) == ""


def test_a_legend_names_every_kind():
    parts = legend(FRAME, ["a<b", None])
    assert len(parts) == 4
    assert "a&lt;b" in parts[1]


def test_squares_count_all_points():
    x = np.linspace(0, 1, 900)
    numbers, drawn = density(FRAME, x, x, "one", "other")
    assert len(numbers) == len(drawn) == 30
    assert [row["n"] for row in numbers] == [30] * 30
    assert set(numbers[0]) == {"one", "other", "n"}


def test_fields_of_a_chart_are_no_paths():
    assert escaped("a.b[c]") == "a\\.b\\[c\\]"
