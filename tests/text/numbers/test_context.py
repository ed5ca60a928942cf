"""What a figure is by the words around it."""

import pytest

from nlgauge.text.numbers.context import is_enumerator, precedes_noun
from nlgauge.text.numbers.find import find_numbers


def kinds(text):
    return [(text[n.outer_start : n.outer_end], n.kind) for n in find_numbers(text)]


@pytest.mark.parametrize(
    "text",
    [
        "In 1990 it rained.",
        "Since 1848 it rained.",
        "It rained in May 1848.",
        "The 2008 elections came.",
        "He (born 1952) came.",
        "2016 was wet.",
        "In mid-2015 it rained.",
        "It rained until 2050.",
        "The film (1990) was long.",
        "The winter of 1963 was long.",
        "By 2016 sales rose.",
    ],
)
def test_four_digits_in_the_place_of_a_year_are_one(text):
    assert [n.kind for n in find_numbers(text)] == ["year"]


@pytest.mark.parametrize(
    "text",
    [
        "Some 2000 people came.",
        "A crowd of 1500 people came.",
        "A 1200-page book came.",
        "He ran 1500 metres.",
        "More than 1950 came.",
        "It cost 1999 euros.",
        "They need 2100 boats.",
        "He paid $1990.",
        "It grew by 1,990.",
    ],
)
def test_four_digits_that_count_are_no_year(text):
    assert "year" not in [n.kind for n in find_numbers(text)]


def test_days_and_years_of_a_written_date_are_found_apart():
    assert kinds("On 12 May 2003.") == [("12", "day"), ("2003", "year")]
    assert kinds("On May 12, 2003.") == [("12", "day"), ("2003", "year")]
    assert kinds("on the 3rd of May and on June 4th") == [("3rd", "day"), ("4th", "day")]
    assert kinds("in may 5 boats came, on may 5 none") == [("5", "cardinal"), ("5", "day")]  # a verb or a month


def test_years_joined_to_a_year_are_years():
    assert kinds("in 1905, 1848 and 1789") == [("1905", "year"), ("1848", "year"), ("1789", "year")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Open it", True),
        ("(3) Open it", True),
        ("1.Open it", False),
        ("in 1. Open it", False),
        ("123. Open it", False),
        ("1", False),
    ],
)
def test_the_number_of_a_list_item_stands_where_a_line_begins(text, expected):
    start = next(i for i, c in enumerate(text) if c.isdigit())
    end = start + sum(c.isdigit() for c in text)
    assert is_enumerator(text, start, end) is expected


def test_a_word_in_small_letters_behind_a_figure_may_be_counted():
    assert precedes_noun("5 boats", 1)
    assert not precedes_noun("5 and 6", 1)  # a word of grammar
    assert not precedes_noun("5 Boats", 1)
    assert not precedes_noun("5, boats", 1)


def test_a_decade_of_somebody_is_an_age():
    assert kinds("He is in his 20s.") == [("20s", "ages")]
    assert kinds("It was in the 20s.") == [("20s", "decade")]


def test_a_label_joined_to_a_label_is_one():
    assert kinds("See Nos. 3 and 4.") == [("3", "label"), ("4", "label")]
