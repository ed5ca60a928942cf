"""Results in words and tables: text for a terminal, Markdown and LaTeX for papers, TSV and JSON for other programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast, get_args

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.result import Result
from nlgauge.report.difference import marked
from nlgauge.report.rows import Row
from nlgauge.report.tables.audit import audit_tables
from nlgauge.report.tables.meta import selection_tables, triangles, value_tables
from nlgauge.report.tables.score import score_table
from nlgauge.report.tables.sweep import best_lines, sweep_tables
from nlgauge.report.tables.synth import synth_head, synth_table
from nlgauge.report.tables.table import Table, tsv

Form = Literal["text", "json", "tsv", "markdown", "latex"]
FORMS: tuple[str, ...] = get_args(Form)
WIDE = 160  # columns: a file or a pipe has no width of its own
Worst = Mapping[str, Sequence[Mapping[str, Any]]]


def check_form(form: str) -> None:
    """Refuse an unknown form before anything is scored.

    Raises:
        InputError: a form that is none of `FORMS`.
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
        result: of any kind but `align`, which has a picture of its own.
        form: `text`, `json`, `tsv`, `markdown` or `latex`.
        digits: after the point; None for 3, and for scores 2 or 4 by the scale of each metric.
        quiet: leave out signatures and notes.
        columns: width of the terminal; tables of scores and values that are wider are split or lose their intervals.
        intervals: show intervals in the tables of an audit, too.
        worst: for each metric of an audit the cases that it got most wrong, as `Audit.worst` gives them.
        more: tables to stand behind those of the result.

    Raises:
        InputError: an unknown form.
    """
    check_form(form)
    if form == "json":
        return json.dumps(result.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
    if form == "tsv":
        return tsv(result)
    page = _Page(result, cast(Form, form), digits, columns, intervals)
    parts = [*page.parts(), *map(page.table, more), *_worst_cases(worst or {})]
    if form == "text" and result.kind == "sweep":
        parts.append("\n".join(best_lines(result)))
    if form == "text" and not quiet and result.kind != "synth":
        parts += _explained(result)
    return "\n\n".join(part for part in parts if part)


class _Page:
    """The tables of one result in one form."""

    def __init__(self, result: Result, form: Form, digits: int | None, columns: int, intervals: bool) -> None:
        self.result, self.form, self.columns, self.intervals = result, form, columns, intervals
        self.digits = digits
        self.places = 3 if digits is None else digits

    def table(self, table: Table) -> str:
        """One table in the form of the page."""
        return {"markdown": table.markdown, "latex": table.latex}.get(self.form, table.text)()

    def parts(self) -> list[str]:
        """What stands on the page, in order."""
        kinds: dict[str, Callable[[], list[str]]] = {
            "score": self._score,
            "meta": self._meta,
            "synth": self._synth,
            "audit": lambda: [*map(self.table, audit_tables(self.result, self.places, self.intervals))],
            "select": lambda: [*map(self.table, selection_tables(self.result, self.places))],
            "sweep": lambda: [*map(self.table, sweep_tables(self.result, self.places))],
        }
        return kinds[self.result.kind]()

    def _score(self) -> list[str]:
        table = score_table(self.result, self.digits)
        if self.form != "text":
            return [self.table(replace(table, left=1))]
        if self._fits(table) or len(self.result.metrics) <= 1:
            return [table.text()]
        return [score_table(self.result, self.digits, [m["spec"]]).text() for m in self.result.metrics]

    def _meta(self) -> list[str]:
        tables, tests = value_tables(self.result, self.places), triangles(self.result, self.places)
        if self.form != "text":
            return [*map(self.table, [*tables, *tests])]
        narrow = value_tables(self.result, self.places, intervals=False)
        parts = [(a if self._fits(a) else b).text() for a, b in zip(tables, narrow, strict=True)]
        if any(table.marked for table in tables):
            parts.append("* no other metric is significantly better (p < 0.05)")
        return [*parts, *(table.text() for table in tests)]

    def _synth(self) -> list[str]:
        table = synth_table(self.result)
        if table is None:
            return [synth_head(self.result)]
        return ["\n".join((synth_head(self.result), self.table(table), self.result.metrics[0]["signature"]))]

    def _fits(self, table: Table) -> bool:
        return max(map(len, table.text().split("\n"))) <= self.columns


def _worst_cases(worst: Worst) -> Iterator[str]:
    """The cases that each metric got most wrong, the edit marked."""
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
    """What the numbers were made with, and what a reader must know."""
    rows: Sequence[Row] = result.rows
    starred = result.kind == "score" and any(row.get("p") is not None for row in rows)
    return [
        "* p < 0.05 against the baseline" if starred else "",
        "\n".join(f"{m['spec']} = {m['signature']}" for m in result.metrics),
        "\n".join(f"note: {note}" for note in result.notes),
    ]
