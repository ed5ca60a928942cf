"""Resampling of ten systems side by side with sacrebleu's, and the level that each test keeps.

    python benchmarks/resampling.py                  seconds: 10 systems, 3,000 segments, BLEU statistics given
    python benchmarks/resampling.py --levels 2000    share of true nulls rejected at 5 %

Both sides start from the same statistics: sacrebleu's own test functions run on its own BLEU, which hands out these
counts where it would count n-grams. What its constructor does (the baseline's interval) is not on the clock; ours does
the whole job on it.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sacrebleu
from sacrebleu import significance

from nlgauge.core.arrays import Array
from nlgauge.stats import PairedTest, paired_bootstrap, paired_randomisation
from nlgauge.stats.draws import Finish

FLOOR = 20
OURS: dict[str, Callable[..., PairedTest]] = {"bs": paired_bootstrap, "ar": paired_randomisation}


def bleu(totals: Array) -> Array:
    """BLEU from (length, reference length, 4 matched, 4 produced), where every order has a match."""
    logs = np.log(100 * totals[..., 2:6] / totals[..., 6:10]).mean(axis=-1)
    return np.asarray(np.exp(logs + np.minimum(0, 1 - totals[..., 1] / totals[..., 0])))


def mean(totals: Array) -> Array:
    return np.asarray(totals[..., 0] / totals[..., 1])


def bleu_statistics(rng: np.random.Generator, n_systems: int, n: int) -> Array:
    """Equally good systems: the item sets the length of its reference and the chance that an n-gram matches."""
    reference = rng.integers(6, 45, size=n)
    length = np.maximum(4, reference + rng.integers(-3, 4, size=(n_systems, n)))
    chance = rng.beta(5, 3, size=n)
    produced = [length - order for order in range(4)]
    matched = [rng.binomial(count, chance ** (1 + order)) for order, count in enumerate(produced)]
    return np.stack([length, np.broadcast_to(reference, length.shape), *matched, *produced], axis=-1).astype(float)


def mean_statistics(rng: np.random.Generator, n_systems: int, n: int) -> Array:
    """Equally good systems whose segment values (whole numbers around 50) correlate at 0.5, as (value, defined)."""
    values = np.rint(50 + 10 * (rng.normal(size=n) + rng.normal(size=(n_systems, n))))
    return np.stack([values, np.ones_like(values)], axis=-1)


class Given(sacrebleu.BLEU):
    """sacrebleu's BLEU over statistics that are there already; a hypothesis is the index of its system."""

    given: list[list[list[int]]]

    def _extract_corpus_statistics(self, hypotheses: Any, references: Any) -> Any:
        return self.given[hypotheses[0]]


def peer(stats: Array, test: str, draws: int, interval_draws: int) -> tuple[float, list[float]]:
    metric = Given()
    metric.num_refs = 1
    metric.given = [[[int(x) for x in row] for row in rows] for rows in stats]
    systems: Any = [(str(i), [i] * stats.shape[1]) for i in range(len(stats))]
    paired = significance.PairedTest(
        systems, {"BLEU": metric}, [["a"]], test_type=test, n_samples=draws, n_ar_confidence=interval_draws or -1
    )
    start = time.perf_counter()
    _, scores = paired()
    return time.perf_counter() - start, [r.p_value for r in scores["BLEU"][1:]]


def ours(stats: Array, test: str, draws: int, **options: Any) -> tuple[float, list[float]]:
    start = time.perf_counter()
    found = OURS[test](stats, bleu, draws=draws, **options)
    return time.perf_counter() - start, found.p.tolist()


def speed(n_systems: int, n: int, repeats: int) -> bool:
    stats = bleu_statistics(np.random.default_rng(0), n_systems, n)
    print(
        f"{n_systems} systems, {n} segments, BLEU (10 statistics); best of {repeats} for ours, one run of sacrebleu"
        f" {sacrebleu.__version__}"
    )
    print(f"numpy {np.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
    print(
        f"{'test':24}{'draws':>7}{'interval':>10}{'sacrebleu s':>13}{'nlgauge s':>11}{'ratio':>7}{'compat s':>10} "
        " p-values of compat"
    )
    enough = True
    for test, draws, interval_draws in (("bs", 1000, 1000), ("ar", 1000, 0), ("ar", 10000, 0), ("ar", 10000, 1000)):
        options = {"interval_draws": interval_draws} if test == "ar" else {}
        seconds, p_values = peer(stats, test, draws, interval_draws)
        best = min(ours(stats, test, draws, **options)[0] for _ in range(repeats))
        compat, repeated = ours(stats, test, draws, compat="sacrebleu", seed=12345, **options)
        same = sum(a == b for a, b in zip(p_values, repeated, strict=True))
        numbers = f"{seconds:13.2f}{best:11.3f}{seconds / best:7.0f}{compat:10.2f}"
        row = f"{OURS[test].__name__:24}{draws:7}{interval_draws:10}{numbers}"
        print(f"{row}  {same} of {len(p_values)} equal")
        enough &= seconds / best >= FLOOR
    return enough


def levels(n_sets: int, draws: int) -> None:
    from scipy.stats import (
        ttest_rel,  # where the corpus number is a mean, a t-test on the same data shows what is the luck of these sets
    )

    print(
        f"share of {n_sets} null data sets rejected at 5 %, {draws} draws each; standard error"
        f" {np.sqrt(0.05 * 0.95 / n_sets):.4f}"
    )
    print(
        f"{'metric':8}{'n':>6}  {'bootstrap':>10}{'sacrebleu':>11}  {'randomisation':>14}{'sacrebleu':>11} "
        f" {'t-test':>7}"
    )
    cases: list[tuple[str, Callable[..., Array], Finish]] = [
        ("mean", mean_statistics, mean),
        ("bleu", bleu_statistics, bleu),
    ]
    for name, make, finish in cases:
        for n in (5, 10, 20, 50, 200, 1000):
            data, chance = np.random.default_rng([1, n]), np.random.default_rng([2, n])
            rejected = np.zeros(5)
            for _ in range(n_sets):
                stats = make(data, 2, n)
                options: dict[str, Any] = {"draws": draws, "seed": int(chance.integers(1 << 31))}
                found = [
                    paired_bootstrap(stats, finish, **options),
                    paired_bootstrap(stats, finish, compat="sacrebleu", **options),
                    paired_randomisation(stats, finish, interval_draws=0, **options),
                    paired_randomisation(stats, finish, interval_draws=0, compat="sacrebleu", **options),
                ]
                t = ttest_rel(stats[0, :, 0], stats[1, :, 0]).pvalue if name == "mean" else np.nan
                rejected += [*(one.p[0] <= 0.05 for one in found), t <= 0.05]
            bs, bs_theirs, ar, ar_theirs, t = rejected / n_sets
            print(
                f"{name:8}{n:6}  {bs:10.3f}{bs_theirs:11.3f}  {ar:14.3f}{ar_theirs:11.3f}  "
                + (f"{t:7.3f}" if name == "mean" else ""),
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--segments", type=int, default=3000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--levels", type=int, metavar="SETS", help="measure the levels over this many null data sets instead"
    )
    parser.add_argument("--draws", type=int, default=999, help="draws a test when measuring levels")
    arguments = parser.parse_args()
    if arguments.levels:
        levels(arguments.levels, arguments.draws)
    elif not speed(arguments.systems, arguments.segments, arguments.repeats):
        raise SystemExit(f"slower than {FLOOR} times sacrebleu")
