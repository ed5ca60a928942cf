"""Audits: they test with pairs of texts of known order which differences a metric does not see."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.audits.deviation import read_penalties
    from nlgauge.audits.run import Audit
else:
    __getattr__, __dir__ = door(__name__)

__all__ = ["Audit", "read_penalties"]
