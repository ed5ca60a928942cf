"""Results as a person reads them: tables in every form, pages, pictures."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.report.alignment.page import alignment_html
    from nlgauge.report.alignment.svg import alignment_svg
    from nlgauge.report.alignment.text import alignment_text
    from nlgauge.report.bundle.page import bundle_html
    from nlgauge.report.ladder import ladder_text, ladders_html
    from nlgauge.report.pages import page, write_html
    from nlgauge.report.table import Table
    from nlgauge.report.text import render
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Table", "alignment_html", "alignment_svg", "alignment_text", "bundle_html", "ladder_text", "ladders_html", "page",
    "render", "write_html",
]  # fmt: skip
