"""How far can a judge be trusted? Kappa beside the base rate, swaps of the order, repeats, and rates corrected."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.entries import numbers
from nlgauge.stats.draws import check_level


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


@dataclass(frozen=True, kw_only=True)
class Swaps:
    """Choices that were made twice, in both orders of the two answers.

    Attributes:
        consistent: the share of pairs in which the same answer won (or both verdicts are ties).
        flips: the share in which the winner changed with the order, or one verdict is a tie.
        first: of all choices that are no tie, the share in which the answer shown first won; 1/2 without a bias.
        n: pairs with both verdicts.
        n_undefined: pairs in which one could not be read.
    """

    consistent: float
    flips: float
    first: float
    n: int
    n_undefined: int


def swap_consistency(given: Any, swapped: Any) -> Swaps:
    """How often a judge chooses the same answer when the order of the two is swapped.

    Args:
        given: of each pair, which **place** won in one order: 1, 2, or 0 for a tie; NaN where it could not be read.
        swapped: the same in the other order, in which place 1 shows the answer of place 2.

    Raises:
        InputError: shapes differ, or a verdict is another number.
    """
    a, b = numbers(given, "verdicts"), numbers(swapped, "swapped verdicts")
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(f"verdicts have the shapes {a.shape} and {b.shape}, expected two lists of one length")
    both = ~np.isnan(a) & ~np.isnan(b)
    every = np.concatenate([a[~np.isnan(a)], b[~np.isnan(b)]])
    if not np.isin(every, (0, 1, 2)).all():
        raise InputError("a verdict is neither 1, 2 nor 0, expected the place that won, or 0 for a tie")
    n, chosen = int(both.sum()), every[every > 0]
    same = float((np.where(b == 0, 0, 3 - b) == a)[both].mean()) if n else math.nan
    return Swaps(
        consistent=same,
        flips=1 - same,
        first=float((chosen == 1).mean()) if len(chosen) else math.nan,
        n=n,
        n_undefined=len(both) - n,
    )


def retest_spread(scores: Any) -> float:
    """The standard deviation of a judge's scores of one answer, over answers that were scored twice or more.

    Args:
        scores: shape (repeats, n), NaN where missing.

    Returns:
        In units of the score, at least 0; NaN where nothing was scored twice. Variances are pooled by their degrees of
        freedom.

    Raises:
        InputError: the scores are no table.
    """
    table = numbers(scores, "scores")
    if table.ndim != 2:
        raise InputError(f"scores have shape {table.shape}, expected (repeats, answers)")
    known = ~np.isnan(table)
    counts = known.sum(axis=0)
    table, counts = table[:, counts > 1], counts[counts > 1]
    if not len(counts):
        return math.nan
    squares = np.nansum((table - np.nanmean(table, axis=0)) ** 2)
    return math.sqrt(float(squares) / float((counts - 1).sum()))


@dataclass(frozen=True, kw_only=True)
class CorrectedRate:
    """A rate of positive labels, corrected for the errors of the judge that gave them.

    Attributes:
        value: the estimate, in [0, 1].
        low: the lower end of its interval.
        high: the upper end.
        raw: the rate that the judge gave.
        level: the confidence of the interval.
    """

    value: float
    low: float
    high: float
    raw: float
    level: float


def corrected_rate(
    positive: int, n: int, sensitivity: tuple[int, int], specificity: tuple[int, int], *, level: float = 0.95
) -> CorrectedRate:
    """The rate of positive labels that people would give, from those of a judge with known errors.

    Errors differ between systems: to compare two, take the counts of each from its own labelled items, or estimate the
    difference with `powered_means`.

    Args:
        positive: labels of the judge that are positive.
        n: labels of the judge.
        sensitivity: of the items that people call positive, how many the judge does, and their number.
        specificity: of the items that people call negative, how many the judge does, and their number.
        level: the confidence of the interval.

    Raises:
        InputError: counts are impossible, or the judge is not clearly better than chance: the interval of sensitivity +
            specificity - 1 reaches 0.

    References:
        Rogan and Gladen (1978), "Estimating Prevalence from the Results of a Screening Test"; Lang and Reiczigel
        (2014), "Confidence Limits for Prevalence of Disease Adjusted for Estimated Sensitivity and Specificity".
    """
    from scipy.special import ndtri

    check_level(level)
    for what, hits, trials in (("labels", positive, n), ("sensitivity", *sensitivity), ("specificity", *specificity)):
        if not 0 <= hits <= trials or trials < 1:
            raise InputError(f"{what}: {hits} of {trials}, expected counts of at least one item")
    z = float(ndtri((1 + level) / 2))
    (right, n1), (rejected, n0) = sensitivity, specificity
    # one success and one failure more, so that a share of 0 or 1 is not certain
    se, sp, m1, m0 = (right + 1) / (n1 + 2), (rejected + 1) / (n0 + 2), n1 + 2, n0 + 2
    se_var, sp_var = se * (1 - se) / m1, sp * (1 - sp) / m0
    youden = se + sp - 1
    if youden - z * math.sqrt(se_var + sp_var) <= 0:
        raise InputError(
            f"sensitivity + specificity - 1 is {youden:.2f} on {n1} and {n0} items, not clearly above 0; label more"
            " items, or take a better judge"
        )
    size = n + z * z
    p = (positive + z * z / 2) / size
    theta = (p + sp - 1) / youden
    shift = 2 * z * z * (theta * se_var - (1 - theta) * sp_var)
    variance = (p * (1 - p) / size + (1 - theta) ** 2 * sp_var + theta**2 * se_var) / youden**2
    half = z * math.sqrt(variance)
    plain = (positive / n + rejected / n0 - 1) / (right / n1 + rejected / n0 - 1)
    low, high = (min(1.0, max(0.0, theta + shift + side * half)) for side in (-1, 1))
    return CorrectedRate(value=min(1.0, max(0.0, plain)), low=low, high=high, raw=positive / n, level=level)


def errors_by_system(judge: Any, people: Any, systems: Sequence[Hashable]) -> dict[Any, tuple[Array, Array]]:
    """Sensitivity and specificity of a judge for each system, as counts for `corrected_rate`.

    Args:
        judge: labels 0 and 1, shape (n,), NaN where missing.
        people: the same of people.
        systems: the system of each unit, length n.

    Returns:
        System -> (hits, trials) of positives and of negatives, each of shape (2,).

    Raises:
        InputError: shapes differ, or a label is neither 0 nor 1.
    """
    a, b = numbers(judge, "labels of the judge"), numbers(people, "labels of people")
    if a.ndim != 1 or not a.shape == b.shape == (len(systems),):
        raise InputError(f"{a.shape} and {b.shape} labels, {len(systems)} systems; expected one length")
    every = np.concatenate([a, b])
    if not np.isin(every[~np.isnan(every)], (0, 1)).all():
        raise InputError("a label is neither 0 nor 1; give a threshold that makes labels of scores")
    known = ~np.isnan(a) & ~np.isnan(b)
    found = {}
    for system in dict.fromkeys(systems):
        own = known & np.array([one == system for one in systems])
        counts = [np.array([(own & (b == label) & (a == label)).sum(), (own & (b == label)).sum()]) for label in (1, 0)]
        found[system] = (counts[0], counts[1])
    return found
