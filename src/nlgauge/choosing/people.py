"""Does a metric order outputs as people do? The share of pairs of outputs, on the user's ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.choosing.evidence import CHANCE, DRAWS, Share, interval_of
from nlgauge.core.arrays import Array, Counts, Floats
from nlgauge.core.segment import Dataset, Segment
from nlgauge.metaeval.align import criteria_of, ratings
from nlgauge.stats.draws import generator, resample_counts

_FEW = 20  # pairs of outputs for one input; fewer, and outputs for different inputs are compared
MEAN = "mean"  # of all criteria
_SOME = 0.05  # in deviations of the ratings: a smaller difference between two inputs is none


@dataclass(frozen=True)
class Compared:
    """Which outputs are compared, and how people order them.

    Attributes:
        first, second: places of the two outputs of each pair, shape (P,); people prefer the first.
        clusters: number of the item of each output, shape (n,).
        within: whether both outputs of a pair are for one input.
    """

    first: Counts
    second: Counts
    clusters: Counts
    within: bool

    def __len__(self) -> int:
        return len(self.first)


def rated_pairs(segments: Sequence[Segment], human: Array) -> Compared:
    """The pairs of outputs that people do not rate the same.

    Outputs for one input are compared, of one group only. Where there are fewer than 20 such pairs, as with one
    system, all outputs of a group are.

    Args:
        segments: the outputs.
        human: their ratings, higher is better, shape (n,); NaN where there is none.
    """
    items = _numbered([(s.group, s.item or s.id) for s in segments])
    groups = _numbered([s.group for s in segments])
    left, right = np.triu_indices(len(segments), 1)
    differ = np.abs(human[left] - human[right]) > 0
    within = differ & (items[left] == items[right])
    is_within = int(within.sum()) >= _FEW
    spread = float(np.nanstd(human)) if not np.isnan(human).all() else 0.0
    across = differ & (groups[left] == groups[right]) & (np.abs(human[left] - human[right]) > _SOME * spread)
    kept = within if is_within else across
    left, right = left[kept], right[kept]
    up = human[left] > human[right]
    return Compared(np.where(up, left, right), np.where(up, right, left), items, is_within)


def agreement(values: Array, pairs: Compared, seed: int = 0) -> Share | None:
    """The share of the pairs that scores order as people do; a tie of scores is half a win.

    Items are resampled; a pair of outputs for two inputs counts as often as both were drawn.

    Args:
        values: scores of the outputs, higher is better, shape (n,); a pair with NaN does not count.
        pairs: the pairs.
        seed: of the resamples.

    Returns:
        The share, where n is the number of outputs in all pairs; None if no pair counts.
    """
    gap = values[pairs.first] - values[pairs.second]
    counted = ~np.isnan(gap)
    if not counted.any():
        return None
    won = np.where(gap > 0, 1.0, np.where(gap == 0, CHANCE, 0.0))[counted]
    one, other = pairs.clusters[pairs.first[counted]], pairs.clusters[pairs.second[counted]]
    n_items = int(pairs.clusters.max()) + 1
    times = resample_counts(generator(seed), DRAWS, n_items)
    if pairs.within:
        wins, sizes = (np.bincount(one, weights=w, minlength=n_items) for w in (won, np.ones(len(won))))
        top, bottom = times @ wins, times @ sizes
    else:
        top, bottom = (_summed(times, one, other, w, n_items) for w in (won, np.ones(len(won))))
    value = float(won.mean())
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = np.where(bottom > 0, top / bottom, value)
    n_outputs = len(np.unique(np.concatenate([pairs.first[counted], pairs.second[counted]])))
    return Share(value, *interval_of(drawn), n_outputs, drawn)


def _summed(times: Floats, one: Counts, other: Counts, weights: Array, n: int) -> Array:
    """Over pairs of items, the weight times how often both items were drawn, shape (B,)."""
    table = np.zeros((n, n))
    np.add.at(table, (one, other), weights)
    return np.asarray(np.einsum("bi,bi->b", times @ table, times))


def rating_of(dataset: Dataset, criterion: str) -> Array:
    """The ratings of a criterion, shape (n,); `mean` is the mean of all criteria, each in deviations from its mean."""
    if criterion != MEAN:
        return ratings(dataset.segments, criterion)
    columns = np.stack([ratings(dataset.segments, name) for name in criteria_of(dataset)])
    spread = np.nanstd(columns, axis=1, keepdims=True)
    scaled = (columns - np.nanmean(columns, axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    known = ~np.isnan(scaled)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(known, scaled, 0.0).sum(axis=0) / known.sum(axis=0))


def _numbered(keys: Sequence[object]) -> Counts:
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
