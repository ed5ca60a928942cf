"""What an English text says in numbers, dates, times and units, however written: does another text say it, too?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Literal

from nlgauge.text.doc import HYPHENS
from nlgauge.text.names import name_words
from nlgauge.text.numbers.find import BLANKS, figure_value, find_numbers
from nlgauge.text.numbers.words import MONTHS, SHORT_SCALES, Number, currencies, spell, spell_ordinal, units

Said = frozenset[Decimal | str]  # values; days and months as "mar", times as "17:30", words of units as "~euro"

_DIGITS = re.compile(r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?")
_APART = re.compile(r"(?<=[0-9]) ([.,]) (?=[0-9])")  # 3 , 000, as tokenised texts have it
_WORD = re.compile(r"(?<![\w@/.])[^\W\d_]+(?![\w@/]|\.\w)")
_SHORT = re.compile(rf"[{BLANKS}]?({'|'.join(sorted(SHORT_SCALES, key=len, reverse=True))})(?![\w'’])", re.IGNORECASE)
_HALF = re.compile(rf"[{BLANKS}]?([ap])(?:\.m\.|\.?m(?!\w))", re.IGNORECASE)  # of a day
_MONTH_OF_YEAR = re.compile(r"[0-9]{1,2}/[0-9]{4}")
_LETTERS = 3  # by which a day or a month is told, also where it is cut short: Tue, Tuesday
_MONTHS = tuple(month[:_LETTERS].lower() for month in MONTHS)
_CALENDAR = frozenset(("mon", "tue", "wed", "thu", "fri", "sat", "sun", *_MONTHS))


@dataclass(frozen=True, slots=True)
class Saying:
    """A part of a text that says a number, a date, a time, a day, a month or a unit.

    Attributes:
        start, end: its offsets in the text.
        asks: what it may mean; another text says it, too, if it says all that one of these holds.
        says: what of it other texts are held against.
        kind: `number`; `day`, of the week or a month; or `word`: a scale, a unit, or a number that may be none ("one").
    """

    start: int
    end: int
    asks: tuple[Said, ...]
    says: Said
    kind: Literal["number", "day", "word"]

    def is_among(self, values: Said) -> bool:
        """Whether a text with these values says the same."""
        return any(means <= values for means in self.asks)


def values_of(text: str) -> Said:
    """All that a text says so; a value stands there with and without its scale and sign."""
    written = {text, _APART.sub(r"\1", text)}
    return frozenset().union(*(saying.says for one in written for saying in sayings(one)))


def sayings(text: str) -> list[Saying]:
    """What a text says in numbers, and in words beside them or like them. A day or a month begins with a capital."""
    found = [saying for number in find_numbers(text) for saying in sayings_of(text, number)]
    taken = {place for saying in found for place in range(saying.start, saying.end)}
    for match in _WORD.finditer(text):
        (start, end), word, lower = match.span(), match[0], match[0].lower()
        is_day = word[0].isupper() and lower in name_words("calendar") and lower[:_LETTERS] in _CALENDAR
        means: Said | None = (
            frozenset({lower[:_LETTERS]}) if is_day else _meanings().get(word) or _meanings().get(lower)
        )
        if (
            means
            and start not in taken
            and (is_day or HYPHENS.isdisjoint((text[start - 1 : start], text[end : end + 1])))
        ):
            found.append(Saying(start, end, _each(means), means, "day" if is_day else "word"))
    return found


def sayings_of(text: str, number: Number) -> list[Saying]:
    """A number of a text; then what stands before and behind it, its scale and its unit."""
    value, scale, kind, inner, end = number.value, number.scale, number.kind, number.end, number.outer_end
    half = _HALF.match(text, inner) if kind in ("cardinal", "time") else None
    if half:  # 5 PM
        kind, inner, end = "time", half.end(), half.end()
    elif kind in ("code", "cardinal") and scale == 1 and _DIGITS.fullmatch(number.figure):
        short = _SHORT.match(text, inner)  # 12K, which perturbations leave alone
        if short and (kind == "code" or short[1].isupper()):
            value, scale, end = figure_value(number.figure), SHORT_SCALES[short[1].lower()], short.end()
    runs = re.findall("[0-9]+", number.figure)
    digits: Said = frozenset(Decimal(run.replace(",", "")) for run in _DIGITS.findall(number.figure))
    asks: tuple[Said, ...] = (frozenset(map(Decimal, runs)), frozenset(runs))
    says = digits | asks[0]
    if kind == "time":
        asks, says = _times(text[number.start : inner])
    elif (kind == "date" or _MONTH_OF_YEAR.fullmatch(number.figure)) and (dates := _dates(runs)):
        asks, says = dates, frozenset(runs).union(*dates)
    elif value is not None:
        amount = value * scale * (-1 if number.sign == "-" else 1)
        asks, says = _each((value, amount, f"{value}h")), digits | {value, amount}
    unit = currencies().get(number.currency) or units().get(number.unit)
    words = unit.one.replace("US ", "").split() if unit else ["percent"] if kind == "percent" else []
    more: Said = frozenset({*(f"~{word}" for word in words), *([amount] if value is not None and scale > 1 else [])})
    sides = [(low, high) for low, high in ((number.outer_start, number.start), (inner, end)) if low < high and more]
    beside = [Saying(low, high, (more,), more, "word") for low, high in sides]
    return [Saying(number.start, inner, asks, says, "number"), *beside]


def _each(means: Sequence[Decimal | str] | Said) -> tuple[Said, ...]:
    return tuple(frozenset({one}) for one in means)


def _dates(runs: Sequence[str]) -> tuple[Said, ...]:
    """What a date in figures may mean: 4/3/2020 is in March or in April. Nothing for a year alone or a season."""
    leads = len(runs[0]) == 4
    year, *rest = map(int, runs if leads else [runs[-1], *runs[:-1]])
    return tuple(
        frozenset({_MONTHS[order[0] - 1], *map(Decimal, order[1:]), Decimal(one)})
        for order in ([rest] if leads else [rest, rest[::-1]])
        if order and 1 <= order[0] <= len(MONTHS)
        for one in ([year] if year > 99 else [1900 + year, 2000 + year])
    )


def _times(figure: str) -> tuple[tuple[Said, ...], Said]:
    """What a time asks and says: 5:30 is in the morning or in the afternoon; a plain five may be its hour."""
    hour, *rest = map(int, re.findall("[0-9]{1,2}", figure))
    half, early = _HALF.search(figure), hour % 12
    hours = {early + 12 * (half[1] in "pP")} if half else {hour % 24} if hour > 12 else {early, early + 12}
    times = [f"{one}:{':'.join(map(str, rest)) or 0}" for one in hours]
    plain = frozenset(Decimal(one) for one in (early or 12, *rest) if one)
    return (*_each(times), plain), frozenset({*times, f"{hour}h", f"{early or 12}h"})


@cache
def _meanings() -> Mapping[str, Said]:
    """Word -> what it may mean among numbers, though it need not: a number, an ordinal, a unit."""
    found: dict[str, set[Decimal | str]] = {"noon": {"12:0"}, "midnight": {"0:0"}, "percent": {"~percent"}}
    for n in (*range(20), *range(20, 100, 10)):
        found |= {str(spell(n)): {Decimal(n), f"{n}h"}, str(spell_ordinal(n)): {Decimal(n)}}
    found |= {"once": {Decimal(1)}, "twice": {Decimal(2)}, "half": {Decimal("0.5")}}
    found |= {roman: {Decimal(n)} for n, roman in enumerate("II III IV".split(), 2)}
    for unit in (*currencies().values(), *units().values()):
        for one, many in zip(unit.one.split(), unit.many.split(), strict=True):
            for word in (one, many):
                for form in (word, word.replace("metre", "meter").replace("litre", "liter")):
                    found.setdefault(form, set()).add(f"~{one}")
    return {word: frozenset(means) for word, means in found.items()}
