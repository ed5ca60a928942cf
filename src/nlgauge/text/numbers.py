"""Numbers in an English text: where they stand, what they are, what they are worth."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from nlgauge.text.number_context import is_enumerator, kind_by_context
from nlgauge.text.number_phrases import word_numbers
from nlgauge.text.number_scan import BLANKS, VULGAR, Item, scan
from nlgauge.text.number_tables import (
    CLEAR_SCALES, LONG_SCALES, SHORT_SCALES, currencies, currency_before, currency_behind, unit_behind,
)  # fmt: skip

Kind = Literal[
    "cardinal", "ordinal", "percent", "money", "measure", "fraction", "mixed", "year", "decade", "century", "day", "score", "label",
    "ages", "named", "date", "time", "phone", "link", "feet", "enumerator", "code",
]  # fmt: skip
OPAQUE = frozenset({"named", "date", "time", "phone", "link", "feet", "enumerator", "code"})  # looked at as a whole, worth nothing
DATED = frozenset({"date", "time", "year", "decade", "century", "day"})


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a text.

    Attributes:
        start, end: the figure: digits with the separators inside, or the number words.
        outer_start, outer_end: the whole expression, with sign, currency, scale, unit, per cent, suffix.
        kind: what it counts or names; `OPAQUE` kinds are found to be left alone.
        figure: what stands from `start` to `end`.
        value: of the figure; None for opaque kinds.
        sign: "", "-" or "+".
        scale: 1000000 in "3 million".
        currency, unit: as written.
        words: whether the figure is in words.
        range: "first" and "second" in 10-12; "" elsewhere.
        article: whether the figure in words begins with "a" (a hundred).
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
    currency: str = ""
    unit: str = ""
    words: bool = False
    range: Literal["", "first", "second"] = ""
    article: bool = False

    @property
    def amount(self) -> Decimal | None:
        """What the whole expression is worth: sign, figure and scale."""
        return None if self.value is None else self.value * self.scale * (-1 if self.sign == "-" else 1)

    @property
    def decimals(self) -> int:
        """How many digits stand behind the decimal point."""
        exponent = 0 if self.value is None else self.value.as_tuple().exponent
        return max(0, -exponent) if isinstance(exponent, int) else 0

    @property
    def separator(self) -> str:
        """What parts the thousands: a comma, a period, a blank; "" where nothing does."""
        parted = re.match(rf"[0-9]{{1,3}}([,.{BLANKS}])[0-9]{{2,3}}", self.figure)
        return parted[1] if parted and not (self.decimals and parted.end() > len(self.figure) - self.decimals) else ""


_ORDINAL = re.compile(r"(?:st|nd|rd|th|ST|ND|RD|TH)(?!\w)")
_DECADE = re.compile(r"s(?!\w)")
_DECADE_OF = re.compile(r"['’]s(?!\w)")
_EARLY = re.compile(r"(?i)\b(?:the|early|late|mid)[ \u00a0-]$")
_PERCENT = re.compile(rf"[{BLANKS}]?%|[{BLANKS}-]?(?:percent|per[ \u00a0]cent|pct)(?!\w)", re.IGNORECASE)
_LONG = re.compile(rf"[{BLANKS}-]?({'|'.join(LONG_SCALES)})(?!\w)", re.IGNORECASE)
_SHORT = re.compile(rf"[{BLANKS}]?({'|'.join(sorted(SHORT_SCALES, key=len, reverse=True))})(?![\w'’])", re.IGNORECASE)
_CLEAR = re.compile(rf"[{BLANKS}]?({'|'.join(CLEAR_SCALES)})(?![\w'’])")
# "2.5m people": millions, for metres are hardly ever followed by a plural.
_MILLION = re.compile(r"(m)(?= (?:people|men|women|children|(?!hurdles|races)[a-z]{3,}(?<!ss)s)\b)")
_SIGN = re.compile(r"(?:^|[\s(\[\"“‘'/])([-−+])$")
_DIGIT_BEFORE = re.compile(r"[0-9]\s+$")
_TIES = re.compile(r"[-–‑—/:×x*=+^~\\]")
_VULGAR = re.compile(f"[{''.join(VULGAR)}]")
_WON = re.compile(
    r"\b(?:w[io]n|lo[so][et]|beat\w*|defeat\w*|draw|drew|drawn|draws|wins|victor\w*|led|lead\w*|ahead|behind|trail\w*|scor\w+|thrash\w*|tie[ds]?|level\w*"
    r"|goal\w*|aggregate|penalt\w+|match\w*|game\w*|sets?|vot\w+|half-?time|down|up)\b",
    re.IGNORECASE,
)
_MOST = 18  # decimals and digits of a value that can be drawn again or spelled


def find_numbers(text: str) -> list[Number]:
    """All numbers of a text, in order, not overlapping.

    Found are figures in digits 0 to 9 with whatever belongs to them (sign, currency, scale, unit, per cent, suffix) and cardinals and
    ordinals in words. Dates in digits, times, telephone numbers, versions, addresses, designations (A380, B-52, Windows 10) and the
    numbers of a list are found as opaque kinds. "one" alone is no number, for it mostly stands for a noun; neither are "first" and
    "second".
    """
    found: list[Number] = []
    for item in scan(text):
        if not found or item.start >= found[-1].outer_end:
            found.append(_read(text, item, found[-1].outer_end if found else 0))
    found = _tied(text, found)
    if found:
        ends = [(n.outer_start, n.outer_end) for n in found]
        words = [n for n in _in_words(text) if not any(a < n.outer_end and n.outer_start < b for a, b in ends)]
        return sorted([*found, *words], key=lambda n: n.start)
    return list(_in_words(text))


def _in_words(text: str) -> list[Number]:
    return [
        Number(w.start, w.end, w.start, w.outer_end, w.kind, text[w.start : w.end], w.value, words=True, article=w.article) for w in word_numbers(text)
    ]


def _opaque(text: str, start: int, end: int, kind: Kind = "code") -> Number:
    return Number(start, end, start, end, kind, text[start:end])


def _read(text: str, item: Item, free: int) -> Number:
    """One item of the scan with what belongs to it; nothing before `free` can."""
    start, end = item.start, item.end
    if item.kind == "vulgar":
        return Number(start, end, start, end, "fraction", text[start:end], Decimal(VULGAR[text[start]][0]) / VULGAR[text[start]][1])
    if item.kind != "figure":
        return _opaque(text, start, end, item.kind)  # type: ignore[arg-type]  # the scan knows no other kinds
    figure = text[start:end]
    number = Number(start, end, start, end, "cardinal", figure, _value(figure))
    if (len(figure) > 1 and figure[0] == "0" and figure[1] not in ".,") or is_enumerator(text, start, end):
        return replace(number, kind="code" if figure[0] == "0" else "enumerator", value=None)
    number = _behind(text, number, free)
    if number.kind != "cardinal" or number.currency or number.unit or number.scale > 1:
        kind: Kind = number.kind
        if kind == "cardinal":
            kind = "money" if number.currency else "measure" if number.unit else "cardinal"
        number = replace(number, kind=kind)
    number = _before(text, number, free)
    after = text[number.outer_end : number.outer_end + 1]
    before = text[number.outer_start - 1 : number.outer_start]
    if after.isalnum() or after in ("=", "^", "_", "\\") or (before and (before.isalnum() or before in "#^=_\\$€£¥§№@&")):
        return _opaque(text, start, end)
    return kind_by_context(text, number)


def _value(figure: str) -> Decimal:
    """1,234.5, 1.234.567, 1 000, 2,5 and .5 as the numbers they are."""
    plain = re.sub(rf"[{BLANKS}]", "", figure)
    if plain.count(".") > 1:
        plain = plain.replace(".", "")
    elif re.search(r",[0-9]{3}(?![0-9])", plain):
        plain = plain.replace(",", "")
    return Decimal(plain.replace(",", "."))


def _behind(text: str, number: Number, free: int) -> Number:
    """With the suffix, scale, per cent, currency or unit behind the figure."""
    end = number.end
    whole = number.figure.isdigit()
    if whole and (found := _ORDINAL.match(text, end)):
        return replace(number, kind="ordinal", outer_end=found.end())
    if whole and number.figure[-1] == "0" and len(number.figure) in (2, 4):
        found = _DECADE.match(text, end) or (_DECADE_OF.match(text, end) if _EARLY.search(text, max(0, end - 12), number.start) else None)
        if found:
            quoted = len(number.figure) == 2 and text[number.start - 1 : number.start] in ("'", "’", "‘") and number.start > free
            return replace(number, kind="decade", outer_start=number.start - quoted, outer_end=found.end())
    if found := _VULGAR.match(text, end):
        return replace(number, kind="mixed", outer_end=found.end())
    before = currency_before().search(text, max(free, number.start - 6), number.start)
    scale = _LONG.match(text, end) or (_SHORT.match(text, end) if before else _CLEAR.match(text, end) or _MILLION.match(text, end))
    if scale is None and before is None and (short := _SHORT.match(text, end)) and currency_behind().match(text, short.end()):
        scale = short
    if scale:
        end = scale.end()
        number = replace(number, scale={**LONG_SCALES, **SHORT_SCALES}[scale[1].lower()], outer_end=end)
    if before:
        return replace(number, currency=before["currency"])
    if found := _PERCENT.match(text, end):
        return replace(number, kind="percent", outer_end=found.end())
    if found := currency_behind().match(text, end):
        return replace(number, currency=found["currency"], outer_end=found.end())
    if number.scale == 1 and (found := unit_behind().match(text, end)):
        return replace(number, unit=found["coin"] or found["unit"], outer_end=found.end())
    return number


def _before(text: str, number: Number, free: int) -> Number:
    """With the currency and the sign before the figure."""
    start, sign = number.outer_start, ""
    if number.currency and (found := currency_before().search(text, max(free, start - 6), start)):
        start, sign = found.start(), found["sign"] or ""
    if not sign and (found := _SIGN.search(text, max(free, start - 2), start)) and not _DIGIT_BEFORE.search(text, max(0, start - 4), start - 1):
        sign, start = found[1], start - 1
    return replace(number, outer_start=start, sign="-" if sign in ("-", "−") and sign else sign)


def _tied(text: str, found: list[Number]) -> list[Number]:
    """Numbers with but a dash, stroke or colon between them made ranges, scores, fractions, or else codes."""
    out: list[Number] = []
    at = 0
    while at < len(found):
        last = at
        while last + 1 < len(found) and _TIES.fullmatch(text[found[last].outer_end : found[last + 1].outer_start]):
            last += 1
        out += _chain(text, found[at : last + 1])
        at = last + 1
    return out


def _chain(text: str, run: list[Number]) -> list[Number]:
    if len(run) == 1:
        return run
    first, second = run[0], run[-1]
    tie = text[first.outer_end : second.outer_start] if len(run) == 2 else ""
    opaque = next((n.kind for n in run if n.kind in OPAQUE), None)
    if opaque is None and tie in ("-", "–", "‑", "—"):
        return _dashed(text, first, second)
    if opaque is None and tie == "/" and (fraction := _fraction(first, second)):
        return [fraction]
    if opaque is None and tie == ":" and first.kind == second.kind == "cardinal" and not first.decimals + second.decimals:
        return [replace(first, kind="score"), replace(second, kind="score")]
    kind: Kind = opaque or ("date" if "year" in (first.kind, second.kind) or "decade" in (first.kind, second.kind) else "code")
    return [_opaque(text, first.outer_start, second.outer_end, kind)]


def _dashed(text: str, first: Number, second: Number) -> list[Number]:
    """10-12 is a range, 2-1 a score, 2015-16 a date, 50-50 neither."""
    plain = first.kind == second.kind == "cardinal" and first.scale == second.scale == 1 and not first.decimals + second.decimals
    if first.kind in ("year", "cardinal") and plain is False and first.kind != second.kind and "year" in (first.kind, second.kind):
        if first.kind == "year" and len(second.figure) == 2:  # 2015-16
            return [_opaque(text, first.outer_start, second.outer_end, "date")]
        first, second = replace(first, kind="year"), replace(second, kind="year")
    if plain and first.value == second.value and not _WON.search(text, max(0, first.start - 60), first.start):
        return [_opaque(text, first.outer_start, second.outer_end)]
    assert first.value is not None and second.value is not None  # no opaque kinds come here
    short = max(len(first.figure), len(second.figure)) <= 3
    scored = first.value >= second.value or first.value == 0 or _WON.search(text, max(0, first.start - 60), first.start)
    if plain and short and scored and not re.match(r"[- ]?[a-z]*-?(?:years?|months?|days?|hours?|minutes?|people|times)\b", text[second.end : second.end + 20]):
        return [replace(first, kind="score"), replace(second, kind="score")]
    if first.value * first.scale >= second.value * second.scale and plain:
        return [_opaque(text, first.outer_start, second.outer_end)]
    return [replace(first, range="first"), replace(second, range="second")]


def _fraction(first: Number, second: Number) -> Number | None:
    """1/2 and other small fractions; 24/7, 9/11 and 2015/16 are none."""
    above, below = first.value, second.value
    if not (first.figure + second.figure).isdigit() or above is None or below is None or not 0 < above < below or (above, below) == (9, 11):
        return None
    if below not in (2, 3, 4, 5, 6, 8, 16, 32) and not (above == 1 and below <= 20):
        return None
    figure = f"{first.figure}/{second.figure}"
    return replace(first, kind="fraction", figure=figure, end=second.end, outer_end=second.outer_end, value=above / below, unit="")
