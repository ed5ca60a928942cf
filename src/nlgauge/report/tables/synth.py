"""A synthesis as a table: how many edits of each operation, and how severe they are."""

from __future__ import annotations

from nlgauge.core.result import Result
from nlgauge.report.rows import absent
from nlgauge.report.tables.table import Table


def synth_head(result: Result) -> str:
    """What was synthesised, in one line."""
    total = result.rows[-1]
    if not total["edits"]:
        return "no triples: every text was left alone"
    return (
        f"{total['texts']} triples, {total['edits'] / total['texts']:.2f} edits each on the mean, mean score"
        f" {total['score']:.2f}"
    )


def synth_table(result: Result) -> Table | None:
    """One line per operation, and one for all; None where nothing was edited."""
    if not result.rows[-1]["edits"]:
        return None
    body = tuple(
        (row["operation"], str(row["edits"]), _share(row["share"]), f"{row['severity']:.2f}", _share(row["major"]))
        for row in result.rows
    )
    return Table("", ("operation", "edits", "share", "severity", "major"), body)


def _share(share: float) -> str:
    return "-" if absent(share) else f"{100 * share:.1f} %"
