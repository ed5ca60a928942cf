"""Audits: they test with pairs of texts of known order which differences a metric does not see."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.audits.deviation import read_penalties
    from nlgauge.audits.preference import ADEQUACY, FLUENCY, Anchor, Sides, score_sides
    from nlgauge.audits.run import Audit
    from nlgauge.audits.suites import ATTACKS, menli_suite, perturbed_suite
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "ADEQUACY", "ATTACKS", "FLUENCY", "Anchor", "Audit", "Sides", "menli_suite", "perturbed_suite", "read_penalties",
    "score_sides",
]  # fmt: skip
