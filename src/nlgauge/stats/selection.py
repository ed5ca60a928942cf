"""If a metric chose the best of k systems, how good would it be? Hits@1, MRR and Diff, exactly and by simulation.

Of n systems k are drawn without replacement, and the metric takes t, the one it scores best. For one system s, let a
be the number of systems that the metric puts below s, and b the number of those that people put above s. The draws in
which s is taken number C(a, k-1). Those among them without a system that people prefer number C(a-b, k-1). The sum of
1 / rank of s over them is (C(a+1, k) - C(a-b, k)) / (b + 1), so no draw has to be made. Systems that tie are equally
likely to be taken among those drawn; the sums then run over where in the tie s may fall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Counts
from nlgauge.core.errors import InputError
from nlgauge.stats.draws import (
    Seed,
    blocks,
    check_draws,
    generator,
)

_WIDE_TIE = 200  # systems in one tie of the metric up to which the sums over places are taken in full
_ORDERS = 100  # random orders of wider ties, each of which is then exact
_CELLS = 1 << 22


@dataclass(frozen=True)
class Selection:
    """How good the choices of a metric are, on average over draws of k systems out of n.

    Attributes:
        hits_at_1: the probability that the choice has the highest human score of the k systems, in [0, 1].
        mrr: the mean of 1 / rank of the choice by human score among the k; the rank is 1 plus the number strictly
            above it.
        diff: the mean of the highest human score minus that of the choice, 0 or more, in units of the human score.
        k: the number of systems drawn.
        n: the number of systems there are.
        tied: the number of systems that share their metric score with another.
        draws: the number of simulated draws; None where the numbers are exact. With more than 200 systems in one tie,
            MRR is exact only over 100 random orders of them.
    """

    hits_at_1: float
    mrr: float
    diff: float
    k: int
    n: int
    tied: int
    draws: int | None


def selection_quality(metric: Array, human: Array, k: int = 100, *, seed: Seed = 0) -> Selection:
    """Expected Hits@1, MRR and Diff over all draws of k systems out of n without replacement.

    Scores of the metric and of people have shape (n,), higher is better; the seed orders ties wider than 200 systems.

    Raises:
        InputError: unequal lengths, a missing score, k out of range.

    References:
        Zhang et al. (2020), "BERTScore", section 4 ("model selection") and appendix E.2, which simulate 100,000 draws.
    """
    metric, human = _check(metric, human, k)
    n = len(metric)
    order = np.lexsort((human, metric))
    metric, human = metric[order], human[order]
    below = np.searchsorted(metric, metric, side="left")  # a: systems the metric puts below s
    end = np.searchsorted(metric, metric, side="right")
    above = _above(human, below)  # b: those among them that people put above s
    sizes = end - below  # systems in the tie of s, itself included
    peers = end - _run_ends(metric, human)  # systems in the tie that people put above s: they stand to the right
    chosen = _binomials(n, k)
    taken = (chosen[below + sizes] - chosen[below]) / sizes
    hits = (chosen[below - above + sizes - peers] - chosen[below - above]) / (sizes - peers)
    # The r-th lowest human score is the highest drawn in C(r-1, k-1) = C(r, k) - C(r-1, k) draws.
    best = float(np.sort(human) @ np.diff(chosen))
    return Selection(
        float(hits.sum()),
        _mrr(below, above, sizes, peers, chosen, generator(seed)),
        max(best - float(taken @ human), 0.0),
        k,
        n,
        int((sizes > 1).sum()),
        None,
    )


def simulate_selection(metric: Array, human: Array, k: int = 100, *, draws: int = 100000, seed: Seed = 0) -> Selection:
    """The same by drawing: a check on the exact numbers, and what the paper did.

    A metric tie is settled at random. The standard error of Hits@1 is at most 0.5 / sqrt(draws).
    """
    metric, human = _check(metric, human, k)
    check_draws(draws)
    rng, n = generator(seed), len(metric)
    hits, reciprocal, lost = 0, 0.0, 0.0
    step = max(1, _CELLS // n)
    for start in range(0, draws, step):
        size = min(step, draws - start)
        drawn = np.argpartition(rng.random((size, n)), k - 1, axis=1)[:, :k]
        scores, people = metric[drawn], human[drawn]
        ahead = np.where(scores == scores.max(axis=1, keepdims=True), rng.random(scores.shape), -1.0).argmax(axis=1)
        chosen = people[np.arange(size), ahead]
        rank = 1 + (people > chosen[:, None]).sum(axis=1)
        hits += int((rank == 1).sum())
        reciprocal += float((1 / rank).sum())
        lost += float((people.max(axis=1) - chosen).sum())
    _, counts = np.unique(metric, return_counts=True)
    return Selection(hits / draws, reciprocal / draws, lost / draws, k, n, int(counts[counts > 1].sum()), draws)


def _binomials(n: int, k: int) -> Array:
    """C(m, k) / C(n, k) for m from 0 to n: 0 below k, and growing by m / (m - k) a step; shape (n + 1,)."""
    m = np.arange(k, n)
    logs = np.cumsum(np.log1p(k / (m + 1 - k))[::-1])[::-1]  # of C(n, k) / C(m, k)
    return np.concatenate([np.zeros(k), np.exp(-logs), [1.0]])


def _above(human: Array, first: Counts) -> Counts:
    """How many of the systems before position `first` have a higher human score, shape (n,)."""
    n, found = len(human), np.zeros(len(human), dtype=np.int64)
    step = max(1, _CELLS // n)
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        most = int(first[part].max())
        higher = human[None, :most] > human[part, None]
        found[part] = (higher & (np.arange(most) < first[part, None])).sum(axis=1)
    return found


def _run_ends(metric: Array, human: Array) -> Counts:
    """One past the last of the systems that share both scores, for sorted systems, shape (n,)."""
    last = np.append((metric[1:] != metric[:-1]) | (human[1:] != human[:-1]), True)
    ends = np.where(last, np.arange(1, len(metric) + 1), len(metric))
    return np.asarray(np.minimum.accumulate(ends[::-1])[::-1])


def _mrr(below: Counts, above: Counts, sizes: Counts, peers: Counts, chosen: Array, rng: np.random.Generator) -> float:
    """Sum of P(s is taken) E[1 / rank of s]."""
    alone = sizes == 1
    total = float(_reciprocal(below[alone], above[alone], chosen).sum())
    start = 0
    while start < len(sizes):
        tie = slice(start, start + int(sizes[start]))
        start = tie.stop
        if 1 < sizes[tie.start] <= _WIDE_TIE:
            rows = np.stack([below[tie], above[tie], sizes[tie], peers[tie]], axis=1).tolist()
            total += sum(_in_tie(a, b, size, better, chosen) for a, b, size, better in rows)
        elif sizes[tie.start] > 1:
            places, passed = _orders(peers[tie], rng)  # (orders, g)
            total += float(_reciprocal(below[tie] + places, above[tie] + passed, chosen).sum()) / len(places)
    return total


def _reciprocal(a: Counts, b: Counts, chosen: Array) -> Array:
    return np.asarray((chosen[a + 1] - chosen[a - b]) / (b + 1))


def _in_tie(a: int, b: int, size: int, peers: int, chosen: Array) -> float:
    """The term of one system in a tie: the mean over orders, by how many peers, better and not, fall below it."""
    better, rest = np.arange(peers + 1)[:, None], np.arange(size - peers)[None, :]
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, size + 1)))])  # of factorials

    def ways(n: int, m: Counts) -> Array:
        return np.asarray(logs[n] - logs[m] - logs[n - m])

    chance = np.exp(ways(peers, better) + ways(size - 1 - peers, rest) - ways(size - 1, better + rest)) / size
    return float((chance * _reciprocal(a + better + rest, b + better, chosen)).sum())


def _orders(peers: Counts, rng: np.random.Generator) -> tuple[Counts, Counts]:
    """Random orders of a tie: each system's place, and how many before it people put above it; shapes (orders, g).

    Systems come as they are sorted, by human score; the better ones are entered first into a tree of counts by place.
    """
    g = len(peers)
    places = rng.permuted(np.broadcast_to(np.arange(g), (_ORDERS, g)), axis=1)
    tree = np.zeros((_ORDERS, g + 1), dtype=np.int64)
    row, passed = np.arange(_ORDERS), np.empty((_ORDERS, g), dtype=np.int64)
    stop = g
    while stop > 0:
        # equal human scores do not count against each other
        same = slice(int(np.searchsorted(-peers, -peers[stop - 1])), stop)
        for s in range(same.start, same.stop):
            index, count = places[:, s].copy(), np.zeros(_ORDERS, dtype=np.int64)
            while index.any():
                count += tree[row, index]
                index &= index - 1
            passed[:, s] = count
        for s in range(same.start, same.stop):
            index = places[:, s] + 1
            while (index <= g).any():
                inside = index <= g
                tree[row[inside], index[inside]] += 1
                index += index & -index
        stop = same.start
    return places, passed


def _check(metric: Array, human: Array, k: int) -> tuple[Array, Array]:
    metric, human = np.asarray(metric, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if metric.ndim != 1 or metric.shape != human.shape:
        raise InputError(f"scores have shapes {metric.shape} and {human.shape}, expected one of each for every system")
    for name, values in (("metric", metric), ("human", human)):
        if not np.isfinite(values).all():
            raise InputError(
                f"system {int(np.flatnonzero(~np.isfinite(values))[0])} has no finite {name} score; leave it out on"
                " both sides"
            )
    if not 1 <= k <= len(metric):
        raise InputError(f"k is {k}, expected 1 to the number of systems, {len(metric)}")
    return metric, human


# --- Many systems out of few: a hybrid takes the output for each segment from a system drawn at random

Draws = npt.NDArray[np.integer[Any]]


def hybrid_draws(judged: npt.NDArray[np.bool_], hybrids: int, *, seed: Seed = 0) -> Draws:
    """Which system every segment of every hybrid comes from: one whose output for the segment was judged.

    Hybrids of the same systems are not independent: they show how a metric chooses among such mixtures, not how it will
    choose among systems that do not exist yet.

    Args:
        judged: where a judgement is, shape (S, N).
        hybrids: H, 10,000 in the paper.

    Returns:
        Shape (H, N), systems from 0; -1 for a segment that nobody judged, which is left out.

    References:
        Graham and Liu (2016), "Achieving Accurate Conclusions in Evaluation of Automatic Machine Translation Metrics",
        section 3.
    """
    judged = np.asarray(judged, dtype=np.bool_)
    check_draws(hybrids)
    if judged.ndim != 2 or judged.size == 0:
        raise InputError(f"judged has shape {judged.shape}, expected (systems, items)")
    n_systems, n_items = judged.shape
    rng = generator(seed)
    kind: type[np.integer[Any]] = np.int16 if n_systems < 1 << 15 else np.int64
    if judged.all():
        return np.asarray(rng.integers(n_systems, size=(hybrids, n_items), dtype=kind))
    sizes = judged.sum(axis=0)
    if not sizes.any():
        raise InputError("no judgement at all: there is no system to draw a segment from")
    listed = np.argsort(~judged, axis=0, kind="stable")  # the judged systems of each segment first
    drawn = np.empty((hybrids, n_items), dtype=kind)
    for part in blocks(hybrids, n_items):
        places = np.floor(rng.random((part.stop - part.start, n_items)) * sizes).astype(np.int64)
        drawn[part] = listed[np.minimum(places, np.maximum(sizes - 1, 0)), np.arange(n_items)]
    drawn[:, sizes == 0] = -1
    return drawn


def hybrid_scores(human: Array, metrics: Array, draws: Draws) -> tuple[Array, Array, npt.NDArray[np.int64]]:
    """Scores of hybrids: means over their segments, the same segments and systems for people and every metric.

    Args:
        human, metrics: segment judgements, shape (S, N), NaN where missing; segment scores, shape (M, S, N).
        draws: the system of every segment, shape (H, N), as `hybrid_draws` gives it.

    Returns:
        Human scores, shape (H,), NaN where none of a hybrid's segments is judged; metric scores, shape (M, H), over all
        its segments; and over how many judgements each human score is, shape (H,).
    """
    n_systems, n_items = human.shape
    judged = ~np.isnan(human)
    # One more system, which stands for no output and adds nothing.
    columns = np.concatenate([np.where(judged, human, 0.0)[None], judged[None], np.ones((1, *human.shape)), metrics])
    padded = np.concatenate([columns, np.zeros((len(columns), 1, n_items))], axis=1).reshape(len(columns), -1)
    sums = np.empty((len(columns), len(draws)))
    for part in blocks(len(draws), n_items):
        systems = np.where(draws[part] < 0, n_systems, draws[part]).astype(np.int64)
        cells = systems * n_items + np.arange(n_items)
        for column, row in zip(padded, sums, strict=True):
            row[part] = column[cells].sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums[0] / sums[1], sums[3:] / sums[2], np.rint(sums[1]).astype(np.int64)
