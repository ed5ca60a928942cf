"""Numbers of an English text: where they stand, their kind and value, and what changes around a new one."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import Literal

from nlgauge.text.doc import HYPHENS
from nlgauge.text.lexicon import article_before
from nlgauge.text.numbers.words import (
    CLEAR_SCALES,
    LONG_SCALES,
    MONTH,
    OPAQUE,
    SHORT_SCALES,
    Kind,
    Number,
    currency_before,
    currency_behind,
    currency_codes,
    neighbours,
    opaque,
    ordinal_suffix,
    unit_behind,
    word_numbers,
)
from nlgauge.text.scripts import WordList
from nlgauge.text.tokenize import sentence_spans

Edit = tuple[int, int, str]

_NEAR = 40  # characters looked back; a bound keeps the work linear in the text
_ARTICLE = re.compile(r"(?<![\w'’.-])(?P<article>an?|An?|AN)[ \u00a0][\"“‘'(]?$")
_TRAILING_OFF = re.compile(r"(?:\.\.|…)\s*$")
_QUOTED = re.compile(r"[,:][ \u00a0][\"“‘]$")
_DETERMINER = re.compile(
    r"(?i)(?:(?<!\w)(?:an?|the|this|that|its|his|her|their|our|my|your|each|every|another|some|any)|['’]s)(?P<between>"
    r" [a-z]+){0,2} $"
)
_NEXT = re.compile(r"[ \u00a0](?P<word>[^\W\d_][\w'’-]*)")
_AFTER_AMOUNT = WordList("numbers", "behind amounts")
_DAY = re.compile(rf"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|{MONTH}")
_MODIFIER = ("JJ", "JJR", "JJS", "VBG", "VBN", "CD", "HYPH")


def with_article(text: str, edit: Edit, start: int) -> list[Edit]:
    """An edit of a number whose expression begins at `start`.

    An edit of "a" or "an" goes before it if the article must change.
    """
    match = _ARTICLE.search(text, max(0, start - 5), start)
    if not match:
        return [edit]
    old, article = match["article"], article_before(text[start : edit[0]] + edit[2])
    if article == old.lower():
        return [edit]
    return [(match.start(), match.end("article"), article.capitalize() if old[0].isupper() else article), edit]


def with_capital(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """The same edits, with a capital where one begins a sentence."""
    if not edits:
        return []
    sentences = iter(sentence_spans(text))
    first, last = next(sentences, (0, 0))
    out = []
    for start, end, new in edits:
        while last <= start and (following := next(sentences, None)):
            first, last = following
        begins = start - first <= _NEAR and not any(c.isalnum() for c in text[first:start])
        begins = begins and not _TRAILING_OFF.search(text, max(0, first - 4), first)
        if begins or _QUOTED.search(text, max(0, start - 4), start):
            new = new[:1].upper() + new[1:]
        out.append((start, end, new))
    return out


def is_attributive(text: str, start: int, end: int, tags: Mapping[int, str]) -> bool:
    """Whether an amount stands before a noun that it describes: "the $800 billion gap", not "spent $5 yesterday".

    Args:
        text: the text.
        start, end: of the amount.
        tags: Penn Treebank tags by the offset at which a word starts; without them the words around decide.
    """
    match = _NEXT.match(text, end)
    if not match:
        return False
    word, determined = match["word"], _determined(text, start)
    if len(word) == 1 or word.lower() in _AFTER_AMOUNT or _DAY.fullmatch(word):
        return False
    tag = tags.get(match.start("word"))
    if _ARTICLE.search(text, max(0, start - 5), start):  # "a $100" can only describe
        return word not in neighbours("function")
    if tag is None:
        return determined and word not in neighbours("function") and not word.endswith(("ed", "ly"))
    if tag.startswith("NN") or (determined and tag in ("VB", "VBP")):  # no verb can follow there: the 5 km ride
        return True
    steps = 0
    while determined and tag in _MODIFIER and steps < 3:
        match = _NEXT.match(text, match.end())
        if not match:
            return False
        tag, steps = tags.get(match.start("word"), ""), steps + 1
        if tag.startswith("NN"):
            return True
    return False


def _determined(text: str, start: int) -> bool:
    """Whether a determiner stands before an amount, with at most two adjectives between."""
    match = _DETERMINER.search(text, max(0, start - _NEAR), start)
    return match is not None and neighbours("function").isdisjoint(text[match.start() : start].split()[1:])


def is_hyphenated(text: str, end: int) -> bool:
    """Whether a hyphen binds a number to the word behind it: 8-year-old."""
    return text[end : end + 1] in HYPHENS and text[end + 1 : end + 2].isalpha()


# --- Where digits stand in a text: figures, and what only looks like figures, such as dates, times and addresses

BLANKS = " \u00a0\u202f\u2009"
LONGEST = 40  # characters of a figure; longer runs of digits are codes
VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5),
    "⅘": (4, 5), "⅛": (1, 8),
}  # fmt: skip

_D = "[0-9]"
_ZONE = r"(?:GMT|UTC|CE?S?T|BST|E[SD]T|P[SD]T)"
_NOON = rf"(?:[ap]\.m\.|[ap]\.?m|{_ZONE}|o['’]clock|noon|midnight)(?!\w)"
_CLOCK = (  # what follows a time, not a thing counted
    "when|on|in|and|until|to|for|the|as|with|after|before|at|he|she|it|they|we|local"
)
_ROUGH = rf"""
    (?P<link>(?:https?://|www\.)\S+ | \w[\w.+-]{{0,63}}+@\w[\w.-]* | [@\#]\w+)
  | (?P<date>(?:
        {_D}{{4}}[-/.]{_D}{{1,2}}[-/.]{_D}{{1,2}} | {_D}{{1,2}}(?P<cut>[-/.]){_D}{{1,2}}(?P=cut){_D}{{4}}
        | {_D}{{1,2}}/{_D}{{1,2}}/{_D}{{2}}
    )(?![\w]|[-/.]{_D}))
  | (?P<time>(?:
        {_D}{{1,2}}:[0-5]{_D}(?:[:.]{_D}{{1,2}})*(?![\w:])(?:[{BLANKS}]?{_NOON})?
      | {_D}{{1,2}}[ ]?:[ ][0-5]{_D}(?!\w)(?:[ ]?{_NOON}|(?=\s*[^\w\s]|\s*\Z|[ ](?:{_CLOCK})\b))
      | {_D}{{1,2}}h[0-5]{_D}(?!\w)
      | {_D}{{1,2}}(?:\.[0-5]{_D})?[{BLANKS}]?(?<![0-9.][0-9]{{3}}){_NOON}
      | {_D}{{4}}[{BLANKS}](?:{_ZONE}(?!\w)|hours[{BLANKS}]{_ZONE}(?!\w))
    ))
  | (?P<phone>
        \+{_D}(?:[ \u00a0()/-]?[()]?{_D}){{7,14}} | \({_D}{{2,5}}\)[ -]?{_D}{{3,4}}[ -]?{_D}{{3,4}}
        | (?:{_D}-)?{_D}{{3}}-{_D}{{3}}-{_D}{{4}}
      | 555-{_D}{{4}} | 0{_D}{{2,4}}(?:[ -]{_D}{{3,4}}){{1,2}} | (?:1-)?800-[A-Z0-9-]{{4,}}
    )(?!\w)
  | (?P<feet>{_D}{{1,2}}(?:['’′]{_D}{{1,2}}(?:["”″]|''|(?!\w))|[ ]?ft\.?[ ]?{_D}{{1,2}}(?:[ ]?ins?\b)?))
"""
# Groups are `(?>(...)*)` and never `(...)*+`, which CPython before 3.11.5 matches too far (its issue 106052).
_FIGURE = rf"""
    (?:  {_D}{{1,3}}(?>(?:,{_D}{{3}})+)(?:\.{_D}++)?           # 1,234.5
       | {_D}{{1,2}}(?>(?:,{_D}{{2}}(?!{_D}))+),{_D}{{3}}          # 12,34,567
       | {_D}{{1,3}}(?>(?:\.{_D}{{3}}){{2,}})                   # 1.234.567
       | [1-9]{_D}{{0,2}}(?>(?:[{BLANKS}]{_D}{{3}})+)(?!{_D})(?:\.{_D}++)?
       | {_D}++,{_D}{{1,2}}(?!{_D}|,{_D})                      # 2,5
       | {_D}++\.{_D}++ | {_D}++
       | (?<![\w.])\.{_D}++
    )
"""
_DIGIT = re.compile(_D)
_TAIL = re.compile(rf"\w*+(?>(?:[.,:/'’+−–-](?=\w*{_D})\w++)*)")
_MORE = re.compile(rf"[.,]?{_D}|[.,'’]?[^\W\d_]*+{_D}|[eE][-+−–]{_D}|_")  # 1e-3 is one figure, and none to write out


@dataclass(frozen=True, slots=True)
class Item:
    """A run of characters with digits in it.

    Attributes:
        kind: `figure`, or what it is instead: link, date, time, phone, code, vulgar (a fraction in one character).
        start, end: offsets in the text.
    """

    kind: str
    start: int
    end: int


@cache
def _pattern() -> re.Pattern[str]:
    codes = "|".join(sorted((*currency_codes(), "Rs"), key=len, reverse=True))
    return re.compile(
        rf"{_ROUGH} | (?P<currency>(?:{codes})(?={_D})) | (?P<word>[^\W0-9]\w*+) | (?P<figure>{_FIGURE})", re.VERBOSE
    )


def scan(text: str) -> Iterator[Item]:
    """All runs that hold digits from 0 to 9, in order, not overlapping.

    Digits of other scripts count as letters.
    """
    if not _DIGIT.search(text) and not any(c in text for c in VULGAR):
        return
    at, pattern = 0, _pattern()
    while match := pattern.search(text, at):
        start, at = match.span()
        kind = match.lastgroup or ""
        if kind == "word":
            if match[0] in VULGAR:
                yield Item("vulgar", start, at)
                continue
            if not _DIGIT.search(match[0]):
                continue
            kind = "code"
        elif kind == "currency":
            continue
        elif kind == "figure" and (at - start > LONGEST or _MORE.match(text, at)):
            kind = "code"
        if kind == "code":
            at = _TAIL.match(text, at).end()  # type: ignore[union-attr]  # matches the empty string too
        yield Item(kind, start, at)


# --- The kind of a figure, judged by the words around it: year, day, label, part of a name, number of a list item

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
        plain = word.islower() and len(word) > 2 and word.isalpha()  # "page 5" can be page five, "p. 5" cannot
        return number if plain else replace(number, kind="label")
    if not number.figure.isdigit():
        return number
    if len(number.figure) <= 2:
        if len(number.figure) == 2 and _is_short_year(text, start, end):
            return replace(number, kind="date", value=None)
        if _is_day(text, number, low):
            return replace(number, kind="day")
    in_name = _in_name(text, word, start)
    era = _ERA_BEHIND.match(text, end) or _ERA_BEFORE.search(text, low, start)
    if era or (len(number.figure) == 4 and _is_year(text, number, low)):
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
        between = text[out[-1].outer_end : number.outer_start] if out else ""
        if out and number.kind == "cardinal" and number.figure.isdigit() and _LIST.fullmatch(between):
            number = _listed(text, number, out[-1].kind, between)
        out.append(number)
    return out


def _listed(text: str, number: Number, kind: Kind, between: str) -> Number:
    """A figure behind a number of a kind, with the text between them."""
    value, end = int(number.figure), number.outer_end
    if kind == "year" and len(number.figure) == 4 and 1100 <= value <= 2099 and not _counts(text, end):
        return replace(number, kind="year")
    if precedes_noun(text, end):
        return number
    day = kind == "day" and 1 <= value <= 31 and _PAIR.fullmatch(between)
    return replace(number, kind=kind) if day or (kind == "label" and end == number.end) else number


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
    word = behind["word"] if behind else ""
    return word not in neighbours("function") and (word in neighbours("counted") or word.endswith("s"))


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
        counted = number.value % 50 == 0 and _counts(text, end)
        return not counted or _CLEAR_YEAR_BEFORE.search(text, low, start) is not None
    return _YEAR_BEFORE.search(text, low, start) is not None and (not word or word in neighbours("function"))


# --- Numbers with a dash, a stroke or a colon between them: ranges, scores, fractions, or none of these

_TIES = re.compile(r"[-–‑—/:×x*=+^~\\]")
_WON = re.compile(
    r"\b(?:w[io]n|lo[so][et]|beat\w*|defeat\w*|draw|drew|drawn|draws|wins|victor\w*|led|lead\w*|ahead|behind"
    r"|trail\w*|scor\w+|thrash\w*|tie[ds]?|level\w*"
    r"|goal\w*|aggregate|penalt\w+|match\w*|game\w*|sets?|vot\w+|half-?time|down|up|prevail\w*|overc[ao]me)\b"
    r"|[0-9]-[0-9][ ,]+$",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"[- \u00a0][a-z]*-?(?:years?|months?|weeks?|days?|hours?|minutes?|people|times|points?|goals?|per|percentage)\b"
)
_TIES_NEAR = 60  # characters looked back for a word of winning and losing


def tied(text: str, numbers: list[Number]) -> list[Number]:
    """Numbers with but a dash, stroke or colon between them made ranges, scores, fractions, or else codes."""
    out: list[Number] = []
    at = 0
    while at < len(numbers):
        last = at
        while last + 1 < len(numbers):
            if not _TIES.fullmatch(text[numbers[last].outer_end : numbers[last + 1].outer_start]):
                break
            last += 1
        if last == at and at + 1 < len(numbers) and _is_loose_score(text, numbers[at], numbers[at + 1]):
            out += [replace(n, kind="score") for n in numbers[at : at + 2]]
            last += 1
        else:
            out += _chain(text, numbers[at : last + 1])
        at = last + 1
    return out


def _is_loose_score(text: str, first: Number, second: Number) -> bool:
    """ "2: 0", "2 : 0" and "2 - 0", where blanks came in between."""
    small = all(
        n.kind == "cardinal" and n.figure.isdigit() and len(n.figure) <= 2 and n.outer_end == n.end
        for n in (first, second)
    )
    tie = text[first.outer_end : second.outer_start]
    if small and tie in (" - ", " – "):
        won = _WON.search(text, max(0, first.start - _TIES_NEAR), first.start) or _WON.match(text, second.end + 1)
        return not _COUNTED.match(text, second.end) and (won is not None or (first.value or 0) > (second.value or 0))
    return small and tie in (": ", " : ") and not precedes_noun(text, second.outer_end)


def _chain(text: str, run: list[Number]) -> list[Number]:
    if len(run) == 1:
        return run
    first, second = run[0], run[-1]
    tie = text[first.outer_end : second.outer_start] if len(run) == 2 else ""
    whole = next((n.kind for n in run if n.kind in OPAQUE), None)
    if whole is None and tie in ("-", "–", "‑", "—"):
        return _dashed(text, first, second)
    if whole is None and tie == "/" and (fraction := _fraction(first, second)):
        return [fraction]
    plain = first.kind == second.kind == "cardinal" and not first.decimals + second.decimals
    if whole is None and tie == ":" and plain:
        return [replace(first, kind="score"), replace(second, kind="score")]
    dated = not {"year", "decade"}.isdisjoint((first.kind, second.kind))
    return [opaque(text, first.outer_start, second.outer_end, whole or ("date" if dated else "code"))]


def _dashed(text: str, first: Number, second: Number) -> list[Number]:
    """10-12 is a range, 2-1 a score, 2015-16 a date, 50-50 neither."""
    kinds = {first.kind, second.kind}
    if len(kinds) == 2 and "year" in kinds and "fraction" not in kinds:  # ½ has no digits of a year or cardinal
        if first.kind == "year" and len(second.figure) != 4:  # 2015-16
            return [opaque(text, first.outer_start, second.outer_end, "date")]
        kind: Kind = "year" if len(first.figure) == 4 else "cardinal"
        first, second = replace(first, kind=kind), replace(second, kind=kind)
    may_be_day = second.kind in ("cardinal", "ordinal") and second.scale == 1 and (second.value or 32) <= 31
    if first.kind == "day" and may_be_day:
        second = replace(second, kind="day")
    low, high = first.amount or 0, second.amount or 0
    whole = first.scale == second.scale == 1 and not first.decimals + second.decimals
    plain = whole and first.kind == second.kind == "cardinal"
    if plain and not _COUNTED.match(text, second.end):
        won = _WON.search(text, max(0, first.start - _TIES_NEAR), first.start) is not None
        if max(len(first.figure), len(second.figure)) <= 3 and (won or low > high or (low == 0 and high < 10)):
            return [replace(first, kind="score"), replace(second, kind="score")]
    if plain and low >= high:
        return [opaque(text, first.outer_start, second.outer_end)]
    return [replace(first, range="first"), replace(second, range="second")]


def _fraction(first: Number, second: Number) -> Number | None:
    """1/2 and other small fractions; 24/7, 9/11 and 2015/16 are none."""
    above, below = first.value, second.value
    if not (first.figure + second.figure).isdigit() or above is None or below is None or not 0 < above < below:
        return None
    if math.gcd(int(above), int(below)) > 1:  # odds of 4/6
        return None
    if below not in (2, 3, 4, 5, 6, 8, 16, 32) and not (above == 1 and below <= 20):
        return None
    figure, end = f"{first.figure}/{second.figure}", second.end
    whole = replace(first, kind="fraction", figure=figure, value=above / below, unit="")
    return replace(whole, end=end, outer_end=second.outer_end)


# --- Numbers in an English text: their offsets, kinds and values

_ORDINAL = re.compile(r"(?:st|nd|rd|th|ST|ND|RD|TH)(?!\w)")
_TENS = re.compile(r"[2-9]0|1[1-9][0-9]0|20[0-9]0")
_DECADE = re.compile(r"s(?!\w)")
_DECADE_OF = re.compile(r"['’]s(?!\w)")
_EARLY = re.compile(r"(?i)\b(?:the|early|late|mid)[ \u00a0-]$")
_PERCENT = re.compile(rf"[{BLANKS}]?%|[{BLANKS}-]?(?:percent|per[ \u00a0]cent|pct|pc)(?!\w)", re.IGNORECASE)
_LONG = re.compile(rf"[{BLANKS}-]?({'|'.join(LONG_SCALES)})(?!\w)", re.IGNORECASE)
_SHORT = re.compile(rf"[{BLANKS}]?({'|'.join(sorted(SHORT_SCALES, key=len, reverse=True))})(?![\w'’])", re.IGNORECASE)
_CLEAR = re.compile(rf"[{BLANKS}]?({'|'.join(CLEAR_SCALES)})(?![\w'’])")
# "2.5m people": millions, for metres are hardly ever followed by a plural.
_MILLION = re.compile(r"(m)(?= (?:people|men|women|children|(?!hurdles|races)[a-z]{3,}(?<!ss)s)\b)")
_SIGNS_BEHIND = frozenset("=^_\\")
_SIGNS_BEFORE = frozenset("#^=_\\$€£¥§№@&")
_LETTER = re.compile(r"-[A-Z](?![\w-])")  # 3-D
_THOUSANDS = re.compile(r"[1-9][0-9]{0,2}\.[0-9]00")
_SIGN = re.compile(r"(?:^|[\s(\[\"“‘'/])([-−+])$")
_DIGIT_BEFORE = re.compile(r"[0-9]\s+$")
_VULGAR = re.compile(f"[{''.join(VULGAR)}]")


def find_numbers(text: str) -> list[Number]:
    """All numbers of a text, in order and without overlap.

    These are figures in digits 0 to 9 with everything that belongs to them (sign, currency, scale, unit, per cent,
    suffix), and cardinals and ordinals in words. Dates in digits, times, telephone numbers, versions, addresses,
    designations (A380, B-52, Windows 10) and the numbers of list items are found too, as opaque kinds. "one" alone is
    not a number, because it mostly stands for a noun. "first" and "second" alone are not numbers either. Digits of
    other scripts are none. Two numbers with a dash between them are a range, or a score where the first is greater or
    somebody won or lost. So few rules are sometimes wrong: 2000 can be a year or a count, "800m" metres or millions.
    """
    numbers: list[Number] = []
    for item in scan(text):
        if not numbers or item.start >= numbers[-1].outer_end:
            numbers.append(_read(text, item, numbers[-1].outer_end if numbers else 0))
    numbers = with_lists(text, tied(text, numbers))
    ends = [n.outer_end for n in numbers]
    for number in word_numbers(text):
        at = bisect_left(ends, number.start + 1)
        if at == len(ends) or numbers[at].outer_start >= number.outer_end:
            numbers.append(number)
    return sorted(numbers, key=lambda n: n.start)


def _read(text: str, item: Item, free: int) -> Number:
    """One item of the scan with everything that belongs to it. Nothing before `free` can belong to it."""
    start, end = item.start, item.end
    if item.kind == "vulgar":
        above, below = VULGAR[text[start]]
        return Number(start, end, start, end, "fraction", text[start:end], Decimal(above) / below)
    if item.kind != "figure":
        return opaque(text, start, end, item.kind)  # type: ignore[arg-type]  # the scan knows no other kinds
    figure = text[start:end]
    number = Number(start, end, start, end, "cardinal", figure, figure_value(figure))
    if (len(figure) > 1 and figure[0] == "0" and figure[1] not in ".,") or is_enumerator(text, start, end):
        return replace(number, kind="code" if figure[0] == "0" else "enumerator", value=None)
    number = _before(text, _behind(text, number, free), free)
    after = text[number.outer_end : number.outer_end + 1]
    before = text[number.outer_start - 1 : number.outer_start]
    if after.isalnum() or before.isalnum() or _LETTER.match(text, number.outer_end):
        return opaque(text, start, end)
    if after in _SIGNS_BEHIND or before in _SIGNS_BEFORE:
        return opaque(text, start, end)
    return kind_by_context(text, number)


def figure_value(figure: str) -> Decimal:
    """The value of a figure such as 1,234.5, 1.234.567, 1 000, 2,5 or .5.

    400.000 is read with a thousands separator, 1.125 is not.
    """
    plain = re.sub(rf"[{BLANKS}]", "", figure)
    if plain.count(".") > 1 or _THOUSANDS.fullmatch(plain):
        plain = plain.replace(".", "")
    elif re.search(r",[0-9]{3}(?![0-9])", plain):
        plain = plain.replace(",", "")
    return Decimal(plain.replace(",", "."))


def _behind(text: str, number: Number, free: int) -> Number:
    """The number with the suffix, scale, per cent, currency or unit after the figure."""
    end = number.end
    whole = number.figure.isdigit()
    if number.decimals == 0 and (match := _ORDINAL.match(text, end)):
        return replace(number, kind="ordinal", suffix=match[0], outer_end=match.end())
    if whole and _TENS.fullmatch(number.figure):
        match = _DECADE.match(text, end)
        if not match and _EARLY.search(text, max(0, end - 12), number.start):
            match = _DECADE_OF.match(text, end)
        if match:
            quoted = text[number.start - 1 : number.start] in ("'", "’", "‘")
            quoted = quoted and len(number.figure) == 2 and number.start > free
            return replace(number, kind="decade", outer_start=number.start - quoted, outer_end=match.end())
    if match := _VULGAR.match(text, end):
        return replace(number, kind="mixed", outer_end=match.end())
    before = currency_before().search(text, max(free, number.start - 6), number.start)
    scale = _LONG.match(text, end) or (
        _SHORT.match(text, end) if before else _CLEAR.match(text, end) or _MILLION.match(text, end)
    )
    short = _SHORT.match(text, end) if scale is None and before is None else None
    if short and currency_behind().match(text, short.end()):
        scale = short
    if scale:
        end = scale.end()
        number = replace(number, scale={**LONG_SCALES, **SHORT_SCALES}[scale[1].lower()], outer_end=end)
    if before:
        return replace(number, kind="money", currency=before["currency"])
    if match := _PERCENT.match(text, end):
        return replace(number, kind="percent", outer_end=match.end())
    if match := currency_behind().match(text, end):
        return replace(number, kind="money", currency=match["currency"], outer_end=match.end())
    match = unit_behind().match(text, end) if number.scale == 1 else None
    if match and not (match["coin"] and len(number.figure) > 2):
        return replace(number, kind="measure", unit=match["coin"] or match["unit"], outer_end=match.end())
    return number


def _before(text: str, number: Number, free: int) -> Number:
    """The number with the currency and the sign before the figure."""
    start, sign = number.outer_start, ""
    if number.currency and (match := currency_before().search(text, max(free, start - 6), start)):
        start, sign = match.start(), match["sign"] or ""
    match = _SIGN.search(text, max(free, start - 2), start) if not sign else None
    if match and not _DIGIT_BEFORE.search(text, max(0, start - 4), start - 1):
        sign, start = match[1], start - 1
    return replace(number, outer_start=start, sign="-" if sign == "−" else sign)
