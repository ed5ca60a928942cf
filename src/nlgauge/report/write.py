"""A result in a file, in any form but JSON, which it writes itself."""

from __future__ import annotations

import os

from nlgauge.core.result import Result, replacing
from nlgauge.report.pages import write_html
from nlgauge.report.text import render


def write_result(result: Result, path: str | os.PathLike[str], form: str) -> None:
    """Write a result, completely or not at all.

    Args:
        result: the result.
        path: the file.
        form: `html`, or one of the forms of `render`.

    Raises:
        InputError: the form is unknown, this kind of result does not have it, or the file cannot be written.
    """
    if form == "html":
        write_html(result, path)
        return
    text = render(result, form)
    with replacing(path) as file:
        file.write(text + "\n")
