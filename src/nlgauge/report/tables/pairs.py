"""Systems tested against each other as tables: one triangle of p-values per metric, the best system first."""

from __future__ import annotations

from nlgauge.core.result import Result
from nlgauge.report.marks import number
from nlgauge.report.rows import SIGNIFICANT, by_keys, compared, measured, p_of
from nlgauge.report.tables.table import Table


def pair_tables(result: Result, digits: int = 4) -> list[Table]:
    """One table per metric and group of a result of kind `score`; none if only a baseline was tested against.

    Cells are p-values, adjusted where the result has adjusted ones, and marked where they are below 0.05.
    """
    tables = []
    tested = [{"group": None, **row} for row in result.rows]
    for (metric, group), rows in by_keys(compared(tested), "metric", "group").items():
        order = [row["system"] for row in measured(tested) if (row["metric"], row["group"]) == (metric, group)]
        p = {(row["system"], row["against"]): p_of(row) for row in rows}
        body, marked = [], set()
        for i, system in enumerate(order[:-1]):
            values = [p[system, other] for other in order[i + 1 :]]
            body.append((system, *([""] * i), *(number(value, digits) for value in values)))
            marked |= {(i, i + k) for k, value in enumerate(values, start=1) if value < SIGNIFICANT}
        adjusted = ", adjusted" if rows[0].get("p_adjusted") is not None else ""
        test = rows[0]["test"].replace("_", " ")
        where = "" if group is None else f", {group}"
        title = f"p of {metric}{where}: row and column differ, {test}{adjusted}"
        below = f"p < {SIGNIFICANT:g}"
        tables.append(Table(title, ("", *order[1:]), tuple(body), frozenset(marked), marked_as=below))
    return tables
