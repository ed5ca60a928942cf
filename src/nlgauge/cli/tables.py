"""Results as tables: for the eye, and for TSV, Markdown and LaTeX."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.result import Result

FORMATS = ("text", "json", "tsv", "markdown", "latex")
_NO_NAME = "-"
_PIPE_COLUMNS = 160  # a file or a pipe has no width of its own


def check_format(form: str) -> None:
    """Refuse an unknown output format before anything is scored."""
    if form not in FORMATS:
        raise InputError(f"unknown format {form!r}{nearest(form, FORMATS)}")


def system_name(system: str | None) -> str:
    """How a system is shown; segments that name none have a dash."""
    return _NO_NAME if system is None else system


def score_only(result: Result, width: int | None) -> str:
    """The numbers alone: a line a system, its metrics side by side."""
    lines: dict[tuple[Any, Any], list[str]] = {}
    for row in result.rows:
        lines.setdefault((row.get("group"), row["system"]), []).append(_number(row["value"], width, row, result))
    return "\n".join(" ".join(cells) for cells in lines.values())


def render(result: Result, form: str, width: int | None, quiet: bool) -> str:
    """A score result in one of `FORMATS`."""
    if form == "json":
        return json.dumps(result.as_json(), ensure_ascii=False, indent=1, allow_nan=False)
    if form == "tsv":
        names = list(dict.fromkeys(name for row in result.rows for name in row))
        return "\n".join(
            "\t".join(line) for line in [names, *([_cell(row.get(n)) for n in names] for row in result.rows)]
        )
    header, body = _grid(result, width)
    if form == "markdown":
        return _markdown(header, body)
    if form == "latex":
        return _latex(header, body)
    table = _aligned(header, body, left=header.index("system") + 1)
    if (
        max(map(len, table.split("\n"))) > shutil.get_terminal_size((_PIPE_COLUMNS, 24)).columns
        and len(result.metrics) > 1
    ):
        table = "\n\n".join(
            _aligned(*_grid(result, width, [m["spec"]]), left=header.index("system") + 1) for m in result.metrics
        )
    if quiet:
        return table
    signatures = "\n".join(f"{m['spec']} = {m['signature']}" for m in result.metrics)
    notes = [f"note: {note}" for note in result.notes]
    starred = ["* p < 0.05 against the baseline"] if any(row.get("p") is not None for row in result.rows) else []
    return "\n\n".join(part for part in (table, "\n".join(starred), signatures, "\n".join(notes)) if part)


def _grid(result: Result, width: int | None, only: Sequence[str] | None = None) -> tuple[list[str], list[list[str]]]:
    """One line a system (and group), one column a metric (or those in `only`); intervals and p-values inside the cell."""
    grouped = any("group" in row for row in result.rows)
    compared = any(row.get("baseline") is not None for row in result.rows)
    specs = [m["spec"] for m in result.metrics if only is None or m["spec"] in only]
    lines: dict[tuple[Any, Any], dict[str, str]] = {}
    for row in result.rows:
        lines.setdefault((row.get("group"), row["system"]), {})[row["metric"]] = _scored(row, width, result)
    bases = {row.get("baseline") for row in result.rows}
    counts = {(row.get("group"), row["system"]): row["n"] for row in result.rows}
    body = []
    for (group, system), cells in lines.items():
        name = system_name(system) + (" (baseline)" if compared and system in bases else "")
        body.append(
            [
                *([_cell(group) or _NO_NAME] if grouped else []),
                name,
                *(cells.get(spec, "") for spec in specs),
                str(counts[group, system]),
            ]
        )
    return [*(["group"] if grouped else []), "system", *specs, "n"], body


def _scored(row: Mapping[str, Any], width: int | None, result: Result) -> str:
    text = _number(row["value"], width, row, result)
    if row.get("low") is not None and not math.isnan(row["low"]):
        text += f" [{_number(row['low'], width, row, result)}, {_number(row['high'], width, row, result)}]"
    if row.get("p") is not None:
        text += f" p={row['p']:.4f}" + ("*" if row["p"] < 0.05 else " ")
    return text


def _number(value: float | None, width: int | None, row: Mapping[str, Any], result: Result) -> str:
    if value is None or math.isnan(value):
        return "undefined"
    if width is None:
        largest = max(
            (abs(r["value"]) for r in result.rows if r["metric"] == row["metric"] and r["value"] is not None),
            default=0.0,
        )
        width = 2 if largest > 1.5 else 4  # a scale to 100 reads well with two digits, a scale to 1 with four
    return f"{value:.{width}f}"


def _aligned(header: Sequence[str], body: Sequence[Sequence[str]], left: int) -> str:
    """Columns padded to their widest cell: so many of text to the left, then numbers to the right."""
    widths = [max(len(line[i]) for line in [header, *body]) for i in range(len(header))]
    rule = ["-" * w for w in widths]

    def padded(line: Sequence[str]) -> str:
        cells = zip(line, widths, strict=True)
        return "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width) for i, (cell, width) in enumerate(cells)
        ).rstrip()

    return "\n".join(map(padded, [header, rule, *body]))


def _markdown(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(header), line(["---", *["---:"] * (len(header) - 1)]), *map(line, body)])


def _latex(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    escapes = {c: f"\\{c}" for c in "&%_#${}"} | {
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
    }

    def line(cells: Sequence[str]) -> str:
        escaped = ("".join(escapes.get(c, c) for c in cell) for cell in cells)
        return " & ".join(escaped) + r" \\"

    columns = "l" + "r" * (len(header) - 1)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            line(header),
            r"\midrule",
            *map(line, body),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(value) if isinstance(value, float) else str(value).replace("\t", " ").replace("\n", " ")
