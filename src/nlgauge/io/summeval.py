"""SummEval's annotations: per criterion, each summary has three ratings by experts and five by crowd workers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.io.files import InputFile, counted
from nlgauge.io.rows import JsonRows
from nlgauge.io.segments import TableSource

TASK = "summarization"
RATERS = {"expert_annotations": "", "turker_annotations": "turker."}  # field -> what stands before the criterion
_KNOWN = ("id", "model_id", "decoded", "text", "references", "reference", "filepath", *RATERS)
_SCORES = "metric_scores_"


class SummEvalRows(JsonRows):
    """The rows of SummEval's `model_annotations.aligned.jsonl`, also paired or scored.

    The item is the document (`id`), the system `model_id`, the hypothesis `decoded`, the group `summarization`;
    references are `references` (11 of them) or `reference`. There is a source only if the annotations were paired with
    the articles (`text`). For example, `coherence` is the list of the experts' ratings, and `turker.coherence` is the
    list of the crowd's. Within one segment, position i of every list is the same person.

    Raises:
        InputError: a line lacks the id, system or summary, or its annotations have another shape.
    """

    def __init__(self, file: InputFile) -> None:
        super().__init__(file)
        self._without: dict[str, int] = {}

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        self.ignored, self._without = [], {}
        for place, row in super().__iter__():
            if type(row) is not dict:
                raise InputError(
                    f"{self.at(place)}: not an object, expected one with the fields 'id', 'model_id' and 'decoded'"
                )
            for name in ("id", "model_id", "decoded"):
                if type(row.get(name)) is not str:
                    raise InputError(f"{self.at(place)}: field {name!r} is {_kind(row, name)}, expected a string")
            self.ignored += [name for name in row if name not in _KNOWN and name not in self.ignored]
            human: dict[str, list[float]] = {}
            for name, prefix in RATERS.items():
                if row.get(name):
                    rated = self._ratings(row[name], f"{self.at(place)}: {name}")
                    human.update({prefix + criterion: ratings for criterion, ratings in rated.items()})
                else:
                    self._without[name] = self._without.get(name, 0) + 1
            references = row.get("references")
            yield (
                place,
                {
                    "id": f"{row['id']}|{row['model_id']}",
                    "system": row["model_id"],
                    "seg": row["id"],
                    "task": TASK,
                    "src": row.get("text"),
                    "refs": references,
                    "ref": row.get("reference") if references is None else None,
                    "hyp": row["decoded"],
                    "human": human,
                },
            )

    def notes(self) -> list[str]:
        """Notes on dropped or skipped input, known after a complete pass."""
        told = [
            f"{self.file.name}: {counted(n, 'summary has', 'summaries have')} no {name}"
            for name, n in self._without.items()
        ]
        return [*super().notes(), *told]

    def _ratings(self, annotations: Any, where: str) -> dict[str, list[float]]:
        if type(annotations) is not list or not all(type(one) is dict for one in annotations):
            raise InputError(f"{where} is not a list of objects, expected one a rater, criterion -> number")
        criteria = list(annotations[0])
        for place, one in enumerate(annotations):
            if set(one) != set(criteria):
                raise InputError(
                    f"{where}[{place}] rates {_names(one)}, the first rater {_names(criteria)}; expected the same"
                    " criteria"
                )
        return {criterion: [one[criterion] for one in annotations] for criterion in criteria}


def read_summeval(path: str | os.PathLike[str]) -> Dataset:
    """Read the summaries of SummEval's annotations. Each criterion has a list of ratings.

    Args:
        path: `model_annotations.aligned.jsonl`, or its `.paired` or `.scored` version, plain or `.gz`.

    Raises:
        InputError: a field is missing or wrong. The error names the line and the field.
    """
    return TableSource(SummEvalRows(InputFile(path))).dataset()


def read_summeval_scores(path: str | os.PathLike[str], references: int = 11) -> ScoreTable:
    """Read the metric scores in the `.scored` version of the annotations.

    Args:
        path: the file.
        references: how many references the metrics had: 1, 6 or 11.

    Returns:
        One column per metric. Each part of a metric (`rouge` -> `rouge_1_f_score`) has its own column. If the file has
        a list of one number, as for SUPERT, the column has that number. NaN where a summary has no score.

    Raises:
        InputError: there are no such scores, or some of them are not numbers.
    """
    rows = JsonRows(InputFile(path))
    field = f"{_SCORES}{references}"
    keys: list[Key] = []
    found: list[dict[str, float]] = []
    for place, row in rows:
        if type(row) is not dict or type(row.get("id")) is not str or type(row.get("model_id")) is not str:
            raise InputError(f"{rows.at(place)}: expected an object with the fields 'id', 'model_id' and {field!r}")
        if type(row.get(field)) is not dict:
            there = ", ".join(name for name in row if name.startswith(_SCORES)) or "none"
            raise InputError(
                f"{rows.at(place)}: no scores {field!r}; scores found: {there}; the .scored version of the file has"
                " them"
            )
        keys.append(Key(f"{row['id']}|{row['model_id']}", row["model_id"], row["id"], TASK))
        found.append(dict(_flat(row[field], f"{rows.at(place)}: {field}")))
    names = list(dict.fromkeys(name for scores in found for name in scores))
    columns = {name: np.array([scores.get(name, np.nan) for scores in found]) for name in names}
    return ScoreTable(tuple(keys), columns, "segment", rows.file.name, tuple(rows.notes()))


def _flat(scores: Mapping[str, Any], where: str) -> Iterator[tuple[str, float]]:
    for name, value in scores.items():
        if name == "id":
            continue
        if type(value) is dict:
            yield from _flat(value, f"{where}.{name}")
            continue
        one = value[0] if type(value) is list and len(value) == 1 else value
        if one is not None and type(one) not in (int, float):
            raise InputError(f"{where}.{name} is {value!r}, expected a number")
        try:
            yield name, np.nan if one is None else float(one)
        except OverflowError:
            raise InputError(f"{where}.{name} is {str(one)[:20]}..., too large for a number of 64 bits") from None


def _names(criteria: Any) -> str:
    return ", ".join(sorted(map(str, criteria))) or "nothing"


def _kind(row: Mapping[str, Any], name: str) -> str:
    return "missing" if name not in row else "null" if row[name] is None else f"a {type(row[name]).__name__}"
