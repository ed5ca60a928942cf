"""Raters: how far they agree, and what a rater who is left out reaches as a metric, which is the ceiling of metrics."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.result import NewRow, Row
from nlgauge.core.scores import Scores, first_few, ids
from nlgauge.core.tables import RaterTable, SingleRatings, ratings_by_rater, single_ratings
from nlgauge.metaeval.joined import JoinedScores, stored_signature
from nlgauge.metaeval.measure import Task
from nlgauge.metaeval.tasks import MEAN, Protocol, mean_of_known, task_rows
from nlgauge.stats.coefficients import pearson
from nlgauge.stats.draws import generator
from nlgauge.stats.ratings import alpha_interval, cohen_kappa, halves, krippendorff, scale_of

_PAIRS = 45  # of raters: all of ten
_BUSY = 300  # raters among whom pairs are looked for
REST = "rest"  # the mean of all other raters


def agreement_rows(held: JoinedScores, *, draws: int = 1000, seed: int = 0) -> tuple[list[NewRow], list[str]]:
    """How far raters agree, by criterion and group: all of them, each with the mean of the rest, and each two.

    Alpha is Krippendorff's: nominal for two classes, ordinal for grades (at most 11 whole numbers), else interval; that
    of a rater with a mean which is no grade is interval. Its bounds are those of a bootstrap over items. Of more than
    45 pairs of raters, those with most segments in common are shown.

    Returns:
        The rows that page `reference/results` names as `raters`, and notes.
    """
    rows, notes = [], list[str]()
    for criterion, own, places, about, scale in _rated(held):
        segments, table = [held.segments[i] for i in places], ratings_by_rater(own)
        if not len(table.values):
            notes.append(f"{about}: no ratings of people stand behind it: agreement cannot be seen, nor a ceiling")
            continue
        base = {**dict.fromkeys(_FIELDS), "criterion": criterion, "group": segments[0].group, "scale": scale}
        whole = _whole(table, scale, [segment.item or segment.id for segment in segments], draws, seed)
        rows.append({**base, **whole})
        if not whole["n"]:
            notes.append(
                f"{about}: every segment has one rating, or a mean alone: agreement cannot be seen, nor a ceiling;"
                " give single ratings, or let two people rate some segments"
            )
        if not table.names:
            said = f"{about}: nobody says who rated, so that alpha rests on ratings without names"
            notes += [said] if whole["n"] else []
            continue
        if nameless := sum(name is None for some in own for name, _ in some):
            notes.append(f"{about}: {nameless} ratings name no rater and are left out of the agreement of raters")
        rows += [{**base, **one} for one in _with_rest(table, scale)]
        pairs, n_pairs = _pairs(table, scale)
        rows += [{**base, **pair} for pair in pairs]
        if len(pairs) < n_pairs:
            notes.append(f"{about}: the {len(pairs)} pairs of raters with most segments in common, of {n_pairs}")
    return rows, notes


_FIELDS = (
    "criterion", "group", "rater", "against", "n", "n_ratings", "n_raters", "mean", "deviation", "scale", "alpha",
    "low", "high", "pearson", "same", "kappa",
)  # fmt: skip


def _rated(held: JoinedScores) -> Iterator[tuple[str, Sequence[SingleRatings], Sequence[int], str, str]]:
    """Each criterion and group: its ratings and the places of its segments, its name in notes, the criterion's scale.

    Severity is taken out in each group alone, as where metrics are compared with these ratings.
    """
    for criterion in held.human:
        given = {
            group: single_ratings([held.segments[i] for i in places], criterion)[0]
            for group, places in held.places.items()
        }
        scale = scale_of([rating for own in given.values() for one in own for _, rating in one])
        for group, places in held.places.items():
            about = criterion if len(held.groups) == 1 else f"{criterion}, {group}"
            yield criterion, given[group], places.tolist(), about, scale


def _packed(values: Array) -> Array:
    """The ratings of each segment in order, lowest first, shape (most ratings of a segment, n); NaN behind them."""
    most = int((~np.isnan(values)).sum(axis=0).max(initial=0))
    return np.sort(values, axis=0)[:most]


def _whole(table: RaterTable, scale: str, items: Sequence[str], draws: int, seed: int) -> NewRow:
    packed = _packed(table.values)
    n_raters = len(table.names) or None
    if len(packed) < 2:
        return {"n": 0, "n_ratings": 0, "n_raters": n_raters}
    found = krippendorff(packed, scale)
    low, high = alpha_interval(packed, scale, items, draws=draws, seed=seed)
    ends = {"low": low, "high": high} if not math.isnan(found.value) else {}
    return {"n": found.n_used, "n_ratings": found.n_ratings, "n_raters": n_raters, "alpha": found.value, **ends}


def _with_rest(table: RaterTable, scale: str) -> Iterator[NewRow]:
    """Each rater, and the mean of all others on the segments that both have."""
    rated, grades = ~np.isnan(table.values), np.unique(table.values[~np.isnan(table.values)])
    n, total = rated.sum(axis=0), np.nansum(table.values, axis=0)
    for i, name in enumerate(table.names):
        own, both = table.values[i], rated[i] & (n > 1)
        rest = np.divide(total - own, n - 1, out=np.full(len(own), np.nan), where=both)
        of_rest = scale if np.isin(rest[both], grades).all() else "interval"
        yield {
            "rater": name,
            "against": REST,
            "n_ratings": int(rated[:, both].sum()),
            "mean": float(own[rated[i]].mean()),
            "deviation": float(own[rated[i]].std(ddof=1)) if rated[i].sum() > 1 else math.nan,
            "scale": of_rest,
            **_two(own, rest, of_rest),
        }


def _pairs(table: RaterTable, scale: str) -> tuple[list[NewRow], int]:
    """Each two raters with segments in common, the `_PAIRS` with most of them; and how many pairs there are."""
    rated = (~np.isnan(table.values)).astype(np.float64)
    busiest = np.sort(np.argsort(-rated.sum(axis=1), kind="stable")[:_BUSY]).tolist()  # of a crowd
    common = dict(zip(busiest, rated[busiest] @ rated.T, strict=True))
    known = [(i, j) for i, j in combinations(busiest, 2) if common[i][j]]
    kept = sorted(sorted(known, key=lambda pair: -common[pair[0]][pair[1]])[:_PAIRS])
    rows = []
    for i, j in kept:
        one, other = table.values[i], table.values[j]
        both = ~np.isnan(one) & ~np.isnan(other)
        kappa = cohen_kappa(one, other).value if scale != "interval" else None
        beside = {"n_ratings": 2 * int(both.sum()), "same": float((one[both] == other[both]).mean()), "kappa": kappa}
        rows.append({"rater": table.names[i], "against": table.names[j], **_two(one, other, scale), **beside})
    return rows, len(known)


def _two(one: Array, other: Array, scale: str) -> NewRow:
    """The segments that both have, alpha and Pearson's r."""
    both = ~np.isnan(one) & ~np.isnan(other)
    alpha = krippendorff(np.stack([one, other]), scale).value
    return {"n": int(both.sum()), "alpha": alpha, "pearson": float(pearson(one[both], other[both]))}


# --- The ceiling: raters who are left out, scored as if they were a metric

ONE, HALF = "one", "half"
PEOPLE = "people"  # in the place of a metric: those who are left out
_SPLITS = 20
_EACH = 50  # raters who are left out one by one; of more, as many are drawn
_FEW = 3  # raters: their halves are those of one who is left out
_OWN = "\0people"  # no metric and no column has this name
_NEAR = 1e-9  # values no further apart are equal: sums of other orders differ by less

_LEFT_OUT = {ONE: "one rater", HALF: "half of the raters"}

Splits = Mapping[str, Sequence[tuple[Array, Array]]]  # which are left out -> means of those and of the rest, (n,) each


def ceiling_rows(
    held: JoinedScores, controls: Mapping[str, Scores], protocol: Protocol
) -> tuple[list[NewRow], list[str]]:
    """What raters who are left out reach as a metric, beside metrics and controls, by criterion, task and group.

    In every split the ratings of some raters are the scores of one more metric, and all metrics are compared with the
    mean of the ratings that stay, on the segments with both. `one` leaves out each rater who rated half of the segments
    that have two ratings or more; where there is none such, one rating of each segment, drawn 20 times. `half` leaves
    out all halves of the raters, or 20 drawn ones, and holds each against the other; or half of the ratings of each
    segment. There is no `half` where it would repeat `one`.

    Returns:
        The rows that page `reference/results` names as `ceiling`, and notes: how splits were made, what has no ceiling
        and why, and which metrics are not below people.

    References:
        Proietti, Perrella and Navigli (2025), "Has Machine Translation Evaluation Achieved Human Parity?", for people
        among the metrics. Here they are a part of the ratings, each in turn, so that the gold has a rater less than the
        numbers of `rows`.
    """
    rows, notes = [], list[str]()
    plain, ways = protocol.bare(), dict[str, list[str]]()
    seed = protocol.options.get("seed") or 0
    for criterion, own, places, about, _ in _rated(held):
        splits, made = _splits(ratings_by_rater(own), seed)
        if not splits:
            continue
        ways.setdefault(made, []).append(about)
        mask = np.isin(np.arange(len(held.segments)), places)
        part = dataclasses.replace(held, scores={**held.scores, **controls}).take(mask)
        total = len(protocol.tasks) * sum(map(len, splits.values()))
        with protocol.progress(total, f"ceiling of {about}") as advance:
            for left_out, some in splits.items():
                found, why = _of_splits(part, criterion, some, plain, advance)
                rows += [
                    {"criterion": criterion, "group": part.groups[0], "left_out": left_out, **row} for row in found
                ]
                notes += [
                    f"{about}: no ceiling for {said[0]}, {_LEFT_OUT[left_out]} left out: {said[1]}" for said in why
                ]
    rows += _over_groups(rows) if len(held.groups) > 1 else []
    for row in rows:
        if row["metric"] in controls and row["metric"] not in held.metrics:
            row["control"] = True
            del row["passed"]
    notes = [*(f"ceiling of {first_few(those)}: {made}" for made, those in ways.items()), *notes]
    return rows, [*notes, *_passed_notes(rows, MEAN if len(held.groups) > 1 else held.groups[0])]


def _splits(table: RaterTable, seed: int) -> tuple[Splits, str]:
    """The means of those left out and of those who stay in each split, and how they are made in words."""
    values, rng = table.values, generator(seed)
    paired = (~np.isnan(values)).sum(axis=0) >= 2
    if not paired.any():
        return {}, ""
    shares = (~np.isnan(values[:, paired])).mean(axis=1)
    usual = np.flatnonzero((shares >= 0.5) & bool(table.names))
    scored = "scored as a metric; metrics and controls beside it are compared with the same ratings, those that stay"
    if len(usual):
        each = f"each of {min(len(usual), _EACH)} raters{f', of {len(usual)},' if len(usual) > _EACH else ''} in turn"
        usual = np.sort(rng.choice(usual, min(len(usual), _EACH), replace=False)) if len(usual) > _EACH else usual
        found = {ONE: [_split(values, np.arange(len(values)) == i) for i in usual]}
        if len(values) > _FEW:
            first = halves(len(values), _SPLITS, rng) > 0
            found[HALF] = [_split(values, out) for half in first for out in (half, ~half)]
        return found, f"{each} is left out and {scored}"
    packed = _packed(values)
    n = (~np.isnan(packed)).sum(axis=0)
    found = {ONE: [_split(packed, _drawn(n, np.ones_like(n), rng)) for _ in range(_SPLITS)]}
    if len(packed) > _FEW:
        found[HALF] = [_split(packed, _drawn(n, n // 2, rng)) for _ in range(_SPLITS)]
    return found, f"one rating of each segment, drawn {_SPLITS} times (seed {seed}), is left out and {scored}"


def _drawn(n: Any, size: Any, rng: np.random.Generator) -> Mask:
    """Which of the n first places of each segment are drawn, as many as `size` says; shape (most, segments)."""
    keys = rng.random((int(n.max()), len(n)))
    keys[np.arange(len(keys))[:, None] >= n] = 2.0  # behind all others
    return np.asarray(keys.argsort(axis=0).argsort(axis=0) < np.minimum(size, n))


def _split(values: Array, out: Mask) -> tuple[Array, Array]:
    """The means of ratings left out and of those that stay, each of shape (n,), NaN where one of them is missing."""
    out = np.broadcast_to(out if out.ndim == 2 else out[:, None], values.shape)
    left, stay = _mean(np.where(out, values, np.nan)), _mean(np.where(out, np.nan, values))
    return left, np.where(np.isnan(left), np.nan, stay)


def _mean(values: Array) -> Array:
    """The mean of the ratings of each segment, shape (n,); equal ratings have equal means in whatever order."""
    packed, n = _packed(values), (~np.isnan(values)).sum(axis=0)
    return np.asarray(np.divide(np.nansum(packed, axis=0), n, out=np.full(len(n), np.nan), where=n > 0))


def _of_splits(
    part: JoinedScores, criterion: str, splits: Sequence[tuple[Array, Array]], protocol: Protocol, advance: Any
) -> tuple[list[NewRow], list[tuple[str, str]]]:
    """The rows of every metric, and of people, by task; and the tasks without a value of people, and why."""
    found: dict[tuple[Task, str], list[float]] = {}
    why = dict[Task, str]()
    for left, stay in splits:
        people = Scores(stored_signature(PEOPLE, "ratings"), ids(part.segments), left)
        human = {criterion: stay}
        alone = dataclasses.replace(part, scores={**part.scores, _OWN: people}, human=human, counts={})
        for task in protocol.tasks:
            try:
                of_task = task_rows(alone, criterion, task, protocol)[0]
            except InputError as error:  # such as two systems that both have rated
                of_task, why[task] = [], str(error)
            values = {row["metric"]: float(row["value"]) for row in of_task if row["group"] == MEAN}
            for metric in alone.metrics:
                found.setdefault((task, metric), []).append(values.get(metric, math.nan))
            advance(1)
    n, rows = float(np.mean([(~np.isnan(stay)).sum() for _, stay in splits])), list[NewRow]()
    for (task, metric), by_split in found.items():
        values_of, people_of = np.array(by_split), np.array(found[task, _OWN])
        known = values_of[~np.isnan(values_of)]
        ends = [float(f(known)) if len(known) else math.nan for f in (np.mean, np.min, np.max)]
        row = {"n": n, "level": task.settled().level, "stat": task.stat, "metric": metric}
        row |= {**dict(zip(("value", "low", "high"), ends, strict=True)), "n_splits": len(known)}
        rows.append(row | ({"metric": PEOPLE} if metric == _OWN else {"passed": _passed(values_of - people_of)}))
    lost = [task for task in protocol.tasks if np.isnan(found[task, _OWN]).all()]
    return rows, [
        (f"{task.stat} at level {task.level}", why.get(task, "it is undefined in every split")) for task in lost
    ]


def _over_groups(rows: Sequence[Row]) -> Iterator[NewRow]:
    """The plain mean over groups of each metric; it has no lowest and highest split."""
    keys = ("criterion", "level", "stat", "left_out", "metric")
    own: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        own.setdefault(tuple(row[key] for key in keys), []).append(row)
    for key, some in own.items():
        value = mean_of_known([row["value"] for row in some])
        row = {**some[0], "group": MEAN, "value": value, "low": math.nan, "high": math.nan}
        row |= {name: sum(one[name] for one in some) for name in ("n_splits", "n")}
        if "passed" in row:
            people = {one["group"]: one["value"] for one in own[(*key[:-1], PEOPLE)] if "passed" not in one}
            row["passed"] = _passed(np.array([one["value"] - people[one["group"]] for one in some]))
        yield row


def _passed(above: Array) -> bool | None:
    """Whether a metric is not below people, from its differences to them; None where none is defined."""
    known = above[~np.isnan(above)]
    return bool(known.mean() >= -_NEAR) if len(known) else None


def _passed_notes(rows: Sequence[Row], group: str | None) -> Iterator[str]:
    """Which metrics are not below people, for each criterion and task."""
    for people in rows:
        if people["metric"] != PEOPLE or "passed" in people or people["group"] != group or math.isnan(people["value"]):
            continue
        keys = ("criterion", "level", "stat", "left_out", "group")
        beside = [row for row in rows if row is not people and all(row[key] == people[key] for key in keys)]
        above = [row["metric"] for row in beside if row.get("passed")]
        empty = [row["metric"] for row in beside if row.get("control") and row["value"] >= people["value"] - _NEAR]
        left_out = _LEFT_OUT[people["left_out"]]
        task = f"{people['stat']} at level {people['level']}, {people['criterion']}"
        if above:
            yield (
                f"{task}: {', '.join(above)} passed the ceiling of {left_out} left out ({people['value']:.3f}): these"
                f" ratings cannot tell {'them' if len(above) > 1 else 'it'} from people, and what lies above is beyond"
                " what they can show"
            )
        if empty:
            yield (
                f"{task}: without comparing texts, {' and '.join(empty)} passed the ceiling of {left_out} left out"
                f" ({people['value']:.3f}): such a number says little of raters, too"
            )
