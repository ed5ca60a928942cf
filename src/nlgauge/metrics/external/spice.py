"""SPICE as its authors' program computes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from nlgauge.metrics.external.adapter import Adapter, adapted
from nlgauge.metrics.external.client import Client
from nlgauge.text.scripts import Writing


@dataclass(frozen=True, kw_only=True)
class Spice(Adapter):
    """F1 of the objects, attributes and relations of a caption and of all of its references together.

    References:
        Anderson et al. (2016), "SPICE: Semantic Propositional Image Caption Evaluation".
    """

    environment: ClassVar = "spice"
    kind: ClassVar = "spice"
    reads: ClassVar = ("hyp", "refs")
    parts: ClassVar = ("precision", "recall")
    info: ClassVar = adapted(
        "spice",
        range=(0.0, 1.0),
        summary="F1 of scenes, by its authors' program; a copy need not be best: a text without a scene has nothing",
        tasks={"ic"},
        paper='Anderson et al. (2016), "SPICE: Semantic Propositional Image Caption Evaluation"',
    )

    def unread(self, writing: Writing) -> str | None:
        """That other scripts and languages are not English."""
        return None if writing.may_be_english else "SPICE's parser reads English"

    def load_options(self) -> dict[str, Any]:
        """Nothing: the program has one form."""
        return {}

    def identify(self, client: Client) -> dict[str, Any]:
        """Nothing beside the version of the package, which holds the program."""
        return {}
