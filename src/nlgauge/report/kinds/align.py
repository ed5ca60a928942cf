"""An alignment has no tables of numbers: its page is a picture."""

from __future__ import annotations

from nlgauge.report.kinds.kind import Kind

KIND = Kind(page="nlgauge.report.alignment.page:result_html")
