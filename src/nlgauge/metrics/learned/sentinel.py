"""Sentinels: metrics that see one side alone, the control for what can be scored without comparing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.options import Checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.learned.regressor import Regressor
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing

_TEXTS = {"source": "src", "hypothesis": "hyp", "reference": "ref"}
_NEEDS: dict[str, frozenset[str]] = {
    "source": frozenset({"source"}),
    "hypothesis": frozenset(),
    "reference": frozenset({"references"}),
}


@dataclass(frozen=True, kw_only=True)
class Sentinel(Checked, BaseMetric):
    """A score of one side alone: how short it is, or the rating that a network predicts from it.

    A metric that agrees with people no better than a sentinel of the source earns its number by knowing which inputs
    are hard.

    Args:
        side: the only side that is read.
        model: a head that `nlgauge train regressor --side` wrote for this side. None takes the length: minus the number
            of characters, since long texts have room for more errors.

    References:
        Perrella et al. (2024), "Guardians of the Machine Translation Meta-Evaluation: Sentinel Metrics Fall In!"; the
        network is ours. Length alone is not theirs.
    """

    side: Literal["source", "hypothesis", "reference"] = "source"
    model: str | None = None
    info: ClassVar = MetricInfo(
        "sentinel",
        needs={"source"},
        range=(-float("inf"), float("inf")),
        copy_is_best=False,
        flags={"unknown", "nonfinite"},
        summary="one side alone, as a control: how short it is, or a rating predicted from it",
        tasks=TASKS,
        paper=(
            'Perrella et al. (2024), "Guardians of the Machine Translation Meta-Evaluation: Sentinel Metrics Fall In!"'
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        info = replace(type(self).info, needs=_NEEDS[self.side], cached=self.model is not None)
        object.__setattr__(self, "info", info)

    @cached_property
    def _regressor(self) -> Regressor | None:
        """The metric that the model is; its own errors speak of the file."""
        if self.model is None:
            return None
        found = Regressor(model=self.model)
        if found.files().texts != (_TEXTS[self.side],):
            raise InputError(
                f"sentinel: {self.model} reads {', '.join(found.files().texts)}, expected {_TEXTS[self.side]} alone;"
                f" 'nlgauge train regressor --side {self.side}' makes such a model"
            )
        return found

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language; a length reads all."""
        return None if self._regressor is None else self._regressor.unread(writing)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The facts of the model, found without loading it; nothing for lengths."""
        return {} if self._regressor is None else self._regressor.facts(runtime)

    @property
    def notes(self) -> tuple[str, ...]:
        """That it is a control, and what its model has learnt from."""
        learnt = () if self._regressor is None else self._regressor.notes
        return (f"a control, not a metric: it reads the {self.side} alone", *learnt)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Minus the number of characters (of several references, their mean); or what the model predicts.

        A blank text of this side sets the flag `empty`. A blank text of another side changes nothing: unlike a metric,
        a sentinel does not see it.

        Raises:
            InputError: a segment lacks the side that is read.
        """
        check_needs(self, segments)
        if self._regressor is not None:
            found = self._regressor.score(segments, runtime)
            return replace(found, signature=signature_of(self, runtime))
        values = np.array([-float(np.mean([len(text) for text in self._texts(s)])) for s in segments], dtype=np.float64)
        empty = np.array([any(map(is_blank, self._texts(s))) for s in segments], dtype=np.bool_)
        return Scores(signature_of(self, runtime), ids(segments), values, flags={"empty": empty})

    def _texts(self, segment: Segment) -> Sequence[str]:
        if self.side == "reference":
            return segment.references
        return (segment.source or "" if self.side == "source" else segment.hypothesis,)
