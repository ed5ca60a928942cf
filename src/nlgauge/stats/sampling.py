"""What do few ratings say of systems when metrics have scored all items? Prediction-powered means and differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask, by_value
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.draws import Seed, check_level, generator

_FOLDS = 5
_RIDGE = 0.1  # of the mean variance of a feature: scores of 20 metrics are fitted to the ratings of 10 items
_PRIOR = 5  # items whose variance is the mean of all systems'; a system without a bad rating so far may still get one


@by_value
@dataclass(frozen=True)
class PoweredMeans:
    """Mean ratings of S systems over all N items, estimated from the ratings of n of them.

    Attributes:
        values: what the means would be if all items were rated, shape (S,).
        low, high: ends of their intervals, shape (S,).
        deltas: row minus column, shape (S, S).
        delta_low, delta_high: ends of the intervals of the differences, shape (S, S).
        lead: the probability that row leads column when all items are rated, shape (S, S); 1/2 for equal values.
        strength: how much the predictions count, from 0 (not at all) to 1 (fully); lambda of PPI++.
        n_plain: items drawn at random that would give an interval as wide without metrics, shape (S,); NaN where all
            ratings are equal.
        n_plain_deltas: the same for the differences, by the mean of their variances.
        n: the number of rated items.
        level: the confidence of each interval by itself.
    """

    values: Array
    low: Array
    high: Array
    deltas: Array
    delta_low: Array
    delta_high: Array
    lead: Array
    strength: float
    n_plain: Array
    n_plain_deltas: float
    n: int
    level: float


def rating_features(metrics: Array) -> Array:
    """The predictors of a rating: by each metric the mean score of its item, and how far the output is from that mean.

    Args:
        metrics: scores of everything, shape (M, S, N); a metric that is constant is left out.

    Returns:
        Shape (N, S, 2 M), each metric at mean 0 and variance 1.
    """
    centred = metrics - metrics.mean(axis=(1, 2), keepdims=True)
    spread = centred.std(axis=(1, 2))
    varied = spread > 1e-12 * np.abs(metrics).max(axis=(1, 2), initial=0.0)
    z = centred[varied] / spread[varied, None, None]
    hard = np.broadcast_to(z.mean(axis=1, keepdims=True), z.shape)
    return np.ascontiguousarray(np.concatenate([z - hard, hard]).transpose(2, 1, 0))


def powered_means(
    human: Array, features: Array | None = None, probabilities: Array | None = None, *, level: float = 0.95
) -> PoweredMeans:
    """Estimate the mean ratings of systems over all items by prediction-powered inference.

    A ridge regression of ratings on features predicts all ratings. The mean of the predictions is corrected by the
    mean error on the rated items, weighted by 1 / probability (Hajek). A rated item is predicted by a regression on
    the other folds. One strength of the predictions is tuned for all systems, to the smallest variance: with
    one per system, intervals from few items are too narrow. Variances are moderated: those of single systems, and
    of single differences, are drawn towards their mean as 5 items more would draw them.

    Intervals are about these N items, so that they shrink to a point when all are rated.

    Args:
        human: ratings, shape (S, N), NaN where missing. An item counts as rated if it is rated for all systems.
        features: what predicts ratings, shape (N, S, k), as `rating_features` makes it from the scores of metrics; None
            for weighted means alone.
        probabilities: how likely each item was to be rated, shape (N,); only those of rated items are read. None
            stands for a random choice.
        level: the confidence of each interval by itself.

    Raises:
        InputError: fewer than 2 systems or rated items, a feature that is not finite, or a probability outside (0, 1].

    References:
        Angelopoulos et al. (2023), "PPI++: Efficient Prediction-Powered Inference", section 6 (power tuning); Zrnic and
        Candes (2024), "Cross-prediction-powered inference" (folds), and "Active Statistical Inference", section 3
        (weights); Sarndal et al. (1992), "Model Assisted Survey Sampling", chapter 6 (variance over given items); Smyth
        (2004), "Linear Models and Empirical Bayes Methods", section 3 (moderated variances).
    """
    from scipy.special import stdtr, stdtrit

    rated = np.asarray(~np.isnan(human).any(axis=0))
    chances = _checked(human, features, probabilities, rated, level)
    n, y = int(rated.sum()), human[:, rated]  # (S, n)
    weights = 1 / chances / (1 / chances).sum()
    inside, overall = _predicted(y, features, rated)
    strength = _strength(y, inside, weights)
    wrong = y - strength * inside
    values = wrong @ weights + strength * overall
    own, apart = _variances(wrong, weights, n / (n - 1) * (1 - chances) * weights**2)
    plain, plain_apart = _variances(y, weights, n / (n - 1) * weights)  # of single ratings
    pairs = np.triu_indices(len(values), 1)
    cost = _n_plain(apart[pairs].mean(), plain_apart[pairs].mean(), len(rated))
    error, errors = _errors(own, own.mean(), n), _errors(apart, apart[pairs].mean(), n)
    deltas, reach = values[:, None] - values, float(stdtrit(n - 1, (1 + level) / 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        lead = np.where(deltas == 0, 0.5, stdtr(n - 1, deltas / errors))
    ends = (values - reach * error, values + reach * error, deltas, deltas - reach * errors, deltas + reach * errors)
    return PoweredMeans(values, *ends, lead, strength, _n_plain(own, plain, len(rated)), float(cost), n, level)


def _errors(variances: Array, mean: float, n: int) -> Array:
    """Standard errors from variances that are drawn towards their mean."""
    return np.sqrt(((n - 1) * variances + _PRIOR * mean) / (n - 1 + _PRIOR))


def _checked(human: Array, features: Array | None, probabilities: Array | None, rated: Mask, level: float) -> Array:
    """The probabilities of the rated items, shape (n,)."""
    check_level(level)
    n, shape = int(rated.sum()), human.shape
    if human.ndim != 2 or shape[0] < 2 or n < 2:
        raise InputError(f"ratings of {n} items by shape {shape}, expected 2 systems or more and 2 rated items or more")
    if features is not None and (features.shape[:2] != shape[::-1] or not np.isfinite(features).all()):
        raise InputError(f"features have shape {features.shape}, expected ({shape[1]}, {shape[0]}, k), all finite")
    chances = np.full(n, n / shape[1]) if probabilities is None else np.asarray(probabilities, dtype=np.float64)[rated]
    if not ((chances > 0) & (chances <= 1)).all():
        raise InputError("probabilities of rated items are not all above 0 and up to 1")
    return chances


def _predicted(y: Array, features: Array | None, rated: Mask) -> tuple[Array, Array]:
    """Predictions of the rated items by other folds, shape (S, n), and the mean of all predictions, shape (S,).

    Those of unrated items are the mean of what the folds say.
    """
    inside, outside = np.zeros(y.shape), np.zeros(len(y))
    if features is None or not features.shape[2]:
        return inside, outside
    here = features[rated]  # (n, S, k)
    rest = features.sum(axis=0) - here.sum(axis=0)  # (S, k)
    fold = np.arange(len(here)) % min(_FOLDS, len(here))
    for part in range(fold.max() + 1):
        other = fold != part
        known, target = here[other], y[:, other].T  # (n', S, k), (n', S)
        known, target = known - known.mean(axis=0), target - target.mean(axis=0)
        flat = known.reshape(-1, features.shape[2])
        squares = flat.T @ flat
        ridge = _RIDGE * np.trace(squares) / len(squares) + 1e-12
        slopes = np.linalg.solve(squares + ridge * np.eye(len(squares)), flat.T @ target.reshape(-1))
        inside[:, ~other] = (here[~other] @ slopes).T
        outside += rest @ slopes * (~other).mean()
    return inside, (inside.sum(axis=1) + outside) / len(rated)


def _strength(y: Array, inside: Array, weights: Array) -> float:
    """The lambda that makes the variance smallest, within 0 and 1."""
    y, inside = y - (y @ weights)[:, None], inside - (inside @ weights)[:, None]
    spread = float((inside**2 @ weights).sum())
    return float(np.clip((y * inside @ weights).sum() / spread, 0, 1)) if spread > 0 else 0.0


def _variances(values: Array, weights: Array, each: Array) -> tuple[Array, Array]:
    """Variances of the rows of values and of their differences, shapes (S,) and (S, S); items count as `each` says."""
    centred = values - (values @ weights)[:, None]
    together = (centred * each) @ centred.T
    own = together.diagonal()
    return own, np.maximum(own[:, None] + own - 2 * together, 0.0)


def _n_plain(variance: Array, single: Array, n_items: int) -> Array:
    """Items whose plain mean, drawn at random without replacement, has a variance; `single` is that of one item."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(single > 0, 1 / (variance / single + 1 / n_items), np.nan))


# --- Which items should people rate next? Inclusion probabilities from metric scores, and samples that keep to them

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
