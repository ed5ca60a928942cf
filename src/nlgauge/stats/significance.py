"""Is one system better than another, not only on these items? Paired tests of systems against a baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Floats, by_value
from nlgauge.core.errors import InputError
from nlgauge.stats.draws import (
    Finish,
    Seed,
    blocks,
    bootstrap_draws,
    check_draws,
    check_level,
    check_stats,
    generator,
    is_whole,
    observed,
    percentiles,
    resample_counts,
    swap_draws,
)

TestName = Literal["paired_bootstrap", "paired_randomisation"]
Compat = Literal["sacrebleu"]

_INTERVAL_DRAWS = 1000  # of randomisation, which needs none for itself
_SLACK = 1e-9  # two sums that are equal on paper may differ in the last digits; nothing measured differs by so little


@by_value
@dataclass(frozen=True)
class PairedTest:
    """S systems over the same items; each of them but the first is compared with the first.

    Attributes:
        test: `paired_bootstrap` or `paired_randomisation`.
        compat: None, or `sacrebleu` where that package's procedure was followed.
        values: the observed corpus numbers, shape (S,).
        deltas: system minus baseline, shape (S - 1,), in the metric's own direction.
        p: two-sided p-values, shape (S - 1,), in (0, 1]; NaN where the difference is undefined.
        low: lower ends of bootstrap percentile intervals of `values`, shape (S,); NaN where none was asked for. Under
            `compat` it is the mean of the draws minus sacrebleu's "±".
        high: upper ends, shape (S,).
        delta_low: lower ends of the intervals of `deltas`, shape (S - 1,); NaN under `compat`, which has none.
        delta_high: upper ends, shape (S - 1,).
        level: the share of the draws inside the intervals.
        draws: the number of draws, B.
        n_undefined_draws: draws on which the difference is undefined, shape (S - 1,); they count neither as hits nor
            as draws for `p`.
    """

    test: TestName
    compat: Compat | None
    values: Array
    deltas: Array
    p: Array
    low: Array
    high: Array
    delta_low: Array
    delta_high: Array
    level: float
    draws: int
    n_undefined_draws: npt.NDArray[np.int64]


def paired_bootstrap(
    stats: Array, finish: Finish, *, draws: int = 1000, seed: Seed = 0, level: float = 0.95, compat: str | None = None
) -> PairedTest:
    """Paired bootstrap: would the difference stand on other items like these? Below 50 items it finds too much.

    The draws scatter around the observed difference d as d would scatter around its true value, so a difference d* that
    is as far from d as d is from 0 is what chance could do: p = (#{|d* - d| >= |d|} + 1) / (B + 1).

    Args:
        stats: segment statistics, shape (S, n, k), the baseline first; the rows of an undefined segment are zeros.
        finish: totals of shape (..., k) to corpus numbers of shape (...); NaN where undefined.
        draws: B, the number of resamples.
        seed: a whole number (0 is a seed like any other) or a generator, which is advanced.
        level: share of the draws inside the intervals.
        compat: `sacrebleu` for that package's p-values and intervals from the same seed. It finds too much, and
            identical outputs different. Give the seed that `SACREBLEU_SEED` held (12345 without one).

    Raises:
        InputError: fewer than 2 items or systems, statistics that are not finite, or an option out of its range.

    References:
        Koehn (2004), "Statistical Significance Tests for Machine Translation Evaluation"; Riezler and Maxwell (2005),
        "On Some Pitfalls in Automatic Evaluation and Significance Testing for MT", for the shift to the null.
    """
    stats = _check(stats, draws, level)
    if _check_compat(compat):
        return _sacrebleu(sacrebleu_bootstrap(stats, finish, draws, _whole_seed(seed)), "paired_bootstrap", draws)
    drawn = bootstrap_draws(stats, finish, draws, generator(seed))  # (B, S)
    return _bootstrapped(observed(stats, finish), drawn, level)


def paired_randomisation(
    stats: Array,
    finish: Finish,
    *,
    draws: int = 10000,
    seed: Seed = 0,
    level: float = 0.95,
    interval_draws: int = _INTERVAL_DRAWS,
    compat: str | None = None,
) -> PairedTest:
    """Paired approximate randomisation: are the labels of the two systems exchangeable, item by item?

    For each item a fair coin decides whether the two systems swap their rows; p = (#{|d*| >= |d|} + 1) / (B + 1). It
    keeps its level for any number of items; with few it finds little.

    Args:
        stats: segment statistics, shape (S, n, k), the baseline first; the rows of an undefined segment are zeros.
        finish: maps totals of shape (..., k) to corpus numbers of shape (...); NaN where undefined.
        draws: the number of shuffles, B.
        seed: a whole number (0 is a seed like any other) or a generator, which is advanced.
        level: the share of the draws inside the intervals.
        interval_draws: the number of bootstrap resamples for the intervals, which the test itself does not need; with
            0 the intervals are NaN.
        compat: `sacrebleu` gives that package's p-values and intervals from the same seed; it finds identical outputs
            different.

    Raises:
        InputError: there are fewer than 2 items or systems, statistics are not finite, or an option is out of its
            range.

    References:
        Noreen (1989), "Computer-Intensive Methods for Testing Hypotheses", chapter 2; Riezler and Maxwell (2005).
    """
    stats = _check(stats, draws, level)
    if interval_draws < 0:
        raise InputError(f"interval_draws is {interval_draws}, expected 0 or more")
    if _check_compat(compat):
        found = sacrebleu_randomisation(stats, finish, draws, _whole_seed(seed), interval_draws)
        return _sacrebleu(found, "paired_randomisation", draws)
    rng = generator(seed)
    swapped = swap_draws(stats, finish, draws, rng)
    return _randomised(observed(stats, finish), swapped, bootstrap_draws(stats, finish, interval_draws, rng), level)


def paired_families(
    test: TestName,
    stats: Array,
    finish: Finish,
    families: Sequence[Sequence[int]],
    *,
    draws: int,
    seed: int = 0,
    level: float = 0.95,
) -> list[PairedTest]:
    """Several tests on the same draws: in each family of systems, the first is the baseline of the others.

    Each is what the test alone gives from the same seed, up to the rounding of sums.

    Args:
        test: `paired_bootstrap` or `paired_randomisation`.
        stats: segment statistics, shape (S, n, k).
        finish, draws, seed, level: as for each test.
        families: positions of systems, at least two in each family.
    """
    stats = _check(stats, draws, level)
    values = observed(stats, finish)
    if test == "paired_bootstrap":
        drawn = bootstrap_draws(stats, finish, draws, generator(seed))  # (B, S)
        return [_bootstrapped(values[rows], drawn[:, rows], level) for rows in map(list, families)]
    swapped = []
    for rows in families:
        rng = generator(seed)  # the same coins for every family
        swapped.append(swap_draws(stats[list(rows)], finish, draws, rng))
    resampled = bootstrap_draws(stats, finish, _INTERVAL_DRAWS, rng)
    return [
        _randomised(values[rows], moved, resampled[:, rows], level)
        for rows, moved in zip(map(list, families), swapped, strict=True)
    ]


def _bootstrapped(values: Array, drawn: Array, level: float) -> PairedTest:
    """The test of the first system against the others, from values of shape (S,) and draws of shape (B, S)."""
    deltas, differences = values[1:] - values[0], drawn[:, 1:] - drawn[:, :1]
    p, n_undefined = _p_values(np.abs(differences - deltas), deltas)
    ends = (*percentiles(drawn, level), *percentiles(differences, level))
    return PairedTest("paired_bootstrap", None, values, deltas, p, *ends, level, len(drawn), n_undefined)


def _randomised(values: Array, swapped: Array, resampled: Array, level: float) -> PairedTest:
    """The same from swaps of shape (B, S - 1), and from bootstrap draws for the intervals."""
    deltas = values[1:] - values[0]
    p, n_undefined = _p_values(np.abs(swapped), deltas)
    ends = (*percentiles(resampled, level), *percentiles(resampled[:, 1:] - resampled[:, :1], level))
    return PairedTest("paired_randomisation", None, values, deltas, p, *ends, level, len(swapped), n_undefined)


def _p_values(distances: Array, deltas: Array) -> tuple[Array, npt.NDArray[np.int64]]:
    """The share of draws at least as far from 0 as observed, and the number of undefined draws.

    Shapes: (B, S - 1) to (S - 1,), twice.
    """
    defined = ~np.isnan(distances)
    reach = np.abs(deltas)
    slack = _SLACK * np.maximum(reach, np.where(defined, distances, 0.0).max(axis=0))
    hits = (distances >= reach - slack).sum(axis=0)
    n_defined = defined.sum(axis=0)
    known = ~np.isnan(deltas) & (n_defined > 0)
    return np.where(known, (hits + 1) / (n_defined + 1), np.nan), len(distances) - n_defined


def _sacrebleu(found: SacrebleuNumbers, test: TestName, draws: int) -> PairedTest:
    absent = np.full(len(found.p), np.nan)
    low, high = found.means - found.half_widths, found.means + found.half_widths
    none = np.zeros(len(found.p), dtype=np.int64)
    deltas, ends = found.values[1:] - found.values[0], (low, high, absent, absent)
    return PairedTest(test, "sacrebleu", found.values, deltas, found.p, *ends, LEVEL, draws, none)


def _check(stats: Array, draws: int, level: float) -> Array:
    check_draws(draws)
    check_level(level)
    return check_stats(stats, systems=2)


def _check_compat(compat: str | None) -> bool:
    if compat not in (None, "sacrebleu"):
        raise InputError(f"compat is {compat!r}, expected 'sacrebleu' or none")
    return compat == "sacrebleu"


def _whole_seed(seed: Seed) -> int:
    if isinstance(seed, np.random.Generator):
        raise InputError(
            "compat='sacrebleu' repeats that package's stream of numbers and needs the seed as a whole number, got a"
            " generator"
        )
    generator(seed)
    return seed


# --- The paired tests of sacrebleu 2.6.0, digit by digit, faults included: to check a published p-value, not to decide
# What is wrong with them: identical outputs get the smallest p-value there is (a strict `>` beside the add-one). And
# the bootstrap takes |d*| minus its own mean, which counts only one of two tails where d is clearly different from 0;
# so it rejects a true null too often.
#
# What is kept: sums in float32, the order of the random stream, and a comparison in the precision of the scores.
#
# What is not copied: there the seed 0 means no seed at all; here it is a seed.

# To repeat the last digits it keeps float32, as sacrebleu's own arithmetic does under NumPy 2.
SacrebleuFinish = Callable[[Any], Any]

LEVEL = 0.95  # its intervals have no other


@dataclass(frozen=True)
class SacrebleuNumbers:
    """The numbers that sacrebleu reports.

    Attributes:
        values: corpus numbers, shape (S,).
        p: shape (S - 1,).
        means: means of the bootstrap draws, shape (S,); NaN where it makes none.
        half_widths: half of the distance between the 2.5 % and the 97.5 % draw, printed after "±", shape (S,).
    """

    values: Array
    p: Array
    means: Array
    half_widths: Array


def sacrebleu_bootstrap(stats: Array, finish: SacrebleuFinish, draws: int, seed: int) -> SacrebleuNumbers:
    """`PairedTest(test_type="bs")`: p = (#{|d*| - mean |d*| > |d|} + 1) / (B + 1); shape (S, n, k), baseline first."""
    values = observed(stats, finish)
    drawn = _bootstrap(stats, finish, draws, np.random.default_rng(seed))
    p = []
    for value, column in zip(values[1:], drawn[1:], strict=True):
        distances = np.abs(column - drawn[0])
        p.append(_p_value(distances - distances.mean(), abs(values[0] - value)))
    return SacrebleuNumbers(values, np.array(p), *_intervals(drawn))


def sacrebleu_randomisation(
    stats: Array, finish: SacrebleuFinish, draws: int, seed: int, interval_draws: int
) -> SacrebleuNumbers:
    """`PairedTest(test_type="ar", n_ar_confidence=interval_draws)`: p = (#{|d*| > |d|} + 1) / (B + 1)."""
    values = observed(stats, finish)
    rng = np.random.default_rng(seed)
    p = []
    for value, distances in zip(values[1:], _swaps(stats, finish, draws, rng), strict=True):
        p.append(_p_value(distances, abs(values[0] - value)))
    if interval_draws < 1:
        absent = np.full(len(values), np.nan)
        return SacrebleuNumbers(values, np.array(p), absent, absent)
    # There the baseline is drawn from a fresh generator and the systems from the one that tossed the coins.
    drawn = [
        *_bootstrap(stats[:1], finish, interval_draws, np.random.default_rng(seed)),
        *_bootstrap(stats[1:], finish, interval_draws, rng),
    ]
    return SacrebleuNumbers(values, np.array(p), *_intervals(drawn))


def _bootstrap(stats: Array, finish: SacrebleuFinish, draws: int, rng: np.random.Generator) -> list[Floats]:
    """Corpus numbers on B resamples, a column of shape (B,) each system."""
    n_systems, n, k = stats.shape
    single = stats.astype(np.float32)
    table = single.transpose(1, 0, 2).reshape(n, -1)
    exact = is_whole(stats, n * float(np.abs(stats).max()))
    parts = []
    for block in blocks(draws, n):
        size = block.stop - block.start
        if exact:
            totals = resample_counts(rng, size, n, np.float32) @ table
        else:  # the order of additions matters now: repeat it
            index = rng.integers(n, size=(size, n))
            totals = np.stack([[rows[drawn].sum(0) for rows in single] for drawn in index])
        parts.append(totals.reshape(size, n_systems, k))
    totals = np.concatenate(parts)
    return [np.asarray(finish(totals[:, s])) for s in range(n_systems)]


def _swaps(stats: Array, finish: SacrebleuFinish, draws: int, rng: np.random.Generator) -> list[Array]:
    """|d*| of every shuffle, a column of shape (B,) each system but the first."""
    n_systems, n, k = stats.shape
    sums, gaps = stats.sum(axis=1), stats[1:] - stats[0]
    if not is_whole(stats, n * float(np.abs(stats).max())):
        # Sums that are equal on paper decide ties by their last digits: make the very products that it makes.
        kept = rng.integers(2, size=(draws, n), dtype=bool)
        pairs = [(kept @ stats[0] + ~kept @ rows, ~kept @ stats[0] + kept @ rows) for rows in stats[1:]]
        return [np.abs(finish(ours) - finish(theirs)) for ours, theirs in pairs]
    table = gaps.transpose(1, 0, 2).reshape(n, -1).astype(np.float32)
    parts = []
    for block in blocks(draws, n, multiple=32):  # 32 coins come from one word: no block ends inside one
        kept = rng.integers(2, size=(block.stop - block.start, n), dtype=bool)
        moved = (kept.astype(np.float32) @ table).astype(np.float64).reshape(-1, n_systems - 1, k)
        parts.append(np.abs(finish(sums[1:] - moved) - finish(sums[0] + moved)))
    return list(np.concatenate(parts).T)


def _p_value(distances: Floats, difference: float) -> float:
    # A Python float takes the precision of the array it is compared with.
    return (int((distances > distances.dtype.type(difference)).sum()) + 1) / (len(distances) + 1)


def _intervals(drawn: list[Floats]) -> tuple[Array, Array]:
    means, half_widths = [], []
    for ordered in map(np.sort, drawn):
        tail = len(ordered) // 40
        means.append(float(ordered.mean()))
        half_widths.append(float(0.5 * (ordered[len(ordered) - tail - 1] - ordered[tail])))
    return np.array(means), np.array(half_widths)
