"""Explanations: marked texts in a terminal, a table on paper, and a page of their own."""

from __future__ import annotations

from nlgauge.report.explanation.lines import LEGEND, explained_text, marked, totals
from nlgauge.report.kinds.kind import Kind
from nlgauge.report.paper import Paper, Part
from nlgauge.report.table import Table


def explain_parts(paper: Paper) -> list[Part]:
    """All marked texts and their totals."""
    rows = paper.result.rows
    if paper.is_text:
        return [*([explained_text(paper.result, paper.columns)] if rows else []), totals(rows)]
    body = tuple((str(row["id"]), marked(row), f"{row['score']:g}") for row in rows)
    table = Table("", ("id", "hypothesis", "score"), body, left=2, legend=(LEGEND,))
    return [*([table] if rows else []), totals(rows)]


KIND = Kind(parts=explain_parts, page="nlgauge.report.explanation.page:result_html")
