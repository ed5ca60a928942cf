"""Numbers with a dash, a stroke or a colon between them."""

from decimal import Decimal

import pytest

from nlgauge.text.numbers.find import find_numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10-12 people", [("10", "cardinal", "first"), ("12", "cardinal", "second")]),
        ("10–12%", [("10", "cardinal", "first"), ("12%", "percent", "second")]),
        ("$10-12 million", [("$10", "money", "first"), ("12 million", "cardinal", "second")]),
        ("from 1990-1995", [("1990", "year", "first"), ("1995", "year", "second")]),
        ("between 10 and 12", [("10", "cardinal", ""), ("12", "cardinal", "")]),
        ("won 2-1", [("2", "score", ""), ("1", "score", "")]),
        ("won 1-2", [("1", "score", ""), ("2", "score", "")]),
        ("it ended 2 : 0 , they say", [("2", "score", ""), ("0", "score", "")]),
        ("at 5: 30 people", [("5", "cardinal", ""), ("30", "cardinal", "")]),
        ("15th to 18th May", [("15th", "day", ""), ("18th", "day", "")]),
        ("a 3:2 win", [("3", "score", ""), ("2", "score", "")]),
        ("a 4-4-2 line", [("4-4-2", "code", "")]),
    ],
)
def test_numbers_with_a_dash_between_are_a_range_or_a_score(text, expected):
    assert [(text[n.outer_start : n.outer_end], n.kind, n.range) for n in find_numbers(text)] == expected


@pytest.mark.parametrize(
    ("text", "worth"),
    [("1/2", Decimal("0.5")), ("3/4", Decimal("0.75")), ("1/20", Decimal("0.05")), ("5/8", Decimal("0.625"))],
)
def test_small_fractions_are_worth_their_quotient(text, worth):
    (number,) = find_numbers(f"It takes {text} of it.")
    assert (number.kind, number.figure, number.amount) == ("fraction", text, worth)


@pytest.mark.parametrize("text", ["24/7", "9/11", "3/2", "2/7", "0/2", "1/21"])
def test_other_numbers_with_a_stroke_are_no_fractions(text):
    (number,) = find_numbers(f"It takes {text} of it.")
    assert (number.kind, number.amount) == ("code", None)


def test_a_range_ends_higher_than_it_begins():
    assert [n.range for n in find_numbers("12-14 boats")] == ["first", "second"]
    assert [(n.kind, n.range) for n in find_numbers("1400-1200 boats")] == [("code", "")]
