"""Numbers in an English text: their offsets, kinds and values."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from nlgauge.text.numbers.context import is_enumerator, kind_by_context, with_lists
from nlgauge.text.numbers.number import Number, opaque
from nlgauge.text.numbers.phrases import word_numbers
from nlgauge.text.numbers.scan import BLANKS, VULGAR, Item, scan
from nlgauge.text.numbers.tables import (
    CLEAR_SCALES,
    LONG_SCALES,
    SHORT_SCALES,
    currency_before,
    currency_behind,
    unit_behind,
)
from nlgauge.text.numbers.ties import tied

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
    not a number, because it mostly stands for a noun. "first" and "second" alone are not numbers either.
    """
    numbers: list[Number] = []
    for item in scan(text):
        if not numbers or item.start >= numbers[-1].outer_end:
            numbers.append(_read(text, item, numbers[-1].outer_end if numbers else 0))
    numbers = with_lists(text, tied(text, numbers))
    ends = [n.outer_end for n in numbers]
    for number in _in_words(text):
        at = bisect_left(ends, number.start + 1)
        if at == len(ends) or numbers[at].outer_start >= number.outer_end:
            numbers.append(number)
    return sorted(numbers, key=lambda n: n.start)


def _in_words(text: str) -> Iterator[Number]:
    for w in word_numbers(text):
        yield Number(
            w.start, w.end, w.start, w.outer_end, w.kind, text[w.start : w.end], w.value, words=True, article=w.article
        )


def _read(text: str, item: Item, free: int) -> Number:
    """One item of the scan with everything that belongs to it. Nothing before `free` can belong to it."""
    start, end = item.start, item.end
    if item.kind == "vulgar":
        return Number(
            start,
            end,
            start,
            end,
            "fraction",
            text[start:end],
            Decimal(VULGAR[text[start]][0]) / VULGAR[text[start]][1],
        )
    if item.kind != "figure":
        return opaque(text, start, end, item.kind)  # type: ignore[arg-type]  # the scan knows no other kinds
    figure = text[start:end]
    number = Number(start, end, start, end, "cardinal", figure, _value(figure))
    if (len(figure) > 1 and figure[0] == "0" and figure[1] not in ".,") or is_enumerator(text, start, end):
        return replace(number, kind="code" if figure[0] == "0" else "enumerator", value=None)
    number = _before(text, _behind(text, number, free), free)
    after = text[number.outer_end : number.outer_end + 1]
    before = text[number.outer_start - 1 : number.outer_start]
    if (
        after.isalnum()
        or after in _SIGNS_BEHIND
        or before.isalnum()
        or before in _SIGNS_BEFORE
        or _LETTER.match(text, number.outer_end)
    ):
        return opaque(text, start, end)
    return kind_by_context(text, number)


def _value(figure: str) -> Decimal:
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
        match = _DECADE.match(text, end) or (
            _DECADE_OF.match(text, end) if _EARLY.search(text, max(0, end - 12), number.start) else None
        )
        if match:
            quoted = (
                len(number.figure) == 2
                and text[number.start - 1 : number.start] in ("'", "’", "‘")
                and number.start > free
            )
            return replace(number, kind="decade", outer_start=number.start - quoted, outer_end=match.end())
    if match := _VULGAR.match(text, end):
        return replace(number, kind="mixed", outer_end=match.end())
    before = currency_before().search(text, max(free, number.start - 6), number.start)
    scale = _LONG.match(text, end) or (
        _SHORT.match(text, end) if before else _CLEAR.match(text, end) or _MILLION.match(text, end)
    )
    if (
        scale is None
        and before is None
        and (short := _SHORT.match(text, end))
        and currency_behind().match(text, short.end())
    ):
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
    if (
        number.scale == 1
        and (match := unit_behind().match(text, end))
        and not (match["coin"] and len(number.figure) > 2)
    ):
        return replace(number, kind="measure", unit=match["coin"] or match["unit"], outer_end=match.end())
    return number


def _before(text: str, number: Number, free: int) -> Number:
    """The number with the currency and the sign before the figure."""
    start, sign = number.outer_start, ""
    if number.currency and (match := currency_before().search(text, max(free, start - 6), start)):
        start, sign = match.start(), match["sign"] or ""
    if (
        not sign
        and (match := _SIGN.search(text, max(free, start - 2), start))
        and not _DIGIT_BEFORE.search(text, max(0, start - 4), start - 1)
    ):
        sign, start = match[1], start - 1
    return replace(number, outer_start=start, sign="-" if sign == "−" else sign)
