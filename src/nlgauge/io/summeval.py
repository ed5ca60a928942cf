"""SummEval's annotations: per criterion, each summary has three ratings by experts and five by crowd workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile, counted
from nlgauge.io.rows import JsonRows

TASK = "summarization"
RATERS = {"expert_annotations": "", "turker_annotations": "turker."}  # field -> what stands before the criterion
_KNOWN = ("id", "model_id", "decoded", "text", "references", "reference", "filepath", *RATERS)
_SCORES = "metric_scores_"


class SummEvalRows(JsonRows):
    """The rows of SummEval's `model_annotations.aligned.jsonl`, also paired or scored.

    The item is the document (`id`), the system `model_id`, the hypothesis `decoded`, the group `summarization`;
    references are `references` (11 of them) or `reference`. There is a source only if the annotations were paired with
    the articles (`text`). `coherence` is the list of the experts' ratings, `turker.coherence` that of the crowd's;
    position i of every list is the same person.

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


def _names(criteria: Any) -> str:
    return ", ".join(sorted(map(str, criteria))) or "nothing"


def _kind(row: Mapping[str, Any], name: str) -> str:
    return "missing" if name not in row else "null" if row[name] is None else f"a {type(row[name]).__name__}"
