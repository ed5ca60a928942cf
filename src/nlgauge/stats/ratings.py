"""How far can ratings be trusted? Agreement of people, of a judge with people and with itself, and outliers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Counts, Mask, by_value
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.coefficients import average_ranks
from nlgauge.stats.correlate import statistic
from nlgauge.stats.draws import (
    Seed,
    bootstrap_interval,
    check_draws,
    check_level,
    generator,
    numbered,
    pairs_of,
    percentiles,
    wilson,
)
from nlgauge.stats.entries import numbers

Scale = Literal["nominal", "ordinal", "interval", "ratio"]


@dataclass(frozen=True, kw_only=True)
class Alpha:
    """Krippendorff's alpha.

    Attributes:
        value: 1 for perfect agreement, 0 for what chance would give, below 0 for systematic disagreement; NaN where
            all ratings are equal.
        scale: `nominal`, `ordinal`, `interval` or `ratio`.
        n_used: units with two ratings or more.
        n_undefined: units with fewer ratings, which cannot show agreement.
        n_ratings: the ratings of the units used.
    """

    value: float
    scale: str
    n_used: int
    n_undefined: int
    n_ratings: int


@dataclass(frozen=True, kw_only=True)
class SplitHalf:
    """Agreement of the means of two halves of the raters.

    Attributes:
        value: the mean over splits.
        low: lower end of the middle share (`confidence`) of the splits.
        high: upper end.
        full: the predicted agreement of the mean of all raters with another such mean: Spearman and Brown's 2 r /
            (1 + r).
        stat: the coefficient.
        confidence: the share of splits between the ends.
        n_used: units rated in both halves of every split.
        n_undefined: other units; they are left out of the splits in which a half lacks them.
        draws: the number of splits.
        n_undefined_draws: splits without a defined coefficient.
    """

    value: float
    low: float
    high: float
    full: float
    stat: str
    confidence: float
    n_used: int
    n_undefined: int
    draws: int
    n_undefined_draws: int


def krippendorff(ratings: Any, scale: str = "interval") -> Alpha:
    """Agreement of any number of raters; each of them may have rated only some of the units.

    Args:
        ratings: shape (raters, units), None or NaN where there is no rating; categories of a nominal scale as numbers.
        scale: how far apart two ratings are: different or not (`nominal`), by the ranks between them (`ordinal`), by
            their difference (`interval`), or by their difference divided by their sum (`ratio`).

    Raises:
        InputError: the ratings are not a table, the scale is unknown, or ratings on a ratio scale are negative.

    References:
        Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability".
    """
    check_option("scale", scale, Scale, error=InputError)
    table, rated, paired = _of_pairs(ratings)
    n_units, n = int(paired.sum()), int(rated.sum())
    if scale == "ratio" and (table[rated] < 0).any():
        raise InputError("a ratio scale has no negative ratings; use scale='interval'")
    value = math.nan
    if n and scale in ("nominal", "ratio"):
        observed, expected = (_nominal if scale == "nominal" else _ratio)(table, rated)
        value = 1 - observed / expected if expected > 0 else math.nan
    elif n:
        value = float(_of_moments(_moments(_ranked(table, rated) if scale == "ordinal" else table, rated).sum(axis=0)))
    return Alpha(value=value, scale=scale, n_used=n_units, n_undefined=len(paired) - n_units, n_ratings=n)


_GRADES = 11  # different whole numbers, as 0 to 10; more are a scale of amounts


def scale_of(ratings: Any) -> Scale:
    """The scale by which to count agreement: two classes are nominal, at most 11 whole numbers ordinal, else interval.

    Args:
        ratings: of any shape, NaN where there is none.
    """
    table = np.asarray(ratings, dtype=np.float64)
    distinct = np.unique(table[~np.isnan(table)])
    if len(distinct) <= 2:
        return "nominal"
    return "ordinal" if len(distinct) <= _GRADES and (distinct == np.rint(distinct)).all() else "interval"


def split_half(
    ratings: Any, *, stat: str = "kendall_b", draws: int = 1000, seed: Seed = 0, confidence: float = 0.95
) -> SplitHalf:
    """How well two random halves of the raters agree: a coefficient of the means of their ratings.

    Args:
        ratings: shape (raters, units), None or NaN where there is no rating.
        stat: a coefficient of two vectors.
        draws: the number of splits to draw; if there are no more than that, all are taken. With an odd number of
            raters, one half has one more.
        seed: a whole number or a generator, which is advanced.
        confidence: the share of the splits between the ends reported.

    Raises:
        InputError: there are fewer than two raters, or the statistic is not a coefficient.
    """
    check_draws(draws)
    check_level(confidence)
    chosen = statistic(stat)
    if chosen.kind != "correlation":
        raise InputError(f"{stat} is no coefficient of two vectors; choose pearson, spearman, kendall_b or kendall_c")
    table = _table(ratings)
    first = halves(len(table), draws, generator(seed))
    rated = ~np.isnan(table)
    filled = np.where(rated, table, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        # (splits, units) twice
        means = [(half @ filled) / (half @ rated.astype(np.float64)) for half in (first, 1 - first)]
    both = ~np.isnan(means[0]) & ~np.isnan(means[1])
    if both.all():
        values = np.asarray(chosen.kernel(means[0], means[1]))
    else:
        values = np.array(
            [float(np.asarray(chosen.kernel(a[kept], b[kept]))) for a, b, kept in zip(*means, both, strict=True)]
        )
    defined = values[~np.isnan(values)]
    mean = float(defined.mean()) if len(defined) else math.nan
    low, high = percentiles(values[:, None], confidence)
    everywhere = int(both.all(axis=0).sum())
    return SplitHalf(
        value=mean,
        low=float(low[0]),
        high=float(high[0]),
        full=2 * mean / (1 + mean) if mean > -1 else math.nan,
        stat=stat,
        confidence=confidence,
        n_used=everywhere,
        n_undefined=table.shape[1] - everywhere,
        draws=len(first),
        n_undefined_draws=len(values) - len(defined),
    )


def _of_pairs(ratings: Any) -> tuple[Array, Mask, Mask]:
    """The units with two ratings or more, where there is a rating in them, and which they are."""
    table = _table(ratings)
    paired = (~np.isnan(table)).sum(axis=0) >= 2
    return table[:, paired], ~np.isnan(table[:, paired]), paired


def _table(ratings: Any) -> Array:
    table = numbers(ratings, "ratings")
    if table.ndim != 2 or len(table) < 2:
        raise InputError(f"ratings have shape {table.shape}, expected (annotators, units) with 2 annotators or more")
    return table


def halves(n: int, draws: int, rng: np.random.Generator) -> Array:
    """Ones for the raters of the first half, shape (splits, raters): all splits, or as many drawn at random."""
    size = n // 2
    distinct = math.comb(n, size) // (2 if n % 2 == 0 else 1)
    if distinct <= draws:
        # of an even number, a half and its complement are one split: take the half with the first annotator
        chosen = [c for c in combinations(range(n), size) if n % 2 or 0 in c]
        halves = np.zeros((len(chosen), n))
        halves[np.arange(len(chosen))[:, None], chosen] = 1
        return halves
    order = rng.random((draws, n)).argsort(axis=1)
    return (order < size).astype(np.float64)


def _ranked(table: Array, rated: Mask) -> Array:
    """On an ordinal scale two ratings are as far apart as their mean ranks among all ratings."""
    ranks = np.full(table.shape, np.nan)
    ranks[rated] = average_ranks(table[rated])
    return ranks


def _moments(table: Array, rated: Mask) -> Array:
    """What alpha of squared differences is made of, shape (units, 4): ratings, their sum and the sum of their squares,
    all about the mean; and the squared differences of all pairs in the unit, which are 2 m times the squares about its
    own mean, over m - 1."""
    m, values = rated.sum(axis=0), np.where(rated, table - table[rated].mean(), 0.0)
    about = (np.where(rated, values - values.sum(axis=0) / m, 0.0) ** 2).sum(axis=0)
    return np.stack([m, values.sum(axis=0), (values**2).sum(axis=0), 2 * m * about / (m - 1)], axis=1)


def _of_moments(sums: Array) -> Array:
    """Alpha of sums of `_moments`, (..., 4) to (...); NaN where all ratings are equal."""
    n, total, squares, apart = np.moveaxis(sums, -1, 0)
    about = squares - total**2 / n
    with np.errstate(invalid="ignore", divide="ignore"):
        value = 1 - apart / n * (n - 1) / (2 * about)
    return np.asarray(np.where(about > 1e-12 * squares, value, np.nan))  # rounding is no spread


def _nominal(table: Array, rated: Mask) -> tuple[float, float]:
    m, n = rated.sum(axis=0), int(rated.sum())
    categories = np.unique(table[rated])
    counts = np.stack([(table == category).sum(axis=0) for category in categories])  # (categories, units)
    observed = float(((m * m - (counts**2).sum(axis=0)) / (m - 1)).sum()) / n
    return observed, (n * n - float((counts.sum(axis=1) ** 2).sum())) / (n * (n - 1))


def _ratio(table: Array, rated: Mask) -> tuple[float, float]:
    m, n = rated.sum(axis=0), int(rated.sum())
    observed = 0.0
    for i, j in combinations(range(len(table)), 2):
        both = rated[i] & rated[j]
        observed += float((2 * _apart(table[i, both], table[j, both]) / (m[both] - 1)).sum())
    values, counts = np.unique(table[rated], return_counts=True)
    expected = sum(count * float(counts @ _apart(values, value)) for value, count in zip(values, counts, strict=True))
    return observed / n, expected / (n * (n - 1))


def _apart(a: Array, b: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(a + b > 0, ((a - b) / np.where(a + b > 0, a + b, 1)) ** 2, 0.0))


def alpha_interval(
    ratings: Any, scale: str, items: Sequence[Hashable], *, draws: int = 1000, seed: Seed = 0
) -> tuple[float, float]:
    """95 % percentile bootstrap interval of Krippendorff's alpha over items, each drawn with all its units.

    On an ordinal scale ratings keep the ranks that they have in all units. Below 100 items intervals are too narrow.

    Args:
        ratings: shape (raters, units), as `krippendorff` takes them.
        scale: `ordinal`, `interval`, or `nominal` with two classes.
        items: the item of each unit, length units.
        draws: the number of resamples.
        seed: a whole number or a generator, which is advanced.

    Returns:
        Lower and upper end; NaN where fewer than two items have a unit with two ratings.

    References:
        Zapf et al. (2016), "Measuring Inter-Rater Reliability for Nominal Data", who draw units one by one.
    """
    table, rated, paired = _of_pairs(ratings)
    places = numbered(item for item, kept in zip(items, paired.tolist(), strict=True) if kept)
    if not places.any():  # no item, or one
        return math.nan, math.nan
    sums = np.zeros((1, int(places.max()) + 1, 4))
    np.add.at(sums[0], places, _moments(_ranked(table, rated) if scale == "ordinal" else table, rated))
    found = bootstrap_interval(sums, _of_moments, draws=draws, seed=seed)
    return float(found.low[0]), float(found.high[0])


# --- How far can a judge be trusted? Kappa beside the base rate


@dataclass(frozen=True, kw_only=True)
class Kappa:
    """Agreement of two raters beyond chance.

    Attributes:
        value: Cohen's kappa: 1 for perfect agreement, 0 for that of chance; NaN where chance alone would agree always.
        agreement: the share of units with equal labels.
        chance: the share that two raters with these labels would agree on by chance.
        base_rate: the share of the commonest label of the second rater: what a judge who always says it would reach.
        n: units that both labelled.
        n_undefined: other units.
    """

    value: float
    agreement: float
    chance: float
    base_rate: float
    n: int
    n_undefined: int


def cohen_kappa(judge: Any, people: Any) -> Kappa:
    """Cohen's kappa of two raters.

    Args:
        judge: labels as numbers, shape (n,), NaN where missing.
        people: the same of the rater whose base rate counts.

    Raises:
        InputError: shapes differ, or no unit has both labels.

    References:
        Cohen (1960), "A Coefficient of Agreement for Nominal Scales".
    """
    a, b = numbers(judge, "labels of the judge"), numbers(people, "labels of people")
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(f"labels have the shapes {a.shape} and {b.shape}, expected two lists of one length")
    both = ~np.isnan(a) & ~np.isnan(b)
    n = int(both.sum())
    if not n:
        raise InputError(f"none of {len(a)} units has both labels; expected some")
    a, b = a[both], b[both]
    labels = np.unique(np.concatenate([a, b]))
    shares = np.array([[(rater == label).mean() for label in labels] for rater in (a, b)])  # (2, labels)
    agreement, chance = float((a == b).mean()), float((shares[0] * shares[1]).sum())
    return Kappa(
        value=(agreement - chance) / (1 - chance) if chance < 1 else math.nan,
        agreement=agreement,
        chance=chance,
        base_rate=float(shares[1].max()),
        n=n,
        n_undefined=len(both) - n,
    )


# --- Which systems are so far from the rest that they alone cause a correlation? Outliers by median absolute deviation

_NORMAL = 1.4826  # the standard deviation of a normal distribution over its median absolute deviation
_FAR = 2.5  # robust standard deviations


def mad_outliers(z: Sequence[float]) -> Mask:
    """Which human system scores lie more than 2.5 robust standard deviations from their median, shape (S,).

    References:
        Mathur, Baldwin and Cohn (2020), "Tangled up in BLEU", section 4.1. Where half of the scores are equal the rule
        divides by 0, and code that follows it calls every other score an outlier; here none is.
    """
    apart = np.abs(np.asarray(z) - np.median(z))
    deviation = _NORMAL * float(np.median(apart))
    return np.asarray(apart > _FAR * deviation) if deviation > 0 else np.zeros(len(apart), dtype=np.bool_)


# --- How well is the mean of ratings known? Its interval, where other items and other raters might have been asked


@by_value
@dataclass(frozen=True)
class RatedItems:
    """The ratings of one system; the mean is over items, of the mean of each item's ratings.

    Attributes:
        items: the item of each of n ratings, from 0, shape (n,).
        raters: the rater of each, from 0, shape (n,).
        ratings: shape (n,).
    """

    items: Counts
    raters: Counts
    ratings: Array

    @property
    def weights(self) -> Array:
        """What each rating counts in the mean, shape (n,); their sum is 1."""
        counts = np.bincount(self.items)
        return np.asarray(1 / (counts[self.items] * np.count_nonzero(counts)))

    @property
    def value(self) -> float:
        """The mean; NaN without ratings."""
        return float(self.weights @ self.ratings) if len(self.ratings) else math.nan

    def over(self, items: Mask) -> RatedItems:
        """The ratings of some of the items."""
        kept = items[self.items]
        return RatedItems(self.items[kept], self.raters[kept], self.ratings[kept])


def rated_interval(system: RatedItems, other: RatedItems | None = None) -> Estimate:
    """The mean of a system's ratings, or by how much it is above that of another, with a 95 % interval.

    The interval says what other items and other raters would give. Its variance is that over items, plus that over
    raters, less that over ratings, which both hold; the first two are the jackknife's, which is right however unevenly
    the raters shared the work. Degrees of freedom of Student's t are Satterthwaite's: of few raters who differ the
    interval is wide, and of raters who do not it is that of the items. It held the mean in .89 to .99 of simulated
    samples with 2 to 10 raters, and where raters differ the bootstrap over items in .55 to .85
    (docs/studies/intervals.md).

    Args:
        system: its ratings.
        other: those of another system; both number items and raters alike.

    Returns:
        NaN for the ends where a system has fewer than two items or two raters.

    References:
        Cameron, Gelbach and Miller (2011), "Robust Inference with Multiway Clustering", section 2.1, for the sum of
        variances; Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 11, for the jackknife;
        Satterthwaite (1946), "An Approximate Distribution of Estimates of Variance Components".
    """
    from scipy.special import stdtrit

    both = [system] if other is None else [system, other]
    value = system.value - (0.0 if other is None else other.value)
    if any(len(np.unique(one.items)) < 2 or len(np.unique(one.raters)) < 2 for one in both):
        return Estimate(value, math.nan, math.nan)
    n_items, n_raters = (1 + max(int(getattr(one, what).max()) for one in both) for what in ("items", "raters"))
    of_items, of_raters, shares = np.zeros(n_items), np.zeros(n_raters), np.zeros(n_raters)
    cells, moved = [], []  # of every rating: its item and rater, and what it adds
    for sign, one in zip((1, -1), both, strict=False):
        weights = one.weights
        shift = sign * weights * (one.ratings - one.value)
        load = np.bincount(one.raters, weights, n_raters)
        of_items += np.bincount(one.items, shift, n_items)
        of_raters += np.bincount(one.raters, shift, n_raters) / (1 - load)
        shares += load
        cells.append(one.items * n_raters + one.raters)
        moved.append(shift)
    distinct, place = np.unique(np.concatenate(cells), return_inverse=True)
    of_cells = np.bincount(place, np.concatenate(moved))
    n, r, c = len(np.unique(distinct // n_raters)), int(np.count_nonzero(shares)), len(distinct)
    by_item = float((of_items**2).sum()) * n / (n - 1)
    by_rater = float((of_raters**2).sum()) * (r - 1) / r
    variance = max(by_item + by_rater - float((of_cells**2).sum()) * c / (c - 1), by_item, by_rater)
    if variance == 0:
        return Estimate(value, value, value)
    known = max(1.0, float((shares**2).sum()) ** 2 / float((shares**4).sum()) * (r - 1) / r)
    df = variance**2 / (by_rater**2 / known + (variance - by_rater) ** 2 / (n - 1))
    half = float(stdtrit(df, 0.975)) * math.sqrt(variance)
    return Estimate(value, value - half, value + half)


# --- How far do the labels of a judge depend on its prompt? Agreement, share of items, and spread of accuracy

_MOST = 200  # labels; more are scores
_AT_ONCE = 4096  # items that are left out one by one


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; NaN where it is undefined.

    Attributes:
        value: the estimate.
        low: the lower end.
        high: the upper end.
    """

    value: float
    low: float
    high: float


@by_value
@dataclass(frozen=True, kw_only=True)
class PromptSensitivity:
    """How far the labels of one judge move between prompts.

    Attributes:
        agreement: the share of units with equal labels under two prompts, mean over all pairs of prompts.
        chance: the share that prompts with these labels would agree on by chance.
        kappa: agreement beyond chance, (agreement - chance) / (1 - chance).
        base_rate: the share of the commonest label: two prompts under which a judge always says it agree always.
        dependent: the share of items with a unit of which the label depends on the prompt.
        accuracy: the accuracy under each prompt, shape (prompts,); empty without labels of people.
        spread: the standard deviation of accuracy over prompts, without what so few items make of equal prompts; NaN
            without labels of people.
        n: items with labels under two prompts or more.
        n_undefined: labels that are missing, of all prompts and units.
        level: the confidence of the intervals.
    """

    agreement: Estimate
    chance: float
    kappa: Estimate
    base_rate: float
    dependent: Estimate
    accuracy: Array
    spread: Estimate
    n: int
    n_undefined: int
    level: float


def prompt_sensitivity(
    labels: Any, people: Any = None, *, items: Sequence[Hashable] | None = None, level: float = 0.95
) -> PromptSensitivity:
    """How far the labels of one judge depend on the prompt.

    Intervals say what other items would give: those of the jackknife over items with Student's t, and of Wilson for
    `dependent`.

    Args:
        labels: labels as numbers, shape (prompts, units), NaN where missing.
        people: the right label of each unit, shape (units,), NaN where nobody knows.
        items: the item of each unit, such as the pair that was shown in both orders; None if each unit is an item.
        level: the confidence of the intervals.

    Raises:
        InputError: shapes differ, there are fewer than two prompts, or fewer than two items have labels under two.

    References:
        Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 11 (jackknife).
    """
    check_level(level)
    table = numbers(labels, "labels")
    if table.ndim != 2 or len(table) < 2:
        raise InputError(f"labels have shape {table.shape}, expected (prompts, units) with two prompts or more")
    n_units = table.shape[1]
    gold = np.full(n_units, np.nan) if people is None else numbers(people, "labels of people")
    names = range(n_units) if items is None else items
    if gold.shape != (n_units,) or len(names) != n_units:
        raise InputError(
            f"{n_units} units, labels of people of shape {gold.shape} and {len(names)} items; expected one length"
        )
    known = ~np.isnan(table)
    shown = np.unique(table[known])
    if len(shown) > _MOST:
        raise InputError(f"{len(shown)} different labels, expected at most {_MOST}")
    place = numbered(names)  # (units,), the item of each
    compared = known.sum(axis=0) > 1
    n = len(np.unique(place[compared]))
    if n < 2:
        raise InputError(f"{n} items have labels under two prompts, expected two or more")
    depends = np.zeros(int(place.max()) + 1, dtype=np.bool_)
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a unit without any label is all NaN
        depends[place[np.nanmax(table, axis=0) > np.nanmin(table, axis=0)]] = True
    share = int(depends.sum())
    dependent = Estimate(share / n, *wilson(share, n, level))
    rows = _rows(table, shown, gold, place)
    agreement, chance, kappa, variance = _jackknife(rows, len(table), level)
    if not share:  # no item says how much agreement varies; what may still depend bounds it
        floor = 1 - dependent.high
        agreement = Estimate(agreement.value, floor, 1.0)
        kappa = Estimate(
            kappa.value, (floor - chance.value) / (1 - chance.value) if chance.value < 1 else math.nan, 1.0
        )
    return PromptSensitivity(
        agreement=_within(agreement, 0.0),
        chance=chance.value,
        kappa=_within(kappa, -1.0),
        base_rate=float(max((table == label).sum() for label in shown) / known.sum()),
        dependent=dependent,
        accuracy=_accuracy(rows.sum(axis=0), len(table)) if people is not None else np.empty(0),
        spread=Estimate(*map(float, np.sqrt(np.clip([variance.value, variance.low, variance.high], 0, None)))),
        n=n,
        n_undefined=int((~known).sum()),
        level=level,
    )


def _rows(table: Array, shown: Array, gold: Array, place: npt.NDArray[np.int64]) -> Array:
    """What the statistics are sums of, per item, shape (items, k).

    For each pair of prompts the equal labels, then those that both have; for each label and prompt its count; for each
    prompt the right labels, then those of which the right one is known.
    """
    left, right = pairs_of(len(table))
    known, judged = ~np.isnan(table), ~np.isnan(table) & ~np.isnan(gold)
    of_units = np.concatenate(
        [
            table[left] == table[right],
            known[left] & known[right],
            *(table == one for one in shown),
            judged & (table == gold),
            judged,
        ]
    )  # (k, units)
    rows = np.zeros((place.max() + 1, len(of_units)))
    np.add.at(rows, place, of_units.T)
    return rows


def _accuracy(totals: Array, n_prompts: int) -> Array:
    """The accuracy under each prompt from sums of `_rows`, (..., k) to (..., prompts)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(totals[..., -2 * n_prompts : -n_prompts] / totals[..., -n_prompts:])


def _statistics(totals: Array, n_prompts: int) -> Array:
    """Agreement, chance, kappa and the variance of accuracy over prompts, (..., k) to (..., 4)."""
    left, right = pairs_of(n_prompts)
    n_pairs = len(left)
    with np.errstate(invalid="ignore", divide="ignore"):
        both = totals[..., n_pairs : 2 * n_pairs]
        counts = totals[..., 2 * n_pairs : -2 * n_prompts].reshape(*totals.shape[:-1], -1, n_prompts)
        shares = counts / counts.sum(axis=-2, keepdims=True)  # (..., labels, prompts)
        used = both > 0
        n_used = used.sum(axis=-1)
        agreement = np.where(used, totals[..., :n_pairs] / both, 0.0).sum(axis=-1) / n_used
        by_chance = (shares[..., left] * shares[..., right]).sum(axis=-2)
        chance = np.where(used, by_chance, 0.0).sum(axis=-1) / n_used
        kappa = np.where(chance < 1, (agreement - chance) / (1 - chance), np.nan)
        variance = _accuracy(totals, n_prompts).var(axis=-1, ddof=1)
    return np.stack([agreement, chance, kappa, variance], axis=-1)


def _jackknife(rows: Array, n_prompts: int, level: float) -> list[Estimate]:
    """The statistics with intervals. The variance is that without its bias, which is the noise of few items."""
    from scipy.special import stdtrit

    n, totals = len(rows), rows.sum(axis=0)
    plain = _statistics(totals, n_prompts)
    parts = [rows[start : start + _AT_ONCE] for start in range(0, n, _AT_ONCE)]
    without = np.concatenate([_statistics(totals - part, n_prompts) for part in parts])  # (items, 4)
    error = np.sqrt((n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    plain[-1] = n * plain[-1] - (n - 1) * without[:, -1].mean()
    return [Estimate(*map(float, ends)) for ends in zip(plain, plain - half, plain + half, strict=True)]


def _within(found: Estimate, least: float) -> Estimate:
    """An estimate whose interval ends where the statistic does."""
    return Estimate(found.value, *map(float, np.clip([found.low, found.high], least, 1)))
