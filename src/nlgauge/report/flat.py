"""The rows of a result as one flat table for other programs: TSV or CSV, numbers in full, NaN as an empty cell."""

from __future__ import annotations

import csv as writer
import io
import math
from collections.abc import Iterator
from typing import Any

from nlgauge.core.result import SETTINGS, Result, harmless
from nlgauge.report.table import Table

_OF_METRIC = ("signature", "higher_is_better")
_FIRST = 20  # rows of a kind that has no tables of its own


def tsv(result: Result, spreadsheet: bool = False) -> str:
    """The rows with tabs between cells; a tab or line end inside a cell becomes a blank.

    Args:
        result: any result.
        spreadsheet: put `'` before cells that a spreadsheet takes for formulas.
    """
    shown = harmless if spreadsheet else str
    return "\n".join("\t".join(_blank(shown(cell)) for cell in line) for line in _lines(result))


def csv(result: Result, spreadsheet: bool = False) -> str:
    """The rows with commas between cells, quoted where needed; arguments as of `tsv`."""
    file, shown = io.StringIO(), harmless if spreadsheet else str
    writer.writer(file, lineterminator="\n").writerows([shown(cell) for cell in line] for line in _lines(result))
    return file.getvalue().removesuffix("\n")


def first_rows(result: Result) -> Table:
    """The first rows as they are, of a kind that has no tables of its own."""
    columns = result.as_columns()
    body = zip(*(map(_short, cells[:_FIRST]) for cells in columns.values()), strict=True)
    title = f"the first {_FIRST} of {len(result.rows)} rows" if len(result.rows) > _FIRST else ""
    return Table(title, tuple(columns), tuple(body), left=len(columns))


def _lines(result: Result) -> Iterator[list[str]]:
    """The fields of the rows; then for each row the signature and direction of its metric, and how it was tested."""
    fields = list(dict.fromkeys(name for row in result.rows for name in row))
    about = {metric["spec"]: metric for metric in result.metrics}
    beside = [name for name in _OF_METRIC if about and "metric" in fields and name not in fields]
    settings = {
        name: result.settings[name] for name in SETTINGS if name not in fields and result.settings.get(name) is not None
    }
    yield [*fields, *beside, *settings]
    same = [_cell(value) for value in settings.values()]
    for row in result.rows:
        metric = about.get(row.get("metric"), {})
        yield [*(_cell(row.get(name)) for name in fields), *(_cell(metric.get(name)) for name in beside), *same]


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def _short(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _blank(cell: str) -> str:
    return cell.replace("\t", " ").replace("\r", " ").replace("\n", " ")
