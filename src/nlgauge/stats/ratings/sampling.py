"""Which items should people rate next? Inclusion probabilities from metric scores, and samples that keep to them."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.draws import Seed, generator

Method = Literal["informative", "variance", "random"]
METHODS: tuple[Method, ...] = get_args(Method)
Items = npt.NDArray[np.int64]

FLOOR = 0.5  # share of each sample that is drawn uniformly: no weight is more than 1 / FLOOR of a plain sample's
_EASY = 2.0  # standard deviations above the mean difficulty at which an item counts as free of errors
_SLACK = 1e-9


def item_sizes(metrics: Array, method: Method = "informative") -> Array:
    """How much an item is expected to tell about the differences of systems, shape (N,), with mean 1.

    `variance` is the standard deviation of a metric's scores over the systems, averaged over metrics. `informative` is
    the mean of that and of difficulty: how far the metrics' mean score of the item lies below that of an easy item, two
    standard deviations above the mean. On hard items people differ in what they say of systems even where metrics
    see no difference. `random` is 1 for all.

    Args:
        metrics: scores, shape (M, S, N), higher is better; a metric that is constant is left out.
        method: `informative`, `variance` or `random`.

    References:
        Zouhar et al. (2025), "How to Select Datapoints for Efficient Human Evaluation of NLG Models?", section 3, for
        the variance of metrics; Neyman (1934) for sampling in proportion to the spread.
    """
    check_option("method", method, Method, error=InputError)
    n_items = metrics.shape[2]
    spread = metrics.std(axis=(1, 2), keepdims=True)
    varied = spread[:, 0, 0] > 1e-12 * np.abs(metrics).max(axis=(1, 2), initial=0.0)
    z = (metrics - metrics.mean(axis=(1, 2), keepdims=True))[varied] / spread[varied]
    if method == "random" or not len(z):
        return np.ones(n_items)
    apart = _scaled(z.std(axis=1).mean(axis=0))
    if method == "variance":
        return apart
    quality = z.mean(axis=(0, 1))
    deviation = quality.std()
    hard = np.maximum(0.0, _EASY - quality / deviation) if deviation > _SLACK else np.ones(n_items)
    return (apart + _scaled(hard)) / 2


def inclusion_probabilities(sizes: Array, n: int, floor: float = FLOOR) -> Array:
    """Probabilities that sum to n, in proportion to the sizes, mixed with equal ones; none is above 1.

    Args:
        sizes: shape (N,), 0 or more.
        n: items to choose, 1 to N.
        floor: the share of the sample that is chosen uniformly, in (0, 1]; no probability is below floor n / N.

    Raises:
        InputError: a size is negative or not finite, or a number is out of its range.
    """
    sizes = np.asarray(sizes, dtype=np.float64)
    if not np.isfinite(sizes).all() or (sizes < 0).any():
        raise InputError("sizes of items are negative or not finite, expected 0 or more")
    if not 1 <= n <= len(sizes):
        raise InputError(f"n is {n}, expected 1 to {len(sizes)}, the number of items")
    if not 0 < floor <= 1:
        raise InputError(f"floor is {floor}, expected a share above 0 and up to 1")
    mixed = (1 - floor) * _scaled(sizes) + floor
    sure = np.zeros(len(sizes), dtype=np.bool_)
    while True:
        rest = mixed[~sure].sum()
        chances = np.where(sure, 1.0, mixed * ((n - sure.sum()) / rest if rest else 0.0))
        above = ~sure & (chances >= 1)
        if not above.any():
            return np.asarray(chances)
        sure |= above


def systematic_sample(probabilities: Array, seed: Seed = 0) -> Items:
    """Choose items with exactly these probabilities; shape (n,), in the order in which to rate them.

    Items are laid end to end in random order, each as long as its probability, and every whole step from a random start
    takes one. The order of the sample is random as well: its first k items are a sample with probabilities k / n times
    these, so that rating may stop at any time.

    Args:
        probabilities: shape (N,), in [0, 1]; they sum to a whole number n.
        seed: a whole number or a generator, which is advanced.

    Raises:
        InputError: the sum is no whole number.

    References:
        Madow (1949), "On the Theory of Systematic Sampling, II", section 2, on items in random order.
    """
    rng = generator(seed)
    n = round(float(probabilities.sum()))
    if abs(probabilities.sum() - n) > 1e-6:
        raise InputError(f"probabilities sum to {probabilities.sum():g}, expected a whole number")
    sure = np.flatnonzero(probabilities >= 1)
    laid = rng.permutation(np.flatnonzero((probabilities > 0) & (probabilities < 1)))
    ends = np.cumsum(probabilities[laid])
    if len(laid):
        ends[-1] = n - len(sure)  # not a rounding error less
    steps = rng.random() + np.arange(n - len(sure))
    return np.asarray(rng.permutation([*sure, *laid[np.searchsorted(ends, steps, side="right")]]), dtype=np.int64)


def extended_sample(chosen: Items, before: Array, after: Array, n: int, seed: Seed = 0) -> Items:
    """Choose n further items, so that the chances of being chosen now or before become `after`; in the order to rate.

    An item that was passed over is chosen with probability (after - before) / (1 - before), scaled so that n are
    chosen. This holds up to terms of the order of 1 / N, as the sum over the items that are left varies.

    Args:
        chosen: the items of the sample so far.
        before: the probabilities that they were chosen with, shape (N,).
        after: the probabilities wanted, shape (N,), nowhere below `before`.
        n: how many to choose, 1 to the number of items left.
        seed: a whole number or a generator, which is advanced.
    """
    left = np.ones(len(after), dtype=np.bool_)
    left[chosen] = False
    places = np.flatnonzero(left)
    gap = 1 - before[places]
    wanted = np.where(gap > 0, (after - before)[places] / np.where(gap > 0, gap, 1.0), 0.0)
    return places[systematic_sample(inclusion_probabilities(wanted, n, floor=1e-6), seed)]


def _scaled(sizes: Array) -> Array:
    """Sizes with mean 1; all 1 where they are all 0."""
    mean = sizes.mean() if len(sizes) else 0.0
    return np.asarray(sizes / mean) if mean > 0 else np.ones(len(sizes))
