"""The common part of regressors as metrics: the options that name one, the texts it must read, and its scores."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import TASKS, TRAINED, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.core.spec import quote
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.languages import unread_by_model
from nlgauge.metrics.references import over_references
from nlgauge.metrics.unknown import known, nonfinite, unknown
from nlgauge.models.regressor import Ratings, RegressorFiles, calibrate, load_regressor, locate_regressor
from nlgauge.models.tokens import token_limit
from nlgauge.runtime.runtime import Advance, DType, Runtime
from nlgauge.text.scripts import Writing

_LEAST_TOKENS = 3  # special tokens and a piece


def from_ratings(data: str) -> str:
    """The note on a metric that has learnt from people's ratings."""
    return f"{TRAINED} ({data}); agreement with ratings of the same texts or systems says nothing about the metric"


def learned(
    name: str,
    data: str,
    tasks: frozenset[str] = TASKS,
    paper: str = "",
    needs: frozenset[str] = frozenset({"references"}),
) -> MetricInfo:
    """Declare a metric that a regressor learned from some data."""
    return MetricInfo(
        name,
        needs,
        range=(-math.inf, math.inf),
        copy_is_best=False,
        cached=True,
        flags={"unknown", "nonfinite"},
        summary=f"learned from {data}; a copy need not be best: no bound holds what a network says",
        tasks=tasks,
        paper=paper,
    )


@dataclass(frozen=True, kw_only=True)
class RegressorMetric(Checked, BaseMetric):
    """Options of a metric that asks a regressor.

    Args:
        references: of several references the `mean` of the scores, or the `best`.
        calibrated: bring what the network says to the scale of its training by the calibration in its file; no two
            texts change places. Refused where the file has none.
        rescale: bring the scale that the regressor was trained on to 0 and 1, as (25 + s) / 25 for SEScore's.
        max_tokens: most pieces of a text; None takes what the regressor was trained with.
        dtype: precision of the encoder; None takes the runtime's.
    """

    references: Literal["mean", "best"] = "mean"
    calibrated: bool = False
    rescale: bool = False
    max_tokens: Annotated[int, Range(least=_LEAST_TOKENS)] | None = None
    dtype: DType | None = None
    info: ClassVar[MetricInfo]
    texts: ClassVar[tuple[str, ...] | None] = None  # what its regressor must read; None is anything
    trained: ClassVar[str | None] = None  # what every regressor under its name has learnt from, for the signature

    @property
    def _model(self) -> str:
        raise NotImplementedError

    def files(self) -> RegressorFiles:
        """The regressor's files, its encoder checked.

        Raises:
            InputError: see `locate_regressor`; or the regressor reads other texts than the metric.
        """
        found = locate_regressor(self._model)
        if self.texts not in (None, found.texts):
            raise InputError(
                f"{self.info.name}: {self._model} reads {', '.join(found.texts)}, expected"
                f" {', '.join(self.texts or ())}; use regressor:model={quote(self._model)}"
            )
        return found

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        files = self.files()
        if self.calibrated and not files.calibration:
            raise SpecError(
                f"{self.info.name}: {self._model} has no calibration, which calibrated=true asks for; leave it out"
            )
        limit = files.max_tokens(self.max_tokens)
        return {
            "calibrated": self.calibrated or None,
            "dtype": runtime.precision(self.dtype),
            "max_tokens": limit,
            **files.facts(),
            "trained": self.trained,
        }

    @property
    def limit(self) -> int | None:
        """The limit that was asked for, else that of training, else the model's own."""
        files = self.files()
        return token_limit(files.head.encoder, files.max_tokens(self.max_tokens))

    def vectors_of(self, runtime: Runtime) -> Mapping[Hashable, Sequence[int]]:
        """The vectors that are read, so that metrics of one call share them."""
        files = self.files()
        layers = files.read_layers
        return {files.source(runtime.precision(self.dtype), runtime): layers} if layers else {}

    def _predicted(self, texts: Mapping[str, Sequence[str]], runtime: Runtime, advance: Advance) -> Ratings:
        """What the regressor says of n segments; see `nlgauge.models.regressor.Regressor.score`."""
        model = load_regressor(self._model, runtime.precision(self.dtype), runtime, self.max_tokens)
        return model.score(texts, advance)

    @property
    def trained_on(self) -> tuple[str, ...]:
        """Ids of the perturbations that the regressor was shown in training, as far as its file says."""
        return self.files().head.items("trained_on_phenomena")

    @property
    def notes(self) -> tuple[str, ...]:
        """That the regressor has learnt from people's ratings, and from which, if its file says so."""
        head = self.files().head
        criterion = head.get("criterion")
        return () if criterion is None else (from_ratings(head.get("data") or f"rated for {criterion}"),)

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language, and what to do; None if its languages are not known."""
        return unread_by_model(self.files().head.languages, writing)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values on the scale of the ratings (or 0 to 1 with `rescale`), without bounds.

        The part is `raw`, what the network says; the flags are `empty`, `truncated`, `unknown` and `nonfinite`. An
        empty side gets the lowest rating of training and sets the flag `empty`. A segment with a text of which no piece
        is known is NaN, and one for which the model computes no finite number.

        Raises:
            InputError: a segment lacks what the regressor reads.
        """
        check_needs(self, segments)
        name, files = self.info.name, self.files()
        (low, high), points = files.range, files.calibration
        if self.rescale and not high > low:
            raise InputError(
                f"{name}: the regressor was trained on scores from {low:g} to {high:g}, nothing to rescale by; use"
                " rescale=false"
            )

        def single(segments: Sequence[Segment]) -> Scores:
            columns = {"hyp": [s.hypothesis for s in segments]} if "hyp" in files.texts else {}
            if "ref" in files.texts:
                columns["ref"] = [s.references[0] for s in segments]
            if "src" in files.texts:
                columns["src"] = [s.source or "" for s in segments]
            empty = ~np.array(
                [not any(map(is_blank, row)) for row in zip(*columns.values(), strict=True)], dtype=np.bool_
            )
            raw = np.full(len(segments), low)
            truncated, broken = np.zeros((2, len(segments)), dtype=np.bool_)
            shares = np.zeros(len(segments))
            asked = np.flatnonzero(~empty)
            if len(asked):
                texts_asked = {name: [texts[i] for i in asked] for name, texts in columns.items()}
                with runtime.progress(len({text for texts in texts_asked.values() for text in texts}), name) as advance:
                    found = self._predicted(texts_asked, runtime, advance)
                read = ~found.empty
                empty[asked], asked = found.empty, asked[read]
                values, shares[asked] = found.values[read], found.unknown[read]
                truncated[asked], broken[asked] = found.truncated[read], nonfinite(values)
                raw[asked] = known(values, shares[asked])
            return Scores(
                signature_of(self, runtime),
                ids(segments),
                raw,
                {"raw": raw},
                flags={"empty": empty, "truncated": truncated, "unknown": unknown(shares), "nonfinite": broken},
            )

        scores = over_references(segments, self.references, single) if "ref" in files.texts else single(segments)
        # After the fold, so that segments with several references do not change places either.
        values = calibrate(scores.values, points) if points and self.calibrated else scores.values
        return replace(scores, values=(values - low) / (high - low) if self.rescale else values)
