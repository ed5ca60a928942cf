"""System against system on the items that both have, worked by hand."""

import numpy as np

from nlgauge.report.figures.systems import system_figures

SYSTEMS = ["a", "a", "a", "b", "b", "b", "c"]
ITEMS = ["1", "2", "3", "1", "2", "4", "1"]
M = np.array([5.0, 1.0, 9.0, 6.0, 1.0, 8.0, 2.0])


def test_two_systems_are_compared_on_the_items_that_both_have():
    # a and b share items 1 (5 and 6) and 2 (1 and 1); c shares one item with either, which is too few
    (figure,) = system_figures({"m": M, "human.q": M}, SYSTEMS, ITEMS, frozenset())
    assert figure.title == "m: a and b"
    assert [tuple(row.values()) for row in figure.numbers] == [("1", 5.0, 6.0, "b"), ("2", 1.0, 1.0, "equal")]
    assert figure.note == "a better on 0; b better on 1; equal on 1 of 2 items"
    assert list(figure.numbers[0]) == ["item", "m of a", "m of b", "better"]


def test_where_lower_is_better_the_lower_wins():
    (figure,) = system_figures({"ter": M}, SYSTEMS, ITEMS, frozenset({"ter"}))
    assert figure.numbers[0]["better"] == "a"


def test_the_best_two_by_each_metric_come_first():
    rows = ["a", "b", "c"] * 2
    columns = {"m": np.array([1.0, 2, 3] * 2), "n": np.array([3.0, 2, 1] * 2)}
    figures = system_figures(columns, rows, ["1"] * 3 + ["2"] * 3, frozenset())
    assert [figure.title for figure in figures] == [
        "m: c and b", "n: a and b", "m: c and a", "n: a and c", "m: b and a", "n: b and c",
    ]  # fmt: skip


def test_many_items_are_counted_in_squares():
    x = np.linspace(0, 1, 500)
    systems, items = ["a"] * 500 + ["b"] * 500, [str(i) for i in range(500)] * 2
    (figure,) = system_figures({"m": np.tile(x, 2)}, systems, items, frozenset())
    assert sum(row["n"] for row in figure.numbers) == 500
    assert len(figure.picture) < 10_000
