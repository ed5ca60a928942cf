"""Forms of scores, results and alignments. Each is made by another package, which is loaded when it is asked for.

The types of this package offer them as methods, such as `Scores.to_frame()`, and know only where each form is made.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MAKERS = {
    "frame": "nlgauge.io.frames:to_frame",
    "arrow": "nlgauge.io.frames:to_arrow",
    "file": "nlgauge.report.write:write_result",
    "text": "nlgauge.report.text:printed",
    "svg": "nlgauge.report.alignment.svg:alignment_svg",
    "page": "nlgauge.report.alignment.page:alignment_html",
    "result": "nlgauge.report.notebook:result_html",
    "scores": "nlgauge.report.notebook:scores_html",
    "suite": "nlgauge.report.notebook:suite_html",
}


def made(form: str, *what: Any) -> Any:
    """The result of a form's maker on its arguments."""
    module, _, name = _MAKERS[form].partition(":")
    return getattr(import_module(module), name)(*what)
