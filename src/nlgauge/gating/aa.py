"""What does the gate say of runs of one system, between which nothing changed? The A/A test, noise, and pass^k."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice, permutations

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, own_notes
from nlgauge.core.result import NewRow, Result
from nlgauge.gating import outputs
from nlgauge.gating.outputs import GateBaseline, Outputs, ScoredSide, paired
from nlgauge.gating.verdicts import Rules, judge, notes_on, whole
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.draws import dependent_trials, numbered, wilson
from nlgauge.stats.gates import FAIL, INCONCLUSIVE, PASS, Bound

WHOLE = "the whole gate"  # in the place of a metric: the verdict of all that decide
SIMULATED = 1000  # pairs: the standard error of a share is .016 at most
_FEWEST, _SCORES = 200, 2_000_000  # of pairs of very many items, and scores of a side in all pairs, some 20 seconds
_SCORES_AT_ONCE, _LEAST_AT_ONCE = 200_000, 50  # scores, and pairs, of which memory has room
_SELDOM = 0.05  # of A/A pairs: fewer may FAIL, and no more may not PASS
_ROUNDING = 1e-9  # of the largest score: runs that differ by less are alike
_ABOVE = 1 + 1e-6  # where a bound just passes, the last digit of a p-value would decide
_MOST_K = 10  # values of k that are reported
Picked = tuple[list[int], list[int]]  # the run of each item in BASE and in NEW
Said = tuple[str, bool, float, Bound | None]  # verdict, whether a rule beside the mean fails, an item's loss, the mean


def aa_test(
    runs: Sequence[Outputs | GateBaseline],
    metrics: Mapping[str, BaseMetric],
    rules: Rules,
    runtime: Runtime,
    common: bool = False,
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
        InputError: there are fewer than two runs, two are the same file, one is a baseline, their items differ, or no
            metric decides.

    References:
        Cochran (1950), "The Comparison of Percentages in Matched Samples", for Q, which is taken of any scores here;
        Yao et al. (2024), "tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World Domains", for pass^k.
    """
    judging = {spec: one for spec, one in metrics.items() if one.info.judges}
    if not judging.keys() - rules.report_only:
        raise InputError("no metric here judges outputs, expected one that decides; name another with -m")
    sides = outputs.score_sides(_alike(runs, common), judging, runtime)
    clusters = outputs.clusters_of(sides[0].outputs.groups) if rules.items == "sample" else None
    units = np.arange(len(sides[0].outputs.items)) if clusters is None else numbered(clusters)  # (n,)
    rng, n, n_runs = np.random.default_rng(rules.seed), len(units), len(sides)
    pairs = [*permutations(range(n_runs), 2)]
    pairs = pairs if len(pairs) <= SIMULATED else rng.choice(pairs, SIMULATED, replace=False).tolist()
    seen = _said(judging, sides, (([base] * n, [new] * n) for base, new in pairs), rules)
    n_made = min(SIMULATED, max(_FEWEST, _SCORES // n))
    made = _said(judging, sides, (_drawn(rng, units, n_runs) for _ in range(n_made)), rules)
    rows = [
        {"metric": spec, **_shares(made[spec], seen[spec]), **_allowances(made[spec]), **noise(spec, sides, units)}
        for spec in judging
    ]
    rows.append(dict.fromkeys(rows[0]) | {"metric": WHOLE, "n": n} | _shares(made[WHOLE], seen[WHOLE]))
    notes = [note for side in sides for note in (*side.outputs.notes, *side.notes)]
    first = judge(judging, [(sides[0], sides[1])], rules, has_power=False)[0]
    notes += [note for spec, (found, _, bound) in first.items() for note in notes_on(spec, found, bound, rules)]
    notes += [note for side in sides for note in _without_scores(side, rules)]
    notes += [f"{n_made} pairs are simulated, since there are {n} items"] if n_made < SIMULATED else []
    notes += [f"{spec} describes outputs and judges none; it is left out" for spec in metrics if spec not in judging]
    return Result(
        "gate",
        [{**row, "runs": n_runs, "decides": row["metric"] not in rules.report_only} for row in rows],
        list({file["path"]: file for side in sides for file in side.outputs.files}.values()),
        outputs.described(judging, sides[0]),
        [*dict.fromkeys(notes), *(note for row in rows for note in _told(row)), *own_notes(judging)],
        {"draws": rules.draws, "seed": rules.seed, "confidence": 1 - rules.alpha},
        statistics=[row for spec, metric in judging.items() for row in pass_k(spec, metric, sides, clusters)],
    )


def _alike(runs: Sequence[Outputs | GateBaseline], common: bool) -> list[Outputs]:
    """The runs with the same items, in the order of the first."""
    texts = [run for run in runs if isinstance(run, Outputs)]
    if len(texts) < max(2, len(runs)):
        kept = f" and {len(runs) - len(texts)} baseline" if len(texts) < len(runs) else ""
        raise InputError(f"an A/A test takes two or more runs of one system as data, got {len(texts)}{kept}")
    for one, other in combinations(texts, 2):
        if one.files and other.files and one.files[0]["sha256"] == other.files[0]["sha256"]:  # a table may be shared
            raise InputError(f"{other.name} holds the same bytes as {one.name}, expected another run of the system")
    first = texts[0]
    for other in texts[1:]:
        first = paired(first, other, common)[0]
    return [first, *(paired(first, other, common)[1] for other in texts[1:])]


# --- What would the gate say of two runs? Of those at hand, and of pairs whose items come from two of them each


def _drawn(rng: np.random.Generator, units: npt.NDArray[np.intp], n_runs: int) -> Picked:
    """Two runs for each item; those of a unit are the same."""
    base = rng.integers(n_runs, size=int(units.max()) + 1)
    new = (base + rng.integers(1, n_runs, size=len(base))) % n_runs
    return base[units].tolist(), new[units].tolist()


def _said(
    metrics: Mapping[str, BaseMetric], sides: Sequence[ScoredSide], picked: Iterator[Picked], rules: Rules
) -> dict[str, list[Said]]:
    """What each metric, and the whole gate, say of each pair."""
    said: dict[str, list[Said]] = {name: [] for name in (*metrics, WHOLE)}
    at_once = max(_LEAST_AT_ONCE, _SCORES_AT_ONCE // len(sides[0].outputs.items))  # which share their resamples
    while pairs := [(_mixed(sides, base), _mixed(sides, new)) for base, new in islice(picked, at_once)]:
        for judged in judge(metrics, pairs, rules, has_power=False):
            verdicts = {spec: FAIL if failed else bound.verdict for spec, (_, failed, bound) in judged.items()}
            for spec, (found, failed, bound) in judged.items():
                loss = -float(np.nanmin(found.values, initial=0.0))
                said[spec].append((verdicts[spec], bool(failed), loss, bound))
            all_ = whole([verdict for spec, verdict in verdicts.items() if spec not in rules.report_only])
            said[WHOLE].append((all_, False, math.nan, None))
    return said


def _mixed(sides: Sequence[ScoredSide], picked: Sequence[int]) -> ScoredSide:
    """A run that takes each item from one of the runs."""
    names = sides[0].outputs.items
    items = {item: sides[k].outputs.items[item] for item, k in zip(names, picked, strict=True)}
    runs = {spec: [sides[k].runs[spec][i] for i, k in enumerate(picked)] for spec in sides[0].runs}
    return replace(sides[0], outputs=replace(sides[0].outputs, items=items), runs=runs)


def _shares(made: Sequence[Said], seen: Sequence[Said]) -> NewRow:
    """How often each verdict comes, among simulated pairs and among those at hand."""
    shares = {v.lower(): sum(one[0] == v for one in made) / len(made) for v in (FAIL, PASS, INCONCLUSIVE)}
    counts = {f"pairs_{v.lower()}": sum(one[0] == v for one in seen) for v in (FAIL, PASS)}
    return {**shares, "pairs": len(seen), **counts}


def _allowances(made: Sequence[Said]) -> NewRow:
    """From which allowances on does FAIL come seldom, or PASS mostly?"""
    low, high = (np.array([getattr(one[3], end) for one in made]) for end in ("low", "high"))
    return {
        "fail_otherwise": sum(one[1] for one in made) / len(made),
        "allow": made[0][3].allow if made[0][3] is not None else None,
        "allow_few_fail": _seldom_above(np.where(np.isnan(high), -math.inf, -high) * _ABOVE),
        "allow_most_pass": _seldom_above(np.where(np.isnan(low), math.inf, -low) * _ABOVE),
        "allow_item_few_fail": _seldom_above(np.array([one[2] for one in made])),
    }


def _seldom_above(losses: Array) -> float | None:
    """The least number of two digits, 0 or more, that fewer than one in twenty losses exceed; None for no number."""
    value = max(0.0, float(np.sort(losses)[math.floor(len(losses) * (1 - _SELDOM))]))
    if not 0 < value < math.inf:
        return None if value else 0.0
    near = float(f"{value:.2g}")
    return near if near >= value else float(f"{near + 10 ** (math.floor(math.log10(value)) - 1):.2g}")


# --- How much do scores differ between runs, and how many items pass all of k?


def noise(spec: str, sides: Sequence[ScoredSide], units: npt.NDArray[np.intp]) -> NewRow:
    """The noise of a metric between runs; items that lack a score in a run are left out of it.

    Returns:
        `n`: the others; `differs`: the share of them whose score is not the same in all runs; `item_sd`: the standard
        deviation of an item between runs, pooled; `mean_sd`: that of the means of runs, and `mean_sd_items` what it
        would be by the noise of items (groups) alone; `q_p`: the p-value of Cochran's Q. NaN where there is none.
    """
    from scipy import special

    scores = np.stack([outputs.run_means(side.runs[spec]) for side in sides], axis=1)  # (n, R)
    known = np.isfinite(scores).all(axis=1)
    scores, n, free = scores[known], np.float64(known.sum()), len(sides) - 1
    scores = np.where(np.ptp(scores, axis=1, keepdims=True) > _ROUNDING * np.abs(scores).max(initial=0), scores, 0.0)
    by_unit = np.zeros((int(units.max()) + 1, len(sides)))
    np.add.at(by_unit, units[known], scores - scores.mean(axis=1, keepdims=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        seen, expected = np.var(scores.sum(axis=0) / n, ddof=1), (by_unit**2).sum() / free / n**2
        return {
            "n": int(n),
            "differs": float(scores.any(axis=1).sum() / n),
            "item_sd": math.sqrt(scores.var(axis=1, ddof=1).sum() / n),
            "mean_sd": math.sqrt(seen),
            "mean_sd_items": math.sqrt(expected),
            "q_p": float(special.chdtrc(free, free * seen / expected)),
        }


def _without_scores(side: ScoredSide, rules: Rules) -> Iterator[str]:
    """Which items of a run lack scores, which fail a gate by themselves."""
    fate = "; where NEW alone lacks a score, the gate fails" if rules.undefined == "fail" else ""
    for spec, runs in side.runs.items():
        if lacking := sum(bool(np.isnan(own).all()) for own in runs):
            yield f"{side.outputs.name}: {lacking} of {len(runs)} items have no score by {spec}{fate}"


def _told(row: NewRow) -> Iterator[str]:
    """What a reader must know of the noise of a metric."""
    if row["differs"] == 0:
        yield f"{row['metric']}: all runs have the same scores, so they hold no noise; are they copies of one run?"
    if row["q_p"] is not None and row["q_p"] <= _SELDOM:
        what = f"the means of the runs are farther apart than their items explain (Cochran's Q, p = {row['q_p']:.2g})"
        yield f"{row['metric']}: {what}; simulated pairs lack what moves whole runs, so go by the pairs of runs"


def pass_k(
    spec: str, metric: BaseMetric, sides: Sequence[ScoredSide], clusters: Sequence[str] | None
) -> Iterator[NewRow]:
    """pass^k of scores of 0 and 1: the share of items that pass all of k runs; a run without a score does not.

    An item that passes c of n runs counts C(c, k) / C(n, k). The interval is Wilson's, for as many trials of one share
    as vary like the mean over items (groups) does, and no more than each item has k runs of its own for; no upper end
    is above that of fewer runs.
    """
    runs = [np.concatenate(own) for own in zip(*(side.runs[spec] for side in sides), strict=True)]
    every = np.concatenate(runs)
    if not np.isin(every[~np.isnan(every)], (0.0, 1.0)).all() or metric.info.range == (0.0, 100.0):
        return
    passes = [(int((own == metric.info.higher_is_better).sum()), len(own)) for own in runs]
    most, size, top = min(n for _, n in passes), len(passes), 1.0
    for k in dict.fromkeys(map(round, np.linspace(1, most, min(most, _MOST_K)).tolist())):
        shares = np.array([math.comb(c, k) / math.comb(n, k) for c, n in passes])
        value, spread = float(shares.mean()), float(shares.var())
        trials = size * value * (1 - value) / spread if spread > 0 else float(size)
        if clusters is not None:
            trials = dependent_trials(trials, (shares - value) / size, clusters)
        trials = min(trials, sum(n / k for _, n in passes))
        low, high = wilson(value * trials, trials)
        top = high = min(high, top)
        about = {"metric": spec, "statistic": f"pass^{k}", "part": "all"}
        yield {**about, "value": value, "low": low, "high": high, "n": size}
