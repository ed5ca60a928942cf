"""What does a weight gain? Gains over the metric alone, the best weight for two metrics, and mean curves over many."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nlgauge.audits.preference import ALL_GROUPS, Sides, check_copies, preference_rows, score_sides
from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, MetricLike, cut_words, signature_of, spec_of, trained_on
from nlgauge.core.options import check_option
from nlgauge.core.result import NewRow, Outcome, Result, Row
from nlgauge.core.scores import Scores, add, count, count_notes, ids, say, warning
from nlgauge.core.segment import Dataset, Frame
from nlgauge.core.spec import Signature, Sum, parse
from nlgauge.core.suite import Suite
from nlgauge.io.frames import datasets_of
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.metaeval.joined import chosen_criteria, judged, readable, score_judged, stand_ins
from nlgauge.metaeval.measure import IntervalKind
from nlgauge.metaeval.tasks import MEAN
from nlgauge.metrics.registry import named, takes_metrics
from nlgauge.metrics.wrapped import Combination, CompanionMetric, zero_and_width
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.draws import mean_interval

ALL, ADEQUACY = "mean-all", "mean-adequacy"
AnyRow = TypeVar("AnyRow", bound=Row)


def _by(rows: Iterable[AnyRow], *keys: str) -> dict[tuple[Any, ...], list[AnyRow]]:
    """Rows by their values of some keys, in order of appearance."""
    found: dict[tuple[Any, ...], list[AnyRow]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return found


def point_row(
    base: NewRow,
    dataset: str | None = None,
    suite: str | None = None,
    group: str | None = None,
    phenomenon: str | None = None,
    human: Row | None = None,
    attack: Row | None = None,
) -> NewRow:
    """One point of a curve: agreement with people on a data set, accuracy under attacks of a suite, or both."""
    about = {key: human[key] if human is not None else None for key in ("stat", "criterion", "level", "averaging")}
    agreement = human or {"value": math.nan, "low": math.nan, "high": math.nan, "n_used": None}
    accuracy = attack or {"accuracy": math.nan, "low": math.nan, "high": math.nan, "n": None, "trained_on": None}
    return {
        **base,
        "dataset": dataset,
        "suite": suite,
        **about,
        "group": group,
        "phenomenon": phenomenon,
        "correlation": agreement["value"],
        "low": agreement["low"],
        "high": agreement["high"],
        "n_used": agreement["n_used"],
        "accuracy": accuracy["accuracy"],
        "accuracy_low": accuracy["low"],
        "accuracy_high": accuracy["high"],
        "n_pairs": accuracy["n"],
        "trained_on": accuracy["trained_on"],
    }


_TASK = ("criterion", "level", "averaging", "stat")
_COMPARED = ("metric", "with", "stat", "criterion", "level")  # what weights compete on
_KEY = ("metric", "with", "dataset", "suite", "stat", "criterion", "level", "group", "phenomenon")


def with_gains(rows: Sequence[NewRow]) -> None:
    """Add the gains to each row: the relative change of both numbers against the metric alone, and the mean of the two.

    A relative change is the change divided by the absolute value of the number of the metric alone. It is NaN where
    that number is 0 or undefined.
    """
    alone = {tuple(row[key] for key in _KEY): row for row in rows if row["weight"] == 0}
    for row in rows:
        start = alone[tuple(row[key] for key in _KEY)]
        for name in ("correlation", "accuracy"):
            row[f"gain_{name}"] = relative(start[name], row[name])
        row["gain"] = (row["gain_correlation"] + row["gain_accuracy"]) / 2
        row["best"] = False


def relative(before: float, after: float) -> float:
    """The relative change: the change divided by the absolute value from before; NaN where that is 0."""
    return (after - before) / abs(before) if before else math.nan


def mark_best(rows: Sequence[NewRow]) -> None:
    """Mark the best weight for each pair of metrics, statistic and criterion, and that of the other sets for each set.

    The best weight has the greatest mean gain among the weights at which neither number falls. It is taken over all
    data sets, all suites and all phenomena. Among equals it is the smallest weight; it is 0 where every weight costs
    something.
    """
    both = (r for r in rows if r["dataset"] is not None and r["suite"] is not None and r["phenomenon"] == ALL)
    for own in _by(both, *_COMPARED).values():
        _mark([row for row in own if row["dataset"] == MEAN] or own)
    mark_left_out(rows)


def _mark(rows: Sequence[NewRow]) -> None:
    fit = [row for row in rows if row["gain_correlation"] >= 0 and row["gain_accuracy"] >= 0]
    if fit:
        max(fit, key=lambda row: row["gain"])["best"] = True


def mark_left_out(rows: Sequence[NewRow]) -> None:
    """Mark, for each data set and suite, the weight that is best on the others.

    The rule is that of `mark_best`, over the means of the data sets and suites but these two. Where there is only one
    data set, or one suite, it serves as well. Where there is only one of both, nothing can be left out.
    """
    for row in rows:
        row["left_out"] = False
    single = (r for r in rows if not {None, MEAN} & {r["dataset"], r["suite"]} and r["phenomenon"] == ALL)
    for own in _by(single, *_COMPARED).values():
        sets, suites = ({row[key] for row in own} for key in ("dataset", "suite"))
        if len(sets) == len(suites) == 1:
            continue
        for dataset, suite in dict.fromkeys((row["dataset"], row["suite"]) for row in own):
            seen = [
                row
                for row in own
                if (row["dataset"] != dataset or len(sets) == 1) and (row["suite"] != suite or len(suites) == 1)
            ]
            chosen = _best_of_means(seen)
            for row in own:
                row["left_out"] |= (row["dataset"], row["suite"], row["weight"]) == (dataset, suite, chosen)


def _best_of_means(rows: Sequence[NewRow]) -> float | None:
    """The best weight for the means over some data sets and suites; None where a number is undefined or 0."""
    means: list[NewRow] = []
    for (weight,), at in _by(rows, "weight").items():
        point: NewRow = {"weight": weight, "best": False}
        for name, where in (("correlation", "dataset"), ("accuracy", "suite")):
            point[name] = float(np.mean(list({row[where]: row[name] for row in at}.values())))
        means.append(point)
    start = next(point for point in means if point["weight"] == 0)
    for point in means:
        for name in ("correlation", "accuracy"):
            point[f"gain_{name}"] = relative(start[name], point[name])
        point["gain"] = (point["gain_correlation"] + point["gain_accuracy"]) / 2
    _mark(means)
    return next((point["weight"] for point in means if point["best"]), None)


def curves(rows: Sequence[NewRow]) -> list[NewRow]:
    """Rows of the mean gain at each weight over all pairs of metrics and all sets, with Student's 95 % intervals.

    Each pair of metrics contributes one gain in correlation per data set and one gain in accuracy per suite. Pairs
    with an NLI metric and other pairs have separate curves. The best weight of each curve is marked as that of a pair
    is.

    References:
        Chen and Eger (2023), figure 3.
    """
    found = []
    points = [row for row in rows if not {None, MEAN} & {row["dataset"], row["suite"]}]
    for own in _by(points, "partner", "stat", "criterion", "level", "averaging", "phenomenon").values():
        curve = [_mean_gains(weight, at) for (weight,), at in _by(own, "weight").items()]
        if curve[0]["phenomenon"] == ALL:
            _mark(curve)
        found += curve
    return found


def _mean_gains(weight: float, points: Sequence[NewRow]) -> NewRow:
    first = points[0]
    base = {"metric": MEAN, "with": MEAN, "partner": first["partner"], "weight": weight, "spec": None}
    row = {
        **point_row(base, MEAN, MEAN, MEAN, first["phenomenon"]),
        **{key: first[key] for key in ("stat", "criterion", "level", "averaging")},
    }
    for name, where in (("correlation", "dataset"), ("accuracy", "suite")):
        gains = np.array(list({(r["metric"], r["with"], r[where]): r[f"gain_{name}"] for r in points}.values()))
        known = gains[~np.isnan(gains)]
        row[f"gain_{name}"], row[f"gain_{name}_low"], row[f"gain_{name}_high"] = mean_interval(gains)
        row[f"gain_{name}_median"] = float(np.median(known)) if len(known) else math.nan
        row[f"n_{name}"] = len(known)
    return {**row, "gain": (row["gain_correlation"] + row["gain_accuracy"]) / 2, "best": False, "left_out": False}


# --- What do two metrics say together, at any weight? Each metric is scored once; the sums are made from its scores

_NORM = "minmax"
Pools = Sequence[tuple[str, npt.NDArray[np.int64]]]


def mixture(one: Array, other: Array, pools: Pools, names: tuple[str, str]) -> Callable[[float], Array]:
    """The weighted sums of two metrics, brought to the scale of 0 to 1 inside each pool.

    Args:
        one, other: scores of n texts, shape (n,); higher is better.
        pools: the name of each pool and the texts in it; each text belongs to one pool.

    Returns:
        A function that gives the sum, shape (n,), at a weight of the other metric. At weight 0 it is the original
        scores of the first metric, at weight 1 those of the other.

    Raises:
        InputError: a metric is constant over a pool.
    """
    scaled_one, scaled_other = scaled(one, pools, names[0]), scaled(other, pools, names[1])

    def at(weight: float) -> Array:
        if weight == 0:
            return one
        if weight == 1:
            return other
        return weight * scaled_other + (1 - weight) * scaled_one

    return at


def scaled(values: Array, pools: Pools, name: str) -> Array:
    """Bring values to the scale of 0 to 1 inside each pool; the arguments are those of `mixture`."""
    found = np.full(len(values), np.nan)
    for where, places in pools:
        inside = values[places]
        known = inside[~np.isnan(inside)]
        if len(known) and not np.ptp(known):
            raise InputError(
                f"{name} is the same for all {len(inside)} texts of {where}, so minmax over them is undefined; leave"
                " that out"
            )
        zero, width = zero_and_width(inside, _NORM, name)
        found[places] = (inside - zero) / width
    return found


def sum_of(one: str, other: str, weight: float) -> str:
    """The specification of a weighted sum; at weight 0 or 1 it is the specification of the one metric that is left."""
    if weight in (0, 1):
        return other if weight else one
    return str(Sum(((round(1 - weight, 12), parse(one)), (weight, parse(other))), _NORM))


@dataclass(frozen=True)
class ScoredDataset:
    """A data set with the scores of every metric for its judged segments."""

    dataset: Dataset
    scores: Mapping[str, Scores]
    notes: tuple[str, ...]

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """Metric -> flag -> number of judged segments that have it."""
        return {name: count(scores.flags, scores.values) for name, scores in self.scores.items()}

    def mixture(self, one: str, other: str) -> Callable[[float], Array]:
        """The mixture of two of the metrics; each group (language pair, task) is a pool."""
        pools = _pools(
            [s.group for s in self.dataset],
            lambda group: f"{f'group {group!r} of ' if group is not None else ''}{self.dataset.name}",
        )
        return mixture(_up(self.scores[one]), _up(self.scores[other]), pools, (one, other))

    def as_scores(self, name: str, values: Array) -> Scores:
        """Turn the values of a sum into `Scores`, whose corpus numbers are means of these values."""
        return Scores(Signature(name, (("metric", "combination"),)), ids(self.dataset.segments), values)


def judged_by(
    dataset: Dataset, metrics: Mapping[str, BaseMetric], criterion: str | Sequence[str] | None, runtime: Runtime
) -> ScoredDataset:
    """Score the judged segments of a data set; the arguments are those of `meta_evaluate`."""
    segments, _, notes = judged(dataset, chosen_criteria(dataset, criterion))
    scores, told = score_judged(metrics, segments, runtime)
    return ScoredDataset(dataclasses.replace(dataset, segments=segments), scores, (*notes, *told))


class Attacked:
    """A suite with the scores of each metric for both sides of its pairs.

    Each metric is scored once for each kind of pairs.
    """

    def __init__(self, suite: Suite, metrics: Mapping[str, BaseMetric], runtime: Runtime) -> None:
        self.suite, self._metrics, self._runtime = suite, metrics, runtime
        self._known: dict[tuple[str, frozenset[str]], Sides] = {}

    def mixed(self, one: str, other: str, weights: Iterable[float]) -> dict[float, Sides]:
        """Score both sides by the sum of two metrics, at each weight of the other metric.

        A pool is one phenomenon of one group. It holds correct and faulty texts together, as it does for any metric
        whose scores depend on the call.

        Raises:
            InputError: no pair has what the two metrics need, or a metric is constant over a pool.
        """
        needs = frozenset(self._metrics[one].info.needs) | frozenset(self._metrics[other].info.needs)
        first, second = (self._sides(name, needs) for name in (one, other))
        pairs = [self.suite.pairs[i] for i in first.places]
        keys = [(p.phenomenon, p.criterion, p.group) for p in pairs] * 2  # better texts, then worse ones
        pools = _pools(
            keys,
            lambda key: (
                f"{key[0]}{f', group {key[2]!r},' if key[2] is not None else ''} in {self.suite.name or 'the suite'}"
            ),
        )
        both = mixture(_both(first), _both(second), pools, (one, other))
        return {weight: self._of(one, other, weight, first.places, both(weight)) for weight in weights}

    def alone(self, name: str) -> Sides:
        """The scores of both sides by one metric."""
        return self._sides(name, frozenset(self._metrics[name].info.needs))

    def counts(self, name: str) -> dict[str, int]:
        """Flag -> number of pairs that have it by one of the metrics that were scored."""
        return self._widest(name).counts

    def count_notes(self) -> list[str]:
        """How many pairs were cut, empty or undefined; they become part of the caller's warning."""
        names = dict.fromkeys(name for name, _ in self._known)
        widest = {name: self._widest(name) for name in names}
        notes = [
            note
            for name, sides in widest.items()
            for note in (
                *sides.unread,
                *count_notes(
                    name,
                    sides.counts,
                    len(sides.places),
                    "pairs",
                    undefined="they count as losses",
                    first=sides.first,
                    cut=cut_words(self._metrics[name]),
                ),
            )
        ]
        say(*notes)
        return notes

    def _widest(self, name: str) -> Sides:
        """The scores of a metric for the most pairs: a partner with other needs leaves some of them out."""
        return max((sides for (own, _), sides in self._known.items() if own == name), key=lambda s: len(s.places))

    def _sides(self, name: str, needs: frozenset[str]) -> Sides:
        if (name, needs) not in self._known:
            beside = {name: CompanionMetric(self._metrics[name], needs)}
            self._known[name, needs] = score_sides(self.suite, beside, self._runtime)[name]
        return self._known[name, needs]

    def _of(self, one: str, other: str, weight: float, places: tuple[int, ...], values: Array) -> Sides:
        terms = ((1 - weight, self._metrics[one]), (weight, self._metrics[other]))
        made = Combination(tuple(term for term in terms if term[0]), _NORM)
        n = len(places)
        return Sides(sum_of(one, other, weight), made, str(signature_of(made)), places, values[:n], values[n:])


def _both(sides: Sides) -> Array:
    values = np.concatenate([sides.better, sides.worse])
    return values if sides.higher_is_better else -values


def _up(scores: Scores) -> Array:
    return scores.values if scores.higher_is_better else -scores.values


def _pools(keys: Sequence[Any], name: Callable[[Any], str]) -> Pools:
    found: dict[Any, list[int]] = {}
    for i, key in enumerate(keys):
        found.setdefault(key, []).append(i)
    return [(name(key), np.array(places, dtype=np.int64)) for key, places in found.items()]


# --- The rows of a sweep: by group, phenomenon, data set and suite; of strategies their wins, and what a choice costs

Strategy = tuple[str, str]  # a formula and a direction
_SAME = 1e-9  # shares of wins are sums of 1/2, 1/3, ...


def joined_rows(
    people: Sequence[Row],
    robust: Sequence[Row],
    pairs: Sequence[tuple[str, str]],
    weights: Sequence[float],
    is_nli: Mapping[str, bool],
) -> Iterator[NewRow]:
    """Rows by group, by phenomenon, by data set and suite, and for their means."""
    tasks, by_sum = list(_by(people, *_TASK)), _by(people, "metric")
    by_pair = _by(robust, "pair", "weight")
    for one, other in pairs:
        for weight in weights:
            spec = sum_of(one, other, weight)
            base = {
                "metric": one,
                "with": other,
                "partner": "nli" if is_nli[other] else "other",
                "weight": weight,
                "spec": spec,
            }
            accuracies = by_pair[(one, other), weight]
            yield from (point_row(base, suite=r["suite"], phenomenon=r["phenomenon"], attack=r) for r in accuracies)
            for task in tasks:
                own = [r for r in by_sum[spec,] if tuple(r[key] for key in _TASK) == task]
                several = len({(r["dataset"], r["group"]) for r in own}) > 2 * len({r["dataset"] for r in own})
                yield from (
                    point_row(base, dataset=r["dataset"], group=r["group"], human=r)
                    for r in own
                    if several and r["group"] != MEAN
                )
                yield from _points(base, [r for r in own if r["group"] == MEAN], accuracies)


def _points(base: NewRow, agreements: Sequence[Row], accuracies: Sequence[Row]) -> Iterator[NewRow]:
    """Each data set with each suite, and the means where there are several."""
    counted = {name: [r for r in accuracies if r["phenomenon"] == name] for name in (ALL, ADEQUACY)}
    if sum(r["n"] for r in counted[ALL]) == sum(r["n"] for r in counted[ADEQUACY]):
        del counted[ADEQUACY]
    for name, own in counted.items():
        if name == ADEQUACY and len(own) < len(counted[ALL]):
            continue  # a suite without such phenomena
        for human in agreements:
            for attack in own:
                yield point_row(base, human["dataset"], attack["suite"], MEAN, name, human, attack)
        if len(agreements) > 1 or len(own) > 1:
            human = {
                **agreements[0],
                "value": _mean(agreements, "value"),
                "low": math.nan,
                "high": math.nan,
                "n_used": len(agreements),
            }
            attack = {
                **own[0],
                "accuracy": _mean(own, "accuracy"),
                "low": math.nan,
                "high": math.nan,
                "n": sum(r["n"] for r in own),
            }
            yield point_row(base, MEAN, MEAN, MEAN, name, human, attack)


def _mean(rows: Sequence[Row], key: str) -> float:
    return float(np.mean([row[key] for row in rows]))


_CONTEST = ("metric", "setup", "kind", "set", "criterion")  # what fifteen strategies compete on


def rank(rows: Sequence[NewRow]) -> None:
    """Add to each row the rank of its strategy on the set, its share of the win, and what it costs.

    Rank 1 is the best; strategies with equal values share the better rank. A strategy with an undefined value has no
    rank and no share of the win.
    """
    for own in _by(rows, *_CONTEST).values():
        values = np.array([row["value"] for row in own])
        known = values[~np.isnan(values)]
        top = known.max() if len(known) else np.nan
        for row, value in zip(own, values, strict=True):
            defined = not np.isnan(value)
            row["rank"] = int((known > value).sum()) + 1 if defined else None
            row["wins"] = float(value == top) / int((known == top).sum()) if defined else 0.0
            row["cost"] = float(top - value)


def winning(rows: Sequence[NewRow]) -> list[NewRow]:
    """How often each strategy is the best.

    Metrics with and without references are counted apart, and so are agreement with people and accuracy under attacks.

    Args:
        rows: ranked values.
    """
    found = []
    for (setup, kind), own in _by(rows, "setup", "kind").items():
        contests = len(_by((row for row in own if row["rank"] is not None), *_CONTEST))
        for (formula, direction), mine in _by(own, "formula", "direction").items():
            wins = float(sum(row["wins"] for row in mine))
            found.append(
                {
                    "table": "wins",
                    "setup": setup,
                    "kind": kind,
                    "formula": formula,
                    "direction": direction,
                    "wins": wins,
                    "n": contests,
                }
            )
    return found


def left_out(rows: Sequence[NewRow]) -> list[NewRow]:
    """Choose a strategy without looking at one set, and measure what the choice costs on that set.

    The choice is the strategy that wins most often over all metrics (of the same setup) and the other sets; among
    equals that with the greatest mean. This is done twice: once among sets of the same kind, and once among all sets.
    The criteria of a data set are left out together. Rows have their `among`, the kind or `all`.
    """
    found = []
    for (metric, setup), own in _by(rows, "metric", "setup").items():
        for (kind, where), left in _by(own, "kind", "set").items():
            for among in (kind, "all"):
                seen = [r for r in rows if r["setup"] == setup]
                others = [r for r in seen if (r["kind"], r["set"]) != (kind, where) and among in (r["kind"], "all")]
                picked = most_wins(others)
                if picked is None or (among == "all" and {r["kind"] for r in others} == {kind}):
                    continue
                for (criterion,), contest in _by(left, "criterion").items():
                    chosen = next(r for r in contest if (r["formula"], r["direction"]) == picked)
                    best = next((r for r in contest if r["rank"] == 1), chosen)
                    found.append(
                        {
                            "table": "left-out",
                            "metric": metric,
                            "setup": setup,
                            "kind": kind,
                            "set": where,
                            "stat": chosen["stat"],
                            "criterion": criterion,
                            "among": among,
                            "n": len(_by(others, *_CONTEST)),
                            "formula": picked[0],
                            "direction": picked[1],
                            "value": chosen["value"],
                            "best_formula": best["formula"],
                            "best_direction": best["direction"],
                            "best_value": best["value"],
                            "cost": chosen["cost"],
                        }
                    )
    return found


def most_wins(rows: Sequence[NewRow]) -> Strategy | None:
    """The strategy that wins most often; None without a contest. Among equals it is that with the greatest mean.

    References:
        Chen and Eger (2023), section 5: the strategy is selected by its winning frequency.
    """
    wins: dict[Strategy, float] = {}
    for row in rows:
        strategy = row["formula"], row["direction"]
        wins[strategy] = wins.get(strategy, 0.0) + row["wins"]
    top = max(wins.values(), default=0.0)
    equal = {strategy for strategy, n in wins.items() if abs(n - top) < _SAME}
    if not top:
        return None
    return best_mean([row for row in rows if (row["formula"], row["direction"]) in equal]) or min(equal)


def best_mean(rows: Sequence[NewRow]) -> Strategy | None:
    """The strategy with the greatest mean over the contests in which all strategies are defined; None without one.

    Among equals it is the first.
    """
    whole = [own for own in _by(rows, *_CONTEST).values() if all(row["rank"] is not None for row in own)]
    if not whole:
        return None
    sums: dict[Strategy, float] = {}
    for row in (row for own in whole for row in own):
        strategy = row["formula"], row["direction"]
        sums[strategy] = sums.get(strategy, 0.0) + row["value"]
    return max(sums, key=lambda strategy: sums[strategy])


# --- How much of another metric makes a metric better? Robustness and agreement, as the weight goes from 0 to 1

WEIGHTS = tuple(round(0.1 * i, 1) for i in range(11))
NLI = ("nli", "summac")  # names of metrics that ask an NLI model


@dataclass(frozen=True, repr=False)
class Sweep(Outcome):
    """The result of `sweep`.

    Attributes:
        rows: the rows of the result file, each a flat mapping; page `reference/results` names the fields.
        metrics: the specification, signature and direction of each metric.
        notes: how things were done.
        settings: seed and confidence of the intervals; see `nlgauge.core.Result`.
    """

    rows: tuple[Row, ...]
    metrics: tuple[Row, ...]
    notes: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def best(self, metric: str, partner: str, **where: Any) -> Row:
        """The row of the best weight for two metrics; `where` narrows the choice down by stat or criterion.

        Raises:
            InputError: no row matches, or several do. There is no row where a metric alone scores 0 or is undefined.
        """
        wanted = {"metric": metric, "with": partner, "best": True, **where}
        found = [row for row in self.rows if all(row.get(key) == value for key, value in wanted.items())]
        if len(found) != 1:
            raise InputError(f"{len(found)} rows fit {wanted}, expected one; name stat and criterion")
        return found[0]

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file: schema 1, kind `sweep`; `inputs` lists the files that were read."""
        return Result("sweep", self.rows, inputs, self.metrics, self.notes, self.settings)


@warning
@takes_metrics
def sweep(
    datasets: Dataset | Frame | Sequence[Dataset | Frame],
    suites: Suite | Sequence[Suite],
    metrics: MetricLike | Sequence[MetricLike],
    partners: MetricLike | Sequence[MetricLike],
    weights: Sequence[float] = WEIGHTS,
    *,
    criterion: str | Sequence[str] | None = None,
    level: str | None = None,
    stats: str | Sequence[str] | None = None,
    intervals: str = "auto",
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
) -> Sweep:
    """Mix every metric with every partner at every weight; compare the sums with people and test them under attacks.

    The best weight has the highest mean gain in correlation and accuracy of those at which neither falls, the smallest
    of equals, and is 0 where every mixture costs something.

    Args:
        datasets, suites: texts with ratings; pairs with a known order.
        metrics: the metrics to improve, as specifications or metric objects.
        partners: the metrics to mix with each of them: `weight * partner + (1 - weight) * metric`.
        weights: weights of the partner, in [0, 1]; 0 and 1, each metric alone, are added.
        criterion, level, stats, intervals: as in `meta_evaluate`; several references are folded before the scores are
            scaled, by minmax in each group of a data set (language pair, task) and each phenomenon of a suite.
        seed: of the intervals.
        columns, runtime: as in `nlgauge.read`, for all frames in `datasets`; device, precision and cache.

    Raises:
        InputError: the data do not fit together, or a metric is constant over a pool.
        SpecError: a metric is unknown, or no metric and partner differ.

    References: Chen and Eger (2023), "MENLI", sections 5.1.3 and 5.2, figures 2 and 3; preprint, tables 9 and 10.
    """
    sets, attacks = datasets_of(datasets, columns), [suites] if isinstance(suites, Suite) else list(suites)
    check(sets, attacks, intervals=intervals)
    runtime = runtime or Runtime(seed=seed)
    mixed, into = (named(each, runtime.encoder) for each in (metrics, partners))
    study = _Study(mixed, into, check_weights(weights), runtime)
    copies = of_copies(attacks, study.metrics)
    rehearse(sets, study.metrics, criterion, level=level, stats=stats)
    options = {"level": level, "stats": stats, "intervals": intervals, "seed": seed or None}
    people, notes = _people(study, sets, criterion, options)
    robust, more = _attacks(study, attacks)
    rows = list(joined_rows(people, robust, study.pairs, study.weights, study.is_nli))
    with_gains(rows)
    mark_best(rows)
    rows += curves(rows)
    notes += [*copies, *more, *about_training(study.metrics, {pair.phenomenon for suite in attacks for pair in suite})]
    told = tuple(dict.fromkeys([*notes, *_ABOUT]))
    entries = metric_entries(study.metrics, study.counts, runtime)
    return Sweep(tuple(rows), entries, told, {"seed": seed, "confidence": 0.95})


class _Study:
    """Which metrics are mixed with which, and how."""

    def __init__(
        self,
        ones: Mapping[str, BaseMetric],
        others: Mapping[str, BaseMetric],
        weights: tuple[float, ...],
        runtime: Runtime,
    ) -> None:
        self.weights, self.runtime = weights, runtime
        self.metrics = {**ones, **others}
        self.pairs = [(a, b) for a in ones for b in others if spec_of(ones[a]) != spec_of(others[b])]
        self.is_nli = {name: built.info.name in NLI for name, built in others.items()}
        self.counts: dict[str, dict[str, int]] = {name: {} for name in self.metrics}
        if not self.pairs:
            raise SpecError(
                f"{next(iter(ones))} has nothing to be mixed with but itself; name another metric as partner"
            )

    def count(self, name: str, counts: Mapping[str, int]) -> None:
        """Add what was counted for a metric on one data set or suite."""
        self.counts[name] = add(self.counts[name], counts)


def metric_entries(
    metrics: Mapping[str, BaseMetric], counts: Mapping[str, Mapping[str, int]], runtime: Runtime
) -> tuple[Row, ...]:
    """The metrics with the counts of their flags, as a result file lists them."""
    return tuple(
        {
            "spec": name,
            "signature": str(signature_of(metric, runtime)),
            "higher_is_better": metric.info.higher_is_better,
            "flags": counts[name],
        }
        for name, metric in metrics.items()
    )


def _people(
    study: _Study, datasets: Sequence[Dataset], criterion: Any, options: Mapping[str, Any]
) -> tuple[list[NewRow], list[str]]:
    """The rows of every sum compared with people, and notes."""
    rows: list[NewRow] = []
    notes: list[str] = []
    for dataset in datasets:
        held = judged_by(dataset, study.metrics, criterion, study.runtime)
        for name, counts in held.counts.items():
            study.count(name, counts)
        more, told = _agreement(held, study.pairs, study.weights, criterion, options)
        rows += more
        notes += [f"{dataset.name}: {note}" if len(datasets) > 1 else note for note in [*dataset.notes, *told]]
    return rows, notes


def _attacks(study: _Study, suites: Sequence[Suite]) -> tuple[list[NewRow], list[str]]:
    """The rows of every sum under attack, and notes."""
    rows: list[NewRow] = []
    notes: list[str] = []
    for suite in suites:
        attacked = Attacked(suite, study.metrics, study.runtime)
        for pair in study.pairs:
            rows += _robustness(attacked, pair, study.weights)
        for name in study.metrics:
            study.count(name, attacked.counts(name))
        told = [*suite.notes, *attacked.count_notes()]
        notes += [f"{suite.name}: {note}" if len(suites) > 1 else note for note in told]
    return rows, notes


def check(
    datasets: Sequence[Dataset], suites: Sequence[Suite], *, intervals: str = "none", either: bool = False
) -> None:
    """Refuse what cannot be done, before anything is scored; with `either`, sets of one kind are enough."""
    for what, given in (("data set", datasets), ("suite", suites)):
        if not given and either:
            continue
        if not given:
            raise InputError(f"no {what} is given, expected at least one")
        names = [one.name for one in given]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"{what} {twice!r} is given twice"
                if twice
                else f"{len(names)} {what}s have one name; give each a name of its own"
            )
    check_option("intervals", intervals, IntervalKind, error=InputError)
    for suite in suites:
        if all(pair.expect == "same" for pair in suite):
            raise InputError(
                f"no pair of {suite.name or 'the suite'} has a better text; a sweep asks which of two is better"
            )


def rehearse(
    datasets: Sequence[Dataset],
    metrics: Mapping[str, BaseMetric],
    criterion: str | Sequence[str] | None,
    **options: Any,
) -> None:
    """Compare stand-in scores with people first: what is refused with them is refused before anything is scored."""
    for dataset in datasets:
        segments, _, _ = judged(dataset, chosen_criteria(dataset, criterion))
        readable(metrics, segments)
        meta_evaluate(dataset, (), criterion, scores=stand_ins(metrics, segments), intervals="none", **options)


def of_copies(suites: Sequence[Suite], metrics: Mapping[str, BaseMetric]) -> list[str]:
    """Refuse suites that no metric can fail, before anything is scored; see `check_copies`."""
    told = [(suite, note) for suite in suites for note in check_copies(suite, metrics)]
    return [f"{suite.name}: {note}" if len(suites) > 1 else note for suite, note in told]


def about_training(metrics: Mapping[str, BaseMetric], phenomena: Collection[str]) -> Iterator[str]:
    """Name the attacks that a metric's model saw in training.

    These attacks are no blind test of the metric, nor of a sum that includes it.
    """
    for name, metric in metrics.items():
        seen = [one for one in trained_on(metric) if one in phenomena]
        if seen:
            yield (
                f"{name} was trained on {', '.join(seen)}: what it does there, and the means over them, say little of"
                " attacks it has not seen"
            )


def check_weights(weights: Sequence[float]) -> tuple[float, ...]:
    """The weights in rising order, with 0 and 1 added.

    Raises:
        InputError: a weight is outside [0, 1].
    """
    for weight in weights:
        if not 0 <= weight <= 1:
            raise InputError(f"weight {weight:g} is outside of 0 to 1")
    return tuple(sorted({0.0, 1.0, *(float(w) for w in weights)}))


def parse_weights(text: str) -> tuple[float, ...]:
    """Weights as typed: `from:to:step`, or several with commas between them.

    Raises:
        InputError: the text is neither; the error says what was expected.
    """
    expected = InputError(f"weights are {text!r}, expected from:to:step (0:1:0.1) or numbers in [0, 1] (0.2,0.3)")
    try:
        if ":" not in text:
            found = tuple(float(part) for part in text.split(","))
        else:
            low, high, step = (float(part) for part in text.split(":"))
            if not 1e-4 <= step <= 1 or not 0 <= low <= high <= 1:
                raise expected
            found = tuple(round(low + step * i, 10) for i in range(math.floor((high - low) / step + 1e-9) + 1))
    except ValueError:
        raise expected from None
    if not all(0 <= weight <= 1 for weight in found):
        raise expected
    return found


def _agreement(
    held: ScoredDataset,
    pairs: Sequence[tuple[str, str]],
    weights: Sequence[float],
    criterion: Any,
    options: Mapping[str, Any],
) -> tuple[list[NewRow], list[str]]:
    """The rows of every sum compared with people, by group and for their mean.

    A sum that several pairs share is measured once.
    """
    scores = {}
    for one, other in pairs:
        both = held.mixture(one, other)
        for weight in weights:
            name = sum_of(one, other, weight)
            if name not in scores:
                scores[name] = held.as_scores(name, both(weight))
    found = meta_evaluate(
        held.dataset,
        (),
        criterion,
        scores=scores,
        **{key: value for key, value in options.items() if value is not None},
    )
    return [{**row, "dataset": held.dataset.name} for row in found.rows], [*held.notes, *found.notes]


def _robustness(attacked: Attacked, pair: tuple[str, str], weights: Sequence[float]) -> Iterator[NewRow]:
    for weight, sides in attacked.mixed(*pair, weights).items():
        found = preference_rows(attacked.suite, sides, distances=False)
        several = any(row.group == ALL_GROUPS for row in found)
        shown = trained_on(sides.metric)
        for row in found:
            if row.expect == "lower" and (not several or row.group == ALL_GROUPS):
                where = {"pair": pair, "weight": weight, "suite": attacked.suite.name}
                yield {**row.as_row(), **where, "trained_on": row.phenomenon in shown}


_ABOUT = (
    "scores are scaled by their least and greatest, in each group of a data set and each phenomenon of a suite, before"
    " they are mixed",
    "gains are shares of what the metric alone has; best: the greatest mean of both gains among the weights at which"
    " neither number falls",
)
