"""How many items are enough? Power, sample size and the smallest effect that would be detected."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.draws import Seed, check_draws, check_level, generator, wilson


@dataclass(frozen=True, kw_only=True)
class Power:
    """A planned two-sided comparison; any one of effect, n and power follows from the other two.

    Attributes:
        effect: the true correlation, difference of means or difference of accuracies.
        n: the number of independent items.
        power: the probability that the test finds the effect.
        alpha: the probability that it finds an effect where there is none.
    """

    effect: float
    n: int
    power: float
    alpha: float


@dataclass(frozen=True, kw_only=True)
class SimulatedPower:
    """How often a test found a difference in data sets that were resampled from the data at hand.

    Attributes:
        value: the share of the data sets with p <= alpha.
        low: lower end of its 95 % Wilson interval.
        high: upper end.
        alpha: the significance level of the test.
        n_systems: systems in each data set.
        n_used: data sets with a p-value.
        n_undefined: data sets without one.
    """

    value: float
    low: float
    high: float
    alpha: float
    n_systems: int
    n_used: int
    n_undefined: int


def correlation_power(
    *,
    effect: float | None = None,
    n: int | None = None,
    power: float | None = None,
    alpha: float = 0.05,
) -> Power:
    """Plan a test of whether a correlation differs from 0; give two of effect, n and power.

    n = ((z_alpha + z_power) / atanh r)^2 + 3.

    References:
        Cohen (1988), "Statistical Power Analysis for the Behavioral Sciences", chapter 3.
    """
    if effect is not None and not 0 < abs(effect) < 1:
        raise InputError(f"effect is {effect}, expected a correlation between 0 and 1, neither included")
    reach = None if effect is None else math.atanh(abs(effect))
    solved = _solve(reach, n, power, alpha, spread=1.0, lost=3)
    return Power(
        effect=math.tanh(solved.effect) if effect is None else effect,
        n=solved.n,
        power=solved.power,
        alpha=alpha,
    )


def mean_power(
    *,
    sd: float,
    effect: float | None = None,
    n: int | None = None,
    power: float | None = None,
    alpha: float = 0.05,
) -> Power:
    """Plan a test of whether two systems differ in a mean over paired items; give two of effect, n and power.

    `sd` is the standard deviation of the paired differences.
    """
    if not sd > 0:
        raise InputError(f"sd is {sd}, expected the standard deviation of the paired differences, above 0")
    return _solve(_size(effect), n, power, alpha, spread=sd)


def accuracy_power(
    *,
    discordant: float,
    effect: float | None = None,
    n: int | None = None,
    power: float | None = None,
    alpha: float = 0.05,
) -> Power:
    """Plan a test of whether two metrics differ in accuracy on the same pairs; give two of effect, n and power.

    `discordant` is the share of the pairs that only one of the two gets right.
    """
    if not 0 < discordant <= 1:
        raise InputError(f"discordant is {discordant}, expected a share of the pairs, above 0 and up to 1")
    if effect is not None and abs(effect) > discordant:
        raise InputError(
            f"effect is {effect}, which is more than the share of pairs on which the metrics disagree ({discordant})"
        )
    solved = _solve(_size(effect), n, power, alpha, spread=math.sqrt(discordant))
    if solved.effect > discordant:
        raise InputError(
            f"with n = {n} and power {power:g} no difference is found: it would have to be {solved.effect:.3f}, and"
            f" cannot exceed the share of pairs on which the metrics disagree ({discordant}); give more pairs"
        )
    return solved


def critical_correlation(n: int) -> float:
    """The smallest |r| of n independent pairs that a two-sided t-test finds significant at .05; NaN below 3 pairs.

    For example, it is 0.60 for 11 pairs.
    """
    from scipy import special  # scipy.stats takes a second to load

    if n < 3:
        return math.nan
    t = -float(special.stdtrit(n - 2, 0.025))
    return t / math.sqrt(n - 2 + t * t)


def simulated_power(
    test: Callable[[Array, Array, Array], float],
    first: Array,
    second: Array,
    z: Array,
    *,
    n_systems: int | None = None,
    data_sets: int = 200,
    seed: Seed = 0,
    alpha: float = 0.05,
) -> SimulatedPower:
    """How often would a test find the difference of two metrics on other systems like these, drawn with replacement?

    Args:
        test: maps scores of the first metric, scores of the second and judgements, each of shape (S, ...), to a
            p-value; NaN where it has none.
        first: scores of the first metric, one row per system, shape (S, ...).
        second: scores of the second metric, of the same shape.
        z: judgements, with rows in the same order.
        n_systems: the number of systems in a data set; by default as many as are given.
        data_sets: how many data sets are drawn; each costs one test.
        seed: a whole number or a generator, which is advanced.
        alpha: the significance level of the test.

    Raises:
        InputError: rows do not match, or there are fewer than 3 systems.
    """
    check_draws(data_sets)
    _check_alpha(alpha)
    size = len(z) if n_systems is None else n_systems
    if not len(first) == len(second) == len(z):
        raise InputError(f"there are {len(first)}, {len(second)} and {len(z)} rows, expected one per system everywhere")
    if size < 3 or len(z) < 3:
        raise InputError(f"power is simulated with 3 systems or more, got {min(size, len(z))}")
    rng = generator(seed)
    p = np.array(
        [float(test(first[rows], second[rows], z[rows])) for rows in rng.integers(len(z), size=(data_sets, size))]
    )
    known = int((~np.isnan(p)).sum())
    found = int((p <= alpha).sum())
    low, high = wilson(found, known)
    return SimulatedPower(
        value=found / known if known else math.nan,
        low=low,
        high=high,
        alpha=alpha,
        n_systems=size,
        n_used=known,
        n_undefined=data_sets - known,
    )


def _size(effect: float | None) -> float | None:
    if effect == 0:
        raise InputError("effect is 0: no number of items would show it")
    return None if effect is None else abs(effect)


def _solve(
    effect: float | None,
    n: int | None,
    power: float | None,
    alpha: float,
    *,
    spread: float,
    lost: int = 0,
) -> Power:
    """Solve effect sqrt(n - lost) / spread = z_alpha + z_power for the one that is missing.

    The far tail of a two-sided test is left out.
    """
    from scipy import special

    _check_alpha(alpha)
    if sum(value is None for value in (effect, n, power)) != 1:
        raise InputError("give two of effect, n and power; the third follows")
    if power is not None:
        check_level(power)
    if n is not None and n <= lost:
        raise InputError(f"n is {n}, expected more than {lost} items")
    bar = float(special.ndtri(1 - alpha / 2))
    if power is None and effect is not None and n is not None:
        power = float(special.ndtr(effect * math.sqrt(n - lost) / spread - bar))
        return Power(effect=effect, n=n, power=power, alpha=alpha)
    assert power is not None
    need = bar + float(special.ndtri(power))
    if need <= 0:
        raise InputError(f"power is {power}, which the level {alpha} gives away for nothing; ask for more")
    if n is None and effect is not None:
        n = math.ceil((need * spread / effect) ** 2 + lost)
    assert n is not None
    return Power(
        effect=need * spread / math.sqrt(n - lost) if effect is None else effect,
        n=n,
        power=power,
        alpha=alpha,
    )


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha}, expected a share between 0 and 1 such as 0.05")
