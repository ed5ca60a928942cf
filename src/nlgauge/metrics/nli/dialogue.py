"""BERT-NLI for dialogue: does a response follow from what was said before?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Mask
from nlgauge.core.errors import SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.options import Range, checked
from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.core.segment import Segment, said
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.nli.menli import FORMULAS, Nli
from nlgauge.metrics.nli.model import NliMetric
from nlgauge.runtime.runtime import Runtime


@dataclass(frozen=True, kw_only=True)
class BertNli(NliMetric):
    """A formula of how far a response (the hypothesis) is entailed by its dialogue context (the premise).

    Args:
        formula: `e`, `-c`, `e-n`, `e-c` or `e-n-2c`, as in `nli`.
        anchor: the premise: the turns of `context`, in order, with a blank between them; or the `source`, where it
            holds what was said before.
        turns: how many of the last turns are read; None reads all of them.

    References:
        Dziri et al. (2019), "Evaluating Coherence in Dialogue Systems using Entailment", section 3.2. The authors
        train their models on dialogues; the models here were trained on general NLI data.
    """

    formula: Literal["e", "-c", "e-n", "e-c", "e-n-2c"] = "e"
    anchor: Literal["context", "source"] = "context"
    turns: Annotated[int, Range(least=1)] | None = None
    info: ClassVar = MetricInfo(
        "bert-nli",
        needs={"context"},
        copy_is_best=False,
        cached=True,
        flags={"unknown", "nonfinite"},
        parts={"e": True, "n": None, "c": False},
        summary="entailment of a response by its dialogue context (Dziri et al. 2019)",
        tasks={"dg"},
        paper='Dziri et al. (2019), "Evaluating Coherence in Dialogue Systems using Entailment"',
    )
    lacking: ClassVar = {"context": "; with what was said before as the source, use bert-nli:anchor=source"}

    def __post_init__(self) -> None:
        checked(self)
        if self.anchor == "source" and self.turns is not None:
            raise SpecError(f"bert-nli:turns={self.turns} changes nothing under anchor=source; leave it out")
        about = replace(type(self).info, needs={self.anchor}, range=FORMULAS[self.formula][1])
        object.__setattr__(self, "info", about)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of the formula; parts `e`, `n`, `c`; flags `empty`, `truncated`, `unknown` and `nonfinite`.

        A context that does not fit beside its response loses its oldest turns, and the flag `truncated` is set. A blank
        response, or a context in which nothing was said, gives the formula's worst value and sets the flag `empty`.

        Raises:
            InputError: a segment lacks its context or source; the model cannot be read or is not an NLI model.
        """
        check_needs(self, segments)
        premises, cut = self._premises(segments, runtime)
        shared = {field.name: getattr(self, field.name) for field in fields(NliMetric)}
        forward = Nli(**shared, formula=self.formula, direction="forward", anchor="source")
        scores = forward.score([replace(s, source=p) for s, p in zip(segments, premises, strict=True)], runtime)
        flags = {**scores.flags, "truncated": scores.flags["truncated"] | cut}
        return replace(scores, signature=signature_of(self, runtime), flags=flags)

    def _premises(self, segments: Sequence[Segment], runtime: Runtime) -> tuple[list[str], Mask]:
        """The premise of each segment, and whether turns that should be read were left out, shape (n,)."""
        cut = np.zeros(len(segments), dtype=np.bool_)
        if self.anchor == "source":
            return [s.source or "" for s in segments], cut
        kept = [said(s.context, self.turns) for s in segments]
        tokenizer = self.loaded(runtime).tokenizer if any(len(turns) > 1 for turns in kept) else None
        if tokenizer is not None and tokenizer.room is not None:
            texts = {text for turns in kept for text in turns} | {s.hypothesis.strip() for s in segments}
            sizes = {text: len(pieces) for text, pieces in tokenizer.read(texts).items()}
            for i, s in enumerate(segments):
                room = max(tokenizer.room - sizes[s.hypothesis.strip()], tokenizer.room // 2)
                # Counted from the end: how many turns fit together; the last one is read in any case.
                ends = np.cumsum([sizes[text] for text in kept[i][::-1]])
                n = max(1, int(np.searchsorted(ends, room, side="right")))
                cut[i], kept[i] = n < len(kept[i]), kept[i][-n:]
        return [" ".join(turns) for turns in kept], cut
