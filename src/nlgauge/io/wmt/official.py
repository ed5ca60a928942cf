"""The official run of a metrics task: the systems that took part, the reference, and the scores of its metrics."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.segment import Dataset
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import counted
from nlgauge.io.wmt.evalset import EvalSet
from nlgauge.io.wmt.mtme import language_pairs, read_eval_set, references_of
from nlgauge.io.wmt.submissions import ALL, Expected, Submission, check_submission, read_submission

_SHOWN = 6  # names in a note before "..."


@dataclass(frozen=True)
class OfficialRun:
    """A metrics task as its organisers ran it.

    Attributes:
        dataset: outputs of the systems that took part, with the standard reference and the standard human scores.
        scores: official metric -> the table of segment scores and, if the folder has system scores of it, their table.
            In all of them higher is better.
        files: what was read.
    """

    dataset: Dataset
    scores: Mapping[str, tuple[ScoreTable, ...]]
    files: tuple[InputFile, ...]


def read_official(folder: str | os.PathLike[str], humans: bool = True, lps: Sequence[str] | None = None) -> OfficialRun:
    """Read the official run of a metrics task from a folder in mt-metrics-eval's layout.

    Language pairs without standard human scores of segments are left out, systems without any such score, outliers,
    and the outputs that are the reference itself. A metric takes part if it was a primary submission or a baseline (all
    metrics if the folder does not say), used the standard reference or none, and scored every language pair.

    Args:
        folder: the folder of a test set. Its `meta.json` names standard reference, standard human scores, outliers and
            primary metrics; for the sets of WMT19 to WMT23 these facts are known.
        humans: whether outputs that people wrote count as systems, beside the reference that the metrics use.
        lps: the language pairs to read, None for all.

    Raises:
        InputError: no language pair has standard human scores, or a file cannot be read.
    """
    runs: list[tuple[EvalSet, str]] = []
    for lp in _chosen(folder, lps):
        one = read_eval_set(folder, lp)
        gold = one.info.gold.get("segment") or _only_gold(one)
        if gold and (gold, "segment") in one.human:
            runs.append((replace(one, human=_gold(one, gold)), gold))
    if not runs:
        raise InputError(f"{folder}: no language pair has human scores of segments that are named as the standard")
    datasets, kept, notes = [], [], []
    for one, gold in runs:
        selection = one.select(rated=(gold, "segment"), include_humans=humans)
        notes.append(f"{one.name} {one.lp}: human scores {gold!r}, {selection.note}")
        datasets.append(one.dataset(systems=selection.kept))
        kept.append(selection.kept)
    sets = [one for one, _ in runs]
    taking_part = [_metrics(one) for one in sets]
    names = [name for name in taking_part[0] if all(name in other for other in taking_part)]
    lacking = sorted({name for found in taking_part for name in found} - set(names))
    if lacking:
        shown = ", ".join(lacking[:_SHOWN]) + (", ..." if len(lacking) > _SHOWN else "")
        notes.append(
            f"{counted(len(lacking), 'official metric')} without scores of every language pair left out: {shown}"
        )
    alone = sorted({name for one in sets for name, level in one.metrics if level == "system"} - _of_segments(sets))
    if alone:
        notes.append(f"{counted(len(alone), 'metric')} with scores of systems alone left out: {', '.join(alone)}")
    if not names:
        notes.append(f"{folder}: no official scores of segments by the standard reference, or by none")
    data = Dataset(
        tuple(segment for part in datasets for segment in part),
        str(folder),
        tuple(dict.fromkeys([*notes, *(note for part in datasets for note in part.notes if "left out" not in note)])),
    )
    in_full = list(zip(sets, kept, taking_part, strict=True))
    segments = _table(in_full, names, "segment")
    with_systems = [n for n in names if all((found[n], "system") in one.metrics for one, _, found in in_full)]
    systems = _table(in_full, with_systems, "system")
    scores = {name: (segments, systems) if name in with_systems else (segments,) for name in names}
    return OfficialRun(data, scores, tuple(file for one in sets for file in one.files))


def check_official(
    folder: str | os.PathLike[str], path: str, lps: Sequence[str] | None = None
) -> tuple[str, list[str]]:
    """Whether a submission fits a test set, by the files of the folder; see `check_submission`.

    Args:
        folder: the folder of a test set.
        path: the submission, `NAME.seg.score` or `NAME.sys.score`.
        lps: the language pairs that it must have, None for all.

    Returns:
        What was expected, in words, and the reasons for which the organisers would refuse the file.

    Raises:
        InputError: a file cannot be read, or the submission is about several test sets and none has the folder's name.
    """
    submission = read_submission(path)
    sets = [read_eval_set(folder, lp, metrics=False) for lp in _chosen(folder, lps)]
    named = sets[0].name if sets[0].name in submission.testsets else submission.testsets[0]
    if len(submission.testsets) > 1 and named != sets[0].name:
        raise InputError(
            f"{path}: {len(submission.testsets)} test sets ({', '.join(submission.testsets)}), and none is called"
            f" {sets[0].name!r} as the folder"
        )
    wanted = {one.lp: _expected(one, submission) for one in sets}
    told = ", ".join(
        f"{lp} {counted(len(want.systems), 'output')} of {counted(want.n, 'segment')}" for lp, want in wanted.items()
    )
    return f"{submission.level} scores of test set {named!r}: {told}", check_submission(submission, wanted, named)


def _expected(one: EvalSet, submission: Submission) -> Expected:
    """What a submission must hold of a language pair."""
    is_told = set(one.domains) != {ALL}
    domains = set(one.domains) if is_told else set()
    if submission.level == "system":  # single domains are scored by all who score one
        domains = domains | {ALL} if any(row.domain != ALL for row in submission.rows) else {ALL}
    return Expected(
        systems=frozenset(one.outputs),
        n=len(one.sources),
        reference=next(iter(one.using()), ""),
        references=frozenset(one.references),
        domains=frozenset(domains),
        documents=frozenset(one.documents) if is_told else frozenset(),
    )


def _of_segments(sets: Sequence[EvalSet]) -> set[str]:
    """The metrics, with their references, that have scores of segments."""
    return {name for one in sets for name, level in one.metrics if level == "segment"}


def _chosen(folder: str | os.PathLike[str], lps: Sequence[str] | None) -> Sequence[str]:
    """The language pairs to read, in the order of the folder."""
    known = language_pairs(folder)
    for lp in lps or ():
        if lp not in known:
            raise InputError(f"{folder}: no language pair {lp!r}{nearest(lp, known)}")
    return [lp for lp in known if not lps or lp in lps]


def _only_gold(one: EvalSet) -> str | None:
    """The human scores of segments where there is one kind and nobody names the standard."""
    found = [name for name, level in one.human if level == "segment"]
    return found[0] if len(found) == 1 and not one.info.gold else None


def _gold(one: EvalSet, gold: str) -> Mapping[tuple[str, str], Mapping[str, Array]]:
    """The standard human scores alone."""
    return {key: scores for key, scores in one.human.items() if key[0] == gold}


def _metrics(one: EvalSet) -> dict[str, str]:
    """The metrics that took part: their base names, and their names with the reference that they used.

    Of a metric that scored both with the reference and with the source alone, the latter is named `BASE-src`.
    """
    with_reference: dict[str, str] = {}
    with_source: dict[str, str] = {}
    for name, level in sorted(one.metrics):  # `-all` of one reference comes before the name of that reference
        base, references = references_of(name, one.references, f"{one.name} {one.lp}")
        if level != "segment" or (one.info.primary and base not in one.info.primary):
            continue
        if references == one.using():
            with_reference[base] = name
        elif references == ():
            with_source[base] = name
    alone = {f"{base}-src" if base in with_reference else base: name for base, name in with_source.items()}
    return dict(sorted({**with_reference, **alone}.items()))


def _table(
    sets: Sequence[tuple[EvalSet, Sequence[str], Mapping[str, str]]], names: Sequence[str], level: str
) -> ScoreTable:
    """The scores of several metrics at a level; NaN where a metric did not score a system."""
    keys: list[Key] = []
    parts: dict[str, list[Array]] = {name: [] for name in names}
    for one, systems, called in sets:
        units = one.units(level)
        keys += [Key(None, system, unit, one.lp) for system in systems for unit in units]
        for name in names:
            scores = one.metrics[called[name], level]
            parts[name] += [scores.get(system, np.full(len(units), np.nan)) for system in systems]
    return ScoreTable(tuple(keys), {name: np.concatenate(values) for name, values in parts.items()}, level)
