"""Audits: they test with pairs of texts of known order which differences a metric does not see."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.audits.anchors import Anchor
    from nlgauge.audits.checklist import perturbed_suite
    from nlgauge.audits.menli import ATTACKS, menli_suite
    from nlgauge.audits.penalties import read_penalties
    from nlgauge.audits.preference import ADEQUACY, FLUENCY
    from nlgauge.audits.run import Audit
    from nlgauge.audits.sides import Sides, score_sides
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "ADEQUACY", "ATTACKS", "FLUENCY", "Anchor", "Audit", "Sides", "menli_suite", "perturbed_suite", "read_penalties",
    "score_sides",
]  # fmt: skip
