"""Pearson's r of differences between outputs for one item: does a metric see how much better one output is?"""

from __future__ import annotations

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.stats.correlation.coefficients import pearson
from nlgauge.stats.correlation.entries import Codes


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
    """PDP: Pearson's r over the differences of every two outputs for one item, all items together.

    Each pair counts in both orders, so that the differences have mean zero on either side. A metric is rewarded for how
    much better one output is than another, not for knowing which items are hard.

    Args:
        x, z, items: as in `within_items`.

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
