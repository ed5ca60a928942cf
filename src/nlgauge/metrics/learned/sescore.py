"""SEScore: a regressor that learnt from synthesised errors, of the package and as in the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nlgauge.core.errors import InputError
from nlgauge.core.spec import quote
from nlgauge.metrics.learned.model import RegressorMetric, learned
from nlgauge.models.encoder import feature_names
from nlgauge.models.regressor import RegressorFiles

_PAPER = (
    'Xu et al. (2022), "Not All Errors are Equal: Learning Text Generation Metrics using Stratified Error Synthesis"'
)
_TASKS = frozenset({"mt", "d2t", "ic"})
_METHODS = ("full", "lora", "frozen")  # by which a network learns


@dataclass(frozen=True, kw_only=True)
class SEScore(RegressorMetric):
    """Minus the number of a text's errors, after SEScore's idea of learning from errors made on purpose.

    The head that comes with the package is not SEScore: it was taught no severities, it is a weighted sum and no
    network, and half a deviation of BERTScore's F is added. A head of your own may know severities: a minor error then
    costs 1, a severe one 5, and scores end at -25. What is learnt keeps this order but not the scale; `calibrated=true`
    brings it back by a curve in the head.

    Args:
        model: `sescore` (comes with the package), or a head or folder that `nlgauge train sescore` wrote.

    References:
        Xu et al. (2022), "Not All Errors are Equal: Learning Text Generation Metrics using Stratified Error
        Synthesis", for the idea; `paper/sescore` is their network.
    """

    model: str = "sescore"
    texts: ClassVar = ("hyp", "ref")
    info: ClassVar = learned(
        "sescore",
        "synthetic errors, yet not SEScore: no severities, no network, and half a deviation of BERTScore's F is added",
        _TASKS,
        _PAPER,
    )

    @property
    def _model(self) -> str:
        return self.model


@dataclass(frozen=True, kw_only=True)
class PaperSEScore(RegressorMetric):
    """SEScore as in its paper: a network with tanh on the product and the difference of the two texts' mean vectors.

    Args:
        model: a folder or head that `nlgauge train sescore --preset paper` wrote, or `--features 2h` with options of
            your own; whether its triples had severities is not checked.

    References:
        Xu et al. (2022), "Not All Errors are Equal: Learning Text Generation Metrics using Stratified Error
        Synthesis", sections 3.3, 3.4 and 4.1, appendix B.1.
    """

    model: str
    texts: ClassVar = SEScore.texts
    info: ClassVar = learned("paper/sescore", "synthetic errors with severities, as in the paper", _TASKS, _PAPER)
    without: ClassVar = {
        "model": (
            "; 'nlgauge synth TEXTS --preset paper -o triples.jsonl && nlgauge train sescore triples.jsonl -o FOLDER"
            " --preset paper' makes one"
        )
    }

    def files(self) -> RegressorFiles:
        """The regressor's files.

        Raises:
            InputError: as for every regressor; or it has other features, or is no network.
        """
        found = super().files()
        if found.features != feature_names("2h") or found.head.get("method") not in _METHODS:
            raise InputError(
                f"{self.info.name}: {self.model} has the features {', '.join(found.features)} and was trained by method"
                f" {found.head.get('method')}, expected {', '.join(feature_names('2h'))} and a network; use"
                f" sescore:model={quote(self.model)}"
            )
        return found

    @property
    def _model(self) -> str:
        return self.model
