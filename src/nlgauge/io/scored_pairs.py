"""Scored pairs of a suite: the rows that `audit --segments` writes."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.suite import ScoredPair
from nlgauge.io.files.files import InputFile, unpacked_name
from nlgauge.io.files.lines import number
from nlgauge.io.scores import raw_rows

_SCORES = ("better", "worse", "won")  # of a metric, behind its name and a dot


def read_scored_pairs(path: str | os.PathLike[str]) -> list[ScoredPair] | None:
    """Read the rows that `audit --segments` wrote, in any of its formats.

    Returns:
        One for each row; None if the file holds other rows.

    Raises:
        InputError: the file cannot be read, or a score is not a number. The error names the file and the line.
        MissingExtra: the file is Parquet, and pyarrow is not installed.
    """
    file = InputFile(path)
    if unpacked_name(file.path).endswith(".score"):
        return None
    found: list[ScoredPair] = []
    for where, row in raw_rows(file, []):
        if isinstance(row, str):
            raise InputError(f"{where}: {row}")
        specs = [name.removesuffix(".won") for name in row if name.endswith(".won")]
        if not specs or not {"id", "phenomenon"} <= row.keys():
            return None
        scores = {spec: _scores(row, spec, where) for spec in specs}
        known = {spec: own for spec, own in scores.items() if not any(map(math.isnan, own))}
        name, phenomenon, better, worse = (
            str(row.get(field) or "") for field in ("id", "phenomenon", "better", "worse")
        )
        found.append(ScoredPair(name, phenomenon, better, worse, known))
    return found or None


def _scores(row: Mapping[str, Any], spec: str, where: str) -> tuple[float, float, float]:
    try:
        better, worse, won = (_number(row.get(f"{spec}.{name}")) for name in _SCORES)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where}: a score of {spec} is {error}") from None
    return better, worse, won


def _number(cell: Any) -> float:
    return math.nan if cell is None else number(cell) if isinstance(cell, str) else float(cell)
