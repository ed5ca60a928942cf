"""Would the difference of two metrics stand had their scores traded places? Permutation tests for differences of correlations."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.differences import released as anchors
from nlgauge.stats.differences.result import (
    Alternative,
    Compat,
    Counts,
    MetricComparison,
    check_choice,
    check_grid,
    p_values,
    pairs_of,
    square,
)
from nlgauge.stats.differences.swaps import means as swapped_means
from nlgauge.stats.differences.swaps import pearson as swapped_pearson
from nlgauge.stats.differences.swaps import ranks as swapped_ranks
from nlgauge.stats.differences.swaps.coins import Averaging, Coins, GeneraliseTo, standardise, toss
from nlgauge.stats.differences.swaps.groups import (
    NAMED,
    Coefficient,
    buckets,
    by_groups,
    coefficient_of,
    group_count,
    means,
)
from nlgauge.stats.draws import Seed, check_draws, generator

Level = Literal["segment", "system"]

TESTS: dict[str, GeneraliseTo] = {"perm_both": "both", "perm_inputs": "inputs", "perm_systems": "systems"}


def permutation_test(
    human: Array,
    metrics: Array,
    *,
    generalise_to: GeneraliseTo | None = None,
    level: Level = "segment",
    averaging: Averaging = "item",
    statistic: str | Coefficient = "pearson",
    alternative: Alternative = "greater",
    system_scores: Literal["rated", "all"] = "rated",
    draws: int = 1000,
    seed: Seed = 0,
    compat: Compat | None = None,
) -> MetricComparison:
    """Every metric against every other: are their correlations with people the same?

    Each metric is standardised over all cells in use, then scores of the two trade places by fair coins, and the
    correlations of the two mixtures are compared. p = (#{d* >= d} + 1) / (B + 1), a draw that ties with the data being
    as far out.

    Args:
        human: judgements, shape (S, N): S systems, N items; NaN where missing. System scores alone may be given as
            (S,).
        metrics: scores, shape (M, S, N), higher is better: turn an error rate round before. With system scores (M, S).
            A score may be missing only where it is not needed.
        generalise_to: what is swapped. `both`: every score on its own; `inputs`: items; `systems`: systems. The default
            is `both` for
            segments and `systems` for systems: a claim about metrics in general is one about systems not seen yet.
        level: `segment`, or `system`: one coefficient of system scores.
        averaging: for segments: `item`, one coefficient an item over systems, and their mean; `sys` the other way;
            `none` all at once.
        statistic: `pearson`, `spearman`, `kendall_b`, or a function of scores (..., n) and judgements (..., n) along
            the last axis; a function, and a rank correlation where scores tie or groups are large, costs a call on all
            mixtures. It sees standardised scores.
        alternative: `greater`: p of row better than column; `two-sided`.
        system_scores: mean of a metric over the `rated` segments or over `all`.
        draws: B.
        seed: a whole number (0 is a seed like any other) or a generator, which is advanced. One set of coins serves all
            pairs.
        compat: `mt-metrics-eval` or `nlpstats`: their coins from their stream of random numbers, and p = hits / B.

    Raises:
        InputError: a missing score, shapes that do not fit, fewer than 3 systems at system level, an option out of its
            range.

    References:
        Deutsch, Dror and Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling
        Methods", section 4.2.
    """
    human, metrics = check_grid(human, metrics, everywhere=level == "system" and system_scores == "all")
    _check(level, averaging, alternative, system_scores, draws)
    coefficient = coefficient_of(statistic)
    population = generalise_to or ("systems" if level == "system" else "both")
    check_choice("generalise_to", population, get_args(GeneraliseTo))
    if level == "system":
        human, metrics = _with_judgement(human, metrics)
        if compat == "mt-metrics-eval":  # it has the averaged scores alone
            people, scores = swapped_means.system_scores(human, metrics, _used(human, system_scores))
            human, metrics = people[:, None], scores[:, :, None]
    used = _used(human, system_scores) if level == "system" else ~np.isnan(human)
    z, constant = standardise(metrics, used)
    if compat is None:
        coins = toss(generator(seed), draws, human.shape, population)
    else:
        coins = anchors.coins(compat, seed, draws, human, population, averaging if level == "segment" else "none")
    if level == "system":
        people, scores = swapped_means.system_scores(human, z, used)
        values = swapped_means.correlate(coefficient, scores, people)
        found = values, (~np.isnan(values)).astype(np.int64), np.isnan(values).astype(np.int64)
        drawn = swapped_means.system_draws(people, z, used, coins, coefficient)
    else:
        groups = by_groups(coefficient, buckets(human, averaging), z.reshape(len(z), -1), group_count(human, averaging))
        found = means(groups)
        if coefficient is NAMED["pearson"]:
            drawn = swapped_pearson.segment_draws(human, z, coins, averaging)
        else:
            drawn = swapped_ranks.segment_draws(human, z, coins, averaging, coefficient)
    return _result(f"perm_{population}", population, alternative, found, constant, drawn, coins, compat)


def _result(
    test: str,
    population: GeneraliseTo,
    alternative: Alternative,
    found: tuple[Array, Counts, Counts],
    constant: npt.NDArray[np.bool_],
    drawn: Array,
    coins: Coins,
    compat: Compat | None,
) -> MetricComparison:
    values, n_used, n_undefined = found
    values = np.where(constant, np.nan, values)
    m, (left, right) = len(values), pairs_of(len(values))
    observed = values[left] - values[right]
    if compat is None:
        forth, back, undefined = p_values(drawn, observed, alternative)
    else:
        forth, back, undefined = anchors.p_values(compat, drawn, observed, alternative)
    lost = square(undefined, undefined, m, diagonal=0)
    return MetricComparison(
        test,
        population,
        alternative,
        values,
        values[:, None] - values,
        square(forth, back, m),
        n_used,
        n_undefined,
        len(coins.bits),
        lost.astype(np.int64),
        compat,
    )


def _check(level: str, averaging: str, alternative: str, system_scores: str, draws: int) -> None:
    check_choice("level", level, get_args(Level))
    check_choice("averaging", averaging, get_args(Averaging))
    check_choice("alternative", alternative, get_args(Alternative))
    check_choice("system_scores", system_scores, ("rated", "all"))
    check_draws(draws)


def _used(human: Array, system_scores: str) -> npt.NDArray[np.bool_]:
    return ~np.isnan(human) if system_scores == "rated" else np.ones(human.shape, dtype=np.bool_)


def _with_judgement(human: Array, metrics: Array) -> tuple[Array, Array]:
    """Leave out systems that nobody judged; refuse to correlate fewer than three."""
    judged = ~np.isnan(human).all(axis=1)
    if judged.sum() < 3:
        raise InputError(
            f"{int(judged.sum())} systems have judgements, expected 3 or more: two points always lie on a line"
        )
    return human[judged], metrics[:, judged]
