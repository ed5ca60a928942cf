"""A table of cells: written as text for the eye, and as Markdown and LaTeX for papers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nlgauge.report.labels import columns, visible

_TEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "_": r"\_",
    "#": r"\#",
    "$": r"\$",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",  # OT1, the encoding of a plain document, has other glyphs in the place of these three
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "↓": r"$\downarrow$",
}
_LABEL = 60  # letters of a label of LaTeX
_MARKDOWN = re.compile(r"[\\|*`]|<(?=[A-Za-z/!?])")  # "p < 0.05" opens no tag


@dataclass(frozen=True)
class Table:
    """A header, lines of cells, and which cells are marked as the best.

    Attributes:
        title: what the numbers are.
        header: names of the columns; the first `left` columns hold text.
        body: one tuple of cells per line.
        marked: (line, column) of cells in bold.
        left: number of columns that hold text and stand to the left.
        marked_as: what marked cells are; a star says it in text, and bold type elsewhere.
        legend: what other signs in cells mean, each as "* p < 0.05".
    """

    title: str
    header: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    marked: frozenset[tuple[int, int]] = frozenset()
    left: int = 1
    marked_as: str = ""
    legend: tuple[str, ...] = ()

    def part(self, start: int, end: int) -> Table:
        """The first column, and those from `start` up to `end`; of a table without marks."""
        return replace(
            self,
            header=(self.header[0], *self.header[start:end]),
            body=tuple((line[0], *line[start:end]) for line in self.body),
        )

    def text(self) -> str:
        """Columns padded to their widest cell; marked cells end in a star."""
        lines = [
            tuple(map(_one_line, self.header)),
            *(
                tuple(_one_line(cell) + self._star(i, j) for j, cell in enumerate(line))
                for i, line in enumerate(self.body)
            ),
        ]
        widths = [max(columns(line[j]) for line in lines) for j in range(len(self.header))]
        lines.insert(1, tuple("-" * w for w in widths))
        shown = (
            "  ".join(
                c + " " * (w - columns(c)) if j < self.left else " " * (w - columns(c)) + c
                for j, (c, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        )
        title = [visible(self.title, "\n")] if self.title else []
        return "\n".join([*title, *(line.rstrip() for line in shown), *self.signs("*")])

    def markdown(self) -> str:
        """A table of GitHub's Markdown; marked cells in bold."""

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(cells) + " |"

        rule = ["---"] * self.left + ["---:"] * (len(self.header) - self.left)
        body = [
            [
                f"**{markdown(cell).strip()}**" if (i, j) in self.marked else markdown(cell)
                for j, cell in enumerate(cells)
            ]
            for i, cells in enumerate(self.body)
        ]
        title = [f"{markdown(self.title)}\n"] if self.title else []
        below = ["", "  \n".join(map(markdown, self.signs("bold:")))] if self.signs("") else []
        return "\n".join([*title, line([*map(markdown, self.header)]), line(rule), *map(line, body), *below])

    def latex(self) -> str:
        """A tabular for the package booktabs; marked cells in bold. What signs mean stands in its last lines.

        A table with a title is a `table` with a caption and a label.
        """

        def line(cells: Sequence[str]) -> str:
            return " & ".join(cells) + r" \\"

        body = [
            [
                rf"\textbf{{{latex(c.strip())}}}" if (i, j) in self.marked else latex(c.strip())
                for j, c in enumerate(cells)
            ]
            for i, cells in enumerate(self.body)
        ]
        kinds = "l" * self.left + "r" * (len(self.header) - self.left)
        signs = [
            rf"\multicolumn{{{len(self.header)}}}{{l}}{{\footnotesize {latex(sign)}}} \\"
            for sign in self.signs("bold:")
        ]
        inside = [
            r"\toprule",
            line([latex(cell) for cell in self.header]),
            r"\midrule",
            *map(line, body),
            r"\bottomrule",
            *signs,
        ]
        tabular = [rf"\begin{{tabular}}{{{kinds}}}", *inside, r"\end{tabular}"]
        if self.title:
            label = "-".join(re.findall(r"[a-z0-9]+", self.title.lower()))[:_LABEL].strip("-")
            above = [r"\begin{table}", r"\centering", rf"\caption{{{latex(self.title)}}}", rf"\label{{tab:{label}}}"]
            tabular = [*above, *tabular, r"\end{table}"]
        return "\n".join(tabular)

    def signs(self, mark: str) -> list[str]:
        """The meaning of each sign in the table, a line each; `mark` is how the form marks cells."""
        return [*([f"{mark} {self.marked_as}"] if self.marked and self.marked_as else []), *self.legend]

    def _star(self, i: int, j: int) -> str:
        if not any(column == j for _, column in self.marked):
            return ""
        return "*" if (i, j) in self.marked else " "


def latex(text: str) -> str:
    """Text as LaTeX prints it; at the start of a line `[` and `*` would be read as options of the line break before."""
    return ("{}" if text[:1] in ("[", "*") else "") + "".join(_TEX.get(c, c) for c in _one_line(text))


def comment(text: str) -> str:
    """A comment of LaTeX."""
    return f"% {_one_line(text)}"


def markdown(text: str) -> str:
    """Text as Markdown shows it."""
    return _MARKDOWN.sub(r"\\\g<0>", _one_line(text))


def _one_line(text: str) -> str:
    return visible(text.replace("\r", " ").replace("\n", " "))
