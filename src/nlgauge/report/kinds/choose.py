"""A choice of metrics: the recommendation in sentences, its table, and examples from the texts of the user."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.pages import render_result
from nlgauge.report.tables import (
    FALLS,
    LOWER_IS_BETTER,
    UNDEFINED,
    Kind,
    Paper,
    Part,
    Row,
    Table,
    absent,
    between,
    listed,
    number,
    values_of,
    with_interval,
)
from nlgauge.report.text import pieces
from nlgauge.stats.draws import FEWEST

STANDING = "standing"
_ERRORS = "errors."
_CHOSEN = {1: "first", 2: "second"}
_PEOPLE, _COPIES, _APART = "people", "copies", "apart"
_TRIALS = (_COPIES, "harmless")  # that are made of the texts, as errors are
_SIDES = {  # what the two texts of an example are
    "outputs": ("without the error", "with the error"),
    _COPIES: ("a paraphrase", "a copy with an error"),
    "harmless": ("a harmless change", "an error"),
}
# Criterion -> what its column is called, and what a right answer is.
_COLUMNS = {
    _PEOPLE: ("your ratings", "two outputs ordered as you rate them"),
    "public": ("public sets", "two outputs ordered as people do there"),
    _ERRORS: ("", "the score falls where the text has such an error"),
    _COPIES: ("near-copies", "a paraphrase above a copy with an error"),
    "harmless": ("harmless edits", "one costs less than an error"),
    _APART: ("halves", "two systems in one order on both halves of the items"),
}
Marks = list[tuple[str, bool]]
_OVERALL = "overall"
_NO_NUMBER, _FEW = "-", "too few"


def choice_parts(paper: Paper) -> list[Part]:
    """Reasons, command, tables, and the paragraph for a paper."""
    result = paper.result
    said = [row for row in result.rows if "said" in row]
    parts: list[Part] = ["\n".join(_texts(said, "reason")), *_texts(said, "command")]
    if not said:
        return []
    parts += choice_tables(result, paper.digits)
    return parts if paper.brief and paper.is_text else [*parts, *_texts(said, "methods")]


def _texts(said: Sequence[Row], kind: str) -> list[str]:
    return [str(row["text"]) for row in said if row["said"] == kind]


def choice_tables(result: Result, digits: int | None = None) -> list[Table]:
    """The standing of each metric with all shares that it is made of; and the metrics that are left out."""
    rows = [row for row in result.rows if row.get("criterion") == STANDING]
    shares = [row for row in result.rows if "criterion" in row and row["criterion"] != STANDING]
    ranked = [row for row in rows if row["out"] is None]
    places = 2 if digits is None else digits
    tables = [_ranking(ranked, shares, places)] if ranked else []
    out = [row for row in rows if row["out"] is not None]
    if out:
        body = tuple((str(row["metric"]), str(row["out"])) for row in out)
        tables.append(Table("left out", ("metric", "reason"), body, left=2))
    return tables


def _ranking(ranked: Sequence[Row], shares: Sequence[Row], places: int) -> Table:
    cells = {(row["metric"], row["criterion"]): row for row in shares}
    criteria = criteria_of(shares)
    # of metrics that have enough of a criterion: one that looked at few texts has no weight there
    weights = {name: max(row["weight"] for row in shares if row["criterion"] == name) for name in criteria}
    body, bold = [], set()
    for line, row in enumerate(ranked):
        found = (cell_of(cells.get((row["metric"], name)), places) for name in criteria)
        body.append((row["metric"], _mark(row), with_interval(row, number(row["value"], places), places), *found))
        if row["chosen"]:
            bold.add((line, 0))
    by_people = bool(weights.get(_PEOPLE))
    weighed = ", ".join(f"{_column(name)} {weights[name]:g}" for name in criteria if weights[name] and name != _PEOPLE)
    if weighed:
        rule = f"the mean of the shares, weighted {weighed}"
    else:
        rule = "the share of your ratings" if by_people else "none, since nothing is known that tells metrics apart"
    header = ("metric", "", _OVERALL, *map(_column, criteria))
    right: dict[str, list[str]] = {}
    for name in criteria:
        right.setdefault(_COLUMNS.get(name, _COLUMNS[_ERRORS])[1], []).append(_column(name))
    legend = (
        f"{_OVERALL}: {rule}",
        *(["your ratings decide first: it ranks what these leave open"] if by_people and weighed else []),
        f"right answers: {'; '.join(f'{what} ({listed(names)})' for what, names in right.items())}",
        *([f"{_FEW}: fewer than {FEWEST} texts, which prove nothing"] if any(_FEW in line for line in body) else []),
        "= cannot be told from the first; ~ orders these texts as an earlier one does",
    )
    return Table("shares of right answers; chance is 0.5", header, tuple(body), frozenset(bold), 2, "taken", legend)


def _column(criterion: str) -> str:
    """What the column of a criterion is called."""
    return _COLUMNS[criterion][0] if criterion in _COLUMNS else criterion.removeprefix(_ERRORS)


def criteria_of(shares: Sequence[Row]) -> list[str]:
    """The criteria of some rows in the order in which they are shown."""
    return sorted(values_of(shares, "criterion"), key=_place)


def _place(criterion: str) -> tuple[int, str]:
    """Where a criterion stands: people first, then errors."""
    order = (_PEOPLE, "public", *(_ERRORS + name for name in ("meaning", "facts", "coverage", "fluency")), _COPIES)
    return (order.index(criterion) if criterion in order else len(order)), criterion


def _mark(row: Row) -> str:
    """What is said of a metric in a sign or a word."""
    return " ".join(
        filter(None, (_CHOSEN.get(row["chosen"], ""), "=" if row["level"] else "", "~" if row["alike"] else ""))
    )


def cell_of(row: Row | None, places: int) -> str:
    """A share as it is shown; one of too few texts is no number."""
    if row is None:
        return _NO_NUMBER
    made = row["criterion"].startswith(_ERRORS) or row["criterion"] in _TRIALS
    return _FEW if made and row["n"] < FEWEST else number(row["value"], places)


@dataclass(frozen=True)
class ShownFailure:
    """An example of a failure, as its rows hold it.

    Attributes:
        row: the texts.
        scores: a row for each metric that was tried on them, those that fail first.
    """

    row: Row
    scores: Sequence[Row]

    @property
    def sides(self) -> tuple[str, str]:
        """What each of the two texts is."""
        named = _SIDES.get(self.row["of"])
        return named or (self._output("better"), self._output("worse"))

    def _output(self, side: str) -> str:
        """The system of one of two outputs, or its id, and its rating."""
        name = str(self.row[f"system_{side}"] or self.row[f"id_{side}"])
        rating = self.row[f"rating_{side}"]
        return name if absent(rating) else f"{name}, rated {score_text(rating)}"

    @property
    def original(self) -> str:
        """The text that changes were made in."""
        return str(self.row["original"] or self.row["better"])

    @property
    def changed(self) -> tuple[Marks, Marks]:
        """Both texts in pieces, of which those are marked that the text before the change lacks.

        Of two outputs for one input those are marked that the other output lacks; for two inputs none.
        """
        better, worse = str(self.row["better"]), str(self.row["worse"])
        if self.row["of"] not in (_PEOPLE, _APART):
            if self.row["of"] == _COPIES:  # a paraphrase is another text altogether
                return [(better, False)], pieces(self.original, worse)
            return pieces(self.original, better), pieces(self.original, worse)
        if self.row["reference"] is None:
            return [(better, False)], [(worse, False)]
        return pieces(worse, better), pieces(better, worse)

    def missed_by(self, spec: str) -> bool:
        """Whether a metric fails on it."""
        return any(row["metric"] == spec and row["missed"] for row in self.scores)


def shown_examples(rows: Sequence[Row]) -> dict[str, ShownFailure]:
    """Name -> example, in the order of the result."""
    scores: dict[str, list[Row]] = {}
    for row in rows:
        if row.get("said") == "scores":
            scores.setdefault(row["example"], []).append(row)
    return {
        row["example"]: ShownFailure(row, sorted(scores.get(row["example"], ()), key=lambda one: not one["missed"]))
        for row in rows
        if row.get("said") == "example"
    }


def score_text(value: float | None) -> str:
    """A score on the scale of its metric, in four digits."""
    return UNDEFINED if absent(value) else f"{value:.4g}"


# --- A choice of metrics as a page: from each reason and each share to texts of the user's own that show it

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
    rows: Sequence[Row], examples: Mapping[str, ShownFailure], labels: Mapping[str, tuple[str, str]]
) -> list[list[Linked]]:
    """For each metric that is ranked, its shares with a link to the first example that takes it from 1."""
    shares = [row for row in rows if "criterion" in row and "weight" in row]
    cells = {(row["metric"], row["criterion"]): row for row in shares}
    ranked = [row for row in rows if row.get("criterion") == STANDING and row["out"] is None]
    return [
        [_cell(cells.get((row["metric"], criterion)), examples, labels) for criterion in criteria_of(shares)]
        for row in ranked
    ]


def _cell(row: Row | None, examples: Mapping[str, ShownFailure], labels: Mapping[str, tuple[str, str]]) -> Linked:
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
    examples: Mapping[str, ShownFailure], labels: Mapping[str, tuple[str, str]], falling: Collection[str]
) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """The examples by the share that they are about."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for name, one in examples.items():
        groups.setdefault(one.row["shows"], []).append(_block(one, labels[name], falling))
    return [(*_title(criterion), groups[criterion]) for criterion in criteria_of([{"criterion": c} for c in groups])]


def _title(criterion: str) -> tuple[str, str]:
    """The heading of a group, and what its examples have in common."""
    if criterion.startswith(_ERRORS):
        return f"Errors of {criterion.removeprefix(_ERRORS)}", _ERROR
    return _ABOUT.get(criterion, (criterion, ""))


def _block(one: ShownFailure, label: tuple[str, str], falling: Collection[str]) -> dict[str, Any]:
    """An example: where it stands, its texts with what is changed, and the metrics that fail and do not fail on it."""
    missed, seen = (
        [
            (_directed(str(own["metric"]), falling), score_text(own["score_better"]), score_text(own["score_worse"]))
            for own in one.scores
            if bool(own["missed"]) == failed
        ]
        for failed in (True, False)
    )
    return {
        "anchor": label[0],
        "name": label[1],
        "id": str(one.row["id"]),
        "phenomenon": str(one.row["phenomenon"] or ""),
        "reference": str(one.row["reference"] or ""),
        "sides": list(zip(one.sides, one.changed, strict=True)),
        "missed": missed,
        "seen": seen,
    }


def _directed(spec: str, falling: Collection[str]) -> str:
    return f"{spec} {FALLS}" if spec in falling else spec


KIND = Kind(parts=choice_parts, page=choose_html)
