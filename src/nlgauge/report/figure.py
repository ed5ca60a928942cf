"""A figure: its picture or shaded table, and the numbers in it, to be taken away as CSV and as Vega-Lite."""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nlgauge.core.result import harmless, null_if_nan

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"  # the name of the format; nothing is fetched


def with_intervals(y: str, value: str = "value", by: str = "", mark: str = "bar") -> dict[str, Any]:
    """How Vega-Lite draws values with their intervals from the fields `low` and `high`.

    Args:
        y: the field that names the lines.
        value: the field of the values.
        by: the field that tells apart what stands in one line; none if empty.
        mark: `bar` or `point`.
    """
    apart = {"field": by, "type": "nominal", "sort": None}
    lines = {"y": {"field": y, "type": "nominal", "sort": None}, **({"yOffset": apart, "color": apart} if by else {})}
    ends = {"x": {"field": "low", "type": "quantitative", "title": value}, "x2": {"field": "high"}}
    layers = [
        {"mark": mark, "encoding": {"x": {"field": value, "type": "quantitative"}}},
        {"mark": "rule", "encoding": {**ends, "color": {"value": "black"}}},
    ]
    return {"encoding": lines, "layer": layers}


def banded(x: str, by: str, value: str = "value", low: str = "low", high: str = "high") -> dict[str, Any]:
    """How Vega-Lite draws curves with bands; `by` is the field that tells curves apart, other names are fields too."""
    ends = {"y": {"field": low, "type": "quantitative", "title": value}, "y2": {"field": high}}
    scale = {"zero": False}
    layers = [
        {"mark": {"type": "area", "opacity": 0.15}, "encoding": ends},
        {
            "mark": {"type": "line", "point": True},
            "encoding": {"y": {"field": value, "type": "quantitative", "scale": scale}},
        },
    ]
    across = {"field": x, "type": "quantitative", "scale": scale}
    return {"encoding": {"x": across, "color": {"field": by, "type": "nominal", "sort": None}}, "layer": layers}


def shaded(x: str, y: str, value: str, row: str = "", *, scale: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """How Vega-Lite draws a shaded table of values, or one for each value of `row`; `scale` is that of the colours."""
    colour = {"field": value, "type": "quantitative", **({"scale": scale} if scale else {})}
    sides = {axis: {"field": name, "type": "nominal", "sort": None} for axis, name in (("x", x), ("y", y))}
    rows = {"row": {"field": row, "type": "nominal", "sort": None}} if row else {}
    return {"mark": "rect", "encoding": {**sides, **rows, "color": colour}}


DIVERGING: Mapping[str, Any] = {"scheme": "blueorange", "domain": [-1, 1]}


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
        rows = [list(self.numbers[0]) if self.numbers else [], *(list(row.values()) for row in self.numbers)]
        return _csv(rows, harmless)

    @property
    def vega(self) -> str:
        """The figure as Vega-Lite. Its numbers are CSV inside, in six digits: half as long as objects."""
        names = list(self.numbers[0]) if self.numbers else []
        rows = [names, *([_rounded(value) for value in row.values()] for row in self.numbers)]
        # nothing is guessed from the look of a name: a system called 1 stays a name
        numeric = {name for row in self.numbers for name, value in row.items() if isinstance(value, (int, float))}
        kinds = {name: "number" if name in numeric else "string" for name in names}
        data = {"values": _csv(rows, str), "format": {"type": "csv", "parse": kinds}}
        return _json({"$schema": _SCHEMA, "title": self.title, **self.chart, "data": data}) + "\n"

    @property
    def links(self) -> list[tuple[str, str, str]]:
        """The label, file name and content as a URL of each form of the figure."""
        name = re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")[:60] or "figure"
        return [
            ("CSV", f"{name}.csv", data_url("text/csv", self.csv)),
            ("Vega-Lite", f"{name}.vl.json", data_url("application/json", self.vega)),
        ]


def _rounded(value: Any) -> Any:
    known = null_if_nan(value)
    return float(f"{known:.6g}") if isinstance(known, float) else known


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def data_url(kind: str, text: str) -> str:
    """A text as a URL that holds it."""
    return f"data:{kind};base64,{base64.b64encode(text.encode('utf-8', 'backslashreplace')).decode('ascii')}"


def _csv(rows: Sequence[Sequence[Any]], safe: Callable[[str], str]) -> str:
    """Rows as CSV; NaN is an empty cell, and `safe` is what becomes of a text."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([_cell(value, safe) for value in row] for row in rows)
    return file.getvalue()


def _cell(value: Any, safe: Callable[[str], str]) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return safe(repr(value) if isinstance(value, float) else str(value))
