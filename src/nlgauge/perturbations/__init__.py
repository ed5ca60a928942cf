"""Edits that make a text worse, or leave it as good; character offsets give their positions."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.perturbations.draft import Draft
    from nlgauge.perturbations.perturb import Case, Change, Edit, Inapplicable, Perturbation, PerturbationInfo, Turn
    from nlgauge.perturbations.synthesis import Step, Syntheses, Synthesis
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Case", "Change", "Draft", "Edit", "Inapplicable", "Perturbation", "PerturbationInfo", "Step", "Syntheses",
    "Synthesis", "Turn",
]  # fmt: skip
