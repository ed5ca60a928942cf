"""Texts with the errors that somebody marked in them, in every format that holds such errors."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan, Severity, Side
from nlgauge.core.segment import unique
from nlgauge.io.files import Faults, InputFile, Lines, by_content
from nlgauge.io.judgements import rated_outputs
from nlgauge.io.read import by_fields
from nlgauge.io.rows import ERROR_SIGN, JsonRows, Records, cells_between_tabs, fields_of_log, first_fields
from nlgauge.io.wmt.annotations import Mark, read_mqm

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
        size: the length of the text, in which the span must lie; None where the file does not hold it.
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
    """The spans of a list of JSON objects, as several formats have it; `size` is the length of the hypothesis.

    An object names its place as `start` and `end` (mt-metrics-eval, nlgauge) or `start_i` and `end_i` (ESA of Appraise
    and Pearmut), where `missing` may stand for a number; `severity`; perhaps `category` or `error_type`; and perhaps
    `side` or `is_source_error`, and `confidence` (xCOMET). An object without a place is left out: some raters mark
    nothing. With `inclusive`, `end_i` is the last character, as some campaigns have it, and not the one behind it.
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


# --- The places of errors in MQM annotations: `<v>...</v>` in the source or the target of a row

_OPEN, _CLOSE = "<v>", "</v>"


def read_mqm_spans(path: str | os.PathLike[str] | InputFile) -> list[MarkedText]:
    """Marked texts of an MQM file, one for each system, item and rater.

    Rows without signs are errors whose place nobody marked: they give no span. Neutral errors are left out.

    Raises:
        InputError: signs do not come in pairs, one text of a rater differs from row to row, or what `read_mqm` raises.
    """
    markings = read_mqm(path)
    texts: dict[tuple[str, str, str], str] = {}
    spans: dict[tuple[str, str, str], list[ErrorSpan]] = {}
    faults = Faults(markings.name)
    for mark in markings.marks:
        where, key = f"{markings.name}:{mark.line}", (mark.system, mark.item, mark.rater)
        with faults.row(where):
            text = mark.hypothesis
            if texts.setdefault(key, text) != text:
                raise InputError(f"{where}: the target is another text than in an earlier row of this rater")
            spans.setdefault(key, []).extend(_spans(mark, len(text), where))
    faults.check()
    return [
        MarkedText(item, system, tuple(found), texts[system, item, rater], None, rater)
        for (system, item, rater), found in spans.items()
    ]


def _spans(mark: Mark, size: int, where: str) -> list[ErrorSpan]:
    found = []
    for side, text, most in (("hyp", mark.target, size), ("src", mark.source, None)):
        for start, end in marked_places(text, where):
            one = error(start, end, mark.severity, mark.category, side, where, most)
            if one is not None:
                found.append(one)
    return found


def marked_places(text: str, where: str = "text") -> list[tuple[int, int]]:
    """Start and end of what stands between `<v>` and `</v>`, which come in pairs, in the text without them."""
    found: list[tuple[int, int]] = []
    start, signs = None, 0
    for sign in ERROR_SIGN.finditer(text):
        at = sign.start() - signs
        signs += len(sign[0])
        if (sign[0] == _OPEN) is not (start is None):
            raise InputError(f"{where}: {sign[0]} without its partner, expected pairs of {_OPEN} and {_CLOSE}")
        if start is None:
            start = at
        else:
            found.append((start, at))
            start = None
    if start is not None:
        raise InputError(f"{where}: {_OPEN} without its partner, expected pairs of {_OPEN} and {_CLOSE}")
    return found


# --- Marked texts in lines of JSON, and in the rating files of mt-metrics-eval

_SPANS = ("spans", "errors")


def read_marked_rows(path: str | os.PathLike[str] | InputFile, *, inclusive: bool = False) -> list[MarkedText]:
    """Marked texts of JSON lines: those of `nlgauge explain -o`, of MQM sets, of mt-metrics-eval and of Pearmut.

    A row has its errors as `spans` or `errors`; null says that nobody looked. Its text is `hyp` or
    `hypothesis`; `id`, `system` (or `system_id`), `seg` (or `segment_id`), `lp` and `rater` (or `rater_id`) name it.
    An error has `start` and `end` (or `start_i` and `end_i`), numbers or `missing`, of which the end is not included;
    `severity`, `minor`, `major` or `critical`, which counts as major; and perhaps `category` (or `error_type`), `side`
    (`hyp`, `ref` or `src`; or `is_source_error`) and `confidence`.
    Some campaigns of ESA name the last character in `end_i`: in Python `inclusive=True`.

    Raises:
        InputError: a row has no errors field, or an error is damaged; file and line are named.
    """
    file = path if isinstance(path, InputFile) else InputFile(path)
    rows, faults = JsonRows(file), Faults(file.name)
    rows.refuse = faults.add
    found = []
    for number, row in rows:
        with faults.row(rows.at(number)):
            found.append(_row(row, number, rows.at(number), inclusive))
    faults.check()
    return found


def _row(row: Any, number: int, where: str, inclusive: bool) -> MarkedText:
    name = next((one for one in _SPANS if isinstance(row, Mapping) and one in row), None)
    if name is None:
        raise InputError(f"{where}: expected an object with spans or errors")

    def text(*names: str) -> str | None:
        value = next((row[one] for one in names if row.get(one) is not None), None)
        return None if value is None else str(value)

    hypothesis = text("hyp", "hypothesis")
    spans = (
        None
        if row[name] is None
        else errors_of(row[name], where, None if hypothesis is None else len(hypothesis), inclusive=inclusive)
    )
    item = text("seg", "segment_id", "id") or str(number)
    return MarkedText(
        item, text("system", "system_id"), spans, hypothesis, text("lp"), text("rater", "rater_id"), text("id")
    )


def read_rating_spans(path: str | os.PathLike[str] | InputFile) -> list[MarkedText]:
    """Marked texts of a `.seg.rating` file of mt-metrics-eval: SYSTEM, `{"errors": [...]}` or `None`, perhaps RATER.

    The item is the position in the system's block, from 1.

    Raises:
        InputError: a line has another form, or an error is damaged; file and line are named.
    """
    file = path if isinstance(path, InputFile) else InputFile(path)
    lines, faults = Lines(file), Faults(file.name)
    seen: dict[str, int] = {}
    found = []
    for number, line in lines.filled():
        where, cells = lines.at(number), cells_between_tabs(line.rstrip(" \r"))
        if len(cells) not in (2, 3):
            faults.add(where, f"{len(cells)} cells, expected system, rating and perhaps rater, between tabs")
            continue
        seen[cells[0]] = seen.get(cells[0], 0) + 1
        with faults.row(where):
            spans = None if cells[1] == "None" else _rating(cells[1], where)
            rater = cells[2] if len(cells) > 2 else None
            found.append(MarkedText(str(seen[cells[0]]), cells[0], spans, None, None, rater))
    faults.check()
    return found


def _rating(cell: str, where: str) -> Any:
    try:
        rating = json.loads(cell, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        rating = None
    if not isinstance(rating, dict) or "errors" not in rating:
        raise InputError(f'{where}: the rating is neither None nor a JSON object {{"errors": [...]}}')
    return errors_of(rating["errors"], where)


# --- Marked texts in tables of shared tasks: WMT's quality estimation of 2023 and 2024, and task 2 of WMT25

NO_ERROR = "no-error"
STARTS, _ENDS = ("start_indices", "start_ids"), ("end_indices", "end_ids")
_PLACE = re.compile("[0-9]{1,12}")
_KINDS = ("error_types", "errors")
_TEXTS = ("hypothesis_segment", "mt", "target", "hyp", "translation")
_ITEMS, _SYSTEMS = ("segment_id", "seg_id", "index", "id"), ("system_id", "system")


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
            spans = _spans_in_cells(cells[starts], cells[ends], cells[kinds], where, size)
            name = cell(item) or str(number - 1)
            named = f"{cells[document]}:{name}" if document is not None else name
            found.append(MarkedText(named, cell(system), spans, hypothesis, cell(group)))
    faults.check()
    return found


def _place(header: Sequence[str], names: Sequence[str]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _column(header: Sequence[str], names: Sequence[str], where: str) -> int:
    place = _place(header, names)
    if place is None:
        raise InputError(f"{where}: the header has no column {names[0]!r}; columns found: {', '.join(header)[:200]}")
    return place


def _spans_in_cells(starts: str, ends: str, kinds: str, where: str, size: int | None) -> tuple[ErrorSpan, ...]:
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


# --- Marked texts of any format: which reader a file wants is told by how it begins


def read_pearmut_spans(path: str | os.PathLike[str] | InputFile) -> list[MarkedText]:
    """Marked texts of the annotations of Pearmut, one for each output and rater.

    Raises:
        InputError: a line is no annotation, or an error is damaged; file and line are named.
    """
    file = path if isinstance(path, InputFile) else InputFile(path)
    found, faults = [], Faults(file.name)
    for one in rated_outputs(file)[0]:
        with faults.row(one.place):
            text = one.segment
            spans = errors_of(one.spans, one.place, len(text.hypothesis))
            found.append(MarkedText(text.item or "", text.system, spans, text.hypothesis, text.group, one.rater))
    faults.check()
    return found


_MQM = {"rater", "source", "target", "category", "severity"}  # columns of annotations of MQM
_FORMATS = (
    "JSON lines with spans or errors, SYSTEM with a rating of mt-metrics-eval, annotations of MQM, or a table with"
    " start_indices (WMT25) or start_ids (WMT QE)"
)


def read_marked(path: str | os.PathLike[str] | InputFile, *, inclusive: bool = False) -> list[MarkedText]:
    """Marked texts of a file: errors by their place, in any of the formats below.

    `nlgauge meta spans` compares such files. `spans` is None where nobody looked for errors. The end of a span is not
    included. Critical errors count as major; `neutral`, `undecided` and `no-error` give no span. A `confidence` of an
    error is kept.

    Args:
        path: the file; `-` is standard input.
        inclusive: whether `end_i` of JSON lines is the last character and not the one behind it.

    Raises:
        InputError: the file is in no such format, or what its reader raises.
    """
    file = path if isinstance(path, InputFile) else InputFile(path)
    if by_content(file) == "jsonl":
        head = file.head(1 << 20).decode("utf-8", errors="replace")
        if by_fields("jsonl", fields_of_log(head) or first_fields(head)) == "pearmut":
            return read_pearmut_spans(file)
        return read_marked_rows(file, inclusive=inclusive)
    if inclusive:
        raise InputError(f"{file.name}: inclusive is about the ends of ESA's JSON, and this file is a table")
    cells = Records(file, "\t").header()
    if set(STARTS) & set(cells):
        return read_span_table(file)
    if set(cells) >= _MQM:
        return read_mqm_spans(file)
    if len(cells) in (2, 3) and (cells[1] == "None" or cells[1].startswith("{")):
        return read_rating_spans(file)
    raise InputError(f"{file.name} holds no marked errors that can be read, expected {_FORMATS}")
