"""Plans of ratings as tables and a page: the ranking so far, who leads whom, and the items to rate next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nlgauge.core.result import Result
from nlgauge.report.drawing import axis_of, strip
from nlgauge.report.pages import render_result
from nlgauge.report.tables import Kind, Row, Table, absent, between, number, with_interval

_NEXT = 10  # items that are shown


def plan_tables(result: Result, digits: int = 3) -> list[Table]:
    """The tables of a result of kind `plan`: of its systems and their differences, and of items that are not rated."""
    return [*_ranking(result.rows, digits), *_leads(result.rows), *_next_items(result.rows)]


def _systems(rows: Sequence[Row]) -> list[Row]:
    """The rows of single systems, the best first."""
    return [row for row in rows if row.get("system") is not None and row["against"] is None]


def _ranks(row: Row) -> str:
    """The ranks that a system may have when all is rated."""
    best, worst = row["rank_best"], row["rank_worst"]
    return str(best) if best == worst else f"{best}-{worst}"


def _plain_cost(row: Row) -> str:
    """How many items drawn at random would give the same interval without metrics."""
    return "" if absent(row["n_plain"]) else f"{row['n_plain']:.0f}"


def _ranking(rows: Sequence[Row], digits: int) -> Iterator[Table]:
    systems = _systems(rows)
    if not systems:
        return
    body = tuple(
        (
            row["system"],
            _ranks(row),
            with_interval(row, number(row["value"], digits), digits),
            str(row["n"]),
            _plain_cost(row),
        )
        for row in systems
    )
    header = ("system", "ranks", systems[0]["criterion"], "rated items", "without metrics")
    yield Table(f"mean {systems[0]['criterion']} if all items were rated", header, body)


def _leads(rows: Sequence[Row]) -> Iterator[Table]:
    order = [row["system"] for row in _systems(rows)]
    leads = {(row["system"], row["against"]): row["lead"] for row in rows if row.get("against") is not None}
    if not leads:
        return
    body = tuple((one, *(number(leads.get((one, other)), 2, missing="") for other in order[1:])) for one in order[:-1])
    yield Table("probability that row leads column when all items are rated", ("", *order[1:]), body)


def _next_items(rows: Sequence[Row]) -> Iterator[Table]:
    items = [row for row in rows if row.get("seg") is not None]
    left = [row for row in items if not row["rated"]]
    if not left:
        return
    body = tuple((str(row["order"]), row["seg"], number(row["probability"])) for row in left[:_NEXT])
    shown = f"the first {len(body)} of {len(left)} items" if len(left) > len(body) else "items"
    yield Table(f"{shown} to rate next", ("order", "seg", "probability"), body, left=2)


def plan_html(result: Result) -> str:
    """The page of a result of kind `plan`, with the intervals of systems on one axis."""
    systems, tables = _systems(result.rows), plan_tables(result)
    axis = axis_of(row[key] for row in systems for key in ("value", "low", "high"))
    lines = [
        {
            "system": row["system"],
            "ranks": _ranks(row),
            "value": number(row["value"]),
            "picture": strip(row, axis),
            "interval": between(row["low"], row["high"]),
            "plain": _plain_cost(row),
        }
        for row in systems
    ]
    return render_result(
        "plan.html",
        result,
        criterion=systems[0]["criterion"] if systems else "",
        n=systems[0]["n"] if systems else 0,
        axis=axis,
        lines=lines,
        tables=tables[1:] if systems else tables,
    )


KIND = Kind(parts=lambda paper: plan_tables(paper.result, paper.places), page=plan_html)
