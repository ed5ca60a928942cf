"""`nlgauge report`: results of any verb as one page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from nlgauge.cli import options
from nlgauge.core.errors import InputError
from nlgauge.core.options import Argument, Typed
from nlgauge.core.result import Result
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.tables import Key, ScoreTable, judged, ratings
from nlgauge.io.evalset import read_ratings, read_set
from nlgauge.io.fields import CRITERION
from nlgauge.io.files import InputFile
from nlgauge.io.results import read_result
from nlgauge.io.scores import SUFFIX, read_scored_pairs, read_scores
from nlgauge.metaeval.joined import criteria_of
from nlgauge.report.bundle import Segments as Rows
from nlgauge.report.bundle import bundle_html, segments_of
from nlgauge.report.pages import write_page

_ROWS = (".tsv", ".csv", ".jsonl", ".jsonl.gz", ".tsv.gz", ".csv.gz", ".parquet")


@options.verb()
def report(
    *,
    results: Annotated[list[str], Argument("Files that --json wrote, in the order of the page.", metavar="RESULT...")],
    output: Annotated[str, Typed("The page; - prints it.", ("--output", "-o"), "FILE")],
    segments: Annotated[
        list[str] | None,
        Typed(
            "Rows that --segments wrote; repeat it for more.  [default: RESULT.tsv beside RESULT.json]", metavar="FILE"
        ),
    ] = None,
    data: Annotated[
        list[str] | None, Typed("The texts of these segments, for the page; repeat it for more.", metavar="FILE")
    ] = None,
    judgements: Annotated[
        str | None, Typed("Ratings of these segments in a table of their own, as for meta.", metavar="FILE")
    ] = None,
    title: Annotated[str | None, Typed("The title of the page.", metavar="TEXT")] = None,
) -> None:
    """Show results of any verb as one page, with what is known of each metric beside its scores.

    The page is one file that loads nothing and opens without a network. Its first screen says whom people
    rank first (if a result is of `meta --raters`), which system is ahead, which metrics agree with people, and which
    errors they miss; a section for each file follows, a ranking of people first. Beside every score a box has the
    metric's agreement with people (`meta`), its three worst failures (`audit`), and how many texts were empty, cut or
    undefined. "By another signature" means that only the specification is the same.

    In the first table ▲ and ▼ are clearly better and worse than the baseline (p < .05), ○ is no clear difference. (?)
    marks what does not count: all scores of a metric that cannot read, or cuts, a tenth of the texts or more, and the
    agreement of one that was trained on ratings.

    Rows of `--segments` give a table to search and sort, with `--data` also texts, word differences and scores by
    length, with `audit --segments` the pairs that a score got wrong. Rows join by `id`: give `--data` where several
    language pairs have the same numbers. Without `--segments`, rows beside a result under its name are taken
    (`chrf.tsv` beside `chrf.json`).

    Results may be packed (`.gz`). The same results give the same bytes, and files are named without their folders. A
    file that is no result, has another schema or is given twice is refused (2).
    """
    rows = segments or [path for result in results for path in _rows_beside(result)]
    if data and not rows:
        raise InputError("--data holds the texts of segments, and no segments are given; add --segments FILE")
    if judgements is not None and not rows:
        raise InputError("--judgements holds ratings of segments, and no segments are given; add --segments FILE")
    options.check_outputs({"--output": output}, results, rows, data, judgements)
    found = _read(results)
    joined = _joined(rows, data or [], judgements)
    if joined is None and (segments or data or judgements):
        raise InputError(
            f"{rows[0]} holds pairs of an audit alone, expected scores of segments, too; add --segments of score"
        )
    write_page(bundle_html(found, title, joined), output)


def _joined(rows: list[str], data: list[str], judgements: str | None) -> Rows | None:
    scored = {path: read_scored_pairs(path) for path in rows}
    tables = [read_scores(path, ratings=True) for path, pairs in scored.items() if pairs is None]
    if not tables:
        return None
    keys = {str(key.id): key for table in tables for key in table.keys}
    if judgements is not None:
        tables.append(_ratings(keys, judgements))
    texts = [read_set([path])[0] for path in data]
    if len(data) > 1 and not any(segment.id in keys for dataset in texts for segment in dataset):
        texts = [read_set(data)[0]]  # systems that were scored together
    joined = segments_of(tables, texts)
    if texts and not any(name in joined.texts for name in keys):
        first, other = next(iter(keys)), next(iter(joined.texts))
        raise InputError(
            f"{data[0]}: no text is about a segment of {rows[0]}, whose first is {first!r}; the first here is {other!r}"
            ", expected the texts that were scored"
        )
    return replace(joined, pairs=[pair for pairs in scored.values() for pair in pairs or []])


def _ratings(keys: Mapping[str, Key], judgements: str) -> ScoreTable:
    """The ratings of segments of these keys, as columns `human.CRITERION`; of several raters the mean."""
    segments = tuple(Segment(name, "", system=key.system, item=key.item) for name, key in keys.items())
    rated = judged(Dataset(segments, "the segments"), read_ratings(judgements))
    columns = {f"{CRITERION}{name}": ratings(rated.segments, name) for name in criteria_of(rated)}
    return ScoreTable(tuple(keys.values()), columns, name=judgements)


def _rows_beside(result: str) -> list[str]:
    """The rows of segments that lie beside a result: of its name, with what `--segments` writes beside rows."""
    stem = os.path.splitext(result.removesuffix(".gz"))[0]
    return [stem + ending for ending in _ROWS if os.path.isfile(stem + ending + SUFFIX)]


def _read(paths: list[str]) -> dict[str, Result]:
    """File -> its result; a file that is given twice is refused."""
    found: dict[str, Result] = {}
    digests: dict[str, str] = {}
    for path in paths:
        file = InputFile(path)
        found[path], digest = read_result(file), file.entry["sha256"]
        if digest in digests:
            what = "is given twice" if digests[digest] == path else f"is the same as {digests[digest]}"
            raise InputError(f"{path} {what}, expected each result once")
        digests[digest] = path
    return found
