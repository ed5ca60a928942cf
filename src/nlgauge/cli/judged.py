"""What the verbs about human judgements read: texts with ratings, scores made elsewhere, and their join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from nlgauge.cli import options
from nlgauge.core.errors import InputError
from nlgauge.core.options import Argument, Typed
from nlgauge.core.segment import Dataset
from nlgauge.core.tables import Preferences, ScoreTable, judged
from nlgauge.io.files import STDIN, InputFile, Lines, by_content, unpacked_name
from nlgauge.io.formats import named, reader_by_header
from nlgauge.io.judgements import pearmut_table
from nlgauge.io.ratings import read_pairs, read_relative_ranks
from nlgauge.io.read import by_fields, first_names, open_data
from nlgauge.io.scores import KEYS, read_scores
from nlgauge.io.segments import drained
from nlgauge.io.wmt.annotations import is_esa, read_esa_scores
from nlgauge.io.write import segment_columns
from nlgauge.metaeval.joined import JoinedScores

_TABLES = (".jsonl", ".ndjson", ".json", ".parquet", ".score")  # of files whose first line is no header
_ITEMS = ("segment_id", "segment", "item_id", "item")  # what others call `seg`
Entry = dict[str, str]  # path and sha256 of a file
Data = Annotated[
    str, Argument("Texts with ratings: JSON lines, TSV, CSV, Parquet, or the folder of a test set.", metavar="DATA")
]
Criteria = Annotated[
    list[str] | None,
    Typed("What was rated; 'all' criteria, or each text's 'mean' of them.", ("--criterion", "-c"), "NAME"),
]
Criterion = Annotated[str | None, Typed("What was rated.", ("--criterion", "-c"), "NAME")]
Judgements = Annotated[
    str | None,
    Typed(
        "Ratings in a table of their own, joined to DATA: scores, a log of Pearmut, averages of MQM.",
        metavar="FILE",
    ),
]


@dataclass(frozen=True)
class Judged:
    """What is held against people: metrics, and how ratings are found."""

    columns: options.Columns = None
    metric: Annotated[
        list[str] | None, options.specs("Metrics to score: chrf, bleu, bertscore ...", "--metric", "-m")
    ] = None
    criterion: Criteria = None
    judgements: Judgements = None

    def read(self, path: str) -> tuple[Dataset, list[Any]]:
        """The texts of an input with their ratings, and the files read."""
        return read_data(path, self.judgements, self.columns)


@dataclass(frozen=True)
class ScoreOptions:
    """Scores made elsewhere."""

    scores: Annotated[
        list[str] | None, Typed("Scores made elsewhere; every column of numbers is a metric.", metavar="FILE")
    ] = None
    lower: Annotated[
        list[str] | None, Typed("A column of --scores that falls with quality.", ("--lower-is-better",), "NAME")
    ] = None

    def read(self) -> tuple[dict[str, ScoreTable], list[Entry]]:
        """Column -> its table, and the files read."""
        tables = [read_table(path) for path in self.scores or []]
        return merge(tables), [entry for _, entry in tables]


def read_data(
    path: str, judgements: str | None = None, columns: Sequence[str] | None = None
) -> tuple[Dataset, list[Any]]:
    """All segments of an input, with ratings of a table of their own joined to them; and the files read."""
    named = options.columns_of(columns)
    of_table = {} if judgements is None else _of_table(named or {}, judgements)
    if named is not None and of_table:  # DATA may have the same names
        there = first_names(path)
        named = {field: name for field, name in named.items() if field not in of_table or name in there} or None
    dataset, inputs = drained(open_data(path, columns=named), path)
    if judgements is None:
        return dataset, inputs
    names = {name: field for field, name in of_table.items()}
    table, entry = read_ratings(judgements, names), dict(InputFile(judgements).entry)
    return judged(dataset, table), [*inputs, entry]


def _of_table(named: Mapping[str, str], judgements: str) -> dict[str, str]:
    """The pairs of `--columns` that are about a table of ratings: its keys, under names that it has."""
    there = first_names(judgements)
    found = {field: name for field, name in named.items() if field in KEYS and name in there}
    items = [name for name in _ITEMS if name in there]
    if len(items) == 1 and not {"id", "seg"} & {*there, *found}:
        found["seg"] = items[0]
    return found


def read_ratings(path: str, names: Mapping[str, str] | None = None) -> ScoreTable:
    """Ratings in a table of their own: any table of scores, `DA-seglevel.csv`, averages of MQM, or a log of Pearmut.

    Args:
        path: the file.
        names: the columns of a table of scores that have other names, as for `read_scores`.
    """
    plain = unpacked_name(path).lower()
    is_table = by_content(InputFile(path)) != "tsv" if path == STDIN else plain.endswith(_TABLES)
    if by_fields("jsonl", first_names(path)) == "pearmut":
        return pearmut_table(InputFile(path))
    if not is_table:
        header = next(Lines(InputFile(path)).filled(), (0, ""))[1]
        reader = reader_by_header(header)
        if reader:
            table: ScoreTable = named(reader)(path)
            return table
        if is_esa(header):
            return read_esa_scores(path)
    return read_scores(path, names=names)


def read_table(path: str) -> tuple[ScoreTable, Entry]:
    """A table of scores or ratings, and the file it is from."""
    return read_scores(path), dict(InputFile(path).entry)


def read_preferences(path: str) -> tuple[Preferences, Entry]:
    """Better/worse pairs, and the file they are from."""
    plain = unpacked_name(path)
    read = read_relative_ranks if plain.endswith(".csv") else read_pairs
    return read(path), dict(InputFile(path).entry)


def merge(tables: Sequence[tuple[ScoreTable, Entry]]) -> dict[str, ScoreTable]:
    """Column -> its table; a name in two files is refused."""
    columns: dict[str, ScoreTable] = {}
    for table, entry in tables:
        for name in table.columns:
            if name in columns:
                raise InputError(f"{entry['path']}: column {name!r} is in {columns[name].name} as well; rename one")
            columns[name] = table
    return columns


def joined_columns(joined: JoinedScores) -> Mapping[str, Any]:
    """One row per segment: its scores by every metric, and its ratings as `human.CRITERION`."""
    ratings = {f"human.{name}": values for name, values in joined.human.items()}
    return {**segment_columns(joined.segments, joined.scores), **ratings}
