"""A synthesis as a table: how many edits of each operation, and how severe they are; or the threshold of a judge."""

from __future__ import annotations

from nlgauge.core.result import Result
from nlgauge.report.tables import Kind, Paper, Part, Table, absent, first_rows


def synth_head(result: Result) -> str:
    """The numbers of a synthesis in one line."""
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


def synth_parts(paper: Paper) -> list[Part]:
    """The table below its line; in a terminal as one block that ends in the signature."""
    result = paper.result
    if not result.rows or "operation" not in result.rows[-1]:
        return [first_rows(result)]
    head, table = synth_head(result), synth_table(result)
    if table is None:
        return [head]
    return ["\n".join((head, table.text(), result.metrics[0]["signature"]))] if paper.is_text else [head, table]


KIND = Kind(parts=synth_parts, heading="Errors made in texts", signed=False)
