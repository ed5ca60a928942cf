"""Pairs of texts labelled as minor or major changes, on which a judge of errors is calibrated."""

from __future__ import annotations

import json
import os
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.segment import RepeatedKey, unique
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
    """Read labelled pairs from JSON lines, and make the file's entry for the result file.

    A file may mix three kinds of rows. The first is `{"text", "changed", "minor"}`. The second is a pair as `nlgauge
    perturb` writes it, which is minor if `expect` is `same`. The third is an NLI pair, which is major if the label is
    neutral or contradiction. NLI pairs labelled entailment are left out, since the other direction is not known.

    Returns:
        (text before, text after, whether the difference is minor) for each pair.

    Raises:
        InputError: a row is of none of these kinds. The error names its line.
    """
    file = InputFile(path)
    lines = Lines(file)
    pairs: list[Labelled] = []
    try:
        for number, line in lines.filled():
            pairs += _pair(line, lines.at(number))
    finally:
        file.close()
    return pairs, [file.entry]


def _pair(line: str, where: str) -> list[Labelled]:
    try:
        row: Any = json.loads(line, object_pairs_hook=unique)
    except RepeatedKey as error:
        raise InputError(f"{where}: {error}") from None
    except (ValueError, RecursionError) as error:
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
