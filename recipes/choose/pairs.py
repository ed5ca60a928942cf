"""How often a metric orders two rated outputs as people do, and some outputs of a set: for the shipped table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.choosing.known import item_of
from nlgauge.core.arrays import Array, Counts, Floats
from nlgauge.core.inputs import SameInputs
from nlgauge.core.segment import Dataset, Segment
from nlgauge.metaeval.joined import criteria_of, ratings
from nlgauge.stats.draws import generator, numbered, resample_counts

_FEW = 20  # pairs of outputs for one input; fewer, and outputs for different inputs are compared
MEAN = "mean"  # of all criteria
_SOME = 0.05  # in deviations of the ratings: a smaller difference between two inputs is none


@dataclass(frozen=True, eq=False)
class Share:
    """A share of trials that come from clusters, such as items.

    Attributes:
        value: the share.
        low, high: the ends of its 95 % interval.
        n: the number of trials.
        draws: the share on B resamples of the clusters, shape (B,).
    """

    value: float
    low: float
    high: float
    n: int
    draws: Array


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
    items = numbered(item_of(s) for s in segments)
    groups = numbered(s.group for s in segments)
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
    won = np.where(gap > 0, 1.0, np.where(gap == 0, 0.5, 0.0))[counted]
    one, other = pairs.clusters[pairs.first[counted]], pairs.clusters[pairs.second[counted]]
    n_items = int(pairs.clusters.max()) + 1
    times = resample_counts(generator(seed), 1000, n_items)
    if pairs.within:
        wins, sizes = (np.bincount(one, weights=w, minlength=n_items) for w in (won, np.ones(len(won))))
        top, bottom = times @ wins, times @ sizes
    else:
        top, bottom = (_summed(times, one, other, w, n_items) for w in (won, np.ones(len(won))))
    value = float(won.mean())
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = np.where(bottom > 0, top / bottom, value)
    n_outputs = len(np.unique(np.concatenate([pairs.first[counted], pairs.second[counted]])))
    return Share(value, *np.quantile(drawn, (0.025, 0.975)).tolist(), n_outputs, drawn)


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


# --- Some outputs of a set: whole items, drawn at random

_SYSTEMS = 8  # systems that are compared, at most
_ITEMS = 30  # items that are kept even if that makes more outputs
_WORDS = 60.0  # of an output and its references; of longer ones fewer are looked at, since they take longer
_LEAST = 0.25  # of the outputs, however long
_READ = 450.0  # words with the source: of longer ones fewer than that, so that a run does not take for ever


def part_of(segments: Sequence[Segment]) -> float:
    """The part of the usual number of texts that is looked at: 1 up to 60 words, then less.

    It is 0.25 at least while no more than 1,800 words are read of each, counted with its source.
    """
    some = segments[:: max(1, len(segments) // 200)]
    words = [len(" ".join((s.hypothesis, *s.references)).split()) for s in some]
    sources = [len((s.source or "").split()) for s in some]
    mean = sum(words) / max(len(words), 1)
    read = mean + sum(sources) / max(len(sources), 1)
    return min(1.0, max(_LEAST, _WORDS / max(mean, 1.0)), _READ / max(read, 1.0))


def sampled(dataset: Dataset, limit: int, seed: int = 0) -> Dataset:
    """Whole items drawn at random, up to about `limit` outputs; of more than 8 systems the 8 with most outputs.

    Args:
        dataset: all outputs.
        limit: how many are taken; of long texts fewer.
        seed: of the draw.

    Raises:
        InputError: outputs for one item were written for different inputs.
    """
    SameInputs().check(dataset.segments)
    segments = dataset.segments
    counts: dict[str | None, int] = {}
    for s in segments:
        counts[s.system] = counts.get(s.system, 0) + 1
    if len(counts) > _SYSTEMS:
        kept = set(sorted(counts, key=lambda name: -counts[name])[:_SYSTEMS])
        segments = tuple(s for s in segments if s.system in kept)
    items: dict[tuple[str | None, str], list[Segment]] = {}
    for s in segments:
        items.setdefault(item_of(s), []).append(s)
    each = len(segments) / max(len(items), 1)
    n = max(int(limit * part_of(segments) / max(each, 1.0)), int(_ITEMS * part_of(segments)), 1)
    if n < len(items):
        order = generator(seed).permutation(len(items))
        chosen = {list(items)[i] for i in np.sort(order[:n])}
        segments = tuple(s for s in segments if item_of(s) in chosen)
    return Dataset(segments, dataset.name, dataset.notes)
