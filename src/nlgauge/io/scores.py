"""Scores from any program: tables of numbers keyed by id, or by system and item; and what stands beside their file."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.result import replacing
from nlgauge.core.segment import Frame, RepeatedKey, is_frame, repeated, unique
from nlgauge.core.spec import version
from nlgauge.core.suite import ScoredPair
from nlgauge.core.tables import Key, Origin, ScoreTable, SingleRatings, mean_of_ratings
from nlgauge.io.fields import (
    CRITERION,
    NAMES,
    OF_ITEMS,
    RATED,
    RATER,
    WHOSE,
    Fractions,
    check_rated,
    is_known,
    like_criteria,
    note_of_guess,
    truth,
)
from nlgauge.io.files import STDIN, Faults, InputFile, Lines, by_content, counted, number_in, unpacked_name
from nlgauge.io.frames import nested_rows
from nlgauge.io.frames import rows_of as rows_of_frame
from nlgauge.io.parallel import system_names
from nlgauge.io.read import by_name
from nlgauge.io.rows import Records, joined, mended, rows_of
from nlgauge.io.wmt.mtme import LEVELS, score_lines
from nlgauge.io.wmt.submissions import read_submission

SUFFIX = ".meta.json"
_BY_LINES = "{}: one number on each line; line i is taken for item i"


def write_beside(
    path: str | os.PathLike[str],
    metrics: Sequence[Mapping[str, Any]],
    parts: Mapping[str, Mapping[str, bool | None]] | None = None,
) -> None:
    """Write what is known of the columns of a file of rows that is written already.

    Args:
        path: the file of rows. Nothing is written beside a pipe or a terminal.
        metrics: the metrics as a result file has them: `spec`, which is the name of a column, `signature` and
            `higher_is_better`.
        parts: specification -> part -> whether higher is better; None for a part that is no score.
    """
    path = os.fspath(path)
    if not os.path.isfile(path):
        return
    about = {
        "schema": 1,
        "kind": "segments",
        "version": version("nlgauge"),
        "sha256": InputFile(path).entry["sha256"],
        "metrics": [
            {key: metric[key] for key in ("spec", "signature", "higher_is_better")}
            | ({"parts": known} if (known := dict((parts or {}).get(metric["spec"], {}))) else {})
            for metric in metrics
        ],
    }
    with replacing(path + SUFFIX) as file:
        json.dump(about, file, ensure_ascii=False, indent=1)
        file.write("\n")


def read_beside(file: InputFile) -> tuple[dict[str, Origin], list[str]]:
    """The metadata of a file of scores: column -> origin; and notes.

    If the file has changed since, its directions hold, and its signatures do not.

    Raises:
        InputError: it cannot be read, or is not what `write_beside` writes.
    """
    path = file.path + SUFFIX
    wrong = f"{path} is not what nlgauge writes beside {file.path}; delete it, or write both again with --segments"
    try:
        with open(path, encoding="utf-8") as opened:
            about = json.load(opened, object_pairs_hook=unique)
        same = about["sha256"] == file.entry["sha256"]
        origins: dict[str, Origin] = {}
        parts: set[str] = set()
        for metric in about["metrics"]:
            spec, signature = str(metric["spec"]), str(metric["signature"]) if same else ""
            origins[spec] = Origin(metric["higher_is_better"], signature)
            for part, up in metric.get("parts", {}).items():
                parts.add(f"{spec}.{part}")
                origins[f"{spec}.{part}"] = Origin(up, f"{signature}|part:{part}" if same else "")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{wrong} ({type(error).__name__}: {error})") from None
    if not all(isinstance(up, bool) or (up is None and name in parts) for name, (up, _) in origins.items()):
        raise InputError(f"{wrong} (higher_is_better is neither true nor false)")
    changed = f"{file.name} has changed since {path} was written; its directions are used, its signatures are not"
    return origins, [] if same else [changed]


# --- Scores from any program: tables of numbers keyed by id, or by system and item

_SCORED = Origin(True)
_WMT = {"SYS": "system", "SID": "seg"}
KEYS = ("id", "system", "seg", "lp", "task", RATER, RATED)
_CALLED: Mapping[str, Sequence[str]] = {  # what others call them
    "id": (),
    "system": ("system_id", "system_name", "model"),
    RATER: ("annotator", "annotator_id", "rater_id", "worker_id"),
    RATED: ("criteria", "aspect", "dimension"),
    "seg": ("segment_id", "segment", "item_id", "item"),
}
_LANGUAGES = re.compile(r"[a-z]{2,3}(?:_[A-Za-z]+)*-[a-z]{2,3}(?:_[A-Za-z]+)*")
_SCORE = re.compile(r"(?P<name>.+)\.(?P<level>sys|domain|doc|seg)\.score(?:\.gz)?")
_Row = tuple[str, Mapping[str, Any] | str]  # its place, and its fields or what is wrong with it


def read_scores(
    path: str | os.PathLike[str] | Frame,
    columns: Sequence[str] | None = None,
    names: Mapping[str, str] | None = None,
    *,
    ratings: bool = False,
) -> ScoreTable:
    """Read scores of any program from a file or a frame.

    Scores are joined to texts by id, or by system, item and language pair (or task), never by position alone. A missing
    score is refused, and the message names the first segments that lack one; in Python `missing="nan"` gives NaN. These
    are read:

    - rows with `id`, or `seg` with `system`, and perhaps `lp` or `task`. Columns whose first cell is a number are
      scores; a note lists the others. In JSON lines they may be nested in `scores`, and names are joined with `_`;
    - sacrerouge's JSON lines; rows about references are left out and counted;
    - what `comet-score` prints, and its `--to_json`: the name of the file without its ending is the system;
    - a text with one number on each line, as BLEURT and WMT QE write: line i is item i, for the texts of one system;
    - `.seg.score` and `.sys.score` of WMT and of mt-metrics-eval.

    What `--segments` wrote is read back exactly, with directions and signatures, as long as `FILE.meta.json` stands
    beside it: move the two together. Without it the direction is taken from the name of the column: TER, WER and other
    known error rates fall with quality, unless no value is above 0, and any other name is taken to rise.
    `--lower-is-better NAME` settles it, and `higher_is_better` of the metric `scores`.

    Args:
        path: a frame, or JSON lines, TSV, CSV (each also `.gz`), Parquet or text. Of rows of several people, who are
            named as `rater`, a score is the mean; where rows name a `criterion`, their numbers are columns of that
            name. Rows that have only `system` are scores of systems.
        columns: the columns of scores to read; if None, all columns whose first cell is a number.
        names: column -> `id`, `system`, `seg`, `lp`, `task`, `rater` or `criterion`, if the file uses other names.
        ratings: read columns `human.CRITERION`, too, which `meta --segments` writes.

    Returns:
        The rows in the order of the file. `None`, `nan`, `NA`, `null` and an empty cell are missing values, NaN. If
        FILE.meta.json stands beside the file, it says in which direction the columns run and what signed them.

    Raises:
        InputError: the extension is unknown, a row has no key, there is no score, a cell in a column of numbers is not
            a number, or two rows are about the same thing. The error names the file and the line.
        MissingExtra: the file is Parquet, and pyarrow is not installed.
    """
    if not isinstance(path, str | os.PathLike) and is_frame(path):
        return _table(rows_of_frame(path), type(path).__name__, _Columns(columns, ratings), names or {}, [])
    file = InputFile(path)
    if PurePath(unpacked_name(file.path)).suffix.lower() == ".score":
        return _chosen(_score_file(file), columns)
    notes: list[str] = []
    rows = raw_rows(file, notes)
    table = _table(rows, file.name, _Columns(columns, ratings), names or {}, notes)
    table = dataclasses.replace(table, by_lines=_BY_LINES.format(file.name) in notes)
    if not os.path.isfile(file.path + SUFFIX):
        return table
    origins, told = read_beside(file)
    no_scores = [
        name for name in table.columns if columns is None and origins.get(name, _SCORED).higher_is_better is None
    ]
    told += [f"{file.name}: column {name!r} left out: neither higher nor lower is better" for name in no_scores]
    scores = {name: values for name, values in table.columns.items() if name not in no_scores}
    return dataclasses.replace(table, columns=scores, origins=origins, notes=(*table.notes, *told))


def called(field: str, header: Iterable[str]) -> list[str]:
    """The columns that may be a key, by their names as people write them in spreadsheets: `Item`, `Segment ID`."""
    known = {field, *_CALLED[field]}
    return [name for name in header if "_".join(name.lower().split()) in known]


def guessed_keys(header: Collection[str], named: Mapping[str, str]) -> dict[str, str]:
    """Field -> column of a table of scores or ratings, where one name that is not taken leaves no doubt.

    Args:
        header: the columns.
        named: column -> field, where it is known.
    """
    found: dict[str, str] = {}
    for field in _CALLED:
        there = [name for name in called(field, header) if name not in named]
        known = {*header, *named.values(), *found}
        is_keyed = field == "seg" and "id" in known and RATER not in known  # else the id is that of a rating
        if len(there) == 1 and field not in known and not is_keyed:
            found[field] = there[0]
    return found


def raw_rows(file: InputFile, notes: list[str]) -> Iterator[_Row]:
    """The rows of a file, each with its place; what is dropped is told in `notes`.

    Raises:
        InputError: the extension is unknown.
        MissingExtra: the file is Parquet, and pyarrow is not installed.
    """
    kind = by_content(file) if file.path == STDIN else by_name(file.path)
    if kind == "jsonl":
        return _json_rows(file, notes)
    if kind in ("tsv", "csv"):
        return _cell_rows(file, "\t" if kind == "tsv" else ",", notes)
    if kind == "parquet" and unpacked_name(file.path) == file.path:
        return nested_rows(file)
    told = _number_lines(file, notes) if kind is None else None
    if told is not None:
        return told
    raise InputError(
        f"{file.name}: the format cannot be told from the name, expected .jsonl, .tsv, .csv, .parquet, .seg.score"
        " or .sys.score, one number on each line, or what comet-score prints"
    )


def _table(
    rows: Iterator[_Row],
    name: str,
    columns: _Columns,
    names: Mapping[str, str],
    notes: list[str],
) -> ScoreTable:
    for column, renamed in names.items():
        if renamed not in KEYS:
            raise InputError(f"column {column!r} cannot be {renamed!r}, expected one of {', '.join(KEYS)}")
    faults = Faults(name)
    found = _Found(columns)
    for where, raw in rows:
        if isinstance(raw, str):  # a row that is none, and why
            faults.add(where, raw)
            continue
        if not found.keys and "id" not in {*raw, *names.values()}:  # a table of scores by id may have any column
            guess = {field: own for field, own in guessed_keys(raw, names).items() if field in ("system", "seg")}
            names = {**names, **{column: field for field, column in guess.items()}}
            notes.extend(note.partition(";")[0] for note in note_of_guess(name, guess))  # no option names them
        with faults.row(where):
            found.add({names.get(column, column): cell for column, cell in raw.items()} if names else raw, where)
    faults.check()
    for fraction in found.fractions:
        fraction.check(name)
    if not found.keys:
        raise InputError(f"{name} is empty: no row in it, expected scores")
    values = found.scores.arrays(name, len(found.keys))
    table_notes = (*notes, *found.scores.notes(name))
    outputs = {key[:2] for key in found.keys}  # (id, system)
    if all(key.id and key.system for key in found.keys) and len({own for own, _ in outputs}) < len(outputs):
        found.keys = [key._replace(id=None, item=key.item or key.id) for key in found.keys]
        column = next((column for column, field in names.items() if field == "id"), "id")
        table_notes = (*table_notes, OF_ITEMS.format(name, column))
    if not any(found.raters) and not any(found.criteria):
        return ScoreTable(tuple(found.keys), values, found.level, name, table_notes)
    return _averaged(found, values, name, table_notes)


def _averaged(found: _Found, values: Mapping[str, Array], name: str, notes: tuple[str, ...]) -> ScoreTable:
    """The table of rows of several raters: one row about each thing, with the mean of the ratings that are there."""
    rows: dict[Key, list[int]] = {}
    for row, key in enumerate(found.keys):
        rows.setdefault(key, []).append(row)
    ratings: dict[str, list[SingleRatings]] = {}
    for (column, given), of in product(values.items(), dict.fromkeys(found.criteria)):
        own = column if of is None else of if len(values) == 1 else f"{of}.{column}"
        there = [[i for i in p if found.criteria[i] == of and not math.isnan(given[i])] for p in rows.values()]
        ratings[own] = [tuple((found.raters[i], float(given[i])) for i in places) for places in there]
    means = {column: np.array([mean_of_ratings(one) for one in given]) for column, given in ratings.items()}
    if not any(found.raters):
        return ScoreTable(tuple(rows), means, found.level, name, notes)
    people = {rater for given in ratings.values() for own in given for rater, _ in own} - {None}
    nameless = sum(rater is None for rater in found.raters)
    notes = (*notes, *([f"{name}: {counted(nameless, 'row')} of no rater who is named"] if nameless else []))
    said = (
        f"{name}: {len(found.keys)} ratings of {counted(len(rows), found.level)} by {counted(len(people), 'rater')};"
        " a number is their mean"
    )
    return ScoreTable(tuple(rows), means, found.level, name, (*notes, said), ratings=ratings)


class _Found:
    """The keys and scores of the rows so far."""

    def __init__(self, scores: _Columns) -> None:
        self.keys: list[Key] = []
        self.raters: list[str | None] = []
        self.criteria: list[str | None] = []
        self.scores, self.level = scores, ""
        self.fractions = Fractions("id"), Fractions("seg")
        self._places: dict[tuple[Key, str | None, str | None], str] = {}
        self._like: list[str] | None = None  # columns that are not read and may say what was rated
        self._rated: dict[int, list[Any]] = {}

    def add(self, row: Mapping[str, Any], where: str) -> None:
        """Add a row.

        Raises:
            InputError: it is about nothing, about what another row is about, or holds no number where one is expected.
        """
        key = _key(row)
        if (row.get(RATER), row.get(RATED)) != (None, None) and key.item is not None:
            key = key._replace(id=None)  # which is that of a rating
        for fraction, part in zip(self.fractions, (key.id, key.item), strict=True):
            fraction.add(part)
        level = "system" if key.id is None and key.item is None else "segment"
        if level == "system" and key.system is None:
            raise InputError(
                f"neither 'id' nor 'seg' nor 'system'; fields found: {', '.join(map(repr, row)) or 'none'}"
            )
        if level != (self.level or level):
            raise InputError(f"about a {level}, the rows before it about {self.level}s; expected one level per file")
        identity = key._replace(item=None, group=None) if key.id is not None else key
        who, criterion = (None if row.get(name) is None else str(row[name]) or None for name in (RATER, RATED))
        rater = " ".join((who or "").split()) or None
        self._like = like_criteria(row) if self._like is None else self._like
        if self._like and criterion is None:
            check_rated(self._rated, identity, row, self._like)
        first = self._places.setdefault((identity, rater, criterion), where)
        if first != where:
            way = "rows about items need a column 'seg'; " if level == "system" else ""
            if rater is not None:
                other = (
                    f"keep one of them, or, of several criteria, say which column names them: --columns {RATED}=NAME"
                )
                raise InputError(f"a second rating by {rater!r} of {key}, the first is {first}; {other}")
            raise InputError(f"a second row about {key}, the first is {first}; {way}{WHOSE}")
        self.scores.add(row, where, len(self.keys))
        self.level = level
        self.keys.append(key)
        self.raters.append(rater)
        self.criteria.append(criterion)


class _Columns:
    """The columns of scores: those that are requested, or all whose cells are numbers."""

    def __init__(self, asked: Sequence[str] | None, ratings: bool) -> None:
        self._asked, self._ratings = asked, ratings
        self._values: dict[str, list[float]] = {column: [] for column in asked or ()}
        self._texts: dict[str, str] = {}  # columns left out -> what they begin with, and where
        self._truths: dict[str, str] = {}  # columns of truth values, which are numbers where there are no others

    def add(self, row: Mapping[str, Any], where: str, above: int) -> None:
        """Add the cells of one row, which has `above` rows before it."""
        for column in row if self._asked is None else self._asked:
            if self._asked is None and (self._leaves(column) or column in self._texts):
                continue
            if self._asked is not None and column not in row:
                raise InputError(f"no column {column!r}; columns found: {', '.join(map(repr, row))}")
            known = truth(row[column]) if column in self._truths or not self._values.get(column) else None
            if known is not None:
                self._truths.setdefault(column, f"{row[column]!r} in {where}")
            try:
                value = _number(row[column]) if known is None else known
            except ValueError as error:
                if self._asked is None and all(math.isnan(v) for v in self._values.get(column, ())):
                    self._texts[column] = f"{error} in {where}"
                    self._values.pop(column, None)
                    continue
                raise InputError(f"column {column!r} is {error}") from None
            values = self._values.setdefault(column, [])
            values += [math.nan] * (above - len(values))  # a field that began later
            values.append(value)

    def _leaves(self, column: str) -> bool:
        """Whether a column is no score: a field of segments, such as a rating that is not asked for."""
        return is_known(column) and not (self._ratings and column.startswith(CRITERION))

    def arrays(self, name: str, n: int) -> dict[str, Array]:
        """The columns of numbers as arrays of shape (n,)."""
        numbers = {column: values for column, values in self._values.items() if column not in self._truths}
        if numbers and self._asked is None:
            self._values, self._texts = numbers, self._truths | self._texts
        if not self._values:
            why = "; ".join(f"{column!r} is {text}" for column, text in self._texts.items())
            raise InputError(f"{name}: no column of scores{f' ({why})' if why else ''}")
        return {column: np.array(v + [math.nan] * (n - len(v))) for column, v in self._values.items()}

    def notes(self, name: str) -> Iterator[str]:
        """Which columns are left out, and in how many rows the other columns have no number."""
        for column, text in self._texts.items():
            yield f"{name}: column {column!r} left out: {text}"
        n = max(map(len, self._values.values()))
        for column, values in self._values.items():
            missing = sum(math.isnan(value) for value in values) + n - len(values)
            if missing:
                yield f"{name}: column {column!r} has no number in {missing} of {counted(n, 'row')}"


def _key(row: Mapping[str, Any]) -> Key:
    parts: dict[str, str | None] = {}
    for name in KEYS:
        value = row.get(name)
        if type(value) is int:
            value = str(value)
        if value is not None and type(value) is not str:
            raise InputError(f"field {name!r} is {value!r}, expected a string")
        parts[name] = value or None
    return Key(parts["id"], parts["system"], parts["seg"], parts["lp"] if parts["lp"] is not None else parts["task"])


def _number(cell: Any) -> float:
    if cell is None:
        return math.nan
    if type(cell) is str:
        return number_in(cell)
    if type(cell) not in (int, float):
        raise ValueError(f"{json.dumps(cell, default=repr, skipkeys=True)[:60]}, expected a number or null")
    try:
        value = float(cell)
    except OverflowError:
        value = math.inf
    if math.isinf(value):
        raise ValueError(f"{str(cell)[:20]}, expected a finite number of 64 bits or null")
    return value


def _json_rows(file: InputFile, notes: list[str]) -> Iterator[_Row]:
    """JSON as Python writes it, so that NaN is allowed as a number."""
    references = 0
    for where, row in _json_values(file, notes):
        if isinstance(row, str):
            yield where, row
            continue
        if type(row) is not dict:
            yield where, "not an object, expected one with 'id' and scores"
            continue
        if {"instance_id", "summarizer_id", "metrics"} <= row.keys():
            if row.get("summarizer_type") == "reference":
                references += 1
                continue
            row = {"system": row["summarizer_id"], "seg": row["instance_id"], "scores": row["metrics"]}
        if type(row.get("scores")) is dict:
            row = {**{name: row[name] for name in NAMES if name in row}, **dict(_flat(row["scores"]))}
        yield where, row
    if references:
        notes.append(f"{file.name}: {counted(references, 'row')} about a reference left out")


def _json_values(file: InputFile, notes: list[str]) -> Iterator[tuple[str, Any]]:
    """The values of a file, each with its place: its lines, the entries of its one array, or the rows of its one object
    (see `jsonl.rows_of`, and what COMET writes: the name of a file -> its segments). A text says why there is none."""
    lines = Lines(file)
    texts = (line for _, line in lines if line.strip(" \t\r"))
    first = next(texts, "")
    whole, several = _parsed(first, file, lines.at(1)), next(texts, None) is not None
    if isinstance(whole, str) and first.strip(" \t\r")[-1:] in ("{", "[", ",", ":"):
        parsed = _parsed(str(joined(file), "utf-8"), file, file.name)
        whole, several = (whole, several) if isinstance(parsed, str) else (parsed, False)
    rows = None if several else whole if type(whole) is list else _of_comet(whole) or rows_of(whole)
    if rows is not None:
        yield from ((f"{file.name}, entry {number}", row) for number, row in enumerate(rows, start=1))
        return
    for place, line in lines:
        if line.strip(" \t\r"):
            yield lines.at(place), _parsed(line, file, lines.at(place))
        else:
            lines.blank += 1
    notes += lines.notes()


def _parsed(text: str, file: InputFile, where: str) -> Any:
    """A value of JSON; or a text that says why it is none."""
    try:
        value = json.loads(mended(text), object_pairs_hook=unique)
    except RepeatedKey as error:
        return str(error)
    except (ValueError, RecursionError) as error:
        return f"not valid JSON ({str(error).splitlines()[0]})"
    file.limits.check_json(text, value, where)
    return "not an object, expected one with 'id' and scores" if isinstance(value, str) else value


def _of_comet(value: Any) -> list[Any] | None:
    """The rows of what `comet-score --to_json` writes: file of hypotheses -> its segments with texts and scores."""
    if type(value) is not dict or not value or not all(type(part) is list and part for part in value.values()):
        return None
    if not all(type(row) is dict and type(row.get("mt")) is str for part in value.values() for row in part):
        return None
    return [
        {"system": system, "seg": str(number), **{k: v for k, v in row.items() if type(v) in (int, float, type(None))}}
        for system, part in zip(system_names(list(value)), value.values(), strict=True)
        for number, row in enumerate(part, start=1)
    ]


_COMET_LINE = re.compile(r"(?:(?P<file>.+)\t)?Segment (?P<number>[0-9]+)\tscore: (?P<score>\S+)")
_COMET_MEAN = re.compile(r"(?:.+\t)?(?:System )?score: \S+")


def _number_lines(file: InputFile, notes: list[str]) -> Iterator[_Row] | None:
    """The scores of a text file: one number on each line, or what `comet-score` prints; None if it is neither."""
    first = next((line for _, line in Lines(file) if line.strip()), "").strip(" \t\r")
    if _COMET_LINE.fullmatch(first):
        return _comet_lines(file)
    try:
        number_in(first)
    except ValueError:
        return None
    name = PurePath(unpacked_name(file.path)).stem
    notes.append(_BY_LINES.format(file.name))
    lines = Lines(file)
    return ((lines.at(place), {"seg": str(place), name: line}) for place, line in lines)


def _comet_lines(file: InputFile) -> Iterator[_Row]:
    lines = Lines(file)
    found = [(lines.at(place), line.strip(" \r"), _COMET_LINE.fullmatch(line.strip(" \r"))) for place, line in lines]
    files = list(dict.fromkeys(match["file"] for _, _, match in found if match and match["file"]))
    names = dict(zip(files, system_names(files), strict=True)) if files else {}
    for where, line, match in found:
        if match is not None:
            named = {"system": names[match["file"]]} if match["file"] else {}
            yield where, {**named, "seg": str(int(match["number"]) + 1), "COMET": match["score"]}
        elif line and _COMET_MEAN.fullmatch(line) is None:
            yield where, f"{line[:60]!r}, expected FILE, Segment N and its score as comet-score prints them"


def _flat(scores: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Nested scores as a flat mapping, whose names are joined with `_`."""
    for name, value in scores.items():
        if type(value) is dict:
            yield from _flat(value, f"{before}{name}_")
        else:
            yield f"{before}{name}", value


def _cell_rows(file: InputFile, delimiter: str, notes: list[str]) -> Iterator[_Row]:
    records = Records(file, delimiter)
    header: list[str] | None = None
    between_blanks = False  # as WMT22 publishes its ratings, under names in .csv
    for place, cells in records:
        where = records.lines.at(place)
        if between_blanks:
            cells = " ".join(cells).split()
        if header is None:
            header = cells
            between_blanks = len(cells) == 1 and set(_WMT) <= {*cells[0].split()}
            if between_blanks:
                header = [_WMT.get(name, name) for name in cells[0].split()]
            file.limits.check("columns", len(header), where)
            twice = repeated(header)
            if twice is not None:
                raise InputError(f"{where}: the header names column {twice!r} twice")
            continue
        if len(cells) != len(header):
            yield where, f"{counted(len(cells), 'cell')}, expected {len(header)} as in the header"
            continue
        yield where, dict(zip(header, cells, strict=True))
    notes += records.notes()


def _score_file(file: InputFile) -> ScoreTable:
    """Read a file of WMT or of mt-metrics-eval. The number of words in the first line tells which it is."""
    match = _SCORE.fullmatch(Path(file.path).name)
    if match is None:
        raise InputError(
            f"{file.name}: the level cannot be told from the name, expected NAME.seg.score or NAME.sys.score"
        )
    first = next(Lines(file).filled(), (0, ""))[1]
    if len(first.split("\t") if "\t" in first else first.split()) > 3:
        return read_submission(file.path).table()
    name, level = match["name"], LEVELS[match["level"]]
    folder = Path(file.path).parent.name
    front, _, rest = name.partition(".")
    if rest and _LANGUAGES.fullmatch(front):  # human-scores/en-de.mqm.seg.score
        return _blocks(file, rest, level, front)
    # metric-scores/en-de/BLEU-refA.seg.score
    return _blocks(file, name, level, folder if _LANGUAGES.fullmatch(folder) else None)


def _blocks(file: InputFile, name: str, level: str, group: str | None) -> ScoreTable:
    counts: dict[str, int] = {}
    keys, values = [], []
    at: Callable[[], str]
    for at, domain, system, score in score_lines(file, level == "domain"):
        counts[system] = counts.get(system, 0) + 1
        if level == "system" and counts[system] > 1:
            raise InputError(f"{at()}: a second score of system {system!r}, expected one")
        item = domain if level == "domain" else None if level == "system" else str(counts[system])
        keys.append(Key(None, system, item, group))
        values.append(score)
    if not keys:
        raise InputError(f"{file.name} is empty: no line in it, expected SYSTEM SCORE")
    first, n = next(iter(counts.items()))
    for system, own in counts.items():
        if own != n:
            raise InputError(
                f"{file.name}: system {system!r} has {counted(own, 'score')}, system {first!r} has {n}; expected one"
                f" per {level} each"
            )
    missing = sum(math.isnan(value) for value in values)
    notes = (f"{file.name}: no number in {missing} of {counted(len(values), 'line')}",) if missing else ()
    return ScoreTable(tuple(keys), {name: np.array(values)}, level, file.name, notes)


def _chosen(table: ScoreTable, columns: Sequence[str] | None) -> ScoreTable:
    if columns is None:
        return table
    return dataclasses.replace(table, columns={name: table.column(name) for name in columns})


# --- Scored pairs of a suite: the rows that `audit --segments` writes

_SCORES = ("better", "worse", "won")  # of a metric, behind its name and a dot


def read_scored_pairs(path: str | os.PathLike[str]) -> list[ScoredPair] | None:
    """Read the rows that `audit --segments` wrote, in any of its formats.

    Returns:
        One for each row; None if the file holds other rows.

    Raises:
        InputError: the file cannot be read, or a score is not a number. The error names the file and the line.
        MissingExtra: the file is Parquet, and pyarrow is not installed.
    """
    file = InputFile(path)
    if unpacked_name(file.path).endswith(".score"):
        return None
    found: list[ScoredPair] = []
    for where, row in raw_rows(file, []):
        if isinstance(row, str):
            raise InputError(f"{where}: {row}")
        specs = [name.removesuffix(".won") for name in row if name.endswith(".won")]
        if not specs or not {"id", "phenomenon"} <= row.keys():
            return None
        scores = {spec: _scores(row, spec, where) for spec in specs}
        known = {spec: own for spec, own in scores.items() if not any(map(math.isnan, own))}
        name, phenomenon, better, worse = (
            str(row.get(field) or "") for field in ("id", "phenomenon", "better", "worse")
        )
        found.append(ScoredPair(name, phenomenon, better, worse, known))
    return found or None


def _scores(row: Mapping[str, Any], spec: str, where: str) -> tuple[float, float, float]:
    cells = (row.get(f"{spec}.{name}") for name in _SCORES)
    try:
        better, worse, won = (
            math.nan if cell is None else number_in(cell) if isinstance(cell, str) else float(cell) for cell in cells
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where}: a score of {spec} is {error}") from None
    return better, worse, won
