"""SummaC-Conv as its authors' package computes it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar

from nlgauge.metrics.external.adapter import Adapter, adapted, model_facts
from nlgauge.metrics.external.client import Client


@dataclass(frozen=True, kw_only=True)
class SummacConv(Adapter):
    """How consistent a summary is with its document: a convolution over the entailment of pairs of sentences.

    Args:
        model: the file of the convolution, `summac_conv_vitc_sent_perc_e.bin` of the authors' repository.
        nli: the NLI model, by a name of the package, or a folder with a model whose configuration names its labels.

    References:
        Laban et al. (2022), "SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization", with
        the authors' settings: sentences, entailment alone, bins by percentiles, the mean over sentences.
    """

    model: str
    nli: str = "vitc"
    environment: ClassVar = "summac"
    kind: ClassVar = "summac-conv"
    reads: ClassVar = ("hyp", "src")
    info: ClassVar = adapted(
        "summac-conv",
        needs={"source"},
        range=(0.0, 1.0),
        summary="consistency with the document, by its authors' package; no reference is read",
        tasks={"as"},
        paper=(
            'Laban et al. (2022), "SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization"'
        ),
    )

    def load_options(self) -> dict[str, Any]:
        """The weights and the NLI model."""
        return {"model": self.model, "nli": self.nli}

    def identify(self, client: Client) -> dict[str, Any]:
        """Both, without their folders, and what identifies their weights."""
        nli = model_facts(client, self.nli, "nli", "nli_weights") if os.path.exists(self.nli) else {}
        return {**model_facts(client, self.model), **nli}
