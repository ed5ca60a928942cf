"""Ranks of systems by every metric: one shade per cluster of systems that the tests do not tell apart."""

from __future__ import annotations

from nlgauge.core.result import Result
from nlgauge.report.figure import Figure
from nlgauge.report.kinds.score import digits_of, system_name
from nlgauge.report.maps import Cell, amount
from nlgauge.report.rows import measured, number
from nlgauge.report.trust import doubts_of

_CHART = {
    "mark": "rect",
    "encoding": {
        "x": {"field": "metric", "type": "nominal", "sort": None},
        "y": {"field": "system", "type": "nominal", "sort": None},
        "color": {"field": "rank", "type": "ordinal", "scale": {"reverse": True}},
    },
}


def rank_figure(result: Result) -> Figure | None:
    """The ranks of a result of kind `score` whose systems were compared in pairs; None of another, or of one system."""
    rows = [row for row in measured(result.rows) if row.get("rank") is not None and row.get("group") is None]
    if not rows:
        return None
    ranks: dict[str, dict[str, int]] = {}
    for row in rows:
        ranks.setdefault(system_name(row["system"]), {})[row["metric"]] = row["rank"]
    if len(ranks) < 2:
        return None
    specs = [metric["spec"] for metric in result.metrics]
    most = max(row["rank"] for row in rows)
    digits = {m["spec"]: digits_of(m, [row for row in rows if row["metric"] == m["spec"]]) for m in result.metrics}
    cells: dict[tuple[str, str], Cell] = {}
    for row in rows:
        shown = f"{row['rank']}  ({number(row['value'], digits[row['metric']])})"
        cells[system_name(row["system"]), row["metric"]] = amount(most - row["rank"], 0, most, text=shown)
    order = sorted(ranks, key=lambda name: sum(ranks[name].values()) / len(ranks[name]))
    lines = [(name, "", [cells.get((name, spec), Cell("")) for spec in specs]) for name in order]
    numbers = [
        {"system": system_name(row["system"]), "metric": row["metric"], "rank": row["rank"], "value": row["value"]}
        for row in rows
    ]
    note = (
        "The darker the better; beside the rank stands the score. A new rank begins where every system above is"
        " significantly better than every system below; systems of one shade are not told apart."
    )
    doubts = doubts_of(result)
    columns = [f"{spec} (?)" if spec in doubts else spec for spec in specs]
    note += "".join(f" (?) {spec} says nothing here: {doubt}." for spec, doubt in doubts.items())
    return Figure("Ranks", numbers, _CHART, map={"columns": columns, "blocks": [("", lines)]}, note=note)
