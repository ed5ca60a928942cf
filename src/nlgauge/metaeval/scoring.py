"""Scores of the judged segments, made under one policy for references; and the direction of scores made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import Scores, ids, join, say
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.core.tables import ScoreTable
from nlgauge.metaeval.align import column, listed
from nlgauge.metrics.base import Metric, check_needs, cut_words, is_pooled, notes_of
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.metrics.run import score_segments
from nlgauge.metrics.stored import direction_of
from nlgauge.metrics.wrapped import ReferencePolicyMetric
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import Looks

References = Literal["own", "mean", "best", "best_each", "first", "source"]
REFERENCES = ("own", "mean", "best", "best_each", "first", "source")
_ALSO = {"max": "best", "joint": "own"}


def references_policy(name: str | None) -> References:
    """The references policy with this name; `max` means `best`, and None and `joint` mean `own`.

    Raises:
        InputError: the policy is unknown; the error gives the nearest known name.
    """
    policy = "own" if name is None else _ALSO.get(name, name)
    if policy not in REFERENCES:
        raise InputError(f"references is {name!r}{nearest(str(name), (*REFERENCES, *_ALSO))}")
    return policy  # type: ignore[return-value]


def score_judged(
    metrics: Mapping[str, Metric],
    segments: Sequence[Segment],
    runtime: Runtime,
    references: str | None = None,
    language: LanguageCheck = "note",
) -> tuple[dict[str, Scores], list[str]]:
    """Score the segments by each metric; the scores are in the order of the segments.

    A `pooled` metric (idf, min-max) sees one group at a time, so that one language pair or task does not affect the
    scores of another; see `MetricInfo`.

    Returns:
        A mapping from name to Scores, and notes: what the metrics say of themselves, which are pooled, which segments
        have odd texts, and which are in a script that a metric does not read.

    Raises:
        InputError: segments lack what a metric needs; or, if `language` is `strict`, are in a script that it does not
            read.
    """
    held = readable(metrics, segments, references)
    for built in held.values():
        signature_of(built, runtime)  # a model that is missing is refused before another is asked
    odd = Looks(language).seen(held, segments if held else (), "judged segments").notes()
    found = score_segments({name: built for name, built in held.items() if not is_pooled(built)}, segments, runtime)
    groups = list(dict.fromkeys(s.group for s in segments))
    notes = [f"{name}: {note}" for name, built in metrics.items() for note in notes_of(built)]
    for name, built in held.items():
        if not is_pooled(built):
            continue
        found[name] = _by_group(name, built, segments, groups, runtime)
        if len(groups) > 1:
            notes.append(f"{name} is pooled: scored in each of {len(groups)} groups by itself")
    counted = [
        note
        for name, built in held.items()
        for note in found[name].flag_notes(name, "judged segments", None, cut_words(built))
    ]
    flagged = [*odd, *counted]
    say(*flagged)
    return {name: found[name] for name in held}, [*notes, *flagged]


def _by_group(
    name: str, built: Metric, segments: Sequence[Segment], groups: Sequence[str | None], runtime: Runtime
) -> Scores:
    parts = [score_segments({name: built}, [s for s in segments if s.group == g], runtime)[name] for g in groups]
    whole = join(parts)
    places = {own: i for i, own in enumerate(whole.ids)}
    return whole.take([places[s.id] for s in segments])


def readable(
    metrics: Mapping[str, Metric], segments: Sequence[Segment], references: str | None = None
) -> dict[str, Metric]:
    """The metrics under a policy for references; segments that lack what one of them reads are refused.

    Raises:
        InputError: the policy is unknown, or a segment lacks something. If sources could replace the references, the
            error says so.
    """
    policy = references_policy(references)
    held: dict[str, Metric] = (
        dict(metrics)
        if policy == "own"
        else {name: ReferencePolicyMetric(built, policy) for name, built in metrics.items()}
    )
    for name, built in held.items():
        if (
            "references" in built.info.needs
            and segments
            and not any(s.references for s in segments)
            and all(s.source for s in segments)
        ):
            raise InputError(
                f"{name} needs references and no segment has any; references='source' takes the source for the"
                " reference"
            )
        check_needs(built, segments)
    return held


def stand_ins(
    metrics: Mapping[str, Metric], segments: Sequence[Segment], baseline: str | None = None
) -> dict[str, Scores]:
    """Random numbers in place of the scores of the first two metrics, and of the one that others are tested against.

    What is refused with them, such as a test that does not go with a statistic, is refused before anything is scored.
    """
    return {
        name: Scores(
            Signature(name, ()),
            ids(segments),
            np.random.default_rng(place).random(len(segments)),
            higher_is_better=built.info.higher_is_better,
        )
        for place, (name, built) in enumerate(metrics.items())
        if place < 2 or name == baseline
    }


def by_level(stored: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, ScoreTable]]:
    """The scores of segments, and the tables of systems; a metric may have both."""
    of_segments: dict[str, Any] = {}
    of_systems: dict[str, ScoreTable] = {}
    for name, values in stored.items():
        both = isinstance(values, tuple) and all(isinstance(table, ScoreTable) for table in values)
        for part in values if both else (values,):
            is_system = isinstance(part, ScoreTable) and part.level == "system"
            (of_systems if is_system else of_segments)[name] = part
    return of_segments, of_systems


def stored_columns(
    stored: Mapping[str, Any], segments: Sequence[Segment], up: Mapping[str, bool]
) -> tuple[dict[str, Scores], list[str]]:
    """Segment scores that were made elsewhere, and notes on what was not used."""
    columns: dict[str, Scores] = {}
    notes: list[str] = []
    places: dict[int, Any] = {}  # of each table, which may hold many columns
    named = ids(segments)
    for name, values in stored.items():
        if isinstance(values, ScoreTable):
            if id(values) not in places:
                places[id(values)] = values.places(segments)
            columns[name], more = column(values, name, segments, up[name], places[id(values)], named)
        else:
            columns[name], more = listed(values, name, segments, up[name])
        notes += more
    tables = {id(table): table for table in stored.values() if isinstance(table, ScoreTable)}
    return columns, [*notes, *(note for table in tables.values() for note in table.notes)]


def directions(stored: Mapping[str, Any], given: Mapping[str, bool]) -> tuple[dict[str, bool], list[str]]:
    """Whether higher is better, for each column of scores.

    Args:
        stored: name -> a table with a column of that name, `Scores`, a mapping from id to number, or numbers.
        given: name -> what the caller says.

    Returns:
        Name -> whether higher is better; and notes on what nobody says, with the option that does.
    """
    up: dict[str, bool] = {}
    told: dict[tuple[str, str], list[str]] = {}
    for name, values in stored.items():
        if isinstance(values, Scores):
            up[name] = values.higher_is_better
        elif name in given:
            up[name] = given[name]
        else:
            origin = values.origins.get(name) if isinstance(values, ScoreTable) else None
            recorded = None if origin is None else origin.higher_is_better
            up[name], said = direction_of(name, _numbers(values, name), recorded)
            if said:
                told.setdefault((said, "lower" if up[name] else "higher"), []).append(name)
    return up, [
        f"{', '.join(names)}: {said}; --{other}-is-better NAME changes that (in Python {other}_is_better)"
        for (said, other), names in told.items()
    ]


def _numbers(values: Any, name: str) -> Array:
    if isinstance(values, ScoreTable):
        return values.column(name)
    listed = values.values() if isinstance(values, Mapping) else values
    return np.array([np.nan if value is None else value for value in listed], dtype=np.float64)
