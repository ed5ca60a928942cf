"""What does the gate say of runs of one system, between which nothing changed? The A/A test, noise, and pass^k."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice, permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, own_notes
from nlgauge.core.result import NewRow, Result
from nlgauge.gating.outputs import Outputs, ScoredSide, clusters_of, described, paired, run_means, score_sides
from nlgauge.gating.verdicts import Rules, decide, judge, whole
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.draws import dependent_trials, numbered, wilson
from nlgauge.stats.gates import FAIL, INCONCLUSIVE, PASS

WHOLE = "gate"  # in the place of a metric: the verdict of all that decide
SIMULATED = 1000  # pairs: the standard error of a share is .016 at most
_SCORES_AT_ONCE, _LEAST_AT_ONCE = 200_000, 50  # scores, and pairs, of which memory has room
_SELDOM = 0.05  # of A/A pairs: fewer may FAIL, and no more may not PASS
_ROUNDING = 1e-9  # of the largest score: runs that differ by less are alike
_ABOVE = 1 + 1e-6  # where a bound just passes, the last digit of a p-value would decide
_MOST_K = 10  # values of k that are reported
Picked = tuple[list[int], list[int]]  # the run of each item in BASE and in NEW


def aa_test(
    runs: Sequence[Outputs], metrics: Mapping[str, BaseMetric], rules: Rules, runtime: Runtime, common: bool = False
) -> Result:
    """Judge runs of one system against each other by the rules of a gate; whatever it says, nothing changed.

    Every ordered pair of runs is judged (a thousand of them where there are more). They are few and share runs, so a
    thousand pairs are simulated beside them: each item, or whole group of items, has the scores of two of its runs,
    drawn without replacement. Where the noise of one item says nothing of that of another, such a pair is distributed
    as a new pair of runs is, and the shares are right on average over sets of runs. What moves a run as a whole is not
    in them; Cochran's Q tells whether the means of the runs are farther apart than their items explain.

    Args:
        runs: two or more, of the same items.
        metrics, rules, runtime, common: as for `nlgauge.gating.gate.judged`.

    Returns:
        Kind `gate`, without a verdict: a row for each metric that judges and one for all that decide; pass^k of scores
        of 0 and 1 in `statistics`, for k up to the fewest runs of an item.

    Raises:
        InputError: there are fewer than two runs, two are the same file, their items differ, or no metric decides.

    References:
        Cochran (1950), "The Comparison of Percentages in Matched Samples", for Q, which is taken of any scores here;
        Yao et al. (2024), "tau-bench: A Benchmark for Tool-Agent-User Interaction", section 3, for pass^k.
    """
    judging = {spec: one for spec, one in metrics.items() if one.info.judges}
    deciding = [spec for spec in judging if spec not in rules.report_only]
    if not deciding:
        raise InputError("no metric here judges outputs, expected one that decides; name another with -m")
    sides = score_sides(_alike(runs, common), judging, runtime)
    clusters = clusters_of(sides[0].outputs.groups) if rules.items == "sample" else None
    units = np.arange(len(sides[0].outputs.items)) if clusters is None else numbered(clusters)  # (n,)
    rng, n, n_runs = np.random.default_rng(rules.seed), len(units), len(sides)
    pairs = [*permutations(range(n_runs), 2)]
    pairs = pairs if len(pairs) <= SIMULATED else rng.choice(pairs, SIMULATED, replace=False).tolist()
    with runtime.progress(len(pairs) + SIMULATED, "A/A pairs") as advance:
        whole_runs = (([base] * n, [new] * n) for base, new in pairs)
        seen = _said(judging, deciding, sides, whole_runs, rules, advance)
        drawn = (_drawn(rng, units, n_runs) for _ in range(SIMULATED))
        made = _said(judging, deciding, sides, drawn, rules, advance)
    rows, passing, notes = list[NewRow](), list[NewRow](), list[str]()
    for spec, metric in judging.items():
        row = {"metric": spec, "decides": spec in deciding, **_shares(made[spec], seen[spec])}
        rows.append(row | _by_rule(made[spec], rules, spec) | noise(spec, sides, units))
        passing += _passing(spec, metric, sides, clusters)
        notes += _told(rows[-1])
    every = {"metric": WHOLE, "decides": True, "n": n}
    rows.append(dict.fromkeys(rows[0]) | every | _shares(made[WHOLE], seen[WHOLE]))
    told = dict.fromkeys(note for side in sides for note in (*side.outputs.notes, *side.notes))
    told |= dict.fromkeys(decide(judging, sides[0], sides[1], rules).notes)
    idle = [f"{spec} describes outputs and judges none; it is left out" for spec in metrics if spec not in judging]
    return Result(
        "gate",
        [{**row, "runs": n_runs} for row in rows],
        [file for run in runs for file in run.files],
        described(judging, sides[0]),
        [*told, *idle, *notes, *own_notes(judging)],
        {"draws": rules.draws, "seed": rules.seed, "confidence": 1 - rules.alpha},
        statistics=passing,
    )


def _alike(runs: Sequence[Outputs], common: bool) -> list[Outputs]:
    """The runs with the same items, in the order of the first."""
    if len(runs) < 2:
        raise InputError(f"--aa compares runs of one system, expected two files or more, got {len(runs)}")
    for one, other in combinations(runs, 2):
        if {file["sha256"] for file in one.files} & {file["sha256"] for file in other.files}:
            what = f"{other.name} holds the same bytes as {one.name}, expected another run"
            raise InputError(f"{what}; let the system, or the judge, run again")
    first = runs[0]
    for other in runs[1:]:
        first = paired(first, other, common)[0]
    return [first, *(paired(first, other, common)[1] for other in runs[1:])]


# --- What would the gate say of two runs? Of those at hand, and of pairs whose items come from two of them each


class _Said(NamedTuple):
    """The verdict on a pair, the rules that failed it, and what the mean and an item lost at most."""

    verdict: str
    failed: frozenset[str] = frozenset()
    low: float = math.nan
    high: float = math.nan
    worst: float = math.nan
    allow: float = math.nan


def _drawn(rng: np.random.Generator, units: npt.NDArray[np.intp], n_runs: int) -> Picked:
    """The run of each item in BASE and in NEW; items of a unit come from the same runs."""
    base = rng.integers(n_runs, size=int(units.max()) + 1)
    new = (base + rng.integers(1, n_runs, size=len(base))) % n_runs
    return base[units].tolist(), new[units].tolist()


def _said(
    metrics: Mapping[str, BaseMetric],
    deciding: Sequence[str],
    sides: Sequence[ScoredSide],
    picked: Iterator[Picked],
    rules: Rules,
    advance: Callable[[float], None],
) -> dict[str, list[_Said]]:
    """What each metric and the whole gate say of pairs of runs; `picked` are as from `_drawn`."""
    said: dict[str, list[_Said]] = {name: [] for name in (*metrics, WHOLE)}
    at_once = max(_LEAST_AT_ONCE, _SCORES_AT_ONCE // len(sides[0].outputs.items))  # which share their resamples
    while pairs := [(_mixed(sides, base), _mixed(sides, new)) for base, new in islice(picked, at_once)]:
        for judged in judge(metrics, pairs, rules, has_power=False):
            for spec, one in judged.items():
                failed = frozenset([*one.failed, *(["allow"] if one.bound.verdict == FAIL else [])])
                worst = float(np.nanmin(one.found.values, initial=0.0))
                said[spec].append(_Said(one.verdict, failed, one.bound.low, one.bound.high, worst, one.bound.allow))
            said[WHOLE].append(_Said(whole([judged[spec].verdict for spec in deciding])))
        advance(len(pairs))
    return said


def _mixed(sides: Sequence[ScoredSide], picked: Sequence[int]) -> ScoredSide:
    """A run that takes each item from one of the runs, length n."""
    names = sides[0].outputs.items
    items = {item: sides[k].outputs.items[item] for item, k in zip(names, picked, strict=True)}
    runs = {spec: [sides[k].runs[spec][i] for i, k in enumerate(picked)] for spec in sides[0].runs}
    return replace(sides[0], outputs=replace(sides[0].outputs, items=items), runs=runs)


def _shares(made: Sequence[_Said], seen: Sequence[_Said]) -> NewRow:
    """How often each verdict comes, among simulated pairs and among those at hand."""
    shares = {v.lower(): sum(one.verdict == v for one in made) / len(made) for v in (FAIL, PASS, INCONCLUSIVE)}
    counts = {f"pairs_{v.lower()}": sum(one.verdict == v for one in seen) for v in (FAIL, PASS)}
    return {**shares, "simulated": len(made), "pairs": len(seen), **counts}


def _by_rule(made: Sequence[_Said], rules: Rules, spec: str) -> NewRow:
    """How often each rule fails a metric, and from which allowance on FAIL comes seldom, or PASS mostly."""
    allow_item = rules.allowed_item(spec)
    typed = {"allow": True, "allow_item": allow_item is not None, "min_pass": rules.min_pass is not None}
    low, high, worst = (np.array([getattr(one, name) for one in made]) for name in ("low", "high", "worst"))
    return {
        **{
            f"fail_by_{rule}": sum(rule in one.failed for one in made) / len(made) if is_typed else None
            for rule, is_typed in {**typed, "undefined": rules.undefined == "fail"}.items()
        },
        "allow": made[0].allow,
        "allow_few_fail": _seldom_above(np.where(np.isnan(high), -math.inf, -high)),
        "allow_most_pass": _seldom_above(np.where(np.isnan(low), math.inf, -low)),
        "allow_item": allow_item,
        "allow_item_few_fail": _seldom_above(-worst),
    }


def _seldom_above(losses: Array) -> float | None:
    """The least number of two digits, 0 or more, that fewer than one in twenty losses exceed; None for no number."""
    value = float(np.sort(losses)[math.floor(len(losses) * (1 - _SELDOM))])
    if value <= 0 or math.isinf(value):
        return 0.0 if value <= 0 else None
    digits = 1 - math.floor(math.log10(value))
    return float(f"{math.ceil(value * _ABOVE * 10.0**digits) / 10.0**digits:.2g}")


# --- How much do scores differ between runs, and how many items pass all of k?


def noise(spec: str, sides: Sequence[ScoredSide], units: npt.NDArray[np.intp]) -> NewRow:
    """The noise of a metric between runs; items that lack a score in a run are left out of it.

    Returns:
        `n`: the others; `differs`: the share of them whose score is not the same in all runs; `item_sd`: the standard
        deviation of an item between runs, pooled; `mean_sd`: that of the means of runs, and `mean_sd_items` what it
        would be by the noise of items (groups) alone; `q_p`: the p-value of Cochran's Q. None where there is none.
    """
    scores = np.stack([run_means(side.runs[spec]) for side in sides], axis=1)  # (n, R)
    known = np.isfinite(scores).all(axis=1)
    scores, n, free = scores[known], int(known.sum()), len(sides) - 1
    if not n:
        return {"n": 0, "differs": None, "item_sd": None, "mean_sd": None, "mean_sd_items": None, "q_p": None}
    differs = np.ptp(scores, axis=1) > _ROUNDING * np.abs(scores).max()
    scores = np.where(differs[:, None], scores, scores[:, :1])
    by_unit = np.zeros((int(units.max()) + 1, len(sides)))
    np.add.at(by_unit, units[known], scores - scores.mean(axis=1, keepdims=True))
    expected, seen = (by_unit**2).sum() / free / n**2, scores.mean(axis=0).var(ddof=1)
    from scipy import special

    return {
        "n": n,
        "differs": float(differs.mean()),
        "item_sd": math.sqrt(scores.var(axis=1, ddof=1).mean()),
        "mean_sd": math.sqrt(seen),
        "mean_sd_items": math.sqrt(expected),
        "q_p": float(special.chdtrc(free, free * seen / expected)) if differs.any() else None,
    }


def _told(row: Mapping[str, float | None]) -> list[str]:
    """What a reader must know of the noise of a metric."""
    if row["differs"] == 0:
        what = "all runs have the same scores, so these files hold no noise; are they copies of one run?"
        return [f"{row['metric']}: {what}"]
    if row["q_p"] is None or row["q_p"] > _SELDOM:
        return []
    what = f"the means of the runs are farther apart than their items explain (Cochran's Q, p = {row['q_p']:.2g})"
    return [
        f"{row['metric']}: {what}: something moves whole runs, and simulated pairs lack it; go by the pairs of runs"
    ]


def _passing(
    spec: str, metric: BaseMetric, sides: Sequence[ScoredSide], clusters: Sequence[str] | None
) -> list[NewRow]:
    """pass^k of scores of 0 and 1: the share of items that pass all of k runs; a run without a score does not."""
    runs = [np.concatenate(own) for own in zip(*(side.runs[spec] for side in sides), strict=True)]
    known = np.concatenate(runs)
    known = known[~np.isnan(known)]
    if not np.isin(known, (0.0, 1.0)).all() or metric.info.range == (0.0, 100.0):
        return []
    best = 1.0 if metric.info.higher_is_better else 0.0
    passes = [(int((own == best).sum()), len(own)) for own in runs]
    most = min(n for _, n in passes)
    rows = []
    for k in map(round, np.unique(np.linspace(1, most, min(most, _MOST_K)).round()).tolist()):
        shares = np.array([math.comb(c, k) / math.comb(n, k) for c, n in passes])
        value, n = float(shares.mean()), len(shares)
        # Trials of one share that varies as the mean does; of shares that do not vary, their number.
        trials = n * value * (1 - value) / spread if (spread := float(shares.var())) > 0 else float(n)
        if clusters is not None:
            trials = dependent_trials(trials, (shares - value) / n, clusters)
        low, high = wilson(value * trials, trials)
        rows.append({"metric": spec, "statistic": "pass^k", "k": k, "value": value, "low": low, "high": high, "n": n})
    return rows
