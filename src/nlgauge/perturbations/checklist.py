"""Which perturbation tests which criterion of which task, and how much people mind it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from nlgauge.core.errors import SpecError, nearest

TASKS = {
    "mt": "machine translation",
    "as": "abstractive summarisation",
    "qg": "question generation",
    "dg": "dialogue generation",
    "ic": "image captioning",
    "d2t": "data-to-text generation",
}
_ALIASES = {
    "mt": ("translation", "machine-translation"),
    "as": ("summarisation", "summarization", "abstractive-summarization", "abstractive-summarisation", "summary"),
    "qg": ("question-generation", "questions"),
    "dg": ("dialogue", "dialog", "dialogue-generation", "dialog-generation"),
    "ic": ("captioning", "image-captioning", "captions"),
    "d2t": ("data-to-text", "data-to-text-generation", "table-to-text"),
}


@dataclass(frozen=True)
class ChecklistRow:
    """One row of a checklist.

    Attributes:
        task: a key of `TASKS`.
        criterion: the criterion that the perturbation violates, or `invariance`.
        template: the id of the perturbation.
        label: the row's name in figure 4 of the paper.
        penalty: how much lower people rate the text, in [0, 1]; NaN where unknown.
        lower, upper: bounds of the penalty.
        method: how the penalty was recovered; `user` for a table of the user's.
        certainty: `high`, `medium`, `low` or `none`.
    """

    task: str
    criterion: str
    template: str
    label: str = ""
    penalty: float = math.nan
    lower: float = math.nan
    upper: float = math.nan
    method: str = "none"
    certainty: str = "none"

    @property
    def spec(self) -> str:
        """The specification of the perturbation: its id, with an option where the criterion asks for one.

        A question without its stop words keeps its question word where answerability is tested.
        """
        return _OPTIONS.get((self.criterion, self.template), self.template)


_OPTIONS = {("answerability", "drop_stopwords"): "drop_stopwords:keep_question_word=true"}


@cache
def checklist_rows() -> tuple[ChecklistRow, ...]:
    """Every row of the checklist, as shipped: the 112 of figure 4, and four of table 5 without a penalty."""
    text = resources.files("nlgauge.data").joinpath("checklist/penalties.tsv").read_text(encoding="utf-8")
    return tuple(_row(line.split("\t")) for line in text.splitlines()[1:])


def _row(cells: Sequence[str]) -> ChecklistRow:
    """A row from the cells of its line; an empty cell is an unknown number."""
    task, criterion, template, label, *numbers, method, certainty, _ = cells
    penalty, lower, upper = (float(cell or "nan") for cell in numbers)
    return ChecklistRow(task, criterion, template, label, penalty, lower, upper, method, certainty)


def task_of(name: str) -> str:
    """The task with a name such as `mt`, `MT`, `data-to-text` or `question-generation/squad`.

    Raises:
        SpecError: the task is unknown.
    """
    head = name.strip().lower().partition("/")[0].replace("_", "-").replace(" ", "-")
    for task, others in _ALIASES.items():
        if head == task or head in others:
            return task
    raise SpecError(f"unknown task {name!r}{nearest(head, TASKS)}")


def criterion_of(name: str) -> str:
    """A criterion as the checklist writes it: `data_coverage` for `Data coverage`."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def select_rows(task: str, criterion: str | None = None) -> tuple[ChecklistRow, ...]:
    """The rows of a task; only those of one criterion if one is given.

    Raises:
        SpecError: the task does not have the criterion.
    """
    chosen = [row for row in checklist_rows() if row.task == task_of(task)]
    criteria = list(dict.fromkeys(row.criterion for row in chosen))
    if criterion is not None:
        wanted = criterion_of(criterion)
        if wanted not in criteria:
            raise SpecError(f"task {task!r} has no criterion {criterion!r}{nearest(wanted, criteria)}")
        chosen = [row for row in chosen if row.criterion == wanted]
    return tuple(chosen)
