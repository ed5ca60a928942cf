"""A choice of metrics as a page: from each reason and each share to texts of the user's own that show it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from nlgauge.core.result import Result
from nlgauge.report.html import render_result
from nlgauge.report.kinds.choose import STANDING, Shown, cell_of, choice_tables, criteria_of, score_text, shown_examples
from nlgauge.report.rows import FALLS, LOWER_IS_BETTER, Row, between

_NOT_SHOWN = "public"  # agreement on other people's texts
# What an example shows, by the share that it takes from 1.
_ABOUT = {
    "people": ("Against your ratings", "People rate the first higher, and these metrics do not."),
    "copies": (
        "Copies with an error",
        "A copy of a reference with an error, and a paraphrase without one, which should score higher.",
    ),
    "harmless": (
        "Harmless changes",
        "Two changes of one text. The error should cost more than the harmless one, and with these metrics does not.",
    ),
    "apart": (
        "Single items against the systems' order",
        "Outputs of two systems for one item, which these metrics order against their scores of the two systems: why"
        " few items tell little.",
    ),
}
_ERRORS = "errors."
_ERROR = "An error put into a text of yours, which does not lower the score of these metrics."


@dataclass(frozen=True)
class Linked:
    """A text of the page, and the examples that show it.

    Attributes:
        text: a sentence or a number.
        links: anchor and label of each example.
        about: what a pointer over it is told.
    """

    text: str
    links: Sequence[tuple[str, str]] = ()
    about: str = ""


@dataclass(frozen=True)
class Block:
    """An example as it is shown.

    Attributes:
        anchor, name: where it stands, and what it is called.
        id, phenomenon, reference: as in its rows; empty where there is none.
        sides: for each text, what it is, and its pieces with what is changed.
        missed, seen: metrics that fail and metrics that do not, each with its scores of both texts.
    """

    anchor: str
    name: str
    id: str
    phenomenon: str
    reference: str
    sides: Sequence[tuple[str, Sequence[tuple[str, bool]]]]
    missed: Sequence[tuple[str, str, str]]
    seen: Sequence[tuple[str, str, str]]


def choose_html(result: Result, anchor: str = "choice") -> str:
    """The page of a result of kind `choose`.

    Args:
        result: the result.
        anchor: what the names of its places begin with, so that two results may stand on one page.
    """
    said = [row for row in result.rows if "said" in row]
    falling = {metric["spec"] for metric in result.metrics if not metric["higher_is_better"]}
    examples = shown_examples(result.rows)
    labels = {name: (f"{anchor}-{name}", f"example {name[1:]}") for name in examples}
    tables = {table.title: table for table in choice_tables(result)}
    reasons = [_reason(row, labels) for row in said if row["said"] == "reason"]
    return render_result(
        "choose.html",
        result,
        anchor=anchor,
        verdict=reasons[0] if reasons else None,
        reasons=reasons[1:],
        commands=[row["text"] for row in said if row["said"] == "command"],
        methods=[row["text"] for row in said if row["said"] == "methods"],
        ranking=next((table for title, table in tables.items() if title != "left out"), None),
        lines=_lines(result.rows, examples, labels),
        out=tables.get("left out"),
        groups=_groups(examples, labels, falling),
        falls=LOWER_IS_BETTER if falling else "",
    )


def _reason(row: Row, labels: Mapping[str, tuple[str, str]]) -> Linked:
    names = str(row.get("examples") or "").split()
    return Linked(str(row["text"]), [labels[name] for name in names if name in labels])


def _lines(
    rows: Sequence[Row], examples: Mapping[str, Shown], labels: Mapping[str, tuple[str, str]]
) -> list[list[Linked]]:
    """For each metric that is ranked, its shares with a link to the first example that takes it from 1."""
    shares = [row for row in rows if "criterion" in row and "weight" in row]
    cells = {(row["metric"], row["criterion"]): row for row in shares}
    ranked = [row for row in rows if row.get("criterion") == STANDING and row["out"] is None]
    return [
        [_cell(cells.get((row["metric"], criterion)), examples, labels) for criterion in criteria_of(shares)]
        for row in ranked
    ]


def _cell(row: Row | None, examples: Mapping[str, Shown], labels: Mapping[str, tuple[str, str]]) -> Linked:
    if row is None:
        return Linked("-")
    spec, criterion = row["metric"], row["criterion"]
    interval = between(row.get("low"), row.get("high"), 2)
    about = "; ".join(filter(None, (interval, f"n {row['n']}", str(row["source"]))))
    shown = [
        labels[name]
        for name, one in examples.items()
        if one.row["shows"] == criterion and criterion != _NOT_SHOWN and one.missed_by(spec)
    ]
    return Linked(cell_of(row, 2), shown[:1], about)


def _groups(
    examples: Mapping[str, Shown], labels: Mapping[str, tuple[str, str]], falling: Collection[str]
) -> list[tuple[str, str, list[Block]]]:
    """The examples by the share that they are about."""
    groups: dict[str, list[Block]] = {}
    for name, one in examples.items():
        groups.setdefault(one.row["shows"], []).append(_block(one, labels[name], falling))
    return [(*_title(criterion), groups[criterion]) for criterion in criteria_of([{"criterion": c} for c in groups])]


def _title(criterion: str) -> tuple[str, str]:
    """The heading of a group, and what its examples have in common."""
    if criterion.startswith(_ERRORS):
        return f"Errors of {criterion.removeprefix(_ERRORS)}", _ERROR
    return _ABOUT.get(criterion, (criterion, ""))


def _block(one: Shown, label: tuple[str, str], falling: Collection[str]) -> Block:
    row = one.row
    scored = [
        [
            (_directed(str(own["metric"]), falling), score_text(own["score_better"]), score_text(own["score_worse"]))
            for own in one.scores
            if bool(own["missed"]) == missed
        ]
        for missed in (True, False)
    ]
    return Block(
        label[0],
        label[1],
        str(row["id"]),
        str(row["phenomenon"] or ""),
        str(row["reference"] or ""),
        list(zip(one.sides, one.changed, strict=True)),
        *scored,
    )


def _directed(spec: str, falling: Collection[str]) -> str:
    return f"{spec} {FALLS}" if spec in falling else spec
