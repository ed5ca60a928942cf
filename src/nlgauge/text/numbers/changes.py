"""Numbers of a text changed: written out in words, or replaced by others of the same form."""

from __future__ import annotations

import math
import random
import re
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from decimal import Decimal
from typing import Literal

from nlgauge.text.doc import HYPHENS
from nlgauge.text.lexicon import article_before
from nlgauge.text.numbers.find import (
    VULGAR,
    Edit,
    find_numbers,
    is_attributive,
    is_hyphenated,
    with_article,
    with_capital,
)
from nlgauge.text.numbers.words import (
    DATED,
    LONG_SCALES,
    MONTH,
    OPAQUE,
    Number,
    Unit,
    YearStyle,
    currencies,
    neighbours,
    ordinal_suffix,
    spell,
    spell_decade,
    spell_fraction,
    spell_ordinal,
    spell_year,
    units,
)

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
    own = number.kind in DATED or number.kind in ("fraction", "ages", "ordinal")
    return number.kind if own else f"plain{number.decimals}"


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
    if kind in ("year", "date", "decade") and len(digits) == 4:
        value, century = int(digits), int(digits) // 100 * 100
        end = century + (30 if 2000 <= value < 2030 else 100)
        return [str(y) for y in range(century, end, 10 if kind == "decade" else 1)]
    if kind in ("decade", "ages"):
        return [str(y) for y in range(20, 100, 10)]
    if kind == "century":
        return [str(c) for c in (range(2, 10) if len(digits) == 1 else range(11, 22))]
    if kind == "day":
        return [str(d) for d in (range(1, 10) if len(digits) == 1 else range(10, 29))]
    if kind == "percent" and number.scale == 1 and number.value == 100:  # no other of three digits is as plausible
        return [f"{tens}0" + "0" * number.decimals for tens in range(1, 10)]
    return None


def _fractions(figure: str) -> list[str]:
    if figure in VULGAR:
        return [f for f in VULGAR if f != figure]
    above, below = figure.split("/")
    pairs = ((a, b) for b in (2, 3, 4, 5, 6, 8, *range(10, 21), 32) for a in range(1, b))
    proper = [(a, b) for a, b in pairs if math.gcd(a, b) == 1 and (b < 10 or a == 1)]
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
        cut = len(digits) - number.decimals
        return f"{digits[:cut]}{number.figure[-number.decimals - 1]}{digits[cut:]}" if number.decimals else digits
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


# --- Write out the figures of a text: the words that replace "$1.70", "5 %", "the 3rd", "10-12 km"

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


def spelled_numbers(
    text: str,
    *,
    tags: Mapping[int, str] | None = None,
    british_and: bool = False,
    money: Literal["cents", "point"] = "cents",
    years: Literal["words", "leave"] = "words",
    year_style: YearStyle = "thousand",
) -> list[list[Edit]]:
    """The edits that write out each number in figures, one list per number: "a" or "an" if it changes, and the number.

    Dates in figures, times, telephone numbers, versions, designations, scores and labels ("Article 5", "No. 3") are
    left alone. Options are those of the perturbation `numbers_to_words`; `tags` are Penn Treebank tags by the offset at
    which a word starts, which tell "a $5 bill" from "paid $5 yesterday".
    """
    return _Speller(text, tags or {}, british_and, money == "cents", years == "words", year_style).all()


class _Speller:
    """One text while its numbers are written out."""

    def __init__(
        self, text: str, tags: Mapping[int, str], british_and: bool, cents: bool, years: bool, year_style: YearStyle
    ) -> None:
        self.text, self.tags = text, tags
        self.british_and, self.cents, self.years, self.year_style = british_and, cents, years, year_style
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
        sign = _SIGN_BEFORE.search(self.text, max(0, edit[0] - 2), edit[0])
        return not sign and not _STROKE_BEHIND.match(self.text, edit[1])

    def _one(self, numbers: Sequence[Number], at: int) -> tuple[int, Edit | None]:
        """How many of the numbers an edit takes up, and the edit."""
        number = numbers[at]
        following = numbers[at + 1] if at + 1 < len(numbers) else None
        if number.range == "first" and following:
            return 2, self._range(number, following)
        if following and following.kind == "fraction" and self._adjoins(number, following):
            return 2, self._edit(number.outer_start, following.outer_end, self._mixed(number, following.figure))
        return 1, self._edit(number.outer_start, self._end(number), self._words(number))

    def _adjoins(self, number: Number, fraction: Number) -> bool:
        if number.kind != "cardinal" or number.words or not number.figure.isdigit():
            return False
        return _MIXED.fullmatch(self.text[number.outer_end : fraction.outer_start]) is not None

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
        currency = first.currency if shared else ""
        words = self._words(second, lead=f"{lead} to ", currency=currency, start=first.outer_start)
        return self._edit(first.outer_start, self._end(second), words)

    def _edit(self, start: int, end: int, words: str | None) -> Edit | None:
        if not words:
            return None
        hyphen_before = self.text[start - 1 : start] in HYPHENS and self.text[max(0, start - 2) : start - 1].isalpha()
        if is_hyphenated(self.text, end) or hyphen_before:
            words = words.replace(" ", "-")
        return start, end, words

    def _end(self, number: Number) -> int:
        """Where a number ends, the period of its unit included where it ends no sentence."""
        short = number.unit in _PERIOD_UNITS and _SHORT_FORM.match(self.text, number.outer_end)
        return number.outer_end + bool(short)

    def _spell(self, number: Number, *, strip: bool = False) -> str | None:
        """Sign and figure alone; `strip`: without trailing zeros of decimals."""
        if number.value is None:
            return None
        value = number.value
        if strip and number.decimals:
            value = value.normalize() if value != value.to_integral_value() else value.to_integral_value()
        words = spell(value, british_and=self.british_and)
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
        attributive = not said_again and is_attributive(self.text, start, end, self.tags)
        attributive |= is_hyphenated(self.text, end)
        exact = number.decimals == 2 and number.scale == 1 and not lead
        if exact and unit.hundredth and self.cents and value != value.to_integral_value():
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
                words = spell(count, british_and=self.british_and)
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
        if not self.years and number.kind != "ages":
            return None
        value = int(number.value or 0)
        if number.kind != "year":
            return spell_decade(value)
        if len(number.figure) != 4:
            return spell(value, british_and=self.british_and)
        return spell_year(value, style=self.year_style, british_and=self.british_and)

    def _ordinal(self, number: Number, lead: str) -> str | None:
        value = int(number.value or 0)
        words = spell_ordinal(value, british_and=self.british_and)
        if words is None or number.kind != "day":
            return words
        follows = self._month_follows(number)
        if not follows:
            later = number.end == number.outer_end and _MONTH_LATER.match(self.text, number.outer_end)
            return f"the {words}" if later else words
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


# --- Replace numbers of a text by others of the same form, with as many digits, separators, decimals and final zeros

_TRIES = 64
_JOINED = re.compile(
    r"\s*(?:[-–—:/]|to|and|or|but|in(?: every)?|(?:out )?of(?: the| its| his| her| their| all)?)\s*", re.IGNORECASE
)
_NOUN = re.compile(r"[ \u00a0]([a-z]+)")
_AN = re.compile(r"(?i)(?<![\w'’.-])an?[ \u00a0]\W?$")


def changed_numbers(
    text: str,
    rng: random.Random,
    *,
    skip_dates: bool = False,
    band: tuple[float, float] | None = None,
    in_words: bool = True,
) -> list[list[Edit]]:
    """The edits that change each number, one list per number: the number itself, and "a" or "an" before it.

    Equal numbers stay equal, and the numbers of a pair keep their order (10-12, from 1990 to 1995, 2-1). A percentage
    up to 100 stays at most 100, a year stays in its century, and no number becomes 1. Times, telephone numbers,
    versions, designations, numbers in names, and 1 before a counted noun are left alone, and so is a number if there is
    no other number of its form.

    Args:
        skip_dates: leave years, decades, centuries, days of months and dates in figures unchanged.
        band: the smallest and the largest relative change, such as (0.1, 0.5) for a tenth to a half. It does not apply
            to dates. None allows any change.
        in_words: also change numbers that are written in words.
    """
    drawer = _Drawer(text, rng, skip_dates, band, in_words)
    groups = []
    for run in drawer.runs():
        for number, new in drawer.drawn(run):
            edit = edit_to(number, new)
            if edit is not None:
                groups.append(with_article(text, edit, number.outer_start))
    return groups


class _Drawer:
    """New digits for the numbers of one text."""

    def __init__(
        self, text: str, rng: random.Random, skip_dates: bool, band: tuple[float, float] | None, in_words: bool
    ) -> None:
        self.text, self.rng = text, rng
        self.skip_dates, self.band, self.in_words = skip_dates, band, in_words
        self.known: dict[tuple[str, Digits], Digits] = {}

    def runs(self) -> Iterator[list[Number]]:
        """The numbers that can be changed. The numbers of a pair are kept together."""
        run: list[Number] = []
        for number in filter(self._can_change, find_numbers(self.text)):
            joined = run and _JOINED.fullmatch(self.text[run[-1].outer_end : number.outer_start])
            if run and not (joined and _family(run[-1]) == _family(number)):
                yield run
                run = []
            run.append(number)
        if run:
            yield run

    def drawn(self, run: Sequence[Number]) -> list[tuple[Number, Digits]]:
        """New digits for each number of a run, in the same order of size as before if that is possible."""
        for ordered in (True,) * _TRIES + (False,):
            known = ChainMap[tuple[str, Digits], Digits]({}, self.known)
            out: list[tuple[Number, Digits]] = []
            for number in run:
                new = self._draw(number, known, out[-1] if out and ordered else None)
                if new is None and ordered and len(run) > 1:
                    break
                if new is not None:
                    out.append((number, new))
            else:
                self.known.update(known.maps[0])
                return out
        return []

    def _can_change(self, number: Number) -> bool:
        if number.kind == "date":
            return not self.skip_dates and digits_of(number) != ""
        if number.kind in OPAQUE or (number.kind in DATED and self.skip_dates):
            return False
        if number.words and not self.in_words:
            return False
        if number.value == 1 and number.kind == "cardinal" and number.scale == 1:
            counted = _NOUN.match(self.text, number.outer_end)
            return not counted or counted[1] in neighbours("function")
        return True

    def _draw(
        self, number: Number, known: MutableMapping[tuple[str, Digits], Digits], before: tuple[Number, Digits] | None
    ) -> Digits | None:
        old = digits_of(number)
        key = (number_class(number), old)

        def fits(new: Digits) -> bool:
            return new != old and self._fits(number, new) and (before is None or _keeps_order(before, number, new))

        if key in known:
            return known[key] if fits(known[key]) else self._first(number, fits)
        new = self._first(number, fits)
        if new is not None:
            known[key] = new
        return new

    def _first(self, number: Number, fits: Callable[[Digits], bool]) -> Digits | None:
        """The first draw that fits. A draw for which "a" or "an" stays correct is preferred."""
        article = _AN.search(self.text, max(0, number.outer_start - 5), number.outer_start)
        wanted = article_before(written(number, digits_of(number)))
        second_best = None
        for new in self._candidates(number):
            if fits(new):
                if not article or article_before(written(number, new)) == wanted:
                    return new
                second_best = second_best or new
        return second_best

    def _candidates(self, number: Number) -> Iterator[Digits]:
        old = digits_of(number)
        few = choices(number)
        if few is not None:
            yield from self.rng.sample(few, len(few))
            return
        for _ in range(_TRIES):
            yield redrawn(old, self.rng) if self.band is None else self._near(old, self.band)
        significant = len(old.strip("0"))
        if 0 < significant <= 3:  # few enough to try them all
            head, tail = len(old) - len(old.lstrip("0")), len(old) - len(old.rstrip("0"))
            values = range(10 ** (significant - 1), 10**significant)
            yield from ("0" * head + str(v) + "0" * tail for v in self.rng.sample(values, len(values)) if v % 10)

    def _near(self, old: Digits, band: tuple[float, float]) -> Digits:
        """A number within the band, rounded to the zeros that the old one ends with."""
        zeros = len(old) - len(old.rstrip("0"))
        moved = int(old) * (1 + self.rng.choice((-1, 1)) * self.rng.uniform(*band))
        return str(max(0, round(moved / 10**zeros)) * 10**zeros).zfill(len(old))

    def _fits(self, number: Number, new: Digits) -> bool:
        old = digits_of(number)
        if number.kind in DATED or number.kind in ("fraction", "ages"):
            return True
        if len(new) != len(old) and number.kind != "percent":
            return False
        if len(new) == len(old) and (old.strip("0") and (zeros_around(new) != zeros_around(old))):
            return False
        value = worth(number, new)
        if value == 1 and number.kind in ("cardinal", "mixed", "measure"):
            return False
        if number.kind == "percent" and number.scale == 1 and (number.value or 0) <= 100 < value:
            return False
        if self.band is None or not number.value:
            return True
        least, most = self.band
        return least <= float(abs(value - number.value) / number.value) <= most


def _family(number: Number) -> str:
    """The kind of numbers with which a number can be compared. Any two quantities can be compared."""
    return number_class(number).rstrip("0123456789")


def _keeps_order(before: tuple[Number, Digits], number: Number, new: Digits) -> bool:
    """Whether a number's relation to the one before it (less, equal or greater) is unchanged."""
    if number.kind in ("fraction", "date"):
        return True
    other, other_new = before
    was = (other.amount or 0) - (number.amount or 0)
    now = worth(other, other_new) * other.scale - worth(number, new) * number.scale
    return bool(other.sign or number.sign) or (was < 0, was > 0) == (now < 0, now > 0)
