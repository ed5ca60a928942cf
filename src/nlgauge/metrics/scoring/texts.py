"""Scores of texts by named metrics: the public `score`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import Note, Scores, ScoreSet, say, warning
from nlgauge.core.segment import Dataset, Frame, is_frame
from nlgauge.io.frames import dataset_of
from nlgauge.metrics.base import Metric, MetricLike, cut_words, leave_out
from nlgauge.metrics.catalogue import expanded
from nlgauge.metrics.guards.counting import GuardCheck
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.metrics.looks import Looking, Looks
from nlgauge.metrics.registry import EMBEDDED, metric, named, takes_metrics
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.runtime.runtime import Runtime


@warning
@takes_metrics
def score(
    hyps: Dataset | Frame | Sequence[str] | Mapping[str, Sequence[str]],
    refs: Sequence[str] | Sequence[Sequence[str]] | None = None,
    srcs: Sequence[str] | None = None,
    metrics: MetricLike | Sequence[MetricLike] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
    language: LanguageCheck = "note",
    guards: GuardCheck = "note",
) -> ScoreSet:
    """Score hypotheses with every metric named.

    Args:
        hyps: one text per item, length N; or a mapping from system to such a list; or a `Dataset` or a frame (pandas,
            polars, Arrow, `datasets`) with one row per segment, which brings its own references and sources.
        refs: `[item][reference]`, or a flat list with one reference per item; length N.
        srcs: one source per item, length N; may be left out before metrics.
        metrics: specifications or metric objects; `embedded` names every metric that runs without a download, and
            those of them that need what segments lack are left out with a warning.
        columns: which column of a frame holds which field, where they have other names, as in `nlgauge.read`.
        runtime: device, precision and cache; None is the CPU or the first GPU, float32, no cache.
        language: segments in scripts that a metric does not read are noted (`note`), refused before anything is scored
            (`strict`), or not looked for (`off`).
        guards: texts that guards distrust are counted (`note`), refused before anything is scored (`refuse`), or not
            looked for (`off`).

    Returns:
        A dictionary: specification as typed -> Scores of shape (n,). The key of a metric object is the specification
        that rebuilds it. `to_frame()` has a row per segment and a column per metric.

    Warns:
        ScoreWarning: texts were cut, are empty, distrusted or got no score; one warning counts them by metric.

    Raises:
        InputError: lengths are unequal, a segment lacks what a metric needs, or a text is refused.
        SpecError: a metric or option is unknown, or one specification occurs twice.
    """
    if metrics is None:
        metrics, srcs = _third(srcs), None
    looks = Looks(language, guards)
    return score_and_look(texts_as_dataset(hyps, refs, srcs, columns), metrics, runtime, looks)[0]


def _third(given: Any) -> MetricLike | Sequence[MetricLike]:
    """What stands in the place of sources where no metrics are named: the metrics.

    Raises:
        InputError: it is none.
    """
    listed = [given] if isinstance(given, str) or not isinstance(given, Sequence) else given
    try:
        for one in () if listed == [EMBEDDED] else listed[:1]:
            metric(one)
    except SpecError as error:
        said = "" if given is None else f"; the third argument holds none: {error}"
        raise InputError(f'score() is given no metrics, as in metrics=["bleu", "chrf"]{said}') from None
    found: MetricLike | Sequence[MetricLike] = given
    return found


def score_and_look(
    data: Dataset, metrics: MetricLike | Sequence[MetricLike], runtime: Runtime | None, looks: Looks
) -> tuple[ScoreSet, Looking]:
    """The scores of `score`, and what looks found in the texts."""
    segments = data.segments
    systems, items = tuple(s.system for s in segments), tuple(s.item for s in segments)
    asked, optional = expanded(metrics)
    runtime = runtime or Runtime()
    built, left = leave_out(named(asked, runtime.encoder), optional, segments)
    looking = looks.seen(built, segments)
    found = score_segments(built, segments, runtime) if segments else _nothing(built, runtime)
    own = {spec: [*scores.flag_notes(spec, cut=cut_words(built[spec]))] for spec, scores in found.items()}
    about_metrics, about_input = _parted(looking.notes())
    say(*left, *about_metrics, *chain.from_iterable(own.values()), *about_input)
    scored = ScoreSet()
    for spec, scores in found.items():
        scored[spec] = replace(
            scores,
            name=spec,
            systems=systems,
            items=items,
            notes=(*left, *about_metrics, *own[spec], *scores.notes, *about_input),
        )
    return scored, looking


def _nothing(metrics: Mapping[str, Metric], runtime: Runtime) -> dict[str, Scores]:
    """The scores of no segments: no metric is asked, since some cannot be without any."""
    return {
        spec: Scores(signature_of(metric, runtime), (), np.empty(0), higher_is_better=metric.info.higher_is_better)
        for spec, metric in metrics.items()
    }


def _parted(notes: Sequence[str]) -> tuple[list[str], list[str]]:
    """Notes about metrics, and notes about the input: a warning shows the first, and a score tells more than a text."""
    of_input: list[str] = [note for note in notes if isinstance(note, Note) and note.about == "input"]
    return [note for note in notes if note not in of_input], of_input


def texts_as_dataset(
    hyps: Dataset | Frame | Sequence[str] | Mapping[str, Sequence[str]],
    refs: Sequence[str] | Sequence[Sequence[str]] | None,
    srcs: Sequence[str] | None,
    columns: Mapping[str, str] | None,
) -> Dataset:
    """The texts given to `score`, as one data set."""
    if not isinstance(hyps, Dataset) and not is_frame(hyps):
        if columns is not None:
            raise InputError("columns are named for a frame; lists of texts have none")
        return Dataset.from_texts(hyps, refs, srcs)
    if refs is not None or srcs is not None:
        column = ", or give one column per argument: hyps=frame[...], refs=frame[...]" if is_frame(hyps) else ""
        raise InputError(f"a {type(hyps).__name__} holds its references and sources; leave refs and srcs out{column}")
    return dataset_of(hyps, columns)
