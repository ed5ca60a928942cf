"""Human penalties of a checklist: the shipped table, or one of the user's."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

from nlgauge.core.errors import InputError, SpecError
from nlgauge.io.files.cells import number
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Lines
from nlgauge.io.jsonl import JsonRows
from nlgauge.perturbations.checklist import ChecklistRow, checklist_rows, task_of


def read_penalties(path: str | os.PathLike[str]) -> list[ChecklistRow]:
    """Penalties of a user: TSV with a header, or JSON lines, with `template`, `penalty` in [0, 1], and perhaps `task` and `criterion`.

    Raises:
        InputError: a missing column, a penalty that is no number or outside [0, 1], an unknown task, one row twice.
    """
    file = InputFile(path)
    found: dict[tuple[str, str, str], ChecklistRow] = {}
    for place, record in _records(file):
        row = _row(record, place)
        key = (row.task, row.criterion, row.template)
        if key in found:
            raise InputError(
                f"{place}: a second penalty for {row.template!r}, expected one a task, criterion and template"
            )
        found[key] = row
    if not found:
        raise InputError(f"{file.name} is empty: no penalty in it, expected template and penalty")
    return list(found.values())


def with_penalties(wanted: Sequence[ChecklistRow], given: Sequence[ChecklistRow]) -> list[ChecklistRow]:
    """Rows with the penalties that are given for them; NaN where none is: the most telling key wins (task and criterion, then task, then neither)."""
    table = {(row.task, row.criterion, row.template): row for row in given}
    out = []
    for row in wanted:
        match = next((table[k] for k in _keys(row) if k in table), None)
        if match is None:
            out.append(
                dataclasses.replace(
                    row, penalty=float("nan"), lower=float("nan"), upper=float("nan"), method="none", certainty="none"
                )
            )
        else:
            kept = {name: getattr(match, name) for name in ("penalty", "lower", "upper", "method", "certainty")}
            out.append(dataclasses.replace(row, **kept))
    return out


def shipped(wanted: Sequence[ChecklistRow]) -> list[ChecklistRow]:
    """Rows with the penalties recovered from the paper."""
    return with_penalties(wanted, checklist_rows())


def _keys(row: ChecklistRow) -> list[tuple[str, str, str]]:
    name = row.template.partition(":")[0]  # options do not stand in the tables
    return [(task, criterion, name) for task in (row.task, "") for criterion in (row.criterion, "")]


def _records(file: InputFile) -> Any:
    plain = file.path.removesuffix(".gz")
    if not plain.endswith((".tsv", ".csv", ".txt")):
        rows_ = JsonRows(file)
        for place, record in rows_:
            if type(record) is not dict:
                raise InputError(f"{rows_.at(place)}: not an object, expected one with 'template' and 'penalty'")
            yield rows_.at(place), record
        return
    lines = Lines(file)
    header: list[str] | None = None
    delimiter = "," if plain.endswith(".csv") else "\t"
    for place, line in lines:
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split(delimiter)]
        if header is None:
            header = cells
            lacking = [name for name in ("template", "penalty") if name not in header]
            if lacking:
                raise InputError(
                    f"{lines.at(place)}: no column {' and no column '.join(map(repr, lacking))} in the header"
                    f" ({', '.join(header)})"
                )
            continue
        if len(cells) != len(header):
            raise InputError(f"{lines.at(place)}: {len(cells)} cells, expected {len(header)} as in the header")
        yield lines.at(place), dict(zip(header, cells, strict=True))


def _row(record: dict[str, Any], place: str) -> ChecklistRow:
    for name in ("template", "penalty"):
        if record.get(name) in (None, ""):
            raise InputError(f"{place}: no {name!r}; fields found: {', '.join(map(repr, record))}")
    try:
        penalty = number(record["penalty"]) if isinstance(record["penalty"], str) else float(record["penalty"])
    except (TypeError, ValueError):
        raise InputError(f"{place}: penalty is {record['penalty']!r}, expected a number from 0 to 1") from None
    if not 0 <= penalty <= 1:
        raise InputError(
            f"{place}: penalty is {penalty:g}, expected 0 to 1 (how much lower people rate the text; divide ratings of"
            " 0 to 10 by 10)"
        )
    try:
        task = task_of(str(record["task"])) if record.get("task") else ""
    except SpecError as error:
        raise InputError(f"{place}: {error}") from None
    criterion = str(record.get("criterion") or "").lower().replace("-", "_").replace(" ", "_")
    return ChecklistRow(
        task,
        criterion,
        str(record["template"]),
        str(record.get("label") or ""),
        penalty,
        method="user",
        certainty="user",
    )
