"""Where digits stand: figures, and what only looks like figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.numbers.number import OPAQUE
from nlgauge.text.numbers.scan import LONGEST, scan


def kinds(text):
    return [(text[n.outer_start : n.outer_end], n.kind) for n in find_numbers(text)]


def scanned(text):
    return [(text[item.start : item.end], item.kind) for item in scan(text)]


@pytest.mark.parametrize(
    ("text", "expression", "kind"),
    [
        ("It was 12/05/2003 then.", "12/05/2003", "date"),
        ("It was 2003-05-12 then.", "2003-05-12", "date"),
        ("The season 2015-16 was long.", "2015-16", "date"),
        ("The season 2015/16 was long.", "2015/16", "date"),
        ("He came at 10:30 sharp.", "10:30", "time"),
        ("He came at 5pm sharp.", "5pm", "time"),
        ("He came at 5 p.m. sharp.", "5 p.m.", "time"),
        ("He came at 5 o’clock sharp.", "5 o’clock", "time"),
        ("He came at 20.00 CET sharp.", "20.00 CET", "time"),
        ("Open 5-7pm only.", "5-7pm", "time"),
        ("He came at 23: 30 and left.", "23: 30", "time"),
        ("He came at 10 : 30 .", "10 : 30", "time"),
        ("Call +44 20 7946 0958 now.", "+44 20 7946 0958", "phone"),
        ("Call (212) 555-0199 now.", "(212) 555-0199", "phone"),
        ("Call 020 7946 0958 now.", "020 7946 0958", "phone"),
        ("Take version 2.0.1 of it.", "2.0.1", "code"),
        ("Take iOS 12 for it.", "12", "named"),
        ("A Boeing 747 landed.", "747", "named"),
        ("An A380 landed.", "A380", "code"),
        ("A B-52 landed.", "52", "named"),
        ("Then Covid-19 came.", "19", "named"),
        ("They live at 10 Green Street.", "10", "named"),
        ("They met on 5th Avenue.", "5th", "named"),
        ("It is open 24/7 here.", "24/7", "code"),
        ("After 9/11 it changed.", "9/11", "code"),
        ("It is 50-50 now.", "50-50", "code"),
        ("He is 5'10\" tall.", "5'10\"", "feet"),
        ("He is 5ft 11in tall.", "5ft 11in", "feet"),
        ("Agent 007 came.", "007", "code"),
        ("It is 1e6 now.", "1e6", "code"),
        ("It says so [12].", "12", "code"),
        ("See http://a.org/5 there.", "http://a.org/5", "link"),
        ("1. Open the box", "1", "enumerator"),
        ("2) Close the box", "2", "enumerator"),
    ],
)
def test_what_is_no_quantity_is_found_as_a_whole_and_set_aside(text, expression, kind):
    assert kinds(text) == [(expression, kind)]
    assert kind in OPAQUE


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("1,234.5 and .5", [("1,234.5", "figure"), (".5", "figure")]),
        ("12,34,567 and 1.234.567", [("12,34,567", "figure"), ("1.234.567", "figure")]),
        ("10 000 boats", [("10 000", "figure")]),
        ("10 0000 boats", [("10", "figure"), ("0000", "figure")]),
        ("USD100 and Rs5", [("100", "figure"), ("5", "figure")]),  # a currency is no part of the figure
        ("2½ days", [("2", "figure"), ("½", "vulgar")]),
        ("mp3, 2.0.1 and 1e6", [("mp3", "code"), ("2.0.1", "code"), ("1e6", "code")]),
        ("a@b.org, #5", [("a@b.org", "link"), ("#5", "link")]),
        ("on 1/2/2003 at 10:30", [("1/2/2003", "date"), ("10:30", "time")]),
        ("١٢ and 五", []),
    ],
)
def test_runs_with_digits_are_told_apart(text, items):
    assert scanned(text) == items


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
