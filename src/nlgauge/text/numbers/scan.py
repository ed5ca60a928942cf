"""Where digits stand in a text: figures, and what only looks like figures, such as dates, times and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from nlgauge.text.numbers.tables import currency_codes

BLANKS = " \u00a0\u202f\u2009"
LONGEST = 40  # characters of a figure; longer runs of digits are codes
VULGAR = {
    "½": (1, 2),
    "⅓": (1, 3),
    "⅔": (2, 3),
    "¼": (1, 4),
    "¾": (3, 4),
    "⅕": (1, 5),
    "⅖": (2, 5),
    "⅗": (3, 5),
    "⅘": (4, 5),
    "⅛": (1, 8),
}

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
