"""How do people rank the systems, and which of them would each metric exchange?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.result import NewRow, null_if_nan
from nlgauge.core.scores import Scores
from nlgauge.core.spec import Signature
from nlgauge.core.tables import SingleRatings, base_of, single_ratings
from nlgauge.metaeval.joined import JoinedScores, system_frame
from nlgauge.metrics.function import RATINGS
from nlgauge.scoring.systems import compare_pairs, intervals, n_raters, rater_notes
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
            ranking, told = _ranking(held, criterion, group, draws, seed)
            notes |= dict.fromkeys(told)
            rows += [{"criterion": criterion, "group": group, **row} for row in ranking.rows(f"{RATINGS}{criterion}")]
            if len(ranking.systems) > 1:
                try:
                    of_metrics = [*_by_metrics(held, criterion, group, ranking)]
                except InputError as error:  # a table of systems lacks one of them
                    of_metrics = []
                    notes[f"{where}no ranks by metrics: {error}"] = None
                rows += [{"criterion": criterion, "group": group, **row} for row in of_metrics]
    if any(row.get("items_needed") is not None for row in rows):
        notes["items_needed: power .8, if means and deviations are as here, and p is to pass Holm's next step"] = None
    return rows, list(notes)


@dataclass
class _Ranking:
    """S systems of a group as people rank them, the best first.

    Attributes:
        items: the mean rating of each item, NaN where there is none, shape (S, N).
        raters: how many people with a name rated each system.
        values, low, high: shape (S,); ends are NaN where there is no interval.
        ranks: None where systems were not compared.
        beaten: whether column is significantly below row, shape (S, S).
    """

    systems: tuple[str, ...]
    items: Array
    raters: tuple[int, ...]
    values: Array
    low: Array
    high: Array
    ranks: tuple[int | None, ...]
    beaten: Mask

    def rows(self, name: str) -> Iterator[NewRow]:
        for i, system in enumerate(self.systems):
            yield {
                "system": system,
                "metric": name,
                "value": float(self.values[i]),
                "low": null_if_nan(float(self.low[i])),
                "high": null_if_nan(float(self.high[i])),
                "n": int((~np.isnan(self.items[i])).sum()),
                "n_raters": self.raters[i] or None,
                "rank": self.ranks[i],
                **self._places(i),
                "items_needed": self._needed(i),
            }

    def _places(self, i: int) -> dict[str, int | None]:
        """The best and the worst place that the tests leave a system."""
        if self.ranks[i] is None:
            return {"best": None, "worst": None}
        return {"best": 1 + int(self.beaten[:, i].sum()), "worst": len(self.systems) - int(self.beaten[i].sum())}

    def _needed(self, i: int) -> int | None:
        """The items that would tell a system from the next one below; None if they are told apart, or none would.

        The level is that of Holm's next step, where all pairs that are told apart stay so.
        """
        if i + 1 == len(self.systems) or self.ranks[i] is None or self.beaten[[i, i + 1], [i + 1, i]].any():
            return None
        apart = self.items[i] - self.items[i + 1]
        apart = apart[~np.isnan(apart)]
        if len(apart) < 2 or np.ptp(apart) <= _SLACK * np.abs(apart).max():
            return None
        sd, effect = float(np.std(apart, ddof=1)), float(apart.mean())
        if abs(effect) <= _SLACK * sd:
            return None
        left = math.comb(len(self.systems), 2) - int(self.beaten.sum())
        return mean_power(sd=sd, effect=effect, power=_POWER, alpha=_ALPHA / left).n


def _ranking(
    held: JoinedScores, criterion: str, group: str | None, draws: int | None, seed: int
) -> tuple[_Ranking, list[str]]:
    """People's ranking of the systems of a group that have ratings, and how it was made."""
    scores = _by_item(held, criterion, group)
    systems = list(dict.fromkeys(str(name) for name in scores.systems))
    places = {name: np.flatnonzero([one == name for one in scores.systems]) for name in systems}
    items = {name: scores.values[where] for name, where in places.items()}
    raters = {name: n_raters(scores.take(where)) for name, where in places.items()}
    has = 1 - np.isnan(np.stack([*items.values()]))  # 1 where there is a rating, shape (S, N)
    if np.triu(has @ has.T, 1).max() > 1:  # two systems have two items in common
        found = compare_pairs(scores, scores.systems, scores.items, draws=draws, seed=seed, alpha=_ALPHA)
        names, values, low, high, ranks = found.systems, found.values, found.low, found.high, found.ranks
        beaten, notes = (found.p_adjusted < _ALPHA) & (found.deltas > 0), [*found.notes()]
    else:
        names = tuple(sorted(systems, key=lambda name: -float(np.nanmean(items[name]))))
        ends = intervals(scores, scores.systems, seed=seed)
        low, high = (np.array([ends[name][end] for name in names]) for end in ("low", "high"))
        values, ranks = np.array([np.nanmean(items[name]) for name in names]), (None,) * len(names)
        beaten, notes = np.zeros((len(names), len(names)), np.bool_), [*rater_notes([*raters.values()], None, False)]
        if len(names) > 1:
            notes.append("people rank no systems, since no two have ratings of the same two items or more")
    stacked, counts = np.stack([items[name] for name in names]), tuple(raters[name] for name in names)
    return _Ranking(names, stacked, counts, values, low, high, ranks, np.asarray(beaten)), notes


def _by_item(held: JoinedScores, criterion: str, group: str | None) -> Scores:
    """People's scores of every system with ratings on every item that has any, system by system.

    Segments of one system and item, such as several runs, are one: its ratings are those of all.
    """
    places = [i for i in held.places[group].tolist() if not np.isnan(held.human[criterion][i])]
    segments = [held.segments[i] for i in places]
    is_in_data = any(criterion in s.human for s in segments) or base_of(segments, criterion) is not None
    singles = single_ratings(segments, criterion)[0] if is_in_data else [()] * len(segments)  # none of a mean
    values: dict[tuple[str, str], list[float]] = {}
    given: dict[tuple[str, str], SingleRatings] = {}
    for place, segment, own in zip(places, segments, singles, strict=True):
        value = float(held.human[criterion][place])
        key = str(segment.system), segment.item or segment.id
        values.setdefault(key, []).append(value)
        given[key] = (*given.get(key, ()), *(own or ((None, value),)))
    systems, items = (list(dict.fromkeys(key[part] for key in values)) for part in (0, 1))
    cells = [(system, item) for system in systems for item in items]
    return Scores(
        Signature(f"{RATINGS}{criterion}", ()),
        tuple(f"{system}\t{item}" for system, item in cells),
        np.array([np.mean(values[cell]) if cell in values else np.nan for cell in cells]),
        systems=tuple(system for system, _ in cells),
        items=tuple(item for _, item in cells),
        ratings=tuple(given.get(cell, ()) for cell in cells),
    )


def _by_metrics(held: JoinedScores, criterion: str, group: str | None, ranking: _Ranking) -> Iterator[NewRow]:
    """The same systems by each metric: its number, the place by it, and the systems that it would exchange."""
    frame, _ = system_frame(held, criterion, group)
    names = frame.systems or ()
    order = [names.index(system) for system in ranking.systems]
    for metric, x in zip(held.metrics, frame.x[:, order], strict=True):
        if metric in held.describing:
            continue
        up = x if held.is_higher_better(metric) else -x
        size = np.maximum(np.abs(x), np.abs(x)[:, None])
        above = up[None, :] - up[:, None] > _SLACK * size  # whether the metric puts column above row, shape (S, S)
        for i, system in enumerate(ranking.systems):
            yield {
                "system": system,
                "metric": metric,
                "value": null_if_nan(float(x[i])),
                "rank": None if math.isnan(x[i]) else 1 + int(above[i].sum()),
                "exchanged": [ranking.systems[j] for j in np.flatnonzero(ranking.beaten[i] & above[i])],
            }
