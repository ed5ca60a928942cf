"""MQM: errors that raters marked, and the scores made from them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.segment import Dataset, RepeatedKey, Segment, unique
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Faults, Lines, counted, number
from nlgauge.io.files.records import Records, cells_between_tabs
from nlgauge.io.source import HeldSource

# severity, or severity/category, or severity/category/subcategory; upper and lower case do not differ
WEIGHTS: Mapping[str, float] = {
    "Major": 5.0,
    "Minor": 1.0,
    "Neutral": 0.0,
    "No-error": 0.0,
    "Major/Non-translation!": 25.0,
    "Minor/Fluency/Punctuation": 0.1,
}
# Rows that test whether a rater pays attention to a planted error; the error is not the system's.
_PLANTED = "hotw-test"
# Since 2023 the numbers of segments bear the names of the annotation tool.
_RENAMED = {"docSegId": "doc_id", "globalSegId": "seg_id"}
NEEDS = ("system", "doc", "doc_id", "rater", "source", "target", "category", "severity")
_MARK = re.compile(r"</?v>")


@dataclass(frozen=True, slots=True)
class Mark:
    """One row of a rater: an error, or the statement that there is none.

    Attributes:
        line: where it stands.
    """

    system: str
    document: str
    place: str
    item: str
    rater: str
    source: str
    target: str
    category: str
    severity: str
    line: int


@dataclass(frozen=True)
class Markings:
    """All rows of a file of MQM annotations.

    Attributes:
        marks: in the order of the file.
        name: the file.
        notes: what was left out in reading, with counts.
    """

    marks: tuple[Mark, ...]
    name: str = ""
    notes: tuple[str, ...] = ()

    def scores(
        self, weights: Mapping[str, float] = WEIGHTS, group: str | None = None, raters: bool = False
    ) -> ScoreTable:
        """Scores of the rated segments.

        A segment's score is minus the mean, over its raters, of the summed weights of the errors that they marked.

        Args:
            weights: the weights of severities. The most specific entry counts.
            group: the language pair of all rows.
            raters: also make a column `mqm.RATER` per rater, NaN if the rater did not see the segment.

        Returns:
            Column `mqm`: 0 if no rater marked an error, and lower is worse. A segment that nobody rated has no row.

        Raises:
            InputError: no weight covers a severity. The error names the line and the severity.

        References:
            Freitag et al. (2021), "Experts, Errors, and Context". If no weight fits, the script of the organisers
            silently counts 0; here this is an error.
        """
        lower = {name.lower(): float(weight) for name, weight in weights.items()}
        sums: dict[tuple[str, str], dict[str, float]] = {}
        planted, faults = 0, Faults(self.name)
        for mark in self.marks:
            rated = sums.setdefault((mark.system, mark.item), {})
            rated.setdefault(mark.rater, 0.0)
            if mark.severity.lower() == _PLANTED:
                planted += 1
                continue
            with faults.row(where := f"{self.name}:{mark.line}"):
                rated[mark.rater] += _weight(mark.severity, mark.category, lower, where)
        faults.check()
        mean = np.array([sum(by_rater.values()) / len(by_rater) for by_rater in sums.values()])
        columns = {"mqm": 0.0 - mean}  # and not -mean, which would be -0 for a perfect text
        if raters:
            for rater in dict.fromkeys(mark.rater for mark in self.marks):
                columns[f"mqm.{rater}"] = np.array(
                    [0.0 - by_rater[rater] if rater in by_rater else np.nan for by_rater in sums.values()]
                )
        notes = (f"{self.name}: {counted(planted, 'row')} of planted errors not counted",) if planted else ()
        return ScoreTable(
            tuple(Key(None, system, item, group) for system, item in sums),
            columns,
            "segment",
            self.name,
            (*self.notes, *notes),
        )

    def dataset(self, weights: Mapping[str, float] = WEIGHTS, group: str | None = None) -> Dataset:
        """The rated texts, with the scores as criterion `mqm`, and the marks of errors taken out.

        Raises:
            InputError: what `scores` raises.
        """
        table = self.scores(weights, group)
        texts: dict[tuple[str, str], Mark] = {}
        different = 0
        for mark in self.marks:
            first = texts.setdefault((mark.system, mark.item), mark)
            different += _plain(first.target) != _plain(mark.target)
        segments = [
            Segment(
                ":".join(part for part in (group, key.system, key.item) if part is not None),
                _plain(mark.target),
                (),
                _plain(mark.source),
                key.system,
                key.item,
                group,
                {"mqm": float(score)},
            )
            for (mark, key, score) in zip(texts.values(), table.keys, table.column(), strict=True)
        ]
        notes = (
            (
                (
                    f"{self.name}: {counted(different, 'row')} with another text than the first of the segment, which"
                    " is kept"
                ),
            )
            if different
            else ()
        )
        return Dataset(tuple(segments), self.name, (*table.notes, *notes))


def open_mqm(file: InputFile) -> HeldSource:
    """The texts of a file of annotations, with the scores of the standard weights."""
    return HeldSource(read_mqm(file).dataset(), [file])


def read_mqm(path: str | os.PathLike[str] | InputFile, item: Literal["segment", "document"] = "segment") -> Markings:
    """Read the annotations of an MQM file.

    Args:
        path: TSV, plain or `.gz`, whose cells may be quoted as spreadsheets do it. Its header names at least system,
            doc, doc_id, rater, source, target, category and severity, as in Google's annotations (since 2023 with
            `docSegId` and `globalSegId`).
        item: the identifier of the inputs: the column `seg_id`, or `DOC:DOC_ID`, which is also used if there is no
            `seg_id`.

    Raises:
        InputError: a column is missing, a row has fewer or more cells, or one `seg_id` stands for two places in the
            documents.
    """
    file = path if isinstance(path, InputFile) else InputFile(path)
    records = Records(file, "\t")
    lines, rows = records.lines, iter(records)
    columns = _columns(next(rows, (0, None))[1], file, lines)
    numbered = item == "segment" and "seg_id" in columns
    places: dict[str, tuple[str, str, int]] = {}
    marks = []
    faults = Faults(file.name)
    for line_number, cells in rows:
        while len(cells) > len(columns) and not cells[-1]:
            cells.pop()  # below a remark in the header
        if len(cells) != len(columns):
            reason = f"{counted(len(cells), 'cell')}, expected {len(columns)} as in the header"
            faults.add(lines.at(line_number), reason)
            continue
        row = dict(zip(columns, cells, strict=True))
        document, place = row["doc"], row["doc_id"]
        name = row["seg_id"] if numbered else f"{document}:{place}"
        first = places.setdefault(name, (document, place, line_number))
        if first[:2] != (document, place):
            faults.add(
                lines.at(line_number),
                f"seg_id {name!r} is segment {place} of {document!r}, but segment {first[1]} of {first[0]!r} in line"
                f" {first[2]}; give item='document' to number by document",
            )
        marks.append(
            Mark(
                row["system"],
                document,
                place,
                name,
                row["rater"],
                row["source"],
                row["target"],
                row["category"],
                row["severity"],
                line_number,
            )
        )
    faults.check()
    if not marks:
        raise InputError(f"{file.name} is empty: no row in it, expected one error per line")
    return Markings(tuple(marks), file.name, tuple(lines.notes()))


def _columns(header: Sequence[str] | None, file: InputFile, lines: Lines) -> list[str]:
    """The columns by their names of today."""
    if header is None:
        raise InputError(f"{file.name} is empty, expected a header and one error per line")
    names = [*header]
    while names and names[-1].startswith("#"):
        names.pop()  # a remark: "# Documentation: ..." in 2023
    columns = [_RENAMED.get(name, name) for name in names]
    absent = [name for name in NEEDS if name not in columns]
    if absent:
        raise InputError(
            f"{lines.at(1)}: the header has no column {absent[0]!r}; columns found: {', '.join(map(repr, names))}"
        )
    return columns


def read_mqm_averages(path: str | os.PathLike[str], group: str | None = None) -> ScoreTable:
    """Read the published averages: `system mqm_avg_score seg_id`, separated by blanks; `None` if nobody rated.

    Raises:
        InputError: the header or the number of cells is not as expected, or a cell is not a number.
    """
    file = InputFile(path)
    lines = Lines(file)
    faults = Faults(file.name)
    keys, values = [], []
    columns: list[str] | None = None
    for line_number, line in lines.filled():
        cells = line.split()
        if columns is None:
            columns = cells
            if set(columns) != {"system", "mqm_avg_score", "seg_id"}:
                raise InputError(f"{lines.at(line_number)}: header {line!r}, expected 'system mqm_avg_score seg_id'")
            continue
        if len(cells) != len(columns):
            reason = f"{counted(len(cells), 'cell')}, expected 3: system, score, number of the segment"
            faults.add(lines.at(line_number), reason)
            continue
        row = dict(zip(columns, cells, strict=True))
        try:
            values.append(number(row["mqm_avg_score"]) + 0.0)  # they write -0.000000 for a perfect text
        except ValueError as error:
            faults.add(lines.at(line_number), f"score {error}")
            continue
        keys.append(Key(None, row["system"], row["seg_id"], group))
    faults.check()
    if not keys:
        raise InputError(f"{file.name} is empty: no row in it, expected system, score and segment")
    return ScoreTable(tuple(keys), {"mqm": np.array(values)}, "segment", file.name, tuple(lines.notes()))


def read_ratings(
    path: str | os.PathLike[str], weights: Mapping[str, float] = WEIGHTS, group: str | None = None
) -> ScoreTable:
    """Read scores from a `.seg.rating` file. A line holds SYSTEM, `{"errors": [...]}` or `None`, and perhaps RATER.

    Returns:
        Column `mqm`, keyed by system and position in the system's block. A score is minus the sum of the weights of the
        errors. It is NaN if the rating is `None` (not rated), and 0 if the list of errors is empty.

    Raises:
        InputError: a line has another number of cells or no JSON with `errors`, or an error has no severity or a
            severity without weight.
    """
    file = InputFile(path)
    lines = Lines(file)
    lower = {name.lower(): float(weight) for name, weight in weights.items()}
    keys, values = [], []
    faults = Faults(file.name)
    seen: dict[str, int] = {}
    for line_number, line in lines.filled():
        system, *cells = cells_between_tabs(line.rstrip(" \r"))
        place = lines.at(line_number)
        if len(cells) not in (1, 2):
            reason = f"{counted(len(cells) + 1, 'cell')}, expected system, rating and perhaps rater, between tabs"
            faults.add(place, reason)
            continue
        seen[system] = seen.get(system, 0) + 1
        keys.append(Key(None, system, str(seen[system]), group))
        with faults.row(place):
            errors = [] if cells[0] == "None" else _errors(cells[0], place)
            weights_of = (_weight(str(e["severity"]), str(e.get("category") or ""), lower, place) for e in errors)
            values.append(np.nan if cells[0] == "None" else 0.0 - sum(weights_of))
    faults.check()
    if not keys:
        raise InputError(f"{file.name} is empty: no row in it, expected system and rating")
    return ScoreTable(tuple(keys), {"mqm": np.array(values)}, "segment", file.name, tuple(lines.notes()))


def _errors(cell: str, where: str) -> list[dict[str, Any]]:
    try:
        rating = json.loads(cell, object_pairs_hook=unique)
    except RepeatedKey as repeated:
        raise InputError(f"{where}: {repeated}") from None
    except (ValueError, RecursionError):
        rating = None
    if type(rating) is not dict or type(rating.get("errors")) is not list:
        raise InputError(f'{where}: the rating is neither None nor a JSON object {{"errors": [...]}}')
    for place, fault in enumerate(rating["errors"]):
        if type(fault) is not dict or not fault.get("severity"):
            raise InputError(f"{where}: errors[{place}] names no severity")
    return list(rating["errors"])


def _weight(severity: str, category: str, weights: Mapping[str, float], where: str) -> float:
    """The weight of the most specific entry. Names are in lower case."""
    parts = [severity, *category.split("/")]
    while parts:
        name = "/".join(parts).lower()
        if name in weights:
            return weights[name]
        parts.pop()
    near = nearest(severity, [name for name in weights if "/" not in name])
    raise InputError(
        f"{where}: severity {severity!r} has no weight{near}; give weights={{**WEIGHTS, {severity!r}: ...}} where it is"
        " meant"
    )


def _plain(text: str) -> str:
    return _MARK.sub("", text)
