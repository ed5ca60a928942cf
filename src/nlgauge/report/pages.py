"""Results as pages: one self-contained HTML file for each kind of result."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.html import render_result, write_page
from nlgauge.report.kinds.kind import kind_of
from nlgauge.report.paper import Worst
from nlgauge.report.paths import without_folders
from nlgauge.report.text import parts_of


def page(result: Result, worst: Worst | None = None, **known: Any) -> str:
    """The page of a result; it names files without folders.

    Args:
        result: the result.
        worst: for each metric of an audit, the cases with its worst errors, as `Audit.worst` returns them.
        known: further arguments of the page of this kind, such as `trust` of scores.

    Raises:
        InputError: a result of another kind has no page.
    """
    kind, shown = kind_of(result.kind), without_folders(result)
    if kind.page:
        module, _, name = kind.page.partition(":")
        html: Callable[..., str] = getattr(import_module(module), name)
        return html(shown, **({"worst": worst} if worst else {}), **known)
    if kind.parts is None:
        raise InputError(f"a result of kind {result.kind!r} has no page; write it as .json or .tsv")
    return render_result("tables.html", shown, heading=kind.heading, shown=parts_of(shown))


def write_html(result: Result, path: str | os.PathLike[str], worst: Worst | None = None) -> None:
    """Write the page of a result, whole or not at all; arguments as for `page`.

    Raises:
        InputError: the file cannot be written.
    """
    write_page(page(result, worst), path)
