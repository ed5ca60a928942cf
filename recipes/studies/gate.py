"""Does `nlgauge gate` keep its level on real differences? Plant a drop equal to the allowance, and count verdicts.

    python recipes/studies/gate.py DATA > tables.md        # some six minutes on one core

Every population is the differences of two systems on all items of a published set. Its mean is the true drop, which is
also the allowance; samples of n items are drawn from it with replacement. A PASS or a FAIL is then wrong, and each may
come out at most once in twenty. DATA holds `llmbar`, `wmt21-mqm-zh-en` and `summeval` in the columns of nlgauge.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import special

from nlgauge import metric
from nlgauge.core.segment import Segment
from nlgauge.gating.outputs import Differences, Outputs, ScoredSide, differences, from_texts
from nlgauge.metrics.function import RatingColumn
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.draws import resample_counts
from nlgauge.stats.gate_bounds import believed_loss, clustered, studentized, tango_statistic, unseen_bound
from nlgauge.stats.gates import FEW, FEW_GROUPS, PASS, Bound, bound_difference

Floats = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Floats]  # generator, samples, items -> differences (samples, items)
Shares = tuple[float, float]  # of PASS and FAIL
Sample = tuple[Floats, list[int] | None]  # differences and clusters
Sampler = Callable[[np.random.Generator, int], Sample]  # generator and items, or clusters
SIZES = (30, 100, 300)
SAMPLES, DRAWS, ALPHA = 400, 2000, 0.05
PAIRS = 12  # of systems, of each kind
CLUSTER = 5  # neighbouring lines
SAME = 0.8  # share of items whose outputs are made identical
LEASTS = (0, 5, 8, 10, 12)
TRIED = 4  # pairs of which power is tried
ANNOUNCED, NEEDING, MOST = 25, 3, 3000  # samples that announce a drop, and items needed; the most that are tried
RARE = 300  # samples of rare losses, of rare gains and of ratings
PRICED = (30, 50, 100, 200, 400)  # items
Z = float(special.ndtri(1 - ALPHA))


def rows_of(path: Path) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def by_system(rows: list[dict], value: Callable[[dict], float]) -> dict[str, Floats]:
    """System -> its values, in one order of items."""
    items = sorted({row["seg"] for row in rows})
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        found.setdefault(row["system"], {})[row["seg"]] = value(row)
    return {name: np.array([own[i] for i in items]) for name, own in found.items() if len(own) == len(items)}


def pairs_of(systems: Mapping[str, Floats], rng: np.random.Generator) -> list[Floats]:
    """Differences of pairs of systems, each turned so that its mean is a drop."""
    pairs = [systems[b] - systems[a] for a, b in combinations(systems, 2)]
    turned = [d if d.mean() < 0 else -d for d in pairs if abs(d.mean()) > 1e-9]
    return [turned[i] for i in rng.permutation(len(turned))[:PAIRS]]


class Population:
    """Differences from which samples are drawn.

    Args:
        draw: draws differences of samples.
        mean: their true mean, below 0.
        is_rate: whether scores are 0 and 1.
        largest: the largest possible loss; None without limit.
        cluster: items in a cluster.
    """

    def __init__(self, draw: Draw, mean: float, is_rate: bool, largest: float | None, cluster: int = 1) -> None:
        self.draw, self.mean, self.is_rate, self.largest, self.cluster = draw, mean, is_rate, largest, cluster


def of_items(d: Floats, is_rate: bool, largest: float | None) -> Population:
    return Population(lambda rng, r, n: d[rng.integers(len(d), size=(r, n))], float(d.mean()), is_rate, largest)


def of_same(d: Floats, largest: float | None) -> Population:
    """Most outputs are identical, whichever items they are."""

    def draw(rng: np.random.Generator, r: int, n: int) -> Floats:
        return np.where(rng.random((r, n)) < SAME, 0.0, d[rng.integers(len(d), size=(r, n))])

    return Population(draw, (1 - SAME) * float(d.mean()), False, largest)


def of_clusters(d: Floats, largest: float | None) -> Population:
    whole = d[: len(d) // CLUSTER * CLUSTER].reshape(-1, CLUSTER)

    def draw(rng: np.random.Generator, r: int, n: int) -> Floats:
        return whole[rng.integers(len(whole), size=(r, n // CLUSTER))].reshape(r, -1)

    return Population(draw, float(whole.mean()), False, largest, CLUSTER)


def of_repeats(old: Floats, new: Floats, runs: int = 3) -> Population:
    """Two tables (items, runs); each sample has some runs of each item, drawn for each side."""

    def side(rng: np.random.Generator, table: Floats, items: npt.NDArray[np.int64]) -> Floats:
        chosen = rng.random((*items.shape, table.shape[1])).argsort(axis=-1)[..., :runs]
        return np.take_along_axis(table[items], chosen, axis=-1).mean(axis=-1)

    def draw(rng: np.random.Generator, r: int, n: int) -> Floats:
        items = rng.integers(len(old), size=(r, n))
        return side(rng, new, items) - side(rng, old, items)

    return Population(draw, float(new.mean() - old.mean()), False, 1.0)


def populations(data: Path, rng: np.random.Generator) -> Iterator[tuple[str, list[Population]]]:
    verdicts = rows_of(data / "llmbar" / "verdicts.jsonl.gz")
    given = [{**v, "seg": v["id"], "system": f"{v['judge']} {v['prompt']}"} for v in verdicts if v["order"] == "given"]
    right = by_system(given, lambda v: float(v["verdict"] == v["gold"]))
    rates = [d for d in pairs_of(right, np.random.default_rng(1)) if d.mean() < 0]
    yield "pass rates", [of_items(d, True, 1.0) for d in rates]
    wmt, runtime = rows_of(data / "wmt21-mqm-zh-en" / "segments.jsonl.gz"), Runtime()
    scored = metric("chrf").score([Segment(r["id"], r["hyp"], tuple(r["refs"])) for r in wmt], runtime)
    known = dict(zip(scored.ids, scored.values.tolist(), strict=True))
    chrf = pairs_of(by_system(wmt, lambda r: known[r["id"]]), rng)
    mqm = pairs_of(by_system(wmt, lambda r: max(r["human"]["mqm"], -25.0)), rng)
    news = rows_of(data / "summeval" / "segments.jsonl.gz")
    rated = pairs_of(by_system(news, lambda r: r["human"]["relevance"]), rng)
    yield "80 % identical, chrF", [of_same(d, 100.0) for d in chrf]
    yield "80 % identical, MQM", [of_same(d, 25.0) for d in mqm]
    yield "80 % identical, ratings of summaries", [of_same(d, 4.0) for d in rated]
    yield "all different, MQM", [of_items(d, False, 25.0) for d in mqm]
    yield "clusters of five lines, MQM", [of_clusters(d, 25.0) for d in mqm]
    judges = {}
    for name, own in right.items():
        judges.setdefault(name.split()[0], []).append(own)
    tables = {name: np.stack(own, axis=1) for name, own in judges.items()}
    turned = [(a, b) if tables[a].mean() > tables[b].mean() else (b, a) for a, b in combinations(tables, 2)]
    yield "3 repeats, pass or fail", [of_repeats(tables[a], tables[b]) for a, b in turned]


def gated(d: Floats, allow: float | Floats, of: Population, seed: int, least: int = FEW) -> Shares:
    """The shares of PASS and FAIL of the gate, as `bound_difference` decides; all samples share their resamples.

    Args:
        d: samples, shape (r, n).
        allow: the allowance, or one for each sample.
        of, seed, least: population, seed of the resamples, and changed items from which on a mean may pass.
    """
    r, n = d.shape
    losing, changed = (d < 0).sum(axis=1), (d != 0).sum(axis=1)
    if of.is_rate:
        z = tango_statistic(changed - losing, losing, n, -allow)
        passed, failed = z >= Z, (z <= -Z) & is_clear(changed - losing, losing, n, allow)
    else:
        clusters = None if of.cluster == 1 else [i // of.cluster for i in range(n)]
        sums, sizes = clustered(d, clusters)
        losing, changed, n = (sums < 0).sum(axis=1), (sums != 0).sum(axis=1), len(sizes)
        found = studentized(d, clusters, draws=DRAWS, seed=seed)
        most, gain = ((believed_loss(d) if of.largest is None else np.full(r, of.largest)) for d in (sums, -sums))
        rare = unseen_bound(found.mean, found.error, n, most, ALPHA) > -allow
        no_gain = (gain == 0) | (unseen_bound(-found.mean, found.error, n, gain, ALPHA) > allow)
        apart = found.mean + allow
        at = np.divide(apart, found.error, out=np.copysign(np.full(r, np.inf), apart), where=found.error > 0)
        student, other = special.stdtr(n - 1, at) <= ALPHA, special.stdtr(n - 1, -at) <= ALPHA
        if clusters is not None and n < FEW_GROUPS:
            return 0.0, float((student & no_gain).mean())
        passed = (found.p_above(-allow) <= ALPHA) & other & rare
        failed = (found.p_below(-allow) <= ALPHA) & student & no_gain
    at_worst = False if of.largest is None else special.bdtr(losing, n, np.minimum(allow / of.largest, 1)) <= ALPHA
    passed = np.where(changed >= least, passed, at_worst & ~failed)
    return float(passed.mean()), float(failed.mean())


def is_clear(gains: Floats, losses: Floats, n: int, allow: float | Floats) -> npt.NDArray[np.bool_]:
    """Whether a loss of pass rates is clear by Student's bound."""
    mean = (gains - losses) / n
    error = np.sqrt(np.maximum(gains + losses - n * mean**2, 0) / (n - 1) / n)
    at = np.divide(mean + allow, error, out=np.copysign(np.full(np.shape(mean), np.inf), mean + allow), where=error > 0)
    return special.stdtr(n - 1, at) <= ALPHA


def by_resampling(d: Floats, allow: float, of: Population, seed: int) -> Shares:
    """The bootstrap-t alone, however few items changed."""
    clusters = None if of.cluster == 1 else [i // of.cluster for i in range(d.shape[1])]
    found = studentized(d, clusters, draws=DRAWS, seed=seed)
    return float((found.p_above(-allow) <= ALPHA).mean()), float((found.p_below(-allow) <= ALPHA).mean())


def by_t(d: Floats, allow: float) -> Shares:
    n = d.shape[1]
    error, reach = d.std(axis=1, ddof=1) / np.sqrt(n), float(special.stdtrit(n - 1, 1 - ALPHA))
    mean = d.mean(axis=1)
    return float((mean - reach * error > -allow).mean()), float((mean + reach * error < -allow).mean())


def by_percentiles(d: Floats, allow: float, seed: int) -> Shares:
    counts = resample_counts(np.random.default_rng(seed), DRAWS, d.shape[1])
    low, high = np.quantile(counts @ d.T / d.shape[1], (ALPHA, 1 - ALPHA), axis=0)
    return float((low > -allow).mean()), float((high < -allow).mean())


def levels(kinds: Mapping[str, list[Population]]) -> Iterator[str]:
    """A drop equal to the allowance: every PASS and every FAIL is wrong."""
    others = "bootstrap-t alone | paired t | percentile bootstrap"
    yield f"| differences | n | gate: PASS, FAIL | gate, worst pair | {others} |"
    yield "|---|---:|---|---|---|---|---|"
    for name, own in kinds.items():
        for n in SIZES:
            found: list[tuple[Shares, ...]] = []
            for seed, of in enumerate(own):
                d = of.draw(np.random.default_rng([seed, n]), SAMPLES, n)
                allow = -of.mean
                plain = by_t(d, allow), by_percentiles(d, allow, seed)
                found.append((gated(d, allow, of, seed), by_resampling(d, allow, of, seed), *plain))
            mean, most = np.mean(found, axis=0), np.max(found, axis=0)
            shown = [f"{passed:.3f}, {failed:.3f}" for passed, failed in (mean[0], most[0], *mean[1:])]
            yield f"| {name} | {n} | {' | '.join(shown)} |"


def of_no_change(of: Population, rng: np.random.Generator, r: int, n: int) -> Floats:
    """Samples with sides swapped by a coin for each item, or cluster, so that nothing is lost."""
    coins = rng.choice([-1.0, 1.0], size=(r, n // of.cluster))
    return of.draw(rng, r, n) * np.repeat(coins, of.cluster, axis=1)


def announced(one: Floats, allow: float, of: Population) -> Bound:
    """What the gate says of a sample."""
    clusters = None if of.cluster == 1 else [i // of.cluster for i in range(len(one))]
    return bound_difference(
        one, clusters, allow=allow, is_rate=of.is_rate, largest=of.largest, most=of.largest, draws=100
    )


def without_drop(kinds: Mapping[str, list[Population]]) -> Iterator[str]:
    """No drop, and an allowance that was announced from one sample and is tried on others; and an allowance of 0.

    The columns: the smallest drop of the gate, that of the normal curve with the true standard error, how many samples
    announce none, samples as large as another one said are needed, and FAIL with the smallest drop and with 0.
    """
    yield "| differences | n | smallest drop: PASS | normal curve: PASS | none | items needed: PASS | FAIL | 0: FAIL |"
    yield f"|---|---:|{'---:|' * 6}"
    for name, own in kinds.items():
        for n in SIZES:
            found: list[list[float]] = []
            for seed, of in enumerate(own[:TRIED]):
                rng = np.random.default_rng([seed, n, 1])
                d, firsts = of_no_change(of, rng, SAMPLES, n), of_no_change(of, rng, ANNOUNCED, n)
                sums, sizes = clustered(d, None if of.cluster == 1 else [i // of.cluster for i in range(n)])
                error = float(np.sqrt((sums**2).sum(axis=1).mean()) / sizes.sum())
                drops = np.array([announced(one, 0.0, of).smallest_drop for one in firsts])
                known = drops[~np.isnan(drops)]
                tried = gated(d, np.resize(known, SAMPLES), of, seed) if len(known) else (np.nan, np.nan)
                reach = (Z + float(special.ndtri(0.8))) * error
                of_needed = [needing(one, 0.8 * reach, of, rng) for one in firsts[:NEEDING]]
                shares = (tried[0], gated(d, reach, of, seed)[0], float(np.isnan(drops).mean()))
                found.append([*shares, mean_known(of_needed), tried[1], gated(d, 0.0, of, seed)[1]])
            means = [mean_known(one) for one in zip(*found, strict=True)]
            yield f"| {name} | {n} | {' | '.join('' if np.isnan(one) else f'{one:.3f}' for one in means)} |"


def mean_known(values: Sequence[float]) -> float:
    """The mean of those that are not NaN; NaN where none is."""
    known = [one for one in values if not np.isnan(one)]
    return float(np.mean(known)) if known else float("nan")


def needing(one: Floats, allow: float, of: Population, rng: np.random.Generator) -> float:
    """The share of PASS among samples as large as the gate says of one; NaN where it says none, or too many to try."""
    needed = announced(one, allow, of).items_needed
    if needed is None or needed > MOST:
        return float("nan")
    n = -(-needed // of.cluster) * of.cluster
    return gated(of_no_change(of, rng, SAMPLES // 4, n), allow, of, 0)[0]


def limits(kinds: Mapping[str, list[Population]]) -> Iterator[str]:
    """From how many changed items on may resampling alone let a mean pass?"""
    yield f"| differences | n | {' | '.join(f'from {least}' for least in LEASTS)} |"
    yield f"|---|---:|{'---:|' * len(LEASTS)}"
    for name, own in kinds.items():
        if not name.startswith("80 %"):
            continue
        for n in (20, 30, 100):
            draws = [of.draw(np.random.default_rng([seed, n, 2]), SAMPLES, n) for seed, of in enumerate(own)]
            shares = [
                np.mean([gated(d, -of.mean, of, 0, least)[0] for d, of in zip(draws, own, strict=True)])
                for least in LEASTS
            ]
            yield f"| {name} | {n} | {' | '.join(f'{share:.3f}' for share in shares)} |"


def exact() -> Iterator[str]:
    """Pass rates without sampling: the largest share over shares of gains, by all tables of n items."""
    yield "| n | Tango alone: PASS, FAIL | gate: PASS, FAIL |"
    yield "|---:|---|---|"
    for n in (20, 30, 50, 100, 300):
        gains, losses = (one[np.add(*np.indices((n + 1, n + 1))) <= n] for one in np.indices((n + 1, n + 1)))
        most = np.zeros(4)
        for allow in (0.01, 0.02, 0.05, 0.1):
            z, clear = tango_statistic(gains, losses, n, -allow), is_clear(gains, losses, n, allow)
            worst = special.bdtr(losses.astype(float), n, allow) <= ALPHA
            verdicts = (z >= Z, z <= -Z, np.where(gains + losses >= FEW, z >= Z, worst), (z <= -Z) & clear)
            for share in (0, 0.003, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.3, 0.4):
                rest = 1 - 2 * share - allow
                logs = special.gammaln(n + 1) - sum(special.gammaln(k + 1) for k in (gains, losses, n - gains - losses))
                logs = logs + special.xlogy(gains, share) + special.xlogy(losses, share + allow)
                p = np.exp(logs + special.xlogy(n - gains - losses, rest))
                most = np.maximum(most, [p[verdict].sum() for verdict in verdicts])
        yield f"| {n} | {most[0]:.3f}, {most[1]:.3f} | {most[2]:.3f}, {most[3]:.3f} |"


def noisy(p: float, loss: float, noise: float, share: float = 1.0) -> Sampler:
    """A share p of items loses much; of the others a share changes, by noise."""

    def draw(rng: np.random.Generator, n: int) -> Sample:
        changed = np.where(rng.random(n) < share, rng.normal(0, noise, n), 0.0)
        return np.where(rng.random(n) < p, -loss, changed), None

    return draw


def lognormal(rng: np.random.Generator, n: int) -> Sample:
    return -rng.lognormal(0, 1, n), None


def alike(rng: np.random.Generator, n: int) -> Sample:
    return np.where(rng.random(n) < 0.05, -1.0, -0.01), None


def rarely_gaining(rng: np.random.Generator, n: int) -> Sample:
    return np.where(rng.random(n) < 0.02, 0.5, -0.06), None


def large_lose(rng: np.random.Generator, n: int) -> Sample:
    """n documents; one of ten has 20 items, which lose .8, and the others 2, which stay."""
    is_large = rng.random(n) < 0.1
    sizes = np.where(is_large, 20, 2)
    return np.repeat(np.where(is_large, -0.8, 0.0), sizes), np.repeat(np.arange(n), sizes).tolist()


def in_tens(rng: np.random.Generator, n: int) -> Sample:
    """n groups of ten items that are alike."""
    return np.repeat(rng.choice([-1.0, 0.0, 1.0], n, p=[0.3, 0.5, 0.2]), 10), np.repeat(np.arange(n), 10).tolist()


EDGES: tuple[tuple[str, Sampler, float, float | None, tuple[int, ...], bool], ...] = (
    ("noise of .02; .05 lose 1", noisy(0.05, 1, 0.02), 0.05, 1.0, (20, 30, 50, 100), False),
    ("noise of .1; .05 lose 1", noisy(0.05, 1, 0.1), 0.05, 1.0, (20, 30, 50, 100), False),
    ("all lose .01; .05 lose 1", alike, 0.95 * 0.01 + 0.05, 1.0, (20, 30, 50), False),
    (".15 with noise of .02; .01 lose 1", noisy(0.01, 1, 0.02, 0.15), 0.01, 1.0, (100, 200, 300), False),
    ("noise of 3; .02 lose 60 of 100", noisy(0.02, 60, 3), 1.2, 100.0, (50, 100, 200), False),
    ("lognormal losses, no limit", lognormal, float(np.exp(0.5)), None, (12, 30, 100), False),
    ("documents, the large ones lose .8", large_lose, 0.8 * 20 / (20 + 9 * 2), 1.0, (20, 30, 50), False),
    ("all lose .06; .02 gain .5", rarely_gaining, 0.98 * 0.06 - 0.02 * 0.5, 1.0, (30, 50, 100), False),
    ("groups of ten alike, sequential", in_tens, 0.1, 1.0, (20, 50), True),
)


def edges() -> Iterator[str]:
    """Rare and heavy losses, with a drop equal to the allowance: shares of each verdict."""
    yield "| differences | n | PASS | FAIL | INCONCLUSIVE |"
    yield "|---|---:|---:|---:|---:|"
    for name, draw, allow, largest, sizes, is_sequential in EDGES:
        for n in sizes:
            rng = np.random.default_rng(n)
            how = {"allow": allow, "largest": largest, "most": largest, "is_sequential": is_sequential, "draws": 1000}
            found = [bound_difference(*draw(rng, n), **how, has_power=False).verdict for _ in range(RARE)]
            yield f"| {name} | {n} | {shares_of(found)} |"
    for name, draw, allow, sizes in RATED:
        for n in sizes:
            rng = np.random.default_rng(n)
            found = [judged(*draw(rng, n), allow, name == UNTOUCHED) for _ in range(RARE)]
            yield f"| {name} | {n} | {shares_of(found)} |"


def shares_of(found: Sequence[str]) -> str:
    return " | ".join(f"{found.count(one) / len(found):.3f}" for one in ("PASS", "FAIL", "INCONCLUSIVE"))


# Ratings of a scale that nothing names: of both sides, and the group of each item
Ratings = tuple[Floats, Floats, list[int] | None]


def rarely(base: Floats, p: float, worst: float, noise: float) -> Callable[[np.random.Generator, int], Ratings]:
    """Items with ratings like those of `base`; a share p falls to the worst, the others change by noise."""

    def draw(rng: np.random.Generator, n: int) -> Ratings:
        old = rng.choice(base, n)
        new = np.clip(old + rng.normal(0, noise, n), base.min() - 2 * noise, base.max())
        return old, np.where(rng.random(n) < p, worst, new), None

    return draw


def documents(rng: np.random.Generator, n: int) -> Ratings:
    """n documents of five items; one of twenty falls to 0."""
    old, falls = rng.choice(HIGH, 5 * n), np.repeat(rng.random(n) < 0.05, 5)
    return old, np.where(falls, 0.0, old + rng.choice([-0.01, 0.01], 5 * n)), np.repeat(np.arange(n), 5).tolist()


def rare_gains(rng: np.random.Generator, n: int) -> Ratings:
    old = rng.choice(LOW, n)
    return old, old + np.where(rng.random(n) < 0.02, 0.5, -0.06), None


def untouched(rng: np.random.Generator, n: int) -> Ratings:
    old = rng.choice(HIGH, n)
    return old, np.where(rng.random(n) < 0.05, 0.0, old), None


HIGH, LOW, FIVE = np.linspace(0.8, 1, 21), np.linspace(0.3, 0.5, 21), np.array([3.0, 4.0, 4.0, 5.0])
UNTOUCHED = "texts that stay the same; .05 break and fall to 0"
RATED: tuple[tuple[str, Callable[[np.random.Generator, int], Ratings], float, tuple[int, ...]], ...] = (
    ("ratings of .8 to 1, no scale; .05 fall to 0", rarely(HIGH, 0.05, 0.0, 0.0), 0.045, (20, 30, 50, 100)),
    ("the same with noise of .02", rarely(HIGH, 0.05, 0.0, 0.02), 0.045, (20, 30, 50, 100)),
    ("ratings of 3 to 5, no scale; .05 fall to 1", rarely(FIVE, 0.05, 1.0, 0.0), 0.15, (20, 30, 50, 100)),
    ("documents of such ratings; .05 fall to 0", documents, 0.045, (20, 30, 50)),
    ("ratings of .3 to .5, no scale; .02 gain .5, all others lose .06", rare_gains, 0.0488, (30, 50, 100)),
    (UNTOUCHED, untouched, 0.045, (20, 30, 50)),
)


def judged(old: Floats, new: Floats, groups: list[int] | None, allow: float, is_same: bool) -> str:
    """The verdict on ratings of other texts, or of the same ones where `is_same` and all ratings are the same."""
    if is_same and (old == new).all():
        return PASS
    sides = (rated("BASE", old, old), rated("NEW", new, old))
    found: Differences = differences("r", RatingColumn(criterion="r"), *sides, "fail")
    how = {"largest": found.at_stake, "most": found.in_reach, "draws": 1000, "has_power": False}
    return bound_difference(found.values, groups, allow=allow, **how).verdict


def rated(name: str, scores: Floats, texts: Floats) -> ScoredSide:
    outputs = Outputs.of(from_texts([f"{one}" for one in texts], name), name)
    return ScoredSide(outputs, {"r": [np.array([one]) for one in scores]}, {"r": "r"})


def price() -> Iterator[str]:
    """How many times as many items show that nothing was lost, where rare losses are reckoned with?

    Each allowance is the smallest drop that n items tell without a limit.
    """
    yield f"| differences | largest loss, in standard deviations | {' | '.join(f'n = {n}' for n in PRICED)} |"
    yield f"|---|---:|{'---:|' * len(PRICED)}"
    for name, draw in (
        ("normal", np.random.Generator.standard_normal),
        ("t, 5 degrees", lambda r, n: r.standard_t(5, n)),
    ):
        for limit in (3, 5, 10, 20):
            cells = []
            for n in PRICED:
                ratios = []
                for seed in range(5):
                    d = draw(np.random.default_rng([seed, n]), n)
                    d *= min(1.0, limit / np.abs(d / d.std()).max())
                    allow = bound_difference(d, allow=0, draws=100).smallest_drop
                    most = limit * float(d.std())
                    plain, safe = (bound_difference(d, allow=allow, largest=m, draws=100) for m in (None, most))
                    ratios.append(safe.items_needed / plain.items_needed)
                cells.append(f"{np.median(ratios):.2f}")
            yield f"| {name} | {limit} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    args = parser.parse_args()
    kinds = dict(populations(args.data, np.random.default_rng(0)))
    for title, table in (
        ("Rare and heavy losses", edges()),
        ("The price", price()),
        ("A drop equal to the allowance", levels(kinds)),
        ("No drop", without_drop(kinds)),
        ("Pass rates, without sampling", exact()),
        ("Shares of PASS by the least number of changed items", limits(kinds)),
    ):
        print(f"\n## {title}\n")
        print("\n".join(table))


if __name__ == "__main__":
    main()
