"""Numbers with a dash, a stroke or a colon between them: ranges, scores, fractions, or none of these."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from nlgauge.text.numbers.context import precedes_noun
from nlgauge.text.numbers.number import OPAQUE, Kind, Number, opaque

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
_NEAR = 60  # characters looked back for a word of winning and losing


def tied(text: str, numbers: list[Number]) -> list[Number]:
    """Numbers with but a dash, stroke or colon between them made ranges, scores, fractions, or else codes."""
    out: list[Number] = []
    at = 0
    while at < len(numbers):
        last = at
        while last + 1 < len(numbers) and _TIES.fullmatch(
            text[numbers[last].outer_end : numbers[last + 1].outer_start]
        ):
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
        won = _WON.search(text, max(0, first.start - _NEAR), first.start) or _WON.match(text, second.end + 1)
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
    if (
        whole is None
        and tie == ":"
        and first.kind == second.kind == "cardinal"
        and not first.decimals + second.decimals
    ):
        return [replace(first, kind="score"), replace(second, kind="score")]
    kind: Kind = whole or (
        "date" if "year" in (first.kind, second.kind) or "decade" in (first.kind, second.kind) else "code"
    )
    return [opaque(text, first.outer_start, second.outer_end, kind)]


def _dashed(text: str, first: Number, second: Number) -> list[Number]:
    """10-12 is a range, 2-1 a score, 2015-16 a date, 50-50 neither."""
    kinds = {first.kind, second.kind}
    if len(kinds) == 2 and "year" in kinds and "fraction" not in kinds:  # ½ has no digits of a year or cardinal
        if first.kind == "year" and len(second.figure) != 4:  # 2015-16
            return [opaque(text, first.outer_start, second.outer_end, "date")]
        kind: Kind = "year" if len(first.figure) == 4 else "cardinal"
        first, second = replace(first, kind=kind), replace(second, kind=kind)
    if (
        first.kind == "day"
        and second.kind in ("cardinal", "ordinal")
        and second.scale == 1
        and (second.value or 32) <= 31
    ):
        second = replace(second, kind="day")
    low, high = first.amount or 0, second.amount or 0
    plain = (
        first.kind == second.kind == "cardinal"
        and first.scale == second.scale == 1
        and not first.decimals + second.decimals
    )
    if plain and not _COUNTED.match(text, second.end):
        won = _WON.search(text, max(0, first.start - _NEAR), first.start) is not None
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
    figure = f"{first.figure}/{second.figure}"
    return replace(
        first, kind="fraction", figure=figure, end=second.end, outer_end=second.outer_end, value=above / below, unit=""
    )
