"""Instance lines of Every Eval Ever, a schema into which logs of many tools are converted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.logs.samples import Log, Sample
from nlgauge.io.logs.values import LogLines, identity, inner, message, score, text, texts
from nlgauge.io.source import HeldSource

_MAJOR = "0."


def open_every(file: InputFile) -> HeldSource:
    """Read instance lines: `sample_id` is the item, `model_id` the system and `evaluation_name` the group.

    Columns are `score`, and `pass` where the line says whether the answer is correct.

    Raises:
        InputError: a line has no `sample_id`.
    """
    rows, log = LogLines(file), Log(file)
    for where, row in rows:
        item = identity(row.get("sample_id"))
        if item is None:
            raise InputError(f"{where}: field 'sample_id' is missing, expected a string")
        version = text(row.get("schema_version"))
        if version is None or not version.startswith(_MAJOR):
            log.note(f"schema version {version!r}, read as {_MAJOR}3")
        failed = row.get("error") is not None
        passed = inner(row, "evaluation", "is_correct")
        scores = {"score": math.nan if failed else score(inner(row, "evaluation", "score"))}
        if passed is not None:
            scores["pass"] = math.nan if failed or type(passed) is not bool else float(passed)
        said = _said(row)
        for one in said or (None,):
            log.add(
                Sample(
                    item=item,
                    hypothesis=one,
                    references=texts(inner(row, "input", "reference")),
                    source=text(inner(row, "input", "raw")),
                    system=text(row.get("model_id")),
                    group=text(row.get("evaluation_name")),
                    scores=scores,
                )
            )
    return log.source(rows.notes())


def _said(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The answers of a line, or the last message of the model where it holds a conversation."""
    answers = texts(inner(row, "output", "raw"))
    messages = row.get("messages")
    if answers or type(messages) is not list:
        return answers
    last = [message(inner(one, "content")) for one in messages if inner(one, "role") == "assistant"]
    return tuple(one for one in last[-1:] if one is not None)
