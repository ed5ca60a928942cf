"""How single numbers are shown, worked by hand."""

import pytest

from nlgauge.report.marks import absent, between, descending, number, percent, with_interval

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
