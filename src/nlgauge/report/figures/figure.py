"""A figure: its picture or shaded table, and the numbers in it, to be taken away as CSV and as Vega-Lite."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nlgauge.core.result import harmless, null_if_nan

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"  # the name of the format; nothing is fetched


@dataclass(frozen=True)
class Figure:
    """A figure of a page.

    Attributes:
        title: what it shows.
        numbers: what is drawn, as rows with the same fields.
        chart: how Vega-Lite draws the numbers: `mark` or `layer`, and `encoding`.
        picture: markup of our own making; empty for a shaded table.
        map: `columns` and `blocks` of a shaded table; empty for a picture.
        note: how it is to be read.
    """

    title: str
    numbers: Sequence[Mapping[str, Any]]
    chart: Mapping[str, Any]
    picture: Any = ""
    map: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    @property
    def csv(self) -> str:
        """The numbers as CSV; `'` stands before cells that a spreadsheet would take for formulas."""
        file = io.StringIO()
        rows = [list(self.numbers[0]) if self.numbers else [], *(row.values() for row in self.numbers)]
        csv.writer(file, lineterminator="\n").writerows([_cell(value) for value in row] for row in rows)
        return file.getvalue()

    @property
    def vega(self) -> str:
        """The figure as Vega-Lite, with its numbers in it."""
        values = ({key: null_if_nan(value) for key, value in row.items()} for row in self.numbers)
        lines = ",\n".join(_json(row) for row in values)
        head = _json({"$schema": _SCHEMA, "title": self.title, **self.chart})[:-1]
        return f'{head},\n"data": {{"values": [\n{lines}\n]}}}}\n'

    @property
    def links(self) -> list[tuple[str, str, str]]:
        """What it is called, the name of the file and its content as a URL, for each form of the figure."""
        name = re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")[:60] or "figure"
        return [
            ("CSV", f"{name}.csv", data_url("text/csv", self.csv)),
            ("Vega-Lite", f"{name}.vl.json", data_url("application/json", self.vega)),
        ]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def data_url(kind: str, text: str) -> str:
    """A text as a URL that holds it."""
    return f"data:{kind};base64,{base64.b64encode(text.encode('utf-8', 'backslashreplace')).decode('ascii')}"


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return harmless(repr(value) if isinstance(value, float) else str(value))
