"""Results that a person would rather look at than read."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.report.alignment.page import alignment_html
    from nlgauge.report.alignment.svg import alignment_svg
    from nlgauge.report.alignment.text import alignment_text
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "alignment_html", "alignment_svg", "alignment_text",
]  # fmt: skip
