"""Model selection as tables and a page: how good is what each metric would choose, beside a choice by chance?"""

from __future__ import annotations

from collections.abc import Sequence

from nlgauge.core.result import Result
from nlgauge.report.kinds.meta import meta_html
from nlgauge.report.tables import FALLS, LOWER_IS_BETTER, MEAN, Kind, Row, Table, by_keys, number, values_of

_LOSS = "diff"  # the one statistic of a choice that is better when it is lower


def selection_tables(result: Result, digits: int = 3) -> list[Table]:
    """One table per group, or one table for the mean of several groups.

    It has one line per metric, one column for each of Hits@1, MRR and Diff, and a last line for the values of chance.
    """
    groups = values_of(result.rows, "group")
    shown = groups[:1] if len(groups) <= 2 else [*groups[:-1], MEAN]
    rows = by_keys(result.rows, "group")
    return [_selection(group, rows[(group,)], digits) for group in shown]


def _selection(group: str | None, rows: Sequence[Row], digits: int) -> Table:
    stats, metrics = values_of(rows, "stat"), values_of(rows, "metric")
    cells = {(row["metric"], row["stat"]): row for row in rows}
    simulated = any(row["simulated"] is not None for row in rows)
    fields = ["value", "simulated"] if simulated else ["value"]
    body = [
        (metric, *(number(cells[metric, stat][field], digits) for field in fields for stat in stats))
        for metric in metrics
    ]
    blind = [number(cells[metrics[0], stat]["chance"], digits) for stat in stats]
    body.append(("(any of the pool)", *blind, *([""] * len(stats) if simulated else [])))
    heads = [f"{stat}{' ' + field if field != 'value' else ''}" for field in fields for stat in stats]
    header = ("metric", *(f"{head} {FALLS}" if head.startswith(_LOSS) else head for head in heads))
    first = rows[0]
    of = "" if group is None else f", {group}"
    models = f"{first['n_used']} models" if group != MEAN else f"{first['n_used']} groups"
    title = f"the best of {first['pool']} by each metric, judged by {first['criterion']}: {models}{of}"
    return Table(title, header, tuple(body), legend=(LOWER_IS_BETTER,) if _LOSS in stats else ())


KIND = Kind(
    parts=lambda paper: selection_tables(paper.result, paper.places),
    page=lambda result: meta_html(result, "Which model is the best?", selecting=True, tables=selection_tables(result)),
)
