"""Statistics of many metrics at WMT's size, beside scipy's loop and beside the plain loop over pairs that tie
calibration is defined by.

    python benchmarks/coefficients.py

15 systems, 2000 segments, 30 metrics, judgements like MQM (few values, many ties). Process time, since neighbours on
the machine do not count in it; the slow side runs on a part of the data and is scaled up (`of` says which part).
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from itertools import combinations

import numpy as np
from scipy import stats

from nlgauge.stats.correlate import correlations
from nlgauge.stats.intervals import bootstrap_correlations

SYSTEMS, ITEMS, METRICS = 15, 2000, 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="the best of so many runs counts")
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    z = -rng.choice([0, 1, 5, 6, 10], size=(SYSTEMS, ITEMS), p=[0.5, 0.2, 0.15, 0.1, 0.05]).astype(float)
    x = 0.2 * z + rng.normal(size=(METRICS, SYSTEMS, ITEMS))

    def best(run: Callable[[], object]) -> float:
        seconds = []
        for _ in range(repeats):
            start = time.process_time()
            run()
            seconds.append(time.process_time() - start)
        return min(seconds)

    def scipys(test: Callable[..., object]) -> tuple[float, str]:
        part = 200
        return (
            METRICS * ITEMS / part * best(lambda: [test(x[0, :, i], z[:, i]) for i in range(part)]),
            f"1/{METRICS * ITEMS // part}",
        )

    def by_pairs() -> tuple[float, str]:
        part = 40
        return (
            METRICS * ITEMS / part * best(lambda: calibrate(x[0, :, :part], z[:, :part])),
            f"1/{METRICS * ITEMS // part}",
        )

    print(f"{'statistic':24s} {'averaging':10s} {'nlgauge s':>10s} {'loop s':>9s} {'of':>6s} {'ratio':>7s}")
    for name, loop in (
        ("pearson", lambda: scipys(stats.pearsonr)),
        ("spearman", lambda: scipys(stats.spearmanr)),
        ("kendall_b", lambda: scipys(stats.kendalltau)),
        ("kendall_c", lambda: scipys(lambda a, b: stats.kendalltau(a, b, variant="c"))),
        ("acc_eq_calibrated", by_pairs),
    ):
        ours = best(lambda name=name: correlations(name, x, z, averaging="item"))
        theirs, part = loop()
        print(f"{name:24s} {'item':10s} {ours:10.3f} {theirs:9.1f} {part:>6s} {theirs / ours:7.0f}")
    for name, options in (
        ("acc_eq", {"averaging": "item"}),
        ("wmt_kendall_like", {"threshold": 1}),
        ("soft_pairwise_accuracy", {}),
        ("kendall_b", {"averaging": "none"}),
        ("kendall_b", {"averaging": "sys"}),
    ):
        print(
            f"{name:24s} {options.get('averaging', '-'):10s}"
            f" {best(lambda name=name, options=options: correlations(name, x, z, **options)):10.3f}"
        )
    for averaging in ("sys", "none"):
        start = time.process_time()
        correlations("acc_eq_calibrated", x[:1], z, averaging=averaging)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{'acc_eq_calibrated, one':24s} {averaging:10s} {time.process_time() - start:10.1f} (peak of the process"
            f" so far: {peak:.0f} MiB)"
        )
    for resample in ("items", "both"):
        seconds = best(
            lambda resample=resample: bootstrap_correlations("pearson", x, z, level="system", resample=resample)
        )
        print(f"bootstrap of 1000 draws over {resample}, system Pearson, 30 metrics: {seconds:.2f} s")


def calibrate(x: np.ndarray, z: np.ndarray) -> float:
    """Tie calibration as it is defined.

    All pairs of all items sorted by |dx|, one after the other turned into a tie.
    """
    pairs, right = [], np.zeros(x.shape[1])
    for item in range(x.shape[1]):
        for i, j in combinations(range(len(x)), 2):
            dx, dz = x[i, item] - x[j, item], z[i, item] - z[j, item]
            now, then = np.sign(dx) == np.sign(dz), dz == 0
            right[item] += now
            pairs.append((abs(dx), item, int(then) - int(now)))
    n_pairs = len(x) * (len(x) - 1) / 2
    mean = highest = float(right.mean() / n_pairs)
    for _, _, gain in sorted(pairs):
        mean += gain / n_pairs / x.shape[1]
        highest = max(highest, mean)
    return highest


if __name__ == "__main__":
    main()
