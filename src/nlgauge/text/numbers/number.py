"""The properties of a number in a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Kind = Literal[
    "cardinal",
    "ordinal",
    "percent",
    "money",
    "measure",
    "fraction",
    "mixed",
    "year",
    "decade",
    "century",
    "day",
    "score",
    "label",
    "ages",
    "named",
    "date",
    "time",
    "phone",
    "link",
    "feet",
    "enumerator",
    "code",
]
OPAQUE = frozenset(
    {"named", "date", "time", "phone", "link", "feet", "enumerator", "code"}
)  # looked at as a whole, worth nothing
DATED = frozenset({"date", "time", "year", "decade", "century", "day"})


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a text.

    Attributes:
        start, end: offsets of the figure: digits with the separators inside, or the number words.
        outer_start, outer_end: offsets of the whole expression, with sign, currency, scale, unit, per cent, suffix.
        kind: what the number counts or names. Numbers of `OPAQUE` kinds are never changed.
        figure: the text from `start` to `end`.
        value: the value of the figure; None for opaque kinds.
        sign: "", "-" or "+".
        scale: the value of a word such as million: 1000000 in "3 million".
        suffix: the suffix of an ordinal in digits.
        currency, unit: currency and unit as written.
        words: whether the figure is in words.
        range: "first" and "second" in 10-12; "" elsewhere.
        article: whether the figure in words begins with "a" (a hundred).
    """

    start: int
    end: int
    outer_start: int
    outer_end: int
    kind: Kind
    figure: str
    value: Decimal | None = None
    sign: str = ""
    scale: int = 1
    suffix: str = ""
    currency: str = ""
    unit: str = ""
    words: bool = False
    range: Literal["", "first", "second"] = ""
    article: bool = False

    @property
    def amount(self) -> Decimal | None:
        """The value of the whole expression: sign, figure and scale."""
        return None if self.value is None else self.value * self.scale * (-1 if self.sign == "-" else 1)

    @property
    def decimals(self) -> int:
        """The number of digits after the decimal point."""
        exponent = 0 if self.value is None else self.value.as_tuple().exponent
        return max(0, -exponent) if isinstance(exponent, int) else 0

    @property
    def separator(self) -> str:
        """The thousands separator: a comma, a period or a blank; "" if there is none."""
        parted = re.match(r"[0-9]{1,3}([,.\u00a0\u202f\u2009 ])[0-9]{2,3}", self.figure)
        return parted[1] if parted and not (self.decimals and parted.end() > len(self.figure) - self.decimals) else ""


def opaque(text: str, start: int, end: int, kind: Kind = "code") -> Number:
    """A run of characters that is never changed."""
    return Number(start, end, start, end, kind, text[start:end])
