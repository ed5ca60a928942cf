"""SummaC-ZS: is every sentence of the summary entailed by some sentence of the source?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from nlgauge.core.metric import signature_of
from nlgauge.core.options import checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.nli.model import NliMetric, Questions, anchors, unknown_in
from nlgauge.metrics.references import over_references
from nlgauge.metrics.unknown import known, nonfinite, unknown
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.tokenize import split_sentences

_RANGES = {"e": (0.0, 1.0), "c": (0.0, 1.0), "e-c": (-1.0, 1.0)}


@dataclass(frozen=True, kw_only=True)
class SummaC(NliMetric):
    """For each sentence of the summary, the highest probability over the source's sentences; then the mean over these.

    Args:
        variant: `e` is the highest entailment, `c` is 1 minus the highest contradiction, and `e-c` is the highest
            entailment minus the highest contradiction.
        anchor: what the summary is compared with: `source` or `reference`.
        references: with several references, the `mean` or the `best`.

    References:
        Laban et al. (2022), "SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization",
        section 3.2.1.

        Where this differs from the released code: sentences of ten characters or fewer count too, and so do sentences
        of the source beyond the hundredth.
    """

    variant: Literal["e", "c", "e-c"] = "e"
    anchor: Literal["source", "reference"] = "source"
    references: Literal["mean", "best"] = "mean"
    info: ClassVar = MetricInfo(
        "summac",
        needs={"source"},
        copy_is_best=False,
        cached=True,
        flags={"unknown", "nonfinite"},
        parts={"e": True, "c": False},
        summary="entailment sentence by sentence; a copy need not be best: a model may be surer of another sentence",
        tasks={"as"},
        paper='Laban et al. (2022), "SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in'
        ' Summarization"',
    )

    def __post_init__(self) -> None:
        checked(self)
        self._check_references()
        needs = {"references"} if self.anchor == "reference" else {"source"}
        object.__setattr__(self, "info", replace(type(self).info, needs=needs, range=_RANGES[self.variant]))

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of the variant; parts `e` and `c`, the means of the highest.

        The flags are `empty`, `truncated`, `unknown` and `nonfinite`. An empty side gives the worst value (e 0, c 1)
        and sets the flag `empty`. A segment with a text of which no piece is known is NaN, and one for which the model
        computes no finite number.

        Raises:
            InputError: a segment lacks the anchor; the model cannot be read or is not an NLI model.
        """
        check_needs(self, segments)
        if self.anchor == "source":
            return self._score_single(segments, runtime)
        return over_references(segments, self.references, lambda single: self._score_single(single, runtime))

    def _score_single(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        against = anchors(segments, self.anchor)
        split = {
            text: [] if is_blank(text) else split_sentences(text)
            for text in {*against, *(s.hypothesis for s in segments)}
        }
        # What the tokenizer keeps nothing of, as BERT's of U+FFFD, is no sentence.
        contents = self.loaded(runtime).tokenizer.read(s for found in split.values() for s in found)
        split = {text: [s for s in found if len(contents[s])] for text, found in split.items()}
        shapes, questions = [], Questions()
        for i, (anchor, segment) in enumerate(zip(against, segments, strict=True)):
            rows, columns = split[anchor], split[segment.hypothesis]
            shapes.append((len(rows), len(columns)))
            questions.ask(i, [(premise, hypothesis) for premise in rows for hypothesis in columns])
        e, c = np.zeros(len(segments)), np.ones(len(segments))
        truncated, shares = np.zeros(len(segments), dtype=np.bool_), np.zeros(len(segments))
        empty = np.array([0 in shape for shape in shapes], dtype=np.bool_)
        if questions.pairs:
            model = self.loaded(runtime)
            probabilities, cut = questions.judged(model, contents, runtime, "summac")
            whole = {text: np.concatenate([contents[s] for s in found]) for text, found in split.items() if found}
            asked = np.flatnonzero(~empty)
            texts = [(against[i], segments[i].hypothesis) for i in asked.tolist()]
            shares[asked] = unknown_in(texts, whole, model)
            ends = np.cumsum([rows * columns for rows, columns in shapes])
            for i in asked.tolist():
                n_rows, n_columns = shapes[i]
                part = slice(ends[i] - n_rows * n_columns, ends[i])
                highest = probabilities[part].reshape(n_rows, n_columns, 3).max(axis=0)  # (columns, 3)
                e[i], _, c[i] = highest.mean(axis=0)
                truncated[i] = cut[part].any()
        broken = nonfinite(np.stack([e, c], axis=1))
        e, c = known(e, shares), known(c, shares)
        value = {"e": e, "c": 1 - c, "e-c": e - c}[self.variant]
        flags = {"empty": empty, "truncated": truncated, "unknown": unknown(shares), "nonfinite": broken}
        return Scores(signature_of(self, runtime), ids(segments), value, {"e": e, "c": c}, flags=flags)
