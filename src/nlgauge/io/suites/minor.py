"""Pairs of texts labelled as minor or major changes: what a judge of errors is calibrated on."""

from __future__ import annotations

import json
import os
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Lines

Labelled = tuple[str, str, bool]
_FORMS = (
    '{"text", "changed", "minor": true or false}, pairs as of nlgauge perturb ("better", "worse", "expect"), or'
    ' "premise", "hypothesis", "label"'
)
_MINOR: dict[str, dict[Any, bool | None]] = {  # field -> whether each of its values says minor; None where it cannot
    "minor": {True: True, False: False},
    "expect": {"same": True, "lower": False},
    "label": {"entailment": None, "neutral": False, "contradiction": False},
}


def read_minor(path: str | os.PathLike[str]) -> tuple[list[Labelled], list[dict[str, str]]]:
    """Labelled pairs of a file of JSON lines, and the entry of the file for results.

    A file may mix three kinds of rows: `{"text", "changed", "minor"}`; pairs as `nlgauge perturb` writes them, minor
    where `expect` is `same`; and NLI pairs, major where the label is neutral or contradiction. NLI pairs labelled
    entailment are left out, since nothing is known of the other direction.

    Returns:
        (text before, text after, whether the difference is minor) for each pair.

    Raises:
        InputError: a row is of none of these kinds; names its line.
    """
    file = InputFile(path)
    lines = Lines(file)
    pairs: list[Labelled] = []
    try:
        for number, line in lines:
            if line.strip():
                pairs += _pair(line, lines.at(number))
    finally:
        file.close()
    return pairs, [file.entry]


def _pair(line: str, where: str) -> list[Labelled]:
    try:
        row: Any = json.loads(line)
    except ValueError as error:
        raise InputError(f"{where}: no JSON ({error}); expected {_FORMS}") from None
    if not isinstance(row, dict):
        raise InputError(f"{where}: {type(row).__name__}, expected an object: {_FORMS}")
    for before, after, label in (
        ("text", "changed", "minor"),
        ("better", "worse", "expect"),
        ("premise", "hypothesis", "label"),
    ):
        if {before, after, label} <= row.keys():
            break
    else:
        raise InputError(f"{where}: {', '.join(map(repr, row)) or 'nothing'}, expected {_FORMS}")
    for key in (before, after):
        if not isinstance(row[key], str):
            raise InputError(f"{where}: {key!r} is {type(row[key]).__name__}, expected a text")
    meaning = _MINOR[label]
    value = row[label]
    if not isinstance(value, bool if label == "minor" else str) or value not in meaning:
        raise InputError(f"{where}: {label!r} is {value!r}, expected one of {', '.join(map(json.dumps, meaning))}")
    minor = meaning[value]
    return [] if minor is None else [(row[before], row[after], minor)]
