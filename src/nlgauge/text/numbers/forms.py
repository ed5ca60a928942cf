"""The form of a number: its digits without separators, other digits in the same form, and the choices there are."""

from __future__ import annotations

import math
import random
import re
from decimal import Decimal

from nlgauge.text.numbers.number import DATED, Number
from nlgauge.text.numbers.repairs import Edit
from nlgauge.text.numbers.scan import VULGAR
from nlgauge.text.numbers.words import ordinal_suffix, spell, spell_ordinal

Digits = str  # all digits of a figure, without separators: what two figures of one value have in common

_ORDINAL_KINDS = ("ordinal", "century", "day")
_PART = re.compile(r"[0-9]+")
_YEAR_INSIDE = re.compile(r"(?<![0-9])(?:1[1-9]|20)[0-9]{2}(?![0-9])")


def number_class(number: Number) -> str:
    """Numbers of one class and the same digits become the same: 5 and five, not 5 and the 5th."""
    if _is_dozen(number):
        return "dozen"
    if number.kind in ("date", "year"):
        return "year"
    return (
        number.kind
        if number.kind in DATED or number.kind in ("fraction", "ages", "ordinal")
        else f"plain{number.decimals}"
    )


def digits_of(number: Number) -> Digits:
    """The digits that can be drawn again.

    Of a date these are its year ("" without one), of dozens how many, of a fraction the figure itself.
    """
    if number.kind == "fraction":
        return number.figure
    if number.kind == "date":
        years = _YEAR_INSIDE.findall(number.figure) if len(_PART.findall(number.figure)) == 3 else []
        return years[0] if len(years) == 1 else ""
    if _is_dozen(number):
        return str(int(number.value or 0) // 12)
    if number.words:
        return f"{number.value:f}".replace(".", "")
    return re.sub(r"[^0-9]", "", number.figure)


def worth(number: Number, digits: Digits) -> Decimal:
    """The value of the figure with other digits."""
    return Decimal(int(digits) * (12 if _is_dozen(number) else 1)).scaleb(-number.decimals)


def zeros_around(digits: Digits) -> tuple[int, int]:
    """How many zeros digits begin and end with."""
    return len(digits) - len(digits.lstrip("0")), len(digits) - len(digits.rstrip("0"))


def redrawn(old: Digits, rng: random.Random) -> Digits:
    """Other digits; zeros at the beginning and at the end stay, and no others come there."""
    if not old.strip("0"):
        return str(rng.randint(2, 9)) if len(old) == 1 else old
    first, last = len(old) - len(old.lstrip("0")), len(old.rstrip("0")) - 1
    return "".join(str(rng.randint(i in (first, last), 9)) if first <= i <= last else "0" for i in range(len(old)))


def choices(number: Number) -> list[Digits] | None:
    """All digits a number may get where its kind leaves but few; None where it leaves any."""
    digits = digits_of(number)
    kind = number.kind
    if _is_dozen(number):
        return list("23456789")
    if kind == "fraction":
        return _fractions(digits)
    value = int(digits) if kind != "percent" else 0
    if kind in ("year", "date") and len(digits) == 4:
        century = value // 100 * 100
        return [str(y) for y in range(century, century + (30 if 2000 <= value < 2030 else 100))]
    if kind == "decade" and len(digits) == 4:
        century = value // 100 * 100
        return [str(y) for y in range(century, century + (30 if 2000 <= value < 2030 else 100), 10)]
    if kind in ("decade", "ages"):
        return [str(y) for y in range(20, 100, 10)]
    if kind == "century":
        return [str(c) for c in (range(2, 10) if len(digits) == 1 else range(11, 22))]
    if kind == "day":
        return [str(d) for d in (range(1, 10) if len(digits) == 1 else range(10, 29))]
    if (
        kind == "percent" and number.scale == 1 and number.value == 100
    ):  # no other number of three digits is as plausible
        return [f"{tens}0" + "0" * number.decimals for tens in range(1, 10)]
    return None


def _fractions(figure: str) -> list[str]:
    if figure in VULGAR:
        return [f for f in VULGAR if f != figure]
    above, below = figure.split("/")
    proper = [
        (a, b)
        for b in (2, 3, 4, 5, 6, 8, *range(10, 21), 32)
        for a in range(1, b)
        if math.gcd(a, b) == 1 and (b < 10 or a == 1)
    ]
    return [f"{a}/{b}" for a, b in proper if (len(str(a)), len(str(b))) == (len(above), len(below))]


def _is_dozen(number: Number) -> bool:
    return number.words and number.figure.lower().endswith("dozen")


def written(number: Number, digits: Digits) -> str:
    """The figure with other digits, in the form it had: separators, words, capitals."""
    if number.kind == "fraction":
        return digits
    if number.kind == "date":
        return _YEAR_INSIDE.sub(digits, number.figure)
    if number.words:
        return _in_words(number, digits)
    if len(digits) < len(re.sub(r"[^0-9]", "", number.figure)):  # 100 % became 40 %
        return (
            digits
            if not number.decimals
            else f"{digits[: -number.decimals]}{number.figure[-number.decimals - 1]}{digits[-number.decimals :]}"
        )
    fresh = iter(digits)
    return "".join(next(fresh) if c in "0123456789" else c for c in number.figure)


def _in_words(number: Number, digits: Digits) -> str:
    figure = number.figure
    value = worth(number, digits)
    words: str | None
    if _is_dozen(number):
        words = f"{spell(int(digits))} dozen"
    elif number.kind in _ORDINAL_KINDS:
        words = spell_ordinal(int(value), british_and=" and " in figure)
    else:
        words = spell(value, british_and=" and " in figure)
    words = words or figure
    if " " in figure and "-" not in figure:
        words = words.replace("-", " ")
    elif "-" in figure and " " not in figure:
        words = words.replace(" ", "-")
    if figure.isupper():
        return words.upper()
    return words.capitalize() if figure[:1].isupper() else words


def edit_to(number: Number, digits: Digits) -> Edit | None:
    """The edit that puts other digits into a figure, the suffix of an ordinal with them; None where nothing changes."""
    new, end = written(number, digits), number.end
    if number.kind in _ORDINAL_KINDS and not number.words and number.outer_end > end:
        suffix = ordinal_suffix(int(digits))
        new, end = new + (suffix.upper() if number.suffix.isupper() else suffix), number.outer_end
    return (number.start, end, new) if new != number.figure else None
