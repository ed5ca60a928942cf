"""What people said at WMT: direct assessment, ESA, and the errors of MQM."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.segment import Dataset, Segment, unique
from nlgauge.core.tables import Key, ScoreTable, mean_of_ratings
from nlgauge.io.files import Faults, InputFile, Lines, counted, entries, number_in, ordinal, words_of
from nlgauge.io.rows import ERROR_SIGN, Records
from nlgauge.io.segments import HeldSource

PARTS = ("source", "reference", "mt-system", "human")
CRITERION = "da_z"
# newstest2015.human.cs-en, and with "DAseg." before it in 2016
_NAME = re.compile(
    r"(?P<set>(?:DAseg\.)?[^.]+)\.(?P<part>source|reference|mt-system|human)\.(?P<lp>[^.]+-[^.]+?)(?:\.gz)?"
)


def is_da(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder has a file named as one of the four of a language pair."""
    return any(f".{part}." in path.name for path in entries(folder) for part in PARTS)


def open_da(folder: str | os.PathLike[str]) -> HeldSource:
    """Read segments from four files per language pair: `SET.source.LP`, `.reference.`, `.mt-system.`, `.human.`.

    These are the ratings of WMT15 and WMT16 (direct assessment), as parallel lines, plain or `.gz`. The files do not
    say which system wrote a line, so that only averaging `none` is possible. The criterion is `da_z`, means of
    standardised ratings. The id is `LP:LINE`, and the item is the line.

    Raises:
        InputError: there are no such files, one of the four is missing, the files differ in length, or `.human.` has
            something other than a number.
    """
    found: dict[str, dict[str, dict[str, Path]]] = {}
    for path in entries(folder):
        match = _NAME.fullmatch(path.name)
        if match:
            found.setdefault(match["lp"], {}).setdefault(match["set"], {})[match["part"]] = path
    if not found:
        raise InputError(f"{folder}: no files SET.source.LP, SET.reference.LP, SET.mt-system.LP, SET.human.LP in it")
    segments: list[Segment] = []
    files: list[InputFile] = []
    notes: list[str] = []
    for lp, sets in sorted(found.items()):
        if len(sets) > 1:
            raise InputError(f"{folder}: {lp} is there for {' and '.join(sets)}, expected one test set per folder")
        ((name, parts),) = sets.items()
        absent = [part for part in PARTS if part not in parts]
        if absent:
            raise InputError(f"{folder}: {name}.{absent[0]}.{lp} is missing beside {next(iter(parts.values())).name}")
        own = [InputFile(parts[part]) for part in PARTS]
        files += own
        texts = [Lines(file, texts=True) for file in own]
        columns = [list(lines) for lines in texts]
        for file, column in zip(own, columns, strict=True):
            if len(column) != len(columns[0]):
                first = f"{own[0].name} has {counted(len(columns[0]), 'line')}"
                raise InputError(
                    f"{first} but {file.name} has {len(column)}; parallel files need one line a segment each"
                )
        unrated, faults = 0, Faults(own[3].name)
        for (line, source), (_, reference), (_, hypothesis), (_, cell) in zip(*columns, strict=True):
            try:
                rating = number_in(cell)
            except ValueError as error:
                faults.add(f"{own[3].name}:{line}", f"rating {error}")
                continue
            unrated += rating != rating
            human = {} if rating != rating else {CRITERION: rating}
            segments.append(Segment(f"{lp}:{line}", hypothesis, (reference,), source, None, str(line), lp, human))
        faults.check()
        if unrated:
            notes.append(f"{own[3].name}: {counted(unrated, 'segment')} without a rating")
        notes += [note for lines in texts for note in lines.notes()]
    return HeldSource(Dataset(tuple(segments), str(folder), tuple(notes)), files)


def read_da_scores(path: str | os.PathLike[str]) -> ScoreTable:
    """Read the judgements of `DA-seglevel.csv` (WMT17): a header, then `LP DATA SYSTEM SID HUMAN`, separated by blanks.

    `nlgauge meta DATA --judgements FILE` joins them to texts by system, item (`SID`) and language pair. A rating of a
    text that several systems wrote (`A+B`) counts for the first, as in the organisers' own script.

    Args:
        path: the file, plain or `.gz`.

    Returns:
        A table with the column `da`, keyed by system, item (`SID`) and group (`LP`), with NaN where there is no number.

    Raises:
        InputError: the header or the number of cells is not as expected, a cell is not a number, there are several test
            sets, or an output has two ratings.
    """
    file = InputFile(path)
    lines = Lines(file)
    keys: list[Key] = []
    values: list[float] = []
    first_lines: dict[Key, int] = {}
    n_joined = 0
    faults = Faults(file.name)
    for place, lp, system, item, value in _da_lines(lines, faults):
        first, *others = system.split("+")
        n_joined += bool(others)
        key = Key(None, first, item, lp)
        if key in first_lines:
            faults.add(lines.at(place), f"{key} was rated in line {first_lines[key]} already")
            continue
        first_lines[key] = place
        keys.append(key)
        values.append(value)
    faults.check()
    if not keys:
        raise InputError(f"{file.name} is empty: no judgement in it, expected LP DATA SYSTEM SID HUMAN")
    notes = list(lines.notes())
    if n_joined:
        notes.append(
            f"{file.name}: {counted(n_joined, 'rating')} of a text that several systems wrote, counted for the first of"
            " them"
        )
    return ScoreTable(tuple(keys), {"da": np.array(values)}, "segment", file.name, tuple(notes))


def _da_lines(lines: Lines, faults: Faults) -> Iterator[tuple[int, str, str, str, float]]:
    """Line number, language pair, system, item and rating of each line below the header."""
    testset, names = "", "LP DATA SYSTEM SID HUMAN"
    rows = words_of(lines, names, lambda header: [name.upper() for name in header] == names.split())
    next(rows, None)
    for place, cells in rows:
        if len(cells) != 5:
            faults.add(lines.at(place), f"{counted(len(cells), 'word')}, expected 5: LP DATA SYSTEM SID HUMAN")
            continue
        lp, set_of_line, system, item, rating = cells
        testset = testset or set_of_line
        if set_of_line != testset:
            raise InputError(f"{lines.at(place)}: test set {set_of_line!r} after {testset!r}, expected one per file")
        try:
            value = number_in(rating)
            ordinal(item)
        except ValueError as error:
            faults.add(lines.at(place), str(error))
            continue
        yield place, lp, system, item, value


# --- ESA: a score from 0 to 100 for each segment, and the error spans that the rater marked before

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
    times has the mean. The CSV has 12 columns.

    Columns are `esa` (0 to 100) and `esa_spans` (minus 5 for each major and 1 for each minor error). Items are numbered
    as in the file, and `eng`, `jpn` become `en-ja`.

    Returns:
        Columns `esa` and `esa_spans`, where `undecided` counts 0, keyed by system, item and language pair.

    Raises:
        InputError: a row has another number of cells, a score is not from 0 to 100, or spans are not JSON with a known
            severity.

    References:
        Kocmi et al. (2024), "Error Span Annotation: A Balanced Approach for Human Evaluation of Machine Translation".
    """
    file = InputFile(path)
    lines, faults = Lines(file), Faults(file.name)
    found: dict[Key, list[tuple[str | None, float, float]]] = {}
    planted = practice = 0
    for place, cells in _rows(lines, faults):
        rater, system, item, kind, source, target, score, document, _, spans, *_ = cells
        if _TUTORIAL in document:
            practice += 1
        elif kind == "BAD":
            planted += 1
        else:
            key = Key(None, system, item, f"{_CODES.get(source, source)}-{_CODES.get(target, target)}")
            with faults.row(lines.at(place)):
                one = _score(score, lines.at(place)), _penalty(spans, lines.at(place))
                found.setdefault(key, []).append((rater or None, *one))
    faults.check()
    if not found:
        raise InputError(f"{file.name}: no rating in it, expected rows of an ESA campaign")
    notes = list(lines.notes())
    again = sum(len(ratings) > 1 for ratings in found.values())
    for n, what in ((practice, "of the tutorial"), (planted, "with planted errors")):
        notes += [f"{file.name}: {counted(n, 'row')} {what} left out"] if n else []
    notes += [f"{file.name}: {counted(again, 'segment')} rated more than once, with the mean"] if again else []
    ratings = {
        "esa": [tuple((who, one) for who, one, _ in given) for given in found.values()],
        "esa_spans": [tuple((who, one) for who, _, one in given) for given in found.values()],
    }
    columns = {name: np.array([mean_of_ratings(one) for one in given]) for name, given in ratings.items()}
    return ScoreTable(tuple(found), columns, "segment", file.name, tuple(notes), ratings=ratings)


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
        score = number_in(cell)
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


# --- MQM: errors that raters marked, and the scores made from them

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

    @property
    def hypothesis(self) -> str:
        """The target without signs around errors."""
        return ERROR_SIGN.sub("", self.target)


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

    def scores(self, weights: Mapping[str, float] = WEIGHTS, group: str | None = None) -> ScoreTable:
        """Scores of the rated segments.

        A segment's score is minus the mean, over its raters, of the summed weights of the errors that they marked.

        Args:
            weights: the weights of severities. The most specific entry counts.
            group: the language pair of all rows.

        Returns:
            Column `mqm`: 0 if no rater marked an error, and lower is worse. A segment that nobody rated has no row.

        Raises:
            InputError: no weight covers a severity. The error names the line and the severity.

        References:
            Freitag et al. (2021), "Experts, Errors, and Context".
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
        # 0 - x and not -x, which would be -0 for a perfect text
        given = [tuple((rater, 0.0 - one) for rater, one in by_rater.items()) for by_rater in sums.values()]
        notes = (f"{self.name}: {counted(planted, 'row')} of planted errors not counted",) if planted else ()
        return ScoreTable(
            tuple(Key(None, system, item, group) for system, item in sums),
            {"mqm": np.array([mean_of_ratings(one) for one in given])},
            "segment",
            self.name,
            (*self.notes, *notes),
            ratings={"mqm": given},
        )

    def dataset(self) -> Dataset:
        """The rated texts, with the scores as criterion `mqm`, and the marks of errors taken out.

        Raises:
            InputError: what `scores` raises.
        """
        table = self.scores()
        texts: dict[tuple[str, str], Mark] = {}
        different = 0
        for mark in self.marks:
            first = texts.setdefault((mark.system, mark.item), mark)
            different += first.hypothesis != mark.hypothesis
        given = zip(texts.values(), table.keys, table.ratings["mqm"], strict=True)
        segments = [
            Segment(
                f"{key.system}:{key.item}",
                mark.hypothesis,
                (),
                ERROR_SIGN.sub("", mark.source),
                key.system,
                key.item,
                None,
                {"mqm": [one for _, one in ratings] if len(ratings) > 1 else ratings[0][1]},
                raters={"mqm": tuple(rater for rater, _ in ratings)},
            )
            for mark, key, ratings in given
        ]
        said = f"{counted(different, 'row')} with another text than the first of the segment, which is kept"
        notes = (*table.notes, *([f"{self.name}: {said}"] if different else []))
        return Dataset(tuple(segments), self.name, notes)


def open_mqm(file: InputFile) -> HeldSource:
    """The texts of a file of annotations, with the scores of the standard weights."""
    return HeldSource(read_mqm(file).dataset(), [file])


def read_mqm(path: str | os.PathLike[str] | InputFile) -> Markings:
    """Read the annotations of an MQM file: one row per error, several per segment and rater.

    Read as data, the score of a segment is minus the sum of weights, averaged over raters: Major 5, Minor 1, Major
    Non-translation 25, Minor Fluency/Punctuation 0.1, Neutral and No-error 0. The most specific weight counts, and a
    severity without a weight is refused; `scores(weights)` takes others. A segment without errors has a row `No-error`
    and scores 0; one that nobody rated has no row and no score. Planted errors (`HOTW-test`) do not count. The file
    holds no references: if a person's translation stands among its systems, name it with `--reference-system ref-A`.

    Args:
        path: TSV, plain or `.gz`, whose cells may be quoted as spreadsheets do it. Its header names at least system,
            doc, doc_id, rater, source, target, category and severity, as in Google's annotations (since 2023 with
            `docSegId` and `globalSegId`). The item is `seg_id`, or `DOC:DOC_ID` where there is none.

    Raises:
        InputError: a column is missing, a row has fewer or more cells, or one `seg_id` stands for two places in the
            documents.
    """
    file = path if isinstance(path, InputFile) else InputFile(path)
    records = Records(file, "\t")
    lines, rows = records.lines, iter(records)
    columns = _columns(next(rows, (0, None))[1], file, lines)
    numbered = "seg_id" in columns
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
                f" {first[2]}; without the column seg_id items are numbered by document",
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


def read_mqm_averages(path: str | os.PathLike[str]) -> ScoreTable:
    """Read the published averages: `system mqm_avg_score seg_id`, separated by blanks; `None` if nobody rated.

    On the command line they are ratings of their own: `nlgauge meta DATA --judgements FILE`.

    Raises:
        InputError: the header or the number of cells is not as expected, or a cell is not a number.
    """
    file = InputFile(path)
    lines = Lines(file)
    faults = Faults(file.name)
    keys, values = [], []
    names = "system mqm_avg_score seg_id"
    rows = words_of(lines, names, lambda header: {*header} == {*names.split()})
    columns = next(rows, (0, list[str]()))[1]
    for line_number, cells in rows:
        if len(cells) != len(columns):
            reason = f"{counted(len(cells), 'cell')}, expected 3: system, score, number of the segment"
            faults.add(lines.at(line_number), reason)
            continue
        row = dict(zip(columns, cells, strict=True))
        try:
            values.append(number_in(row["mqm_avg_score"]) + 0.0)  # they write -0.000000 for a perfect text
        except ValueError as error:
            faults.add(lines.at(line_number), f"score {error}")
            continue
        keys.append(Key(None, row["system"], row["seg_id"]))
    faults.check()
    if not keys:
        raise InputError(f"{file.name} is empty: no row in it, expected system, score and segment")
    return ScoreTable(tuple(keys), {"mqm": np.array(values)}, "segment", file.name, tuple(lines.notes()))


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
