"""Would the difference of two metrics hold if scores were swapped at random? Permutation tests of correlations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.differences import released
from nlgauge.stats.differences.result import (
    Alternative,
    Compat,
    MetricComparison,
    PValues,
    Values,
    from_draws,
    p_values,
)
from nlgauge.stats.differences.swaps import means, pearson, ranks
from nlgauge.stats.differences.swaps.coins import Coins, GeneraliseTo, toss
from nlgauge.stats.differences.swaps.groups import NAMED, Coefficient, coefficient_of, values_by_group
from nlgauge.stats.differences.swaps.groups import means as means_over_groups
from nlgauge.stats.draws import Seed, check_draws, generator, pairs_of
from nlgauge.stats.grids import Averaging, check_grid, standardise

Level = Literal["segment", "system"]
SystemScores = Literal["rated", "all"]

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
    system_scores: SystemScores = "rated",
    draws: int = 1000,
    seed: Seed = 0,
    compat: Compat | None = None,
    advance: Callable[[int], None] = lambda pairs: None,
) -> MetricComparison:
    """Compare every metric with every other: are their correlations with people the same?

    Each metric is standardised over all cells in use. Then fair coins decide which scores of two metrics are swapped,
    and the correlations of the two mixtures are compared: p = (#{d* >= d} + 1) / (B + 1), where a tie with the data
    counts.

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
        system_scores: average a metric over the `rated` segments or over `all`.
        draws: the number of draws, B.
        seed: a whole number or a generator, which is advanced. One set of coins serves all pairs.
        compat: `mt-metrics-eval` or `nlpstats` uses the coins of that package from its stream of random numbers, and p
            = hits / B.
        advance: called with the number of pairs of metrics that were done, for a display of progress.

    Raises:
        InputError: a score is missing, shapes do not fit, there are fewer than 3 systems at level `system`, or an
            option is unknown.

    References:
        Deutsch, Dror and Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling
        Methods", section 4.2.
    """
    human, metrics = check_grid(human, metrics, everywhere=level == "system" and system_scores == "all")
    population = generalise_to or ("systems" if level == "system" else "both")
    _check(level, averaging, alternative, system_scores, population, draws)
    coefficient = coefficient_of(statistic)
    if level == "system":
        human, metrics = _systems_to_compare(human, metrics, system_scores, compat)
    used = _used(human, system_scores if level == "system" else "rated")
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
    coins = released.coins(compat, seed, draws, human, population, averaging)
    return coins, partial(released.p_values, compat)


def _on_systems(
    used: Mask, human: Array, z: Array, coins: Coins, coefficient: Coefficient, advance: Callable[[int], None]
) -> tuple[Values, Array]:
    """Coefficients of system scores: those of the data, and their differences on all draws."""
    people, scores = means.system_scores(human, z, used)
    values = means.correlate(coefficient, scores, people)
    undefined = np.isnan(values).astype(np.int64)
    drawn = means.system_draws(people, z, used, coins, coefficient)
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
    found = means_over_groups(values_by_group(coefficient, human, z, averaging))
    left, right = pairs_of(len(z))
    observed = found[0][left] - found[0][right]
    if coefficient is NAMED["pearson"]:
        drawn = pearson.segment_draws(human, z, coins, averaging, observed)
        advance(len(drawn))
        return found, drawn
    return found, ranks.segment_draws(human, z, coins, averaging, coefficient, observed, advance)


def _check(level: str, averaging: str, alternative: str, system_scores: str, population: str, draws: int) -> None:
    check_option("level", level, Level, error=InputError)
    check_option("averaging", averaging, Averaging, error=InputError)
    check_option("alternative", alternative, Alternative, error=InputError)
    check_option("system_scores", system_scores, SystemScores, error=InputError)
    check_option("generalise_to", population, GeneraliseTo, error=InputError)
    check_draws(draws)


def _used(human: Array, system_scores: SystemScores) -> Mask:
    return ~np.isnan(human) if system_scores == "rated" else np.ones(human.shape, dtype=np.bool_)


def _systems_to_compare(
    human: Array, metrics: Array, system_scores: SystemScores, compat: Compat | None
) -> tuple[Array, Array]:
    """The systems that have a judgement; under mt-metrics-eval, which has no segments here, only their means."""
    judged = ~np.isnan(human).all(axis=1)
    if judged.sum() < 3:
        raise InputError(
            f"{int(judged.sum())} systems have judgements, expected 3 or more: two points always lie on a line"
        )
    human, metrics = human[judged], metrics[:, judged]
    if compat != "mt-metrics-eval":
        return human, metrics
    people, scores = means.system_scores(human, metrics, _used(human, system_scores))
    return people[:, None], scores[:, :, None]
