"""How often the intervals of shares hold the true share, where the truth is known: the table of the page on thresholds.

    python recipes/tools/thresholds/coverage.py > coverage.md

Systems have a quality; people see it, and the metric sees it with noise. In the lines with a spread the noise of each
set is multiplied by exp(spread x a standard normal number), so that sets differ. The true share is that of a curve
fitted on 600 sets.
"""

from __future__ import annotations

import numpy as np
from fit import SystemPairs, fit_curve, resampled_curves

CASES = ((1, 16, 0.0), (4, 12, 0.0), (4, 12, 0.5), (10, 12, 0.5))  # sets, systems of each, spread
AT = 1.0  # a difference of one standard deviation of quality
RUNS, DRAWS = 200, 100


def drawn(rng: np.random.Generator, sets: int, systems: int, spread: float) -> SystemPairs:
    columns = []
    for group in range(sets):
        quality = rng.normal(0, 1, systems)
        noise = np.exp(spread * rng.normal())
        metric = quality + noise * rng.normal(0, 1, systems)
        i, j = np.triu_indices(systems, 1)
        difference = metric[i] - metric[j]
        agreed = (np.sign(difference) == np.sign(quality[i] - quality[j])).astype(float)
        size = len(difference)
        numbers = (i + group * systems, j + group * systems, np.full(size, group))
        columns.append((np.abs(difference), agreed, np.full(size, 500.0), *numbers, np.ones(size)))
    return SystemPairs(*map(np.concatenate, zip(*columns, strict=True)))


def main() -> None:
    print("| sets | systems of each | spread | true share | mean width | holds it |\n|---:|---:|---:|---:|---:|---:|")
    for sets, systems, spread in CASES:
        truth = fit_curve(drawn(np.random.default_rng(7), 600, 12, spread)).share(AT)
        ends = []
        for run in range(RUNS):
            pairs = drawn(np.random.default_rng(1000 + run), sets, systems, spread)
            shares = resampled_curves(pairs, "logistic", draws=DRAWS, seed=run).share(AT)
            ends.append(np.quantile(shares, [0.025, 0.975]))
        low, high = np.array(ends).T
        held = np.mean((low <= truth) & (truth <= high))
        print(f"| {sets} | {systems} | {spread} | {truth:.2f} | {np.mean(high - low):.2f} | {held:.1%} |", flush=True)


if __name__ == "__main__":
    main()
