"""A choice of metrics: the recommendation in sentences first, then the table with every number of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nlgauge.core.result import Result
from nlgauge.report.difference import marked
from nlgauge.report.kinds.kind import Kind
from nlgauge.report.paper import Paper, Part
from nlgauge.report.rows import Row, absent, number, values_of, with_interval
from nlgauge.report.table import Table

_STANDING = "standing"
_ERRORS = "errors."
_CHOSEN = {1: "first", 2: "second"}
_PEOPLE, _COPIES = "people", "copies"
_NO_NUMBER = "-"


def choice_parts(paper: Paper) -> list[Part]:
    """Reasons, command, tables, and the paragraph for a paper."""
    result = paper.result
    said = [row for row in result.rows if "said" in row]
    parts: list[Part] = ["\n".join(_texts(said, "reason")), *_texts(said, "command")]
    if not said:
        return []
    parts += [*choice_tables(result, paper.digits), *_examples(said)]
    return [*parts, *_texts(said, "methods")]


def _texts(said: Sequence[Row], kind: str) -> list[str]:
    return [str(row["text"]) for row in said if row["said"] == kind]


def choice_tables(result: Result, digits: int | None = None) -> list[Table]:
    """The standing of each metric with all shares that it is made of; and the metrics that are left out."""
    rows = [row for row in result.rows if row.get("criterion") == _STANDING]
    shares = [row for row in result.rows if "criterion" in row and row["criterion"] != _STANDING]
    ranked = [row for row in rows if row["out"] is None]
    places = 2 if digits is None else digits
    tables = [_ranking(ranked, shares, places)] if ranked else []
    out = [row for row in rows if row["out"] is not None]
    if out:
        body = tuple((str(row["metric"]), str(row["out"])) for row in out)
        tables.append(Table("left out", ("metric", "reason"), body, left=2))
    return tables


def _ranking(ranked: Sequence[Row], shares: Sequence[Row], places: int) -> Table:
    cells = {(row["metric"], row["criterion"]): row for row in shares}
    weights = {row["criterion"]: row["weight"] for row in shares}
    criteria = sorted(values_of(shares, "criterion"), key=_place)
    body, bold = [], set()
    for line, row in enumerate(ranked):
        cost = _NO_NUMBER if absent(row["seconds"]) else f"{row['seconds']:.1f}"
        found = (_cell(cells.get((row["metric"], name)), places) for name in criteria)
        body.append((row["metric"], _mark(row), with_interval(row, number(row["value"], places), places), *found, cost))
        if row["chosen"]:
            bold.add((line, 0))
    by_people = bool(weights.get(_PEOPLE))
    weighed = ", ".join(f"{name} {weights[name]:g}" for name in criteria if weights[name] and name != _PEOPLE)
    if weighed:
        rule = f"the mean of the shares, weighted {weighed}"
    else:
        rule = "the share of your ratings" if by_people else "none, since nothing is known that tells metrics apart"
    header = ("metric", "", _STANDING, *(name.removeprefix(_ERRORS) for name in criteria), "s per 1,000")
    legend = (
        f"standing: {rule}",
        *(["your ratings decide first: standings rank what these leave open"] if by_people and weighed else []),
        "= cannot be told from the first; ~ orders these texts as an earlier one does",
    )
    return Table("shares of right answers; chance is 0.5", header, tuple(body), frozenset(bold), 2, "taken", legend)


def _place(criterion: str) -> tuple[int, str]:
    """Where a criterion stands: people first, then errors."""
    order = (_PEOPLE, "public", *(_ERRORS + name for name in ("meaning", "facts", "coverage", "fluency")), _COPIES)
    return (order.index(criterion) if criterion in order else len(order)), criterion


def _mark(row: Row) -> str:
    """What is said of a metric in a sign or a word."""
    return " ".join(
        filter(None, (_CHOSEN.get(row["chosen"], ""), "=" if row["level"] else "", "~" if row["alike"] else ""))
    )


def _cell(row: Row | None, places: int) -> str:
    return _NO_NUMBER if row is None else number(row["value"], places)


def _examples(said: Sequence[Row]) -> Iterator[Table]:
    """Errors in the user's own texts that the chosen metrics miss."""
    rows = [row for row in said if row["said"] == "example"]
    for spec in values_of(rows, "metric"):
        body = []
        for row in (row for row in rows if row["metric"] == spec):
            reference = "" if row["reference"] is None else str(row["reference"])
            body += [
                (str(row["id"]), row["phenomenon"], "compared with", reference),
                ("", "", "better", str(row["better"])),
                ("", "", "worse", marked(reference if row["of"] == _COPIES else str(row["better"]), str(row["worse"]))),
            ]
        yield Table(f"errors that {spec} misses", ("text", "error", "", ""), tuple(body), left=4)


KIND = Kind(parts=choice_parts, heading="Which metric for these texts?")
