"""Marked texts in tables of shared tasks: WMT's quality estimation of 2023 and 2024, and task 2 of WMT25."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.core.result import replacing
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Faults
from nlgauge.io.files.records import Records
from nlgauge.io.marked.texts import MISSING, MarkedText, error

NO_ERROR = "no-error"
STARTS, _ENDS = ("start_indices", "start_ids"), ("end_indices", "end_ids")
_PLACE = re.compile("[0-9]{1,12}")
_KINDS = ("error_types", "errors")
_TEXTS = ("hypothesis_segment", "mt", "target", "hyp", "translation")
_ITEMS, _SYSTEMS = ("segment_id", "seg_id", "index", "id"), ("system_id", "system")
_NAMES = ("segment_id", "system_id", "hypothesis_segment", "start_indices", "end_indices", "error_types")


def read_span_table(path: str | os.PathLike[str] | InputFile) -> list[MarkedText]:
    """Marked texts of a TSV with a header, whose cells hold several numbers with blanks between them.

    The columns are `start_indices`, `end_indices` and `error_types` (WMT25), or `start_ids`, `end_ids` and `errors`
    (WMT QE): "54 46", "70 51", "major minor", in any order. No error is `-1`, `-1`, `no-error`, or empty cells. The
    word `missing` in place of a number is an omission; `undecided` errors are left out. The end is not included.

    Raises:
        InputError: a column is missing, cells hold different numbers of errors, or one is damaged; file and line are
            named.
    """
    file = path if isinstance(path, InputFile) else InputFile(path)
    records = Records(file, "\t")
    lines, rows = records.lines, iter(records)
    header = next(rows, (0, [""]))[1]
    starts, ends, kinds = (_column(header, names, lines.at(1)) for names in (STARTS, _ENDS, _KINDS))
    text, item, system, group = (_place(header, names) for names in (_TEXTS, _ITEMS, _SYSTEMS, ("lp",)))
    document = _place(header, ("doc_id",))
    found, faults = [], Faults(file.name)
    for number, cells in rows:
        where = lines.at(number)
        if len(cells) != len(header):
            faults.add(where, f"{len(cells)} cells, expected {len(header)} as in the header")
            continue

        def cell(place: int | None, own: Sequence[str] = cells) -> str | None:
            return None if place is None else own[place]

        with faults.row(where):
            hypothesis = cell(text)
            size = None if hypothesis is None else len(hypothesis)
            spans = _spans(cells[starts], cells[ends], cells[kinds], where, size)
            name = cell(item) or str(number - 1)
            named = f"{cells[document]}:{name}" if document is not None else name
            found.append(MarkedText(named, cell(system), spans, hypothesis, cell(group)))
    faults.check()
    return found


def write_span_table(texts: Iterable[MarkedText], path: str | os.PathLike[str]) -> None:
    """Write a table with the columns of WMT25's task 2 that marked texts have; errors of the hypothesis alone.

    Raises:
        InputError: a text is not known or holds a tab or a line break, or the file cannot be written.
    """
    with replacing(path) as file:
        file.write("\t".join(_NAMES) + "\n")
        for text in texts:
            if text.hypothesis is None or any(c in text.hypothesis for c in "\t\n\r"):
                raise InputError(f"{path}: item {text.item!r} has no hypothesis that fits into one cell of a table")
            spans = [span for span in text.spans or () if span.side == "hyp"]
            starts, ends = (
                [MISSING if span.missing else str(place) for span, place in zip(spans, places, strict=True)]
                for places in ([span.start for span in spans], [span.end for span in spans])
            )
            kinds: list[str] = [span.severity for span in spans]
            cells = [" ".join(part) for part in (starts or ["-1"], ends or ["-1"], kinds or [NO_ERROR])]
            file.write("\t".join([text.item, text.system or "", text.hypothesis, *cells]) + "\n")


def _place(header: Sequence[str], names: Sequence[str]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _column(header: Sequence[str], names: Sequence[str], where: str) -> int:
    place = _place(header, names)
    if place is None:
        raise InputError(f"{where}: the header has no column {names[0]!r}; columns found: {', '.join(header)[:200]}")
    return place


def _spans(starts: str, ends: str, kinds: str, where: str, size: int | None) -> tuple[ErrorSpan, ...]:
    lists = [cell.split() for cell in (starts, ends, kinds)]
    if kinds.strip() in ("", NO_ERROR):
        return ()
    if len({len(one) for one in lists}) > 1:
        counts = ", ".join(str(len(one)) for one in lists)
        raise InputError(f"{where}: {counts} starts, ends and severities, expected as many of each")
    found = []
    for start, end, severity in zip(*lists, strict=True):
        if not all(word == MISSING or _PLACE.fullmatch(word) for word in (start, end)):
            raise InputError(f"{where}: a span goes from {start!r:.20} to {end!r:.20}, expected whole numbers")
        is_gone = MISSING in (start, end)
        first, last = (None, None) if is_gone else (int(start), int(end))
        span = error(first, last, severity, None, "hyp", where, size)
        if span is not None:
            found.append(span)
    return tuple(found)
