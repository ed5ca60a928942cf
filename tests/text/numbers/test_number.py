"""What is known of one number: its worth, its decimals, what parts its thousands."""

from dataclasses import replace
from decimal import Decimal

import pytest

from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.numbers.number import DATED, OPAQUE, Number, opaque


@pytest.mark.parametrize(
    ("figure", "decimals", "separator"),
    [
        ("1,234.50", 2, ","),
        ("19,000", 0, ","),
        ("2,5", 1, ""),
        ("2.50", 2, ""),
        ("1.234.567", 0, "."),
        ("10 000", 0, " "),
        ("127", 0, ""),
    ],
)
def test_the_form_of_a_figure_is_known(figure, decimals, separator):
    (number,) = find_numbers(f"about {figure} of it")
    assert (number.decimals, number.separator) == (decimals, separator)


def test_the_amount_is_figure_times_scale_with_its_sign():
    # 3.2 times a million, below zero
    number = Number(2, 5, 0, 6, "money", "3.2", Decimal("3.2"), sign="-", scale=1_000_000, currency="$")
    assert number.amount == Decimal("-3200000")
    assert replace(number, sign="+").amount == Decimal("3200000")


def test_what_is_left_alone_is_worth_nothing():
    number = opaque("Agent 007 came", 6, 9)
    assert (number.figure, number.kind, number.value, number.amount) == ("007", "code", None, None)
    assert (number.outer_start, number.outer_end, number.decimals, number.separator) == (6, 9, 0, "")
    assert opaque("12/05/2003", 0, 10, "date").kind == "date"


def test_a_date_in_figures_is_dated_and_left_alone():
    assert {"date", "time"} == DATED & OPAQUE
