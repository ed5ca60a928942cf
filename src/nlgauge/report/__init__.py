"""Results as a person reads them: tables in every form, pages, pictures."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.report.bundle import bundle_html
    from nlgauge.report.kinds.align import alignment_html, alignment_svg, alignment_text
    from nlgauge.report.kinds.synth import ladder_text, ladders_html
    from nlgauge.report.pages import page, write_html
    from nlgauge.report.tables import Table
    from nlgauge.report.text import render
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Table", "alignment_html", "alignment_svg", "alignment_text", "bundle_html", "ladder_text", "ladders_html", "page",
    "render", "write_html",
]  # fmt: skip
