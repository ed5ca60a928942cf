"""What did each system write for each item, how is it scored, and how is it kept as a baseline?

Rows of one item are runs of one system, never items of their own.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.inputs import INPUTS, what_to_do
from nlgauge.core.metric import BaseMetric, check_needs, cut_words
from nlgauge.core.result import null_if_nan, replacing
from nlgauge.core.scores import Note, Scores
from nlgauge.core.segment import Dataset, Segment, repeated
from nlgauge.core.spec import version
from nlgauge.io.files import InputFile
from nlgauge.io.ratings import read_card
from nlgauge.io.results import strict_json
from nlgauge.metrics.function import RatingColumn
from nlgauge.metrics.judging import Judge
from nlgauge.metrics.run import score_segments
from nlgauge.metrics.stored import Stored
from nlgauge.runtime.runtime import Runtime

_SHOWN = 5  # ids in an error
_SOME_SHARED = (
    "a gate compares the same items: give all of them, or judge those that both have with --common (common=True)"
)
_NONE_SHARED = (
    "the ids have nothing in common, so name the key of items with --columns seg=NAME (columns={'seg': NAME})"
)


@dataclass(frozen=True)
class Outputs:
    """The texts of one system.

    Attributes:
        name: what errors call it: a file, or BASE and NEW.
        items: item -> its runs, of which each has at least one, in the order of the data.
        inputs: item -> the digest of what it was written for, where the runs themselves do not hold it.
        files: the files that were read, as in a result.
        notes: what a reader must know of them.
    """

    name: str
    items: Mapping[str, tuple[Segment, ...]]
    inputs: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Mapping[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, data: Dataset, name: str, system: str | None = None, files: Sequence[Mapping[str, str]] = ()
    ) -> Outputs:
        """The outputs of one system of a data set, by item.

        The key of an item is its `seg`, with the group before it where several groups have the same; without `seg` it
        is the id.

        Raises:
            InputError: there is no segment, or there are several systems and none is named.
        """
        segments = data.segments
        known = [one for one in data.systems if one is not None]
        if system is not None:
            if system not in known:
                raise InputError(f"{name} has no system {system!r}{nearest(system, known)}")
            segments = tuple(s for s in segments if s.system == system)
        elif len(data.systems) > 1:
            listed = ", ".join(map(repr, data.systems[:_SHOWN]))
            raise InputError(
                f"{name} holds {len(data.systems)} systems ({listed}), expected one; name it as the system"
            )
        if not segments:
            raise InputError(f"{name} holds no segment, expected at least one")
        lacking = next((s.id for s in segments if s.item is None), None)
        if lacking is not None and any(s.item is not None for s in segments):
            raise InputError(f"{name}: segment {lacking!r} names no item (seg) and others do; give all or none of them")
        return cls(name, _by_item(segments), files=tuple(files), notes=data.notes)

    @property
    def segments(self) -> list[Segment]:
        """All runs, item by item."""
        return [run for runs in self.items.values() for run in runs]

    @property
    def groups(self) -> list[str | None]:
        """The group of each item."""
        return [runs[0].group for runs in self.items.values()]

    def digest(self, item: str) -> str:
        """The digest of what an item was written for."""
        return self.inputs.get(item) or inputs_digest(self.items[item][0])


def from_texts(
    hyps: Any,
    name: str,
    references: Any = None,
    sources: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> Dataset:
    """Texts in lists as a data set: one hypothesis per item, or a list of runs.

    Args:
        hyps: length n; each a text, or a list of the texts of its runs.
        name: what errors call them.
        references: `[item][reference]`, or one per item.
        sources: one per item.
        ids: the id of each item; by default they count from 1.
        groups: the group of each item.

    Raises:
        InputError: lengths differ, an id occurs twice, or an item has no text.
    """
    texts = [_runs(given, name, i) for i, given in enumerate(hyps)]
    firsts = [runs[0] if runs else "" for runs in texts]
    templates = Dataset.from_texts(firsts, references, sources).segments
    names = list(map(str, ids)) if ids is not None else [str(i) for i in range(1, len(texts) + 1)]
    for what, column in (("ids", names), ("groups", groups)):
        if column is not None and len(column) != len(texts):
            raise InputError(f"{name}: {len(texts)} items but {len(column)} {what}; give one per item")
    twice = repeated(names)
    if twice is not None:
        raise InputError(f"{name}: id {twice!r} occurs twice, expected once; runs of one item are a list of texts")
    segments = []
    for i, (runs, template) in enumerate(zip(texts, templates, strict=True)):
        for k, text in enumerate(runs, 1):
            about: dict[str, Any] = {"item": names[i], "group": None if groups is None else str(groups[i])}
            segments.append(replace(template, id=names[i] if k == 1 else f"{names[i]}#{k}", hypothesis=text, **about))
        if not runs:
            raise InputError(f"{name}: item {names[i]!r} has no run, expected at least one text")
    return Dataset(tuple(segments), name)


def _runs(given: Any, name: str, place: int) -> list[str]:
    runs = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    for run in runs:
        if not isinstance(run, str):
            what = f"{name}: entry {place} holds {type(run).__name__}"
            raise InputError(f"{what}, expected a text, or a list of the texts of its runs")
    return runs


def _by_item(segments: Sequence[Segment]) -> dict[str, tuple[Segment, ...]]:
    """Item -> its runs; an item that several groups have is named with its group."""
    groups: dict[str, set[str | None]] = {}
    for segment in segments:
        groups.setdefault(segment.item or segment.id, set()).add(segment.group)
    in_several = {item for item, its_groups in groups.items() if len(its_groups) > 1}
    items: dict[str, list[Segment]] = {}
    for segment in segments:
        item = segment.item or segment.id
        items.setdefault(f"{segment.group}:{item}" if item in in_several else item, []).append(segment)
    return {item: tuple(runs) for item, runs in items.items()}


def paired(base: Outputs, new: Outputs, common: bool = False) -> tuple[Outputs, Outputs]:
    """Both sides with the same items in the order of BASE; inputs that one side leaves out are those of the other.

    Args:
        common: take the items that both have, written for the same, with a note where that is not all.

    Raises:
        InputError: an item is missing on one side, or was written for something else there.
    """
    n_all = len(base.items), len(new.items)
    shared = [item for item in base.items if item in new.items]
    if common and shared:
        base, new = _only(base, shared), _only(new, shared)
    for one, other in ((base, new), (new, base)):
        lacking = [item for item in one.items if item not in other.items]
        if lacking:
            more = f" and {len(lacking) - _SHOWN} more" if len(lacking) > _SHOWN else ""
            raise InputError(
                f"{other.name} lacks {len(lacking)} of {len(one.items)} items of {one.name}"
                f" ({', '.join(map(repr, lacking[:_SHOWN]))}{more}); {_SOME_SHARED if shared else _NONE_SHARED}"
            )
    base = replace(base, items=_with_inputs(base.items, new.items))
    new = replace(new, items=_with_inputs({item: new.items[item] for item in base.items}, base.items))
    alike = [item for item in base.items if base.digest(item) == new.digest(item)]
    others = [item for item in base.items if item not in {*alike}] if len(alike) < len(base.items) else []
    if others and not (common and alike):
        what = "is it another set? compare outputs for the same inputs"
        what = what_to_do(map(base.digest, others), map(new.digest, others), what)
        where = f"in {new.name} than in {base.name}"
        raise InputError(f"item {others[0]!r} has other references, or another source or context, {where}: {what}")
    if n_all != (len(alike), len(alike)):
        note = f"only {len(alike)} items that both sides have are judged, of {n_all[0]} in BASE and {n_all[1]} in NEW"
        return replace(_only(base, alike), notes=(*base.notes, note)), _only(new, alike)
    return base, new


def _only(side: Outputs, items: Sequence[str]) -> Outputs:
    return replace(side, items={item: side.items[item] for item in items})


def _with_inputs(
    items: Mapping[str, tuple[Segment, ...]], other: Mapping[str, tuple[Segment, ...]]
) -> dict[str, tuple[Segment, ...]]:
    """Runs in which the fields of `INPUTS`, and the group, are those of the other side where they are missing."""

    def filled(run: Segment, example: Segment) -> Segment:
        lacking = {
            name: getattr(example, name)
            for name in (*INPUTS, "group")
            if not getattr(run, name) and getattr(example, name)
        }
        return replace(run, **lacking) if lacking else run

    return {item: tuple(filled(run, other[item][0]) for run in runs) for item, runs in items.items()}


def inputs_digest(segment: Segment) -> str:
    """The digest of everything a hypothesis is compared with."""
    return text_digest(repr([getattr(segment, name) for name in INPUTS]))


def text_digest(text: str) -> str:
    """The digest of one text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def clusters_of(groups: Sequence[str | None]) -> list[str] | None:
    """The cluster of each item: its group. None where items have one group, or each its own."""
    named = [f"item {i}" if group is None else f"group {group}" for i, group in enumerate(groups)]
    return named if 1 < len(set(named)) < len(named) else None


def same_texts(base: Outputs, new: Outputs) -> Mask:
    """Whether both sides wrote the same for each item, in any order of runs, shape (n,)."""

    def written(side: Outputs) -> list[str | list[str]]:
        return [
            runs[0].hypothesis if len(runs) == 1 else sorted(run.hypothesis for run in runs)
            for runs in side.items.values()
        ]

    return np.array([one == other for one, other in zip(written(base), written(new), strict=True)])


# --- Judges in a gate: none may decide without a card that says how far it agrees with people


def check_cards(metrics: Mapping[str, BaseMetric], report_only: frozenset[str], cards: Sequence[str]) -> list[str]:
    """A note for each judge that decides, with what its card says.

    Args:
        cards: the files of the cards, `nlgauge.io.write_card`.

    Raises:
        InputError: a judge that decides has no card with its model and the digest of its prompt, or stands in another
            metric, where the card cannot be held against it; a card is of no judge here, or cannot be read.
    """
    by_path = {path: read_card(path) for path in cards}
    judges = {spec: metric for spec, metric in metrics.items() if isinstance(metric, Judge)}
    for spec in metrics.keys() - judges.keys() - report_only:
        if re.search(r"\bjudge\b", spec):
            raise InputError(f"{spec!r}: a judge inside another metric has no card; name it alone, or --report-only")
    notes, used = [], set()
    for spec, judge in judges.items():
        own = judge.model, judge.prompt_sha256
        fitting = [path for path, card in by_path.items() if (card.model, card.prompt_sha256) == own]
        used.update(fitting)
        if spec in report_only:
            continue
        if not fitting:
            raise InputError(
                f"{spec!r} has no judge card, expected one with model {judge.model!r} and prompt_sha256"
                f" {judge.prompt_sha256!r}; or --report-only"
            )
        card = by_path[fitting[0]]
        more = (
            ""
            if (prompts := card.prompts) is None
            else (
                f"; under {prompts.tried} prompts the label of {prompts.dependent / prompts.n:.0%} of {prompts.n} items"
                f" depends on the prompt, kappa {prompts.kappa:.2f} between two"
            )
        )
        notes.append(
            f"{spec}: kappa {card.kappa:.2f} with people on {card.n} items, the commonest label has"
            f" {card.base_rate:.0%} ({card.label_policy}; {card.date}; {fitting[0]}){more}"
        )
    if spare := [path for path in by_path if path not in used]:
        card = by_path[spare[0]]
        raise InputError(f"{spare[0]}: a card of {card.model!r} with another prompt or model than any judge here")
    return notes


# --- What do the metrics say of both sides? Scores of every run, and one difference per item


@dataclass(frozen=True)
class ScoredSide:
    """One side with its scores.

    Attributes:
        runs: specification -> the scores of the runs of each item, in the order of items.
        signatures: specification -> what determines the scores.
        notes: counts of texts that were cut, are empty or have no score.
    """

    outputs: Outputs
    runs: Mapping[str, Sequence[Array]]
    signatures: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def over(self, outputs: Outputs) -> ScoredSide:
        """The same scores for the same items in another order."""
        places = {item: i for i, item in enumerate(self.outputs.items)}
        order = [places[item] for item in outputs.items]
        runs = {spec: [scores[i] for i in order] for spec, scores in self.runs.items()}
        return replace(self, outputs=outputs, runs=runs)


def score_side(outputs: Outputs, metrics: Mapping[str, BaseMetric], runtime: Runtime) -> ScoredSide:
    """Score all runs of one side."""
    return _scored(outputs, score_segments(metrics, outputs.segments, runtime), metrics)


def score_sides(sides: Sequence[Outputs], metrics: Mapping[str, BaseMetric], runtime: Runtime) -> list[ScoredSide]:
    """Score all sides in one call: references are read once, and a metric that depends on all texts sees all.

    To a metric that compares the outputs of a system with each other, as `distinct`, each side is a system.
    """
    segments = [run for side in sides for run in side.segments]
    for built in metrics.values():
        check_needs(built, segments, runtime)
    alone = {spec: built for spec, built in metrics.items() if not built.pooled}
    pooled = {spec: built for spec, built in metrics.items() if built.pooled}
    scores = score_segments(alone, segments, runtime) if alone else {}
    # As those of one system each, under ids that no other side has: a pooled metric sees all sides as one list.
    renamed = [replace(run, id=f"{i}:{run.id}", system=str(i)) for i, side in enumerate(sides) for run in side.segments]
    scores |= score_segments(pooled, renamed, runtime) if pooled else {}
    ends = list(accumulate((len(side.segments) for side in sides), initial=0))
    return [
        _scored(side, {spec: scores[spec].take(np.arange(*places)) for spec in metrics}, metrics)
        for side, places in zip(sides, pairwise(ends), strict=True)
    ]


def _scored(outputs: Outputs, found: Mapping[str, Scores], metrics: Mapping[str, BaseMetric]) -> ScoredSide:
    ends = list(accumulate(map(len, outputs.items.values())))[:-1]
    notes = [
        note.after(f"{outputs.name}: ") if isinstance(note, Note) else note
        for spec, scores in found.items()
        for note in scores.flag_notes(spec, undefined=None, cut=cut_words(metrics[spec]))
    ]
    return ScoredSide(
        outputs,
        {spec: np.split(scores.values, ends) for spec, scores in found.items()},
        {spec: str(scores.signature) for spec, scores in found.items()},
        tuple(notes),
    )


def described(metrics: Mapping[str, BaseMetric], side: ScoredSide) -> list[dict[str, Any]]:
    """The metrics with their signatures, as a result has them."""
    return [
        {"spec": spec, "signature": side.signatures[spec], "higher_is_better": one.info.higher_is_better}
        | ({} if one.info.judges else {"judges": False})
        for spec, one in metrics.items()
    ]


@dataclass(frozen=True)
class Differences:
    """One metric on both sides.

    Attributes:
        base, new: the mean score of each item, shape (n,), in the metric's own direction.
        values: by how much the new side is better, shape (n,); NaN where either side has no score.
        lost: items that have a score in BASE and none in NEW, shape (n,).
        is_rate: whether all scores are 0 or 1, one run each.
        largest: the width of the scale; None where it has no limits.
        falls: whether lower scores are better.
        runs: the scores of the runs of each item, of both sides.
        at_stake: what an item loses that falls to the worst score; None where there is none.
        in_reach: what an item gains that rises to the best score; None where there is none.
        taken: the scale that was taken from the scores, since none is known; None where one is.
    """

    base: Array
    new: Array
    values: Array
    lost: Mask
    is_rate: bool
    largest: float | None
    falls: bool
    runs: tuple[Sequence[Array], Sequence[Array]]
    at_stake: float | None = None
    in_reach: float | None = None
    taken: tuple[float, float] | None = None


def differences(
    spec: str,
    metric: BaseMetric,
    base: ScoredSide,
    new: ScoredSide,
    undefined: str,
    scale: tuple[float, float] | None = None,
) -> Differences:
    """The differences of a metric, turned so that below 0 is worse; what is none is 0.

    An item of several runs has the mean of those with a score; in NEW all runs must have one.

    Args:
        undefined: `worst` gives runs of NEW without a score the worst one.
        scale: the lowest and the highest score of a metric that has no limits of its own.

    Raises:
        InputError: the worst score is asked for, and the metric has none; or a score lies outside the scale.
    """
    low, high = metric.info.range if scale is None else scale
    up = metric.info.higher_is_better
    worst_of_range = low if up else high
    base_runs, new_runs = base.runs[spec], new.runs[spec]
    if undefined == "worst" and any(np.isnan(scores).any() for scores in new_runs):
        if not math.isfinite(worst_of_range):
            raise InputError(
                f"{spec} has no worst score, which undefined='worst' gives to a text without one;"
                " choose fail or drop, or name its scale with --scale LOW:HIGH (scale=(LOW, HIGH))"
            )
        new_runs = [np.where(np.isnan(scores), worst_of_range, scores) for scores in new_runs]
    before, after = run_means([scores[~np.isnan(scores)] for scores in base_runs]), run_means(new_runs)
    known = np.concatenate([*base_runs, *new_runs])
    known = known[~np.isnan(known)]
    if scale is not None and ((known < low) | (known > high)).any():
        found = f"{spec} has scores from {known.min():g} to {known.max():g}"
        raise InputError(f"{found}, expected {low:g} to {high:g}; name a scale that holds them all")
    is_binary = bool(np.isin(known, (0.0, 1.0)).all()) and not (math.isfinite(high - low) and high - low != 1)
    one_each = max(map(len, [*base_runs, *new_runs])) == 1
    largest = high - low if math.isfinite(high - low) else 1.0 if is_binary else None
    after = np.where(_is_none(spec, metric, base, new, before, after), before, after)
    values = (after - before) if up else (before - after)
    taken = None if is_binary or scale is not None or _reads_texts(metric) else usual_scale(known)
    low, high = (0.0, 1.0) if is_binary else taken or (low, high)
    worst, best = (low, high) if up else (high, low)
    return Differences(
        before,
        after,
        values,
        np.isnan(after) & ~np.isnan(before),
        is_binary and one_each,
        largest,
        not up,
        (base_runs, new_runs),
        _at_stake(np.abs(before - worst), values) if math.isfinite(worst) else None,
        _at_stake(np.abs(best - before), -values) if math.isfinite(best) else None,
        taken,
    )


def _at_stake(room: Array, values: Array) -> float | None:
    """The loss of an item that falls to the worst score, of which any item is as likely as another to be the one.

    Items count by what they have to lose, since one that has nothing cannot show that it fell; and no less is at stake
    than was lost. With gains in place of losses: what an item gains that rises to the best score.
    """
    known = ~np.isnan(values)
    room = room[known]
    return float(max((room**2).sum() / room.sum(), -values[known].min())) if room.any() else None


def run_means(runs: Sequence[Array]) -> Array:
    """The mean score of the runs of each item, shape (n,); NaN where a run has none, or there is no run."""
    if all(len(scores) == 1 for scores in runs):
        return np.concatenate(runs)
    return np.array([scores.mean() if len(scores) else math.nan for scores in runs])


# --- What is no difference, and which scale do scores have that were made elsewhere?

_MODEL, _WORDS = 2e-5, 1e-9  # the most that docs/promises.md lets a score of a model move; sums of float64
_TOPS = (1.0, 5.0, 10.0, 25.0, 100.0)  # of the scales that ratings and grades usually have


def _reads_texts(metric: BaseMetric) -> bool:
    """Whether scores are made of texts, and not read from the data or from a file."""
    return not isinstance(metric, RatingColumn | Stored) and all(map(_reads_texts, metric.inside))


def _has_model(metric: BaseMetric) -> bool:
    return metric.info.cached or any(map(_has_model, metric.inside))


def _is_none(spec: str, metric: BaseMetric, base: ScoredSide, new: ScoredSide, before: Array, after: Array) -> Mask:
    """Whether the difference of each item's mean scores is none, shape (n,): by its texts, or by how little it is.

    The same text has the same score, whatever bits a processor makes of it; where a score depends on all texts, they
    all have to be the same. Other scores are, if they are no further apart than machine, threads and batches move one.
    """
    size = np.maximum(np.abs(before), np.abs(after))
    is_near = np.abs(after - before) <= (_MODEL * np.maximum(size, 1.0) if _has_model(metric) else _WORDS * size)
    is_same = same_texts(base.outputs, new.outputs)
    if not _reads_texts(metric) or (metric.pooled and not is_same.all()):
        return is_near
    undefined, other = (np.array([np.isnan(one).sum() for one in side.runs[spec]]) for side in (base, new))
    return np.asarray(is_near | (is_same & (undefined == other)))


def usual_scale(scores: Array) -> tuple[float, float]:
    """The least of the usual scales that holds scores whose own is not known: from 0, to 0, or to both sides of it."""
    most = float(np.abs(scores).max(initial=0.0))
    top = next((top for top in _TOPS if most <= top), 0.0) or 10.0 ** math.ceil(math.log10(most))
    return (-top if scores.min(initial=0.0) < 0 else 0.0), (top if scores.max(initial=-1.0) > 0 else 0.0)


# --- A baseline that lasts: texts with their digests, scores and signatures in one JSON file, read again and checked

KIND, SCHEMA = "baseline", 1
_MOST_CHANGED = 3  # entries of signatures in an error
_ROUNDING = 1e-6  # of a range: by so much a score may lie outside


@dataclass(frozen=True)
class GateBaseline(ScoredSide):
    """What a file of `nlgauge gate --save` holds; what its texts were written for is known by its digest alone."""

    def scores_for(
        self,
        metrics: Mapping[str, BaseMetric],
        new: ScoredSide,
        outputs: Outputs,
        runtime: Runtime,
        rescore: bool = False,
    ) -> ScoredSide:
        """The scores of the baseline by the metrics of a gate.

        Args:
            metrics: specification as typed -> metric; nothing that the file names is made or opened.
            new: the other side, whose signatures must be those of the file.
            outputs: the texts of the baseline, with references and sources of the other side.
            rescore: score the texts of the file again where it has no such scores.

        Raises:
            InputError: the file lacks a metric, has it under another signature, or has a score outside its range.
        """
        for spec in metrics:
            stored = self.signatures.get(spec)
            if not rescore and stored is None:
                known = " ".join(", ".join(self.signatures).split()) or "none"
                raise InputError(
                    f"{self.outputs.name} has no scores of {spec}, its metrics are {known}; score its texts again with"
                    " --rescore (rescore=True)"
                )
            if not rescore and stored != new.signatures[spec]:
                raise InputError(
                    f"{self.outputs.name}: {spec} was scored otherwise than now:"
                    f" {difference(str(stored), new.signatures[spec])}; score its texts again with --rescore"
                    " (rescore=True)"
                )
        again = {s: m for s, m in metrics.items() if self.signatures.get(s) != new.signatures[s]}
        for spec in metrics.keys() - again.keys():
            self._check_range(spec, metrics[spec])
        stored_runs = self.over(outputs).runs
        rescored = score_side(outputs, again, runtime) if again else ScoredSide(outputs, {}, {})
        return ScoredSide(
            outputs,
            {spec: rescored.runs[spec] if spec in again else stored_runs[spec] for spec in metrics},
            {spec: new.signatures[spec] for spec in metrics},
            rescored.notes,
        )

    def _check_range(self, spec: str, metric: BaseMetric) -> None:
        low, high = metric.info.range
        room = _ROUNDING * (high - low if math.isfinite(high - low) else 1.0)
        for item, scores in zip(self.outputs.items, self.runs[spec], strict=True):
            if (scores < low - room).any() or (scores > high + room).any():
                raise InputError(
                    f"{self.outputs.name}: {spec} of item {item!r} is {scores.tolist()}, expected {low:g} to {high:g};"
                    " save the baseline again with --save"
                )


def difference(before: str, after: str) -> str:
    """What differs between two signatures, in words."""
    old, new = (dict(entry.partition(":")[::2] for entry in text.split("|")) for text in (before, after))
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    changed = [f"{key} was {old.get(key, 'absent')}, is {new.get(key, 'absent')}" for key in keys]
    return " ".join(", ".join(changed[:_MOST_CHANGED]).split())  # of a file, whatever stands there


def check_saved(metrics: Mapping[str, BaseMetric], segments: Sequence[Segment]) -> None:
    """Refuse metrics whose scores depend on all texts of a call, so that those of a file are of no use in another."""
    for spec, built in metrics.items():
        if built.pooled and not any(kind.texts for kind in built.documents(segments)):
            raise InputError(
                f"{spec}: its scores depend on all texts of a call and cannot be kept in a baseline; give BASE as data"
            )


def check_name(path: str | os.PathLike[str]) -> None:
    """Refuse a name by which the file would not be known for a baseline."""
    if not os.fspath(path).endswith(".json"):
        raise InputError(
            f"{os.fspath(path)}: expected a name that ends in .json, by which a baseline is told from data"
        )


def write_baseline(side: ScoredSide, metrics: Mapping[str, BaseMetric], path: str | os.PathLike[str]) -> None:
    """Write the file, completely or not at all."""
    check_name(path)
    check_saved(metrics, side.outputs.segments)
    with replacing(path) as file:
        json.dump(as_json(side, metrics), file, ensure_ascii=False, indent=1, allow_nan=False)
        file.write("\n")


def as_json(side: ScoredSide, metrics: Mapping[str, BaseMetric]) -> dict[str, Any]:
    """The object of the file."""
    items = []
    for i, (item, runs) in enumerate(side.outputs.items.items()):
        texts = [run.hypothesis for run in runs]
        scores = {spec: [null_if_nan(float(x)) for x in side.runs[spec][i]] for spec in metrics}
        items.append(
            {
                "seg": item,
                "group": runs[0].group,
                "inputs": side.outputs.digest(item),
                "texts": texts,
                "digests": [*map(text_digest, texts)],
                "scores": scores,
            }
        )
    described = [
        {"spec": spec, "signature": side.signatures[spec], "higher_is_better": built.info.higher_is_better}
        for spec, built in metrics.items()
    ]
    content = {
        "schema": SCHEMA,
        "kind": KIND,
        "version": version("nlgauge"),
        "inputs": [dict(file) for file in side.outputs.files],
        "metrics": described,
        "items": items,
    }
    return {**content, "seal": seal(content)}


def seal(made: Mapping[str, Any]) -> str:
    """A digest of all that a baseline says, in any order of keys and with any spaces.

    It finds what was damaged or changed by hand; whoever means to deceive can seal a file anew.
    """

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: plain(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [*map(plain, value)]
        return int(value) if isinstance(value, float) and value.is_integer() else value  # 100.0 is 100 in JSON

    sealed = json.dumps(plain({key: value for key, value in made.items() if key != "seal"}), sort_keys=True)
    return sha256(sealed.encode()).hexdigest()


def is_baseline(path: str) -> bool:
    """Whether a file is one of `--save`, or was one before it was damaged."""
    if not path.endswith(".json") or not os.path.isfile(path):
        return False
    raw = b"".join(InputFile(path).chunks())
    if re.search(rb'"kind"\s*:\s*"baseline"', raw) is None:
        return False
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError):
        return raw.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    return isinstance(content, dict) and content.get("kind") == KIND


def read_baseline(path: str | os.PathLike[str]) -> GateBaseline:
    """Read a file of `nlgauge gate --save`.

    Raises:
        InputError: the file cannot be read, is no baseline, has another schema, or was changed since it was written.
    """
    file = InputFile(path)
    content = strict_json(file, _no_baseline)
    if type(content) is not dict or content.get("kind") != KIND:
        raise _no_baseline(file.name, "its kind is another")
    if content.get("schema") != SCHEMA:
        raise InputError(
            f"{file.name}: a baseline of schema {content.get('schema')!r}, this version of nlgauge reads schema"
            f" {SCHEMA}; save it again with --save"
        )
    try:
        baseline = _baseline_of(content, file)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        what = f"there is no {error.args[0]!r}" if isinstance(error, KeyError) else "a field has another type"
        raise _no_baseline(file.name, what) from None
    if content.get("seal") != seal(content):
        why = "the seal differs" if "seal" in content else "there is no seal"
        raise InputError(
            f"{file.name}: a score or another entry may not be the one that was saved ({why}); save the baseline again"
            " with --save"
        )
    return baseline


def _baseline_of(content: Mapping[str, Any], file: InputFile) -> GateBaseline:
    """The baseline in the object of a file; a field that lacks or has another type raises what Python raises."""
    signatures = {_text(metric["spec"]): _text(metric["signature"]) for metric in content["metrics"]}
    items: dict[str, tuple[Segment, ...]] = {}
    runs: dict[str, list[Any]] = {spec: [] for spec in signatures}
    inputs: dict[str, str] = {}
    for entry in content["items"]:
        item, group, texts = _text(entry["seg"]), entry["group"], [*map(_text, entry["texts"])]
        if item in items or not texts or not (group is None or isinstance(group, str)):
            raise _no_baseline(file.name, f"item {item!r} occurs twice, or has no text")
        changed = next((t for t, d in zip(texts, entry["digests"], strict=False) if text_digest(t) != d), None)
        if changed is not None or len(texts) != len(entry["digests"]):
            raise InputError(
                f"{file.name}: a text of item {item!r} is not the one that was scored (its digest differs); save the"
                " baseline again with --save"
            )
        items[item] = tuple(
            Segment(f"{item}#{k}" if k else item, text, item=item, group=group) for k, text in enumerate(texts)
        )
        inputs[item] = _text(entry["inputs"])
        for spec in signatures:
            scores = np.array([_score(x) for x in entry["scores"][spec]])
            if len(scores) != len(texts):
                raise _no_baseline(file.name, f"item {item!r} has {len(scores)} scores and {len(texts)} texts")
            runs[spec].append(scores)
    if not items:
        raise _no_baseline(file.name, "it holds no item")
    outputs = Outputs(file.name, items, inputs, (dict(file.entry),))
    return GateBaseline(outputs, runs, signatures)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _score(value: Any) -> float:
    if value is None:
        return math.nan
    if type(value) not in (int, float) or not math.isfinite(value):
        raise TypeError
    return float(value)


def _no_baseline(name: str, why: str) -> InputError:
    return InputError(f"{name} is no baseline, expected what nlgauge gate --save writes ({why})")
