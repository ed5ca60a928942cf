"""Fluency without a reference: how well a masked language model can guess each piece of a text from the others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.options import Checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.generation.model import FLAGS, judged
from nlgauge.metrics.languages import unread_by_model
from nlgauge.models.filler import MaskedModel, load_infill, pseudo_likelihoods
from nlgauge.models.generation import worst_of
from nlgauge.models.infill import DEFAULT, InfillFiles, locate_infill
from nlgauge.models.tokens import token_limit
from nlgauge.runtime.runtime import DType, Runtime
from nlgauge.text.scripts import Writing


@dataclass(frozen=True, kw_only=True)
class Fluency(Checked, BaseMetric):
    """Mean log-probability of the pieces of a text, each masked in turn: its pseudo-log-likelihood per piece.

    Args:
        model: `infill` (comes with the package), the file of a head, a folder with a masked language model, or its id
            on the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        dtype: the precision of the model; None takes the runtime's.

    References:
        Salazar et al. (2020), "Masked Language Model Scoring", section 2. Here the sum is divided by the number of
        pieces, so that long texts are not worse for their length.
    """

    model: str = DEFAULT
    revision: str | None = None
    dtype: DType | None = None
    info: ClassVar[MetricInfo] = MetricInfo(
        "fluency",
        needs=frozenset(),
        range=(-math.inf, 0.0),
        copy_is_best=False,
        cached=True,
        flags=FLAGS,
        summary="pseudo-log-likelihood of the hypothesis under a small masked language model; it reads nothing else",
        tasks=TASKS,
        paper='Salazar et al. (2020), "Masked Language Model Scoring"',
    )

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        return {"dtype": runtime.precision(self.dtype), **self._found().facts()}

    @property
    def limit(self) -> int | None:
        """That of training, else the model's own."""
        files = self._found()
        return token_limit(files.files, files.max_tokens())

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language, and what to do; None if its languages are not known."""
        found = self._found()
        languages = found.files.languages if found.head is None else found.head.languages
        return unread_by_model(languages, writing)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of at most 0, without a lower bound; flags `empty`, `truncated`, `unknown` and `nonfinite`.

        An empty hypothesis gives -2 ln V for a vocabulary of V pieces, which is twice what a guess among all pieces
        costs, and sets the flag `empty`. A hypothesis of which no piece is known is NaN, and one for which the model
        computes no finite number.

        Raises:
            InputError: the model cannot be read, or is no masked language model.
        """
        check_needs(self, segments)
        self._found()
        model = load_infill(self.model, self.revision, runtime.precision(self.dtype), runtime)
        assert isinstance(model, MaskedModel)
        texts = {s.hypothesis: None for s in segments}
        number = {text: n for n, text in enumerate(texts)}
        with runtime.progress(len(texts), "fluency") as advance:
            found = pseudo_likelihoods(model, list(texts), advance)
        worst = worst_of(len(model.tokenizer.vocabulary))
        means, flags = judged(found.sums, found.counts, found.counts == 0, found.truncated, found.unknown, worst)
        places = [number[s.hypothesis] for s in segments]
        each = {name: column[places] for name, column in flags.items()}
        return Scores(signature_of(self, runtime), ids(segments), means[places], flags=each)

    def _found(self) -> InfillFiles:
        found = locate_infill(self.model, self.revision)
        if found.phrases:
            raise InputError(
                f"fluency: model {self.model!r} is an encoder-decoder, expected a masked language model (BERT, RoBERTa,"
                " ...)"
            )
        return found
