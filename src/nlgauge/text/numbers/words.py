"""Numbers and words: what a number in a text is, how it is spelt and read, and the words that stand around it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Literal

from nlgauge.text.scripts import data_lines

Kind = Literal[
    "cardinal", "ordinal", "percent", "money", "measure", "fraction", "mixed", "year", "decade", "century", "day",
    "score", "label", "ages", "named", "date", "time", "phone", "link", "feet", "enumerator", "code",
]  # fmt: skip
# Looked at as a whole, worth nothing.
OPAQUE = frozenset({"named", "date", "time", "phone", "link", "feet", "enumerator", "code"})
DATED = frozenset({"date", "time", "year", "decade", "century", "day"})


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a text.

    Attributes:
        start, end: offsets of the figure: digits with the separators inside, or the number words.
        outer_start, outer_end: offsets of the whole expression, with sign, currency, scale, unit, per cent, suffix.
        kind: what the number counts or names: `cardinal`, `percent`, `money`, `measure`, `ordinal`, `year`, `decade`,
            `century`, `day`, `ages` (in his 20s), `fraction`, `mixed` (2½), `score` (2-1) or `label` (Article 5);
            or an opaque kind without a value: `date` (in figures), `named` (iOS 12), `time`, `feet`, `phone`, `link`,
            `code` (A380, 007), `enumerator` ("1." before an item).
        figure: the text from `start` to `end`.
        value: the value of the figure; None for opaque kinds.
        sign: "", "-" or "+".
        scale: the value of a word such as million: 1000000 in "3 million".
        suffix: the suffix of an ordinal in digits.
        currency, unit: currency and unit as written.
        words: whether the figure is in words.
        range: "first" and "second" in 10-12; "" elsewhere.
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

    @property
    def amount(self) -> Decimal | None:
        """The value of the whole expression: sign, figure and scale."""
        return None if self.value is None else self.value * self.scale * (-1 if self.sign == "-" else 1)

    @property
    def decimals(self) -> int:
        """The number of digits after the decimal point."""
        exponent = 0 if self.value is None else self.value.as_tuple().exponent
        return max(0, -exponent) if isinstance(exponent, int) else 0


def opaque(text: str, start: int, end: int, kind: Kind = "code") -> Number:
    """A run of characters that is never changed."""
    return Number(start, end, start, end, kind, text[start:end])


# --- Convert numbers to English words and back: cardinals, ordinals, years, decades, fractions

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
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip
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
    name = {2: "half", 4: "quarter"}.get(denominator) or spell_ordinal(denominator)
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
        if not 0 < count * scale < above or scale >= above:
            return None
        if (scale > 1 and count > 999) or (scale == 1 and at < len(tokens)):
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


# --- Words around numbers in English: currencies, units, months, names that end in a number


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
    "k": 10**3, "m": 10**6, "mn": 10**6, "mln": 10**6, "mio": 10**6, "bn": 10**9, "b": 10**9, "bln": 10**9,
    "tn": 10**12, "trn": 10**12,
}  # fmt: skip
CLEAR_SCALES = ("bn", "mn", "mln", "bln", "trn")  # short forms that are read as scales without a currency
COINS = ("p", "c")
LONG_SCALES = {**SCALES, "hundred": 100}

MONTHS = tuple("January February March April May June July August September October November December".split())
_TABLES_SMALL = "|".join(m.lower() for m in MONTHS if m not in ("March", "May"))
# Texts without capitals are read, too; march and may are verbs unless "on" stands before them.
MONTH = (
    rf"(?:{'|'.join(MONTHS)}|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\b\.?|{_TABLES_SMALL}|(?<=\bon"
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


# --- Numbers in words in an English text: "two hundred and fifty", "twenty-first", "a dozen"


_BIG = ("hundred", *SCALES)
_WORD = "|".join(sorted((*ONES[1:], *filter(None, TENS), *_BIG, "dozen"), key=len, reverse=True))
_NTH = {str(spell_ordinal(n)).removeprefix("one ") for n in (*range(1, 20), *range(20, 100, 10), 100, 1000, 10**6)}
_ORDINAL = "|".join(sorted(_NTH, key=len, reverse=True))
_GAP = r"[ \u00a0]{1,3}"
_AND = "(?:" + "|".join(f"(?<={big})" for big in _BIG) + rf"){_GAP}and{_GAP}"
_RUN = re.compile(
    rf"(?<![\w'’-])(?P<cardinal>(?:an?{_GAP}(?=(?:{'|'.join(_BIG)}|dozen)\b))?"
    rf"(?:{_WORD})\b(?:(?:-|{_AND}|{_GAP})(?:{_WORD})\b)*)"
    rf"(?P<rest>(?:-|{_AND}|{_GAP})(?P<last>{_ORDINAL})\b)?|(?<![\w'’-])(?P<alone>{_ORDINAL})\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"[ \u00a0-](?:percent|per[ \u00a0]cent|pct)(?!\w)", re.IGNORECASE)
_CENTURY = re.compile(r"[ \u00a0-](?:century|centuries)\b", re.IGNORECASE)
_OF_MONTH = re.compile(rf"[ \u00a0](?:of )?{MONTH}(?!\w)")
_MONTH_BEFORE = re.compile(rf"(?<!\w){MONTH} (?:the )?$")
# Where a number in words is part of something else: fractions, times of day, twenty-odd, "a two-thirds majority", words
# with an apostrophe.
_NOT_BEFORE = re.compile(
    r"""(?:[ \u00a0-](?:thirds|halves|quarters|fourths|fifths|eighths|tenths)|-(?:third|quarter|fifth|tenth)
    |[ \u00a0-](?:half|something|odd|ish|fold|o['’]clock|[ap]\.?m\b))(?!\w)|['’]\w""",
    re.IGNORECASE | re.VERBOSE,
)
_NOT_BEHIND = re.compile(
    r"(?:\bhalf|\bquarter (?:of|past|to)|\bhalf past|\bpoint|\boh|[0-9][ \u00a0-]?|\bworld wars?|\bsquare)[ \u00a0]?$",
    re.IGNORECASE,
)
# third party, third world, third person; a third; the third of all; fourth quarter, fifth column.
_FIXED = re.compile(
    r"[ \u00a0-](?:world|part(?:y|ies)|countr(?:y|ies)|persons?|quarters?|half|columns?"
    r"|heaven|sense|estate|dimension|(?-i:[A-Z]))",
    re.IGNORECASE,
)
_SHARE = re.compile(r"\b(?:an?|one|two|three|four|five)[ \u00a0-]$", re.IGNORECASE)
_SENTENCE = re.compile(r"(?:^|[.!?:;\n…]|[\"“”‘«(\[*•–—-])[\s\"“‘«(\[]*$")


def word_numbers(text: str) -> Iterator[Number]:
    """All numbers in words, in order, except "one", "first", "second" alone and those in names, fractions and times."""
    at = 0
    while match := _RUN.search(text, at):
        number, at = _in_words(text, match), match.end()
        if number is not None:
            at = number.end
            yield number
        elif match["rest"]:
            at = match.end("cardinal")


def _in_words(text: str, match: re.Match[str]) -> Number | None:
    start, end = match.span()
    if match["alone"] or match["last"]:
        nth = parse_ordinal(match[0])
        if nth is not None and not (match["alone"] and nth < 3):
            return _ordinal(text, start, end, nth)
        if match["alone"]:
            return None
        end = match.end("cardinal")
    value = parse_words(text[start:end])
    part_of_more = _NOT_BEFORE.match(text, end) or _NOT_BEHIND.search(text, max(0, start - 12), start)
    if value is None or value <= 1 or part_of_more or not _plain_case(text, start, end):
        return None
    percent = _PERCENT.match(text, end)
    kind: Kind = "percent" if percent else "cardinal"
    outer_end = percent.end() if percent else end
    return Number(start, end, start, outer_end, kind, text[start:end], value, words=True)


def _ordinal(text: str, start: int, end: int, value: int) -> Number | None:
    if not _plain_case(text, start, end) or text[end : end + 1] in ("'", "’"):
        return None
    if _SHARE.search(text, max(0, start - 8), start):
        return None
    kind: Kind = "ordinal"
    if _CENTURY.match(text, end):
        kind = "century"
    elif _OF_MONTH.match(text, end) or _MONTH_BEFORE.search(text, max(0, start - 16), start):
        kind = "day"
    elif _FIXED.match(text, end):
        return None
    return Number(start, end, start, end, kind, text[start:end], Decimal(value), words=True)


def _plain_case(text: str, start: int, end: int) -> bool:
    """Whether the words stand in small letters, in capitals alone, or with the capital of a sentence: not in a name."""
    words = text[start:end]
    if words.islower() or words.isupper():
        return True
    return words[1:].islower() and _SENTENCE.search(text, max(0, start - 8), start) is not None
