"""Results in words and tables: text for a terminal, Markdown and LaTeX for papers, TSV and JSON for other programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast, get_args

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.result import Result
from nlgauge.report.rows import Row, measured
from nlgauge.report.tables.table import Table, tsv

Form = Literal["text", "json", "tsv", "markdown", "latex"]
FORMS: tuple[str, ...] = get_args(Form)
WIDE = 160  # columns: a file or a pipe has no width of its own
Worst = Mapping[str, Sequence[Mapping[str, Any]]]


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
    more: Sequence[Table] = (),
) -> str:
    """A result in one form.

    Args:
        result: a result of any kind but `align`, which has a picture of its own.
        form: `text`, `json`, `tsv`, `markdown` or `latex`.
        digits: the number of decimals; None is 3, and for scores 2 or 4 by the scale of each metric.
        quiet: leave out signatures and notes.
        columns: the width of the terminal; tables of scores and values that are wider are split or lose their
            intervals.
        intervals: show intervals in the tables of an audit, too.
        worst: for each metric of an audit, the cases with its worst errors, as `Audit.worst` returns them.
        more: tables to add after those of the result.

    Raises:
        InputError: the form is unknown.
    """
    check_form(form)
    if form == "json":
        return json.dumps(result.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
    if form == "tsv":
        return tsv(result)
    paper = _Paper(result, cast(Form, form), digits, columns)
    parts = [*_PARTS[result.kind](paper, intervals), *map(paper.table, more), *_worst_cases(worst or {})]
    if form == "text" and not quiet and result.kind != "synth":
        parts += _explained(result)
    return "\n\n".join(part for part in parts if part)


@dataclass(frozen=True)
class _Paper:
    """What a result is written on: the form, and the room there is."""

    result: Result
    form: Form
    digits: int | None
    columns: int

    @property
    def places(self) -> int:
        return 3 if self.digits is None else self.digits

    @property
    def is_text(self) -> bool:
        return self.form == "text"

    def table(self, table: Table) -> str:
        """One table in the form of the paper."""
        return {"markdown": table.markdown, "latex": table.latex}.get(self.form, table.text)()

    def fits(self, table: Table) -> bool:
        """Whether the terminal is wide enough."""
        return max(map(len, table.text().split("\n"))) <= self.columns


# Each kind imports its own tables, so that a command loads those of its verb alone.


def _score(paper: _Paper, intervals: bool) -> list[str]:
    from nlgauge.report.tables.pairs import pair_tables
    from nlgauge.report.tables.score import score_table

    result, digits = paper.result, paper.digits
    pairs = [*map(paper.table, pair_tables(result))]
    table = score_table(result, digits)
    if not paper.is_text:
        return [paper.table(replace(table, left=1)), *pairs]
    if paper.fits(table) or len(result.metrics) <= 1:
        return [table.text(), *pairs]
    return [*(score_table(result, digits, [metric["spec"]]).text() for metric in result.metrics), *pairs]


def _audit(paper: _Paper, intervals: bool) -> list[str]:
    from nlgauge.report.tables.audit import audit_tables

    return [*map(paper.table, audit_tables(paper.result, paper.places, intervals))]


def _meta(paper: _Paper, intervals: bool) -> list[str]:
    from nlgauge.report.tables.meta import triangles, value_tables

    tables, tests = value_tables(paper.result, paper.places), triangles(paper.result, paper.places)
    if not paper.is_text:
        return [*map(paper.table, [*tables, *tests])]
    narrow = value_tables(paper.result, paper.places, intervals=False)
    parts = [(a if paper.fits(a) else b).text() for a, b in zip(tables, narrow, strict=True)]
    if any(table.marked for table in tables):
        parts.append("* no other metric is significantly better (p < 0.05)")
    return [*parts, *(table.text() for table in tests)]


def _select(paper: _Paper, intervals: bool) -> list[str]:
    from nlgauge.report.tables.meta import selection_tables

    return [*map(paper.table, selection_tables(paper.result, paper.places))]


def _sweep(paper: _Paper, intervals: bool) -> list[str]:
    from nlgauge.report.tables.sweep import best_lines, sweep_tables

    best = ["\n".join(best_lines(paper.result))] if paper.is_text else []
    return [*map(paper.table, sweep_tables(paper.result, paper.places)), *best]


def _synth(paper: _Paper, intervals: bool) -> list[str]:
    from nlgauge.report.tables.synth import synth_head, synth_table

    head, table = synth_head(paper.result), synth_table(paper.result)
    if table is None:
        return [head]
    return ["\n".join((head, paper.table(table), paper.result.metrics[0]["signature"]))]


_PARTS: Mapping[str, Callable[[_Paper, bool], list[str]]] = {
    "score": _score,
    "audit": _audit,
    "meta": _meta,
    "select": _select,
    "sweep": _sweep,
    "synth": _synth,
}


def _worst_cases(worst: Worst) -> Iterator[str]:
    """The cases that each metric got most wrong, the edit marked."""
    if not worst:
        return
    from nlgauge.report.difference import marked

    for spec, cases in worst.items():
        lines = [f"worst cases of {spec}"]
        for case in cases:
            against = case["reference"] or case["better"]
            lines += [
                f"  {case['id']} ({case['phenomenon']}), margin {case['margin']:.4g}",
                f"    held against  {against}",
                f"    better  {case['better']}",
                f"    worse   {marked(against, case['worse'])}",
            ]
        yield "\n".join(lines)


def _explained(result: Result) -> list[str]:
    """How the numbers were computed, and what a reader must know."""
    rows: Sequence[Row] = result.rows
    starred = result.kind == "score" and any(row.get("p") is not None for row in measured(rows))
    return [
        "* p < 0.05 against the baseline" if starred else "",
        "\n".join(f"{m['spec']} = {m['signature']}" for m in result.metrics),
        "\n".join(f"note: {note}" for note in result.notes),
    ]
