"""Two ways to write one number, date, time or unit say the same, and another value says another thing."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.numbers.said import sayings, sayings_of, values_of


def has(text, number):
    (found,) = find_numbers(number)
    return sayings_of(number, found)[0].is_among(values_of(text))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("twelve apples", "12 apples"),
        ("1500 euros", "1,500 euros"),
        ("3 , 000 people", "3,000 people"),  # tokenised
        ("3,500,000 dollars", "$3.5 million"),
        ("3.5 dollars", "$3.5 million"),  # the figure alone counts, too
        ("12,000 visitors", "12K visitors"),
        ("12k visitors", "12,000 visitors"),
        ("1.2M users", "1,200,000 users"),
        ("three billion people", "3bn people"),
        ("the second train", "the 2nd train"),
        ("the first train", "the 1st train"),
        ("one dog", "1 dog"),
        ("World War II", "World War 2"),
        ("half of it", "1/2 of it"),
        ("40 105 mm cannons", "105 mm"),  # one number, or two
        ("August 16,1920", "1920"),
    ],
)
def test_the_value_counts(text, number):
    assert has(text, number)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("twelve apples", "13 apples"),
        ("1,200 visitors", "12K visitors"),
        ("12 million users", "1.2M users"),
        ("the third train", "the 2nd train"),
        ("5 am", "5 pm"),
        ("18:00", "5 pm"),
        ("April 3, 2020", "2020-03-04"),
        ("2020-03-04", "3 March"),  # 03 is the month there
        ("5 May 2020", "4/3/2020"),
    ],
)
def test_another_value_is_not_among_them(text, number):
    assert not has(text, number)


def test_a_text_without_numbers_says_nothing_so():
    assert values_of("no number at all") == frozenset()


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("March 4, 2020", "2020-03-04"),
        ("the fourth of March 2020", "2020/03/04"),
        ("4 March 2020", "04.03.2020"),
        ("March 4, 2020", "3/4/20"),  # month first, and a short year
        ("4 March 2020", "4/3/2020"),  # day first
        ("March 2020", "03/2020"),
        ("1989-02-24", "02"),  # 1989 02 24
    ],
)
def test_a_date_in_figures_is_the_same_in_words(text, number):
    assert has(text, number)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("17:00", "5 pm"),
        ("5 PM", "17:00"),
        ("5:30 p.m.", "17:30"),
        ("5:30 PM", "5:30 pm"),
        ("1700 GMT", "5 pm"),
        ("at noon", "12:00"),
        ("five in the afternoon", "5 pm"),  # a plain five may be its hour
        ("it opens at 5 pm", "5"),
        ("0:30", "12:30 am"),
    ],
)
def test_a_time_is_the_same_on_any_clock(text, number):
    assert has(text, number)


@pytest.mark.parametrize(
    ("text", "beside"),
    [
        ("50 percent", "~percent"),
        ("50 per cent", "~percent"),
        ("50 %", "~percent"),
        ("five euros", "~euro"),
        ("EUR 5", "~euro"),
        ("5 km", "~kilometre"),
        ("five kilometers", "~kilometre"),
        ("On Tues we left", "tue"),
    ],
)
def test_what_stands_beside_a_number_says_what_it_names(text, beside):
    assert beside in values_of(text)


def test_parts_of_an_address_or_a_compound_say_nothing():
    assert not [saying for saying in sayings("see www.one.com and my one-second-rule") if saying.kind == "word"]


@given(st.integers(0, 10**9))
def test_digits_are_among_their_own_values(n):
    assert Decimal(n) in values_of(f"about {n} of them")
    assert Decimal(n) in values_of(f"about {n:,} of them")


@given(st.text(alphabet="0123456789:/.-, aApPmMkKbn%$\u20ac MayTue", max_size=40))
def test_a_text_says_what_it_says(text):
    values = values_of(text)
    assert all(saying.is_among(values) for saying in sayings(text))
