"""The form of a number: its digits, other digits, and the figure written with them."""

import random
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.numbers.forms import (
    choices,
    digits_of,
    edit_to,
    number_class,
    redrawn,
    worth,
    written,
    zeros_around,
)


def number(text):
    return find_numbers(text)[0]


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("1,234.50 metres", "123450"),
        ("twenty-five boats", "25"),
        ("three dozen eggs", "3"),
        ("It takes 1/2 of it.", "1/2"),
        ("on 12/05/2003 it rained", "2003"),
        ("the season 2015-16 was long", ""),  # two years and no whole one
    ],
)
def test_digits_are_what_can_be_drawn_again(text, digits):
    assert digits_of(number(text)) == digits


def test_numbers_of_one_class_and_digits_become_the_same():
    assert number_class(number("5 boats")) == number_class(number("five boats"))
    assert number_class(number("5 boats")) != number_class(number("the 5th boat"))
    assert number_class(number("5.0 miles")) != number_class(number("50 miles"))
    assert number_class(number("in 1990")) == number_class(number("on 12/05/1990"))


def test_other_digits_are_worth_what_they_say_in_that_form():
    assert worth(number("2.50 miles"), "475") == Decimal("4.75")
    assert worth(number("three dozen eggs"), "4") == 48


@pytest.mark.parametrize(
    ("text", "digits", "figure"),
    [
        ("1,234.50 metres", "987660", "9,876.60"),
        ("Twenty-five boats", "31", "Thirty-one"),
        ("two hundred boats", "300", "three hundred"),
        ("three dozen eggs", "5", "five dozen"),
        ("the third boat", "4", "fourth"),
        ("on 12/05/2003 it rained", "2011", "12/05/2011"),
        ("100 % of it", "40", "40"),
    ],
)
def test_a_figure_is_written_in_the_form_it_had(text, digits, figure):
    assert written(number(text), digits) == figure


def test_a_suffix_goes_with_its_digits():
    assert edit_to(number("the 3rd boat"), "2") == (4, 7, "2nd")
    assert edit_to(number("It was the 3RD."), "2") == (11, 14, "2ND")
    assert edit_to(number("5 boats"), "6") == (0, 1, "6")
    assert edit_to(number("5 boats"), "5") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("three dozen eggs", list("23456789")),
        ("in 1990", [str(y) for y in range(1900, 2000)]),
        ("in 2016", [str(y) for y in range(2000, 2030)]),
        ("It takes ½ of it.", ["⅓", "⅔", "¼", "¾", "⅕", "⅖", "⅗", "⅘", "⅛"]),
        ("He is in his 20s.", [str(y) for y in range(20, 100, 10)]),
        ("It rose 100%.", ["10", "20", "30", "40", "50", "60", "70", "80", "90"]),
        ("5 boats", None),
    ],
)
def test_kinds_with_few_choices_name_them(text, expected):
    assert choices(number(text)) == expected


@given(st.integers(1, 10**9), st.integers(0, 99))
def test_zeros_at_both_ends_stay_and_no_others_come_there(value, seed):
    old = str(value)
    new = redrawn(old, random.Random(seed))
    assert len(new) == len(old)
    assert zeros_around(new) == zeros_around(old)


def test_nothing_but_zeros_is_kept_unless_it_is_one():
    assert redrawn("00", random.Random(0)) == "00"
    assert redrawn("0", random.Random(0)) in "23456789"
    assert zeros_around("0500") == (1, 2)
