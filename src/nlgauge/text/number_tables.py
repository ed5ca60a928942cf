"""What stands around numbers in English: currencies, units, months, names that end in a number. Read when first asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nlgauge.text.number_words import SCALES


@dataclass(frozen=True)
class Unit:
    """A unit or a currency: what one of it and several are called, and for a currency its hundredth part ("" where it has none)."""

    one: str
    many: str
    hundredth: str = ""
    hundredths: str = ""


SHORT_SCALES = {"k": 10**3, "m": 10**6, "mn": 10**6, "mln": 10**6, "mio": 10**6, "bn": 10**9, "b": 10**9, "bln": 10**9, "tn": 10**12, "trn": 10**12}
CLEAR_SCALES = ("bn", "mn", "mln", "bln", "trn")  # short forms that are read as scales without a currency
COINS = ("p", "c")
LONG_SCALES = {**SCALES, "hundred": 100}

MONTHS = "January February March April May June July August September October November December".split()
MONTH = rf"(?:{'|'.join(MONTHS)}|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\b\.?)"

# A number behind one of these belongs to a name or a designation: neither another number nor words can take its place.
NAMERS = frozenset("""
    iOS Android Windows macOS Ubuntu iPhone iPad Galaxy Pixel PlayStation Xbox Python Java Firefox Chrome Office HTML USB Bluetooth Boeing Airbus
    Tupolev Antonov Embraer Bombardier Cessna Concorde Porsche Peugeot Ferrari Fiat Mazda Audi BMW Apollo Soyuz Falcon Ariane Sputnik Voyager
    Pioneer Gemini Vostok Luna Flight Room Suite Route Highway Interstate Motorway Channel Radio BBC Fortune FTSE CAC DAX Nikkei Nasdaq Russell
    Stoxx SDAX MDAX TecDAX S&P Top Formula Catch Area Studio Pier Terminal Hangar Platform Gate Bus Tram Polo Golf Ford Mark Type Class Model Series
    Version version ver ver. v build Psalm Agenda Horizon Expo Storage Warehouse Unit Squad Battalion Regiment Division Box Apartment Apt Apt. postcode
    ZIP zip code Code PIN ISO DIN ISBN ISSN DOI
""".split())  # fmt: skip
# A number behind one of these may be another one; with a capital it stays in digits.
LABELS = frozenset("""
    article articles art art. chapter chapters section sections rule rules page pages p p. pp pp. paragraph paragraphs para para. number numbers
    no no. nos nos. nr nr. n° figure figures fig fig. table tables line lines item items question questions point annex appendix title volume vol vol.
    amendment amendments resolution directive regulation recital protocol act grade level phase stage step day week group pool pillar part episode
    season verse track lesson exercise note footnote category zone district ward lot hole round lap game
""".split())  # fmt: skip
# A number in the range of years that is followed by one of these, or by a unit, counts things.
COUNTED = frozenset("""
    people persons men women children workers employees jobs soldiers troops civilians victims refugees migrants students pupils patients
    residents inhabitants visitors passengers members delegates voters votes fans spectators guests participants police officers dollars euros pounds
    cents francs yen rubles roubles miles kilometres kilometers metres meters feet yards inches acres hectares tonnes tons kilos kilograms grams
    litres liters gallons barrels watts megawatts calories degrees points seats copies units homes houses houses families households cases
    deaths times words pages hours minutes seconds days years weeks months other more or
""".split())  # fmt: skip


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
    return re.compile(rf"(?P<coin>(?:{coins})(?!\w))|[ \u00a0\u202f-]?(?P<unit>{_alternatives(forms)})(?![\w/'’²³]|(?<=[ \d][a-zA-Z])-)")


def _alternatives(forms: object) -> str:
    return "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))  # type: ignore[call-overload]


def _table(name: str) -> dict[str, Unit]:
    table = {}
    for line in files("nlgauge.data").joinpath("language", name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("# "):
            forms, *names = line.split("\t")
            table.update(dict.fromkeys(forms.split("|"), Unit(*names)))
    return table
