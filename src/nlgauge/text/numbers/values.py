"""What the numbers of a text are worth, however they are written: is a number of one text among those of another?"""

from __future__ import annotations

import re
from decimal import Decimal

from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.numbers.number import Number

_DIGITS = re.compile(r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?")
_APART = re.compile(r"(?<=[0-9]) ([.,]) (?=[0-9])")  # 3 , 000, as tokenised texts have it


def values_of(text: str) -> frozenset[Decimal]:
    """The values of all numbers of a text, in digits or in words, with and without their scale and sign.

    Of a date, a time or a label each run of digits counts.
    """
    found: set[Decimal] = set()
    for written in {text, _APART.sub(r"\1", text)}:
        for number in find_numbers(written):
            found |= {value for value in (number.value, number.amount) if value is not None}
            found |= _runs(number) if number.value is None else set()
        found |= {Decimal(digits.replace(",", "")) for digits in _DIGITS.findall(written)}
    return frozenset(found)


def is_among(number: Number, values: frozenset[Decimal]) -> bool:
    """Whether a number has one of the values; of a date, a time or a label, whether each run of digits has."""
    return _runs(number) <= values if number.value is None else bool({number.value, number.amount} & values)


def _runs(number: Number) -> set[Decimal]:
    return {Decimal(digits) for digits in re.findall("[0-9]+", number.figure)}
