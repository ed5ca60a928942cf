"""A text with the errors that somebody marked in it, and spans as the cells of files name them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan, Severity, Side

MISSING = "missing"  # what some formats write in place of a number
_NONE = frozenset({"no-error", "neutral", "undecided", ""})  # severities that are no error, or not known to be one
_SEVERITIES: Mapping[str, Severity] = {"minor": "minor", "major": "major", "critical": "major"}
_SIDES: Mapping[str, Side] = {"hyp": "hyp", "src": "src", "ref": "ref"}


@dataclass(frozen=True)
class MarkedText:
    """One hypothesis with its errors.

    Attributes:
        item: which input it answers.
        system: who wrote it; None where the file does not say.
        spans: the errors; None where nobody has looked for any.
        hypothesis: the text; None where the file does not hold it.
        group: the language pair.
        rater: who marked the errors.
        id: the key of the segment; None where the file has none.
    """

    item: str
    system: str | None
    spans: tuple[ErrorSpan, ...] | None
    hypothesis: str | None = None
    group: str | None = None
    rater: str | None = None
    id: str | None = None

    @property
    def key(self) -> tuple[str, ...]:
        """What tells the segment from others: its id, or else system and item."""
        return (self.id,) if self.id is not None else (self.system or "", self.item)


def error(
    start: int | None, end: int | None, severity: str, category: str | None, side: str, where: str, size: int | None
) -> ErrorSpan | None:
    """A span from the cells of a file; None where the severity says that there is no error.

    Args:
        start, end: its place; None for something that is missing, which stands at the end of the text.
        severity: minor, major or critical, in any case; critical is major.
        category: what kind of error it is.
        side: `hyp`, `ref` or `src`.
        where: file and line, for errors.
        size: the length of the text; None where the file does not hold it.

    Raises:
        InputError: the severity is another one, or the span does not lie in the text.
    """
    told = severity.strip().lower()
    if told in _NONE:
        return None
    if told not in _SEVERITIES:
        raise InputError(f"{where}: severity {severity!r:.40}, expected minor, major or critical")
    if start is None or end is None:
        place = size or 0
        return ErrorSpan(place, place, _SEVERITIES[told], _SIDES[side], category or None, missing=True)
    if size is not None and end > size:
        raise InputError(f"{where}: a span ends at character {end} of a text of {size}; do its ends count bytes?")
    try:
        return ErrorSpan(start, end, _SEVERITIES[told], _SIDES[side], category or None)
    except InputError as fault:
        raise InputError(f"{where}: {fault}") from None


def errors_of(cells: Any, where: str, size: int | None = None, *, inclusive: bool = False) -> tuple[ErrorSpan, ...]:
    """The spans of a list of JSON objects, as several formats have it.

    An object names its place as `start` and `end` (mt-metrics-eval, nlgauge) or `start_i` and `end_i` (ESA of Appraise
    and Pearmut), where `missing` may stand for a number; `severity`; perhaps `category` or `error_type`; and perhaps
    `side` or `is_source_error`, and `confidence` (xCOMET). An object without a place is left out: some raters mark
    nothing.

    Args:
        cells: the list.
        where: file and line, for errors.
        size: the length of the hypothesis, where it is known.
        inclusive: whether `end_i` is the last character, as some campaigns have it, and not the one behind it.

    Raises:
        InputError: it is no such list, or a span is damaged.
    """
    if not isinstance(cells, list):
        raise InputError(f"{where}: errors are {cells!r:.40}, expected a list of objects")
    found = []
    for cell in cells:
        if not isinstance(cell, Mapping) or not isinstance(cell.get("severity"), str):
            raise InputError(f"{where}: an error is {cell!r:.60}, expected an object with start, end and severity")
        is_esa = "start_i" in cell
        start, end = (cell.get(f"{name}_i" if is_esa else name) for name in ("start", "end"))
        if start is None and end is None:
            continue
        side = "src" if cell.get("is_source_error") else cell.get("side", "hyp")
        category = cell.get("category", cell.get("error_type"))
        if side not in _SIDES or not (category is None or isinstance(category, str)):
            raise InputError(
                f"{where}: side {side!r:.20}, category {category!r:.20}: expected hyp, ref or src, and text"
            )
        gone = cell.get("missing") is True or MISSING in (start, end)
        if not gone and not (type(start) is type(end) is int):
            raise InputError(f"{where}: a span goes from {start!r:.20} to {end!r:.20}, expected whole numbers")
        if gone and not (type(start) is type(end) is int):
            start = end = None
        elif is_esa and inclusive:
            end = cast(int, end) + 1
        span = error(start, end, cell["severity"], category, side, where, size if side == "hyp" else None)
        if span is not None:
            try:
                found.append(replace(span, missing=gone, confidence=cell.get("confidence")))
            except InputError as fault:
                raise InputError(f"{where}: {fault}") from None
    return tuple(found)


def as_rating(spans: Iterable[ErrorSpan]) -> str:
    """Spans as a rating of mt-metrics-eval: JSON with the list `errors`."""
    errors = [
        {
            "start": span.start,
            "end": span.end,
            "category": span.category,
            "severity": span.severity,
            "score": None,
            "is_source_error": span.side == "src",
        }
        for span in spans
    ]
    return json.dumps({"errors": errors}, ensure_ascii=False)
