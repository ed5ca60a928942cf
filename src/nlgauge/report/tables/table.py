"""A table of cells: written as text for the eye, as Markdown and LaTeX for papers, as TSV for other programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nlgauge.core.result import Result

_ESCAPES = {
    "&": r"\&",
    "%": r"\%",
    "_": r"\_",
    "#": r"\#",
    "$": r"\$",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


@dataclass(frozen=True)
class Table:
    """A header, lines of cells, and which cells are marked as the best.

    Attributes:
        title: what the numbers are.
        header: names of the columns; the first `left` columns hold text.
        body: one tuple of cells per line.
        marked: (line, column) of cells in bold.
        left: number of columns that hold text and stand to the left.
    """

    title: str
    header: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    marked: frozenset[tuple[int, int]] = frozenset()
    left: int = 1

    def text(self) -> str:
        """Columns padded to their widest cell; marked cells end in a star."""
        lines = [
            self.header,
            *(tuple(cell + self._star(i, j) for j, cell in enumerate(line)) for i, line in enumerate(self.body)),
        ]
        widths = [max(len(line[j]) for line in lines) for j in range(len(self.header))]
        lines.insert(1, tuple("-" * w for w in widths))
        shown = (
            "  ".join(
                c.ljust(w) if j < self.left else c.rjust(w) for j, (c, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        )
        return "\n".join([*([self.title] if self.title else []), *(line.rstrip() for line in shown)])

    def markdown(self) -> str:
        """A table of GitHub's Markdown; marked cells in bold."""

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

        rule = ["---"] * self.left + ["---:"] * (len(self.header) - self.left)
        body = [
            [f"**{cell}**" if (i, j) in self.marked else cell for j, cell in enumerate(cells)]
            for i, cells in enumerate(self.body)
        ]
        title = [f"{self.title}\n"] if self.title else []
        return "\n".join([*title, line(self.header), line(rule), *map(line, body)])

    def latex(self) -> str:
        """A tabular for the package booktabs; marked cells in bold."""

        def line(cells: Sequence[str]) -> str:
            return " & ".join(cells) + r" \\"

        body = [
            [rf"\textbf{{{_tex(c)}}}" if (i, j) in self.marked else _tex(c) for j, c in enumerate(cells)]
            for i, cells in enumerate(self.body)
        ]
        columns = "l" * self.left + "r" * (len(self.header) - self.left)
        inside = [
            r"\toprule",
            line([_tex(cell) for cell in self.header]),
            r"\midrule",
            *map(line, body),
            r"\bottomrule",
        ]
        title = [f"% {self.title}"] if self.title else []
        return "\n".join([*title, rf"\begin{{tabular}}{{{columns}}}", *inside, r"\end{tabular}"])

    def _star(self, i: int, j: int) -> str:
        if not any(column == j for _, column in self.marked):
            return ""
        return "*" if (i, j) in self.marked else " "


def tsv(result: Result) -> str:
    """All rows as they are in the result file, numbers in full, NaN as an empty cell."""
    names = list(dict.fromkeys(name for row in result.rows for name in row))
    return "\n".join(
        "\t".join(line) for line in [names, *([_plain(row.get(name)) for name in names] for row in result.rows)]
    )


def _tex(cell: str) -> str:
    return "".join(_ESCAPES.get(c, r"\textbackslash{}" if c == "\\" else c) for c in cell)


def _plain(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(value) if isinstance(value, float) else str(value).replace("\t", " ").replace("\n", " ")
