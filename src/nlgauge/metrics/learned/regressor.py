"""Regressors that learnt from ratings, as metrics: of any features, of those of RUSE and COMET, and the shipped one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.options import Range
from nlgauge.core.spec import quote
from nlgauge.metrics.learned.model import RegressorMetric, learned
from nlgauge.models.encoder import feature_names
from nlgauge.models.locate import SHORT
from nlgauge.models.regressor import Ratings, RegressorFiles, load_regressor, locate_regressor
from nlgauge.runtime.runtime import Advance, Runtime

_NEEDS = {"ref": "references", "src": "source"}
_RATINGS = "human ratings"
_COMES_IN = (-0.5, 0.25)  # predictions of the first head of `rated` between which the second comes in
_READS_BOTH = {"rated": "rated-both", "rated-base": "rated-both-base"}  # which heads of the package go together
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
    """The rating that people would give, predicted by two heads in the package that learnt from ratings of WMT15.

    One compares vectors of the two texts; the other reads both texts in one sequence. The value is the mean of their
    predictions, weighted by `both`. The second has learnt from texts with errors and from outputs of translation
    systems, and knows no text that has nothing to do with its reference: where the first predicts -0.5 or less the
    second is left out, and from 0.25 on it has its full weight.

    Args:
        model: the head that compares vectors; `rated` and `rated-base` come with the package.
        both: the weight of the head that reads both texts in one sequence, `rated-both` or `rated-both-base`; 0 leaves
            it out. None takes a half where `model` ships, and 0 otherwise.

    References:
        Shimanaka et al. (2018), "RUSE": the features of the first head; the sentence vectors are those of `Ruse`.
        Sellam et al. (2020), "BLEURT: Learning Robust Metrics for Text Generation", for the second: a network that
        reads both texts, taught by synthesis first and by ratings then.
    """

    model: str = "rated"
    both: Annotated[float | None, Range(least=0, most=1, meaning="a weight")] = None
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

    @property
    def weight(self) -> float:
        """The weight of the head that reads both texts in one sequence."""
        return self.both if self.both is not None else 0.5 if self.model in _READS_BOTH else 0.0

    def second(self) -> RegressorFiles | None:
        """The files of the head that reads both texts in one sequence; None if its weight is 0.

        Raises:
            InputError: `both` is above 0, and `model` is no head of the package.
        """
        if not self.weight:
            return None
        if self.model not in _READS_BOTH:
            raise InputError(
                f"{self.info.name}: both is {self.both:g}, and {self.model} goes with no second head; leave it out"
            )
        return locate_regressor(_READS_BOTH[self.model])

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the models."""
        second = self.second()
        own = {} if second is None else {"second": second.head.name, "second_head": second.head.identity[:SHORT]}
        return {**super().facts(runtime), "both": self.weight or None, **own}

    @property
    def trained_on(self) -> tuple[str, ...]:
        """Ids of the perturbations that the heads were shown in training."""
        second = self.second()
        own = () if second is None else second.head.items("trained_on_phenomena")
        return tuple(dict.fromkeys((*super().trained_on, *own)))

    def _predicted(self, texts: Mapping[str, Sequence[str]], runtime: Runtime, advance: Advance) -> Ratings:
        second = self.second()
        if second is None:
            return super()._predicted(texts, runtime, advance)
        first = super()._predicted(texts, runtime, lambda count: None)
        model = load_regressor(second.head.name, runtime.precision(self.dtype), runtime, self.max_tokens)
        other = model.score(texts, advance)
        share = self.weight * np.clip((first.values - _COMES_IN[0]) / (_COMES_IN[1] - _COMES_IN[0]), 0, 1)
        return Ratings(
            first.values + share * (other.values - first.values),
            first.truncated | other.truncated,
            np.maximum(first.unknown, other.unknown),
            first.empty | other.empty,
        )
