"""Scores of texts by named metrics: the public `score`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Dataset
from nlgauge.metrics.base import Metric
from nlgauge.metrics.languages import LanguageCheck, unread_scripts
from nlgauge.metrics.registry import named
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime


def score(
    hyps: Dataset | Sequence[str] | Mapping[str, Sequence[str]],
    refs: Sequence[str] | Sequence[Sequence[str]] | None = None,
    srcs: Sequence[str] | None = None,
    *,
    metrics: str | Metric | Sequence[str | Metric],
    runtime: Runtime | None = None,
    language: LanguageCheck = "note",
) -> dict[str, Scores]:
    """Score hypotheses with every metric named.

    Args:
        hyps: one text per item, length N; or a mapping from system to such a list; or a `Dataset`, which brings its
            own references and sources.
        refs: `[item][reference]`, or a flat list with one reference per item; length N.
        srcs: one source per item, length N.
        metrics: specifications or metric objects.
        runtime: device, precision and cache; None is the CPU or the first GPU, float32, no cache.
        language: segments in scripts that a metric does not read are noted (`note`), refused before anything is scored
            (`strict`), or not looked for (`off`).

    Returns:
        Specification as typed -> Scores of shape (n,). The key of a metric object is the specification that rebuilds
        it.

    Raises:
        InputError: lengths are unequal, or a segment lacks what a metric needs.
        SpecError: a metric or option is unknown, or one specification occurs twice.
    """
    if isinstance(hyps, Dataset):
        if refs is not None or srcs is not None:
            raise InputError("a Dataset holds its references and sources; leave refs and srcs out")
        segments = hyps.segments
    else:
        segments = Dataset.from_texts(hyps, refs, srcs).segments
    built = named(metrics)
    unread_scripts(built, [segments], language)
    return score_segments(built, segments, runtime or Runtime())
