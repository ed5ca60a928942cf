"""Words around numbers in English: currencies, units, months, names that end in a number."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from nlgauge.text.numbers.words import SCALES
from nlgauge.text.wordlists import data_lines


@dataclass(frozen=True)
class Unit:
    """A unit or a currency: the names of one and of several.

    A currency also has the names of its hundredth part, "" if it has none.
    """

    one: str
    many: str
    hundredth: str = ""
    hundredths: str = ""


SHORT_SCALES = {
    "k": 10**3,
    "m": 10**6,
    "mn": 10**6,
    "mln": 10**6,
    "mio": 10**6,
    "bn": 10**9,
    "b": 10**9,
    "bln": 10**9,
    "tn": 10**12,
    "trn": 10**12,
}
CLEAR_SCALES = ("bn", "mn", "mln", "bln", "trn")  # short forms that are read as scales without a currency
COINS = ("p", "c")
LONG_SCALES = {**SCALES, "hundred": 100}

MONTHS = tuple("January February March April May June July August September October November December".split())
_SMALL = "|".join(m.lower() for m in MONTHS if m not in ("March", "May"))
# Texts without capitals are read, too; march and may are verbs unless "on" stands before them.
MONTH = (
    rf"(?:{'|'.join(MONTHS)}|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\b\.?|{_SMALL}|(?<=\bon"
    r" )(?:march|may))"
)


@cache
def neighbours(kind: str) -> frozenset[str]:
    """Words beside numbers by what they make of them: named, label, counted, function."""
    return frozenset(dict(_rows("number_neighbours.tsv"))[kind][0].split())


@cache
def currencies() -> dict[str, Unit]:
    """Written form ("$", "US$", "EUR") -> names."""
    return _table("currencies.tsv")


@cache
def units() -> dict[str, Unit]:
    """Written form ("km", "°C") -> names, British spelling."""
    return _table("units.tsv")


@cache
def currency_codes() -> frozenset[str]:
    """The written forms that are letters alone."""
    return frozenset(form for form in currencies() if form.isalpha() and form.isupper())


@cache
def currency_before() -> re.Pattern[str]:
    """Ends where a figure begins: sign and currency, in either order."""
    forms = _alternatives(currencies())
    return re.compile(rf"(?<![\w$])(?P<currency>{forms})[ \u00a0\u202f]?(?P<sign>[-−+])?$")


@cache
def currency_behind() -> re.Pattern[str]:
    """Begins where a figure, or its scale, ends: a currency."""
    return re.compile(rf"[ \u00a0\u202f]?(?P<currency>{_alternatives(currencies())})(?![\w$])")


@cache
def unit_behind() -> re.Pattern[str]:
    """Begins where a figure ends: a unit; p and c, the coins, only where they touch the figure."""
    forms = [form for form in units() if form not in COINS]
    coins = "|".join(COINS)
    return re.compile(
        rf"(?P<coin>(?:{coins})(?!\w))|[ \u00a0\u202f-]?(?P<unit>{_alternatives(forms)})(?![\w/'’²³]|(?<=["
        r" \d][a-zA-Z])-)"
    )


def _alternatives(forms: Iterable[str]) -> str:
    return "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))


def _table(name: str) -> dict[str, Unit]:
    return {form: Unit(*names) for forms, names in _rows(name) for form in forms.split("|")}


def _rows(name: str) -> Iterator[tuple[str, list[str]]]:
    for line in data_lines(name):
        first, *rest = line.split("\t")
        yield first, rest
