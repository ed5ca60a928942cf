"""If a metric chose the best of k systems, how good would it be? Hits@1, MRR and Diff, exactly and by simulation.

Of n systems k are drawn without replacement, and the metric takes t, the one it scores best. For one system s, let a
be the number of systems that the metric puts below s, and b the number of those that people put above s. The draws in
which s is taken number C(a, k-1). Those among them without a system that people prefer number C(a-b, k-1). The sum of
1 / rank of s over them is (C(a+1, k) - C(a-b, k)) / (b + 1), so no draw has to be made. Systems that tie are equally
likely to be taken among those drawn; the sums then run over where in the tie s may fall.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Counts, by_value
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
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
    """Expected Hits@1, MRR and Diff over all draws of k systems without replacement.

    Args:
        metric: scores of n systems or hybrids, shape (n,), higher is better.
        human: their human scores, shape (n,).
        k: systems drawn, 1 to n.
        seed: of the orders of ties wider than 200 systems; not used otherwise.

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


def hybrid_draws(
    judged: npt.NDArray[np.bool_], hybrids: int, *, among: Literal["rated", "all"] = "rated", seed: Seed = 0
) -> Draws:
    """Which system every segment of every hybrid comes from.

    Hybrids of the same systems are not independent: they show how a metric chooses among such mixtures, not how it will
    choose among systems that do not exist yet. Say with the numbers how they were drawn.

    Args:
        judged: where a judgement is, shape (S, N).
        hybrids: H, 10,000 in the paper.
        among: `rated`: systems whose output for the segment was judged, so that no segment of a hybrid lacks a
            judgement; `all`: any system, and the human score of a hybrid is over those segments that happen to be
            judged.
        seed: a whole number or a generator, which is advanced.

    Returns:
        Shape (H, N), systems from 0; -1 for a segment that nobody judged, which is left out under `rated`.

    References:
        Graham and Liu (2016), "Achieving Accurate Conclusions in Evaluation of Automatic Machine Translation Metrics",
        section 3.
    """
    judged = np.asarray(judged, dtype=np.bool_)
    check_draws(hybrids)
    if judged.ndim != 2 or judged.size == 0:
        raise InputError(f"judged has shape {judged.shape}, expected (systems, items)")
    if among not in ("rated", "all"):
        raise InputError(f"among is {among!r}, expected 'rated' or 'all'")
    n_systems, n_items = judged.shape
    rng = generator(seed)
    kind: type[np.integer[Any]] = np.int16 if n_systems < 1 << 15 else np.int64
    if among == "all" or judged.all():
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
        human: segment judgements, shape (S, N); NaN where missing.
        metrics: segment scores, shape (M, S, N).
        draws: system of every segment, shape (H, N), as `hybrid_draws` or a shared task gives them; a segment of -1 is
            left out.

    Returns:
        Human scores, shape (H,), NaN where none of a hybrid's segments is judged; metric scores, shape (M, H), over all
        its segments; and over how many judgements each human score is, shape (H,).

    Raises:
        InputError: shapes that do not fit, a system that does not exist, a missing metric score.

    References:
        Zhang et al. (2020), "BERTScore", section 4 and appendix E.2.
    """
    human, metrics = np.asarray(human, dtype=np.float64), np.asarray(metrics, dtype=np.float64)
    draws = np.asarray(draws)
    if human.ndim != 2 or metrics.ndim != 3 or metrics.shape[1:] != human.shape:
        raise InputError(
            f"judgements have shape {human.shape} and scores {metrics.shape}, expected (systems, items) and (metrics,"
            " systems, items)"
        )
    if draws.ndim != 2 or draws.shape[1] != human.shape[1] or draws.dtype.kind not in "iu":
        raise InputError(
            f"draws have shape {draws.shape} and type {draws.dtype}, expected whole numbers, (hybrids, {human.shape[1]}"
            " items)"
        )
    if draws.size and (draws.min() < -1 or draws.max() >= len(human)):
        raise InputError(
            f"draws name systems {draws.min()} to {draws.max()}, expected 0 to {len(human) - 1}, or -1 for a segment"
            " left out"
        )
    if not np.isfinite(metrics).all():
        metric, system, item = (int(i) for i in np.argwhere(~np.isfinite(metrics))[0])
        raise InputError(
            f"metric {metric} has no finite score for system {system}, item {item}; every output may be drawn"
        )
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


# --- How often do people order two systems as a metric does? A curve over the difference, fitted on pairs of systems

Form = Literal["logistic", "logistic_n", "isotonic"]
FORMS: tuple[Form, ...] = get_args(Form)
Places = npt.NDArray[np.int64]

_UNIT = 500  # segments at which the power of `logistic_n` is 1
_KNOTS = 20  # of the isotonic curve, at quantiles of the differences
_STEEPEST = 1e3  # slope times the median difference; beyond it all shares are 1


@by_value
@dataclass(frozen=True)
class SystemPairs:
    """P pairs of systems, compared with people. A pair may stand there several times, on other items.

    Attributes:
        difference: by how much the metric prefers one of the two, 0 or more, shape (P,).
        agreed: 1 where people prefer the same one, 0 the other, 0.5 neither, shape (P,).
        n: the number of segments behind the difference, shape (P,).
        first, second: numbers of the two systems, shape (P,); systems of different sets have different numbers.
        group: number of the set, shape (P,).
        weight: what a row counts, shape (P,); the rows of one pair sum to 1.
    """

    difference: Array
    agreed: Array
    n: Array
    first: Places
    second: Places
    group: Places
    weight: Array

    def __len__(self) -> int:
        return len(self.difference)

    @property
    def n_pairs(self) -> int:
        """The number of distinct pairs."""
        return len(np.unique(np.stack([self.first, self.second]), axis=1).T)

    def weighted(self, weight: Array) -> SystemPairs:
        """The same pairs with other weights; those of weight 0 are left out."""
        keep = weight > 0
        names = ("difference", "agreed", "n", "first", "second", "group")
        return replace(self, weight=weight[keep], **{name: getattr(self, name)[keep] for name in names})


@by_value
@dataclass(frozen=True)
class AgreementCurve:
    """The share of pairs of systems that people order as the metric does.

    The share is 0.5 for no difference, never falls as the difference grows, and the shares of a difference and of its
    negative sum to 1.

    Attributes:
        form: `logistic`, 1 / (1 + exp(-slope difference)); `logistic_n`, whose slope is multiplied by
            (n / 500) ** power, power from 0 to 1; or `isotonic`, straight lines between values at knots.
        parameters: slope and power, or the values at the knots; shape (k,), or (B, k) for B curves at once.
        knots: differences, rising from 0; empty but for `isotonic`.
    """

    form: Form
    parameters: Array
    knots: Array

    def share(self, difference: float | Array, n: float | Array = _UNIT) -> Array:
        """The share for differences of systems over n segments; shape of the arguments, after (B,) for B curves."""
        size, sign = np.abs(difference), np.sign(difference)
        rows = np.atleast_2d(self.parameters)
        upper = np.stack([self._upper(row, size, np.asarray(n, dtype=np.float64)) for row in rows])
        share = 0.5 + sign * (upper - 0.5)
        return np.asarray(share if np.ndim(self.parameters) > 1 else share[0])

    def difference_for(self, share: float, n: float = _UNIT) -> float:
        """The least difference at which the share is reached; infinite if it never is."""
        if self.form == "isotonic":
            above = np.flatnonzero(self.parameters >= share)
            if not len(above):
                return np.inf
            if above[0] == 0:
                return 0.0
            ends = slice(above[0] - 1, above[0] + 1)
            return float(np.interp(share, self.parameters[ends], self.knots[ends]))
        slope = _slope(self.parameters, np.float64(n))
        return float(np.log(share / (1 - share)) / slope) if slope > 0 else np.inf

    def _upper(self, row: Array, size: Array, n: Array) -> Array:
        if self.form == "isotonic":
            return np.asarray(np.interp(size, self.knots, row))
        return _logistic(_slope(row, n) * size)


def fit_curve(pairs: SystemPairs, form: Form = "logistic", *, whole: SystemPairs | None = None) -> AgreementCurve:
    """Fit the curve to pairs of systems.

    One tied pair with the median difference is added, so that a metric with which people always agreed gets no share
    of 1, and no pair at all a share of 0.5.

    Args:
        pairs: the pairs; there may be none if `whole` is given.
        form: one of `FORMS`.
        whole: the pairs of which `pairs` are a part. Median and knots are theirs.

    Raises:
        InputError: the form is unknown.
    """
    check_option("form", form, Form, error=InputError)
    typical = _median(whole or pairs)
    tied = (np.array([value]) for value in (typical, 0.5, float(_UNIT), 1.0))
    columns = (pairs.difference, pairs.agreed, pairs.n, pairs.weight)
    d, y, n, w = (np.append(column, one) for column, one in zip(columns, tied, strict=True))
    if form == "isotonic":
        knots = _knots((whole or pairs).difference)
        return AgreementCurve(form, _isotonic(d, y, w, knots), knots)
    scale = np.array([typical] if form == "logistic" else [typical, 1.0])
    return AgreementCurve(form, _FITS[form](d / typical, y, n, w) / scale, np.empty(0))


def resampled_curves(pairs: SystemPairs, form: Form, *, draws: int = 200, seed: Seed = 0) -> AgreementCurve:
    """The curves of B resamples of the systems, shape of parameters (B, k).

    Pairs share systems and systems share items, so whole sets are drawn with replacement first (where there is more
    than one) and then the systems of each. A pair counts as often as both of its systems were drawn.

    References:
        Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 8 (structured data).
    """
    check_draws(draws)
    rng = generator(seed)
    own = [pairs.group == g for g in np.unique(pairs.group)]
    sets = [np.unique(np.append(pairs.first[rows], pairs.second[rows])) for rows in own]
    n_systems = 1 + max(int(systems.max()) for systems in sets)
    found = []
    for _ in range(draws):
        times = np.zeros(n_systems)
        by_set = np.zeros(n_systems)
        for k in rng.integers(len(sets), size=len(sets)) if len(sets) > 1 else [0]:
            by_set[sets[k]] += 1
        for systems in sets:
            np.add.at(times, rng.choice(systems, len(systems)), 1)
        weight = pairs.weight * times[pairs.first] * times[pairs.second] * by_set[pairs.first]
        found.append(fit_curve(pairs.weighted(weight), form, whole=pairs))
    return replace(found[0], parameters=np.stack([curve.parameters for curve in found]))


def _slope(parameters: Array, n: Array | np.float64) -> Array:
    power = parameters[1] if len(parameters) > 1 else 0.0
    return np.asarray(parameters[0] * (n / _UNIT) ** power)


def _logistic(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.minimum(x, 700.0))))


def _median(pairs: SystemPairs) -> float:
    """The median difference; a small number where all differences are 0."""
    middle = float(np.median(pairs.difference)) if len(pairs) else 1.0
    return middle or float(pairs.difference.max()) or 1.0


def _fit_logistic(d: Array, y: Array, n: Array, w: Array) -> Array:
    """The slope by Newton's method; the likelihood is concave, and 0 is the least slope."""
    slope = 0.0
    for _ in range(100):
        p = _logistic(slope * d)
        rise, bend = float(w @ (d * (y - p))), float(w @ (d * d * p * (1 - p)))
        step = rise / bend if bend else 0.0
        after = min(max(slope + step, 0.0), 2 * slope + 1, _STEEPEST)  # a step too far would leave the slope flat
        if abs(after - slope) <= 1e-10 * (1 + slope):
            break
        slope = after
    return np.array([after])


def _fit_logistic_n(d: Array, y: Array, n: Array, w: Array) -> Array:
    """Slope and power by maximum likelihood, the power from 0 to 1: more segments never say less."""
    from scipy.optimize import minimize

    start = float(_fit_logistic(d, y, n, w)[0])
    if start == 0:
        return np.array([0.0, 0.0])
    logs = np.log(n / _UNIT)

    def loss(at: Array) -> tuple[float, Array]:
        scaled = d * np.exp(at[1] * logs)
        p = _logistic(at[0] * scaled)
        log_odds = at[0] * scaled
        rest = w * (p - y)
        value = float(w @ (np.logaddexp(0, log_odds) - y * log_odds))
        return value, np.array([rest @ scaled, rest @ (log_odds * logs)])

    bounds = [(0.0, _STEEPEST), (0.0, 1.0)]
    return np.asarray(minimize(loss, [start, 0.0], jac=True, method="L-BFGS-B", bounds=bounds).x)


_FITS: Mapping[str, Callable[[Array, Array, Array, Array], Array]] = {
    "logistic": _fit_logistic,
    "logistic_n": _fit_logistic_n,
}


def _knots(differences: Array) -> Array:
    """0, and quantiles of the differences."""
    return np.unique(np.append(0.0, np.quantile(differences, np.linspace(0, 1, _KNOTS + 1)[1:])))


def _isotonic(d: Array, y: Array, w: Array, knots: Array) -> Array:
    """The values at the knots: shares in the intervals between them, pooled until none falls, then at least 0.5."""
    middles, shares, weights = [], [], []
    for k, rows in enumerate(np.split(np.argsort(d), np.searchsorted(np.sort(d), knots[1:-1], side="right"))):
        if not len(rows) or not w[rows].sum():
            continue
        middles.append((knots[k] + knots[k + 1]) / 2 if k + 1 < len(knots) else knots[k])
        shares.append(float(np.average(y[rows], weights=w[rows])))
        weights.append(float(w[rows].sum()))
        while len(shares) > 1 and shares[-2] >= shares[-1]:  # pool adjacent violators
            total = weights[-2] + weights[-1]
            shares[-2:] = [(shares[-2] * weights[-2] + shares[-1] * weights[-1]) / total]
            middles[-2:] = [(middles[-2] * weights[-2] + middles[-1] * weights[-1]) / total]
            weights[-2:] = [total]
    highest = 1 - 0.5 / (w.sum() + 1)  # nothing is certain after so many pairs
    values = np.clip(shares, 0.5, highest)
    return np.asarray(np.interp(knots, [0.0, *middles], [0.5, *values]))


# --- Does a curve of agreement hold for systems it was not fitted on? Log loss, calibration, and what chance gives

LeftOut = Literal["systems", "sets"]
_VERDICTS = 100  # that people might have given, for what chance does
_SURE = 1e-6  # a share nearer to 0 or 1 would give one wrong pair an infinite loss


@dataclass(frozen=True)
class HeldOutPairs:
    """The verdicts of curves on pairs with a system that they were not fitted on.

    Attributes:
        predicted: the shares, shape (T,).
        agreed, weight: as in `SystemPairs`, shape (T,).
        pair: number of the pair, shape (T,).
    """

    predicted: Array
    agreed: Array
    weight: Array
    pair: npt.NDArray[np.int64]

    @property
    def log_loss(self) -> float:
        """Minus the mean logarithm of the share that was given to what people said; 0.693 is a coin's."""
        p = np.clip(self.predicted, _SURE, 1 - _SURE)
        loss = -self.agreed * np.log(p) - (1 - self.agreed) * np.log(1 - p)
        return float(np.average(loss, weights=self.weight))

    def bins(self, count: int = 10) -> list[tuple[float, float, float]]:
        """The pairs in `count` bins of equal weight, from the smallest share to the largest.

        Of each: the mean of the predicted shares, the share in which people agreed, and the pairs.
        """
        order = np.argsort(self.predicted, kind="stable")
        p, y, w = self.predicted[order], self.agreed[order], self.weight[order]
        # A bin ends where the share changes: equal shares stay together.
        ends = np.cumsum(w) / w.sum()
        last = np.searchsorted(p, p, side="right") - 1
        number = np.minimum((ends[last] * count - 1e-9).astype(int), count - 1)
        found = []
        for k in np.unique(number):
            own = number == k
            predicted, agreed = (float(np.average(values[own], weights=w[own])) for values in (p, y))
            found.append((predicted, agreed, float(w[own].sum())))
        return found

    def calibration_error(self, count: int = 10) -> float:
        """Expected calibration error: the mean distance of predicted and observed share over the bins.

        References:
            Naeini, Cooper and Hauskrecht (2015), "Obtaining Well Calibrated Probabilities Using Bayesian Binning".
        """
        found = self.bins(count)
        total = sum(pairs for *_, pairs in found)
        return sum(pairs * abs(predicted - agreed) for predicted, agreed, pairs in found) / total

    def error_by_chance(self, *, seed: Seed = 0) -> float:
        """The calibration error that the true curve would show on average, because there are so few pairs.

        People's verdicts are drawn from the predicted shares; a pair has one verdict on all of its items.
        """
        rng = generator(seed)
        errors = []
        for _ in range(_VERDICTS):
            verdict = rng.random(int(self.pair.max()) + 1)[self.pair]
            drawn = HeldOutPairs(self.predicted, (verdict < self.predicted).astype(float), self.weight, self.pair)
            errors.append(drawn.calibration_error())
        return float(np.mean(errors))


def held_out(pairs: SystemPairs, form: Form, left_out: LeftOut = "systems") -> HeldOutPairs:
    """Predict each pair by curves that saw none of its systems' pairs, one left-out system (or set) at a time.

    Args:
        pairs: the pairs of all systems.
        form: the form of the curve.
        left_out: `systems` leaves out each system in turn, so that a pair is predicted twice; `sets` each set.

    Raises:
        InputError: sets are left out, and there is only one.
    """
    _, number = np.unique(np.stack([pairs.first, pairs.second]), axis=1, return_inverse=True)
    if left_out == "sets":
        sets = np.unique(pairs.group)
        if len(sets) < 2:
            raise InputError("there is one set of systems; leaving out sets needs at least two")
        tests = [pairs.group == one for one in sets]
    else:
        tests = [(pairs.first == s) | (pairs.second == s) for s in np.unique(np.append(pairs.first, pairs.second))]
    predicted, rows = [], []
    for test in tests:
        curve = fit_curve(pairs.weighted(np.where(test, 0.0, pairs.weight)), form, whole=pairs)
        predicted.append(curve.share(pairs.difference[test], pairs.n[test]))
        rows.append(np.flatnonzero(test))
    where = np.concatenate(rows)
    weight = pairs.weight[where] / (2 if left_out == "systems" else 1)
    return HeldOutPairs(np.concatenate(predicted), pairs.agreed[where], weight, np.ravel(number)[where])


def best_form(pairs: SystemPairs, forms: Sequence[Form] = FORMS) -> tuple[Form, HeldOutPairs]:
    """The form with the least log loss on systems left out, and what it said of them; of equal ones the first."""
    tried = {form: held_out(pairs, form) for form in forms}
    best = min(tried, key=lambda form: tried[form].log_loss)
    return best, tried[best]
