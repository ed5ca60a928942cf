"""What WMT's participants exchange: texts in SGM and XML, and scores of metrics, read, written and checked."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.io.files import InputFile, Lines, counted, number_in, ordinal, unpacked_name, write_bytes

Role = Literal["hyp", "ref", "src"]
_WORDS = {"hyp": "hypotheses", "ref": "references", "src": "sources"}
_SETS: dict[str, Role] = {"tstset": "hyp", "refset": "ref", "srcset": "src", "hyp": "hyp", "ref": "ref", "src": "src"}
_MARK = re.compile(r"<(/?)(tstset|refset|srcset|doc|hyp|ref|src|seg)\b([^>]*)>", re.IGNORECASE)
_SEG_END = re.compile(r"</seg\s*>", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ATTRIBUTE = re.compile(r"""([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S+))""")
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class KeyedTexts:
    """The texts of one translator or system of a file, as numbered lines are; see `Lines`.

    Attributes:
        file: the file.
        who: the system or translator; empty if the file does not say.
        keys: document and number of each segment, or its id.
        count: the number of segments.
    """

    def __init__(self, file: InputFile, who: str, texts: Mapping[tuple[str, str], str], told: Iterable[str]) -> None:
        self.file, self.who, self.keys, self._texts = file, who, tuple(texts), tuple(texts.values())
        self.count, self._told = len(texts), [f"{file.name}: {note}" for note in told]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(enumerate(self._texts, start=1))

    def notes(self) -> list[str]:
        """That the file was read as what it is, and who is left out."""
        return self._told


def read_sgm(file: InputFile, role: Role) -> list[KeyedTexts]:
    """The texts that a file holds in a role, one entry for each system or translator, in the order of the file.

    It stands in place of a text file (`--hyp`, `--ref`, `--src`). Texts are those between the `seg` marks, and the
    documents of all files must stand in one order. White space in a text is one blank, and the five entities of XML and
    numbers of characters are replaced. A translator who lacks segments that another has is left out, with a note.

    Raises:
        InputError: the file defines entities, has no text in this role, or a mark is never closed; or a system lacks
            segments that another has, or every translator does.
    """
    lines = Lines(file)
    whole = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), "\n".join(line for _, line in lines))
    if "<!ENTITY" in whole or "<![" in whole:
        raise InputError(f"{file.name} defines entities or holds CDATA, expected plain SGM or XML of WMT")
    found: dict[Role, dict[str, dict[tuple[str, str], str]]] = {}
    kind, who, document, place, in_set = "", "", "", 0, ""
    number = 0
    while mark := _MARK.search(whole, place):
        place, name = mark.end(), mark[2].lower()
        told = {key.lower(): a or b or c for key, a, b, c in _ATTRIBUTE.findall(mark[3])}
        is_empty = mark[3].rstrip().endswith("/")
        if mark[1] or (is_empty and name != "seg"):
            kind = "" if name in _SETS else kind
        elif name == "doc":
            document, number = told.get("docid", told.get("id", document)), 0
            who = told.get("sysid", "") if in_set else ""
        elif name == "seg":
            end = mark if is_empty else _SEG_END.search(whole, place)
            if end is None:
                at = lines.at(whole.count("\n", 0, place) + 1)
                raise InputError(f"{at}: a seg that is never closed, expected </seg>")
            number += 1
            place = end.end()
            if not kind:  # of a part that is none of the three
                continue
            own = found.setdefault(_SETS[kind], {}).setdefault(who, {})
            key = (document, told.get("id", str(number)))
            if key in own:
                at = lines.at(whole.count("\n", 0, place) + 1)
                raise InputError(
                    f"{at}: segment {key[1]!r} of document {document!r} for the second time, expected once"
                )
            own[key] = "" if is_empty else _text(whole[mark.end() : end.start()], file, lines)
        elif name in ("tstset", "refset", "srcset"):
            kind = in_set = name
            who = told.get("sysid", "")
        else:  # a part of a document in XML
            kind, number = name, 0
            who = told.get("system", told.get("translator", ""))
    chosen = found.get(role) or (next(iter(found.values())) if in_set and len(found) == 1 else None)
    if not chosen:
        there = ", ".join(_WORDS[one] for one in found) or "no seg"
        raise InputError(f"{file.name} holds {there}, expected {_WORDS[role]}")
    every = dict.fromkeys(key for texts in chosen.values() for key in texts)
    lacking = {one: _lacking(texts, every) for one, texts in chosen.items() if len(texts) < len(every)}
    if lacking and (role == "hyp" or len(lacking) == len(chosen)):
        one, lack = next(iter(lacking.items()))
        raise InputError(f"{file.name}: {one!r} lacks {lack}; expected one text of each, or a file without {one!r}")
    notes = [f"{len(every)} segments read from between the marks of SGM or XML"]
    notes += [f"{one!r} lacks {lack}, and is left out" for one, lack in lacking.items()]
    return [KeyedTexts(file, one, texts, notes) for one, texts in chosen.items() if one not in lacking]


def _lacking(texts: Mapping[tuple[str, str], str], every: Iterable[tuple[str, str]]) -> str:
    """The segments that a system or translator lacks, in words."""
    absent = [place for place in every if place not in texts]
    document, segment = absent[0]
    return f"{len(absent)} of {len(absent) + len(texts)} segments, first {segment!r} of document {document!r}"


def _text(raw: str, file: InputFile, lines: Lines) -> str:
    text = _REFERENCE.sub(_character, re.sub(r"[ \t\r\n]+", " ", raw).strip(" "))
    file.limits.check("segment", len(text), file.name)
    return text


def _character(match: re.Match[str]) -> str:
    if match[1]:
        return _CHARACTERS[match[1]]
    code = int(match[2]) if match[2] else int(match[3], 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]


# --- Scores as WMT's metrics task takes them: `.seg.score` and `.sys.score`, read, written and checked

ALL = "all"  # the domain of a score for the whole test set
SOURCE = "src"  # what stands for the reference where a metric uses none

# Columns by level and first year. The task page is the authority; 2017 to 2019 added two columns of text (ensemble,
# where to get the metric) that are dropped.
LAYOUTS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "segment": {
        "2022": ("metric", "lp", "testset", "domain", "document", "reference", "system", "segment", "score"),
        "2020": ("metric", "lp", "testset", "reference", "system", "segment", "score"),
        "2017": ("metric", "lp", "testset", "system", "segment", "score"),
    },
    "system": {
        "2022": ("metric", "lp", "testset", "domain", "reference", "system", "score"),
        "2020": ("metric", "lp", "testset", "reference", "system", "score"),
        "2017": ("metric", "lp", "testset", "system", "score"),
    },
}


class SubmissionRow(NamedTuple):
    """One line; `segment` counts from 1, 0 at system level; `score` is NaN where the file has none."""

    metric: str
    lp: str
    testset: str
    system: str
    score: float
    segment: int = 0
    domain: str = ALL
    document: str = ""
    reference: str = ""


@dataclass(frozen=True)
class Submission:
    """The lines of one file.

    Attributes:
        level: `segment` or `system`.
        rows: in the order of the file.
        layout: first year of its columns: `2022`, `2020` or `2017`.
        name: the file, for errors.
        notes: what was dropped in reading.
    """

    level: str
    rows: tuple[SubmissionRow, ...]
    layout: str = "2022"
    name: str = ""
    notes: tuple[str, ...] = ()

    @property
    def testsets(self) -> tuple[str, ...]:
        """Test sets in order of first appearance."""
        return tuple(dict.fromkeys(row.testset for row in self.rows))

    def table(self, testset: str | None = None) -> ScoreTable:
        """The scores by system, segment number and language pair, in columns `METRIC-REFERENCE` (or `METRIC`).

        Args:
            testset: which one; may be left out where there is one. Another set of texts in the same file may have
                segments of the same numbers.

        Returns:
            At system level only the domain `all`; other domains and outputs scored against themselves are counted in
            the notes.

        Raises:
            InputError: several test sets and none named, or two lines about one thing.
        """
        if testset is None and len(self.testsets) > 1:
            raise InputError(
                f"{self.name}: {len(self.testsets)} test sets ({', '.join(self.testsets)}), expected the name of one"
            )
        if testset is not None and testset not in self.testsets:
            raise InputError(f"{self.name}: no test set {testset!r}{nearest(testset, self.testsets)}")
        values: dict[str, dict[Key, float]] = {}
        own, domains, others = 0, 0, 0
        for row in self.rows:
            if testset is not None and row.testset != testset:
                others += 1
            elif row.reference == row.system:
                own += 1
            elif self.level == "system" and row.domain != ALL:
                domains += 1
            else:
                key = Key(None, row.system, str(row.segment) if self.level == "segment" else None, row.lp)
                column = values.setdefault(f"{row.metric}-{row.reference}" if row.reference else row.metric, {})
                if key in column:
                    raise InputError(
                        f"{self.name}: two lines for {key}, metric {row.metric!r}, reference {row.reference!r}"
                    )
                column[key] = row.score
        keys = list(dict.fromkeys(key for column in values.values() for key in column))
        left = (
            (others, "of other test sets"),
            (own, "that score a reference against itself"),
            (domains, "of single domains"),
        )
        notes = [f"{self.name}: {counted(n, 'line')} {what} left out" for n, what in left if n]
        columns = {name: np.array([column.get(key, np.nan) for key in keys]) for name, column in values.items()}
        return ScoreTable(tuple(keys), columns, self.level, self.name, (*self.notes, *notes))


def read_submission(path: str | os.PathLike[str]) -> Submission:
    """The lines of a `.seg.score` or `.sys.score` file of WMT, plain or `.gz`.

    Columns stand between tabs, or between any blanks. They depend on the year in which they were first asked for;
    `.sys.score` has no SEGMENT and no DOCUMENT:

    - since 2022: METRIC LP TESTSET DOMAIN DOCUMENT REFERENCE SYSTEM SEGMENT SCORE;
    - since 2020: METRIC LP TESTSET REFERENCE SYSTEM SEGMENT SCORE;
    - since 2017: METRIC LP TESTSET SYSTEM SEGMENT SCORE, and up to two words.

    SEGMENT counts from 1. REFERENCE is `src` for metrics without a reference. DOMAIN is `all` for the whole set, and
    only such lines are system scores. `nlgauge meta check FOLDER M.seg.score` checks a submission by the folder of a
    test set in mt-metrics-eval's layout; `--lp` names the language pairs, without it all must be there.

    Raises:
        InputError: a name that does not tell the level, a number of columns of no year, a score or segment that is no
            number.
    """
    file = InputFile(path)
    lines = Lines(file)
    level = level_of(file.path)
    layout: str | None = None
    rows: list[SubmissionRow] = []
    for line_number, line in lines.filled():
        cells = [cell.strip() for cell in line.split("\t")] if "\t" in line else line.split()
        if layout is None:
            layout = _layout(cells, LAYOUTS[level], lines.at(line_number))
        names = LAYOUTS[level][layout]
        if len(cells) != len(names) and not (layout == "2017" and len(cells) in (len(names) + 1, len(names) + 2)):
            raise InputError(
                f"{lines.at(line_number)}: {counted(len(cells), 'column')}, expected {len(names)}:"
                f" {' '.join(names).upper()}"
            )
        rows.append(_row(dict(zip(names, cells, strict=False)), lines.at(line_number)))
    if layout is None:
        raise InputError(f"{file.name} is empty: no line in it, expected {' '.join(LAYOUTS[level]['2022']).upper()}")
    return Submission(level, tuple(rows), layout, file.name, tuple(lines.notes()))


def write_submission(path: str | os.PathLike[str], submission: Submission) -> None:
    """Write the lines of a submission, whole or not at all. Every digit is written: a reader gets the same float64.

    A score that is missing is refused, and a name that a column between tabs cannot hold.
    """
    names = LAYOUTS[submission.level][submission.layout]
    text = []
    for row in submission.rows:
        if not math.isfinite(row.score):
            what = f"system {row.system!r}, segment {row.segment}" if row.segment else f"system {row.system!r}"
            raise InputError(f"{os.fspath(path)}: no score for {what} ({row.lp}); a submission has one everywhere")
        cells = [repr(row.score) if name == "score" else str(getattr(row, name)) for name in names]
        for name, cell in zip(names, cells, strict=True):
            if not cell or any(c.isspace() for c in cell):
                raise InputError(
                    f"{os.fspath(path)}: {name} {cell!r} is empty or holds blanks, which a column between tabs cannot"
                )
        text.append("\t".join(cells) + "\n")
    write_bytes(path, "".join(text).encode())


@dataclass(frozen=True)
class Expected:
    """The extent of a submission in one language pair and one test set.

    Attributes:
        systems: all outputs, including references that are scored as systems.
        n: the number of segments.
        reference: the reference that the organisers compare with. Outputs of this name need no score.
        references: all references.
        domains, documents: their names; empty if the organisers give none.
    """

    systems: frozenset[str]
    n: int
    reference: str
    references: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()


def check_submission(submission: Submission, wanted: Mapping[str, Expected], testset: str) -> list[str]:
    """The reasons for which the organisers would refuse a submission, one line each; empty if they would accept it.

    Only lines of the test set are checked that have an expected language pair and its standard reference or `src`. The
    checks are: there is one metric name; `src` is used in all language pairs or in none; no line occurs twice; every
    system has a number for every segment (or domain); systems, domains, documents, references and the number of
    segments are as expected; and every language pair is there.
    """
    problems: list[str] = []
    inside = [
        row
        for row in submission.rows
        if row.testset == testset
        and row.lp in wanted
        and row.reference in (wanted[row.lp].reference, SOURCE, "")
        and row.system != (row.reference or wanted[row.lp].reference)
    ]
    metrics = dict.fromkeys(row.metric for row in inside)
    if len(metrics) > 1:
        problems.append(f"{len(metrics)} metric names ({_names(metrics)}), expected one in all language pairs")
    free = {lp: {row.reference == SOURCE for row in inside if row.lp == lp} for lp in wanted}
    if len(set().union(*free.values())) > 1:
        both = [lp for lp, kinds in free.items() if len(kinds) > 1]
        where = (
            f"both in {_names(both)}"
            if both
            else f"src only in {_names(lp for lp, kinds in free.items() if kinds == {True})}"
        )
        problems.append(
            f"reference {SOURCE!r} beside others ({where}); a metric uses references in all language pairs or in none"
        )
    for lp, want in wanted.items():
        rows = [row for row in inside if row.lp == lp]
        if not rows:
            problems.append(f"{lp}: no line for test set {testset!r} against {want.reference!r} or {SOURCE!r}")
            continue
        problems += [f"{lp}: {problem}" for problem in _check_pair(submission, rows, want, testset)]
    return problems


def _check_pair(submission: Submission, rows: Sequence[SubmissionRow], want: Expected, testset: str) -> Iterable[str]:
    what = "segment" if submission.level == "segment" else "domain"
    whole = [row for row in submission.rows if row.lp == rows[0].lp and row.testset == testset]
    by_system: dict[str, dict[object, float]] = {}
    for row in rows:
        unit: object = row.segment if what == "segment" else row.domain
        scores = by_system.setdefault(row.system, {})
        if unit in scores:
            yield f"system {row.system!r} has {what} {unit} twice"
        scores[unit] = row.score
    free = all(row.reference == SOURCE for row in rows)
    # A metric without references may score the reference too, and must where the organisers do.
    optional = {want.reference} - (want.systems if free else set())
    yield from _differ("systems", set(by_system) - optional, set(want.systems) - optional)
    units: list[object] = [*range(1, want.n + 1)] if what == "segment" else [*sorted(want.domains or {ALL})]
    expected_units = set(units)
    for system, scores in by_system.items():
        lacking = [unit for unit in units if unit not in scores]
        if lacking:
            yield f"system {system!r} lacks {len(lacking)} of {counted(len(units), what)}: {_names(lacking)}"
        beyond = [unit for unit in scores if unit not in expected_units]
        if beyond:
            yield f"system {system!r} has scores beyond the {counted(len(units), what)} expected: {_names(beyond)}"
        n_missing = sum(math.isnan(score) for score in scores.values())
        if n_missing:
            yield f"system {system!r} has {counted(n_missing, 'line')} without a number"
    if submission.layout == "2022":
        yield from _differ("domains", {row.domain for row in whole}, set(want.domains) or {row.domain for row in whole})
        if submission.level == "segment" and want.documents:
            yield from _differ("documents", {row.document for row in whole}, set(want.documents))
    if want.references and all(row.reference not in (SOURCE, "") for row in rows):
        yield from _differ("references", {row.reference for row in whole}, set(want.references))


def _differ(what: str, found: set[str], wanted: set[str]) -> Iterable[str]:
    if wanted - found:
        yield f"{what} lacking: {_names(sorted(wanted - found))}"
    if found - wanted:
        yield f"{what} not known: {_names(sorted(found - wanted))}"


def level_of(path: str) -> str:
    """`segment` or `system`, by the end of a file's name, `.seg.score` or `.sys.score`, also before `.gz`."""
    plain = unpacked_name(path)
    for ending, level in ((".seg.score", "segment"), (".sys.score", "system")):
        if plain.endswith(ending):
            return level
    raise InputError(f"{path}: the level cannot be told from the name, expected .seg.score or .sys.score")


def _layout(cells: Sequence[str], layouts: Mapping[str, tuple[str, ...]], where: str) -> str:
    """The first year whose columns have these cells: by their number, and by where the score stands."""
    last = _number_or_none(cells[-1])
    fitting = [year for year, names in layouts.items() if len(cells) == len(names) and last is not None]
    oldest = layouts["2017"]
    score = len(oldest) - 1
    longer = len(cells) in (len(oldest) + 1, len(oldest) + 2)
    before_words = _number_or_none(cells[score]) if longer else None
    more = before_words is not None and not math.isnan(before_words)
    # Words about the metric may end in "none", which would pass for a missing score; no name of a reference is a
    # number.
    if more and (not fitting or (math.isnan(last or 0.0) and "segment" not in oldest)):
        return "2017"
    if fitting:
        return fitting[0]
    known = "; ".join(f"{len(names)} since {year}" for year, names in layouts.items())
    raise InputError(
        f"{where}: {counted(len(cells), 'column')}, expected a score in the last of {known}:"
        f" {' '.join(layouts['2022']).upper()}"
    )


def _row(cells: Mapping[str, str], where: str) -> SubmissionRow:
    values: dict[str, object] = dict(cells)
    for name, read in (("score", number_in), ("segment", ordinal)):
        if name in cells:
            try:
                values[name] = read(cells[name])
            except ValueError as error:
                raise InputError(f"{where}: {name} {error}") from None
    return SubmissionRow(**values)  # type: ignore[arg-type]


def _number_or_none(cell: str) -> float | None:
    try:
        return number_in(cell)
    except ValueError:
        return None


def _names(names: Iterable[object], most: int = 5) -> str:
    listed = [str(name) for name in names]
    return ", ".join(listed[:most]) + (f" and {len(listed) - most} more" if len(listed) > most else "")
