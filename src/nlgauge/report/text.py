"""Results in words and tables: text for a terminal, Markdown and LaTeX for papers; TSV, CSV and JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

from nlgauge.core.counts import in_brief
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.result import Result
from nlgauge.report.labels import columns as columns_of
from nlgauge.report.labels import visible
from nlgauge.report.tables.flat import csv, tsv
from nlgauge.report.tables.table import Table, comment, markdown

Form = Literal["text", "json", "tsv", "csv", "markdown", "latex"]
FORMS: tuple[str, ...] = get_args(Form)
DATA: tuple[str, ...] = ("json", "tsv", "csv")  # forms for programs, which hold every row and every digit
CELLS: tuple[str, ...] = ("tsv", "csv")  # those of them that spreadsheets open
WIDE = 160  # columns: a file or a pipe has no width of its own
Worst = Mapping[str, Sequence[Mapping[str, Any]]]
Part = Table | str  # a table, or lines of prose


def check_form(form: str) -> None:
    """Refuse an unknown form before anything is scored.

    Raises:
        InputError: the form is not in `FORMS`.
    """
    if form not in FORMS:
        raise InputError(f"unknown format {form!r}{nearest(form, FORMS)}")


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
        quiet: leave out notes and signatures; LaTeX keeps the signatures as comments.
        columns: the width of the terminal. A table of scores that is wider has metrics as rows and systems as columns,
            or is split, by systems or by metrics; a table of values loses its intervals.
        intervals: show intervals in the tables of an audit, too.
        worst: for each metric of an audit, the cases with its worst errors, as `Audit.worst` returns them.
        parts: show what corpus scores are made of.
        spreadsheet: put `'` before cells of TSV and CSV that a spreadsheet takes for formulas.
        brief: in text, leave out the p-values of every two systems, and the names of texts in notes.
        hints: say by which options of the command these are shown.

    Raises:
        InputError: the form is unknown.
    """
    check_form(form)
    if form == "json":
        return json.dumps(result.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
    if form in DATA:
        return {"tsv": tsv, "csv": csv}[form](result, spreadsheet)
    paper = _Paper(result, cast(Form, form), digits, columns, parts, brief and form == "text", hints)
    shown = [*_PARTS[result.kind](paper, intervals), *_worst_cases(worst or {}, paper)]
    return "\n\n".join(part for part in [*map(paper.shown, shown), *paper.explained(quiet)] if part)


def parts_of(result: Result) -> list[Part]:
    """The tables of a result of one of the kinds in `WITH_TABLES`, and what is said of them in words."""
    return _PARTS[result.kind](_Paper(result, "markdown", None, WIDE), False)


def printed(result: Result) -> str:
    """A result as `print` shows it: the text of the command, or the rows where a kind has no table of its own."""
    return render(result, brief=True, hints=False) if result.kind in _PARTS else tsv(result)


@dataclass(frozen=True)
class _Paper:
    """What a result is written on: the form, and the room there is."""

    result: Result
    form: Form
    digits: int | None
    columns: int
    parts: bool = False
    brief: bool = False
    hints: bool = True

    @property
    def places(self) -> int:
        return 3 if self.digits is None else self.digits

    @property
    def is_text(self) -> bool:
        return self.form == "text"

    def shown(self, part: Part) -> str:
        """One table or prose in the form of the paper."""
        if isinstance(part, Table):
            return {"markdown": part.markdown, "latex": part.latex}.get(self.form, part.text)()
        return "\n".join(map(self.line, part.split("\n")))

    def line(self, line: str) -> str:
        """A line of prose; LaTeX has it as a comment."""
        return {"markdown": markdown, "latex": comment}.get(self.form, visible)(line)

    def explained(self, quiet: bool) -> list[str]:
        """How the numbers were computed, and what a reader must know."""
        if self.result.kind == "synth" or (quiet and self.form != "latex"):
            return []
        metrics, notes = self.result.metrics, [] if quiet else self._notes()
        command = [self.result.command] if self.result.command and not self.is_text else []
        if self.form == "markdown":
            signed = [f"- {markdown(directed(m))}: `{m['signature']}`" for m in metrics]
            return ["\n".join([*signed, *(f"- {markdown(n)}" for n in notes), *(f"- `{c}`" for c in command)])]
        signed = [f"{directed(m)} = {m['signature']}" for m in metrics]
        noted = [f"note: {note}" for note in notes]
        return ["\n".join(map(self.line, lines)) for lines in (signed, noted, command) if lines]

    def _notes(self) -> list[str]:
        """The notes; in brief, the last one says how to see the names that they leave out."""
        whole = [*self.result.notes]
        if not self.brief:
            return whole
        short = in_brief(whole)
        return [*short, "-v names these texts"] if self.hints and short != whole else short

    def fits(self, table: Table) -> bool:
        """Whether the terminal is wide enough; what signs mean may be folded."""
        bare = replace(table, marked_as="", legend=())
        return max(map(columns_of, bare.text().split("\n"))) <= self.columns


def directed(metric: Mapping[str, Any]) -> str:
    """A metric as typed, with its direction where that is not the usual one."""
    return str(metric["spec"]) + ("" if metric["higher_is_better"] else " (lower is better)")


# Each kind imports its own tables, so that a command loads those of its verb alone.


def _score(paper: _Paper, intervals: bool) -> list[Part]:
    from nlgauge.report.tables.score import (
        agreement_tables,
        metric_rows,
        pair_tables,
        parts_tables,
        score_caption,
        score_table,
    )

    result, digits = paper.result, paper.digits
    tests = pair_tables(result)
    pairs: list[Part] = [*([] if paper.brief else tests)]
    pairs += [*agreement_tables(result, digits), *(parts_tables(result) if paper.parts else [])]
    if tests and paper.brief and paper.hints:
        pairs.append("p-values of every two systems: -v, --json FILE or --html FILE")
    table = score_table(result, digits, best=not paper.is_text)
    page = paper if paper.is_text else replace(paper, columns=WIDE)  # a paper is as wide on every terminal
    if page.fits(table) or len(result.metrics) <= 1:
        tables = [table]
    else:
        tables = _in_blocks(page, metric_rows(table))
        if len(tables) >= len(result.metrics):
            tables = [score_table(result, digits, [metric["spec"]]) for metric in result.metrics]
    if not paper.is_text:
        table = tables[0] if len(tables) == 1 else table
        return [replace(table, title=score_caption(result)), *pairs]
    return [*tables, *pairs]


def _in_blocks(paper: _Paper, table: Table) -> list[Table]:
    """A table whose first column holds names, in as few tables with some of the others as fit."""
    tables: list[Table] = []
    start = 1
    for end in range(2, len(table.header) + 1):
        longer = table.part(start, end)
        if tables and paper.fits(longer):
            tables[-1] = longer
        else:
            start = end - 1
            tables.append(table.part(start, end))
    return tables


def _audit(paper: _Paper, intervals: bool) -> list[Part]:
    from nlgauge.report.tables.audit import audit_tables

    return [*audit_tables(paper.result, paper.places, intervals)]


def _meta(paper: _Paper, intervals: bool) -> list[Part]:
    from nlgauge.report.tables.meta import criteria_tables, triangles, value_tables
    from nlgauge.report.tables.official import official_tables

    result, places = paper.result, paper.places
    official = official_tables(result, places)
    tables = value_tables(result, places)
    if paper.is_text:
        narrow = value_tables(result, places, intervals=False)
        tables = [a if paper.fits(a) else b for a, b in zip(tables, narrow, strict=True)]
    if official and paper.is_text:
        told = "p-values of every two metrics: --json FILE, --html FILE or --format markdown"
        return [*official, *tables, *criteria_tables(result, places), told]
    return [*official, *tables, *triangles(result, places), *criteria_tables(result, places)]


def _plan(paper: _Paper, intervals: bool) -> list[Part]:
    from nlgauge.report.tables.plan import plan_tables

    return [*plan_tables(paper.result, paper.places)]


def _select(paper: _Paper, intervals: bool) -> list[Part]:
    from nlgauge.report.tables.meta import selection_tables

    return [*selection_tables(paper.result, paper.places)]


def _sweep(paper: _Paper, intervals: bool) -> list[Part]:
    from nlgauge.report.tables.sweep import best_lines, sweep_tables

    return [*sweep_tables(paper.result, paper.places), "\n".join(best_lines(paper.result))]


def _synth(paper: _Paper, intervals: bool) -> list[Part]:
    from nlgauge.report.tables.synth import synth_head, synth_table

    head, table = synth_head(paper.result), synth_table(paper.result)
    if table is None:
        return [head]
    return ["\n".join((head, paper.shown(table), paper.result.metrics[0]["signature"]))]


_PARTS: Mapping[str, Callable[[_Paper, bool], list[Part]]] = {
    "score": _score,
    "audit": _audit,
    "meta": _meta,
    "plan": _plan,
    "select": _select,
    "sweep": _sweep,
    "synth": _synth,
}
WITH_TABLES = tuple(kind for kind in _PARTS if kind != "synth")


def _worst_cases(worst: Worst, paper: _Paper) -> Iterator[Part]:
    """The cases that each metric got most wrong: in lines with the edit marked, or as a table for a paper."""
    if not worst:
        return
    from nlgauge.report.tables.audit import case_lines, case_table

    for spec, cases in worst.items():
        yield case_lines(spec, cases) if paper.is_text or not cases else case_table(spec, cases)
