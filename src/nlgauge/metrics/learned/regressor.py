"""Regressors that learnt from ratings, as metrics: of any features, of those of RUSE and COMET, and the shipped one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from nlgauge.core.errors import InputError
from nlgauge.core.spec import quote
from nlgauge.metrics.learned.model import RegressorMetric, learned
from nlgauge.models.features import feature_names
from nlgauge.models.regressor import RegressorFiles

_NEEDS = {"ref": "references", "src": "source"}
_RATINGS = "human ratings"
_RUSE = (
    'Shimanaka et al. (2018), "RUSE: Regressor Using Sentence Embeddings for Automatic Machine Translation Evaluation"'
)
_COMET = 'Rei et al. (2020), "COMET: A Neural Framework for MT Evaluation"'


@dataclass(frozen=True, kw_only=True)
class Regressor(RegressorMetric):
    """The rating that a network predicts after training on ratings: COMET's or BLEURT's idea, on any encoder.

    Args:
        model: a head or folder that `nlgauge train regressor` (or `train sescore`) wrote. It says itself which texts
            it reads.

    References:
        Rei et al. (2020), "COMET: A Neural Framework for MT Evaluation", section 2; Shimanaka et al. (2018), "RUSE".
    """

    model: str
    info: ClassVar = learned("regressor", "your ratings")
    without: ClassVar[Mapping[str, str]] = {}  # option without a default -> what to do when it is not given

    def __post_init__(self) -> None:
        super().__post_init__()
        needs = {_NEEDS[text] for text in self.files().texts if text != "hyp"}
        object.__setattr__(self, "info", replace(type(self).info, needs=needs))

    @property
    def _model(self) -> str:
        return self.model


@dataclass(frozen=True, kw_only=True)
class Ruse(Regressor):
    """RUSE: a network on sentence vectors of hypothesis and reference, whose encoder stays as it is.

    Args:
        model: a head that `nlgauge train regressor --method frozen` wrote.

    References:
        Shimanaka et al. (2018), "RUSE: Regressor Using Sentence Embeddings for Automatic Machine Translation
        Evaluation": both vectors, their product and their absolute difference. The sentence vectors are
        means of token vectors of an encoder of today, in place of InferSent, Quick-Thought and USE.
    """

    texts: ClassVar = ("hyp", "ref")
    trained: ClassVar = _RATINGS
    info: ClassVar = learned(
        "ruse",
        "your ratings, on sentence vectors as they are",
        frozenset({"mt"}),
        _RUSE,
    )
    without: ClassVar = {"model": "; 'nlgauge train regressor --method frozen' makes one"}

    def files(self) -> RegressorFiles:
        """The regressor's files.

        Raises:
            InputError: as for every regressor; or it has other features, or an encoder that learnt.
        """
        found = super().files()
        if found.features != feature_names() or found.head.get("method") != "frozen":
            raise InputError(
                f"ruse: {self.model} has the features {', '.join(found.features)} and was trained by method"
                f" {found.head.get('method')}, expected {', '.join(feature_names())} and frozen; use"
                f" regressor:model={quote(self.model)}"
            )
        return found


@dataclass(frozen=True, kw_only=True)
class Comet(Regressor):
    """COMET's estimator on an encoder and ratings of one's own: source, hypothesis and reference.

    It is not Unbabel's model, and its scores are not COMET's.

    Args:
        model: a head or folder that `nlgauge train regressor --source` wrote.

    References:
        Rei et al. (2020), "COMET: A Neural Framework for MT Evaluation", section 2.3.
    """

    texts: ClassVar = ("hyp", "ref", "src")
    trained: ClassVar = _RATINGS
    info: ClassVar = learned(
        "comet",
        "your ratings, with the features of COMET",
        frozenset({"mt"}),
        _COMET,
        frozenset({"references", "source"}),
    )
    without: ClassVar = {
        "model": "; 'nlgauge train regressor --source' makes one. Unbabel's models run as unbabel-comet:model=..."
    }


@dataclass(frozen=True, kw_only=True)
class CometQE(Regressor):
    """COMET's estimator without references: source and hypothesis, on an encoder and ratings of one's own.

    It is not Unbabel's model, and its scores are not COMET-QE's.

    Args:
        model: a head or folder that `nlgauge train regressor --source --no-reference` wrote.

    References:
        Rei et al. (2020), "Unbabel's Participation in the WMT20 Metrics Shared Task": the model without references.
    """

    texts: ClassVar = ("hyp", "src")
    trained: ClassVar = _RATINGS
    info: ClassVar = learned(
        "comet-qe",
        "your ratings, with the features of COMET-QE",
        frozenset({"mt"}),
        'Rei et al. (2020), "Unbabel\'s Participation in the WMT20 Metrics Shared Task"',
        frozenset({"source"}),
    )
    without: ClassVar = {
        "model": (
            "; 'nlgauge train regressor --source --no-reference' makes one. Unbabel's models run as"
            " unbabel-comet:model=..."
        )
    }


@dataclass(frozen=True, kw_only=True)
class Rated(RegressorMetric):
    """The rating that people would give, predicted by the head in the package: trained on ratings of WMT15.

    Args:
        model: the head; `rated` comes with the package.

    References:
        Shimanaka et al. (2018), "RUSE": the features and the network; the sentence vectors are those of `Ruse`.
    """

    model: str = "rated"
    texts: ClassVar = ("hyp", "ref")
    trained: ClassVar = _RATINGS
    info: ClassVar = learned(
        "rated",
        "human ratings of WMT15",
        frozenset({"mt"}),
        _RUSE,
    )

    @property
    def _model(self) -> str:
        return self.model
