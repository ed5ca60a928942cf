"""How often does an interval hold the true mean of ratings, where other raters would have rated otherwise?

    python recipes/studies/coverage/raters.py                two to three minutes
    python recipes/studies/coverage/raters.py --repeats 200  a quick look

A rating is the true mean, plus what the item adds (standard deviation 15), plus the severity of the rater (5, or 0
where all are alike), plus noise (12), as on a scale to 100. Of 100 items each is rated by everybody (`all`), by two
raters (`two`), by one (`one`), by one where the k-th rater takes 1/k as many as the first (`uneven`), or by one who
takes nine tenths of all items (`most by one`). With 2,000 samples a share of .95 is known to .01.

The table stands in docs/studies/intervals_raters.tsv.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.special import stdtrit

from nlgauge.core.arrays import Array
from nlgauge.stats.ratings import RatedItems, rated_interval

ITEM, NOISE, ITEMS = 15.0, 12.0, 100
METHODS = ("items drawn", "items and raters drawn", "clustered, fewest - 1", "rated_interval")


def assigned(rng: np.random.Generator, design: str, r: int) -> Array:
    """Which rater rates which item, 0 or 1, shape (items, raters)."""
    if design == "all":
        return np.ones((ITEMS, r))
    if design in ("two", "one"):
        order = rng.random((ITEMS, r)).argsort(axis=1)
        return (order < (2 if design == "two" else 1)).astype(float)
    loads = 1 / np.arange(1, r + 1) if design == "uneven" else np.array([0.9, *[0.1 / (r - 1)] * (r - 1)])
    chosen = rng.choice(r, size=ITEMS, p=loads / loads.sum())
    chosen[:r] = np.arange(r)
    return np.eye(r)[chosen]


def drawn(rng: np.random.Generator, values: Array, there: Array, draws: int) -> list[tuple[float, float]]:
    """Percentile intervals where items are drawn, and where items and raters are (the pigeonhole bootstrap)."""
    n, r = there.shape
    items = rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(float)
    raters = rng.multinomial(r, np.full(r, 1 / r), size=draws).astype(float)
    means = (values * there).sum(axis=1) / there.sum(axis=1)
    counts, sums = raters @ there.T, raters @ (values * there).T  # (draws, items)
    used = items * (counts > 0)
    with np.errstate(invalid="ignore"):
        both = (used * sums / np.where(counts > 0, counts, 1)).sum(axis=1) / used.sum(axis=1)
    ends = [np.nanpercentile(x, (2.5, 97.5)) for x in (items @ means / n, both)]
    return [(float(low), float(high)) for low, high in ends]


def clustered(values: Array, there: Array) -> tuple[float, float]:
    """The sum of variances of Cameron, Gelbach and Miller (2011) with the degrees of freedom that they advise."""
    n, r = there.shape
    weights = there / there.sum(axis=1, keepdims=True) / n
    value, cells = float((weights * values).sum()), there.sum()
    moved = weights * (values - value)
    by_item = float((moved.sum(axis=1) ** 2).sum()) * n / (n - 1)
    by_rater = float((moved.sum(axis=0) ** 2).sum()) * r / (r - 1)
    by_cell = float((moved**2).sum()) * cells / (cells - 1)
    variance = max(by_item + by_rater - by_cell, by_item, by_rater)
    half = float(stdtrit(min(n, r) - 1, 0.975)) * variance**0.5
    return value - half, value + half


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=200)
    asked = parser.parse_args()
    print("severity\teach item rated by\traters\t" + "\t".join(f"{name}\twidth" for name in METHODS))
    for severity in (5.0, 0.0):
        for design in ("all", "two", "one", "uneven", "most by one"):
            for r in (2, 3, 5, 10):
                rng = np.random.default_rng(0)
                found = []
                for _ in range(asked.repeats):
                    there = assigned(rng, design, r)
                    values = rng.normal(0, ITEM, (ITEMS, 1)) + rng.normal(0, severity, r)
                    values = values + rng.normal(0, NOISE, there.shape)
                    items, raters = np.nonzero(there)
                    ours = rated_interval(RatedItems(items, raters, values[items, raters]))
                    found.append(
                        [*drawn(rng, values, there, asked.draws), clustered(values, there), (ours.low, ours.high)]
                    )
                low, high = np.moveaxis(np.array(found), 2, 0)  # (repeats, methods), twice
                held, width = ((low <= 0) & (high >= 0)).mean(axis=0), np.median(high - low, axis=0)
                cells = "\t".join(f"{share:.3f}\t{wide:.1f}" for share, wide in zip(held, width, strict=True))
                print(f"{severity:g}\t{design}\t{r}\t{cells}", flush=True)


if __name__ == "__main__":
    main()
