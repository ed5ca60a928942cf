"""How far would the difference of two correlations stray on other items or systems? Bootstrap intervals and tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.differences.item_swaps import item_means, split_items
from nlgauge.stats.differences.result import Alternative, MetricComparison, Values, from_draws, square
from nlgauge.stats.differences.swaps.coins import GeneraliseTo
from nlgauge.stats.differences.swaps.groups import NAMED, Coefficient, coefficient_of, means, values_by_group
from nlgauge.stats.differences.swaps.means import correlate, system_scores
from nlgauge.stats.draws import Seed, check_draws, check_level, generator, pairs_of, percentiles, resample_counts
from nlgauge.stats.grids import Averaging, check_grid, standardise
from nlgauge.stats.intervals.weights import segment_weights, system_weights


@dataclass(frozen=True)
class Resampled:
    """M metrics on the data and on B resamples of them.

    Attributes:
        values: the statistic of every metric, the number of groups behind it, and of groups without a value.
        drawn: the statistic on every draw, shape (B, M); NaN where undefined.
    """

    values: Values
    drawn: Array


def bootstrap_test(
    human: Array,
    metrics: Array,
    *,
    generalise_to: GeneraliseTo = "inputs",
    level: Literal["segment", "system"] = "segment",
    averaging: Averaging = "item",
    statistic: str | Coefficient = "pearson",
    alternative: Alternative = "greater",
    confidence: float = 0.95,
    draws: int = 1000,
    seed: Seed = 0,
) -> MetricComparison:
    """Compare every metric with every other on resamples of items (`inputs`), systems or `both`, with replacement.

    The differences d* of the draws scatter around the observed d as d would scatter around the true value. So p =
    (#{d* - d >= d} + 1) / (B + 1); the two-sided p counts |d* - d| >= |d|.

    Args:
        human: judgements, shape (S, N), NaN where missing.
        metrics: scores, shape (M, S, N), higher is better.
        generalise_to: what is drawn. A system that is drawn twice ties with itself, which pulls rank correlations
            towards 0; with few systems there are few different draws.
        level: as in `permutation_test`; system scores are over rated segments.
        averaging: as in `permutation_test`.
        statistic: as in `permutation_test`. Pearson's r, and any statistic where whole groups are drawn, takes one
            matrix product for all draws; others are computed draw by draw.
        alternative: `greater` gives p of row better than column; or `two-sided`.
        confidence: the share of the draws inside the intervals.
        draws: the number of resamples, B.
        seed: a whole number or a generator, which is advanced.

    Raises:
        InputError: a score is missing, shapes do not fit, there are fewer than 2 of what is drawn, or an option is out
            of its range.

    References:
        Deutsch, Dror and Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling
        Methods", section 3.2.
    """
    found = resample_grid(
        human,
        metrics,
        generalise_to=generalise_to,
        level=level,
        averaging=averaging,
        statistic=statistic,
        draws=draws,
        seed=seed,
    )
    return compare_resampled(found, generalise_to=generalise_to, alternative=alternative, confidence=confidence)


def resample_grid(
    human: Array,
    metrics: Array,
    *,
    generalise_to: GeneraliseTo = "inputs",
    level: Literal["segment", "system"] = "segment",
    averaging: Averaging = "item",
    statistic: str | Coefficient = "pearson",
    draws: int = 1000,
    seed: Seed = 0,
) -> Resampled:
    """The statistic of every metric on resamples of a grid; arguments and errors are those of `bootstrap_test`."""
    human, metrics = check_grid(human, metrics)
    _check(human.shape, generalise_to, level, averaging, draws)
    coefficient = coefficient_of(statistic)
    z, constant = standardise(metrics, ~np.isnan(human))
    rng = generator(seed)
    rows = _counts(rng, draws, human.shape[0]) if generalise_to != "inputs" else None  # (B, S)
    columns = _counts(rng, draws, human.shape[1]) if generalise_to != "systems" else None  # (B, N)
    values, used, undefined = _values(human, z, level, averaging, coefficient)
    drawn = _drawn(human, z, level, averaging, coefficient, rows, columns)  # (B, M)
    return Resampled((np.where(constant, np.nan, values), used, undefined), np.where(constant, np.nan, drawn))


def resample_items(values: Array, weights: Array | None = None, *, draws: int = 1000, seed: Seed = 0) -> Resampled:
    """The (weighted) mean of every metric on items drawn with replacement.

    Args:
        values: the value of each metric on each item, shape (M, N), higher is better; NaN where undefined.
        weights: how much each value counts, shape (M, N), such as the pairs of each item; None gives the plain mean.
        draws: the number of resamples, B.
        seed: a whole number or a generator, which is advanced.

    Raises:
        InputError: the values are not a matrix, one is infinite, or there are fewer than 2 items.
    """
    parts = split_items(values, weights, None)
    ((own, counted),) = parts
    check_draws(draws)
    if own.shape[1] < 2:
        raise InputError("a bootstrap over items needs 2 or more, got 1")
    defined = ~np.isnan(own)
    counted = defined.astype(np.float64) if counted is None else np.where(defined, counted, 0.0)
    often = _counts(generator(seed), draws, own.shape[1])  # (B, N)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = (often @ (np.where(defined, own, 0.0) * counted).T) / (often @ counted.T)
    return Resampled((item_means(parts)[:, 0], *means(own)[1:]), drawn)


def mean_resampled(groups: Sequence[Resampled]) -> Resampled:
    """The plain mean over groups that were resampled each on its own, with as many draws each."""
    return Resampled(
        means(np.stack([group.values[0] for group in groups], axis=-1)),
        means(np.stack([group.drawn for group in groups], axis=-1))[0],
    )


def _check(shape: tuple[int, ...], generalise_to: str, level: str, averaging: str, draws: int) -> None:
    check_option("generalise_to", generalise_to, GeneraliseTo, error=InputError)
    check_option("level", level, Literal["segment", "system"], error=InputError)
    check_option("averaging", averaging, Averaging, error=InputError)
    check_draws(draws)
    for size, what, drawn_by in zip(
        shape, ("systems", "items"), (("both", "systems"), ("both", "inputs")), strict=True
    ):
        if generalise_to in drawn_by and size < 2:
            raise InputError(f"a bootstrap over {what} needs 2 or more, got {size}")


def _counts(rng: np.random.Generator, draws: int, n: int) -> Array:
    return np.asarray(resample_counts(rng, draws, n), dtype=np.float64)


def _values(human: Array, z: Array, level: str, averaging: Averaging, coefficient: Coefficient) -> Values:
    if level == "system":
        people, scores = system_scores(human, z, ~np.isnan(human))
        known = ~np.isnan(people)
        values = correlate(coefficient, scores[:, known], people[known])
        return values, (~np.isnan(values)).astype(np.int64), np.isnan(values).astype(np.int64)
    return means(values_by_group(coefficient, human, z, averaging))


def _drawn(
    human: Array,
    z: Array,
    level: str,
    averaging: Averaging,
    coefficient: Coefficient,
    rows: Array | None,
    columns: Array | None,
) -> Array:
    """The statistic of every metric on every draw, shape (B, M); NaN where undefined."""
    whole = {"item": columns if rows is None else None, "sys": rows if columns is None else None, "none": None}[
        averaging
    ]
    if level == "segment" and whole is not None:  # groups are drawn whole: their values stay
        values = values_by_group(coefficient, human, z, averaging)
        defined = ~np.isnan(values)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((whole @ np.where(defined, values, 0.0).T) / (whole @ defined.T.astype(np.float64)))
    if coefficient is NAMED["pearson"]:
        kernel = system_weights if level == "system" else segment_weights
        return kernel(human, z, rows, columns, averaging)
    given = rows if rows is not None else columns
    assert given is not None  # one of the two is drawn
    out = np.empty((len(given), len(z)))
    for draw in range(len(given)):
        s, n = (
            np.arange(size) if counts is None else np.repeat(np.arange(size), counts[draw].astype(np.intp))
            for counts, size in zip((rows, columns), human.shape, strict=True)
        )
        out[draw] = _values(human[s][:, n], z[:, s][:, :, n], level, averaging, coefficient)[0]
    return out


def compare_resampled(
    found: Resampled,
    *,
    generalise_to: GeneraliseTo = "inputs",
    alternative: Alternative = "greater",
    confidence: float = 0.95,
) -> MetricComparison:
    """Compare every metric with every other on the same resamples; arguments are those of `bootstrap_test`."""
    check_option("alternative", alternative, Alternative, error=InputError)
    check_level(confidence)
    values, drawn = found.values[0], found.drawn
    m, (left, right) = len(values), pairs_of(len(values))
    observed = values[left] - values[right]
    differences = drawn[:, left] - drawn[:, right]  # (B, P)
    compared = from_draws("bootstrap", generalise_to, alternative, found.values, (differences - observed).T)
    low, high = percentiles(drawn, confidence)
    d_low, d_high = percentiles(differences, confidence)
    return replace(
        compared,
        low=low,
        high=high,
        delta_low=square(d_low, -d_high, m),
        delta_high=square(d_high, -d_low, m),
        confidence=confidence,
    )
