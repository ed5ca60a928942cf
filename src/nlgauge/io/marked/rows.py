"""Marked texts in lines of JSON, and in the rating files of mt-metrics-eval."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.result import replacing
from nlgauge.core.segment import unique
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Faults, Lines
from nlgauge.io.files.records import cells_between_tabs
from nlgauge.io.jsonl import JsonRows
from nlgauge.io.marked.texts import MarkedText, as_rating, errors_of

_SPANS = ("spans", "errors")


def read_marked_rows(path: str | os.PathLike[str] | InputFile, *, inclusive: bool = False) -> list[MarkedText]:
    """Marked texts of JSON lines: those of `nlgauge explain -o`, of MQM sets, of mt-metrics-eval and of Pearmut.

    A row has its errors as `spans` or `errors`, see `errors_of`; null says that nobody looked. Its text is `hyp` or
    `hypothesis`; `id`, `system` (or `system_id`), `seg` (or `segment_id`), `lp` and `rater` (or `rater_id`) name it.

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


def read_rating_spans(path: str | os.PathLike[str] | InputFile, group: str | None = None) -> list[MarkedText]:
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
            found.append(MarkedText(str(seen[cells[0]]), cells[0], spans, None, group, rater))
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


def write_rating_spans(texts: Iterable[MarkedText], path: str | os.PathLike[str]) -> None:
    """Write a `.seg.rating` file: the texts of a system stand together, in the order of its items.

    Raises:
        InputError: a text names no system, or a name holds a tab or a line break, or the file cannot be written.
    """
    with replacing(path) as file:
        for text in texts:
            if text.system is None or any(c in text.system + (text.rater or "") for c in "\t\n\r"):
                raise InputError(f"{path}: system {text.system!r} of item {text.item!r}, expected a name without tabs")
            cells = [text.system, "None" if text.spans is None else as_rating(text.spans)]
            file.write("\t".join([*cells, *([] if text.rater is None else [text.rater])]) + "\n")
