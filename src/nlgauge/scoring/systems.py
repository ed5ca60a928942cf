"""Which of several systems is better by one metric? Segments paired by item, intervals, p-values and ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, by_value
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.options import Range, check_option
from nlgauge.core.result import NewRow
from nlgauge.core.scores import Scores
from nlgauge.core.spec import Signature
from nlgauge.stats.draws import bootstrap_interval, numbered, observed
from nlgauge.stats.ratings import RatedItems, rated_interval
from nlgauge.stats.significance import PairedTest, TestName, paired_bootstrap, paired_families, paired_randomisation
from nlgauge.stats.tests import Adjustment, adjusted, rank_clusters

# --- Which segments belong together: those of one system, and those of several systems that answer one item


Places = npt.NDArray[np.int64]


def by_system(ids: Sequence[str], systems: Sequence[str | None]) -> dict[str | None, Places]:
    """System -> positions of its segments, in order of first appearance; both arguments have length n."""
    if len(systems) != len(ids):
        raise InputError(f"{len(ids)} segments but {len(systems)} systems; give one system per segment")
    places: dict[str | None, list[int]] = {}
    for i, system in enumerate(systems):
        places.setdefault(system, []).append(i)
    return {name: np.array(where, dtype=np.int64) for name, where in places.items()}


def aligned(
    ids: Sequence[str], systems: Sequence[str | None], items: Sequence[str | None], baseline: str
) -> dict[str, Places]:
    """System -> positions of its segments, in the baseline's order of items.

    The baseline comes first, then the other systems in order of first appearance.

    Args:
        ids: the ids of the segments, for errors, length n.
        systems: the system of each segment, length n.
        items: the input that each segment answers, length n.
        baseline: the system whose items every other system must have.

    Raises:
        InputError: a segment has no system or item, a system lacks an item or has it twice, the baseline is unknown,
            or there is only one system.
    """
    if len(items) != len(ids):
        raise InputError(f"{len(ids)} segments but {len(items)} items; give one item per segment")
    if not len(ids):
        raise InputError("no systems: there are no segments; a comparison needs at least two systems with texts")
    grid: dict[str, dict[str, int]] = {}
    for name, where in by_system(ids, systems).items():
        for i in where.tolist():
            item = items[i]
            if name is None or item is None:
                what, field = ("system", "system") if name is None else ("item", "seg")
                raise InputError(
                    f"segment {ids[i]!r} names no {what}; systems are compared item by item, so say which column has"
                    f" it: --columns {field}=NAME (columns={{'{field}': NAME}})"
                )
            first = grid.setdefault(name, {}).setdefault(item, i)
            if first != i:
                twice = f"(segments {ids[first]!r} and {ids[i]!r})"
                raise InputError(
                    f"system {name!r} has item {item!r} twice {twice}, expected once; are several groups together?"
                )
    if baseline not in grid:
        raise InputError(f"baseline {baseline!r} is not among the systems{nearest(baseline, grid)}")
    if len(grid) < 2:
        raise InputError(f"{baseline!r} is the only system; a comparison needs at least two")
    wanted = grid[baseline]
    for name, own in grid.items():
        _check_items(name, own, baseline, wanted)
        _check_items(baseline, wanted, name, own)
    others = [name for name in grid if name != baseline]
    return {name: np.array([grid[name][item] for item in wanted], dtype=np.int64) for name in (baseline, *others)}


def _check_items(name: str, own: Mapping[str, int], other: str, wanted: Mapping[str, int]) -> None:
    lacking = [item for item in wanted if item not in own]
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise InputError(
            f"system {name!r} lacks item {lacking[0]!r}{more}, which {other!r} has; compare systems on the same"
            " items (nlgauge score has --common and --exclude)"
        )


# --- Tests of systems: their names, the words that notes use for them, and how many draws they take by default

INTERVAL_DRAWS = 1000
SACREBLEU_SEED = 12345  # what sacrebleu takes where SACREBLEU_SEED is not set


@dataclass(frozen=True)
class SystemTest:
    """A paired test of two systems.

    Attributes:
        name: its name in options and in the settings of a result file.
        run: the function of `nlgauge.stats.significance`; rows of result files have this name.
        words: its name in notes.
        draws: the number of draws where none is given; sacrebleu's default.
        fewest: the number of items below which it calls too much significant (docs/studies/intervals.md).
    """

    name: Literal["bootstrap", "randomization"]
    run: TestName
    words: str
    draws: int
    fewest: int = 0


_BOOTSTRAP = SystemTest("bootstrap", "paired_bootstrap", "paired bootstrap", 1000, fewest=50)
_RANDOMIZATION = SystemTest("randomization", "paired_randomisation", "paired approximate randomisation", 10000)
_NAMES = {
    "bootstrap": _BOOTSTRAP,
    "paired_bootstrap": _BOOTSTRAP,
    "randomization": _RANDOMIZATION,
    "randomisation": _RANDOMIZATION,
    "paired_randomisation": _RANDOMIZATION,
}


def system_test(name: str) -> SystemTest:
    """The test of a name."""
    if name not in _NAMES:
        raise InputError(f"test is {name!r}, expected bootstrap or randomization{nearest(name, _NAMES)}")
    return _NAMES[name]


# --- Which system is better? From the scores of many systems on the same items to a table with intervals and p-values

_RUNS: dict[TestName, Callable[..., PairedTest]] = {
    "paired_bootstrap": paired_bootstrap,
    "paired_randomisation": paired_randomisation,
}
# Items below which intervals are too narrow: docs/studies/intervals.md.
_FEW_FOR_INTERVALS, _FEW_IF_SKEWED = 100, 200
_HELD = {5: (82, 70), 20: (92, 86), 50: (94, 89)}  # items -> percent of intervals: recipes/studies/coverage/simulate.py
_FEW_RATERS = 5
_SACREBLEU_METRICS = ("bleu", "chrf", "ter")


def resampling_notes(n: int, test: str | None, seed: int, raters: Collection[int] = ()) -> Iterator[str]:
    """How intervals were computed, what p-values speak of, and what becomes of both where items or raters are few.

    Args:
        n: the smallest number of items that a system has.
        raters: of people's ratings, how many named people rated each system.
    """
    least, most = min(raters, default=0), max(raters, default=0)
    if most > 1:
        many = str(most) if least == most else f"{least} to {most}"
        yield (
            f"[low, high] of ratings: 95 % over items and raters ({many} for a system), by jackknife and Student's t"
            + ("; few raters who differ make it wide, and more items do not help" if least < _FEW_RATERS else "")
        )
    if raters and least == 0:
        where = " some systems" if most else ""
        yield f"nobody says who rated{where}: [low, high] of ratings is over items alone (--columns rater=NAME)"
    elif least == 1:
        yield "one rater for a system: [low, high] is over items alone, and says nothing of other raters"
    if raters and test is not None:
        yield "p of ratings: other items, the same raters; of two systems, the items that both have ratings for"
    if least > 1:
        return
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


def n_raters(scores: Scores) -> int:
    """How many people with a name gave the ratings."""
    return len({rater for own in scores.ratings for rater, _ in own} - {None})


def compare_scores(
    scores: Scores,
    systems: Sequence[str | None],
    items: Sequence[str | None],
    *,
    baseline: str,
    test: str = "randomization",
    draws: int | None = None,
    seed: int | None = None,
    compat: str | None = None,
) -> dict[str, dict[str, Any]]:
    """Compare every system with a baseline on the same items, from segment statistics; nothing is scored again.

    Both tests are two-sided, draws that tie with the data count as being as far out, and p is never 0. The level of the
    bootstrap holds from some 100 items on, that of randomisation for any number. Items count as independent. Segments
    without a score are left out, in the data and in every draw. Of people's ratings, two systems are compared on the
    items that both have ratings for, and intervals are over items and raters where raters are named.

    `compat="sacrebleu"` repeats the p-values of sacrebleu 2.6.0, to check published numbers. Its faults: identical
    outputs get 1 / (B + 1), since ties do not count; its bootstrap counts one tail where the difference is a few
    standard errors, and so rejects about twice too often; `SACREBLEU_SEED=0` counts as no seed there; "+-" stands
    around the mean of the draws, and differences have no interval.

    Args:
        scores: scores of all segments of all systems, in any order, length n.
        systems: the system of each segment, length n.
        items: the input that each segment answers, length n; segments that share an item are paired.
        baseline: the system that the others are compared with.
        test: `bootstrap`, or `randomization` (`randomisation`); see `nlgauge.stats.significance`.
        draws: None is 1000 for the bootstrap and 10000 for randomisation.
        seed: None is 0, and 12345 under `compat="sacrebleu"`, as in that package.
        compat: `sacrebleu` repeats its p-values and intervals for BLEU, chrF and TER.

    Returns:
        System -> columns of its row: ends of its interval, baseline, difference in the metric's own direction with ends
        (NaN where there are none), and p, not corrected for the number of systems; the last four None for the baseline,
        which comes first.

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
    if scores.ratings:
        families = [[*range(len(rows))]]
        (tested,) = _rated_families(scores, list(rows.values()), chosen.run, families, draws=draws, seed=seed)
    else:
        tested = _RUNS[chosen.run](stats, scores.finish, draws=draws, seed=seed, compat=compat)
    differences = np.stack([tested.deltas, tested.delta_low, tested.delta_high, tested.p], axis=1).tolist()
    beside = [[None] * 4, *differences]  # none of the baseline itself
    return {
        system: {"low": float(low), "high": float(high), "baseline": baseline}
        | dict(zip(("delta", "delta_low", "delta_high", "p"), difference, strict=True))
        for system, low, high, difference in zip(rows, tested.low, tested.high, beside, strict=True)
    }


def intervals(
    scores: Scores, systems: Sequence[str | None] | None = None, *, draws: int | None = None, seed: int | None = None
) -> dict[str | None, dict[str, float]]:
    """System -> `low` and `high`, the ends of its 95 % bootstrap interval; systems need not share items.

    Args:
        scores: scores of all segments, in any order, length n.
        systems: the system of each segment, length n; None (also for a single segment) is a system of its own.
        draws: None is 1000.
        seed: None is 0.

    Returns:
        In order of first appearance; NaN for a system of one segment. No interval depends on other systems. Of people's
        ratings it is over items and raters, where a system has two of them or more with names.
    """
    places = by_system(scores.ids, [None] * len(scores) if systems is None else systems)
    found = {name: {"low": math.nan, "high": math.nan} for name in places}
    for name, one in zip(places, _rated(scores, [*places.values()]), strict=False):
        ends = rated_interval(one)
        found[name] = {"low": ends.low, "high": ends.high}
    left = {name: where for name, where in places.items() if math.isnan(found[name]["low"])}
    for n in {len(where) for where in left.values()} - {1}:
        names = [name for name, where in left.items() if len(where) == n]
        # (S, n, k); all segments of one system are in their order already, and may be too many for a copy
        stats = scores.segment_stats
        stats = stats[None] if n == len(scores) else stats[np.stack([places[name] for name in names])]
        made = bootstrap_interval(stats, scores.finish, draws=draws or INTERVAL_DRAWS, seed=seed or 0)
        for name, low, high in zip(names, made.low.tolist(), made.high.tolist(), strict=True):
            found[name] = {"low": low, "high": high}
    return found


def _rated(scores: Scores, places: Sequence[Places]) -> list[RatedItems]:
    """The ratings of each system, whose items are its positions; none where nobody says who rated."""
    names = dict.fromkeys(rater for own in scores.ratings for rater, _ in own)
    numbers = {rater: i for i, rater in enumerate(names)}  # ratings without a name are of one rater
    found = []
    for where in places if numbers.keys() - {None} else ():
        given = [(item, numbers[who], one) for item, i in enumerate(where) for who, one in scores.ratings[i]]
        items, raters, ratings = np.array(given).reshape(-1, 3).T
        found.append(RatedItems(items.astype(np.int64), raters.astype(np.int64), ratings))
    return found


def _rated_families(
    scores: Scores,
    places: Sequence[Places],
    run: TestName,
    families: Sequence[Sequence[int]],
    *,
    draws: int,
    seed: int,
) -> list[PairedTest]:
    """The tests of `paired_families` of people's ratings: each pair on the items that both have ratings for.

    Raises:
        InputError: no pair has two such items.
    """
    stats = scores.segment_stats[np.stack(places)]  # (S, n, k)
    has, values = ~np.isnan(scores.values[np.stack(places)]), observed(stats, scores.finish)  # (S, n) and (S,)
    names = [str(i) for i, one in enumerate(places) for _ in one]
    ends = intervals(scores.take(np.concatenate(places)), names, seed=seed)
    low, high = (np.array([own[end] for own in ends.values()]) for end in ("low", "high"))
    rated, found = _rated(scores, places), []
    for base, *others in families:
        deltas, p, delta_low, delta_high = np.full((4, len(others)), np.nan)
        n_undefined = np.full(len(others), draws)
        both = has[base] & has[others]  # (others, n)
        alike = numbered(map(bytes, both))
        for mine in (np.flatnonzero(alike == number) for number in set(alike.tolist())):  # of the same items, at once
            if both[mine[0]].sum() < 2:
                continue
            own = stats[[base, *(others[i] for i in mine)]][:, both[mine[0]]]
            (one,) = paired_families(run, own, scores.finish, [[*range(len(own))]], draws=draws, seed=seed)
            deltas[mine], p[mine], n_undefined[mine] = one.deltas, one.p, one.n_undefined_draws
            delta_low[mine], delta_high[mine] = one.delta_low, one.delta_high
        for place, other in enumerate(others if rated else ()):
            interval = rated_interval(rated[other].over(both[place]), rated[base].over(both[place]))
            if not math.isnan(interval.low):  # else it stays that over items alone
                delta_low[place], delta_high[place] = interval.low, interval.high
        rows = [base, *others]
        of_systems = values[rows], deltas, p, low[rows], high[rows], delta_low, delta_high
        found.append(PairedTest(run, None, *of_systems, 0.95, draws, n_undefined))
    if all(np.isnan(one.p).all() for one in found):
        raise InputError(
            f"{scores.signature.spec}: no two systems have ratings of the same two items or more, and tests compare"
            " systems item by item; rate the same items, or leave the test out"
        )
    return found


def check_compat(signature: Signature, compat: str | None, *, has_stats: bool = True) -> None:
    """Refuse scores whose p-values the package in `compat` does not compute.

    Args:
        has_stats: whether the corpus number is made of sums over segments.

    Raises:
        InputError: the scores are of another metric, which the error names.
    """
    name = dict(signature.entries).get("metric", signature.spec)
    if compat == "sacrebleu" and (name not in _SACREBLEU_METRICS or not has_stats):
        raise InputError(f"compat='sacrebleu' knows corpus BLEU, chrF and TER, got {signature.spec}; leave compat out")


# --- Which of several systems is better? Every system against every other or against a baseline

ADJUSTED = {
    "none": "not adjusted for their number",
    "holm": "adjusted after Holm",
    "bh": "adjusted after Benjamini and Hochberg",
}
_FINE = 10  # default draws let the smallest adjusted p be a tenth of alpha


@by_value
@dataclass(frozen=True)
class Pairwise:
    """S systems compared by one metric, the best first.

    Attributes:
        values: corpus-level scores, shape (S,).
        low, high: ends of their bootstrap intervals, shape (S,).
        n: the number of items, the same for every system.
        n_undefined: segments of each system whose score is undefined.
        deltas: row minus column in the metric's own direction, shape (S, S); NaN where the two were not compared.
        delta_low, delta_high: ends of the bootstrap intervals of `deltas`, shape (S, S).
        p: two-sided p-values, shape (S, S); NaN where the two were not compared.
        p_adjusted: the same, adjusted for the number of pairs.
        ranks: from 1; a new rank begins where every system above is significantly better than every system below.
            None without a test of every pair, or for an undefined score.
        baseline: the only system that the others were compared with; None for every pair.
        test, draws, seed, adjust, alpha: how they were compared.
        raters: of people's ratings, how many named people rated each system; else empty.
    """

    systems: tuple[str, ...]
    values: Array
    low: Array
    high: Array
    n: int
    n_undefined: tuple[int, ...]
    deltas: Array
    delta_low: Array
    delta_high: Array
    p: Array
    p_adjusted: Array
    ranks: tuple[int | None, ...]
    baseline: str | None
    test: str
    draws: int
    seed: int
    adjust: str
    alpha: float
    raters: tuple[int, ...] = ()

    def rows(self, spec: str, judges: bool = True) -> Iterator[NewRow]:
        """The rows of a result file: one per system, then one per pair, which names the other system in `against`.

        A metric that judges nothing ranks none.
        """
        for i, system in enumerate(self.systems):
            row: NewRow = {**self._number(spec, i), "n": self.n, "n_undefined": self.n_undefined[i]}
            if self.baseline is None:
                yield {**row, "rank": self.ranks[i] if judges else None}
            else:
                base = self.systems.index(self.baseline)
                yield {
                    **row,
                    "baseline": self.baseline,
                    **(self._difference(i, base) if system != self.baseline else {}),
                }
        if self.baseline is None:
            for i, j in combinations(range(len(self.systems)), 2):
                how = {"test": self.test, "draws": self.draws, "seed": self.seed}
                yield {**self._number(spec, i), "against": self.systems[j], **self._difference(i, j), **how}

    def notes(self) -> Iterator[str]:
        """How intervals, p-values and ranks were computed."""
        yield from resampling_notes(self.n, self.test, self.seed, self.raters)
        pairs = len(self.systems) - 1 if self.baseline is not None else math.comb(len(self.systems), 2)
        against = "of every pair" if self.baseline is None else "against the baseline"
        yield (
            f"p: {system_test(self.test).words} {against}, two-sided, {self.draws} draws, seed {self.seed};"
            f" {pairs} {'pair' if pairs == 1 else 'pairs'}, {ADJUSTED[self.adjust]}"
        )
        if self.adjust == "holm" and pairs / (self.draws + 1) >= self.alpha:
            yield f"with {self.draws} draws no p of {pairs} pairs can fall below {self.alpha:g}; take more draws"
        if self.baseline is None:
            yield (
                "rank: a rank begins where every system above is significantly better than every system below"
                f" (p < {self.alpha:g})"
            )

    def _number(self, spec: str, i: int) -> NewRow:
        ends = {"low": float(self.low[i]), "high": float(self.high[i])}
        return {"system": self.systems[i], "metric": spec, "value": float(self.values[i]), **ends}

    def _difference(self, i: int, j: int) -> NewRow:
        ends = {"delta_low": float(self.delta_low[i, j]), "delta_high": float(self.delta_high[i, j])}
        adjusted_p = None if self.adjust == "none" else float(self.p_adjusted[i, j])
        return {"delta": float(self.deltas[i, j]), **ends, "p": float(self.p[i, j]), "p_adjusted": adjusted_p}


def compare_pairs(
    scores: Scores,
    systems: Sequence[str | None],
    items: Sequence[str | None],
    *,
    baseline: str | None = None,
    test: str = "randomization",
    draws: int | None = None,
    seed: int = 0,
    adjust: str = "holm",
    alpha: float = 0.05,
) -> Pairwise:
    """Compare systems by one metric, from segment statistics; nothing is scored again.

    The p-value of two systems is the one that `compare_scores` gives with either of them as the baseline.

    Args:
        baseline, test, draws, seed, adjust, alpha: as in `nlgauge.compare`.

    Raises:
        InputError: as `nlgauge.compare`.
    """
    check_adjusted(adjust, alpha)
    if not systems and len(scores):
        raise InputError(f"{scores.signature.spec}: the scores do not say which system wrote which segment")
    chosen = system_test(test)
    first = next((s for s in systems if s is not None), "")
    places = aligned(scores.ids, systems, items, first if baseline is None else baseline)
    sign = 1 if scores.higher_is_better else -1
    value = {name: scores.take(rows).system for name, rows in places.items()}
    names = sorted(places, key=lambda name: math.inf if math.isnan(value[name]) else -sign * value[name])
    families = _families(len(names), None if baseline is None else names.index(baseline))
    if draws is None:
        n_pairs = sum(len(others) for _, others in families)
        draws = max(chosen.draws, 0 if adjust == "none" else math.ceil(_FINE * n_pairs / alpha))
    members, how = [[i, *rest] for i, rest in families], {"draws": draws, "seed": seed}
    if scores.ratings:
        found = _rated_families(scores, [places[name] for name in names], chosen.run, members, **how)
    else:
        stats = scores.segment_stats[np.stack([places[name] for name in names])]  # (S, n, k)
        found = paired_families(chosen.run, stats, scores.finish, members, **how)
    tests = _tests(found, families)
    values, undefined = np.array([value[name] for name in names]), np.isnan(scores.values)
    fair = _adjusted(tests["p"], families, adjust)
    beats = np.where((sign * tests["deltas"] > 0) & ~np.isnan(fair), fair, 1.0)
    ranks = rank_clusters(sign * values, beats, alpha=alpha) if baseline is None else None
    return Pairwise(
        systems=tuple(names),
        values=values,
        n=len(places[names[0]]),
        n_undefined=tuple(int(undefined[places[name]].sum()) for name in names),
        **tests,
        p_adjusted=fair,
        ranks=(None,) * len(names) if ranks is None else tuple(int(rank) or None for rank in ranks),
        baseline=baseline,
        test=found[0].test,
        draws=draws,
        seed=seed,
        adjust=adjust,
        alpha=alpha,
        raters=tuple(n_raters(scores.take(places[name])) for name in names if scores.ratings),
    )


def check_adjusted(adjust: str, alpha: float) -> None:
    """Refuse a way of adjusting p-values that is unknown, and an alpha that is no share."""
    check_option("adjust", adjust, Adjustment, error=InputError)
    check_option("alpha", alpha, Annotated[float, Range(above=0, below=1, meaning="a share")], error=InputError)


def _families(n: int, base: int | None) -> list[tuple[int, list[int]]]:
    """A system, and the systems that it is compared with: those below it, or all if it is the baseline."""
    if base is not None:
        return [(base, [i for i in range(n) if i != base])]
    return [(i, list(range(i + 1, n))) for i in range(n - 1)]


def _tests(found: Sequence[PairedTest], families: Sequence[tuple[int, list[int]]]) -> dict[str, Array]:
    """The tests of all families as matrices, row minus column, and the intervals of the systems from the first."""
    first, others = families[0]
    n = 1 + len(others)
    low, high = np.empty((2, n))
    low[[first, *others]], high[[first, *others]] = found[0].low, found[0].high
    p, deltas, delta_low, delta_high = np.full((4, n, n), np.nan)
    for tested, (i, rows) in zip(found, families, strict=True):
        p[i, rows] = p[rows, i] = tested.p
        deltas[rows, i], deltas[i, rows] = tested.deltas, -tested.deltas
        delta_low[rows, i], delta_high[rows, i] = tested.delta_low, tested.delta_high
        delta_low[i, rows], delta_high[i, rows] = -tested.delta_high, -tested.delta_low
    return {"low": low, "high": high, "p": p, "deltas": deltas, "delta_low": delta_low, "delta_high": delta_high}


def _adjusted(p: Array, families: Sequence[tuple[int, list[int]]], adjust: str) -> Array:
    """The p-values adjusted as one family, in which each pair stands once."""
    left = [i for i, rows in families for _ in rows]
    right = [j for _, rows in families for j in rows]
    fair = np.full_like(p, np.nan)
    fair[left, right] = fair[right, left] = adjusted(p[left, right], adjust)
    return fair
