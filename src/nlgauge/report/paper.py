"""On what is a result written? The form, the room there is, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.labels import columns as columns_of
from nlgauge.report.labels import visible
from nlgauge.report.table import Table, comment, markdown

FORMS = ("text", "json", "tsv", "csv", "markdown", "latex")
DATA = ("json", "tsv", "csv")  # forms for programs, which hold every row and every digit
CELLS = ("tsv", "csv")  # those of them that spreadsheets open
WIDE = 160  # columns: a file or a pipe has no width of its own
Worst = Mapping[str, Sequence[Mapping[str, Any]]]
Part = Table | str  # a table, or lines of prose


@dataclass(frozen=True)
class Paper:
    """A form of a result, and the options of `render`, which explains them.

    Attributes:
        result: what is written.
        form: `text`, `markdown` or `latex`.
        digits, columns, intervals, worst, parts, brief, hints: as in `render`.
    """

    result: Result
    form: str
    digits: int | None = None
    columns: int = WIDE
    intervals: bool = False
    worst: Worst = field(default_factory=dict)
    parts: bool = False
    brief: bool = False
    hints: bool = True

    @property
    def places(self) -> int:
        """The number of decimals, unless the kind has a rule of its own."""
        return 3 if self.digits is None else self.digits

    @property
    def is_text(self) -> bool:
        """Whether it is read in a terminal."""
        return self.form == "text"

    @property
    def lean(self) -> bool:
        """Whether it is LaTeX that holds what a paper prints, and no more."""
        return self.brief and self.form == "latex"

    def shown(self, part: Part) -> str:
        """One table or prose in the form of the paper."""
        if isinstance(part, Table):
            return {"markdown": part.markdown, "latex": part.latex}.get(self.form, part.text)()
        return "\n".join(map(self.line, part.split("\n")))

    def line(self, line: str) -> str:
        """A line of prose; LaTeX has it as a comment."""
        return {"markdown": markdown, "latex": comment}.get(self.form, visible)(line)

    def fits(self, table: Table) -> bool:
        """Whether the terminal is wide enough; what signs mean may be folded."""
        bare = replace(table, marked_as="", legend=())
        return max(map(columns_of, bare.text().split("\n"))) <= self.columns
