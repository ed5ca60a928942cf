"""Which system is better? From the scores of many systems on the same items to a table with intervals and p-values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.spec import Signature
from nlgauge.metrics.comparing.grid import aligned, by_system
from nlgauge.metrics.comparing.tests import INTERVAL_DRAWS, SACREBLEU_SEED, system_test
from nlgauge.stats.draws import Intervals, bootstrap_interval
from nlgauge.stats.significance import PairedTest, TestName, paired_bootstrap, paired_randomisation

_RUNS: dict[TestName, Callable[..., PairedTest]] = {
    "paired_bootstrap": paired_bootstrap,
    "paired_randomisation": paired_randomisation,
}
# Items below which intervals are too narrow: docs/statistics/coverage.md.
_FEW_FOR_INTERVALS, _FEW_IF_SKEWED = 100, 200
_HELD = {5: (82, 70), 20: (92, 86), 50: (94, 89)}  # items -> percent of intervals: recipes/studies/coverage/simulate.py
_SACREBLEU_METRICS = ("bleu", "chrf", "ter")


def resampling_notes(n: int, test: str | None, seed: int) -> Iterator[str]:
    """How intervals were computed, and what becomes of intervals and p-values where items are few.

    Args:
        n: the smallest number of items that a system has.
        test: the name of the test; None where there is none.
        seed: the seed.
    """
    yield f"[low, high]: 95 % percentile bootstrap over items, seed {seed}"
    if n < _FEW_FOR_INTERVALS:
        simulated = max((few for few in _HELD if few <= n), default=min(_HELD))
        normal, skewed = _HELD[simulated]
        yield (
            f"intervals from {n} items are too narrow: with {simulated}, a 95 % interval holds the mean {normal} % of"
            f" the time, {skewed} % if scores are skewed"
        )
    elif n < _FEW_IF_SKEWED:
        yield (
            f"intervals from {n} items are too narrow if scores are skewed: with 100, a 95 % interval then holds the"
            " mean 91 % of the time"
        )
    if test is not None and n < system_test(test).fewest:
        yield (
            f"the bootstrap test calls too much significant with {n} items (14 % in place of 5 % with 5 items); prefer"
            " the test randomization"
        )


@dataclass(frozen=True)
class Interval:
    """The corpus score of one system, and the interval in which it would lie on other items.

    Attributes:
        system: the name of the system; None where the segments name none.
        value: the corpus score.
        low: lower end of the percentile bootstrap interval; NaN from fewer than two segments.
        high: upper end.
        n: the number of segments.
        n_undefined: segments whose score is undefined.
        n_undefined_draws: draws on which the corpus score is undefined; they are left out of the percentiles.
        draws: the number of resamples behind the interval.
        level: the share of draws inside it.
    """

    system: str | None
    value: float
    low: float
    high: float
    n: int
    n_undefined: int
    n_undefined_draws: int
    draws: int
    level: float


class _Difference(TypedDict):
    delta: float | None
    delta_low: float | None
    delta_high: float | None
    p: float | None
    n_undefined_draws: int | None


@dataclass(frozen=True)
class Comparison:
    """One system beside the baseline. What does not apply to the baseline itself is None.

    Attributes:
        system: the name of the system.
        value: the corpus score.
        low: lower end of the bootstrap interval of `value`; under `compat` the mean of the draws minus sacrebleu's
            "±".
        high: upper end.
        n: the number of segments, the same for every system.
        n_undefined: segments whose score is undefined.
        baseline: the system that this one is compared with.
        delta: the value minus the baseline's, in the metric's own direction.
        delta_low: lower end of the bootstrap interval of `delta`; NaN under `compat`, which has none.
        delta_high: upper end.
        p: two-sided p-value, not corrected for the number of systems.
        n_undefined_draws: draws on which the difference is undefined; they count neither for nor against.
        test: `paired_bootstrap` or `paired_randomisation`.
        draws: the number of draws of the test, B.
        seed: the seed of the draws.
        level: the share of the draws inside the intervals.
        compat: the package whose procedure was followed, or None.
    """

    system: str
    value: float
    low: float
    high: float
    n: int
    n_undefined: int
    baseline: str
    delta: float | None
    delta_low: float | None
    delta_high: float | None
    p: float | None
    n_undefined_draws: int | None
    test: str
    draws: int
    seed: int
    level: float
    compat: str | None


def compare_scores(
    scores: Scores,
    systems: Sequence[str | None],
    items: Sequence[str | None],
    *,
    baseline: str,
    test: str = "randomization",
    draws: int | None = None,
    seed: int | None = None,
    level: float = 0.95,
    compat: str | None = None,
) -> list[Comparison]:
    """Compare every system with a baseline on the same items, from segment statistics; nothing is scored again.

    Args:
        scores: scores of all segments of all systems, in any order, length n.
        systems: the system of each segment, length n.
        items: the input that each segment answers, length n; segments that share an item are paired.
        baseline: the system that the others are compared with.
        test: `bootstrap`, or `randomization` (`randomisation`); see `nlgauge.stats.significance`.
        draws: None is 1000 for the bootstrap and 10000 for randomisation.
        seed: None is 0, and 12345 under `compat="sacrebleu"`, as in that package.
        level: the share of the draws inside the intervals.
        compat: `sacrebleu` repeats its p-values and intervals for BLEU, chrF and TER.

    Returns:
        The baseline, then the other systems in order of first appearance.

    Raises:
        InputError: a segment has no system or item, a system lacks an item or has it twice, there are fewer than two
            systems or items, the baseline or test is unknown, or `compat` does not know the metric.
    """
    chosen = system_test(test)
    check_compat(scores.signature, compat, has_stats=scores.stats is not None)
    rows = aligned(scores.ids, systems, items, baseline)
    seed = (SACREBLEU_SEED if compat == "sacrebleu" else 0) if seed is None else seed
    draws = chosen.draws if draws is None else draws
    stats = scores.segment_stats[np.stack(list(rows.values()))]  # (S, n, k)
    tested = _RUNS[chosen.run](stats, scores.finish, draws=draws, seed=seed, level=level, compat=compat)
    undefined = np.isnan(scores.values)
    return [
        Comparison(
            system=system,
            value=float(tested.values[i]),
            low=float(tested.low[i]),
            high=float(tested.high[i]),
            n=len(places),
            n_undefined=int(undefined[places].sum()),
            baseline=baseline,
            **_difference(tested, i),
            test=tested.test,
            draws=draws,
            seed=seed,
            level=tested.level,
            compat=compat,
        )
        for i, (system, places) in enumerate(rows.items())
    ]


def _difference(tested: PairedTest, i: int) -> _Difference:
    """Difference and p-value of system i against the baseline; empty for the baseline itself, which is system 0."""
    if not i:
        return {"delta": None, "delta_low": None, "delta_high": None, "p": None, "n_undefined_draws": None}
    return {
        "delta": float(tested.deltas[i - 1]),
        "delta_low": float(tested.delta_low[i - 1]),
        "delta_high": float(tested.delta_high[i - 1]),
        "p": float(tested.p[i - 1]),
        "n_undefined_draws": int(tested.n_undefined_draws[i - 1]),
    }


def intervals(
    scores: Scores,
    systems: Sequence[str | None] | None = None,
    *,
    draws: int | None = None,
    seed: int | None = None,
    level: float = 0.95,
) -> list[Interval]:
    """The corpus score of every system with its bootstrap interval; systems need not share items.

    Args:
        scores: scores of all segments, in any order, length n.
        systems: the system of each segment, length n; None (also for a single segment) is a system of its own.
        draws: None is 1000.
        seed: None is 0.
        level: the share of draws inside the interval.

    Returns:
        One interval per system, in order of first appearance. The interval of a system does not depend on the others.
    """
    draws = INTERVAL_DRAWS if draws is None else draws
    places = by_system(scores.ids, [None] * len(scores) if systems is None else systems)
    found: dict[str | None, Interval] = {}
    for n in {len(where) for where in places.values()}:
        names = [name for name, where in places.items() if len(where) == n]
        # (S, n, k); all segments of one system are in their order already, and may be too many for a copy
        stats = scores.segment_stats
        stats = stats[None] if n == len(scores) else stats[np.stack([places[name] for name in names])]
        if n < 2:
            absent = np.full(len(names), np.nan)
            made = Intervals(
                scores.finish(stats.sum(axis=1)), absent, absent, level, draws, np.zeros(len(names), dtype=np.int64)
            )
        else:
            made = bootstrap_interval(stats, scores.finish, draws=draws, seed=seed or 0, level=level)
        for i, name in enumerate(names):
            undefined = int(np.isnan(scores.values[places[name]]).sum())
            ends = float(made.low[i]), float(made.high[i])
            found[name] = Interval(
                name, float(made.values[i]), *ends, n, undefined, int(made.n_undefined[i]), draws, level
            )
    return [found[name] for name in places]


def check_compat(signature: Signature, compat: str | None, *, has_stats: bool = True) -> None:
    """Refuse scores whose p-values the package in `compat` does not compute.

    Args:
        signature: that of the scores.
        compat: `sacrebleu` or None.
        has_stats: whether the corpus score is made of sums over segments.

    Raises:
        InputError: the scores are of another metric, which the error names.
    """
    name = dict(signature.entries).get("metric", signature.spec)
    if compat == "sacrebleu" and (name not in _SACREBLEU_METRICS or not has_stats):
        raise InputError(f"compat='sacrebleu' knows corpus BLEU, chrF and TER, got {signature.spec}; leave compat out")
