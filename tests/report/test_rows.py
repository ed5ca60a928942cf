"""What tables and pages ask of rows, worked on rows written out."""

import pytest

from nlgauge.report.rows import (
    absent,
    between,
    by_keys,
    claim_of,
    compared,
    descending,
    means_last,
    measured,
    number,
    p_values,
    percent,
    points_of,
    values_of,
    weight_tasks,
    whole,
    with_interval,
)


def test_means_stand_last():
    assert means_last(["mean-all", "b", "a", "b"]) == ["b", "a", "mean-all"]


def test_rows_are_grouped_in_order_of_appearance():
    rows = [{"a": 2, "b": 1}, {"a": 1, "b": 1}, {"a": 2, "b": 3}]
    assert values_of(rows, "a") == [2, 1]
    assert by_keys(rows, "a") == {(2,): [rows[0], rows[2]], (1,): [rows[1]]}
    assert list(by_keys(rows, "a", "b")) == [(2, 1), (1, 1), (2, 3)]


def test_tests_stand_apart_from_values_and_their_adjusted_p_counts():
    rows = [
        {"metric": "a", "value": 1.0},
        {"metric": "a", "against": None},
        {"metric": "a", "against": "b", "p": 0.1, "p_adjusted": 0.2, "alternative": "greater"},
        {"metric": "b", "against": "a", "p": 0.9, "alternative": "two-sided"},
    ]
    assert measured(rows) == rows[:2]
    assert compared(rows) == rows[2:]
    assert p_values(compared(rows)) == {("a", "b"): 0.2, ("b", "a"): 0.9}
    assert [claim_of(row) for row in compared(rows)] == ["row better than column", "row and column differ"]


def test_of_a_sweep_the_means_over_sets_are_the_whole():
    def point(dataset, metric="m", phenomenon="mean-all", stat="pearson"):
        about = {"dataset": dataset, "suite": dataset, "metric": metric, "phenomenon": phenomenon}
        return {**about, "stat": stat, "criterion": "q", "level": "item"}

    rows = [point("d"), point("mean"), point("mean", "mean"), point("d", phenomenon="mean-adequacy"), point(None)]
    assert points_of(rows, "mean-all") == rows[:2]
    assert whole(rows) == [rows[1]]
    assert whole(rows, "mean-adequacy") == [rows[3]]  # one set: no mean over sets
    assert list(weight_tasks([*rows, point("d", stat=None)])) == [("pearson", "q", "item")]


NAN = float("nan")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.12345, "0.123"), (NAN, "undefined"), (None, "undefined"), (-0.5, "-0.500"), (-0.0001, "0.000")],
)
def test_numbers_are_shown_with_so_many_digits(value, shown):
    assert number(value, 3) == shown


def test_a_sign_and_a_word_of_ones_own():
    assert (number(0.5, 1, sign="+"), number(-0.5, 1, sign="+")) == ("+0.5", "-0.5")
    assert number(NAN, missing="") == ""


def test_a_change_in_per_cent():
    assert (percent(0.125), percent(-0.5), percent(NAN)) == ("+12.5 %", "-50.0 %", "undefined")


def test_intervals_on_a_page_and_in_a_cell():
    assert (between(0.1, 0.25, 2), between(None, None), between(NAN, NAN)) == ("0.10 to 0.25", "", "")
    assert with_interval({"low": 0.1, "high": 0.25}, "0.2", 2) == "0.2 [0.10, 0.25]"
    assert with_interval({"low": None, "high": None}, "0.2", 2) == "0.2"
    assert with_interval({}, "0.2", 2) == "0.2"


def test_the_greatest_comes_first_and_what_is_absent_last():
    assert sorted([0.1, NAN, 0.5, -1.0], key=descending)[:3] == [0.5, 0.1, -1.0]
    assert sorted([None, 0.5], key=descending) == [0.5, None]


def test_what_is_absent():
    assert [absent(value) for value in (None, NAN, 0.0, 1)] == [True, True, False, False]
