"""What every kind is shown with: rows by key, numbers in words, tables in each form, and the form that is asked for."""

from __future__ import annotations

import csv as writer
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from nlgauge.core.result import KINDS, SETTINGS, Result, harmless
from nlgauge.report.labels import columns, visible
from nlgauge.report.labels import columns as columns_of

Row = Mapping[str, Any]
MEAN, POOLED = "mean", "pooled"  # in the place of a group, a criterion, a data set or a metric
MEAN_PREFIX = "mean-"  # phenomena that are means of others begin so
ALL, ADEQUACY = "mean-all", "mean-adequacy"
PEOPLE = "human."  # criteria in the place of a metric begin so
TASK = ("stat", "criterion", "level")
SIGNIFICANT = 0.05
FALLS = "↓"  # behind the name of what is better when it is lower
LOWER_IS_BETTER = f"{FALLS} lower is better"


_RANKED = "rank: "  # how the note begins that says by which rule ranks begin
_BY_ALL = "a new rank begins where every metric above is significantly better than every metric below"


def rank_rule(notes: Iterable[str]) -> str:
    """By which rule the ranks of metrics begin: what notes of a result say, or the rule that needs no note.

    Another note says by which rule people's ranks of systems begin.
    """
    said = (note.removeprefix(_RANKED) for note in notes if note.startswith(_RANKED))
    return next((rule for rule in said if "metric" in rule), _BY_ALL)


def values_of(rows: Iterable[Row], key: str) -> list[Any]:
    """The values of one key, each once, in order of appearance."""
    return list(dict.fromkeys(row[key] for row in rows))


def by_keys(rows: Iterable[Row], *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by their values of some keys, in order of appearance."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def measured(rows: Iterable[Row]) -> list[Row]:
    """Rows that hold the value of a metric, not a test of one metric against another."""
    return [row for row in rows if row.get("against") is None]


def compared(rows: Iterable[Row]) -> list[Row]:
    """Rows that hold a test of one metric against another."""
    return [row for row in rows if row.get("against") is not None]


def is_of_people(row: Row) -> bool:
    """Whether a row compares a criterion with another, as `--criteria` adds them."""
    return str(row["metric"]).startswith(PEOPLE) and "chance" not in row


def p_values(rows: Iterable[Row]) -> dict[tuple[str, str], float]:
    """(metric, other) -> p, adjusted where p-values were adjusted."""
    return {(row["metric"], row["against"]): p_of(row) for row in rows}


def p_of(row: Row) -> float:
    """The p-value of a row, adjusted where it was adjusted."""
    p: float = row["p"] if row.get("p_adjusted") is None else row["p_adjusted"]
    return p


def claim_of(row: Row) -> str:
    """The claim that a small p supports, given the alternative of the test."""
    return "row better than column" if row["alternative"] == "greater" else "row and column differ"


def means_last(names: Iterable[str]) -> list[str]:
    """Phenomena in order of appearance, with means after the others."""
    once = dict.fromkeys(names)
    return sorted(once, key=lambda name: name.startswith(MEAN_PREFIX))


def whole(rows: Sequence[Row], phenomenon: str = ALL) -> list[Row]:
    """The rows of a sweep in which data sets and suites are taken together: their means, or the only ones.

    The mean over pairs of metrics is left out.
    """
    points = points_of(rows, phenomenon)
    return [row for row in points if row["dataset"] == MEAN] or points


def points_of(rows: Sequence[Row], phenomenon: str) -> list[Row]:
    """The rows of a sweep for pairs of metrics on data sets and suites, or on their means."""
    return [
        row
        for row in rows
        if row["metric"] != MEAN and None not in (row["dataset"], row["suite"]) and row["phenomenon"] == phenomenon
    ]


def weight_tasks(rows: Sequence[Row]) -> dict[tuple[Any, ...], list[Row]]:
    """(stat, criterion, level) -> the rows of a sweep about it."""
    return by_keys((row for row in rows if row["stat"] is not None), *TASK)


UNDEFINED = "undefined"
_ONES, _ONE = 2.0, 1.5  # ends of scales made of shares, such as -2 to 1; values that rescaling may reach


def absent(value: float | None) -> bool:
    """Whether there is no number: None, or NaN."""
    return value is None or math.isnan(value)


def with_nan(rows: Sequence[Row]) -> list[Row]:
    """Rows of a result file as they were before: None becomes NaN in ends of intervals and where others have floats."""
    floats = {name for row in rows for name, value in row.items() if isinstance(value, float)}
    floats |= {name for row in rows for name in row if name.endswith(("low", "high"))}
    return [{k: math.nan if v is None and k in floats else v for k, v in row.items()} for row in rows]


def number(value: float | None, digits: int = 3, *, sign: str = "", missing: str = UNDEFINED) -> str:
    """A number with a given number of decimals; `missing` where there is none.

    Args:
        digits: the number of decimals; a number that rounds to 0 is never negative.
        sign: "+" shows the sign of every number.
        missing: the text for None and NaN.
    """
    if value is None or math.isnan(value):
        return missing
    text = f"{value:{sign}.{digits}f}"
    return text.replace("-", sign) if float(text) == 0 else text


def digits_of(metric: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> int:
    """The number of decimals: a scale to 100 reads well with two, a scale to 1 with four.

    The scale is that of the metric; where it is not known, the values say it.
    """
    low, high = metric.get("range") or (None, None)
    if high is not None:
        return 2 if max(abs(low or 0.0), abs(high)) > _ONES else 4
    values = [abs(row["value"]) for row in rows if row.get("value") and not absent(row["value"])]
    return 4 if values and max(values) <= _ONE else 2


def percent(share: float | None) -> str:
    """A change as people read it: +3.1 %."""
    return UNDEFINED if share is None or math.isnan(share) else f"{number(100 * share, 1, sign='+')} %"


def between(low: float | None, high: float | None, digits: int = 3, *, sign: str = "") -> str:
    """An interval on a page, "0.12 to 0.34"; empty where there is none."""
    return "" if absent(low) else f"{number(low, digits, sign=sign)} to {number(high, digits, sign=sign)}"


def with_interval(row: Mapping[str, Any], text: str, digits: int, *, sign: str = "") -> str:
    """A cell of a table, "0.23 [0.12, 0.34]"; the text alone where the row has no interval."""
    if absent(row.get("low")):
        return text
    return f"{text} [{number(row['low'], digits, sign=sign)}, {number(row['high'], digits, sign=sign)}]"


def difference(row: Row, digits: int, *, sign: str = "+") -> str:
    """A difference of two values with its interval, where it has one; `sign` is that of the ends."""
    ends = {"low": row.get("delta_low"), "high": row.get("delta_high")}
    return with_interval(ends, number(row["delta"], digits, sign="+"), digits, sign=sign)


def listed(names: Sequence[str], last: str = "and") -> str:
    """A list in words."""
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def descending(value: float | None) -> float:
    """A key to sort by: the greatest number first, what is absent last."""
    return math.inf if value is None or math.isnan(value) else -value


# --- A table of cells: written as text for the eye, and as Markdown and LaTeX for papers

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
        ruled: lines above which a rule is drawn; Markdown has none.
    """

    title: str
    header: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    marked: frozenset[tuple[int, int]] = frozenset()
    left: int = 1
    marked_as: str = ""
    legend: tuple[str, ...] = ()
    ruled: frozenset[int] = frozenset()

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
        rule = tuple("-" * w for w in widths)
        for i in sorted({0, *self.ruled}, reverse=True):
            lines.insert(i + 1, rule)
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
            *((r"\midrule" + "\n" if i in self.ruled else "") + line(cells) for i, cells in enumerate(body)),
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


def triangle(
    title: str,
    order: Sequence[str],
    p: Mapping[tuple[str, str], float],
    digits: int,
    beside: Mapping[tuple[str, str], str] | None = None,
    legend: tuple[str, ...] = (),
) -> Table:
    """p-values of row against column, each pair once, those below 0.05 marked.

    Args:
        p: (row, column) -> p.
        beside: (row, column) -> what stands behind p.
    """
    body, marked = [], set()
    for i, name in enumerate(order[:-1]):
        pairs = [(name, other) for other in order[i + 1 :]]
        cells = (number(p[pair], digits) + (beside or {}).get(pair, "") for pair in pairs)
        body.append((name, *([""] * i), *cells))
        marked |= {(i, j) for j, pair in enumerate(pairs, start=i + 1) if p[pair] < SIGNIFICANT}
    header, meaning = ("", *order[1:]), f"p < {SIGNIFICANT:g}"
    return Table(title, header, tuple(body), frozenset(marked), marked_as=meaning, legend=legend)


# --- On what is a result written? The form, the room there is, and what is left out

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
        digits, columns, worst, full, brief, hints: as in `render`.
    """

    result: Result
    form: str
    digits: int | None = None
    columns: int = WIDE
    worst: Worst = field(default_factory=dict)
    full: bool = False
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


# --- The rows of a result as one flat table for other programs: TSV or CSV, numbers in full, NaN as an empty cell

_OF_METRIC = ("signature", "higher_is_better")
_FIRST = 20  # rows of a kind that has no tables of its own


def tsv(result: Result, spreadsheet: bool = False) -> str:
    """The rows with tabs between cells; a tab or line end inside a cell becomes a blank.

    Args:
        spreadsheet: put `'` before cells that a spreadsheet takes for formulas.
    """
    shown = harmless if spreadsheet else str
    blank = str.maketrans("\t\r\n", "   ")
    return "\n".join("\t".join(shown(cell).translate(blank) for cell in line) for line in _lines(result))


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
    rows = result.rows or result.people  # people alone were asked for
    fields = list(dict.fromkeys(name for row in rows for name in row))
    about = {metric["spec"]: metric for metric in result.metrics}
    beside = [name for name in _OF_METRIC if about and "metric" in fields and name not in fields]
    own = result.settings if result.rows else {}  # they say how rows of metrics were made
    settings = {name: own[name] for name in SETTINGS if name not in fields and own.get(name) is not None}
    yield [*fields, *beside, *settings]
    same = [full(value) for value in settings.values()]
    for row in rows:
        metric = about.get(row.get("metric"), {})
        yield [*(full(row.get(name)) for name in fields), *(full(metric.get(name)) for name in beside), *same]


def full(value: Any) -> str:
    """A value of a row in every digit; empty for None and NaN."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def _short(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


# --- How is a kind of result shown? Its tables, what is said of them, and its page


@dataclass(frozen=True, kw_only=True)
class Kind:
    """How results of one kind are shown.

    Attributes:
        parts: the tables of the result on a paper, and prose between them; None where it has no tables.
        heading: of the page, which shows these parts.
        page: makes a page of its own in its place, of a result and, by keyword, of what only this page shows.
        signed: whether signatures and notes follow the tables in a terminal.
    """

    parts: Callable[[Paper], Sequence[Part]] | None = None
    heading: str = ""
    page: Callable[..., str] | None = None
    signed: bool = True


def kind_of(name: str) -> Kind:
    """A kind by its name: `KIND` of the module that is called so; one that shows nothing for another name."""
    kind: Kind = import_module(f"nlgauge.report.kinds.{name}").KIND if name in KINDS else Kind()
    return kind
