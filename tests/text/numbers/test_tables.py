import re
from importlib.resources import files

import pytest

from nlgauge.text.numbers.tables import (
    MONTH,
    currencies,
    currency_before,
    currency_behind,
    neighbours,
    unit_behind,
    units,
)


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
