"""How do people rank the systems, and which of them would each metric exchange?"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.result import NewRow, null_if_nan
from nlgauge.core.scores import Scores
from nlgauge.core.spec import Signature
from nlgauge.core.tables import SingleRatings, mean_of_ratings, single_ratings
from nlgauge.metaeval.joined import JoinedScores, system_frame
from nlgauge.metrics.function import RATINGS
from nlgauge.scoring.systems import by_system, compare_pairs, intervals, n_raters, resampling_notes
from nlgauge.stats.power import mean_power

_ALPHA, _POWER = 0.05, 0.8
_SLACK = 1e-9  # of the larger of two numbers: what is no further apart is equal on paper


def people_rows(held: JoinedScores, *, draws: int | None = None, seed: int = 0) -> tuple[list[NewRow], list[str]]:
    """The systems as people rank them, and as each metric does, for each criterion and group.

    People's number of a system is the mean of its items, each the mean of its ratings, with an interval over items and
    raters (`stats.ratings.rated_interval`). Ranks are those of `nlgauge score --pairs`: every two systems are compared
    by paired randomisation on the items that both have ratings for, p is adjusted after Holm, and a new rank begins
    where every system above is significantly better than every system below.

    Args:
        held: ratings and scores of the same segments.
        draws: the shuffles of a test; None for 10000, and more for many systems.
        seed: determines them.

    Returns:
        Rows with the fields `people` of result files: people's first and the best system first, then each metric's; and
        notes. There are none where segments name no system or people judged pairs, and none of metrics that judge
        nothing.
    """
    rows: list[NewRow] = []
    notes: dict[str, None] = {}
    for criterion in held.human if held.pairs is None else ():
        for group, places in held.places.items():
            if np.isnan(held.human[criterion][places]).all():
                continue
            where = "" if group is None else f"{group}: "
            if any(held.segments[i].system is None for i in places):
                notes[f"{where}people rank no systems, since segments name none (--columns system=NAME)"] = None
                continue
            of_people, beaten, told = _ranked(_by_item(held, criterion, group), draws, seed)
            notes |= dict.fromkeys(told)
            of_metrics: list[NewRow] = []
            if len(of_people) > 1:
                try:
                    of_metrics = [*_by_metrics(held, criterion, group, [row["system"] for row in of_people], beaten)]
                except InputError as error:  # a table of systems lacks one of them
                    notes[f"{where}no ranks by metrics: {error}"] = None
            rows += [{"criterion": criterion, "group": group, **row} for row in (*of_people, *of_metrics)]
    if any(row.get("items_needed") is not None for row in rows):
        notes["items_needed: power .8, if means and deviations are as here, and p is to pass Holm's next step"] = None
    return rows, list(notes)


def _ranked(scores: Scores, draws: int | None, seed: int) -> tuple[list[NewRow], Mask, list[str]]:
    """The systems that have ratings, the best first; where column is significantly below row, shape (S, S); notes."""
    places = {str(name): where for name, where in by_system(scores.ids, scores.systems).items()}
    items = {name: scores.values[where] for name, where in places.items()}  # (N,) each, NaN where there is no rating
    raters = {name: n_raters(scores.take(where)) for name, where in places.items()}
    has, n = 1 - np.isnan(np.stack([*items.values()])), len(places)
    if np.triu(has @ has.T, 1).max() > 1:  # two systems have two items in common
        found = compare_pairs(scores, scores.systems, scores.items, draws=draws, seed=seed, alpha=_ALPHA)
        names, ranks, notes = [*found.systems], [*found.ranks], [*found.notes()]
        beaten: Mask = np.asarray((found.p_adjusted < _ALPHA) & (found.deltas > 0))
    else:
        names, ranks = sorted(items, key=lambda name: -float(np.nanmean(items[name]))), [None] * n
        beaten, notes = np.zeros((n, n), np.bool_), [*resampling_notes(has.shape[1], None, seed, raters.values())]
        if n > 1:
            notes.append("people rank no systems, since no two have ratings of the same two items or more")
    ends, left, rows = intervals(scores, scores.systems, seed=seed), math.comb(n, 2) - int(beaten.sum()), list[NewRow]()
    for i, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        row = {
            "system": name,
            "metric": scores.signature.spec,
            "value": float(np.nanmean(items[name])),
            **{end: null_if_nan(value) for end, value in ends[name].items()},
            "n": int((~np.isnan(items[name])).sum()),
            "n_raters": raters[name] or None,
            "rank": rank,
            # the best and the worst place that the tests leave it
            "best": None if rank is None else 1 + int(beaten[:, i].sum()),
            "worst": None if rank is None else n - int(beaten[i].sum()),
            "items_needed": None,
        }
        if rank is not None and i + 1 < n and not beaten[[i, i + 1], [i + 1, i]].any():
            row["items_needed"] = _needed(items[name] - items[names[i + 1]], _ALPHA / left)
        rows.append(row)
    return rows, beaten, notes


def _needed(apart: Array, alpha: float) -> int | None:
    """The items that would tell two systems apart, from their differences on those there are; None if none would.

    Args:
        alpha: the level of Holm's next step, where all pairs that are told apart stay so.
    """
    apart = apart[~np.isnan(apart)]
    if len(apart) < 2 or np.ptp(apart) <= _SLACK * np.abs(apart).max():
        return None
    sd, effect = float(np.std(apart, ddof=1)), float(apart.mean())
    return None if abs(effect) <= _SLACK * sd else mean_power(sd=sd, effect=effect, power=_POWER, alpha=alpha).n


def _by_item(held: JoinedScores, criterion: str, group: str | None) -> Scores:
    """People's scores of every system with ratings on every item that has any, system by system.

    Segments of one system and item, such as several runs, are one: its ratings are those of all.
    """
    places = [i for i in held.places[group].tolist() if not np.isnan(held.human[criterion][i])]
    segments = [held.segments[i] for i in places]
    given: dict[tuple[str, str], SingleRatings] = {}
    for place, segment, own in zip(places, segments, single_ratings(segments, criterion)[0], strict=True):
        key = str(segment.system), segment.item or segment.id
        of_mean = ((None, float(held.human[criterion][place])),)  # of several criteria, which nobody rated
        given[key] = (*given.get(key, ()), *(own or of_mean))
    systems, items = (list(dict.fromkeys(key[part] for key in given)) for part in (0, 1))
    cells = [(system, item) for system in systems for item in items]
    return Scores(
        Signature(f"{RATINGS}{criterion}", ()),
        tuple(f"{system}\t{item}" for system, item in cells),
        np.array([mean_of_ratings(given.get(cell, ())) for cell in cells]),
        systems=tuple(system for system, _ in cells),
        items=tuple(item for _, item in cells),
        ratings=tuple(given.get(cell, ()) for cell in cells),
    )


def _by_metrics(
    held: JoinedScores, criterion: str, group: str | None, systems: list[str], beaten: Mask
) -> Iterator[NewRow]:
    """The same systems by each metric: its number, the place by it, and the systems that it would exchange."""
    frame, _ = system_frame(held, criterion, group)
    names = frame.systems or ()
    for metric, x in zip(held.metrics, frame.x[:, [names.index(system) for system in systems]], strict=True):
        if metric in held.describing:
            continue
        up = x if held.is_higher_better(metric) else -x
        size = np.maximum(np.abs(x), np.abs(x)[:, None])
        above = up[None, :] - up[:, None] > _SLACK * size  # whether the metric puts column above row, shape (S, S)
        for i, system in enumerate(systems):
            yield {
                "system": system,
                "metric": metric,
                "value": null_if_nan(float(x[i])),
                "rank": None if math.isnan(x[i]) else 1 + int(above[i].sum()),
                "exchanged": [systems[j] for j in np.flatnonzero(beaten[i] & above[i])],
            }
