"""Explanations: marked texts in a terminal, readable without colours; a table on paper; and a page."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.io.files import counted
from nlgauge.report.labels import clean, columns, visible
from nlgauge.report.pages import render_result
from nlgauge.report.tables import Kind, Paper, Part, Table

BRACKETS = {"major": ("[", "]"), "minor": ("{", "}")}
MISSING = {"major": "[+]", "minor": "{+}"}
LEGEND = "[major error]  {minor error}  [+] {+} something is missing here"
Paint = Callable[[str, str], str]
Piece = dict[str, Any]


def unpainted(text: str, severity: str) -> str:
    """The text as it is; the `paint` of those who have no colours."""
    return text


def marked(row: Mapping[str, Any], paint: Paint = unpainted) -> str:
    """The hypothesis with brackets around what is at fault.

    Args:
        paint: what colours a mark: takes its text and its severity.
    """
    parts = []
    for piece in pieces(row):
        shown, severity = clean_text(piece["text"]), piece["severity"]
        if severity is None:
            parts.append(shown)
        elif piece["missing"]:
            parts.append(paint(MISSING[severity], severity) + " ")
        else:
            parts.append(paint(shown.join(BRACKETS[severity]), severity))
    return "".join(parts).rstrip()


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


def of_hypothesis(spans: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The spans that lie in the hypothesis."""
    return [span for span in spans if span["side"] == "hyp"]


def clean_text(text: str) -> str:
    """A part of a text that does not control a terminal; blanks stay."""
    return clean(text) if columns(text.strip()) else visible(text)


def described(row: Mapping[str, Any], span: Mapping[str, Any]) -> str:
    """A span in one line: severity, place, text and category."""
    shown = "something is missing" if span["missing"] else f'"{clean_text(row["hyp"][span["start"] : span["end"]])}"'
    category = f"  {clean(span['category'])}" if span["category"] and not span["missing"] else ""
    return f"{span['severity']}  {span['start']}-{span['end']}  {shown}{category}"


def said_of(claim: Mapping[str, Any]) -> list[str]:
    """The support of a sentence, why it has too little of that, and the sentence of the source that tells most."""
    reason = f"  {clean(claim['reason'])}" if claim["reason"] else ""
    place = f"{claim['start']}-{claim['end']}"
    return [f"  {claim['support']:.2f}  {place}{reason}", f"        source: {clean_text(claim['evidence'])}"]


def ranked(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows by their least supported sentence, the lowest first; those without claims as they came."""
    return sorted(rows, key=lambda row: min((claim["support"] for claim in row.get("claims", ())), default=0))


def explained_text(result: Result, width: int = 100, paint: Paint = unpainted) -> str:
    """All rows of a result of kind `explain`: score, marked text and a line for each span; the legend comes last."""
    blocks = []
    for row in ranked(result.rows):
        named = f"{clean(str(row['id']))}  " if len(result.rows) > 1 else ""
        lines = textwrap.wrap(marked(row), max(24, width)) if paint is unpainted else [marked(row, paint)]
        spans = [f"  {described(row, span)}" for span in of_hypothesis(row["spans"])]
        if row.get("claims"):
            spans = [line for claim in row["claims"] for line in said_of(claim)]
        blocks.append("\n".join([f"{named}score {row['score']:g}", *(lines or [""]), *spans]))
    legend = [LEGEND] if any(row["spans"] for row in result.rows) else []
    return "\n\n".join([*blocks, *legend])


def totals(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many texts there are, and how many have errors of each severity."""
    counts = {
        severity: sum(span["severity"] == severity for row in rows for span in row["spans"]) for severity in BRACKETS
    }
    clean_ones = sum(not row["spans"] for row in rows)
    mean = sum(row["score"] for row in rows) / len(rows) if rows else math.nan
    return (
        f"{counted(len(rows), 'text')}: {clean_ones} without a mark, {counts['major']} major and"
        f" {counted(counts['minor'], 'minor error')}, mean score {mean:.2f}"
    )


def explain_html(result: Result) -> str:
    """A result of kind `explain` as one self-contained HTML file."""
    rows = [{**row, "pieces": pieces(row)} for row in ranked(result.rows)]
    return render_result("explain.html", result, rows=rows, totals=totals(result.rows))


def explain_parts(paper: Paper) -> list[Part]:
    """All marked texts and their totals."""
    rows = paper.result.rows
    if paper.is_text:
        return [*([explained_text(paper.result, paper.columns)] if rows else []), totals(rows)]
    body = tuple((str(row["id"]), marked(row), f"{row['score']:g}") for row in ranked(rows))
    table = Table("", ("id", "hypothesis", "score"), body, left=2, legend=(LEGEND,))
    return [*([table] if rows else []), totals(rows)]


KIND = Kind(parts=explain_parts, page=explain_html)
