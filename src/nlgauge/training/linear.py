"""Linear models of ratings: ridge regression on the scores of metrics (BLEND), and a ranker on n-grams (BEER)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric
from nlgauge.core.options import Range, check_option
from nlgauge.core.result import check_target, replacing
from nlgauge.core.segment import Segment
from nlgauge.metrics.learned.linear import FEATURES, LinearModel, Term, ngram_features
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.correlate import correlation

Within = Literal["item", "group"]
_STRENGTHS = np.logspace(-4, 2, 25)  # of the penalty, for one segment
_MOST_PAIRS, _PENALTY = 100_000, 1e-3  # of a ranker
_STEPS, _DONE = 100, 1e-10  # of Newton's method


@dataclass(frozen=True)
class Fitted:
    """A linear model that was fitted to ratings.

    Attributes:
        model: the model.
        n: the number of segments (BLEND) or pairs (BEER) that it learnt from.
        n_left_out: the number of rated segments for which a metric is undefined.
        strength: the strength of the penalty.
        agreement: BLEND: Pearson's r of ratings and predictions, each from a fit to the other segments. BEER: the share
            of the training pairs whose order is right.
    """

    model: LinearModel
    n: int
    n_left_out: int
    strength: float
    agreement: float


def train_blend(
    segments: Sequence[Segment],
    ratings: Sequence[float],
    metrics: Mapping[str, BaseMetric],
    output: str,
    runtime: Runtime,
    *,
    about: Mapping[str, Any] | None = None,
) -> Fitted:
    """Fit ratings by the scores of metrics, and write the model; whole or not at all.

    Scores are standardised first, so the weights can be compared. The penalty is, of 25 values from 0.0001 to 100, the
    one with the least squared error on segments that are left out, one at a time. The same input gives the same file.

    Args:
        segments: n rated segments.
        ratings: n ratings, higher is better; a segment whose rating is NaN is left out.
        metrics: specification -> metric.
        output: a JSON file.
        runtime: where models run, and the cache of their scores.
        about: what else the file says: criterion, data, ...

    Raises:
        InputError: too few segments or ratings that are all equal, a metric that is constant, or an output that cannot
            be written.
    """
    check_target(output)
    wanted = np.asarray(ratings, dtype=np.float64)
    rated = np.flatnonzero(~np.isnan(wanted)).tolist()
    scored = score_segments(metrics, [segments[i] for i in rated], runtime)
    oriented = [s.values if s.higher_is_better else -s.values for s in scored.values()]
    features, wanted = np.stack(oriented, axis=1), wanted[rated]  # (n, k) and (n,)
    defined = ~np.isnan(features).any(axis=1)
    features, wanted = features[defined], wanted[defined]
    if len(wanted) <= len(metrics) + 1 or wanted.min() == wanted.max():
        raise InputError(
            f"{len(wanted)} segments with {len(np.unique(wanted))} different ratings are too few for {len(metrics)}"
            " metrics; expected more segments than metrics, and ratings that differ"
        )
    mean, sd = _scale(features, list(metrics))
    weights, strength, predicted = ridge((features - mean) / sd, wanted)
    facts = {"n": len(wanted), "strength": strength, "low": float(wanted.min()), "high": float(wanted.max())}
    model = _model("blend", list(metrics), weights, mean, sd, float(wanted.mean()), {**(about or {}), **facts})
    _write(model, output)
    agreement = correlation("pearson", predicted, wanted).value
    return Fitted(model, len(wanted), int((~defined).sum()), strength, agreement)


def ridge(features: Array, ratings: Array, strength: float | None = None) -> tuple[Array, float, Array]:
    """Ridge regression with an intercept: the mean of the ratings.

    Args:
        features: standardised, shape (n, k).
        ratings: shape (n,).
        strength: the penalty for one segment; None takes the best of a fixed list by the error on left-out segments.

    Returns:
        The weights, shape (k,); the strength; and the prediction of each rating from a fit to all others, shape (n,).

    References:
        Hastie, Tibshirani and Friedman (2009), "The Elements of Statistical Learning", sections 3.4.1 and 7.10: the
        error of leaving one out is the residual over 1 minus the diagonal of the matrix that makes predictions.
    """
    n = len(ratings)
    left, singular, right = np.linalg.svd(features, full_matrices=False)
    centred = ratings - ratings.mean()
    along = left.T @ centred

    def without_each(penalty: float) -> Array:
        shrunk = singular**2 / (singular**2 + n * penalty)
        fitted, own = left @ (shrunk * along), (left**2) @ shrunk + 1 / n
        return np.asarray(ratings - (centred - fitted) / (1 - own))

    if strength is None:
        errors = [float(((without_each(penalty) - ratings) ** 2).mean()) for penalty in _STRENGTHS]
        strength = float(_STRENGTHS[int(np.argmin(errors))])
    weights = right.T @ (singular / (singular**2 + n * strength) * along)
    return weights, strength, without_each(strength)


def train_beer(
    segments: Sequence[Segment],
    ratings: Sequence[float],
    output: str,
    runtime: Runtime,
    *,
    within: Within = "item",
    about: Mapping[str, Any] | None = None,
) -> Fitted:
    """Learn which of two rated hypotheses is better from their n-grams, and write the model; whole or not at all.

    Args:
        segments: n rated segments with references.
        ratings: n ratings, higher is better; a segment whose rating is NaN is left out.
        output: a JSON file.
        runtime: progress; its seed draws pairs where there are more than 100,000.
        within: `item` takes pairs of hypotheses for one input, which are cleaner, as both have the same reference;
            `group` any two of one language pair or task, for data with one hypothesis for each input.
        about: what else the file says: criterion, data, ...

    Raises:
        InputError: no pair has different ratings, or the output cannot be written.
    """
    check_target(output)
    check_option("seed", runtime.seed, Annotated[int, Range(least=0)], error=InputError)
    wanted = np.asarray(ratings, dtype=np.float64)
    rated = np.flatnonzero(~np.isnan(wanted)).tolist()
    kept, wanted = [segments[i] for i in rated], wanted[rated]
    keys = [(s.group, None if within == "group" else s.item or s.id) for s in kept]
    better, worse = rated_pairs(keys, wanted, _MOST_PAIRS, runtime.seed)
    if not len(better):
        other = "; give --within group to compare hypotheses for different inputs" if within == "item" else ""
        raise InputError(
            f"no two hypotheses of one {within} have different ratings, expected pairs to learn from{other}"
        )
    features, _ = ngram_features(kept, runtime)
    mean, sd = features.mean(axis=0), features.std(axis=0)
    sd = np.where(sd > 0, sd, 1.0)  # an n-gram that no text has tells nothing, and gets weight 0
    differences = (features[better] - features[worse]) / sd
    weights = rank(differences, _PENALTY)
    facts = {"n": len(better), "strength": _PENALTY, "within": within}
    model = _model("beer", FEATURES, weights, mean, sd, 0.0, {**(about or {}), **facts})
    _write(model, output)
    return Fitted(model, len(better), 0, _PENALTY, float((differences @ weights > 0).mean()))


def rated_pairs(
    keys: Sequence[Hashable], ratings: Array, most: int, seed: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The better and the worse of pairs that share a key and differ in rating; of too many, `most` are drawn."""
    places: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    buckets = [np.array(found, dtype=np.int64) for found in places.values()]
    ends = np.cumsum([len(bucket) * (len(bucket) - 1) // 2 for bucket in buckets])
    total = int(ends[-1]) if len(ends) else 0
    chosen = np.arange(total)
    if total > most:
        chosen = np.unique(np.random.default_rng((seed, total)).integers(total, size=most))
    one, other = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for bucket, (start, end) in zip(buckets, pairwise([0, *ends.tolist()]), strict=True):
        number = chosen[np.searchsorted(chosen, start) : np.searchsorted(chosen, end)] - start
        # Pair number i * (i - 1) / 2 + j is of the places i and j, with j below i.
        i = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
        one.append(bucket[i])
        other.append(bucket[number - i * (i - 1) // 2])
    first, second = np.concatenate(one), np.concatenate(other)
    differ = ratings[first] != ratings[second]
    first, second = first[differ], second[differ]
    up = ratings[first] > ratings[second]
    return np.where(up, first, second), np.where(up, second, first)


def rank(differences: Array, strength: float) -> Array:
    """Weights, shape (k,), under which the better of each pair scores higher: logistic regression without intercept.

    Differences are features of the better minus those of the worse, shape (pairs, k); half of `strength` times the
    squared length of the weights is added to the mean loss, whose one minimum is found by Newton's method.
    """
    weights = np.zeros(differences.shape[1])
    for _ in range(_STEPS):
        lost = 1 / (1 + np.exp(np.clip(differences @ weights, -500, 500)))  # the chance of the other order
        slope = strength * weights - differences.T @ lost / len(differences)
        bend = (differences * (lost * (1 - lost))[:, None]).T @ differences / len(differences)
        step = np.linalg.solve(bend + strength * np.eye(len(weights)), slope)
        weights = weights - step
        if np.abs(step).max() < _DONE:
            break
    return weights


def _scale(features: Array, names: Sequence[str]) -> tuple[Array, Array]:
    """Mean and standard deviation of each feature, shape (k,); a constant one is refused."""
    mean, sd = features.mean(axis=0), features.std(axis=0)
    spreads = np.ptp(features, axis=0)  # the deviation of equal numbers may be above 0, for their mean is rounded
    for name, spread in zip(names, spreads.tolist(), strict=True):
        if not spread > 0:
            raise InputError(
                f"{name} is the same for all {len(features)} rated segments and predicts nothing; leave it out"
            )
    return mean, sd


def _model(
    kind: str, names: Sequence[str], weights: Array, mean: Array, sd: Array, intercept: float, about: Mapping[str, Any]
) -> LinearModel:
    columns = (weights.tolist(), mean.tolist(), sd.tolist())
    return LinearModel(kind, tuple(Term(*row) for row in zip(names, *columns, strict=True)), intercept, about)


def _write(model: LinearModel, output: str) -> None:
    with replacing(output) as file:
        file.write(model.text())
