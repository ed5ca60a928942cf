"""An evaluation set: texts in one file or several, and what people said of them, read in one way for every verb."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset
from nlgauge.core.tables import Preferences, ScoreTable, judged, mean_of_ratings
from nlgauge.io import read
from nlgauge.io.fields import CRITERION, RATED, RATER, is_known, note_of_guess
from nlgauge.io.files import STDIN, InputFile, Lines, by_content, unpacked_name
from nlgauge.io.parallel import system_names
from nlgauge.io.segments import HeldSource, JoinedSource, Source, drained

Entry = dict[str, str]  # path and sha256 of a file
_TABLES = (".jsonl", ".ndjson", ".json", ".parquet", ".score")  # of files whose first line is no header


def open_set(paths: Sequence[str], columns: Mapping[str, str] | None = None, judgements: str | None = None) -> Source:
    """Open the texts of one file or folder, or of several files, with ratings of a table of their own joined to them.

    Args:
        paths: as for `open_data`. Several are joined: see `JoinedSource`.
        columns: as for `open_data`. A pair reaches the file that has the name, and both if both have it.
        judgements: a table of ratings, see `read_ratings`. Fields that it has under other names, such as `segment`,
            `item`, `annotator` or `aspect`, are guessed, with a note. If it names systems and the texts none, the name
            of their file is their system.

    Raises:
        InputError: a file is missing, its format is unknown, or it has an error in some row; no rating fits any text.
    """
    absent = next((path for path in paths if not _is_there(path)), None) if len(paths) > 1 else None
    if absent is not None:
        files = f"{len(paths)} data files are given ({', '.join(paths)}), and there is no {absent!r}"
        raise InputError(f"{files}; is it a misspelt metric? see 'nlgauge list metrics'")
    if judgements is None:
        return _opened(paths, [columns] * len(paths))
    from nlgauge.io.scores import KEYS, guessed_keys

    by_field = all(map(is_known, columns or ()))
    typed = [pair if by_field else pair[::-1] for pair in (columns or {}).items()]  # (field, column)
    header = read.first_names(judgements)
    names = {name: field for field, name in typed if name in header and (field in KEYS or field.startswith(CRITERION))}
    of_texts: list[Mapping[str, str] | None] = []
    headers, rated = [*map(read.first_names, paths)], {*header, *names.values(), *guessed_keys(header, names)}
    known = {*header, *(column for there in headers for column in there)}
    for field, name in typed:
        if (field.startswith(CRITERION) or field in (RATER, RATED)) and not known & {name, name.partition(".")[0]}:
            found = ", ".join(map(repr, header)) or "none"
            raise InputError(
                f"{judgements}: no column {name!r}, which --columns names as {field}; columns found: {found}"
            )
    by_number = False
    for there in headers:
        pairs = [(field, name) for field, name in typed if name not in names or name in there]
        pairs += _keys_of_texts(pairs, there, rated)
        by_number |= bool(there) and {"id", "seg"}.isdisjoint([*there, *(field for field, _ in pairs)])
        of_texts.append(dict(pair if by_field else pair[::-1] for pair in pairs) or None)
    source = _opened(paths, of_texts)
    source.check()  # before ratings are read
    table = read_ratings(judgements, names)
    if len(paths) == 1 and [*source.check().systems] == [None]:
        (name,) = system_names(paths)
        if any(key.id is None and key.system == name for key in table.keys):
            source = JoinedSource([(name, source)])
    dataset, inputs = drained(source, called(paths))
    if by_number and any(key.item is not None for key in table.keys):
        said = (
            f"{called(paths)}: no row names its item, so that ratings join by the numbers of rows; --columns seg=NAME"
        )
        dataset = replace(dataset, notes=(said, *dataset.notes))
    return HeldSource(judged(dataset, table), [], [*inputs, dict(InputFile(judgements).entry)])


def read_set(
    paths: Sequence[str], columns: Mapping[str, str] | None = None, judgements: str | None = None
) -> tuple[Dataset, list[Entry]]:
    """All segments that `open_set` opens, and the files that were read."""
    return drained(open_set(paths, columns, judgements), called(paths))


def called(paths: Sequence[str]) -> str:
    """What errors call the files together."""
    return paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"


def _opened(paths: Sequence[str], columns: Sequence[Mapping[str, str] | None]) -> Source:
    sources = [read.open_data(path, columns=own) for path, own in zip(paths, columns, strict=True)]
    return sources[0] if len(paths) == 1 else JoinedSource([*zip(system_names(paths), sources, strict=True)])


def _is_there(path: str) -> bool:
    return path == STDIN or os.path.exists(path)


def _keys_of_texts(pairs: Sequence[tuple[str, str]], header: Sequence[str], rated: Set[str]) -> list[tuple[str, str]]:
    """(field, column) of the system and the item of texts, where one name leaves no doubt and `rated` has the field."""
    from nlgauge.io.scores import called as named

    known = {*header, *(field for field, _ in pairs)}
    found = [("id", name) for name in named("id", header) if name not in {column for _, column in pairs}][:1]
    found = [] if "id" in known else found
    known |= {field for field, _ in found}
    by_id = "id" in known and ("seg" not in rated or ("id" in rated and RATER not in rated))
    wanted = {"system": "system" in rated, "seg": not by_id and not rated.isdisjoint(("seg", "system"))}
    there = {field: named(field, header) for field in wanted}
    return found + [
        (field, there[field][0]) for field in wanted if wanted[field] and field not in known and len(there[field]) == 1
    ]


def read_ratings(path: str, names: Mapping[str, str] | None = None) -> ScoreTable:
    """Ratings in a table of their own: any table of scores, `DA-seglevel.csv`, averages of MQM, or a log of Pearmut.

    Args:
        path: the file.
        names: column -> field, of a table of scores that has other names: `id`, `system`, `seg`, `lp`, `task`, `rater`,
            `criterion`; or `human.NAME`, and then no other column is a rating. What it lacks is guessed, with a note:
            `segment`, `item`, `annotator`, `aspect` and the like.
    """
    from nlgauge.io.formats import named as loaded
    from nlgauge.io.formats import reader_by_header
    from nlgauge.io.judgements import pearmut_table
    from nlgauge.io.scores import guessed_keys, read_scores
    from nlgauge.io.wmt.annotations import is_esa, read_esa_scores

    plain = unpacked_name(path).lower()
    is_table = by_content(InputFile(path)) != "tsv" if path == STDIN else plain.endswith(_TABLES)
    if read.by_fields("jsonl", read.first_names(path)) == "pearmut":
        return pearmut_table(InputFile(path))
    if not is_table:
        first = next(Lines(InputFile(path)).filled(), (0, ""))[1]
        reader = reader_by_header(first)
        if reader:
            of_campaign: ScoreTable = loaded(reader)(path)
            return of_campaign
        if is_esa(first):
            return read_esa_scores(path)
    header = read.first_names(path)
    guess = guessed_keys(header, names or {})
    named = {**(names or {}), **{name: field for field, name in guess.items()}}
    rated = {name: field.removeprefix(CRITERION) for name, field in named.items() if field.startswith(CRITERION)}
    own = next((own for own in rated.values() if [*rated.values()].count(own) > 1), None)
    if own is not None and RATER in {named.get(name, name) for name in header}:
        raise InputError(f"{path}: a column says who rated; name one column for human.{own}, or leave that out")
    said = next((name for name in header if named.get(name, name) == RATED), None)
    if rated and said is not None:
        (column, own), *_ = rated.items()
        raise InputError(f"{path}: the column {said!r} says what was rated; leave out human.{own} for {column!r}")
    table = read_scores(path, [*rated] or None, {name: field for name, field in named.items() if name not in rated})
    columns = {rated.get(name, name): values for name, values in table.columns.items()}
    ratings = {rated.get(name, name): given for name, given in table.ratings.items()}
    for own in {own for own in rated.values() if [*rated.values()].count(own) > 1}:  # each rater has a column
        people = [name for name, of in rated.items() if of == own]
        rows = np.stack([table.columns[name] for name in people], axis=1).tolist()
        ratings[own] = [tuple(one for one in zip(people, row, strict=True) if not np.isnan(one[1])) for row in rows]
        columns[own] = np.array([mean_of_ratings(row) for row in ratings[own]])
    return replace(table, columns=columns, ratings=ratings, notes=(*table.notes, *note_of_guess(path, guess)))


def read_preferences(path: str) -> tuple[Preferences, Entry]:
    """Better/worse pairs, and the file they are from."""
    from nlgauge.io.ratings import read_pairs, read_relative_ranks

    reader = read_relative_ranks if unpacked_name(path).endswith(".csv") else read_pairs
    return reader(path), dict(InputFile(path).entry)
