"""Tests between metrics side by side with plain loops over scipy and with nlpstats, and the level that each test keeps.

    python benchmarks/meta.py                             seconds and memory: 15 systems, 2,000 segments, 30 metrics
    python benchmarks/meta.py --nlpstats OTHER/bin/python the same beside nlpstats 0.0.1, in an environment of its own
    python benchmarks/meta.py --levels 1000               share of true nulls rejected at 5 %
    python benchmarks/meta.py --official DATA/wmt23-he-en-mtme   the official table of a pair with 38 metrics

Every job runs in a process of its own, which reports processor seconds, wall seconds and its peak memory. Loops and
nlpstats do a part of the job (one pair of metrics, few draws), and their seconds are scaled to the whole of it. They do
it twice, and the second time counts: what happens once, such as loading scipy, must not be scaled. Ours counts it all.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

SYSTEMS, SEGMENTS, METRICS, DRAWS = 15, 2000, 30, 1000
PAIRS = METRICS * (METRICS - 1) // 2
FEW = 6  # metrics of jobs that would take a loop days
FEW_PAIRS = FEW * (FEW - 1) // 2
SECONDS, BYTES = 10.0, 1.5e9  # what the whole table of flat, item-averaged and system-level tests may take

Grid = np.ndarray[Any, np.dtype[np.float64]]


@cache
def data(metrics: int = METRICS) -> tuple[Grid, Grid]:
    """Judgements in steps of one, like error counts, with effects of system and segment.

    Metrics with noise of their own.
    """
    rng = np.random.default_rng(0)
    truth = 0.5 * rng.normal(size=(SYSTEMS, 1)) + rng.normal(size=(1, SEGMENTS)) + rng.normal(size=(SYSTEMS, SEGMENTS))
    noise = (
        np.linspace(0.8, 2.0, METRICS)[:metrics, None, None] * rng.normal(size=(METRICS, SYSTEMS, SEGMENTS))[:metrics]
    )
    return -np.rint(np.exp(-truth)), truth + noise


# What is measured of ours: all pairs of metrics.


def ours_table() -> None:
    from nlgauge.stats import permutation_test

    for options in ({"averaging": "none"}, {"averaging": "item"}, {"level": "system"}):
        permutation_test(*data(), draws=DRAWS, **options)


def ours(metrics: int = METRICS, step: float = 0.0, **options: Any) -> Callable[[], None]:
    def job() -> None:
        from nlgauge.stats import permutation_test

        human, scores = data(metrics)
        permutation_test(human, np.rint(scores / step) if step else scores, draws=DRAWS, **options)

    return job


def ours_williams() -> None:
    from nlgauge.stats import williams_test

    williams_test(*data())


def ours_acc_eq() -> None:
    from nlgauge.stats.resampling import acc_eq_test

    acc_eq_test(*data(), 0.1, draws=DRAWS)


def ours_soft() -> None:
    from nlgauge.stats.resampling import soft_accuracy_test

    soft_accuracy_test(*data(), draws=DRAWS)


def ours_bootstrap() -> None:
    from nlgauge.stats.resampling import compare_resampled, resample_grid

    compare_resampled(resample_grid(*data(), draws=DRAWS))


def ours_hybrids() -> None:
    from nlgauge.stats.selection import hybrid_draws, hybrid_scores

    human, metrics = data()
    hybrid_scores(human, metrics, hybrid_draws(~np.isnan(human), 10000))


def hybrids_alone() -> tuple[Grid, Grid]:
    rng = np.random.default_rng(1)
    human = rng.normal(size=10000)
    return human + rng.normal(size=10000), human


def ours_selection() -> None:
    from nlgauge.stats.selection import selection_quality

    selection_quality(*hybrids_alone())


def ours_coefficient(name: str) -> Callable[[], None]:
    def job() -> None:
        try:
            from nlgauge.stats.correlate import correlations
        except ImportError:
            raise SystemExit("nlgauge.stats.correlate is not there: row left out") from None

        human, metrics = data()
        correlations(name, metrics, human, averaging="item")

    return job


# Loops over scipy, as one would write them: what part of the job they do is beside them in JOBS.


def swapped(a: Grid, b: Grid, swap: Grid) -> tuple[Grid, Grid]:
    return np.where(swap, b, a), np.where(swap, a, b)


def loop(draws: int, level: str, statistic: str, shape: tuple[int, int]) -> Callable[[], None]:
    def job() -> None:
        from scipy import stats

        correlate = {"pearson": stats.pearsonr, "kendall_b": stats.kendalltau, "spearman": stats.spearmanr}[statistic]
        value = {
            "none": lambda h, m: correlate(h.ravel(), m.ravel())[0],
            "item": lambda h, m: np.mean([correlate(x, y)[0] for x, y in zip(h.T, m.T, strict=True)]),
            "system": lambda h, m: correlate(h.mean(axis=1), m.mean(axis=1))[0],
        }[level]
        human, (a, b) = data(2)
        a, b = ((m - m.mean()) / m.std() for m in (a, b))
        rng = np.random.default_rng(2)
        for _ in range(draws):
            one, two = swapped(a, b, rng.integers(0, 2, size=shape) == 1)
            value(human, one) - value(human, two)

    return job


def loop_williams() -> None:
    from scipy import stats

    human, metrics = data()
    for a in range(METRICS):
        for b in range(a):
            r12, r13, r23 = (
                stats.pearsonr(x.ravel(), y.ravel())[0]
                for x, y in ((human, metrics[a]), (human, metrics[b]), (metrics[a], metrics[b]))
            )
            n, k, mean = human.size, 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23, (r12 + r13) / 2
            t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23) / (2 * (n - 1) / (n - 3) * k + mean**2 * (1 - r23) ** 3))
            stats.t.sf(t, n - 3)


def loop_acc_eq() -> None:
    human, (a, b) = data(2)
    left, right = np.triu_indices(SYSTEMS, 1)
    truth = np.sign(human[left] - human[right])
    values = []
    for m in (a, b):
        gaps = m[left] - m[right]
        values.append((np.where(np.abs(gaps) <= 0.1, 0, np.sign(gaps)) == truth).mean(axis=0))
    rng = np.random.default_rng(2)
    for _ in range(DRAWS):
        one, two = swapped(values[0], values[1], rng.integers(0, 2, size=SEGMENTS) == 1)
        one.mean() - two.mean()


def loop_coefficient() -> None:
    from scipy import stats

    human, (metric,) = data(1)
    np.mean([stats.kendalltau(x, y)[0] for x, y in zip(human.T, metric.T, strict=True)])


def loop_selection() -> None:
    metric, human = hybrids_alone()
    rng = np.random.default_rng(2)
    for _ in range(2000):
        drawn = rng.choice(10000, 100, replace=False)
        chosen = human[drawn[metric[drawn].argmax()]]
        (human[drawn] > chosen).sum()


def peer(draws: int, level: str, coefficient: str, method: str) -> str:
    """A program for nlpstats: one pair of metrics."""
    return (
        f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r}); import meta\nfrom"
        " nlpstats.correlations import permutation_test\nhuman, (a, b) = meta.data(2)\nmeta.measured(lambda:"
        f" permutation_test(a, b, human, {level!r}, {coefficient!r}, {method!r}, n_resamples={draws}), warm=True)\n"
    )


CELLS, ROWS = (SYSTEMS, SEGMENTS), (SYSTEMS, 1)
# name -> ours; a loop and how many of it make the job; nlpstats' program and how many of it make the job
JOBS: dict[str, tuple[Callable[[], None], tuple[Callable[[], None], float] | None, tuple[str, float] | None]] = {
    "flat, item and system pearson together": (ours_table, None, None),
    "perm_both, flat pearson": (
        ours(averaging="none"),
        (loop(20, "none", "pearson", CELLS), PAIRS * DRAWS / 20),
        (peer(20, "global", "pearson", "both"), PAIRS * DRAWS / 20),
    ),
    "perm_both, pearson by item": (
        ours(averaging="item"),
        (loop(1, "item", "pearson", CELLS), PAIRS * DRAWS),
        (peer(1, "input", "pearson", "both"), PAIRS * DRAWS / 2),
    ),
    "perm_both, kendall_b by item": (
        ours(statistic="kendall_b"),
        (loop(1, "item", "kendall_b", CELLS), PAIRS * DRAWS),
        (peer(1, "input", "kendall", "both"), PAIRS * DRAWS / 2),
    ),
    "perm_both, flat kendall_b": (
        ours(statistic="kendall_b", averaging="none", metrics=FEW),
        (loop(4, "none", "kendall_b", CELLS), FEW_PAIRS * DRAWS / 4),
        (peer(4, "global", "kendall", "both"), FEW_PAIRS * DRAWS / 4),
    ),
    "perm_both, flat kendall_b with ties": (
        ours(statistic="kendall_b", averaging="none", metrics=FEW, step=0.5),
        None,
        None,
    ),
    "perm_both, spearman by item": (
        ours(statistic="spearman"),
        (loop(1, "item", "spearman", CELLS), PAIRS * DRAWS),
        (peer(1, "input", "spearman", "both"), PAIRS * DRAWS / 2),
    ),
    "perm_both, system pearson": (
        ours(level="system", generalise_to="both"),
        (loop(200, "system", "pearson", CELLS), PAIRS * DRAWS / 200),
        (peer(200, "system", "pearson", "both"), PAIRS * DRAWS / 200),
    ),
    "perm_systems, system pearson": (
        ours(level="system"),
        (loop(200, "system", "pearson", ROWS), PAIRS * DRAWS / 200),
        (peer(200, "system", "pearson", "systems"), PAIRS * DRAWS / 200),
    ),
    "williams, flat": (ours_williams, (loop_williams, 1), None),
    "item_swap, acc_eq": (ours_acc_eq, (loop_acc_eq, PAIRS), None),
    "perm_inputs, soft accuracy": (ours_soft, None, None),
    "bootstrap, pearson by item": (ours_bootstrap, None, None),
    "hybrids, 10,000 of people and 30 metrics": (ours_hybrids, None, None),
    "selection, 10,000 systems, 100,000 draws": (ours_selection, (loop_selection, 100000 / 2000), None),
    "kendall_b by item, 30 metrics": (ours_coefficient("kendall_b"), (loop_coefficient, METRICS), None),
    "acc_eq_calibrated by item, 30 metrics": (ours_coefficient("acc_eq_calibrated"), None, None),
}


def measured(job: Callable[[], Any], warm: bool = False) -> None:
    """Run a job and print what it took: with loading and making the data, or, if `warm`, when it runs again."""
    if warm:
        job()
    wall, cpu = time.perf_counter(), time.process_time()
    job()
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    print(json.dumps(took | {"bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


def run(command: list[str]) -> dict[str, float] | None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print("  " + (done.stderr.strip().splitlines() or ["failed without a word"])[-1])
        return None
    found: dict[str, float] = json.loads(done.stdout)
    return found


def seconds(found: dict[str, float] | None, times: float) -> str:
    return f"{'':>16}" if found is None else f"{found['cpu'] * times:16,.1f}"


def speed(nlpstats: str | None) -> bool:
    print(f"{SYSTEMS} systems, {SEGMENTS} segments, {METRICS} metrics ({PAIRS} pairs), {DRAWS} draws")
    print(
        f"numpy {np.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before; processor seconds,"
        " loops and nlpstats scaled up"
    )
    heads = f"{'job':44}{'wall s':>8}{'cpu s':>8}{'peak MB':>9}{'scipy loop s':>16}{'ratio':>9}"
    print(heads + (f"{'nlpstats s':>16}{'ratio':>9}" if nlpstats else ""))
    enough = True
    for name, (_, by_loop, by_peer) in JOBS.items():
        own = run([sys.executable, __file__, "--job", name])
        if own is None:
            continue
        line = f"{name:44}{own['wall']:8.2f}{own['cpu']:8.2f}{own['bytes'] / 1e6:9.0f}"
        rivals = [(run([sys.executable, __file__, "--loop", name]), by_loop[1]) if by_loop else (None, 0.0)]
        if nlpstats:
            rivals.append((run([nlpstats, "-c", by_peer[0]]), by_peer[1]) if by_peer else (None, 0.0))
        for rival, times in rivals:
            line += seconds(rival, times) + (f"{rival['cpu'] * times / own['cpu']:9,.0f}" if rival else f"{'':>9}")
        print(line, flush=True)
        if name == "flat, item and system pearson together":
            enough = own["cpu"] < 2 * SECONDS and own["bytes"] < BYTES  # two cores
    return enough


def official(folder: str, n_metrics: int) -> bool:
    """Every statistic of an official table, with intervals and all pairs of metrics tested."""
    from nlgauge import meta_evaluate
    from nlgauge.core.tables import ScoreTable
    from nlgauge.io.wmt.mtme import read_official

    run, rng = read_official(folder), np.random.default_rng(0)
    names = list(run.scores)
    tables = run.scores[names[0]]
    columns = [{name: table.column(name) for name in names} for table in tables]
    for extra in range(n_metrics - len(names)):  # an official metric with noise
        for one in columns:
            base = one[names[extra % len(names)]]
            one[f"{names[extra % len(names)]}+{extra}"] = base + 0.2 * np.nanstd(base) * rng.normal(size=base.shape)
    made = tuple(ScoreTable(t.keys, c, t.level) for t, c in zip(tables, columns, strict=True))
    scores = dict.fromkeys(columns[0], made)
    before = np.array([time.perf_counter(), time.process_time()])
    meta_evaluate(run.dataset, scores=scores, preset="wmt23", higher_is_better=list(scores))
    wall, cpu = np.array([time.perf_counter(), time.process_time()]) - before
    print(
        f"{len(scores)} metrics, preset wmt23: {wall:.2f} s, {cpu:.2f} processor seconds, load {os.getloadavg()[0]:.1f}"
    )
    return bool(wall < SECONDS or cpu < SECONDS)  # beside other work the clock says little


def levels(sets: int, draws: int, only: str = "") -> None:
    from nlgauge.stats import permutation_test, spearman, williams_test
    from nlgauge.stats.preferences import kendall_like
    from nlgauge.stats.resampling import (
        acc_eq_test,
        compare_resampled,
        item_swap_test,
        resample_grid,
        resample_items,
        soft_accuracy_test,
    )

    def pooled(human: Grid, metrics: Grid) -> tuple[Grid, Grid]:
        found = kendall_like(metrics.transpose(0, 2, 1), human.T, threshold=1.0)
        return found.value, found.denominator

    def swap_pooled(values: Grid, pairs: Grid) -> Any:
        return item_swap_test(values, weights=pairs, draws=draws)

    def bartscore(human: Grid, metrics: Grid) -> Any:
        """Better is what wins on more than 95 % of random parts of 80 % of the documents (BARTScore, analysis.py)."""
        values, order, stream = spearman(metrics.transpose(0, 2, 1), human.T), list(range(human.shape[1])), Random(666)
        parts = np.zeros((1000, len(order)))
        for part in parts:
            stream.shuffle(order)  # shuffled from where the last draw left it
            part[order[: int(0.8 * len(order))]] = 1
        wins = (parts @ np.nan_to_num(values[:, None] - values).transpose(0, 2, 1) > 1e-12).sum(axis=1)
        return SimpleNamespace(p=np.where(wins > 950, 0.0, 1.0))

    system: dict[str, Any] = {"level": "system", "draws": draws}
    tests: dict[str, Callable[[Grid, Grid], Any]] = {
        "segment perm_both, by item": lambda h, m: permutation_test(h, m, draws=draws),
        "segment perm_both, by item, kendall_b": lambda h, m: permutation_test(
            h, m, statistic="kendall_b", draws=draws
        ),
        "segment perm_both, flat": lambda h, m: permutation_test(h, m, averaging="none", draws=draws),
        "segment perm_inputs, by item": lambda h, m: permutation_test(h, m, generalise_to="inputs", draws=draws),
        "segment perm_systems, by item": lambda h, m: permutation_test(h, m, generalise_to="systems", draws=draws),
        "segment bootstrap of items, by item": lambda h, m: compare_resampled(resample_grid(h, m, draws=draws)),
        "segment williams, flat": williams_test,
        "segment acc_eq, item_swap": lambda h, m: acc_eq_test(np.rint(h), np.rint(2 * m), draws=draws),
        "segment acc_eq, pair swaps (mt-metrics-eval)": lambda h, m: acc_eq_test(
            np.rint(h), np.rint(2 * m), draws=1, compat="mt-metrics-eval"
        ),
        "segment rr_kendall, item_swap": lambda h, m: swap_pooled(*pooled(h, m)),
        "segment rr_kendall, bootstrap of items": lambda h, m: compare_resampled(
            resample_items(*pooled(h, m), draws=draws)
        ),
        "segment spearman by item, BARTScore's rule": bartscore,
        "system perm_both": lambda h, m: permutation_test(h, m, generalise_to="both", **system),
        "system factorised both (nlpstats)": lambda h, m: permutation_test(
            h, m, generalise_to="both", compat="nlpstats", **system
        ),
        "system perm_inputs": lambda h, m: permutation_test(h, m, generalise_to="inputs", **system),
        "system perm_systems": lambda h, m: permutation_test(h, m, **system),
        "system williams": lambda h, m: williams_test(h.mean(axis=1), m.mean(axis=2)),
        "soft accuracy, perm_inputs": lambda h, m: soft_accuracy_test(h, m, draws=draws),
        "soft accuracy, perm_systems": lambda h, m: soft_accuracy_test(h, m, generalise_to="systems", draws=draws),
    }
    tests = {name: test for name, test in tests.items() if only in name}
    rejected = {name: np.zeros(3) for name in tests}
    for which, (bias, better) in enumerate(((0.0, 1.2), (0.3, 1.2), (0.0, 0.8))):
        rng = np.random.default_rng([3, which])
        for _ in range(sets):
            human = 0.4 * rng.normal(size=(15, 1)) + 0.5 * rng.normal(size=(1, 100)) + rng.normal(size=(15, 100))
            noise = np.array([better, 1.2])[:, None, None] * rng.normal(size=(2, 15, 100))
            metrics = human + noise + bias * rng.normal(size=(2, 15, 1))
            for name, test in tests.items():
                rejected[name][which] += test(human, metrics).p[0, 1] <= 0.05
    print(
        f"share of {sets} data sets rejected at 5 %, {draws} draws, 15 systems, 100 segments; standard error at 5 %"
        f" {np.sqrt(0.0475 / sets):.4f}"
    )
    print(f"{'test':48}{'equal':>8}{'biased':>8}{'better':>8}")
    for name, counts in rejected.items():
        print(f"{name:48}" + "".join(f"{share:8.3f}" for share in counts / sets))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nlpstats", metavar="PYTHON", help="interpreter of an environment with nlpstats")
    parser.add_argument(
        "--levels", type=int, metavar="SETS", help="measure the levels over this many data sets instead"
    )
    parser.add_argument("--official", metavar="FOLDER", help="time the official table of a test set instead")
    parser.add_argument("--metrics", type=int, default=38, help="metrics of the official table, filled up by noise")
    parser.add_argument("--draws", type=int, default=399, help="draws a test when measuring levels")
    parser.add_argument("--tests", default="", metavar="TEXT", help="only tests whose name holds this, for --levels")
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    parser.add_argument("--loop", choices=JOBS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        measured(JOBS[arguments.job][0])
    elif arguments.loop:
        rival = JOBS[arguments.loop][1]
        assert rival is not None
        measured(rival[0], warm=True)
    elif arguments.official:
        if not official(arguments.official, arguments.metrics):
            raise SystemExit(f"the official table took more than {SECONDS:.0f} seconds")
    elif arguments.levels:
        levels(arguments.levels, arguments.draws, arguments.tests)
    elif not speed(arguments.nlpstats):
        raise SystemExit(
            f"the three tables together took more than {SECONDS:.0f} seconds of two cores or {BYTES / 1e9} GB"
        )
