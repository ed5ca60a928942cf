"""What is known of one number: its worth, its decimals, what parts its thousands."""

import json
import re
from dataclasses import replace
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.numbers.words import (
    DATED,
    LIMIT,
    MONTH,
    OPAQUE,
    Number,
    currencies,
    currency_before,
    currency_behind,
    neighbours,
    opaque,
    ordinal_suffix,
    parse_ordinal,
    parse_words,
    spell,
    spell_decade,
    spell_fraction,
    spell_ordinal,
    spell_year,
    unit_behind,
    units,
    word_numbers,
)


@pytest.mark.parametrize(("figure", "decimals"), [("1,234.50", 2), ("19,000", 0), ("2,5", 1), ("1.234.567", 0)])
def test_the_digits_behind_the_point_are_counted(figure, decimals):
    (number,) = find_numbers(f"about {figure} of it")
    assert number.decimals == decimals


def test_the_amount_is_figure_times_scale_with_its_sign():
    # 3.2 times a million, below zero
    number = Number(2, 5, 0, 6, "money", "3.2", Decimal("3.2"), sign="-", scale=1_000_000, currency="$")
    assert number.amount == Decimal("-3200000")
    assert replace(number, sign="+").amount == Decimal("3200000")


def test_what_is_left_alone_is_worth_nothing():
    number = opaque("Agent 007 came", 6, 9)
    assert (number.figure, number.kind, number.value, number.amount) == ("007", "code", None, None)
    assert (number.outer_start, number.outer_end, number.decimals) == (6, 9, 0)
    assert opaque("12/05/2003", 0, 10, "date").kind == "date"


def test_a_date_in_figures_is_dated_and_left_alone():
    assert {"date", "time"} == DATED & OPAQUE


GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "number_words.json").read_text(encoding="utf-8"))
whole = st.integers(0, 18).flatmap(lambda digits: st.integers(0, 10**digits - 1))
signed = st.builds(lambda n, sign: n * sign, whole, st.sampled_from([1, -1]))


@pytest.mark.parametrize(
    ("value", "american", "british"),
    [
        (0, "zero", "zero"),
        (13, "thirteen", "thirteen"),
        (40, "forty", "forty"),
        (127, "one hundred twenty-seven", "one hundred and twenty-seven"),
        (600, "six hundred", "six hundred"),
        (2005, "two thousand five", "two thousand and five"),
        (12_345, "twelve thousand three hundred forty-five", "twelve thousand three hundred and forty-five"),
        (1_000_001, "one million one", "one million and one"),
        (250_000_000_000, "two hundred fifty billion", "two hundred and fifty billion"),
        (10**15, "one quadrillion", "one quadrillion"),
        (-4, "minus four", "minus four"),
    ],
)
def test_cardinals_are_spelled_in_both_ways(value, american, british):
    assert spell(value) == american
    assert spell(value, british_and=True) == british


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("2.5", "two point five"),
        ("1.70", "one point seven zero"),
        ("0.05", "zero point zero five"),
        ("-3.14", "minus three point one four"),
    ],
)
def test_decimals_are_read_digit_by_digit_with_the_zeros_they_have(value, words):
    assert spell(Decimal(value)) == words


@pytest.mark.parametrize(
    "value", [LIMIT, -LIMIT, Decimal("NaN"), Decimal("Infinity"), Decimal("1e-50"), Decimal("1e400")]
)
def test_what_has_no_name_is_none(value):
    assert spell(value) is None


def test_the_largest_number_has_a_name():
    assert (spell(LIMIT - 1) or "").startswith("nine hundred ninety-nine quadrillion nine hundred ninety-nine trillion")


@given(value=signed, british=st.booleans())
@example(10**15, True)
def test_a_number_is_read_back_from_its_words(value, british):
    assert parse_words(spell(value, british_and=british)) == value


@given(value=signed, decimals=st.integers(1, 12))
def test_a_decimal_is_read_back_with_its_zeros(value, decimals):
    number = Decimal(value).scaleb(-decimals, None)
    back = parse_words(spell(number))
    assert back == number
    assert back.as_tuple().exponent == -decimals


@given(value=whole, british=st.booleans())
def test_an_ordinal_is_read_back_from_its_words(value, british):
    assert parse_ordinal(spell_ordinal(value, british_and=british)) == value


@given(value=whole)
def test_every_number_has_words_of_its_own_and_no_digits(value):
    words = spell(value)
    assert words == words.lower().strip()
    assert not any(c.isdigit() for c in words)


def test_ordinals_end_in_an_ordinal(cases):
    for value, words in cases:
        assert spell_ordinal(int(value)) == words


def test_there_is_no_ordinal_below_zero_or_beyond_the_names():
    assert spell_ordinal(-1) is None
    assert spell_ordinal(LIMIT) is None


def test_the_suffix_of_an_ordinal_follows_its_last_digits_save_in_the_teens(cases):
    for value, suffix in cases:
        assert ordinal_suffix(int(value)) == suffix


def test_years_are_read_in_pairs(cases):
    for year, words in cases:
        assert spell_year(int(year)) == words


def test_years_of_a_new_millennium_are_read_either_way():
    assert spell_year(2005, style="pairs") == "twenty oh five"
    assert spell_year(2005, british_and=True) == "two thousand and five"
    assert spell_year(2000, style="pairs") == "two thousand"


@pytest.mark.parametrize("year", [999, 10_000, 0, -5])
def test_a_year_has_four_digits(year):
    assert spell_year(year) is None


def test_decades_are_plurals(cases):
    for first, words in cases:
        assert spell_decade(int(first)) == (None if words == "-" else words)


def test_fractions_below_one_are_spelled(cases):
    for above, below, words in cases:
        assert spell_fraction(int(above), int(below)) == (None if words == "-" else words)


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("a hundred", 100),
        ("a dozen", 12),
        ("two dozen", 24),
        ("twelve hundred", 1200),
        ("Twenty One", 21),
        ("two hundred and fifty thousand and six", 250_006),
        ("negative four", -4),
        ("one oh five", None),
        ("three point one four", Decimal("3.14")),
    ],
)
def test_other_forms_than_our_own_are_read(words, value):
    assert parse_words(words) == value


def test_what_is_not_one_number_is_none(cases):
    for words in cases:
        assert parse_words(words) is None


@given(
    st.lists(
        st.sampled_from(
            "a an and one two ten twenty forty hundred thousand million dozen point minus oh zero third - men".split()
        ),
        max_size=8,
    )
)
def test_any_words_are_read_or_refused_without_a_fault(words):
    value = parse_words(" ".join(words))
    assert value is None or value == parse_words(spell(value))
    parse_ordinal(" ".join(words))


@pytest.mark.parametrize(
    ("kind", "spelled"), [("cardinals", spell), ("ordinals", spell_ordinal), ("years", spell_year)]
)
def test_agrees_with_num2words(kind, spelled):
    # it puts commas after thousands and hyphens into years ("nineteen oh-five"); the words are the same
    for value, theirs in GOLDEN[kind]:
        assert spelled(value, british_and=True) == theirs.replace(",", "").replace("oh-", "oh ")


@pytest.mark.parametrize("table", [currencies, units])
def test_every_unit_has_names_without_signs(table):
    for form, unit in table().items():
        assert form == form.strip()
        for name in (unit.one, unit.many, unit.hundredth, unit.hundredths):
            assert re.fullmatch(r"(?:[A-Za-z]+[- ]?)*", name), form
        assert unit.one
        assert unit.many
        assert bool(unit.hundredth) == bool(unit.hundredths), form


def test_a_written_form_names_one_unit():
    for name, table in (("currencies.tsv", currencies()), ("units.tsv", units())):
        rows = files("nlgauge.data").joinpath("language", name).read_text(encoding="utf-8").splitlines()
        forms = [form for row in rows if not row.startswith("# ") for form in row.split("\t")[0].split("|")]
        assert sorted(forms) == sorted(table)
    assert currencies()["$"].many == "dollars"
    assert currencies()["GBP"] == currencies()["£"]
    assert units()["kph"].one == "kilometre per hour"


@pytest.mark.parametrize("text", ["costs $", "costs US$", "costs EUR ", "costs £-", "(Rs. "])
def test_a_currency_is_seen_before_a_figure(text):
    assert currency_before().search(text)


@pytest.mark.parametrize("text", ["costs X$", "Dollar", "a", "Frs. "])
def test_letters_that_belong_to_another_word_are_no_currency(text):
    assert not currency_before().search(text)


@pytest.mark.parametrize("text", [" USD", "€", " €", "$."])
def test_a_currency_is_seen_behind_a_figure(text):
    assert currency_behind().match(text)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("km", "km"),
        (" km", "km"),
        ("-km run", "km"),
        ("km/h", "km/h"),
        (" °C", "°C"),
        ("m²", "m²"),
        (" kg.", "kg"),
        ("p", None),
        ("kilo", None),
        (" m", "m"),
        (" p", None),
    ],
)
def test_the_longest_unit_behind_a_figure_is_taken_and_no_part_of_a_word(text, unit):
    found = unit_behind().match(text)
    assert (found["unit"] if found else None) == unit


def test_coins_touch_their_figure():
    assert unit_behind().match("p each")["coin"] == "p"


@pytest.mark.parametrize("kind", ["named", "label", "counted", "function"])
def test_words_beside_numbers_come_in_kinds(kind):
    assert len(neighbours(kind)) > 50


def test_a_label_or_thing_counted_is_no_function_word():
    assert not neighbours("function") & (neighbours("label") - {"no"} | neighbours("counted") - {"more", "or"})


@pytest.mark.parametrize(
    ("text", "whole"), [("May", True), ("may", False), ("Jan.", True), ("june", True), ("Marching", False)]
)
def test_months_are_told_from_verbs_by_their_capital(text, whole):
    assert (re.fullmatch(MONTH, text) is not None) == whole


def phrases(text):
    return [(text[p.start : p.end], p.kind, int(p.value)) for p in word_numbers(text)]


def test_numbers_in_words_are_read(cases):
    for text, expected in cases:
        assert " | ".join(f"{phrase}: {kind}: {value}" for phrase, kind, value in phrases(text)) == expected


def test_what_is_no_number_of_its_own_is_left(cases):
    for text in cases:
        assert [found for found in phrases(text) if found[0] != "tenth"] == []


def test_the_expression_ends_behind_per_cent_and_knows_its_article():
    (phrase,) = word_numbers("a hundred percent sure")
    assert (phrase.end, phrase.outer_end) == (9, 17)
