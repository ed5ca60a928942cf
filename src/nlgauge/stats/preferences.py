"""Does a metric prefer what people prefer? Statistics of pairs: of texts, of outputs for one item, of systems."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask, by_value
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats import coefficients
from nlgauge.stats.coefficients import FARTHEST, best_threshold, decimals, pair_counts, pearson, settled, slack
from nlgauge.stats.draws import SHARES, Interval, Seed, check_draws, check_level, fair_coins, generator
from nlgauge.stats.entries import (
    Codes,
    Entries,
    PairPolicy,
    Ratio,
    blocks_of_groups,
    by_group,
    check_vectors,
    codes,
    numbers,
)

Tally = npt.NDArray[Any]  # whole numbers of pairs

Ties = Literal["loss", "half", "exclude", "zero"]
TIES: tuple[Ties, ...] = get_args(Ties)

_SLACK = 1e-9  # 75.1 - 50.1 is 24.999999999999993 in float64, yet people would say 25


@dataclass(frozen=True, kw_only=True)
class PreferenceAccuracy:
    """How often a metric prefers the better text.

    Attributes:
        value: the share of pairs, with ties settled by `ties`. Over several groups it is the plain mean of their
            shares. NaN without a pair.
        low: lower end of the interval; NaN for a mean of groups.
        high: upper end.
        wins: pairs in which the better text scores higher.
        n_ties: pairs with equal scores.
        losses: all other pairs.
        n_used: pairs in the denominator, or groups in the mean.
        n_undefined: pairs that do not count (a score is missing, or a tie is excluded), or groups without a pair.
        chance: the value of a metric that guesses wherever it does not tie.
        level: always `segment`.
        averaging: `none`, or `item` for a mean of groups.
        ties: how ties are settled.
        confidence: the confidence of the interval.
        groups: the result of each group, in the order of their first pair; empty without groups.
    """

    value: float
    low: float
    high: float
    wins: int
    n_ties: int
    losses: int
    n_used: int
    n_undefined: int
    chance: float
    level: str
    averaging: str
    ties: str
    confidence: float
    groups: dict[Hashable, PreferenceAccuracy]


def kendall_like(
    x: Array,
    z: Array,
    *,
    threshold: float = 25.0,
    ties: str = "loss",
    human_ties_lose: bool = False,
    exact: bool = False,
) -> Ratio:
    """WMT's Kendall-like statistic over the pairs that people clearly tell apart.

    Args:
        x: scores, shape (..., n), all of one source.
        z: judgements, shape (..., n); leading axes broadcast.
        threshold: pairs that differ by at least this count (inclusive); pairs that people tie never do.
        ties: how a pair counts that the metric ties; WMT counts it as a loss.
        human_ties_lose: with a threshold of 0, count pairs tied by people as losses, as mt-metrics-eval does.
        exact: see `pair_counts`.

    Returns:
        Wins minus losses, and the number of pairs counted, as a ratio of shape (...).

    References:
        Bojar, Graham and Kamran (2017), "Results of the WMT17 Metrics Shared Task", section 3.2; Xu et al. (2022),
        "Not All Errors are Equal" (SEScore), equation 3, which is this with threshold 0.
    """
    if not threshold >= 0:
        raise InputError(f"threshold is {threshold}, expected the least distance of two judgements, 0 or more")
    below = max(threshold * (1 - _SLACK) - (0.0 if exact else 2 * float(slack(z).max(initial=0.0))), 0.0)
    counts = pair_counts(x, z, human_epsilon=below, exact=exact)
    losses = counts.discordant
    if human_ties_lose and threshold == 0:
        losses = losses + counts.tied_z + counts.tied_both
    return tau_of(counts.concordant, losses, counts.tied_x, ties)


def rr_kendall(better: Array, worse: Array, *, ties: str = "loss") -> Ratio:
    """Kendall-like statistic of ready-made pairs: better and worse scores, shape (..., n); see `tau_of`."""
    return tau_of(*outcomes(better, worse), ties)


def preference(better: Array, worse: Array, *, ties: str = "loss") -> Ratio:
    """Share of pairs in which the better text gets the higher score, shape (..., n) to (...); see `accuracy_of`."""
    return accuracy_of(*outcomes(better, worse), ties)


def outcomes(better: Array, worse: Array) -> tuple[Tally, Tally, Tally]:
    """Wins, losses and ties along the last axis; a NaN on either side is a loss."""
    better, worse = check_vectors(better, worse), check_vectors(worse, better)
    wins, ties = (better > worse).sum(axis=-1), (better == worse).sum(axis=-1)
    return wins, better.shape[-1] - wins - ties, ties


def tau_of(wins: Tally, losses: Tally, ties: Tally, policy: str) -> Ratio:
    """(wins - losses) / pairs. A tie is a loss (`loss`), is not counted (`exclude`), or adds 0 (`half`, `zero`)."""
    check_option("ties", policy, Ties, error=InputError)
    lost = losses + ties if policy == "loss" else losses
    counted = wins + losses if policy == "exclude" else wins + losses + ties
    return Ratio(
        np.asarray(wins - lost, dtype=np.float64),
        np.asarray(counted, dtype=np.float64),
        np.asarray(ties, dtype=np.float64),
    )


def accuracy_of(wins: Tally, losses: Tally, ties: Tally, policy: str) -> Ratio:
    """Wins / pairs. A tie counts as 0 (`loss`, `zero`), as half a win (`half`), or not as a pair (`exclude`)."""
    check_option("ties", policy, Ties, error=InputError)
    won = wins + ties / 2 if policy == "half" else wins
    counted = wins + losses if policy == "exclude" else wins + losses + ties
    return Ratio(
        np.asarray(won, dtype=np.float64), np.asarray(counted, dtype=np.float64), np.asarray(ties, dtype=np.float64)
    )


def darr_pairs(z: Array, groups: Codes, *, threshold: float = 25.0) -> tuple[Codes, Codes]:
    """Positions of the better and of the worse entry of each pair from direct assessments of one source (DARR).

    Args:
        z: judgements, shape (n,), NaN where there is none.
        groups: the source of each entry, shape (n,), whole numbers from 0.
        threshold: the smallest difference of two judgements that makes a pair, inclusive.

    References:
        Ma, Bojar and Graham (2018), "Results of the WMT18 Metrics Shared Task", section 3.2.
    """
    better, worse = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    places = decimals(z)
    for _, index in blocks_of_groups(groups, ~np.isnan(z), int(groups.max(initial=-1)) + 1):
        first, second = (index[:, side].ravel() for side in np.triu_indices(index.shape[1], 1))
        gap = settled(z[first] - z[second], places)
        clear = (np.abs(gap) >= threshold * (1 - _SLACK)) & (gap != 0)
        better.append(np.where(gap > 0, first, second)[clear])
        worse.append(np.where(gap > 0, second, first)[clear])
    return np.concatenate(better), np.concatenate(worse)


def preference_accuracy(
    better: Sequence[float | None] | Array,
    worse: Sequence[float | None] | Array,
    groups: Sequence[Hashable] | None = None,
    *,
    ties: str = "loss",
    missing: str = "refuse",
    confidence: float = 0.95,
    interval: str = "wilson",
) -> PreferenceAccuracy:
    """The share of pairs in which the better text gets the higher score.

    Args:
        better, worse: scores of the better and of the worse texts, shape (n,); higher is better.
        groups: a label for each pair, such as its phenomenon. The value is then the plain mean over groups, as suites
            report it.
        ties: `loss`, `half`, `exclude`, or `zero`, which is `loss` here.
        missing: a pair with a missing score is refused (`refuse`), left out (`drop`) or lost (`worst`).
        confidence, interval: of the interval; `wilson`, or `clopper-pearson`, which is exact and wider.

    Raises:
        InputError: lengths are unequal, a score is missing under `refuse`, or an option is out of its range.

    References: Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference".
    """
    check_option("ties", ties, Ties, error=InputError)
    check_option("missing", missing, PairPolicy, error=InputError)
    check_level(confidence)
    check_option("interval", interval, Interval, error=InputError)
    good, bad = numbers(better, "scores of the better texts"), numbers(worse, "scores of the worse texts")
    good, bad = check_vectors(good, bad), check_vectors(bad, good)
    absent = np.isnan(good) | np.isnan(bad)
    if absent.any() and missing == "refuse":
        raise InputError(f"a score is missing in {places(absent)}; choose missing='drop' or 'worst'")
    kept = ~absent if missing == "drop" else np.ones(len(good), dtype=np.bool_)
    whole = _settled(good, bad, kept, ties, confidence, interval)
    if groups is None:
        return whole
    of, labels = codes(groups, len(good), "groups")
    parts = {
        label: _settled(good[of == g], bad[of == g], kept[of == g], ties, confidence, interval)
        for g, label in enumerate(labels)
    }
    defined = [part for part in parts.values() if not math.isnan(part.value)]
    return PreferenceAccuracy(
        value=float(np.mean([part.value for part in defined])) if defined else math.nan,
        low=math.nan,
        high=math.nan,
        wins=whole.wins,
        n_ties=whole.n_ties,
        losses=whole.losses,
        n_used=len(defined),
        n_undefined=len(parts) - len(defined),
        chance=float(np.mean([part.chance for part in defined])) if defined else math.nan,
        level="segment",
        averaging="item",
        ties=ties,
        confidence=confidence,
        groups=parts,
    )


def places(absent: Mask) -> str:
    """How many pairs lack a score, and the first of them, for an error message."""
    return f"{absent.sum()} of {len(absent)} pairs (first: pair {int(np.flatnonzero(absent)[0])})"


def _settled(good: Array, bad: Array, kept: Mask, ties: str, confidence: float, interval: str) -> PreferenceAccuracy:
    wins, losses, tied = (int(count) for count in outcomes(good[kept], bad[kept]))
    ratio = accuracy_of(np.asarray(wins), np.asarray(losses), np.asarray(tied), ties)
    low, high = SHARES[interval](float(ratio.numerator), float(ratio.denominator), confidence)
    guessed = accuracy_of(np.asarray((wins + losses) / 2), np.asarray((wins + losses) / 2), np.asarray(tied), ties)
    return PreferenceAccuracy(
        value=float(ratio.value),
        low=low,
        high=high,
        wins=wins,
        n_ties=tied,
        losses=losses,
        n_used=int(ratio.denominator),
        n_undefined=len(good) - int(ratio.denominator),
        chance=float(guessed.value),
        level="segment",
        averaging="none",
        ties=ties,
        confidence=confidence,
        groups={},
    )


# --- From which score difference on does a metric tell two texts apart? The tie threshold that best fits people's ties

_PAIRS = 1 << 21  # pairs held at once; where there are more, they are made twice
# Low bits of a float64 that a bin leaves out: 2 ** 14 bins per octave for more than _PAIRS pairs, else 64.
_FINE, _COARSE = 38, 46
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


def calibrate(x: Array, z: Array, groups: list[Codes], *, human_epsilon: float = 0.0, exact: bool = False) -> Threshold:
    """Find the epsilon that maximises the mean of acc_eq over groups, exactly.

    Raising epsilon past the |dx| of a pair turns the pair into a tie. That is right where people tie it, and wrong
    where it was concordant; every threshold is tried.

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
        human_near += float(coefficients.slack(z)) if human_epsilon > 0 else 0.0
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


def folds_of(entries: Entries, folds: int, seed: Seed) -> Codes:
    """The fold of each entry, shape (n,); entries that `units` holds together are in the same one.

    Raises:
        InputError: there are fewer than 2 folds, or fewer units than folds.
    """
    n_units = int(entries.units.max(initial=-1)) + 1
    if not 2 <= folds <= n_units:
        raise InputError(f"folds is {folds}, expected a number from 2 to that of the items ({n_units})")
    return np.asarray(generator(seed).permutation(n_units)[entries.units] % folds)


def classes_held_out(entries: Entries, statistic: Callable[..., Any], folds: int, seed: Seed) -> tuple[Array, Array]:
    """The class that each score tells, by the threshold that suits the metric best on all other folds (see `folds_of`).

    Returns:
        1 or -1 for each entry, shape (M, n), NaN where all labels of the other folds are alike; and the thresholds,
        shape (M, folds).
    """
    fold = folds_of(entries, folds, seed)
    told, cuts = np.full(entries.x.shape, np.nan), np.full((len(entries.x), folds), np.nan)
    for m, (row, keep) in enumerate(zip(entries.x, entries.keep, strict=True)):
        for f in range(folds):
            here, others = keep & (fold == f), keep & (fold != f)
            cuts[m, f] = best_threshold(row[others], entries.z[others], statistic)
            if not math.isnan(cuts[m, f]):
                told[m, here] = np.where(row[here] >= cuts[m, f], 1.0, -1.0)
    return told, cuts


def calibrate_held_out(
    entries: Entries, folds: int, seed: Seed, *, human_epsilon: float = 0.0, exact: bool = False
) -> list[Array]:
    """Calibrate on all folds but one, and evaluate on that one; folds and errors are those of `folds_of`.

    Returns:
        For each metric acc_eq of each group in each fold, shape (folds, G); NaN where a group has no pair in the fold.
    """
    fold = folds_of(entries, folds, seed)  # (n,)
    near: dict[str, Any] = {"human_epsilon": human_epsilon, "exact": exact}
    found = []
    for m in range(len(entries.x)):
        one = entries.of(np.array([m]))
        values = []
        for f in range(folds):
            elsewhere = calibrate_entries(replace(one, keep=one.keep & (fold != f)), **near)[0]
            here = replace(one, keep=one.keep & (fold == f))
            if math.isnan(elsewhere.epsilon):
                values.append(np.full(len(entries.labels), np.nan))
            else:
                values.append(by_group(agreement, here, options={"epsilon": elsewhere.epsilon, **near}).values[0])
        found.append(np.array(values))
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


# --- Pearson's r of differences between outputs for one item: does a metric see how much better one output is?


def within_items(x: Array, z: Array, items: Codes) -> tuple[Array, Array, int]:
    """Scores and judgements whose Pearson's r is that of all differences within items.

    Over the ordered pairs of the n outputs for one item, the sum of (x_a - x_b)(z_a - z_b) is 2n times the sum of
    (x - mean x)(z - mean z). So the outputs of every item are centred, and multiplied by the square root of n.

    Args:
        x: scores, shape (M, n), without NaN.
        z: judgements, shape (n,), without NaN.
        items: the item of each entry, shape (n,).

    Returns:
        Scores and judgements of the same shapes, and the number of pairs, each counted once.
    """
    _, items, sizes = np.unique(items, return_inverse=True, return_counts=True)
    root = np.sqrt(sizes)[items]

    def centred(values: Array) -> Array:
        shifted = values - values.mean()  # a large common offset would cost digits
        means = np.bincount(items, weights=shifted, minlength=len(sizes)) / sizes
        gaps = shifted - means[items]
        gaps[np.abs(gaps) <= 1e-14 * np.abs(shifted).max(initial=0.0)] = 0.0  # what is less is rounding
        return np.asarray(gaps * root)

    return np.stack([centred(row) for row in x]), centred(z), int((sizes * (sizes - 1) // 2).sum())


def pairwise_difference_pearson(x: Array, z: Array, items: Codes) -> tuple[Array, int]:
    """PDP: Pearson's r over the differences of every two outputs for one item, all items together; see `within_items`.

    Each pair counts in both orders, so that the differences have mean zero on either side. A metric is rewarded for how
    much better one output is than another, not for knowing which items are hard.

    Returns:
        Values of M metrics, NaN for a metric that is constant within every item, and the number of pairs.
    """
    if not len(z):
        return np.full(len(x), np.nan), 0
    scores, judgements, n_pairs = within_items(x, z, items)
    if not n_pairs:
        return np.full(len(x), np.nan), 0
    return np.asarray(pearson(scores, judgements)), n_pairs


def mean_of_system_pairs(x: Array, z: Array, judged: Mask) -> tuple[Array, Array]:
    """Pearson's r over items of the difference of two systems, averaged over pairs of systems.

    Args:
        x: scores, shape (M, S, N).
        z: judgements, shape (S, N).
        judged: which cells count, shape (S, N). Two systems are compared on the items that count for both.

    Returns:
        The means of M metrics over the pairs in which r is defined, and the number of these pairs, shape (M,) each.
    """
    counts = judged.astype(np.float64)
    n = counts @ counts.T

    def of_pairs(product: Array, left: Array, right: Array) -> Array:
        """The sum over shared items of the product of two differences, shape (S, S)."""
        own, crossed = product @ counts.T, left @ right.T
        return own + own.T - crossed - crossed.T

    def sums(values: Array) -> Array:
        own = values @ counts.T
        return own - own.T

    def held(values: Array) -> Array:
        return np.where(judged, values - values[judged].mean(), 0.0)

    upper = np.triu_indices(len(z), 1)
    human = held(z)
    variance_z = n * of_pairs(human * human, human, human) - sums(human) ** 2
    means, used = np.full(len(x), np.nan), np.zeros(len(x))
    for m, scores in enumerate(map(held, x)):
        variance_x = n * of_pairs(scores * scores, scores, scores) - sums(scores) ** 2
        covariance = n * of_pairs(scores * human, scores, human) - sums(scores) * sums(human)
        least = 1e-12 * n * n  # of the squares: what is less is rounding
        defined = (variance_x > least * (scores**2).mean()) & (variance_z > least * (human**2).mean()) & (n > 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            r = (covariance / np.sqrt(variance_x * variance_z))[upper]
        r = r[defined[upper]]
        used[m] = len(r)
        means[m] = r.mean() if len(r) else np.nan
    return means, used


# --- Does a metric rank systems as people do? Pairwise accuracy, and its soft form that weighs how sure people are

# Sums of the same numbers in another order differ by less, relative to the sum of their sizes.
_ORDER_SLACK = 1e-12


@by_value
@dataclass(frozen=True)
class SoftAccuracy:
    """Soft pairwise accuracy of M metrics.

    Attributes:
        values: the accuracies, shape (M,), in [0, 1]; NaN without a pair of systems.
        human_p: the probability that system i would lead system j by at least as much as it does, if the two were
            equal. Shape (S, S); NaN where no segment of both is judged. p[i, j] + p[j, i] = 1, except in a
            compatibility mode.
        n_pairs: pairs of systems that count.
        n_undefined: pairs of systems without a segment in common.
    """

    values: Array
    human_p: Array
    n_pairs: int
    n_undefined: int


def pairwise(x: Array, z: Array, *, ties: str = "loss") -> Ratio:
    """The pairs of systems that metric and people order alike.

    A pair that both tie counts as ordered alike.

    Args:
        x: system scores, shape (..., S).
        z: human system scores, shape (..., S); leading axes broadcast.
        ties: `loss` (Kocmi et al.), `half`, `exclude`, or `zero`, which for an accuracy is `loss`.

    References:
        Kocmi et al. (2021), "To Ship or Not to Ship", section 4.
    """
    counts = pair_counts(x, z)
    return accuracy_of(counts.concordant + counts.tied_both, counts.discordant, counts.tied_x + counts.tied_z, ties)


def soft_pairwise(
    x: Array, z: Array, judged: Mask, *, draws: int = 1000, seed: Seed = 0, as_released: bool = False
) -> SoftAccuracy:
    """1 minus the mean over pairs of systems of |p_human - p_metric|.

    Both p-values come from one-sided paired sign-flip tests over segments. A pair of systems is compared on the
    segments that are judged for both.

    A draw that ties with the data counts half; the released code counts it whole, so that the value depends on the
    order of the systems.

    Args:
        x: segment scores, shape (M, S, N); any value where not judged.
        z: segment judgements, shape (S, N).
        judged: where both hold a number, shape (S, N).
        draws: the number of sign patterns, K; all systems, all metrics and the judgements share them.
        seed: a whole number or a generator, which is advanced.
        as_released: compute p as the released code does: with `>=`, in float32, in the order given.

    Raises:
        InputError: there are fewer than 2 systems, or a segment has no judgement under `as_released`.

    References:
        Thompson et al. (2024), "Improving Statistical Significance in Human Evaluation of Automatic Metrics via Soft
        Pairwise Accuracy".
    """
    check_draws(draws)
    if z.shape[0] < 2:
        raise InputError(f"soft pairwise accuracy compares systems in pairs, got {z.shape[0]}")
    rng = generator(seed)
    scores = np.concatenate([z[None], x])
    if as_released:
        if not judged.all():
            raise InputError(
                "compat='mt-metrics-eval' needs a judgement for every segment: with gaps that package pairs unlike"
                " segments"
            )
        p = _released_p(scores, rng, draws)
    else:
        p = sign_flip_p(scores, judged, np.asarray(2 * fair_coins(rng, draws, z.shape[1]) - 1, dtype=np.float64))
    upper = np.triu_indices(z.shape[0], 1)
    apart = np.abs(p[1:] - p[:1])[:, *upper]  # (M, pairs)
    defined = ~np.isnan(p[0][upper])
    values = 1 - apart[:, defined].mean(axis=1) if defined.any() else np.full(len(x), np.nan)
    return SoftAccuracy(values, p[0], int(defined.sum()), int((~defined).sum()))


def sign_flip_p(scores: Array, judged: Mask, signs: Array) -> Array:
    """Mid p-values of "system i beats system j" when the signs of their differences are flipped.

    Args:
        scores: shape (M, S, N).
        judged: segments to use, shape (S, N).
        signs: 1 and -1, shape (K, N).

    Returns:
        Shape (M, S, S); NaN on the diagonal and where two systems share no segment.
    """
    n_metrics, n_systems, n = scores.shape
    scores = np.where(judged, scores, 0.0)
    # Only differences between systems matter. Without the mean of each segment the sums are small and more exact.
    scores = np.where(judged, scores - scores.sum(axis=1, keepdims=True) / np.maximum(judged.sum(axis=0), 1), 0.0)
    sizes = np.abs(scores).sum(axis=2)  # (M, S)
    p = np.full((n_metrics, n_systems, n_systems), np.nan)
    if judged.all():
        flipped = (signs @ scores.reshape(-1, n).T).T.reshape(n_metrics, n_systems, -1)  # (M, S, K)
        totals = scores.sum(axis=2)
    for i in range(n_systems - 1):
        for j in range(i + 1, n_systems):
            common = judged[i] & judged[j]
            if not common.any():
                continue
            if judged.all():
                null, seen = flipped[:, i] - flipped[:, j], totals[:, i] - totals[:, j]
            else:
                gaps = np.where(common, scores[:, i] - scores[:, j], 0.0)
                null, seen = gaps @ signs.T, gaps.sum(axis=1)
            slack = _ORDER_SLACK * (sizes[:, i] + sizes[:, j])
            above = (null > (seen + slack)[:, None]).sum(axis=1)
            reach = (null >= (seen - slack)[:, None]).sum(axis=1)
            p[:, i, j] = (above + reach) / (2 * len(signs))
            p[:, j, i] = 1 - p[:, i, j]
    return p


def _released_p(scores: Array, rng: np.random.Generator, draws: int) -> Array:
    signs = 2 * np.rint(rng.random((draws, scores.shape[2]), dtype=np.float32)) - 1
    single: npt.NDArray[np.float32] = scores.astype(np.float32)
    totals, flipped = single.sum(axis=2), np.stack([signs @ rows.T for rows in single])  # (M, S), (M, K, S)
    null = flipped[:, :, :, None] - flipped[:, :, None, :]
    p = (null >= (totals[:, :, None] - totals[:, None, :])[:, None]).sum(axis=1) / draws
    return np.where(np.eye(scores.shape[1], dtype=np.bool_), np.nan, p)
