"""Output of OpenAI's batches: a line with the answer to each request, in any order."""

from __future__ import annotations

from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.logs.samples import Log, Sample
from nlgauge.io.logs.values import LogLines, identity, inner, message, text
from nlgauge.io.source import HeldSource

_DONE = 200


def open_batch(file: InputFile) -> HeldSource:
    """Read the output of a batch: `custom_id` is the item, and the system is the model that answered.

    Raises:
        InputError: a line has no `custom_id`.
    """
    rows, log = LogLines(file), Log(file)
    for where, row in rows:
        item = identity(row.get("custom_id"))
        if item is None:
            raise InputError(f"{where}: field 'custom_id' is missing, expected the id of a request")
        body = inner(row, "response", "body")
        failed = row.get("error") is not None or inner(row, "response", "status_code") != _DONE
        answer = None if failed else answer_of(body)
        if not failed and not answer:
            log.count("requests were done and have no text")
        log.add(Sample(item=item, hypothesis=answer, system=text(inner(body, "model"))))
    return log.source(rows.notes())


def answer_of(body: Any) -> str | None:
    """The text of a chat completion, or of a response."""
    choices, output = inner(body, "choices"), inner(body, "output")
    if type(choices) is list and choices:
        return message(inner(choices[0], "message", "content"))
    messages = (
        [inner(one, "content") for one in output or [] if inner(one, "type") == "message"]
        if (type(output) is list)
        else []
    )
    found = [said for one in messages if (said := message(one)) is not None]
    return "\n".join(found) if found else None
