"""Human penalties of a checklist, from the shipped table or from a table of the user."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence
from typing import Any

from nlgauge.core.errors import InputError, SpecError
from nlgauge.io.files import Faults, InputFile, Lines, number_in, unpacked_name
from nlgauge.io.rows import JsonRows
from nlgauge.perturbations.checklist import ChecklistRow, checklist_rows, criterion_of, task_of


def read_penalties(path: str | os.PathLike[str]) -> list[ChecklistRow]:
    """Read a user's penalties from TSV or CSV with a header, or from JSON lines.

    Each row has `template` and `penalty` (in [0, 1]), and may have `task` and `criterion`.

    Raises:
        InputError: a column is missing, a penalty is not a number in [0, 1], a task is unknown, or a row is repeated.
    """
    file = InputFile(path)
    rows: dict[tuple[str, str, str], ChecklistRow] = {}
    faults = Faults(file.name)
    for place, record in _records(file, faults):
        with faults.row(place):
            row = _row(record)
            key = (row.task, row.criterion, row.template)
            if key in rows:
                raise InputError(
                    f"a second penalty for {row.template!r}, expected one per task, criterion and template"
                )
            rows[key] = row
    faults.check()
    if not rows:
        raise InputError(f"{file.name} is empty: no penalty in it, expected template and penalty")
    return list(rows.values())


def with_penalties(wanted: Sequence[ChecklistRow], given: Sequence[ChecklistRow]) -> list[ChecklistRow]:
    """The rows with their penalties; NaN for a row without one.

    A penalty for a task and criterion takes precedence over one for the task, and that over one for the template alone.
    """
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
    """The rows with the penalties that were recovered from the paper."""
    return with_penalties(wanted, checklist_rows())


def _keys(row: ChecklistRow) -> list[tuple[str, str, str]]:
    name = row.template.partition(":")[0]  # options do not stand in the tables
    return [(task, criterion, name) for task in (row.task, "") for criterion in (row.criterion, "")]


def _records(file: InputFile, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    """The place of each record in the file, and its cells by name."""
    plain = unpacked_name(file.path)
    if plain.endswith((".tsv", ".csv", ".txt")):
        return _table(file, "," if plain.endswith(".csv") else "\t", faults)
    return _json(file, faults)


def _json(file: InputFile, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    rows = JsonRows(file)
    rows.refuse = faults.add
    for place, record in rows:
        if type(record) is dict:
            yield rows.at(place), record
        else:
            faults.add(rows.at(place), "not an object, expected one with 'template' and 'penalty'")


def _table(file: InputFile, delimiter: str, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    lines = Lines(file)
    header: list[str] | None = None
    for place, line in lines.filled():
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
            faults.add(lines.at(place), f"{len(cells)} cells, expected {len(header)} as in the header")
            continue
        yield lines.at(place), dict(zip(header, cells, strict=True))


def _row(record: dict[str, Any]) -> ChecklistRow:
    for name in ("template", "penalty"):
        if record.get(name) in (None, ""):
            raise InputError(f"no {name!r}; fields found: {', '.join(map(repr, record))}")
    try:
        penalty = number_in(record["penalty"]) if isinstance(record["penalty"], str) else float(record["penalty"])
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"penalty is {repr(record['penalty'])[:40]}, expected a number from 0 to 1") from None
    if not 0 <= penalty <= 1:
        raise InputError(
            f"penalty is {penalty:g}, expected 0 to 1 (how much lower people rate the text; divide ratings of"
            " 0 to 10 by 10)"
        )
    try:
        task = task_of(str(record["task"])) if record.get("task") else ""
    except SpecError as error:
        raise InputError(str(error)) from None
    criterion = criterion_of(str(record.get("criterion") or ""))
    return ChecklistRow(
        task,
        criterion,
        str(record["template"]),
        str(record.get("label") or ""),
        penalty,
        method="user",
        certainty="user",
    )
