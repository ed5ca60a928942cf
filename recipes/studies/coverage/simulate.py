"""How often do intervals hold the true value, and how often do tests reject a true null hypothesis? By simulation.

    python recipes/studies/coverage/simulate.py               all tables, about four minutes
    python recipes/studies/coverage/simulate.py --repeats 400 a quick look

A 95 % interval should hold the true value in 95 % of the samples; with 4,000 samples the share itself is known to 0.7
points. The tables stand in docs/studies/intervals.tsv.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.stats import paired_bootstrap, paired_randomisation, williams
from nlgauge.stats.draws import bootstrap_interval, mean_of_shares
from nlgauge.stats.intervals import fisher_ends, widened_ends

RHO = 0.6
SHARES = [  # phenomena, pairs of each, lowest and highest true accuracy
    (9, 200, 0.75, 0.99),
    (9, 200, 0.90, 0.99),
    (9, 200, 0.97, 1.00),
    (12, 50, 0.80, 0.99),
    (9, 1000, 0.90, 0.99),
    (12, 200, 0.10, 0.10),
    (12, 50, 0.10, 0.10),
    (12, 20, 0.02, 0.90),
]
Draw = Callable[[np.random.Generator, int], tuple[Array, Array]]


def normal(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    z = rng.normal(size=n)
    return RHO * z + np.sqrt(1 - RHO**2) * rng.normal(size=n), z


def graded(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Ratings from 1 to 5 against a normal score."""
    x, z = normal(rng, n)
    return x, np.clip(np.floor(1.2 * z + 3), 1, 5)


def skewed(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    x, z = normal(rng, n)
    return np.exp(x / 2), np.exp(z / 2)


def heavy(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Both sides lognormal: a few pairs decide r."""
    x, z = normal(rng, n)
    return np.exp(x), np.exp(z)


def tied(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Half of the scores and a third of the ratings are equal, as where few errors are found."""
    x, z = normal(rng, n)
    return np.maximum(x, 0), np.maximum(z, -0.43)


def binary(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    x, z = normal(rng, n)
    return (x > 0).astype(float), (z > 0.8).astype(float)


def share_inside(ends: list[tuple[float, float]], truth: float) -> str:
    low, high = np.array(ends).T
    return f"{np.mean((low <= truth) & (high >= truth)):.3f}"


def correlations(repeats: int) -> None:
    print(f"{'Pearson, pairs':18s} {'n':>4s} {'Fisher':>8s} {'widened':>8s}")
    rng = np.random.default_rng(0)
    draws: list[Draw] = [normal, graded, skewed, heavy]
    for draw in draws:
        truth = float(np.corrcoef(*draw(np.random.default_rng(1), 8_000_000))[0, 1])
        for n in (20, 50, 200):
            samples = [draw(rng, n) for _ in range(repeats)]
            fisher = [fisher_ends("pearson", np.corrcoef(x, z)[0, 1], n) for x, z in samples]
            widened = [widened_ends(x[None], z) for x, z in samples]
            columns = [
                [(float(np.squeeze(low)), float(np.squeeze(high))) for low, high in e] for e in (fisher, widened)
            ]
            inside = [share_inside(column, truth) for column in columns]
            print(f"{draw.__name__:18s} {n:4d} {inside[0]:>8s} {inside[1]:>8s}")


def tails(repeats: int) -> None:
    """Pearson's r where one side has a long tail: ratings exp(z), or a tenth of the scores five times as far out."""
    print(f"{'one side far out':18s} {'latent':>6s} {'n':>4s} {'Fisher':>8s} {'widened':>8s}")
    rng = np.random.default_rng(0)

    def draw(rng: np.random.Generator, name: str, rho: float, n: int) -> tuple[Array, Array]:
        z = rng.normal(size=n)
        x = rho * z + np.sqrt(1 - rho**2) * rng.normal(size=n)
        return (x, np.exp(z)) if name == "long tail" else (np.where(rng.random(n) < 0.1, 5 * x, x), z)

    for name, sizes in (("long tail", (20, 100, 1000)), ("outliers", (10, 20, 100))):
        for rho in (0.6, 0.8, 0.9):
            truth = float(np.corrcoef(*draw(np.random.default_rng(1), name, rho, 8_000_000))[0, 1])
            for n in sizes:
                ends: list[list[tuple[float, float]]] = [[], []]
                for _ in range(repeats):
                    x, z = draw(rng, name, rho, n)
                    pairs = fisher_ends("pearson", np.corrcoef(x, z)[0, 1], n), widened_ends(x[None], z)
                    for column, (low, high) in zip(ends, pairs, strict=True):
                        column.append((float(np.squeeze(low)), float(np.squeeze(high))))
                inside = [share_inside(column, truth) for column in ends]
                print(f"{name:18s} {rho:6.1f} {n:4d} {inside[0]:>8s} {inside[1]:>8s}", flush=True)


def few_systems(repeats: int) -> None:
    """Pearson's r of systems: Fisher's formula, and systems drawn with replacement."""
    print(f"{'systems, normal':18s} {'Fisher':>8s} {'bootstrap':>10s}")
    rng = np.random.default_rng(0)
    for n in (5, 8, 12, 20, 50):
        formula, drawn = [], []
        for _ in range(repeats):
            x, z = normal(rng, n)
            low, high = fisher_ends("pearson", np.corrcoef(x, z)[0, 1], n)
            formula.append((float(low), float(high)))
            chosen = rng.integers(0, n, size=(500, n))
            with np.errstate(invalid="ignore"):
                ends = np.nanquantile(_pearson(x[chosen], z[chosen]), (0.025, 0.975))
            drawn.append((float(ends[0]), float(ends[1])))
        print(f"{n:18d} {share_inside(formula, RHO):>8s} {share_inside(drawn, RHO):>10s}", flush=True)


def ranks(repeats: int) -> None:
    """Fisher's formula for rank coefficients, with ties on one side or on both."""
    print(f"{'rank coefficients':18s} {'n':>4s} {'Spearman':>9s} {'Kendall b':>10s}")
    rng = np.random.default_rng(0)
    kinds: list[tuple[str, Draw]] = [("normal", normal), ("graded", graded), ("tied", tied), ("two values", binary)]
    for name, draw in kinds:
        truth = _rank_coefficients(*(row[None] for row in draw(np.random.default_rng(1), 20_000)))
        for n in (20, 50, 200):
            x, z = (np.array(side) for side in zip(*(draw(rng, n) for _ in range(repeats)), strict=True))
            found = _rank_coefficients(x, z)
            shares = []
            for stat, values, true in zip(("spearman", "kendall_b"), found, truth, strict=True):
                low, high = fisher_ends(stat, values, n)
                shares.append(f"{np.mean(((low <= true) & (high >= true))[~np.isnan(values)]):.3f}")
            print(f"{name:18s} {n:4d} {shares[0]:>9s} {shares[1]:>10s}", flush=True)


def _rank_coefficients(x: Array, z: Array) -> tuple[Array, Array]:
    """Spearman's rho and Kendall's tau-b of each row, shape (rows,)."""
    from scipy.stats import rankdata

    a, b = (rankdata(side, axis=1) for side in (x, z))
    a, b = (side - side.mean(axis=1, keepdims=True) for side in (a, b))
    with np.errstate(invalid="ignore"):
        rho = (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))
        tau = np.array([_tau_b(one, other) for one, other in zip(x, z, strict=True)])
    return rho, tau


def _tau_b(x: Array, z: Array) -> float:
    x, z = x[:2000], z[:2000]
    a, b = (np.sign(side[:, None] - side).astype(np.float32) for side in (x, z))
    return float((a * b).sum(dtype=np.float64) / np.sqrt(np.abs(a).sum() * np.abs(b).sum()))


def over_items(repeats: int) -> None:
    """Outputs of five systems for each item: the percentile bootstrap over items."""
    print(f"{'five systems':18s} {'items':>5s} {'Pearson, flat':>14s} {'by item':>8s}")
    rng = np.random.default_rng(0)

    def draw(n: int) -> tuple[Array, Array]:
        z = 0.7 * rng.normal(size=n) + rng.normal(size=(5, n))
        return RHO * z + np.sqrt(1 - RHO**2) * rng.normal(size=(5, n)), z

    for name, bend in (("normal", lambda v: v), ("skewed", lambda v: np.exp(v / 2)), ("heavy", np.exp)):
        x, z = (bend(side) for side in draw(400_000))
        truths = (float(np.corrcoef(x.ravel(), z.ravel())[0, 1]), float(_by_item(x, z).mean()))
        for n in (20, 50, 200):
            inside = np.zeros(2)
            for _ in range(repeats):
                x, z = (bend(side) for side in draw(n))
                drawn = rng.integers(0, n, size=(300, n))
                flat = _pearson(*(side[:, drawn].swapaxes(0, 1).reshape(300, -1) for side in (x, z)))
                both = (flat, _by_item(x, z)[drawn].mean(1))
                for k, (values, true) in enumerate(zip(both, truths, strict=True)):
                    low, high = np.quantile(values, (0.025, 0.975))
                    inside[k] += low <= true <= high
            print(f"{name:18s} {n:5d} {inside[0] / repeats:14.3f} {inside[1] / repeats:8.3f}", flush=True)


def _pearson(x: Array, z: Array) -> Array:
    x, z = (side - side.mean(axis=1, keepdims=True) for side in (x, z))
    return np.asarray((x * z).sum(1) / np.sqrt((x * x).sum(1) * (z * z).sum(1)))


def _by_item(x: Array, z: Array) -> Array:
    """Pearson's r of each item, shape (n,)."""
    return _pearson(x.T, z.T)


def shares(repeats: int) -> None:
    print(f"{'phenomena x pairs':18s} {'accuracies':>12s} {'interval of the mean':>22s}")
    rng = np.random.default_rng(0)
    for k, n, low, high in SHARES:
        p = np.linspace(low, high, k)
        ends = [mean_of_shares(rng.binomial(n, p).tolist(), [n] * k)[1:] for _ in range(repeats)]
        print(f"{f'{k} x {n}':18s} {f'{low:.2f} to {high:.2f}':>12s} {share_inside(ends, float(p.mean())):>22s}")


def means(repeats: int) -> None:
    """Percentile bootstrap of a mean; and two systems of equal quality, tested."""
    print(f"{'segment scores':18s} {'n':>4s} {'interval':>9s} {'bootstrap':>10s} {'randomisation':>14s}")
    rng = np.random.default_rng(0)

    def mean(totals: Array) -> Array:
        return np.asarray(totals[..., 0] / totals[..., 1])

    kinds: list[tuple[str, Callable[[int], Array], float]] = [
        ("normal", lambda n: rng.normal(size=n), 0.0),
        ("lognormal", lambda n: np.exp(rng.normal(size=n)), float(np.exp(0.5))),
        ("0 or 1, p = .1", lambda n: (rng.random(n) < 0.1).astype(float), 0.1),
    ]
    for name, values, truth in kinds:
        for n in (5, 20, 50, 100, 200):
            ends, rejected = [], np.zeros(2)
            for seed in range(repeats):
                stats = np.stack([np.column_stack([values(n), np.ones(n)]) for _ in range(2)])
                found = bootstrap_interval(stats[:1], mean, draws=500, seed=seed)
                ends.append((float(found.low[0]), float(found.high[0])))
                for t, test in enumerate((paired_bootstrap, paired_randomisation)):
                    rejected[t] += test(stats, mean, draws=200, seed=seed).p[0] < 0.05
            level = rejected / repeats
            print(f"{name:18s} {n:4d} {share_inside(ends, truth):>9s} {level[0]:10.3f} {level[1]:14.3f}")


def metrics_alike(repeats: int) -> None:
    """Two metrics as good as each other: how often does Williams' test, one-sided, call the first one better?"""
    print(f"{'metrics alike':18s} {'n':>4s} {'Williams':>9s}")
    rng = np.random.default_rng(0)
    for name, bend in (("normal", lambda x: x), ("skewed", lambda x: np.exp(x / 2)), ("heavy", np.exp)):
        for n in (20, 50, 200):
            z = rng.normal(size=(repeats, 1, n))
            both = RHO * z + np.sqrt(1 - RHO**2) * rng.normal(size=(repeats, 2, n))
            rows = bend(np.concatenate([z, both], axis=1))  # (repeats, 3, n)
            rows = rows - rows.mean(axis=2, keepdims=True)
            rows = rows / np.linalg.norm(rows, axis=2, keepdims=True)
            r = rows @ rows.transpose(0, 2, 1)
            p = np.array([williams(*triple, n) for triple in r[:, (0, 0, 1), (1, 2, 2)].tolist()])
            print(f"{name:18s} {n:4d} {np.mean(p < 0.05):9.3f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=4000)
    repeats = parser.parse_args().repeats
    shares(repeats)
    print()
    correlations(repeats)
    print()
    tails(repeats)
    print()
    few_systems(repeats)
    print()
    ranks(repeats)
    print()
    over_items(repeats // 4)
    print()
    means(repeats)
    print()
    metrics_alike(repeats)
