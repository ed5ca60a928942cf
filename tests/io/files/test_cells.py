from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.io.files.cells import counted, number, ordinal


@pytest.mark.parametrize("cell", ["", " ", "None", "none", "nan", "NaN", "NA", "null", "None\r"])
def test_what_stands_for_no_number(cell):
    assert math.isnan(number(cell))


@pytest.mark.parametrize(
    ("cell", "value"), [("1", 1.0), ("-0.5", -0.5), ("+.5e-3", 0.0005), ("5.", 5.0), (" 2\r", 2.0), ("1E2", 100.0)]
)
def test_numbers(cell, value):
    assert number(cell) == value


# Python's float() takes every one of these but "0,5", "x" and "1e999"
@pytest.mark.parametrize("cell", ["1_000", "inf", "-Infinity", "١", "0x1p3", "1e999", "0,5", "x", "1 2", "--1"])
def test_what_is_neither_is_refused(cell):
    with pytest.raises(ValueError, match=r"expected a number|too large"):
        number(cell)


def test_a_comma_gets_advice():
    with pytest.raises(ValueError, match=r"^'0,5', expected a number or None; write the decimal mark as a dot$"):
        number("0,5")


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_what_repr_writes_is_the_same_float(value):
    assert number(repr(value)) == value


@pytest.mark.parametrize("cell", ["0", "-1", "1.0", "", "٣", "+1", "x"])
def test_ordinals_count_from_one(cell):
    assert ordinal("12") == 12
    with pytest.raises(ValueError, match="expected a whole number from 1"):
        ordinal(cell)


def test_counts_in_words():
    assert [counted(n, "line") for n in (0, 1, 2)] == ["0 lines", "1 line", "2 lines"]
    assert counted(2, "entry", "entries") == "2 entries"
