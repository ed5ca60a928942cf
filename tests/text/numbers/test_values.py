"""A number is among those of another text if it is worth the same, however it is written."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.numbers.values import is_among, values_of


def has(text, number):
    (found,) = find_numbers(number)
    return is_among(found, values_of(text))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("twelve apples", "12 apples"),
        ("1500 euros", "1,500 euros"),
        ("3 , 000 people", "3,000 people"),  # tokenised
        ("3,500,000 dollars", "$3.5 million"),
        ("3.5 dollars", "$3.5 million"),  # the figure alone counts, too
    ],
)
def test_the_value_counts(text, number):
    assert has(text, number)


def test_another_value_is_not_among_them():
    assert not has("twelve apples", "13 apples")
    assert values_of("no number at all") == frozenset()


@given(st.integers(0, 10**9))
def test_digits_are_among_their_own_values(n):
    assert Decimal(n) in values_of(f"about {n} of them")
    assert Decimal(n) in values_of(f"about {n:,} of them")
