"""ESA: a score from 0 to 100 for each segment, and the error spans that the rater marked before."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Sequence

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.segment import unique
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Faults, Lines, counted, number

_COLUMNS = 12  # rater, system, item, kind, from, to, score, document, flag, spans, start, end
_KINDS = ("TGT", "BAD")  # what a system wrote; the same with planted errors, to see whether a rater pays attention
_TUTORIAL = "tutorial"
_WEIGHTS = {"major": 5.0, "minor": 1.0, "undecided": 0.0}
_CODES = {  # languages of WMT24 and WMT25, as test sets name them
    "ara": "ar", "bho": "bho", "ces": "cs", "deu": "de", "eng": "en", "est": "et", "hin": "hi", "isl": "is",
    "ita": "it", "jpn": "ja", "kor": "ko", "mas": "mas", "rus": "ru", "spa": "es", "srp": "sr", "ukr": "uk",
    "zho": "zh",
}  # fmt: skip


def is_esa(line: str) -> bool:
    """Whether this is a row of an ESA campaign, which has no header."""
    cells = _cells(line)
    return len(cells) == _COLUMNS and cells[3] in _KINDS


def read_esa_scores(path: str | os.PathLike[str]) -> ScoreTable:
    """Read the ratings of an ESA campaign, as WMT24 published them: CSV of Appraise without a header.

    Rows of the tutorial and rows with planted errors (`BAD`) are left out and counted. A segment that was rated several
    times has the mean.

    Returns:
        Columns `esa`, 0 to 100, and `esa_spans`, minus 5 for each major and 1 for each minor error (`undecided` counts
        0). Keyed by system, item as the file numbers it, and language pair (`eng`, `jpn` become `en-ja`).

    Raises:
        InputError: a row has another number of cells, a score is not from 0 to 100, or spans are not JSON with a known
            severity.

    References:
        Kocmi et al. (2024), "Error Span Annotation: A Balanced Approach for Human Evaluation of Machine Translation".
    """
    file = InputFile(path)
    lines, faults = Lines(file), Faults(file.name)
    found: dict[Key, list[tuple[float, float]]] = {}
    planted = practice = 0
    for place, cells in _rows(lines, faults):
        _, system, item, kind, source, target, score, document, _, spans, *_ = cells
        if _TUTORIAL in document:
            practice += 1
        elif kind == "BAD":
            planted += 1
        else:
            key = Key(None, system, item, f"{_CODES.get(source, source)}-{_CODES.get(target, target)}")
            with faults.row(lines.at(place)):
                found.setdefault(key, []).append((_score(score, lines.at(place)), _penalty(spans, lines.at(place))))
    faults.check()
    if not found:
        raise InputError(f"{file.name}: no rating in it, expected rows of an ESA campaign")
    means = np.array([np.mean(ratings, axis=0) for ratings in found.values()])
    notes = list(lines.notes())
    again = sum(len(ratings) > 1 for ratings in found.values())
    for n, what in ((practice, "of the tutorial"), (planted, "with planted errors")):
        notes += [f"{file.name}: {counted(n, 'row')} {what} left out"] if n else []
    notes += [f"{file.name}: {counted(again, 'segment')} rated more than once, with the mean"] if again else []
    columns = {"esa": means[:, 0], "esa_spans": means[:, 1]}
    return ScoreTable(tuple(found), columns, "segment", file.name, tuple(notes))


def _rows(lines: Lines, faults: Faults) -> Iterator[tuple[int, Sequence[str]]]:
    for place, line in lines.filled():
        cells = _cells(line)
        if len(cells) != _COLUMNS or cells[3] not in _KINDS:
            faults.add(lines.at(place), f"{counted(len(cells), 'cell')}, expected {_COLUMNS} with TGT or BAD as 4th")
            continue
        yield place, cells


def _cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a lone CR outside quotes, or a cell beyond the module's limit
        return [line]


def _score(cell: str, where: str) -> float:
    try:
        score = number(cell)
    except ValueError as error:
        raise InputError(f"{where}: score {error}") from None
    if not 0 <= score <= 100:
        raise InputError(f"{where}: score {cell}, expected 0 to 100")
    return score


def _penalty(cell: str, where: str) -> float:
    """Minus the weights of the marked errors."""
    try:
        severities = [str(span["severity"]) for span in json.loads(cell, object_pairs_hook=unique)]
        return 0.0 - sum(_WEIGHTS[severity] for severity in severities)
    except (ValueError, TypeError, KeyError, RecursionError):
        known = ", ".join(_WEIGHTS)
        raise InputError(
            f"{where}: spans {cell!r}, expected a JSON list of objects with a severity ({known})"
        ) from None
