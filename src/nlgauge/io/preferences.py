"""Preferences, by which one output is better than another: WMT's relative ranks, pairs of ids, COMET's ranking data."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.tables import Key, Preference, Preferences
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Faults, Lines, counted, number
from nlgauge.io.files.records import Records
from nlgauge.io.jsonl import JsonRows


def read_relative_ranks(
    path: str | os.PathLike[str], renames: Mapping[str, str] | None = None, strip_document: bool = False
) -> Preferences:
    """Read the pairs of `RR-seglevel.csv` or `DArr-seglevel.csv`: a header, then `LP DATA SID BETTER WORSE`.

    Words are separated by blanks.

    Args:
        path: the file, plain or `.gz`. The header of 2018 lacks one name, which does not matter. A sixth word is the
            difference between the two ratings.
        renames: system as written in the file -> its real name.
        strip_document: `SID` has the form `DOCUMENT::NUMBER`, and only the number is the item.

    Raises:
        InputError: the header does not end as expected, a line has another number of words, or a system is compared
            with itself.
    """
    file = InputFile(path)
    lines = Lines(file)
    pairs: list[Preference] = []
    header: list[str] | None = None
    known = renames or {}
    faults = Faults(file.name)
    for place, line in lines.filled():
        cells = line.split()
        if header is None:
            header = [cell.upper() for cell in cells]
            if header[-3:] != ["SID", "BETTER", "WORSE"] and header[-4:-1] != ["SID", "BETTER", "WORSE"]:
                raise InputError(f"{lines.at(place)}: header {line!r}, expected 'LP DATA SID BETTER WORSE'")
            continue
        with faults.row(lines.at(place)):
            pairs.append(_compared(cells, known, strip_document))
    faults.check()
    if not pairs:
        raise InputError(f"{file.name} is empty: no pair in it, expected LP DATA SID BETTER WORSE")
    notes = list(lines.notes())
    repeated = {(pair.better, pair.worse) for pair in pairs}
    again = len(pairs) - len(repeated)
    both = sum((worse, better) in repeated for better, worse in repeated) // 2
    if again:
        notes.append(f"{file.name}: {counted(again, 'pair')} judged again, all kept")
    if both:
        notes.append(f"{file.name}: {counted(both, 'pair')} judged both ways, all kept")
    return Preferences(tuple(pairs), file.name, tuple(notes))


def _compared(cells: Sequence[str], known: Mapping[str, str], strip_document: bool) -> Preference:
    """The pair in the words of a line."""
    if len(cells) not in (5, 6):
        raise InputError(f"{counted(len(cells), 'word')}, expected LP DATA SID BETTER WORSE and perhaps the difference")
    lp, _, item, better, worse = cells[:5]
    if strip_document:
        item = item.rpartition("::")[2]
    if better == worse:
        raise InputError(f"system {better!r} is better than itself")
    try:
        margin = number(cells[5]) if len(cells) == 6 else float("nan")
    except ValueError as error:
        raise InputError(f"difference {error}") from None
    return Preference(
        Key(None, known.get(better, better), item, lp), Key(None, known.get(worse, worse), item, lp), margin
    )


def read_pairs(path: str | os.PathLike[str]) -> Preferences:
    """Read pairs of segment ids from JSON lines: `better_id` and `worse_id`, or `better` and `worse`.

    A line may also have a `margin`.

    Raises:
        InputError: a line lacks one of the two ids, or both are the same.
    """
    rows = JsonRows(InputFile(path))
    pairs: list[Preference] = []
    faults = Faults(rows.file.name)
    rows.refuse = faults.add
    for place, row in rows:
        with faults.row(rows.at(place)):
            pairs.append(_pair(row))
    faults.check()
    if not pairs:
        raise InputError(f"{rows.file.name} is empty: no pair in it, expected better_id and worse_id")
    return Preferences(tuple(pairs), rows.file.name, tuple(rows.notes()))


def _pair(row: Any) -> Preference:
    """The pair in an object."""
    if type(row) is not dict:
        raise InputError("not an object, expected one with 'better_id' and 'worse_id'")
    better, worse = (row.get(f"{side}_id", row.get(side)) for side in ("better", "worse"))
    if type(better) is not str or type(worse) is not str:
        raise InputError(f"'better_id' and 'worse_id' must be the ids of two segments; fields found: {', '.join(row)}")
    if better == worse:
        raise InputError(f"segment {better!r} is better than itself")
    margin = row.get("margin")
    if margin is not None and type(margin) not in (int, float):
        raise InputError(f"field 'margin' is {margin!r}, expected a number")
    try:
        return Preference(Key(better), Key(worse), float("nan") if margin is None else float(margin))
    except OverflowError:
        raise InputError("field 'margin' is too large for a number of 64 bits") from None


def read_ranking(path: str | os.PathLike[str]) -> tuple[Dataset, Preferences]:
    """Read COMET's ranking data: CSV with `src`, `ref`, `pos`, `neg` and perhaps `lp`.

    Returns:
        The distinct outputs of each input as segments, whose ids are made from numbers, and the pairs of these ids.

    Raises:
        InputError: a column is missing, a row has another number of cells, or a text is compared with itself.
    """
    file = InputFile(path)
    records, faults = Records(file), Faults(file.name)
    header: list[str] | None = None
    segments: dict[tuple[str, str, str, str | None], Segment] = {}
    items: dict[tuple[str, str, str | None], str] = {}
    pairs: list[Preference] = []
    for place, cells in records:
        where = records.lines.at(place)
        if header is None:
            header = cells
            for name in ("src", "ref", "pos", "neg"):
                if name not in header:
                    raise InputError(
                        f"{where}: the header has no column {name!r}; columns found: {', '.join(map(repr, header))}"
                    )
            continue
        if len(cells) != len(header):
            faults.add(where, f"{counted(len(cells), 'cell')}, expected {len(header)} as in the header")
            continue
        row = dict(zip(header, cells, strict=True))
        group = row.get("lp") or None
        if row["pos"] == row["neg"]:
            faults.add(where, "the better text is the worse one too")
            continue
        item = items.setdefault((row["src"], row["ref"], group), str(len(items) + 1))
        keys = []
        for side in ("pos", "neg"):
            own = (row["src"], row["ref"], row[side], group)
            if own not in segments:
                segments[own] = Segment(str(len(segments) + 1), row[side], (row["ref"],), row["src"], None, item, group)
            keys.append(Key(segments[own].id))
        pairs.append(Preference(keys[0], keys[1]))
    faults.check()
    if not pairs:
        raise InputError(f"{file.name} is empty: no pair in it, expected src, ref, pos and neg")
    return Dataset(tuple(segments.values()), file.name), Preferences(tuple(pairs), file.name, tuple(records.notes()))
