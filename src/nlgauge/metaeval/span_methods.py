"""Marks of errors that are made on the spot, to be held against those of people."""

from __future__ import annotations

import dataclasses
from typing import Literal, get_args

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan, Explanation, Explanations
from nlgauge.core.options import check_option
from nlgauge.core.segment import Dataset
from nlgauge.core.spec import version
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.explaining import HEAD, explain

SpanMethod = Literal["spans", "words", "everything"]
SPAN_METHODS: tuple[str, ...] = get_args(SpanMethod)
SpanReferences = Literal["own", "first", "source"]


def marks_by(
    method: SpanMethod,
    dataset: Dataset,
    *,
    references: SpanReferences = "own",
    model: str = HEAD,
    runtime: Runtime | None = None,
) -> Explanations:
    """The errors that a method marks in the hypotheses of a data set.

    Args:
        method: `spans` and `words` as in `nlgauge.explain`; `everything` marks each text from its first to its last
            character, which shows what a measure gives for nothing.
        dataset: the texts.
        references: what `spans` and `words` compare a text with: all of its `own` references (where it has none, its
            source), the `first` of them, or the `source` in their place.
        model: the head of `spans`, or a file.
        runtime: device and precision.

    Raises:
        InputError: what `nlgauge.explain` raises.
        MissingExtra: torch is not installed, and the method is `spans`.
    """
    check_option("method", method, SpanMethod, error=InputError)
    check_option("references", references, SpanReferences, error=InputError)
    if method == "everything":
        return _everything(dataset)
    if references == "first":
        kept = [dataclasses.replace(segment, references=segment.references[:1]) for segment in dataset]
        dataset = Dataset(tuple(kept), dataset.name)
    return explain(
        dataset, method=method, against="src" if references == "source" else None, model=model, runtime=runtime
    )


def _everything(dataset: Dataset) -> Explanations:
    rows = tuple(
        Explanation(
            segment.id,
            segment.hypothesis,
            (),
            (ErrorSpan(0, len(segment.hypothesis), "major"),) if segment.hypothesis else (),
            segment.system,
            segment.item,
        )
        for segment in dataset
    )
    signature = f"method:everything|nlgauge:{version('nlgauge')}"
    return Explanations(rows, {"spec": "explain:method=everything", "signature": signature, "higher_is_better": True})
