"""Is one metric better than another? Tests by scores that trade places, and by resamples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Counts, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.coefficients import acc_eq, settled
from nlgauge.stats.draws import (
    Averaging,
    Seed,
    check_draws,
    check_grid,
    generator,
    in_groups,
    pairs_of,
    percentiles,
    resample_counts,
    standardise,
)
from nlgauge.stats.entries import Codes
from nlgauge.stats.intervals import segment_weights
from nlgauge.stats.swaps import (
    NAMED,
    Bucket,
    Coefficient,
    Coins,
    GeneraliseTo,
    buckets,
    by_groups,
    coefficient_of,
    correlate,
    given_swaps,
    means,
    pearson_segment_draws,
    rank_segment_draws,
    signed_sums,
    system_draws,
    system_scores,
    toss,
    values_by_group,
    whole_groups,
)
from nlgauge.stats.tests import (
    SLACK,
    Alternative,
    Compat,
    MetricComparison,
    PValues,
    Values,
    from_draws,
    p_values,
    square,
)

# --- Would the difference of two metrics hold if scores were swapped at random? Permutation tests of correlations

Level = Literal["segment", "system"]

# test -> what it swaps
POPULATIONS: dict[str, GeneraliseTo] = {"perm_both": "both", "perm_inputs": "inputs", "perm_systems": "systems"}


def permutation_test(
    human: Array,
    metrics: Array,
    *,
    generalise_to: GeneraliseTo | None = None,
    level: Level = "segment",
    averaging: Averaging = "item",
    statistic: str | Coefficient = "pearson",
    alternative: Alternative = "greater",
    draws: int = 1000,
    seed: Seed = 0,
    compat: Compat | None = None,
    advance: Callable[[int], None] = lambda pairs: None,
) -> MetricComparison:
    """Compare every metric with every other: are their correlations with people the same?

    Each metric is standardised over all cells in use. Then fair coins decide which scores of two metrics are swapped,
    and the correlations of the two mixtures are compared: p = (#{d* >= d} + 1) / (B + 1), where a tie with the data
    counts.

    **The swaps must match the claim.** On other systems, swap `systems`; with fewer than ten it finds little. Swap
    `inputs` where one metric is better on some whole items and worse on others. The same metric twice, also on another
    scale, gets p = 1; a constant one has no p (NaN).

    Args:
        human: judgements of S systems on N items, shape (S, N), NaN where missing; or of systems alone, shape (S,).
        metrics: scores, shape (M, S, N) or (M, S), higher is better. Each judged cell needs a score.
        generalise_to: what is swapped: `both` swaps every score on its own, `inputs` items, `systems` systems. The
            default is `both` for segments, and for systems it is `systems`, which generalises to systems not seen yet.
        level: `segment`, or `system` for one coefficient of system scores.
        averaging: for segments: `item` computes a coefficient per item over systems, and averages these; `sys`
            computes one per system over items; `none` takes all cells together.
        statistic: `pearson`, `spearman`, `kendall_b`, or a function of standardised scores (..., n) and judgements
            (..., n) along the last axis. A function is called on all mixtures, which takes longer.
        alternative: `greater` gives p of row better than column; or `two-sided`.
        draws: the number of draws, B.
        seed: a whole number or a generator, which is advanced. One set of coins serves all pairs.
        compat: `mt-metrics-eval` or `nlpstats` uses the coins of that package from its stream of random numbers, and p
            = hits / B, to check published numbers.
        advance: called with the number of pairs of metrics that were done, for a display of progress.

    Raises:
        InputError: a score is missing, shapes do not fit, there are fewer than 3 systems at level `system`, or an
            option is unknown.

    References:
        Deutsch, Dror and Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling
        Methods", section 4.2.
    """
    human, metrics = check_grid(human, metrics)
    population = generalise_to or ("systems" if level == "system" else "both")
    _permutation_check(level, averaging, alternative, population, draws)
    coefficient = coefficient_of(statistic)
    if level == "system":
        human, metrics = _systems_to_compare(human, metrics, compat)
    used = ~np.isnan(human)
    z, constant = standardise(metrics, used)
    coins, to_p = _coins(human, population, averaging if level == "segment" else "none", draws, seed, compat)
    on_cells = partial(_on_systems, used) if level == "system" else partial(_on_segments, averaging)
    (values, n_used, n_undefined), drawn = on_cells(human, z, coins, coefficient, advance)
    found = np.where(constant, np.nan, values), n_used, n_undefined
    return from_draws(f"perm_{population}", population, alternative, found, drawn, compat, to_p)


def _coins(
    human: Array, population: GeneraliseTo, averaging: Averaging, draws: int, seed: Seed, compat: Compat | None
) -> tuple[Coins, PValues]:
    """The swaps, and the function that turns draws into p-values."""
    if compat is None:
        return toss(generator(seed), draws, human.shape, population), p_values
    coins = released_coins(compat, seed, draws, human, population, averaging)
    return coins, partial(released_p_values, compat)


def _on_systems(
    used: Mask, human: Array, z: Array, coins: Coins, coefficient: Coefficient, advance: Callable[[int], None]
) -> tuple[Values, Array]:
    """Coefficients of system scores: those of the data, and their differences on all draws."""
    people, scores = system_scores(human, z, used)
    values = correlate(coefficient, scores, people)
    undefined = np.isnan(values).astype(np.int64)
    drawn = system_draws(people, z, used, coins, coefficient)
    advance(len(drawn))
    return (values, 1 - undefined, undefined), drawn


def _on_segments(
    averaging: Averaging,
    human: Array,
    z: Array,
    coins: Coins,
    coefficient: Coefficient,
    advance: Callable[[int], None],
) -> tuple[Values, Array]:
    """Averaged coefficients of segment scores: those of the data, and their differences on all draws."""
    found = means(values_by_group(coefficient, human, z, averaging))
    left, right = pairs_of(len(z))
    observed = found[0][left] - found[0][right]
    if coefficient is NAMED["pearson"]:
        drawn = pearson_segment_draws(human, z, coins, averaging, observed)
        advance(len(drawn))
        return found, drawn
    return found, rank_segment_draws(human, z, coins, averaging, coefficient, observed, advance)


def _permutation_check(level: str, averaging: str, alternative: str, population: str, draws: int) -> None:
    check_option("level", level, Level, error=InputError)
    check_option("averaging", averaging, Averaging, error=InputError)
    check_option("alternative", alternative, Alternative, error=InputError)
    check_option("generalise_to", population, GeneraliseTo, error=InputError)
    check_draws(draws)


def _systems_to_compare(human: Array, metrics: Array, compat: Compat | None) -> tuple[Array, Array]:
    """The systems that have a judgement; under mt-metrics-eval, which has no segments here, only their means."""
    judged = ~np.isnan(human).all(axis=1)
    if judged.sum() < 3:
        raise InputError(
            f"{int(judged.sum())} systems have judgements, expected 3 or more: two points always lie on a line"
        )
    human, metrics = human[judged], metrics[:, judged]
    if compat != "mt-metrics-eval":
        return human, metrics
    people, scores = system_scores(human, metrics, ~np.isnan(human))
    return people[:, None], scores[:, :, None]


# --- Statistics that have one value per item: whole items are swapped. The default for accuracies with ties


def item_swap_test(
    values: Array,
    *,
    weights: Array | None = None,
    groups: Codes | None = None,
    alternative: Alternative = "greater",
    draws: int = 1000,
    seed: Seed = 0,
) -> MetricComparison:
    """Test whether the means of two metrics over items are equal: any statistic with one value per item.

    For each item a fair coin decides whether the two metrics swap their values, and with them their weights.

    Args:
        values: the value of each metric on each item, shape (M, N), higher is better; NaN where undefined. An item that
            is undefined for one of two metrics counts for the other alone, before and after a swap.
        weights: how much each value counts, shape (M, N), such as the pairs of each item; None gives the plain mean.
        groups: the group of each item, shape (N,), from 0: the test is then of the plain mean over groups.
        alternative, draws, seed: as in `permutation_test`.

    Raises:
        InputError: the values are not a matrix, a value is infinite, or there is no item.
    """
    check_option("alternative", alternative, Alternative, error=InputError)
    check_draws(draws)
    parts = split_items(values, weights, groups)
    rng = generator(seed)
    drawn = []
    for own, counted in parts:
        coins = toss(rng, draws, (1, own.shape[1]), "inputs")
        drawn.append(whole_groups(own, coins, counted))
    whole = item_means(parts)
    found = (whole[:, 0], *means(parts[0][0])[1:]) if groups is None else means(whole)
    return from_draws("item_swap", "inputs", alternative, found, means(np.stack(drawn, axis=-1))[0])


def split_items(values: Array, weights: Array | None, groups: Codes | None) -> list[tuple[Array, Array | None]]:
    """Values and weights of the items of each group, shape (M, n) each; all items are one group if there are none.

    Raises:
        InputError: as in `item_swap_test`.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] == 0:
        raise InputError(f"values have shape {values.shape}, expected (metrics, items) with an item or more")
    if np.isinf(values).any():
        metric, item = (int(i) for i in np.argwhere(np.isinf(values))[0])
        raise InputError(f"the value of metric {metric} on item {item} is infinite; an undefined one is NaN")
    of = np.zeros(values.shape[1], dtype=np.int64) if groups is None else np.asarray(groups)
    for what, given, shape in (("weights", weights, values.shape), ("groups", groups, values.shape[1:])):
        if given is not None and np.shape(given) != shape:
            raise InputError(f"{what} have shape {np.shape(given)}, expected {shape} beside values of {values.shape}")
    return [(values[:, of == g], None if weights is None else weights[:, of == g]) for g in np.unique(of)]


def item_means(parts: Sequence[tuple[Array, Array | None]]) -> Array:
    """The (weighted) mean over the items of each group, shape (M, groups); NaN where no item is defined."""
    found = []
    for values, weights in parts:
        defined = ~np.isnan(values)
        counted = defined.astype(np.float64) if weights is None else np.where(defined, weights, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            found.append((np.where(defined, values, 0.0) * counted).sum(axis=1) / counted.sum(axis=1))
    return np.stack(found, axis=1)


def acc_eq_test(
    human: Array,
    metrics: Array,
    epsilons: float | Array = 0.0,
    *,
    alternative: Alternative = "greater",
    draws: int = 1000,
    seed: Seed = 0,
    compat: Compat | None = None,
) -> MetricComparison:
    """Compare every metric with every other by pairwise accuracy with ties, averaged over items.

    Args:
        human, metrics: judgements, shape (S, N), NaN where missing; scores, shape (M, S, N), higher is better.
        epsilons: scores of a metric that differ by at most this are tied: one number, or one per metric. The test takes
            them as given; those calibrated on these very items flatter a continuous metric.
        alternative, draws, seed: as in `permutation_test`.
        compat: `mt-metrics-eval` swaps the outcome of every pair of systems on its own. Pairs that share a system are
            not independent, so this rejects a true null in 0.16 to 0.24 of cases at 5 %.

    References:
        Deutsch, Foster and Freitag (2023), "Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy and Tie
        Calibration".
    """
    human, metrics = check_grid(human, metrics)
    near = np.broadcast_to(np.asarray(epsilons, dtype=np.float64), len(metrics))
    if compat is None:
        human, metrics = settled(human), np.stack([settled(scores) for scores in metrics])
    found = buckets(human, "item")
    flat = metrics.reshape(len(metrics), -1)
    values = np.stack(
        [
            by_groups(partial(acc_eq, epsilon=e, exact=compat is not None), found, row, human.shape[1])
            for row, e in zip(flat, near.tolist(), strict=True)
        ]
    )
    result = item_swap_test(values, alternative=alternative, draws=draws, seed=seed)
    if compat is None:
        return result
    check_option("compat", compat, Literal["mt-metrics-eval"], error=InputError)
    p = _pair_swaps(found, flat, near, alternative, draws, generator(seed))
    return replace(
        result, test="pair_swap", p=p, n_undefined_draws=np.zeros_like(result.n_undefined_draws), compat=compat
    )


def _pair_swaps(
    found: list[Bucket], flat: Array, near: Array, alternative: Alternative, draws: int, rng: np.random.Generator
) -> Array:
    """p-values of pair swaps.

    Of n outcomes that only one of the two metrics gets right, the first metric's number is Binomial(n, 1/2). Where
    every item has the same number of pairs nothing more is needed, and p is exact. Otherwise binomials are drawn for
    each size, and p = hits / B.
    """
    from scipy.stats import binom

    outcomes = [_right(bucket, flat, near) for bucket in found]  # (M, items, pairs) each
    weights = np.array([1 / outcome.shape[2] for outcome in outcomes])
    p = np.full((len(flat), len(flat)), np.nan)
    for i, j in zip(*pairs_of(len(flat)), strict=True):
        mine = np.array([int((outcome[i] & ~outcome[j]).sum()) for outcome in outcomes])
        n = mine + np.array([int((outcome[j] & ~outcome[i]).sum()) for outcome in outcomes])
        if len(outcomes) == 1:
            up, down = binom.sf(mine[0] - 1, n[0], 0.5), binom.cdf(mine[0], n[0], 0.5)
        else:
            drawn = (2 * rng.binomial(n, 0.5, size=(draws, len(n))) - n) @ weights
            seen = float((2 * mine - n) @ weights)
            up, down = (drawn >= seen - 1e-9).mean(), (drawn <= seen + 1e-9).mean()
        p[i, j], p[j, i] = (up, down) if alternative == "greater" else (min(1.0, 2 * min(up, down)),) * 2
    return p


def _right(bucket: Bucket, flat: Array, near: Array) -> npt.NDArray[np.bool_]:
    """Whether each metric orders or ties each pair of systems as people do, shape (M, items, pairs)."""
    left, right = pairs_of(bucket.cells.shape[1])
    x = flat[:, bucket.cells]
    gaps = x[..., left] - x[..., right]
    order = np.where(np.abs(gaps) <= near[:, None, None], 0, np.sign(gaps))
    return np.asarray(order == np.sign(bucket.human[:, left] - bucket.human[:, right]))


# --- Does one metric have the better soft pairwise accuracy? Items or systems are swapped, and p-values follow
# The p-value of "system i beats system j" comes from flipping the signs of their segment differences d. In the limit of
# many segments it is the normal tail beyond sum d / sqrt(sum d^2). Both sums are linear in columns of either metric, as
# those of a correlation are, so one matrix product gives all draws of all metrics. A sampled p would cost a thousand
# sign patterns for each of a thousand swaps.

Index = npt.NDArray[np.intp]

# Squares that sum to less per segment, beside scores of variance 1, are rounding: the systems have the same scores.
_EQUAL = 1e-12


def soft_accuracy_test(
    human: Array,
    metrics: Array,
    *,
    generalise_to: GeneraliseTo = "inputs",
    alternative: Alternative = "greater",
    draws: int = 1000,
    seed: Seed = 0,
) -> MetricComparison:
    """Compare every metric with every other by soft pairwise accuracy.

    Args:
        human: judgements, shape (S, N), NaN where missing. Two systems are compared on the segments judged for both.
        metrics: scores, shape (M, S, N), higher is better.
        generalise_to: `inputs` swaps whole items, `systems` whole systems.
        alternative, draws, seed: as in `permutation_test`.

    Returns:
        `values` are 1 - mean over system pairs of |p_human - p_metric|, with p from the normal limit. A value from K
        sampled sign patterns differs from it by about 0.5 / sqrt(K) per pair of systems.

    Raises:
        InputError: fewer than 2 systems have a segment in common, a score is missing, or an option is out of its
            range.

    References:
        Thompson et al. (2024), "Improving Statistical Significance in Human Evaluation of Automatic Metrics via Soft
        Pairwise Accuracy".
    """
    human, metrics = check_grid(human, metrics)
    check_option("generalise_to", generalise_to, Literal["inputs", "systems"], error=InputError)
    check_option("alternative", alternative, Alternative, error=InputError)
    check_draws(draws)
    judged = ~np.isnan(human)
    z, constant = standardise(metrics, judged)
    left, right = pairs_of(len(human))
    common = (judged[left] & judged[right]).any(axis=1)
    left, right = left[common], right[common]
    if not len(left):
        raise InputError(
            f"soft pairwise accuracy compares systems in pairs; no two of the {len(human)} systems share a judged"
            " segment"
        )
    held, _ = standardise(np.where(judged, human, 0.0)[None], judged)
    people = _tails(*_sums(_gaps(held, judged, left, right)))[0]  # (pairs,)
    values = _accuracy(_tails(*_sums(_gaps(z, judged, left, right))), people)
    coins = toss(generator(seed), draws, human.shape, generalise_to)
    make = _item_draws if generalise_to == "inputs" else _system_draws
    drawn = make(z, judged, left, right, people, coins)
    values = np.where(constant, np.nan, values)
    undefined = constant.astype(np.int64)
    return from_draws(f"perm_{generalise_to}", generalise_to, alternative, (values, 1 - undefined, undefined), drawn)


def _gaps(scores: Array, judged: Mask, left: Index, right: Index) -> Array:
    """Differences of system pairs, shape (M, pairs, N); 0 on segments that are not judged for both."""
    return np.where(judged[left] & judged[right], scores[:, left] - scores[:, right], 0.0)


def _sums(gaps: Array) -> tuple[Array, Array, int]:
    """The sums of differences and of their squares over the last axis, and the number of differences."""
    return gaps.sum(axis=-1), (gaps**2).sum(axis=-1), gaps.shape[-1]


def _tails(total: Array, squares: Array, n: int) -> Array:
    """The probability that sign flips reach the total, in the normal limit; 1/2 for systems with the same scores."""
    from scipy.special import ndtr

    same = squares <= _EQUAL * n
    return np.where(same, 0.5, ndtr(-total / np.sqrt(np.where(same, 1.0, squares))))


def _accuracy(p: Array, people: Array) -> Array:
    return np.asarray(1 - np.abs(p - people).mean(axis=-1))


def _item_draws(z: Array, judged: Mask, left: Index, right: Index, people: Array, coins: Coins) -> Array:
    """Differences of the accuracies of mixtures made item by item, shape (P, B)."""
    n_pairs, n = len(left), z.shape[2]
    one, other = pairs_of(len(z))
    drawn = np.empty((len(one), len(coins.bits)))
    for draws in coins.blocks():
        e = np.ascontiguousarray(coins.signs(draws)[:, 0].T)[None]  # (1, N, b)
        kept, given = np.empty((2, len(z), 2 * n_pairs, e.shape[2]))
        for m in range(len(z)):
            gaps = _gaps(z[m : m + 1], judged, left, right)[0]
            table = np.concatenate([gaps, gaps**2])  # (2 pairs, N)
            base, moved = table.sum(axis=1, keepdims=True), signed_sums(table[None], e)[0]
            kept[m], given[m] = (base + moved) / 2, (base - moved) / 2
        for row, (a, b) in enumerate(zip(one, other, strict=True)):
            first, second = ((x[:n_pairs], x[n_pairs:], n) for x in (kept[a] + given[b], given[a] + kept[b]))
            drawn[row, draws] = _accuracy(_tails(*first).T, people) - _accuracy(_tails(*second).T, people)
    return drawn


def _system_draws(z: Array, judged: Mask, left: Index, right: Index, people: Array, coins: Coins) -> Array:
    """The same for whole systems: a pair of systems has four cases, each with its p.

    A draw picks one case for each pair of systems, so one product of the cases with the errors of all pairs of metrics
    serves all draws.
    """
    one, other = pairs_of(len(z))
    swapped = (coins.signs(slice(None))[:, :, 0] < 0).astype(np.intp)  # (B, S)
    case = 2 * swapped[:, left] + swapped[:, right]  # (B, pairs): which of the two metrics i and j come from
    cases = (case[:, None] == np.arange(4)[:, None]).astype(np.float64).reshape(len(case), -1)  # (B, 4 pairs)
    crossed = np.abs(_crossed(z, judged, left, right) - people)  # (M, M, pairs)
    errors = np.stack([crossed[x, y] for x, y in ((one, one), (one, other), (other, one), (other, other))])
    gained = (errors[::-1] - errors).transpose(0, 2, 1).reshape(-1, len(one))  # (4 pairs, P): what the other case has
    return np.ascontiguousarray((cases @ gained).T) / len(left)


def _crossed(z: Array, judged: Mask, left: Index, right: Index) -> Array:
    """p of "system i by metric x beats system j by metric y" on the segments judged for both, shape (M, M, pairs).

    Scores are 0 where nothing is judged, so products of scores need no mask.
    """
    n_metrics, n_systems, n = z.shape
    counts = judged.astype(np.float64)
    sums, squares = z @ counts.T, (z * z) @ counts.T  # (M, S, S): of a system over what another shares with it
    flat = z.reshape(-1, n)
    products = (flat @ flat.T).reshape(n_metrics, n_systems, n_metrics, n_systems)[:, left, :, right]  # (pairs, M, M)
    total = sums[:, None, left, right] - sums[None, :, right, left]
    spread = squares[:, None, left, right] + squares[None, :, right, left] - 2 * products.transpose(1, 2, 0)
    return _tails(total, spread, n)


# --- How far would the difference of two correlations stray on other items? Bootstrap intervals and tests

_CONFIDENCE = 0.95

# M metrics: the statistic of each, the number of groups behind it, and of groups without a value, each of shape (M,);
# and the statistic on B draws, shape (B, M), NaN where undefined.
Resampled = tuple[Values, Array]


def resample_grid(
    human: Array,
    metrics: Array,
    *,
    averaging: Averaging = "item",
    statistic: str | Coefficient = "pearson",
    draws: int = 1000,
    seed: Seed = 0,
) -> Resampled:
    """The statistic of every metric on items of a grid drawn with replacement.

    Args:
        human, metrics: judgements, shape (S, N), NaN where missing; scores, shape (M, S, N), higher is better.
        averaging, statistic, draws, seed: as in `permutation_test`. Pearson's r, and any statistic averaged by item,
            takes one matrix product for all draws; others are computed draw by draw.

    Raises:
        InputError: a score is missing, shapes do not fit, there are fewer than 2 items, or an option is out of its
            range.

    References:
        Deutsch, Dror and Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling
        Methods", section 3.2.
    """
    human, metrics = check_grid(human, metrics)
    check_option("averaging", averaging, Averaging, error=InputError)
    coefficient = coefficient_of(statistic)
    z, constant = standardise(metrics, ~np.isnan(human))
    columns = _often(human.shape[1], draws, seed)
    values, used, undefined = means(values_by_group(coefficient, human, z, averaging))
    drawn = _drawn(human, z, averaging, coefficient, columns)  # (B, M)
    return (np.where(constant, np.nan, values), used, undefined), np.where(constant, np.nan, drawn)


def resample_items(values: Array, weights: Array | None = None, *, draws: int = 1000, seed: Seed = 0) -> Resampled:
    """The (weighted) mean of every metric on items drawn with replacement; values and weights as in `item_swap_test`.

    Raises:
        InputError: the values are not a matrix, one is infinite, or there are fewer than 2 items.
    """
    parts = split_items(values, weights, None)
    ((own, counted),) = parts
    often = _often(own.shape[1], draws, seed)
    defined = ~np.isnan(own)
    counted = defined.astype(np.float64) if counted is None else np.where(defined, counted, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = (often @ (np.where(defined, own, 0.0) * counted).T) / (often @ counted.T)
    return (item_means(parts)[:, 0], *means(own)[1:]), drawn


def mean_resampled(groups: Sequence[Resampled]) -> Resampled:
    """The plain mean over groups that were resampled each on its own, with as many draws each."""
    values, drawn = zip(*groups, strict=True)
    whole = means(np.stack([of_metrics for of_metrics, _, _ in values], axis=-1))
    return whole, means(np.stack(drawn, axis=-1))[0]


def _often(n_items: int, draws: int, seed: Seed) -> Array:
    """How often each item is drawn, shape (B, N)."""
    check_draws(draws)
    if n_items < 2:
        raise InputError(f"a bootstrap over items needs 2 or more, got {n_items}")
    return np.asarray(resample_counts(generator(seed), draws, n_items), dtype=np.float64)


def _drawn(human: Array, z: Array, averaging: Averaging, coefficient: Coefficient, columns: Array) -> Array:
    """The statistic of every metric on every draw, shape (B, M); NaN where undefined."""
    if averaging == "item":  # groups are drawn whole: their values stay
        values = values_by_group(coefficient, human, z, averaging)
        defined = ~np.isnan(values)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((columns @ np.where(defined, values, 0.0).T) / (columns @ defined.T.astype(np.float64)))
    if coefficient is NAMED["pearson"]:
        return segment_weights(human, z, columns, averaging)
    out = np.empty((len(columns), len(z)))
    for row, counts in zip(out, columns, strict=True):
        n = np.repeat(np.arange(human.shape[1]), counts.astype(np.intp))
        row[:] = means(values_by_group(coefficient, human[:, n], z[:, :, n], averaging))[0]
    return out


def compare_resampled(found: Resampled, alternative: Alternative = "greater") -> MetricComparison:
    """Compare every metric with every other on the same resamples; intervals are at 95 %.

    The differences d* of the draws scatter around the observed d as d would scatter around the true value. So p =
    (#{d* - d >= d} + 1) / (B + 1); the two-sided p counts |d* - d| >= |d|.

    Args:
        found: as `resample_grid` or `resample_items` gives it.
        alternative: `greater` gives p of row better than column; or `two-sided`.
    """
    check_option("alternative", alternative, Alternative, error=InputError)
    whole, drawn = found
    values = whole[0]
    m, (left, right) = len(values), pairs_of(len(values))
    observed = values[left] - values[right]
    differences = drawn[:, left] - drawn[:, right]  # (B, P)
    compared = from_draws("bootstrap", "inputs", alternative, whole, (differences - observed).T)
    low, high = percentiles(drawn, _CONFIDENCE)
    d_low, d_high = percentiles(differences, _CONFIDENCE)
    return replace(
        compared,
        low=low,
        high=high,
        delta_low=square(d_low, -d_high, m),
        delta_high=square(d_high, -d_low, m),
        confidence=_CONFIDENCE,
    )


# --- The permutation tests of mt-metrics-eval and nlpstats 0.0.1 with their faults: to check a published p-value
# What is wrong with them: p is hits / B, which can print 0. mt-metrics-eval gives a constant metric p = 0 and has only
# one side. It also stops early, which is harmless for ranks but not for the p that it reports. The `both` of nlpstats
# tosses one coin per system and one per item, and swaps where they differ. That is not the test of the paper, which
# tosses one coin per score.
#
# What is not copied: in both packages the last digits of the rounding decide whether a draw that ties with the data
# counts; here it counts. And there numpy's global generator carries over from pair to pair; here every pair is tested
# as if the seed were set before it.

_BLOCK, _EARLY = 1000, (0.02, 0.5)  # mt-metrics-eval checks after each block of draws whether p is outside, and stops


def released_coins(
    compat: Compat, seed: Seed, draws: int, human: Array, generalise_to: GeneraliseTo, averaging: Averaging
) -> Coins:
    """The swaps that the package makes after `np.random.seed(seed)`."""
    check_option("compat", compat, Compat, error=InputError)
    if isinstance(seed, np.random.Generator):
        raise InputError(
            f"compat={compat!r} repeats that package's stream of numbers and needs the seed as a whole number, got a"
            " generator"
        )
    stream = np.random.RandomState(seed)
    if compat == "mt-metrics-eval":
        if generalise_to != ("systems" if human.shape[1] == 1 else "both"):
            raise InputError(
                f"mt-metrics-eval swaps single scores; it has no generalise_to={generalise_to!r} at this level"
            )
        return given_swaps(_scores(stream, draws, human, averaging))
    n_systems, n_items = human.shape
    swapped = np.empty(
        (draws, n_systems if generalise_to != "inputs" else 1, n_items if generalise_to != "systems" else 1),
        dtype=np.bool_,
    )
    for draw in swapped:
        draw[:] = False
        if generalise_to != "inputs":
            draw ^= stream.rand(n_systems, 1) > 0.5
        if generalise_to != "systems":
            draw ^= stream.rand(1, n_items) > 0.5
    return given_swaps(swapped)


def released_p_values(
    compat: Compat, drawn: Array, observed: Array, alternative: Alternative
) -> tuple[Array, Array, Counts]:
    """hits / B for every difference and for its opposite; no draw is left out; shapes (P,)."""
    seen = observed[:, None]
    with np.errstate(invalid="ignore"):
        both = np.abs(drawn) >= np.abs(seen) - SLACK
        hits = [both, both] if alternative == "two-sided" else [drawn >= seen - SLACK, drawn <= seen + SLACK]
    found = [_stopped(side) if compat == "mt-metrics-eval" else side.mean(axis=1) for side in hits]
    return found[0], found[1], np.zeros(len(drawn), dtype=np.int64)


def _scores(stream: np.random.RandomState, draws: int, human: Array, averaging: Averaging) -> npt.NDArray[np.bool_]:
    """One coin per judged score, in the order of the groups: item by item, or system by system."""
    judged = in_groups(~np.isnan(human), averaging)
    swapped = np.zeros((draws, *human.shape), dtype=np.bool_)
    view = swapped.transpose(0, 2, 1) if averaging == "item" else swapped  # (draws, groups, cells)
    for draw in view:
        draw.reshape(judged.shape)[judged] = stream.binomial(1, 0.5, int(judged.sum())) == 0
    return swapped


def _stopped(hits: npt.NDArray[np.bool_]) -> Array:
    """The share of hits up to the end of the first block at which the share is outside the bounds."""
    draws = hits.shape[1]
    p = hits.mean(axis=1)
    for end in range(draws - draws % _BLOCK, 0, -_BLOCK):
        early = hits[:, :end].mean(axis=1)
        p = np.where((early < _EARLY[0]) | (early > _EARLY[1]), early, p)
    return np.asarray(p)
