"""Does a metric put the better text first? Preference accuracy with its interval, two metrics on the same pairs, and AUC."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.better_worse import TIES, accuracy_of, outcomes
from nlgauge.stats.correlation.coefficients import average_ranks
from nlgauge.stats.correlation.entries import choose, codes, numbers
from nlgauge.stats.correlation.pairs import check_vectors
from nlgauge.stats.draws import check_level


@dataclass(frozen=True, kw_only=True)
class PreferenceAccuracy:
    """How often a metric prefers the better text.

    Attributes:
        value: the share, with ties settled by `ties`; over several groups the plain mean of their shares; NaN without a
            pair.
        low: lower end of the Wilson interval; NaN for a mean of groups.
        high: upper end.
        wins: pairs in which the better text scores higher.
        n_ties: pairs with equal scores.
        losses: the rest.
        n_used: pairs in the denominator, or groups in the mean.
        n_undefined: pairs that do not count (a score missing, a tie excluded), or groups without a pair.
        chance: what a metric would get that guesses wherever it does not tie.
        level: always `segment`.
        averaging: `none`, or `item` for a mean of groups.
        ties: how ties are settled.
        confidence: of the interval.
        groups: the result of each group, in the order of their first pair; empty without groups.
    """

    value: float
    low: float
    high: float
    wins: int
    n_ties: int
    losses: int
    n_used: int
    n_undefined: int
    chance: float
    level: str
    averaging: str
    ties: str
    confidence: float
    groups: dict[Hashable, PreferenceAccuracy]


@dataclass(frozen=True, kw_only=True)
class McNemar:
    """Two metrics on the same pairs.

    Attributes:
        delta: accuracy of the first less that of the second.
        p: exact, two-sided; 1 where they never disagree.
        both: pairs both get right.
        first_only: pairs that only the first gets right.
        second_only: pairs that only the second gets right.
        neither: pairs both get wrong.
        n_used: all four.
        n_undefined: pairs left out because a score is missing.
        ties: how ties are settled.
    """

    delta: float
    p: float
    both: int
    first_only: int
    second_only: int
    neither: int
    n_used: int
    n_undefined: int
    ties: str


def preference_accuracy(
    better: Sequence[float | None] | Array,
    worse: Sequence[float | None] | Array,
    groups: Sequence[Hashable] | None = None,
    *,
    ties: str = "loss",
    missing: str = "refuse",
    confidence: float = 0.95,
) -> PreferenceAccuracy:
    """Share of pairs in which the better text gets the higher score.

    Args:
        better: scores of the better texts, shape (n,), more being better.
        worse: scores of the worse texts, shape (n,).
        groups: a label for each pair, such as its phenomenon: the value is then the plain mean over groups, as suites
            report it.
        ties: `loss`, `half`, `exclude`, or `zero`, which is `loss` here.
        missing: a pair with a score missing is refused (`refuse`), left out (`drop`) or lost (`worst`).
        confidence: of the Wilson interval.

    Raises:
        InputError: unequal lengths, a missing score under `refuse`, an option out of its range.

    References:
        Wilson (1927), "Probable Inference, the Law of Succession, and Statistical Inference".
    """
    choose(ties, TIES, "ties")
    choose(missing, ("refuse", "drop", "worst"), "missing")
    check_level(confidence)
    good, bad = numbers(better, "scores of the better texts"), numbers(worse, "scores of the worse texts")
    good, bad = check_vectors(good, bad), check_vectors(bad, good)
    absent = np.isnan(good) | np.isnan(bad)
    if absent.any() and missing == "refuse":
        raise InputError(f"a score is missing in {_places(absent)}; choose missing='drop' or 'worst'")
    kept = ~absent if missing == "drop" else np.ones(len(good), dtype=np.bool_)
    whole = _settled(good, bad, kept, ties, confidence)
    if groups is None:
        return whole
    of, labels = codes(groups, len(good), "groups")
    parts = {
        label: _settled(good[of == g], bad[of == g], kept[of == g], ties, confidence) for g, label in enumerate(labels)
    }
    defined = [part for part in parts.values() if not math.isnan(part.value)]
    return PreferenceAccuracy(
        value=float(np.mean([part.value for part in defined])) if defined else math.nan,
        low=math.nan,
        high=math.nan,
        wins=whole.wins,
        n_ties=whole.n_ties,
        losses=whole.losses,
        n_used=len(defined),
        n_undefined=len(parts) - len(defined),
        chance=float(np.mean([part.chance for part in defined])) if defined else math.nan,
        level="segment",
        averaging="item",
        ties=ties,
        confidence=confidence,
        groups=parts,
    )


def mcnemar(
    better_first: Array,
    worse_first: Array,
    better_second: Array,
    worse_second: Array,
    *,
    ties: str = "loss",
    missing: str = "refuse",
) -> McNemar:
    """Does the first metric get more pairs right than the second? Exact test on the pairs they disagree about.

    Args:
        better_first: scores of the better texts by the first metric, shape (n,).
        worse_first: of the worse texts by the first metric.
        better_second: of the better texts by the second metric.
        worse_second: of the worse texts by the second metric.
        ties: `loss` counts a tie as wrong, `exclude` leaves out the pairs that either metric ties.
        missing: `refuse` a missing score, or `drop` its pair.

    References:
        McNemar (1947), "Note on the Sampling Error of the Difference Between Correlated Proportions or Percentages".
    """
    from scipy import stats

    choose(ties, ("loss", "exclude"), "ties")
    choose(missing, ("refuse", "drop"), "missing")
    given = (better_first, worse_first, better_second, worse_second)
    columns = [numbers(column, "scores") for column in given]
    if len({column.shape for column in columns}) != 1 or columns[0].ndim != 1:
        raise InputError(
            f"scores have shapes {', '.join(str(c.shape) for c in columns)}, expected four vectors of equal lengths"
        )
    good_1, bad_1, good_2, bad_2 = columns
    left_out = np.asarray(np.isnan(np.stack(columns)).any(axis=0))
    if left_out.any() and missing == "refuse":
        raise InputError(f"a score is missing in {_places(left_out)}; choose missing='drop'")
    if ties == "exclude":
        left_out |= (good_1 == bad_1) | (good_2 == bad_2)
    first, second = (good_1 > bad_1)[~left_out], (good_2 > bad_2)[~left_out]
    only_1, only_2 = int((first & ~second).sum()), int((second & ~first).sum())
    p = float(stats.binomtest(only_1, only_1 + only_2).pvalue) if only_1 + only_2 else 1.0
    return McNemar(
        delta=(only_1 - only_2) / len(first) if len(first) else math.nan,
        p=p,
        both=int((first & second).sum()),
        first_only=only_1,
        second_only=only_2,
        neither=int((~first & ~second).sum()),
        n_used=len(first),
        n_undefined=int(left_out.sum()),
        ties=ties,
    )


def wilson(successes: float | Array, n: float | Array, confidence: float = 0.95) -> tuple[Array, Array]:
    """Wilson's interval of a share; unlike p +- z sqrt(p q / n) it has a width at 0 and at 1. NaN where n is 0."""
    from scipy import special

    check_level(confidence)
    quantile = float(special.ndtri((1 + confidence) / 2))
    n = np.asarray(n, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = successes / n
        centre = share + quantile**2 / (2 * n)
        half = quantile * np.sqrt(share * (1 - share) / n + quantile**2 / (4 * n * n))
        low, high = ((centre + side * half) / (1 + quantile**2 / n) for side in (-1, 1))
    # at the ends the interval closes exactly; rounding must not leave it open by a last digit
    return np.where(share == 0, 0.0, low), np.where(share == 1, 1.0, high)


def auc(x: Array, z: Array) -> Array:
    """Area under the ROC curve: the chance that a positive outscores a negative, a tie counting half.

    Args:
        x: scores, shape (..., n).
        z: 1 for a positive, 0 for a negative, shape (..., n); leading axes broadcast.

    Returns:
        Shape (...), in [0, 1]; NaN where only one class is present.

    Raises:
        InputError: a class other than 0 and 1.
    """
    x, z = check_vectors(x, z), check_vectors(z, x)
    if not np.isin(z, (0, 1)).all():
        raise InputError(
            f"auc takes classes 0 and 1, got {z[~np.isin(z, (0, 1))].flat[0]:g}; give a threshold of your own to make"
            " two classes"
        )
    positives = z.sum(axis=-1)
    wins = (average_ranks(x) * z).sum(axis=-1) - positives * (positives + 1) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        area = wins / (positives * (z.shape[-1] - positives))
    return np.where(np.isnan(x).any(axis=-1), np.nan, area)


def _places(absent: npt.NDArray[np.bool_]) -> str:
    return f"{absent.sum()} of {len(absent)} pairs (first: pair {int(np.flatnonzero(absent)[0])})"


def _settled(good: Array, bad: Array, kept: npt.NDArray[np.bool_], ties: str, confidence: float) -> PreferenceAccuracy:
    wins, losses, tied = (int(count) for count in outcomes(good[kept], bad[kept]))
    ratio = accuracy_of(np.asarray(wins), np.asarray(losses), np.asarray(tied), ties)
    low, high = wilson(ratio.numerator, ratio.denominator, confidence)
    guessed = accuracy_of(np.asarray((wins + losses) / 2), np.asarray((wins + losses) / 2), np.asarray(tied), ties)
    return PreferenceAccuracy(
        value=float(ratio.value),
        low=float(low),
        high=float(high),
        wins=wins,
        n_ties=tied,
        losses=losses,
        n_used=int(ratio.denominator),
        n_undefined=len(good) - int(ratio.denominator),
        chance=float(guessed.value),
        level="segment",
        averaging="none",
        ties=ties,
        confidence=confidence,
        groups={},
    )
