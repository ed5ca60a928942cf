"""From which score difference on does a metric tell two texts apart? The tie threshold that best fits people's ties."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, by_value
from nlgauge.core.errors import InputError
from nlgauge.stats.correlation import rounding
from nlgauge.stats.correlation.averaging import Ratio, blocks_of_groups, by_group
from nlgauge.stats.correlation.entries import Codes, Entries
from nlgauge.stats.correlation.pairs import pair_counts
from nlgauge.stats.correlation.rounding import FARTHEST, decimals, settled
from nlgauge.stats.draws import Seed, generator

_PAIRS = 1 << 21  # pairs held at once; where there are more, they are made twice
_FINE, _COARSE = (
    38,
    46,
)  # low bits of a float64 that a bin leaves out: 2 ** 14 bins per octave for more than _PAIRS pairs, else 64
_OCTAVES = 64  # differences smaller than the largest one by more than this many halvings share a bin
_EXACT = float(1 << 52)  # whole numbers below this, and their sums, are exact in float64
_SAME = 1e-12  # sums of fractions that differ by less are equal

Block = tuple[Array, Array, float]  # x and z of the groups of one size, shape (s, g), and the weight of a pair in them


@dataclass(frozen=True)
class Threshold:
    """A calibrated tie threshold.

    Attributes:
        epsilon: the smallest threshold with the best accuracy. It is 0 or a difference of two scores inside a group;
            NaN without a pair.
        accuracy: the mean of acc_eq over the groups at that threshold; NaN without a pair.
        unique: False where another threshold, which ties other pairs, is as good: compare accuracies then, not
            thresholds.
    """

    epsilon: float
    accuracy: float
    unique: bool


@by_value
@dataclass(frozen=True)
class HeldOut:
    """Accuracy at thresholds that were calibrated on other items.

    Attributes:
        values: acc_eq of each group in each fold, shape (folds, G); NaN where a group has no pair in the fold.
        epsilons: the threshold of each fold, calibrated on all other folds, shape (folds,).
    """

    values: Array
    epsilons: Array


def calibrate(x: Array, z: Array, groups: list[Codes], *, human_epsilon: float = 0.0, exact: bool = False) -> Threshold:
    """Find the epsilon that maximises the mean of acc_eq over groups, exactly.

    Raising epsilon past the |dx| of a pair turns the pair into a tie. That is right where people tie it (a gain) and
    wrong where it was concordant (a loss). The gains are put in the order of |dx|, so that every threshold is tried.

    Gains are whole numbers, because the weights of groups of unequal size are brought to one denominator; so equal
    accuracies compare as equal. Pairs are first counted into bins of |dx|, and only the bins that can hold the best
    threshold are sorted. This avoids the time and memory that sorting all pairs would take.

    Args:
        x: scores of one metric, shape (n,).
        z: judgements, shape (n,).
        groups: positions of the entries of each group. Groups of one size stand together in one array of shape (g, s).
        human_epsilon: judgements that differ by at most this are tied.
        exact: take values and differences as float64 holds them; else those that are equal but for rounding are equal,
            so that scores times ten have ten times the threshold.

    References:
        Deutsch, Foster and Freitag (2023), "Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy and Tie
        Calibration", section 5.
    """
    groups = [index for index in groups if index.shape[1] >= 2]
    if not groups:
        return Threshold(math.nan, math.nan, False)
    scale, human_near = 1.0, human_epsilon
    if not exact and abs(decimals(x)) <= FARTHEST:
        scale = 10.0 ** decimals(x)
        x, z = np.rint(x * scale), settled(z)  # whole numbers, whose differences are exact
        human_near += float(rounding.slack(z)) if human_epsilon > 0 else 0.0
    weights, whole, slack = _weights(groups)
    blocks = [
        (np.ascontiguousarray(x[i].T), np.ascontiguousarray(z[i].T), w) for i, w in zip(groups, weights, strict=True)
    ]
    start = 0.0
    for mine, theirs, weight in blocks:
        counts = pair_counts(mine.T, theirs.T, human_epsilon=human_epsilon, exact=exact)
        start += weight * float((counts.concordant + counts.tied_both).sum())
    n_pairs = sum(index.shape[0] * math.comb(index.shape[1], 2) for index in groups)
    gaps, totals = _totals(blocks, n_pairs, human_near, start, slack)
    best = np.flatnonzero(totals >= totals.max() - slack)
    return Threshold(float(gaps[best[0]]) / scale, float(totals[best[0]] / whole), len(best) == 1)


def calibrate_held_out(
    entries: Entries, folds: int, seed: Seed, *, human_epsilon: float = 0.0, exact: bool = False
) -> list[HeldOut]:
    """Calibrate on all folds but one, and evaluate on that one; returns one result per metric.

    Entries that `units` holds together are in the same fold.

    Raises:
        InputError: there are fewer than 2 folds, or fewer units than folds.
    """
    n_units = int(entries.units.max(initial=-1)) + 1
    if not 2 <= folds <= n_units:
        raise InputError(f"folds is {folds}, expected a number from 2 to that of the items ({n_units})")
    fold = generator(seed).permutation(n_units)[entries.units] % folds  # (n,)
    near: dict[str, Any] = {"human_epsilon": human_epsilon, "exact": exact}
    found = []
    for m in range(len(entries.x)):
        one = entries.of(np.array([m]))
        values, epsilons = [], []
        for f in range(folds):
            elsewhere = calibrate_entries(replace(one, keep=one.keep & (fold != f)), **near)[0]
            here = replace(one, keep=one.keep & (fold == f))
            epsilons.append(elsewhere.epsilon)
            if math.isnan(elsewhere.epsilon):
                values.append(np.full(len(entries.labels), np.nan))
            else:
                values.append(by_group(agreement, here, options={"epsilon": elsewhere.epsilon, **near}).values[0])
        found.append(HeldOut(np.array(values), np.array(epsilons)))
    return found


def calibrate_entries(entries: Entries, *, human_epsilon: float = 0.0, exact: bool = False) -> list[Threshold]:
    """The calibrated threshold of each metric."""
    found = []
    for row, keep in zip(entries.x, entries.keep, strict=True):
        groups = [index for _, index in blocks_of_groups(entries.groups, keep, len(entries.labels))]
        found.append(calibrate(row, entries.z, groups, human_epsilon=human_epsilon, exact=exact))
    return found


def agreement(
    x: Array, z: Array, *, epsilon: float | Array = 0.0, human_epsilon: float = 0.0, exact: bool = False
) -> Ratio:
    """acc_eq as a ratio: the pairs that both order alike or both tie, out of all pairs."""
    counts = pair_counts(x, z, epsilon=epsilon, human_epsilon=human_epsilon, exact=exact)
    agreeing = (counts.concordant + counts.tied_both).astype(np.float64)
    return Ratio(agreeing, counts.total.astype(np.float64), counts.tied_x.astype(np.float64))


def _weights(groups: list[Codes]) -> tuple[list[float], float, float]:
    """The weight of a pair by size of group, the total weight, and the slack of a comparison.

    The slack is 0 where weights are whole numbers.
    """
    n_groups = sum(len(index) for index in groups)
    pairs = [math.comb(index.shape[1], 2) for index in groups]
    common = math.lcm(*pairs)
    if common * n_groups < _EXACT:
        return [float(common // p) for p in pairs], float(common * n_groups), 0.0
    return [1 / p for p in pairs], float(n_groups), _SAME * n_groups


def _gains(blocks: list[Block], human_near: float) -> Iterator[tuple[Array, Array]]:
    """|dx| and gain of the pairs that a higher threshold makes right or wrong, in portions of some millions."""
    held: list[tuple[Array, Array]] = []
    size = 0
    for x, z, weight in blocks:
        for step in range(1, len(x)):
            dx, dz = x[step:] - x[:-step], z[step:] - z[:-step]
            tied = np.abs(dz) <= human_near
            gained = tied & (dx != 0)
            lost = ~tied & (((dx > 0) & (dz > 0)) | ((dx < 0) & (dz < 0)))
            counted = gained | lost
            held.append((np.abs(dx[counted]), np.where(gained[counted], weight, -weight)))
            size += len(held[-1][0])
            if size >= _PAIRS:
                yield _joined(held)
                held, size = [], 0
    if size:
        yield _joined(held)


def _joined(portions: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    return np.concatenate([gap for gap, _ in portions]), np.concatenate([gain for _, gain in portions])


def _totals(blocks: list[Block], n_pairs: int, human_near: float, start: float, slack: float) -> tuple[Array, Array]:
    """The thresholds at which the total gain changes, 0 included, and the total from each on.

    Every threshold that can be best is among them. A bin can hold the best threshold if the total at its start plus
    its gains, without its losses, reaches the best total at the end of any bin.
    """
    few = list(_gains(blocks, human_near)) if n_pairs <= _PAIRS else None
    bits = _FINE if few is None else _COARSE
    largest = max(float(np.ptp(x, axis=0).max()) for x, _, _ in blocks)
    n_bins = _OCTAVES << (52 - bits)
    lowest = (int(np.float64(largest).view(np.int64)) >> bits) - n_bins + 1
    gained, net = np.zeros(n_bins), np.zeros(n_bins)
    for gaps, gains in _gains(blocks, human_near) if few is None else few:
        at = _bins(gaps, bits, lowest)
        net += np.bincount(at, weights=gains, minlength=n_bins)
        gained += np.bincount(at, weights=np.maximum(gains, 0), minlength=n_bins)
    ends = start + np.cumsum(net)
    hopeful = (ends - net + gained >= max(start, ends.max()) - 2 * slack) & (gained > 0)
    held = [(np.zeros(0), np.zeros(0))]
    for gaps, gains in _gains(blocks, human_near) if few is None else few:
        chosen = hopeful[_bins(gaps, bits, lowest)]
        held.append((gaps[chosen], gains[chosen]))
    gaps, gains = _joined(held)
    order = np.argsort(gaps)
    gaps, gains = gaps[order], gains[order]
    at, first = np.unique(_bins(gaps, bits, lowest), return_index=True)
    before = (ends - net)[at]  # the total where each bin begins
    sums = np.cumsum(gains)
    running = sums + np.repeat(before - (sums - gains)[first], np.diff(np.append(first, len(gaps))))
    last = np.append(gaps[1:] != gaps[:-1], True)[: len(gaps)]  # all pairs of one difference turn into ties together
    return np.append(0.0, gaps[last]), np.append(start, running[last])


def _bins(gaps: Array, bits: int, lowest: int) -> npt.NDArray[np.int64]:
    """A bin number for each gap, from 0, that rises with the gap: the leading bits of a positive float64."""
    return np.asarray(np.maximum((gaps.view(np.int64) >> bits) - lowest, 0))
