"""`nlgauge report`: results of any verb as one page."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Annotated

from nlgauge.cli import options
from nlgauge.core.errors import InputError
from nlgauge.core.options import Argument, Typed
from nlgauge.core.result import Result
from nlgauge.io.files import InputFile
from nlgauge.io.read import read
from nlgauge.io.results import read_result
from nlgauge.io.scores import SUFFIX, read_scored_pairs, read_scores
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
        list[str] | None, Typed("The texts of these segments; they then stand on the page.", metavar="FILE")
    ] = None,
    title: Annotated[str | None, Typed("The title of the page.", metavar="TEXT")] = None,
) -> None:
    """Show results of any verb as one page, with what is known of each metric beside its scores.

    The page is one file that loads nothing and opens without a network. Its first screen says how people rate the
    systems (if rows of `--segments` hold ratings), which system is ahead, which metrics agree with people, and which
    errors they miss; a section for each file follows. Beside every score a box has the metric's agreement with people
    (`meta`), its three worst failures (`audit`), and how many texts were empty, cut or undefined. "By another
    signature" means that only the specification is the same.

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
    options.check_outputs({"--output": output}, results, rows, data)
    found = _read(results)
    joined = _joined(rows, data or [])
    if joined is None and (segments or data):
        raise InputError(
            f"{rows[0]} holds pairs of an audit alone, expected scores of segments, too; add --segments of score"
        )
    write_page(bundle_html(found, title, joined), output)


def _joined(rows: list[str], data: list[str]) -> Rows | None:
    scored = {path: read_scored_pairs(path) for path in rows}
    tables = [read_scores(path, ratings=True) for path, pairs in scored.items() if pairs is None]
    if not tables:
        return None
    joined = segments_of(tables, list(map(read, data)))
    return replace(joined, pairs=[pair for pairs in scored.values() for pair in pairs or []])


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
