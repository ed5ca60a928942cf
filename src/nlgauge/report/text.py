"""Results in words and tables: text for a terminal, Markdown and LaTeX for papers; TSV, CSV and JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.result import Result
from nlgauge.core.scores import Note, in_brief
from nlgauge.report.flat import csv, first_rows, tsv
from nlgauge.report.kinds.kind import kind_of
from nlgauge.report.paper import DATA, FORMS, WIDE, Paper, Part, Worst
from nlgauge.report.table import markdown
from nlgauge.report.trust import doubts_of, is_doubt

_MOST = 3  # notes in brief


def check_form(form: str) -> None:
    """Refuse an unknown form before anything is scored.

    Raises:
        InputError: the form is not in `FORMS`.
    """
    if form not in FORMS:
        raise InputError(f"unknown format {form!r} of what is printed{nearest(form, FORMS)}")


def render(
    result: Result,
    form: str = "text",
    digits: int | None = None,
    *,
    quiet: bool = False,
    columns: int = WIDE,
    intervals: bool = False,
    worst: Worst | None = None,
    parts: bool = False,
    spreadsheet: bool = False,
    brief: bool = False,
    hints: bool = True,
) -> str:
    """A result in one form.

    Args:
        result: a result of any kind but `align`, which has a picture of its own.
        form: `text`, `json`, `tsv`, `csv`, `markdown` or `latex`.
        digits: the number of decimals; None is 3, and for scores 2 or 4 by the scale of each metric.
        quiet: leave out signatures, which LaTeX keeps as comments, and all notes but one line of those that say that a
            number means nothing.
        columns: the width of the terminal. A table of scores that is wider has metrics as rows and systems as columns,
            or is split, by systems or by metrics; a table of values loses its intervals.
        intervals: show intervals in the tables of an audit, too.
        worst: for each metric of an audit, the cases with its worst errors, as `Audit.worst` returns them.
        parts: show what corpus scores are made of.
        spreadsheet: put `'` before cells of TSV and CSV that a spreadsheet takes for formulas.
        brief: in text, leave out the p-values of every two systems, signatures, the names of texts in notes, and notes
            beyond three, unless they say that a number means nothing; in LaTeX, p-values of every two systems or
            metrics, and intervals.
        hints: say by which options of the command these are shown.

    Raises:
        InputError: the form is unknown.
    """
    check_form(form)
    if form == "json":
        return json.dumps(result.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
    if form in DATA:
        return {"tsv": tsv, "csv": csv}[form](result, spreadsheet)
    kind = kind_of(result.kind)
    if kind.parts is None:
        raise InputError(f"a result of kind {result.kind!r} has no tables; write it as .json or .tsv")
    is_brief = brief and form in ("text", "latex")
    paper = Paper(result, form, digits, columns, intervals, worst or {}, parts, is_brief, hints)
    signed = _explained(paper, quiet) if kind.signed or not paper.is_text else []
    return "\n\n".join(part for part in [*map(paper.shown, kind.parts(paper)), *signed] if part)


def parts_of(result: Result) -> Sequence[Part]:
    """The tables of a result, and what is said of them in words; its first rows where the kind has no tables."""
    kind = kind_of(result.kind)
    return [first_rows(result)] if kind.parts is None else kind.parts(Paper(result, "markdown"))


def printed(result: Result) -> str:
    """A result as `print` shows it: the text of the command, or the rows where a kind has no tables."""
    kind = kind_of(result.kind)
    return tsv(result) if kind.parts is None else render(result, brief=True, hints=False)


def _explained(paper: Paper, quiet: bool) -> list[str]:
    """How the numbers were computed, and what a reader must know."""
    result = paper.result
    notes = doubt_line(result) if quiet else _notes(paper)
    if quiet and paper.form != "latex":
        return [paper.line(f"note: {note}") for note in notes]
    command = [result.command] if result.command and not paper.is_text else []
    if paper.form == "markdown":
        signed = [f"- {markdown(name)}: `{signature}`" for name, signature in _signed(result.metrics)]
        return ["\n".join([*signed, *(f"- {markdown(n)}" for n in notes), *(f"- `{c}`" for c in command)])]
    signed = [] if paper.brief and paper.is_text else [f"{name} = {value}" for name, value in _signed(result.metrics)]
    noted = [f"note: {note}" for note in notes]
    return ["\n".join(map(paper.line, lines)) for lines in (signed, noted, command) if lines]


def doubt_line(result: Result) -> list[str]:
    """In one line, which numbers mean nothing, and why; no line where there is no such doubt."""
    doubts = [f"{spec}: {doubt}" for spec, doubt in doubts_of(result).items()]
    return [f"do not rely on {'; '.join(doubts)}"] if doubts else []


def _signed(metrics: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Each metric with its signature, and with that of the package that it equals."""
    for metric in metrics:
        yield directed(metric), metric["signature"]
        if "peer_signature" in metric:
            yield f"{metric['spec']} in sacrebleu", metric["peer_signature"]


def _notes(paper: Paper) -> list[str]:
    """The notes; in brief three, those first that matter most, and the last one says how to see what is left out."""
    result, whole = paper.result, [*paper.result.notes]
    if not (paper.brief and paper.is_text):
        return whole
    doubts = [note for note in whole if is_doubt(result, note)]
    counts = [note for note in whole if isinstance(note, Note) and note not in doubts]
    short = in_brief([*doubts, *counts, *(note for note in whole if note not in doubts and note not in counts)])
    most = max(_MOST, len(in_brief(doubts)))
    more = len(short) - most
    left = [
        *(["signatures"] if result.metrics else []),
        *([f"{more} more note{'s' * (more > 1)}"] if more > 0 else []),
        *(["the texts that notes count"] if counts or doubts else []),
    ]
    return [*short[:most], *([f"-v shows {_listed(left)}"] if paper.hints and left else [])]


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def directed(metric: Mapping[str, Any]) -> str:
    """A metric as typed, with its direction where that is not the usual one."""
    return str(metric["spec"]) + ("" if metric["higher_is_better"] else " (lower is better)")
