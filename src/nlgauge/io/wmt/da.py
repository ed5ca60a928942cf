"""Direct assessment of WMT: the four parallel files of 2015 and 2016, and the list of judgements of 2017."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Literal

import numpy as np

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.io.files.files import InputFile, entries
from nlgauge.io.files.lines import Faults, Lines, counted, number, ordinal
from nlgauge.io.source import HeldSource

PARTS = ("source", "reference", "mt-system", "human")
CRITERION = "da_z"
# newstest2015.human.cs-en, and with "DAseg." before it in 2016
_NAME = re.compile(
    r"(?P<set>(?:DAseg\.)?[^.]+)\.(?P<part>source|reference|mt-system|human)\.(?P<lp>[^.]+-[^.]+?)(?:\.gz)?"
)


def read_da_segments(
    folder: str | os.PathLike[str], pairs: Collection[str] | None = None, criterion: str = CRITERION
) -> Dataset:
    """Read segments from four files per language pair: `SET.source.LP`, `.reference.`, `.mt-system.`, `.human.`.

    Args:
        folder: the folder with the files, plain or `.gz`.
        pairs: the language pairs to read; all pairs in the folder if None.
        criterion: the name for the numbers of `.human.`. In WMT15 and WMT16 they are means of standardised ratings.

    Returns:
        The segments, sorted by language pair. The id is `LP:LINE`, and the item is the line. The files do not say which
        system wrote a line, so segments can only be compared with each other, not item by item.

    Raises:
        InputError: there are no such files, one of the four is missing, the files differ in length, or `.human.` has
            something other than a number.
    """
    return open_da(folder, pairs, criterion).data


def is_da(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder has a file named as one of the four of a language pair."""
    return any(f".{part}." in path.name for path in entries(folder) for part in PARTS)


def open_da(
    folder: str | os.PathLike[str], pairs: Collection[str] | None = None, criterion: str = CRITERION
) -> HeldSource:
    """Like `read_da_segments`, and also returns the files that were read."""
    found: dict[str, dict[str, dict[str, Path]]] = {}
    for path in entries(folder):
        match = _NAME.fullmatch(path.name)
        if match:
            found.setdefault(match["lp"], {}).setdefault(match["set"], {})[match["part"]] = path
    if not found:
        raise InputError(f"{folder}: no files SET.source.LP, SET.reference.LP, SET.mt-system.LP, SET.human.LP in it")
    for lp in pairs or ():
        if lp not in found:
            raise InputError(f"{folder}: no language pair {lp!r}{nearest(lp, found)}")
    segments: list[Segment] = []
    files: list[InputFile] = []
    notes: list[str] = []
    for lp, sets in sorted(found.items()):
        if pairs is not None and lp not in pairs:
            continue
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
                rating = number(cell)
            except ValueError as error:
                faults.add(f"{own[3].name}:{line}", f"rating {error}")
                continue
            unrated += rating != rating
            human = {} if rating != rating else {criterion: rating}
            segments.append(Segment(f"{lp}:{line}", hypothesis, (reference,), source, None, str(line), lp, human))
        faults.check()
        if unrated:
            notes.append(f"{own[3].name}: {counted(unrated, 'segment')} without a rating")
        notes += [note for lines in texts for note in lines.notes()]
    return HeldSource(Dataset(tuple(segments), str(folder), tuple(notes)), files)


def read_da_scores(
    path: str | os.PathLike[str],
    joined: Literal["first", "each"] = "first",
    renames: Mapping[str, str] | None = None,
    criterion: str = "da",
) -> ScoreTable:
    """Read the judgements of `DA-seglevel.csv`: a header, then `LP DATA SYSTEM SID HUMAN`, separated by blanks.

    Args:
        path: the file, plain or `.gz`.
        joined: how to treat a rating of one text that several systems wrote (`A.1+B.2`). It counts for the first of
            them, as in the organisers' own script, or for each of them, which repeats one judgement.
        renames: system as written in the file -> its real name, for names that are misspelt.
        criterion: the name of the column.

    Returns:
        A table keyed by system, item (`SID`) and group (`LP`), with NaN where there is no number.

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
        systems = system.split("+")
        n_joined += len(systems) > 1
        for name in systems[:1] if joined == "first" else systems:
            key = Key(None, (renames or {}).get(name, name), item, lp)
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
        counts_for = "the first of them" if joined == "first" else "each of them"
        notes.append(
            f"{file.name}: {counted(n_joined, 'rating')} of a text that several systems wrote, counted for {counts_for}"
        )
    return ScoreTable(tuple(keys), {criterion: np.array(values)}, "segment", file.name, tuple(notes))


def _da_lines(lines: Lines, faults: Faults) -> Iterator[tuple[int, str, str, str, float]]:
    """Line number, language pair, system, item and rating of each line below the header."""
    header: list[str] | None = None
    testset = ""
    for place, line in lines.filled():
        cells = line.split()
        if header is None:
            header = [cell.upper() for cell in cells]
            if header != ["LP", "DATA", "SYSTEM", "SID", "HUMAN"]:
                raise InputError(f"{lines.at(place)}: header {line!r}, expected 'LP DATA SYSTEM SID HUMAN'")
            continue
        if len(cells) != 5:
            faults.add(lines.at(place), f"{counted(len(cells), 'word')}, expected 5: LP DATA SYSTEM SID HUMAN")
            continue
        lp, set_of_line, system, item, rating = cells
        testset = testset or set_of_line
        if set_of_line != testset:
            raise InputError(f"{lines.at(place)}: test set {set_of_line!r} after {testset!r}, expected one per file")
        try:
            value = number(rating)
            ordinal(item)
        except ValueError as error:
            faults.add(lines.at(place), str(error))
            continue
        yield place, lp, system, item, value
