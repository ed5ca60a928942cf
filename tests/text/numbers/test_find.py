import gzip
import os
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.text.numbers.find import (
    LONGEST,
    VULGAR,
    find_numbers,
    is_attributive,
    is_enumerator,
    is_hyphenated,
    precedes_noun,
    scan,
    with_article,
    with_capital,
)
from nlgauge.text.numbers.words import OPAQUE


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        ("an 8 here", (3, 4, "5"), [(0, 2, "a"), (3, 4, "5")]),
        ("a 5 here", (2, 3, "8"), [(0, 1, "an"), (2, 3, "8")]),
        ("A 5 here", (2, 3, "11"), [(0, 1, "An"), (2, 3, "11")]),
        ("an 8 here", (3, 4, "eight"), [(3, 4, "eight")]),
        ("a 100 here", (2, 5, "one hundred"), [(2, 5, "one hundred")]),
        ("the 8 here", (4, 5, "5"), [(4, 5, "5")]),
        ("vista 8", (6, 7, "5"), [(6, 7, "5")]),
        ("a (8) here", (3, 4, "5"), [(3, 4, "5")]),
        ("an “8” here", (4, 5, "5"), [(0, 2, "a"), (4, 5, "5")]),
    ],
)
def test_an_article_before_a_number_follows_its_sound(text, edit, expected):
    assert with_article(text, edit, edit[0]) == expected


def test_an_article_stands_before_the_sign_of_a_currency():
    assert with_article("an $8 bill", (4, 5, "5"), 3) == [(0, 2, "a"), (4, 5, "5")]


def test_a_sentence_begins_with_a_capital_and_its_middle_does_not():
    text = "8 left. 8 of 8 stayed. “8 came,” he said: “8 went.” 8"
    places = [i for i, c in enumerate(text) if c == "8"]
    edits = with_capital(text, [(i, i + 1, "eight") for i in places])
    assert [new for *_, new in edits] == ["Eight", "Eight", "eight", "Eight", "Eight", "Eight"]


def test_what_trails_off_goes_on():
    assert with_capital("Well... 8 left.", [(8, 9, "eight")]) == [(8, 9, "eight")]


def test_without_tags_a_determiner_and_the_next_word_tell_what_an_amount_describes(cases):
    for text, attributive in cases:
        start = text.index("$")
        assert is_attributive(text, start, start + 2, {}) == (attributive == "yes")


@pytest.mark.parametrize(
    ("text", "tags", "attributive"),
    [
        ("spent $5 money", {9: "NN"}, True),
        ("spent $5 lost", {9: "VBD"}, False),
        ("the $5 lost", {7: "VBN"}, False),
        ("the $5 ride", {7: "VB"}, True),
        ("the $5 fast ride", {7: "JJ", 12: "NN"}, True),
        ("paid $5 fast ride", {8: "JJ", 13: "NN"}, False),
        ("the $5 fast", {7: "JJ"}, False),
    ],
)
def test_tags_tell_better(text, tags, attributive):
    start = text.index("$")
    assert is_attributive(text, start, start + 2, tags) == attributive


@pytest.mark.parametrize(
    ("text", "hyphenated"), [("8-year", True), ("8-", False), ("8- to", False), ("8-9", False), ("8 year", False)]
)
def test_a_hyphen_before_a_letter_binds(text, hyphenated):
    assert is_hyphenated(text, 1) == hyphenated


# --- Where digits stand: figures, and what only looks like figures


def kinds(text):
    return [(text[n.outer_start : n.outer_end], n.kind) for n in find_numbers(text)]


def scanned(text):
    return [(text[item.start : item.end], item.kind) for item in scan(text)]


def test_what_is_no_quantity_is_found_as_a_whole_and_set_aside(cases):
    for text, expression, kind in cases:
        assert kinds(text) == [(expression, kind)]
        assert kind in OPAQUE


def test_runs_with_digits_are_told_apart(cases):
    for text, items in cases:
        assert " | ".join(map(" is ".join, scanned(text))) == items


def test_a_very_long_run_of_digits_is_a_code():
    assert scanned("1" * LONGEST) == [("1" * LONGEST, "figure")]
    assert scanned("1" * (LONGEST + 1)) == [("1" * (LONGEST + 1), "code")]


@given(st.text("0123456789.,:/-–+()@# ½abAB\u00a0'’", max_size=40))
def test_items_stand_in_order_and_hold_every_digit(text):
    items = list(scan(text))
    ends = [0, *(i.end for i in items)]
    assert all(end <= i.start < i.end for end, i in zip(ends, items, strict=False))
    inside = {at for i in items for at in range(i.start, i.end)}
    assert all(at in inside for at, c in enumerate(text) if c in "0123456789")


# --- What a figure is by the words around it


def test_four_digits_in_the_place_of_a_year_are_one(cases):
    for text in cases:
        assert [n.kind for n in find_numbers(text)] == ["year"]


def test_four_digits_that_count_are_no_year(cases):
    for text in cases:
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


# --- Numbers with a dash, a stroke or a colon between them


def test_numbers_with_a_dash_between_are_a_range_or_a_score(cases):
    for text, expected in cases:
        found = [(text[n.outer_start : n.outer_end], n.kind, n.range) for n in find_numbers(text)]
        assert " | ".join(map(": ".join, found)) == expected


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


DATA = os.environ.get("NLGAUGE_DATA")
pieces = st.sampled_from(
    [
        *"0123456789.,:/-–−+%$€£'’\"()[]# \n\u00a0\u202f\u2009½°²٣１a",
        "12",
        "1990",
        "2016",
        "000",
        "st",
        "th",
        "s",
        "km",
        " million",
        "bn",
        "US$",
        "EUR",
        " May ",
        "in ",
        "a ",
        "An ",
        " two",
        " hundred",
        " and ",
        "one ",
        "twenty-",
        "third",
        " dozen",
        "p.m.",
        "COVID-",
        "No. ",
        "won ",
        "percent",
        "\ud800",
        "猫",
    ]
)
texts = st.lists(pieces, max_size=30).map("".join) | st.text(max_size=60)


def test_a_number_is_found_with_what_belongs_to_it(cases):
    for text, expression, kind, figure, amount in cases:
        (number,) = find_numbers(text)
        assert (text[number.outer_start : number.outer_end], number.kind) == (expression, kind)
        assert text[number.start : number.end] == number.figure == figure
        assert number.amount == Decimal(amount)


def test_words_that_only_look_like_numbers_are_none(cases):
    for text in cases:
        assert kinds(text) == []


@given(texts)
@settings(max_examples=4 * settings().max_examples)  # rare combinations of pieces
def test_numbers_of_any_text_stand_in_order_within_their_expressions(text):
    at = 0
    for n in find_numbers(text):
        assert at <= n.outer_start <= n.start < n.end <= n.outer_end <= len(text)
        assert text[n.start : n.end] == n.figure
        assert n.words or n.figure in VULGAR or any(c in "0123456789" for c in n.figure) or n.kind in OPAQUE
        assert n.value is None or n.value.is_finite()
        at = n.outer_end


@given(texts)
def test_blanks_around_a_text_change_nothing_but_offsets(text):
    found = [(n.figure, n.kind, n.start) for n in find_numbers(text)]
    assert [(n.figure, n.kind, n.start - 1) for n in find_numbers(f"\n{text}\n")] == found


def test_a_very_long_text_is_read_in_linear_time(cases):
    for unit in cases:
        # time that grew with the square of the text would keep this test busy for minutes
        numbers = find_numbers(unit * (4_000 // len(unit)))
        assert all(a.outer_end <= b.outer_start for a, b in pairwise(numbers))


@pytest.mark.skipif(not DATA, reason="NLGAUGE_DATA is not set")
def test_most_numbers_of_news_are_read_as_quantities():
    """Of the figures in 3,000 lines of news at most one in seven is a date in figures, a time, a name or a code."""
    with gzip.open(Path(DATA) / "raw" / "news.en.txt.gz", "rt", encoding="utf-8") as lines:
        found = [n for line in list(lines)[:3000] for n in find_numbers(line) if not n.words]
    assert len(found) > 500
    assert sum(n.kind in OPAQUE for n in found) < len(found) / 7


def test_a_lost_sign_of_a_currency_leaves_the_value():
    # "# 3,500" is not written out, but it is still three thousand five hundred, which other texts are held against.
    (number,) = find_numbers("bonuses of # 3,500 each")
    assert number.value == 3500
