"""What did the judge say? Its answer read strictly: one JSON object of the form that was asked for, or nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from nlgauge.core.segment import unique

_WEIGHTS = {"minor": 1.0, "major": 5.0}
_PLACES = {"A": 1.0, "B": 2.0, "tie": 0.0}
_LONGEST = 100_000  # characters of an answer that is read


def read_score(text: str, low: float, high: float) -> float:
    """The number of `{"score": NUMBER}`, in [low, high]; NaN for every other answer."""
    found = _object(text)
    value = found.get("score") if found.keys() == {"score"} else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value) if low <= value <= high else math.nan


def read_mqm(text: str, low: float, high: float) -> float:
    """Minus 1 for each minor and 5 for each major error of `{"errors": [...]}`, at least low; NaN for other answers."""
    found = _object(text)
    errors = found.get("errors") if found.keys() == {"errors"} else None
    if type(errors) is not list:
        return math.nan
    severities = [error.get("severity") if type(error) is dict else None for error in errors]
    if not all(type(one) is str and one in _WEIGHTS for one in severities):
        return math.nan
    return max(low, 0.0 - sum(_WEIGHTS[str(one)] for one in severities))


def read_place(text: str) -> float:
    """The place that won by `{"verdict": "A"}`: 1 for A, 2 for B, 0 for a tie; NaN for every other answer."""
    found = _object(text)
    verdict = found.get("verdict") if found.keys() == {"verdict"} else None
    return _PLACES.get(verdict, math.nan) if type(verdict) is str else math.nan


READERS: Mapping[str, Callable[[str, float, float], float]] = {"score": read_score, "mqm": read_mqm}


def _object(text: str) -> dict[str, Any]:
    """The object that a text is; empty if it is none."""
    if len(text) > _LONGEST:
        return {}
    try:
        found = json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        return {}
    return found if type(found) is dict else {}
