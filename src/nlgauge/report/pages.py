"""Results as pages: one self-contained HTML file for each kind of result."""

from __future__ import annotations

from pathlib import Path

from nlgauge.core.result import Result
from nlgauge.report.audit import audit_html
from nlgauge.report.html import write_page
from nlgauge.report.meta import meta_html
from nlgauge.report.score import score_html
from nlgauge.report.sweep import sweep_html
from nlgauge.report.text import Worst


def page(result: Result, worst: Worst | None = None) -> str:
    """The page of a result of kind `score`, `audit`, `meta`, `select` or `sweep`.

    Args:
        result: the result.
        worst: for each metric of an audit the cases that it got most wrong, as `Audit.worst` gives them.
    """
    if result.kind == "audit":
        return audit_html(result, worst)
    return {"score": score_html, "meta": meta_html, "select": meta_html, "sweep": sweep_html}[result.kind](result)


def write_html(result: Result, path: str | Path, worst: Worst | None = None) -> None:
    """Write the page of a result, whole or not at all; arguments as for `page`.

    Raises:
        InputError: the file cannot be written.
    """
    write_page(page(result, worst), path)
