"""Edits that make a text worse, or leave it as good; character offsets give their positions."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.perturbations.checklist import TASKS, ChecklistRow, checklist_rows, select_rows
    from nlgauge.perturbations.draft import Draft
    from nlgauge.perturbations.paraphrase import CallableParaphraser, LightParaphraser, Paraphraser, TableParaphraser
    from nlgauge.perturbations.perturb import (
        PERTURBATIONS,
        Case,
        Change,
        Edit,
        Inapplicable,
        Perturbation,
        PerturbationInfo,
        Turn,
        apply,
        apply_edits,
        info,
        make_cases,
        perturbation,
    )
    from nlgauge.perturbations.severity import Calibration, LexiconInfill, MaskAndPredict, Severity, calibrate
    from nlgauge.perturbations.synthesis import (
        Step,
        Syntheses,
        Synthesis,
        SynthesisRun,
        Synthesizer,
        run_synthesis,
        unfit,
    )
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "PERTURBATIONS", "TASKS", "Calibration", "CallableParaphraser", "Case", "Change", "ChecklistRow", "Draft", "Edit",
    "Inapplicable", "LexiconInfill", "LightParaphraser", "MaskAndPredict", "Paraphraser", "Perturbation",
    "PerturbationInfo", "Severity", "Step", "Syntheses", "Synthesis", "SynthesisRun", "Synthesizer",
    "TableParaphraser", "Turn", "apply", "apply_edits", "calibrate", "checklist_rows", "info", "make_cases",
    "perturbation", "run_synthesis", "select_rows", "unfit",
]  # fmt: skip
