"""In which direction do scores run that were made elsewhere? Given, recorded, or guessed; a guess is always said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.scores import Scores
from nlgauge.core.tables import ScoreTable
from nlgauge.metrics.direction import direction_of


def directions(stored: Mapping[str, Any], given: Mapping[str, bool]) -> tuple[dict[str, bool], list[str]]:
    """Whether higher is better, for each column of scores.

    Args:
        stored: name -> a table with a column of that name, `Scores`, a mapping from id to number, or numbers.
        given: name -> what the caller says.

    Returns:
        Name -> whether higher is better; and notes on what nobody says, with the option that does.
    """
    up: dict[str, bool] = {}
    told: dict[tuple[str, str], list[str]] = {}
    for name, values in stored.items():
        if isinstance(values, Scores):
            up[name] = values.higher_is_better
        elif name in given:
            up[name] = given[name]
        else:
            origin = values.origins.get(name) if isinstance(values, ScoreTable) else None
            recorded = None if origin is None else origin.higher_is_better
            up[name], said = direction_of(name, _numbers(values, name), recorded)
            if said:
                told.setdefault((said, "lower" if up[name] else "higher"), []).append(name)
    return up, [
        f"{', '.join(names)}: {said}; --{other}-is-better NAME changes that (in Python {other}_is_better)"
        for (said, other), names in told.items()
    ]


def _numbers(values: Any, name: str) -> Array:
    if isinstance(values, ScoreTable):
        return values.column(name)
    listed = values.values() if isinstance(values, Mapping) else values
    return np.array([np.nan if value is None else value for value in listed], dtype=np.float64)
