"""Numbers in words in an English text: "two hundred and fifty", "twenty-first", "a dozen"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from nlgauge.text.numbers.tables import MONTH
from nlgauge.text.numbers.words import ONES, SCALES, TENS, parse_ordinal, parse_words, spell_ordinal

PhraseKind = Literal["cardinal", "percent", "ordinal", "century", "day"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A number in words; `outer_end` lies behind "percent", `article` says that it begins with "a"."""

    start: int
    end: int
    outer_end: int
    kind: PhraseKind
    value: Decimal
    article: bool


_BIG = ("hundred", *SCALES)
_WORD = "|".join(sorted((*ONES[1:], *filter(None, TENS), *_BIG, "dozen"), key=len, reverse=True))
_NTH = {str(spell_ordinal(n)).removeprefix("one ") for n in (*range(1, 20), *range(20, 100, 10), 100, 1000, 10**6)}
_ORDINAL = "|".join(sorted(_NTH, key=len, reverse=True))
_GAP = r"[ \u00a0]{1,3}"
_AND = "(?:" + "|".join(f"(?<={big})" for big in _BIG) + rf"){_GAP}and{_GAP}"
_RUN = re.compile(
    rf"(?<![\w'’-])(?P<cardinal>(?P<article>an?{_GAP}(?=(?:{'|'.join(_BIG)}|dozen)\b))?"
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


def word_numbers(text: str) -> Iterator[Phrase]:
    """All numbers in words, in order, except "one", "first", "second" alone and those in names, fractions and times."""
    at = 0
    while match := _RUN.search(text, at):
        phrase, at = _phrase(text, match), match.end()
        if phrase is not None:
            at = phrase.end
            yield phrase
        elif match["rest"]:
            at = match.end("cardinal")


def _phrase(text: str, match: re.Match[str]) -> Phrase | None:
    start, end = match.span()
    kind: PhraseKind = "cardinal"
    if match["alone"] or match["last"]:
        value = parse_ordinal(match[0])
        if value is not None and not (match["alone"] and value < 3):
            return _ordinal(text, start, end, value)
        if match["alone"]:
            return None
        end = match.end("cardinal")
    number = parse_words(text[start:end])
    if (
        number is None
        or number <= 1
        or _NOT_BEFORE.match(text, end)
        or _NOT_BEHIND.search(text, max(0, start - 12), start)
    ):
        return None
    if not _plain_case(text, start, end):
        return None
    percent = _PERCENT.match(text, end)
    return Phrase(
        start, end, percent.end() if percent else end, "percent" if percent else kind, number, bool(match["article"])
    )


def _ordinal(text: str, start: int, end: int, value: int) -> Phrase | None:
    if (
        _SHARE.search(text, max(0, start - 8), start)
        or not _plain_case(text, start, end)
        or text[end : end + 1] in ("'", "’")
    ):
        return None
    kind: PhraseKind = "ordinal"
    if _CENTURY.match(text, end):
        kind = "century"
    elif _OF_MONTH.match(text, end) or _MONTH_BEFORE.search(text, max(0, start - 16), start):
        kind = "day"
    elif _FIXED.match(text, end):
        return None
    return Phrase(start, end, end, kind, Decimal(value), False)


def _plain_case(text: str, start: int, end: int) -> bool:
    """Whether the words stand in small letters, in capitals alone, or with the capital of a sentence: not in a name."""
    words = text[start:end]
    if words.islower() or words.isupper():
        return True
    return words[1:].islower() and _SENTENCE.search(text, max(0, start - 8), start) is not None
