"""Explanations as a page: each hypothesis with its errors underlined, beside the texts that it was compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.explanation.lines import of_hypothesis, totals
from nlgauge.report.html import render_result

Piece = dict[str, Any]


def pieces(row: Mapping[str, Any]) -> list[Piece]:
    """The hypothesis in pieces: text, severity (None where nothing is at fault), category, and whether it is a gap."""
    text, found, at = str(row["hyp"]), [], 0

    def piece(shown: str, span: Mapping[str, Any] | None) -> Piece:
        about = span or {"severity": None, "category": None, "missing": False}
        return {"text": shown, **{name: about[name] for name in ("severity", "category", "missing")}}

    for span in sorted(of_hypothesis(row["spans"]), key=lambda span: (span["start"], span["end"])):
        start, end = max(at, span["start"]), max(at, span["end"])
        if start > at:
            found.append(piece(text[at:start], None))
        if start < end or span["missing"]:
            found.append(piece(text[start:end], span))
        at = max(at, end)
    return [*found, piece(text[at:], None)] if at < len(text) else found


def result_html(result: Result) -> str:
    """A result of kind `explain` as one self-contained HTML file."""
    rows = [{**row, "pieces": pieces(row)} for row in result.rows]
    return render_result("explain.html", result, rows=rows, totals=totals(result.rows))
