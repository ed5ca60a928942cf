"""The kind of a figure, judged by the words around it: year, day, label, part of a name, number of a list item."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from nlgauge.text.numbers.tables import MONTH, neighbours
from nlgauge.text.numbers.words import ordinal_suffix

if TYPE_CHECKING:
    from nlgauge.text.numbers.number import Number

_NEAR = 40  # characters looked back; a bound keeps the work linear in the text
_LINE = re.compile(r"(?:^|\n)[ \t]*\(?$")
_POINT = re.compile(r"[.)][ \t]+\S")
_WORD_BEFORE = re.compile(r"(?P<word>[^\s(\[\"“]+?)(?:[ \u00a0]|(?<=[a-z]\.))$")
_PREFIX = re.compile(r"(?P<word>[^\W0-9_]+)[-–‑]$")
_WORD_BEHIND = re.compile(r"[ \u00a0](?P<word>[a-z]+)")
_MONTH_BEFORE = re.compile(rf"(?<!\w){MONTH},?[ \u00a0](?:the )?$")
_DAY_BEFORE = re.compile(rf"(?<!\w){MONTH} [0-9]{{1,2}}(?:st|nd|rd|th)?,? $")
_WEEKDAY_BEFORE = re.compile(r"(?<!\w)(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,? (?:the )?$")
_MONTH_BEHIND = re.compile(
    rf"(?:(?:[-–]|(?: and| or| to|,) )[0-9]{{1,2}}(?:st|nd|rd|th)?)?[ \u00a0-](?:of )?{MONTH}(?!\w)"
)
_CENTURY = re.compile(
    r"(?:(?:,| and| or| to|[-–]) ?[0-9]{1,2}(?:st|nd|rd|th))?[ \u00a0-](?:[Cc]entury|[Cc]enturies|c\.)"
)
_ERA_BEHIND = re.compile(r" (?:AD|BCE?|CE|A\.D\.|B\.C\.)(?!\w)")
_ERA_BEFORE = re.compile(r"(?<!\w)(?:AD|A\.D\.) $")
_NAME_BEHIND = re.compile(r"[ -][A-Z]")
# "1634: The Crisis", "1147 Stavropolis is": a title or a name of which the figure is a part.
_OPENS_NAME = re.compile(r": [A-Z]| [A-Z][a-z]+(?: (?:is|was|has)\b|['’]s\b)")
_OPENING = re.compile(r"(?:^|[.!?]\s|\n)[\"“‘']?$")
_NO_NAME = re.compile(
    r"(?i)(?:season|spring|summer|autumn|fall|winter|year|copyright|(?:mon|tues|wednes|thurs|fri|satur|sun)day)$"
)
_STREET = re.compile(
    r" (?:[A-Z][\w'’]+ ){1,3}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Drive|Square|Boulevard|Blvd|Way|Place)\b"
    r"| (?:[a-z][\w'’]* ){1,3}(?:st|rd|ave|blvd)\b"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:\n…]\s|[\"“‘(\[])\W*\w+\.?[ \u00a0]$")
_AGE = re.compile(r"(?i)\b(?:his|her|their|my|our|your|whose)(?: (?:early|mid|late)[ -]| )$")
_YEAR_BEFORE = re.compile(
    rf"(?:(?<!\w)(?i:in|since|by|of|from|until|till|til|through|during|before|after|circa|c\.|early|late|mid-?|years?"
    rf"|spring|summer|autumn|fall|winter"
    rf"|born|around|season|between)|(?<!\w){MONTH},?)\s*$|[(]$"
)
_PAIR = re.compile(r",? (?:and|or|to) ")
_LIST = re.compile(r",? (?:and |or |to )?|,")
_CLEAR_YEAR_BEFORE = re.compile(
    r"(?i)(?<!\w)(?:in|since|until|during|early|late|mid-?|year|the|this|last|spring|summer|autumn|winter|born|circa)["
    r" \u00a0]$"
)
_COUNT_BEFORE = re.compile(
    r"(?i)(?<!\w)(?:nearly|almost|over|(?:more|less|fewer) than|some|at"
    r" least|approximately|roughly|another|all|these|those|total of|only) $"
)
_COUNT_HYPHEN = re.compile(
    r"[-‑](?:year|month|day|hour|minute|met|kilomet|mile|foot|yard|acre|page|seat"
    r"|strong|member|word|pound|dollar|euro|ton|point|man|bed)"
)
# "the density of 1604", "an area of 1945": no years, whatever their size. A word in between still leaves it so.
_MEASURED = re.compile(
    r"(?i)(?<!\w)(?:densit(?:y|ies)|population|area|elevation|altitude|height|length|width|depth|distance|diameter"
    r"|weight|mass|speed|capacity|volume|size|value|price|sum|total|average|amount|number|count|rate|score|magnitude"
    r"|temperature|frequency|percentage)s?(?: [\w()/²]+){0,4}? (?:of|is|was|at|to|around|about|by|reached) $"
)
# Figures without separators that are dialled or written on letters: of how many digits, without a thing counted.
_DIALLED = 7
_DIALLED_ALONE = frozenset({10, 11})
_POSTED = (5, 6)
_POST_BEFORE = re.compile(r"(?i)(?<!\w)(?:post ?code|zip(?: code)?|postal code)(?!\w)|(?<!\w)(?:at|area|[-–]) $")
_CALLED = frozenset({"911", "999"})  # numbers that are names of what answers
_GLUED = re.compile(r"\.[A-Z]|[-‑](?:calib)")
_LOOSE_CODE = re.compile(
    r"(?<![\w'’])(?!(?:an?|as|at|by|do|he|if|in|is|it|me|no|of|on|or|so|to|up|us|we|was|the)\b)[A-Za-z]{1,3} - $"
)
_DIAL_BEFORE = re.compile(r"(?i)(?<!\w)(?:(?:tele)?phones?|mobile|tel|fax|call(?:ed)?|dial|reach(?:ed)?|contact)(?!\w)")
_MID_PREFIXES = frozenset("mid post pre under over top early late non sub minus plus ex near about".split())
_DISEASES = frozenset({"covid", "cov"})


def is_enumerator(text: str, start: int, end: int) -> bool:
    """Whether a figure numbers an item of a list: "1. " or "2) " where a line begins, or "(3)"."""
    if end - start > 2 or not text[start:end].isdigit():
        return False
    if end - start == 1 and text[start - 1 : start] == "(" and text[end : end + 1] == ")":
        return True
    return _LINE.search(text, max(0, start - _NEAR), start) is not None and _POINT.match(text, end) is not None


def kind_by_context(text: str, number: Number) -> Number:
    """The same number with its kind, which the words before and after it show."""
    start, end = number.start, number.outer_end
    low = max(0, start - _NEAR)
    if text[start - 1 : start] == "[" and text[end : end + 1] == "]" and number.kind == "cardinal":
        return replace(number, kind="code", value=None)
    prefix = _PREFIX.search(text, low, number.outer_start)
    if prefix and _names(prefix["word"]):
        return replace(number, kind="named")
    if number.kind == "ordinal":
        return _ordinal(text, number, low)
    if number.kind == "decade":
        aged = len(number.figure) == 2 and number.outer_start == start and _AGE.search(text, low, start)
        return replace(number, kind="ages") if aged else number
    if number.kind != "cardinal" or number.scale > 1 or number.sign:
        return number
    dialled = _dialled(text, number, low)
    if dialled is not None:
        return replace(number, kind=dialled, value=None)
    before = _WORD_BEFORE.search(text, low, start)
    word = before["word"] if before else ""
    opening = _OPENING.search(text, low, start) or word == "of"
    opens_name = len(number.figure) > 2 and opening and _OPENS_NAME.match(text, end)
    if word.strip("(\"'“‘") in neighbours("named") or _STREET.match(text, end) or opens_name:
        return replace(number, kind="named")
    if word.lower() in neighbours("label"):
        plain = word.islower() and len(word) > 2 and word.isalpha()
        return (
            number if plain else replace(number, kind="label")
        )  # "page 5" can be page five, "Page 5" and "p. 5" cannot
    if not number.figure.isdigit():
        return number
    if len(number.figure) <= 2:
        if len(number.figure) == 2 and _is_short_year(text, start, end):
            return replace(number, kind="date", value=None)
        if _is_day(text, number, low):
            return replace(number, kind="day")
    in_name = _in_name(text, word, start)
    if (
        _ERA_BEHIND.match(text, end)
        or _ERA_BEFORE.search(text, low, start)
        or (len(number.figure) == 4 and _is_year(text, number, low))
    ):
        return replace(number, kind="named" if in_name and not _MONTH_BEFORE.search(text, low, start) else "year")
    return replace(number, kind="named") if in_name and not _counts(text, end) else number


def _dialled(text: str, number: Number, low: int) -> Literal["phone", "code"] | None:
    """What a figure is that counts nothing: a number to dial, or one on a letter, an aeroplane or a gun."""
    start, end, figure = number.start, number.outer_end, number.figure
    if figure in _CALLED or _GLUED.match(text, end) or _LOOSE_CODE.search(text, low, start):
        return "code"
    if not figure.isdigit() or precedes_noun(text, end):
        return None
    alone = len(figure) in _DIALLED_ALONE and figure[-2:] != "00"
    if alone or (len(figure) >= _DIALLED and _DIAL_BEFORE.search(text, low, start)):
        return "phone"
    return "code" if len(figure) in _POSTED and _POST_BEFORE.search(text, low, start) else None


def _in_name(text: str, word: str, start: int) -> bool:
    """Whether the word before a figure has the capital of a name, of which the figure is a part: `Euro 2016`."""
    ordinary = word.lower() in neighbours("function") or word.endswith((",", ";", ":", ".", "!", "?"))
    if ordinary or not word[:1].isupper() or _NO_NAME.search(word):
        return False
    return _SENTENCE_START.search(text, max(0, start - _NEAR), start) is None


def with_lists(text: str, numbers: list[Number]) -> list[Number]:
    """The same numbers. Those that are joined to a year, a day or a label get the same kind.

    Examples: 1848 in "1905 and 1848", 4 in "Nos. 3 and 4", 19 in "May 18 and 19".
    """
    out: list[Number] = []
    for number in numbers:
        kind = out[-1].kind if out else ""
        joined = (
            number.kind == "cardinal"
            and number.figure.isdigit()
            and out
            and _LIST.fullmatch(text[out[-1].outer_end : number.outer_start])
        )
        if (
            joined
            and kind == "year"
            and len(number.figure) == 4
            and 1100 <= int(number.figure) <= 2099
            and not _counts(text, number.outer_end)
        ):
            number = replace(number, kind="year")
        elif (
            joined
            and kind == "day"
            and _PAIR.fullmatch(text[out[-1].outer_end : number.outer_start])
            and 1 <= int(number.figure) <= 31
            and not precedes_noun(text, number.outer_end)
        ):
            number = replace(number, kind="day")
        elif joined and kind == "label" and number.outer_end == number.end and not precedes_noun(text, number.end):
            number = replace(number, kind="label")
        out.append(number)
    return out


def _names(word: str) -> bool:
    """Whether a word tied to a figure by a hyphen makes a name of both: B-52, Covid-19; not mid-2015, top-10."""
    return word.lower() in _DISEASES or (word[0].isupper() and word.lower() not in _MID_PREFIXES)


def _ordinal(text: str, number: Number, low: int) -> Number:
    end = number.outer_end
    if number.value is not None and number.suffix.lower() != ordinal_suffix(int(number.value)):
        return replace(number, kind="code", value=None)  # he weighs 15st
    if _CENTURY.match(text, end):
        return replace(number, kind="century")
    if len(number.figure) <= 2 and (_is_day(text, number, low)):
        return replace(number, kind="day")
    return replace(number, kind="named") if _NAME_BEHIND.match(text, end) else number


def _is_short_year(text: str, start: int, end: int) -> bool:
    """Whether two digits behind an apostrophe are a year: in ’98; ’10 boats’ is a quotation."""
    if text[start - 1 : start] not in ("'", "’"):
        return False
    return not _WORD_BEHIND.match(text, end) or _YEAR_BEFORE.search(text, max(0, start - _NEAR), start - 1) is not None


def _is_day(text: str, number: Number, low: int) -> bool:
    if number.value is None or not 1 <= number.value <= 31:
        return False
    if _MONTH_BEHIND.match(text, number.outer_end):
        return True
    if _WEEKDAY_BEFORE.search(text, low, number.start):
        return not _WORD_BEHIND.match(text, number.outer_end)
    return _MONTH_BEFORE.search(text, low, number.start) is not None and not _counts(text, number.outer_end)


def precedes_noun(text: str, end: int) -> bool:
    """Whether a word in small letters follows that could be what is counted."""
    behind = _WORD_BEHIND.match(text, end)
    return behind is not None and behind["word"] not in neighbours("function")


def _counts(text: str, end: int) -> bool:
    """Whether what follows is a thing that is counted, in the plural."""
    behind = _WORD_BEHIND.match(text, end)
    return (
        behind is not None
        and behind["word"] not in neighbours("function")
        and (behind["word"] in neighbours("counted") or behind["word"].endswith("s"))
    )


def _is_year(text: str, number: Number, low: int) -> bool:
    """Whether four digits are a year, judged by their size, the words before them, and the noun they would count."""
    start, end = number.start, number.end
    if number.value is None or not 1100 <= number.value <= 2099 or _COUNT_HYPHEN.match(text, end):
        return False
    if _DAY_BEFORE.search(text, low, start) or _MONTH_BEFORE.search(text, low, start):
        return True
    behind = _WORD_BEHIND.match(text, end)
    word = behind["word"] if behind else ""
    if word in neighbours("counted") or _COUNT_BEFORE.search(text, low, start) or _MEASURED.search(text, low, start):
        return False
    if 1900 <= number.value <= 2039:
        return _CLEAR_YEAR_BEFORE.search(text, low, start) is not None or not (
            number.value % 50 == 0 and _counts(text, end)
        )
    return _YEAR_BEFORE.search(text, low, start) is not None and (not word or word in neighbours("function"))
