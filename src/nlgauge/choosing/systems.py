"""Does a metric tell the user's systems apart? And which metrics say the same of these texts?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.choosing.evidence import APART, DRAWS, Evidence
from nlgauge.choosing.sample import item_of
from nlgauge.core.arrays import Array, Counts
from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Segment
from nlgauge.stats.coefficients import spearman
from nlgauge.stats.draws import observed, pairs_of
from nlgauge.stats.power import mean_power
from nlgauge.stats.selection import stable_on_halves

ALIKE = 0.95  # rank correlation from which on two metrics are one group
_POWER = 0.8
_FEWEST = 4  # items that can be halved
_SYSTEMS = 3  # from which on their order is compared
_OUTPUTS = 10  # likewise; few are ordered alike by chance


@dataclass(frozen=True)
class Grid:
    """The items that every system answers once.

    Attributes:
        systems: their names, S of them.
        places: place of the output of each system for each item, shape (S, N).
        n_all: the number of items in all of the data.
    """

    systems: tuple[str | None, ...]
    places: Counts
    n_all: int


def grid_of(segments: Sequence[Segment], n_all: int) -> Grid | None:
    """The systems side by side; None for one system, or fewer than 4 items that all of them answer."""
    answers: dict[tuple[str | None, str], dict[str | None, int]] = {}
    for place, s in enumerate(segments):
        answers.setdefault(item_of(s), {}).setdefault(s.system, place)
    systems = tuple(dict.fromkeys(s.system for s in segments))
    whole = [row for row in answers.values() if len(row) == len(systems)]
    if len(systems) < 2 or len(whole) < _FEWEST:
        return None
    places = np.array([[row[name] for row in whole] for name in systems], dtype=np.int64)
    return Grid(systems, places, n_all)


def apart_evidence(spec: str, scores: Scores, grid: Grid, seed: int = 0) -> Evidence:
    """The share of differences between systems that have one sign on both random halves of the items.

    A tie is half a win. The interval is that of resamples of the items, moved to the share. Its detail has, in units of
    the metric: `detectable`, the smallest difference of means that all items would show with a power of 80 %;
    `widest`, the greatest difference between two systems; `item_sd`, how much the difference varies from item to item.
    """
    rows = scores.segment_stats[grid.places]  # (S, N, k)
    found = stable_on_halves(rows, scores.finish, draws=DRAWS, seed=seed)
    source = f"{rows.shape[1]} of your items"
    detail = _in_units(scores, grid)
    return Evidence(spec, APART, found.value, found.low, found.high, found.n, source, found.draws, detail)


def _in_units(scores: Scores, grid: Grid) -> dict[str, float]:
    one, other = pairs_of(len(grid.systems))
    values = scores.values[grid.places]
    gaps = values[one] - values[other]  # (pairs, N)
    with np.errstate(invalid="ignore"):
        spread = float(np.sqrt(np.nanmean(np.nanvar(gaps, axis=1, ddof=1))))
    whole = system_scores(scores, grid)
    try:
        detectable = mean_power(sd=spread, n=grid.n_all, power=_POWER).effect
    except InputError:  # no spread
        detectable = math.nan
    return {"detectable": detectable, "widest": float(np.nanmax(whole) - np.nanmin(whole)), "item_sd": spread}


def alike(scores: Mapping[str, Scores], grid: Grid | None) -> dict[str, tuple[str, float]]:
    """Metric -> the first metric that orders these texts as it does, and their rank correlation; itself and 1 if none.

    Two metrics are alike if Spearman's rho of their scores of outputs, 10 or more, is above 0.95, and, with 3 systems
    or more, also that of their scores of systems.
    """
    found: dict[str, tuple[str, float]] = {}
    for spec, own in scores.items():
        for other in [name for name, (head, _) in found.items() if head == name]:
            rho = _rho(
                own.values, scores[other].values, own.higher_is_better == scores[other].higher_is_better, _OUTPUTS
            )
            if rho > ALIKE and (grid is None or len(grid.systems) < _SYSTEMS or _ordered(own, scores[other], grid)):
                found[spec] = other, rho
                break
        else:
            found[spec] = spec, 1.0
    return found


def _rho(one: Array, other: Array, same_way: bool, least: int) -> float:
    known = ~np.isnan(one) & ~np.isnan(other)
    if known.sum() < least:
        return math.nan
    rho = float(spearman(one[known], other[known]))
    return rho if same_way else -rho


def system_scores(scores: Scores, grid: Grid) -> Array:
    """Corpus scores of the systems, shape (S,)."""
    return observed(scores.segment_stats[grid.places], scores.finish)


def _ordered(one: Scores, other: Scores, grid: Grid) -> bool:
    """Whether two metrics order the systems alike."""
    same_way = one.higher_is_better == other.higher_is_better
    return _rho(system_scores(one, grid), system_scores(other, grid), same_way, _SYSTEMS) > ALIKE
