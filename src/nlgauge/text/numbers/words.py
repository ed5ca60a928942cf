"""Convert numbers to English words and back: cardinals, ordinals, years, decades, fractions."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

YearStyle = Literal["thousand", "pairs"]

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_ROUND = "twenty thirty forty fifty sixty seventy eighty ninety"
ONES = _SMALL.split()
TENS = ["", "", *_ROUND.split()]
SCALES = {"quadrillion": 10**15, "trillion": 10**12, "billion": 10**9, "million": 10**6, "thousand": 10**3}
LIMIT = 10**18  # from here on a number has no name in the table

_DIGITS = {word: i for i, word in enumerate(ONES)}
_TENS = {word: 10 * i for i, word in enumerate(TENS) if word}
_IRREGULAR = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_FROM_ORDINAL = {
    **{(_IRREGULAR.get(w) or (w[:-1] + "ieth" if w.endswith("y") else w + "th")): w for w in (*ONES, *_TENS)},
    **{scale + "th": scale for scale in ("hundred", *SCALES)},
}
_ORDINALS = {word: ordinal for ordinal, word in _FROM_ORDINAL.items()}
_LAST_WORD = re.compile(r"[a-z]+$")


def spell(value: Decimal | int, *, british_and: bool = False) -> str | None:
    """The cardinal in words: "one hundred twenty-seven", "minus two point five zero".

    Args:
        value: the number. All its decimals are read digit by digit, including trailing zeros.
        british_and: write "and", as in "one hundred and twenty-seven".

    Returns:
        The words. None if there are none: from 10^18 on, for infinity and NaN, and for more than 40 decimals.
    """
    value = Decimal(value)
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or abs(value) >= LIMIT or not -40 <= exponent <= 18:
        return None
    whole, _, decimals = f"{abs(value):f}".partition(".")
    words = _integer(int(whole), british_and)
    if decimals:
        words += " point " + " ".join(ONES[int(d)] for d in decimals)
    return f"minus {words}" if value < 0 else words


def spell_ordinal(value: int, *, british_and: bool = False) -> str | None:
    """The ordinal in words: "twenty-first"; None below zero and from 10^18 on."""
    if not 0 <= value < LIMIT:
        return None
    return _LAST_WORD.sub(lambda last: _ORDINALS[last[0]], _integer(value, british_and))


def spell_year(year: int, *, style: YearStyle = "thousand", british_and: bool = False) -> str | None:
    """A year as it is read aloud: "nineteen ninety", "nineteen oh five", "eighteen hundred".

    Args:
        year: a year of four digits. For any other number the result is None.
        style: the style of the first nine years of a millennium: "two thousand five", or with "pairs" "twenty oh five".
        british_and: write "and", as in "two thousand and five".
    """
    if not 1000 <= year <= 9999:
        return None
    century, rest = divmod(year, 100)
    if century % 10 == 0 and (rest == 0 or (rest < 10 and style == "thousand")):
        return _integer(year, british_and)
    head = _integer(century, british_and)
    if rest == 0:
        return f"{head} hundred"
    return f"{head} oh {ONES[rest]}" if rest < 10 else f"{head} {_integer(rest, british_and)}"


def spell_decade(first_year: int) -> str | None:
    """A decade in words, by its first year (two or four digits): "nineties", "nineteen nineties", "two thousands"."""
    if first_year % 10 or first_year <= 0:
        return None
    words = _integer(first_year, False) if first_year < 100 else spell_year(first_year)
    if words is None:
        return None
    return words[:-1] + "ies" if words.endswith("y") else words + "s"


def spell_fraction(numerator: int, denominator: int) -> str | None:
    """A fraction below one in words: "one half", "three quarters", "two thirds"; None for any other fraction."""
    if not 0 < numerator < denominator <= 100:
        return None
    if denominator == 2:
        name = "half"
    elif denominator == 4:
        name = "quarter"
    else:
        name = spell_ordinal(denominator) or ""
    return f"{_integer(numerator, False)} {name}{'s' if numerator > 1 else ''}"


def ordinal_suffix(value: int) -> str:
    """The suffix after the digits of an ordinal: st, nd, rd, th."""
    return "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")


def parse_words(words: str) -> Decimal | None:
    """The value of a cardinal in words; None if the words are not one number.

    It reads all forms that `spell` makes, "a" before hundred, thousand and so on, "twelve hundred", "two dozen",
    negative for minus, and any capitals, hyphens or blanks. "nineteen ninety" and "two two" are not one number.
    """
    tokens = words.lower().replace("-", " ").split()
    sign = -1 if tokens[:1] in (["minus"], ["negative"]) else 1
    tokens = tokens[1:] if sign < 0 else tokens
    whole, _, decimals = " ".join(tokens).partition(" point ")
    value = _parsed(whole.split())
    if value is None:
        return None
    if not decimals and "point" not in tokens:
        return Decimal(sign * value)
    digits = [{"oh": 0}.get(d, _DIGITS.get(d, 10)) for d in decimals.split()]
    if not digits or max(digits) > 9:
        return None
    number = Decimal(f"{value}.{''.join(map(str, digits))}")
    return number.copy_negate() if sign < 0 else number


def parse_ordinal(words: str) -> int | None:
    """The value of an ordinal in words; None if the words are not an ordinal."""
    lower = words.lower().strip()
    last = re.split(r"[\s-]", lower)[-1]
    head = lower.removesuffix(last)
    cardinal = _FROM_ORDINAL.get(last)
    value = None if cardinal is None else _parsed(f"{head}{cardinal}".replace("-", " ").split())
    return None if value is None else int(value)


def _integer(value: int, british_and: bool) -> str:
    if value < 20:
        return ONES[value]
    if value < 100:
        tens, ones = divmod(value, 10)
        return f"{TENS[tens]}-{ONES[ones]}" if ones else TENS[tens]
    name, size = ("hundred", 100) if value < 1000 else next((n, s) for n, s in SCALES.items() if s <= value)
    count, rest = divmod(value, size)
    words = f"{_integer(count, british_and)} {name}"
    if not rest:
        return words
    return f"{words} {'and ' if british_and and rest < 100 else ''}{_integer(rest, british_and)}"


def _parsed(tokens: list[str]) -> int | None:
    """The value of a cardinal without sign or decimals: groups below a thousand with falling scales."""
    if tokens[-1:] == ["dozen"]:
        count = 1 if tokens[:-1] in ([], ["a"]) else _parsed(tokens[:-1])
        return None if count is None else 12 * count
    if tokens == ["zero"]:
        return 0
    total, at, above = 0, 0, LIMIT
    while at < len(tokens):
        at += bool(total and tokens[at] == "and")
        count, at = _group(tokens, at)
        scale = SCALES.get(tokens[at], 1) if at < len(tokens) else 1
        if (
            not 0 < count * scale < above
            or scale >= above
            or (scale > 1 and count > 999)
            or (scale == 1 and at < len(tokens))
        ):
            return None
        total += count * scale
        above, at = scale, at + (scale > 1)
    return total or None


def _group(tokens: list[str], at: int) -> tuple[int, int]:
    """A value below a thousand at a place, and the place behind it; 0 if there is none.

    Twelve hundred and the like count, too.
    """
    value, at = _pair(tokens, at)
    if tokens[at : at + 1] != ["hundred"] or not (0 < value < 10 or value % 10):
        return value, at
    rest, after = _pair(tokens, at + 1 + (tokens[at + 1 : at + 2] == ["and"]))
    return (100 * value + rest, after) if rest else (100 * value, at + 1)


def _pair(tokens: list[str], at: int) -> tuple[int, int]:
    """A value below a hundred at a place and the place behind it; 0 if there is none.

    "a" counts as one before hundred and above.
    """
    word = tokens[at] if at < len(tokens) else ""
    after = tokens[at + 1] if at + 1 < len(tokens) else ""
    if word in ("a", "an") and (after == "hundred" or after in SCALES):
        return 1, at + 1
    if word in _TENS:
        ones = _DIGITS.get(after, 10)
        return (_TENS[word] + ones, at + 2) if 0 < ones < 10 else (_TENS[word], at + 1)
    value = _DIGITS.get(word, 0)
    return (value, at + 1) if value else (0, at)
