"""COMET as its authors' package computes it, with any checkpoint of theirs or of the user's."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from nlgauge.metrics.external.adapter import Checkpoint, adapted
from nlgauge.metrics.external.client import Client

_REFERENCE_FREE = re.compile(r"(^|[^a-z])(qe|kiwi|cometkiwi)([^a-z]|$)")
_ALL = ("hyp", "src", "ref")
_SEGMENTS = re.compile(r"^input_segments:\s*(\[[^\]]*\]|(?:\n?\s*-.*)+)", re.MULTILINE)  # in either form of YAML


@dataclass(frozen=True, kw_only=True)
class UnbabelComet(Checkpoint):
    """The prediction of a COMET checkpoint: with references, or of the source alone.

    Args:
        model: a checkpoint file (`FOLDER/checkpoints/model.ckpt`, with `FOLDER/hparams.yaml`), its folder, or the name
            of a model on the hub, such as `Unbabel/wmt22-comet-da`.
        references: of several references the `mean` of the scores, or the `best`.
        blank: the value of a blank text, for which a checkpoint has no lowest score: 0 on the scale of the models
            since 2022.
        reference_free: whether it reads no references. None takes what `hparams.yaml` says of a checkpoint on disk,
            and for a model on the hub whether its name has `qe` or `kiwi` in it.

    References:
        Rei et al. (2020), "COMET: A Neural Framework for MT Evaluation".
    """

    reference_free: bool | None = None
    environment: ClassVar = "comet"
    kind: ClassVar = "comet"
    counts_cut: ClassVar = True
    info: ClassVar = adapted(
        "unbabel-comet",
        needs={"references", "source"},
        summary="COMET by its authors' package, with a checkpoint of yours; a copy need not be best: it is a model",
        tasks={"mt"},
        paper='Rei et al. (2020), "COMET: A Neural Framework for MT Evaluation"',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        needs, reads = ({"source"}, ("hyp", "src")) if self._is_reference_free else (self.info.needs, _ALL)
        object.__setattr__(self, "reads", reads)
        object.__setattr__(self, "info", replace(self.info, needs=needs))

    def identify(self, client: Client) -> dict[str, Any]:
        """The model, and whether it reads no references."""
        return {**super().identify(client), "reference_free": self._is_reference_free}

    @property
    def _is_reference_free(self) -> bool:
        if self.reference_free is not None:
            return self.reference_free
        path = Path(self.model)
        if not os.path.exists(path):  # also where the name is too long for one
            return _REFERENCE_FREE.search(self.model.lower()) is not None
        settings = (path if path.is_dir() else path.absolute().parents[1]) / "hparams.yaml"
        text = settings.read_text(encoding="utf-8", errors="replace") if settings.is_file() else ""
        segments = _SEGMENTS.search(text)
        return "ref" not in segments[1] if segments else "referenceless_regression_metric" in text
