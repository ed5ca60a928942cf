"""A choice of metrics: the recommendation in sentences, and a table of how far metrics agree with people."""

from __future__ import annotations

from collections.abc import Sequence

from nlgauge.core.result import Result
from nlgauge.report.tables import Kind, Paper, Part, Row, Table, number, values_of, with_interval

_STANDING = "standing"
_CHOSEN = {1: "first", 2: "second"}
# Criterion -> what its column is called, and what its numbers are.
_COLUMNS = {
    "people": ("your ratings", "Kendall's tau-b with them, 0 by chance"),
    "public": ("public sets", "the share of two outputs ordered as people do there, 0.5 by chance"),
}


def choice_parts(paper: Paper) -> list[Part]:
    """Reasons, command, tables, and the paragraph for a paper."""
    said = [row for row in paper.result.rows if "said" in row]
    if not said:
        return []
    reasons = _texts(said, "reason")
    parts: list[Part] = [*(["\n".join(reasons)] if paper.is_text else reasons), *_texts(said, "command")]
    parts += choice_tables(paper.result, paper.digits)
    return parts if paper.brief and paper.is_text else [*parts, *_texts(said, "methods")]


def _texts(said: Sequence[Row], kind: str) -> list[str]:
    return [str(row["text"]) for row in said if row["said"] == kind]


def choice_tables(result: Result, digits: int | None = None) -> list[Table]:
    """How far each metric agrees with people; those that are left out stand in the reasons."""
    ranked = [row for row in result.rows if row.get("criterion") == _STANDING and row["out"] is None]
    shares = [row for row in result.rows if row.get("criterion") in _COLUMNS]
    return [_ranking(ranked, shares, 2 if digits is None else digits)] if ranked and shares else []


def _ranking(ranked: Sequence[Row], shares: Sequence[Row], places: int) -> Table:
    cells = {(row["metric"], row["criterion"]): row for row in shares}
    criteria = sorted(values_of(shares, "criterion"))
    body, bold = [], set()
    for line, row in enumerate(ranked):
        found = [cells.get((row["metric"], name)) for name in criteria]
        mark = _CHOSEN.get(row["chosen"]) or ("=" if row["level"] else "")
        body.append(
            (
                row["metric"],
                mark,
                *("-" if one is None else with_interval(one, number(one["value"], places), places) for one in found),
            )
        )
        if row["chosen"]:
            bold.add((line, 0))
    header = ("metric", "", *(_COLUMNS[name][0] for name in criteria))
    legend = (*(": ".join(_COLUMNS[name]) for name in criteria), "= cannot be told from the first on public sets")
    return Table("agreement with people", header, tuple(body), frozenset(bold), 2, "taken", legend)


KIND = Kind(parts=choice_parts, heading="Which metric for these texts?")
