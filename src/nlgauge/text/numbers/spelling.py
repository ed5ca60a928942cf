"""Write out the figures of a text: the words that replace "$1.70", "5 %", "the 3rd", "10-12 km"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.numbers.number import OPAQUE, Number
from nlgauge.text.numbers.repairs import Edit, is_attributive, is_hyphenated, with_article, with_capital
from nlgauge.text.numbers.scan import VULGAR
from nlgauge.text.numbers.tables import LONG_SCALES, MONTH, Unit, currencies, units
from nlgauge.text.numbers.words import YearStyle, spell, spell_decade, spell_fraction, spell_ordinal, spell_year

_AMERICAN = re.compile(
    r"(?i)\b(?:(?:kilo|centi|milli)?meters?|liters?|colors?|centers?|labor|theaters?|favorite|neighbors?|defense)\b"
)
_LEFT = OPAQUE | {"score", "label"}
_SCALE_NAMES = {value: name for name, value in LONG_SCALES.items()}
_OF_MONTH = re.compile(rf"[ \u00a0](?:of[ \u00a0])?(?={MONTH}(?!\w))")
_MONTH_LATER = re.compile(rf"(?: and | or |, | to )[0-9]{{1,2}} {MONTH}(?!\w)")
_THE = re.compile(r"(?i)(?<!\w)the[ \u00a0]$")
_CLOSE_DETERMINER = re.compile(
    r"(?i)(?:(?<!\w)(?:an?|this|that|its|his|her|their|our|each|every|last|next)|['’]s)[ \u00a0]$"
)
_SHORT_FORM = re.compile(r"\.(?=\s+[a-z(])")
_PERIOD_UNITS = frozenset({"min", "mins", "sec", "secs", "hr", "hrs", "ft", "lb", "lbs", "oz", "yd", "yds", "mi"})
_STROKE_BEHIND = re.compile(r" ?/")
_SIGN_BEFORE = re.compile(r"/ ?$|[~<>±≈]$|[#№§] $")
_MIXED = re.compile(r"[ \u00a0-]")


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """How numbers are written out.

    Attributes:
        british_and: write "and", as in "one hundred and twenty-seven".
        money: write $1.70 as "one dollar and seventy cents" or as "one point seven dollars".
        years: "words" or "leave", which also applies to decades.
        year_style: how 2001 to 2009 are written: "two thousand five" or "twenty oh five".
    """

    british_and: bool = False
    money: Literal["cents", "point"] = "cents"
    years: Literal["words", "leave"] = "words"
    year_style: YearStyle = "thousand"


def spelled_numbers(
    text: str, spelling: Spelling | None = None, *, tags: Mapping[int, str] | None = None
) -> list[list[Edit]]:
    """The edits that write out each number in figures, one list per number.

    A list holds the number itself and, before it, "a" or "an" if it changes.

    Dates in figures, times, telephone numbers, versions, designations, scores and labels ("Article 5", "No. 3") are
    left alone.

    Args:
        text: an English text.
        spelling: how numbers are written. If not given, in American style, without "and".
        tags: Penn Treebank tags by the offset at which a word starts. They distinguish "a $5 bill" from "paid $5
            yesterday".
    """
    return _Speller(text, spelling or Spelling(), tags or {}).all()


class _Speller:
    """One text while its numbers are written out."""

    def __init__(self, text: str, spelling: Spelling, tags: Mapping[int, str]) -> None:
        self.text, self.spelling, self.tags = text, spelling, tags
        self.american = _AMERICAN.search(text) is not None
        self.per_cent = "per cent" if "per cent" in text else "percent"

    def all(self) -> list[list[Edit]]:
        numbers = find_numbers(self.text)
        edits: list[Edit] = []
        at = 0
        while at < len(numbers):
            taken, edit = self._one(numbers, at)
            at += taken
            if edit is not None and self._is_free(edit):
                edits.append(edit)
        return [with_article(self.text, edit, edit[0]) for edit in with_capital(self.text, edits)]

    def _is_free(self, edit: Edit) -> bool:
        """A stroke or a sign at either side makes another thing of a number: 5/day, System / 360, ~5."""
        return not _STROKE_BEHIND.match(self.text, edit[1]) and not _SIGN_BEFORE.search(
            self.text, max(0, edit[0] - 2), edit[0]
        )

    def _one(self, numbers: Sequence[Number], at: int) -> tuple[int, Edit | None]:
        """How many of the numbers an edit takes up, and the edit."""
        number = numbers[at]
        following = numbers[at + 1] if at + 1 < len(numbers) else None
        if number.range == "first" and following:
            return 2, self._range(number, following)
        if (
            following
            and following.kind == "fraction"
            and number.kind == "cardinal"
            and self._adjoins(number, following)
        ):
            return 2, self._edit(number.outer_start, following.outer_end, self._mixed(number, following.figure))
        return 1, self._edit(number.outer_start, self._end(number), self._words(number))

    def _adjoins(self, number: Number, fraction: Number) -> bool:
        return (
            not number.words
            and number.figure.isdigit()
            and _MIXED.fullmatch(self.text[number.outer_end : fraction.outer_start]) is not None
        )

    def _range(self, first: Number, second: Number) -> Edit | None:
        """ "ten to twelve million dollars": what stands at one end only belongs to both."""
        shared = first.kind == "money" and second.kind == "cardinal"
        same = (first.kind, first.currency, first.unit) == (second.kind, second.currency, second.unit)
        bare = shared or first.kind == "cardinal" or (same and first.kind in ("money", "percent", "measure"))
        lead = self._spell(first) if bare and first.scale in (1, second.scale) else self._words(first)
        if lead is None:
            return None
        if first.kind == second.kind == "day" and self._month_follows(second) and not self._the(first.outer_start):
            lead = f"the {lead}"
        words = self._words(
            second, lead=f"{lead} to ", currency=first.currency if shared else "", start=first.outer_start
        )
        return self._edit(first.outer_start, self._end(second), words)

    def _edit(self, start: int, end: int, words: str | None) -> Edit | None:
        if not words:
            return None
        hyphen_before = (
            self.text[start - 1 : start] in ("-", "‑") and self.text[max(0, start - 2) : start - 1].isalpha()
        )
        if is_hyphenated(self.text, end) or hyphen_before:
            words = words.replace(" ", "-")
        return start, end, words

    def _end(self, number: Number) -> int:
        """Where a number ends, the period of its unit included where it ends no sentence."""
        return number.outer_end + (
            number.unit in _PERIOD_UNITS and _SHORT_FORM.match(self.text, number.outer_end) is not None
        )

    def _spell(self, number: Number, *, strip: bool = False) -> str | None:
        """Sign and figure alone; `strip`: without trailing zeros of decimals."""
        if number.value is None:
            return None
        value = number.value
        if strip and number.decimals:
            value = value.normalize() if value != value.to_integral_value() else value.to_integral_value()
        words = spell(value, british_and=self.spelling.british_and)
        return words and {"": "", "-": "minus ", "+": "plus "}[number.sign] + words

    def _words(self, number: Number, *, lead: str = "", currency: str = "", start: int | None = None) -> str | None:
        """A number in words; None if it is left unchanged.

        `lead` is the text before the number ("ten to "), `currency` is the currency that the number takes over from
        there, and `start` is the offset at which the whole begins.
        """
        if number.words or number.kind in _LEFT or number.value is None:
            return None
        start = number.outer_start if start is None else start
        if number.currency or currency:
            return self._money(number, currencies()[number.currency or currency], lead, start)
        if number.kind in ("year", "decade", "ages"):
            years = self._years(number)
            return years and lead + years
        if number.kind in ("ordinal", "century", "day"):
            ordinal = self._ordinal(number, lead)
            return ordinal and lead + ordinal
        if number.kind == "fraction":
            part = self._fraction(number.figure)
            return part and lead + part
        if number.kind == "mixed":
            return self._mixed(number, self.text[number.end])
        words = self._spell(number)
        if words is None:
            return None
        words = lead + words + (f" {_SCALE_NAMES[number.scale]}" if number.scale > 1 else "")
        if number.kind == "percent":
            behind = self.text[number.end : number.outer_end]
            return words + (behind if "per" in behind.lower() else f" {self.per_cent}")
        if number.unit:
            return self._measure(words, number, units()[number.unit], bool(lead), start)
        return words

    def _money(self, number: Number, unit: Unit, lead: str, start: int) -> str | None:
        value = abs(number.value or Decimal(0))
        end = self._end(number)
        said_again = re.match(rf"[ \u00a0](?:{unit.many}|{unit.one})\b", self.text[end : end + 30]) is not None
        attributive = is_hyphenated(self.text, end) or (
            not said_again and is_attributive(self.text, start, end, self.tags)
        )
        exact = (
            number.decimals == 2
            and number.scale == 1
            and unit.hundredth
            and not lead
            and self.spelling.money == "cents"
        )
        if exact and value != value.to_integral_value():
            words = self._coins(number, unit, attributive)
        else:
            figure = self._spell(number, strip=True)
            if figure is None:
                return None
            scale = f" {_SCALE_NAMES[number.scale]}" if number.scale > 1 else ""
            one = attributive or (value == 1 and not scale and not lead)
            words = f"{lead}{figure}{scale}" + ("" if said_again else f" {unit.one if one else unit.many}")
        return words.replace(" ", "-") if words and attributive else words

    def _coins(self, number: Number, unit: Unit, attributive: bool) -> str | None:
        """ "one dollar and seventy cents", "seventy cents"."""
        whole, part = divmod(int((number.value or 0) * 100), 100)
        names = []
        for count, one, many in ((whole, unit.one, unit.many), (part, unit.hundredth, unit.hundredths)):
            if count:
                words = spell(count, british_and=self.spelling.british_and)
                if words is None:
                    return None
                names.append(f"{words} {one if count == 1 or attributive else many}")
        return ("minus " if number.sign == "-" else "plus " if number.sign else "") + " and ".join(names)

    def _measure(self, words: str, number: Number, unit: Unit, several: bool, start: int) -> str:
        end = self._end(number)
        attributive = is_hyphenated(self.text, end) or is_attributive(self.text, start, end, self.tags)
        name = unit.one if attributive or (number.value == 1 and not number.decimals and not several) else unit.many
        if self.american:
            name = name.replace("metre", "meter").replace("litre", "liter")
        return f"{words} {name}".replace(" ", "-") if attributive else f"{words} {name}"

    def _years(self, number: Number) -> str | None:
        if self.spelling.years == "leave" and number.kind != "ages":
            return None
        value = int(number.value or 0)
        if number.kind != "year":
            return spell_decade(value)
        if len(number.figure) != 4:
            return spell(value, british_and=self.spelling.british_and)
        return spell_year(value, style=self.spelling.year_style, british_and=self.spelling.british_and)

    def _ordinal(self, number: Number, lead: str) -> str | None:
        value = int(number.value or 0)
        words = spell_ordinal(value, british_and=self.spelling.british_and)
        if words is None or number.kind != "day":
            return words
        follows = self._month_follows(number)
        if not follows:
            return (
                words
                if number.end != number.outer_end or not _MONTH_LATER.match(self.text, number.outer_end)
                else f"the {words}"
            )
        start = number.outer_start
        if _CLOSE_DETERMINER.search(self.text, max(0, start - 8), start):
            return None
        the = "" if lead or self._the(start) else "the "
        return f"{the}{words}{'' if follows[0].strip() else ' of'}"

    def _the(self, start: int) -> bool:
        return _THE.search(self.text, max(0, start - 5), start) is not None

    def _month_follows(self, number: Number) -> re.Match[str] | None:
        return _OF_MONTH.match(self.text, number.outer_end)

    def _fraction(self, figure: str) -> str | None:
        above, below = VULGAR.get(figure) or map(int, figure.split("/"))
        return spell_fraction(above, below)

    def _mixed(self, number: Number, fraction: str) -> str | None:
        """ "two and a half", "one and three quarters"."""
        words, part = self._spell(number), self._fraction(fraction)
        return words and part and f"{words} and {'a half' if part == 'one half' else part}"
